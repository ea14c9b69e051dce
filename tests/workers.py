"""Web workers in processes of their own, on the database of the test that starts them."""

from urllib.parse import quote

import pytest
from django.conf import settings


def share_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that are started from now on use the database and the tokens of this test."""
    database = settings.DATABASES["default"]
    host = quote(str(database["HOST"]), safe="")
    port = f":{database['PORT']}" if database["PORT"] else ""
    monkeypatch.setenv("DATABASE_URL", f"postgresql://{database['USER']}@{host}{port}/{database['NAME']}")
    monkeypatch.setenv("JWT_SECRET", settings.JWT_SECRET)
