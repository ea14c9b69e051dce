"""Web workers and other programs in processes of their own, on the database of the test that starts them."""

from urllib.parse import quote

import pytest
from django.conf import settings


def database_url() -> str:
    """Give the URL of the database of this test."""
    database = settings.DATABASES["default"]
    host = quote(str(database["HOST"]), safe="")
    port = f":{database['PORT']}" if database["PORT"] else ""
    return f"postgresql://{database['USER']}@{host}{port}/{database['NAME']}"


def share_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that are started from now on use the database and the tokens of this test."""
    monkeypatch.setenv("DATABASE_URL", database_url())
    monkeypatch.setenv("JWT_SECRET", settings.JWT_SECRET)
