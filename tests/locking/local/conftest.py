"""What the tests of local locks share: every one of them leaves no key behind."""

from collections.abc import Iterator

import pytest

from locking import local
from locking.local import keys


@pytest.fixture(autouse=True)
def _no_key_is_left() -> Iterator[None]:
    """Find the table of keys empty after the test, and empty it for the next."""
    yield
    left = local.in_use()
    keys._table.begin_anew()
    assert left == 0
