"""What the processes of a crowd have loaded before they are forked: Django, and all that an order needs."""

import django
import pytest  # noqa: F401 - all test modules import it

django.setup()

from orders import admission, auditing, lifecycle  # noqa: E402, F401 - models need the apps
from tests.races import crowd, sale  # noqa: E402, F401
