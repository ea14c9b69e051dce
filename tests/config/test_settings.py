"""The settings as a whole."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from django.conf import settings

from config import environment

ROOT = Path(settings.BASE_DIR)
SOURCES = ["access", "config", "inventory", "locking", "orders", "manage.py"]
#: Django's own, set by what starts it.
NOT_OURS = {"DJANGO_SETTINGS_MODULE"}
READER = re.compile(
    rf"os\.environ\.get|(environment\.)?({'|'.join(name for name in vars(environment) if name.islower())})"
)
COMMAND_SECONDS = 60


def _calls() -> Iterator[ast.Call]:
    for source in SOURCES:
        for file in (ROOT / source).rglob("*.py") if (ROOT / source).is_dir() else [ROOT / source]:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _variables_read() -> set[str]:
    """Find the names that are passed to a reader of the environment, or looked up in it."""
    calls = [call for call in _calls() if READER.fullmatch(ast.unparse(call.func)) and call.args]
    names = [call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)]
    return {name for name in names if isinstance(name, str) and name.isupper()}


def _variables_listed() -> dict[str, str]:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    return dict(match.groups() for line in lines if (match := re.match(r"#([A-Z_]+)=(.*)", line)))  # type: ignore[misc]  # two groups


def test_every_variable_is_in_the_example() -> None:
    """And the example names none that nobody reads."""
    listed = set(_variables_listed())
    # These are read by make, and by the prometheus library.
    elsewhere = {"PORT", "PROMETHEUS_MULTIPROC_DIR"}

    assert listed - elsewhere == _variables_read() - NOT_OURS


def test_every_variable_is_explained() -> None:
    """By the lines above it."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()

    for before, line in pairwise(lines):
        if re.match(r"#[A-Z_]+=", line):
            assert before.startswith("#"), line


def test_the_example_shows_the_defaults(tmp_path: Path) -> None:
    """Setting every variable to what the example says changes nothing."""
    code = (
        "import json; from config import settings as s; print({n: str(v) for n, v in vars(s).items() if n.isupper()})"
    )
    state = {"STATE_DIR": str(tmp_path / "state"), "PATH": os.environ["PATH"]}
    listed = {name: value for name, value in _variables_listed().items() if value and name != "STATE_DIR"}

    plain, as_shown = (
        subprocess.run(
            [sys.executable, "-c", code], env=state | more, cwd=ROOT, capture_output=True, text=True, check=True
        )
        for more in ({}, listed)
    )

    assert _without_addresses(plain.stdout) == _without_addresses(as_shown.stdout)


def _without_addresses(text: str) -> str:
    """Take out where objects lie in memory."""
    return re.sub(r"0x[0-9a-f]+", "", text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEBUG", "maybe"),
        ("JWT_SECRET", "short"),
        ("THROTTLE_BUYER", "fast"),
        ("DATABASE_URL", "mysql://localhost/shop"),
        ("REDIS_URL", "http://localhost"),
        ("METRICS_ALLOW", "everybody"),
        ("JWT_JWKS_FILE", "/nowhere"),
    ],
)
def test_a_wrong_variable_stops_a_command_with_one_line(name: str, value: str) -> None:
    """No traceback: whoever reads it has not written the code."""
    command = [sys.executable, str(ROOT / "manage.py"), "check"]

    done = subprocess.run(
        command, env=os.environ | {name: value}, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False
    )

    assert done.returncode != 0
    assert name in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_site_behind_tls_passes_djangos_check_for_deployment() -> None:
    """With HTTPS=1 alone; each check that is silenced has its reason beside it."""
    command = [sys.executable, str(ROOT / "manage.py"), "check", "--deploy", "--fail-level", "WARNING"]

    done = subprocess.run(
        command, env=os.environ | {"HTTPS": "1"}, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False
    )

    assert done.returncode == 0, done.stderr


def test_a_public_site_is_safe_by_default() -> None:
    """Nobody has to remember to switch something off."""
    assert settings.SETTINGS_MODULE == "config.settings"
    assert _variables_listed()["DEBUG"] == "0"
    assert settings.ALLOWED_HOSTS[:3] == ["localhost", "127.0.0.1", "[::1]"]
    assert settings.CORS_ALLOWED_ORIGINS == []
    assert settings.TRUSTED_PROXIES == []


def test_the_api_needs_a_token_unless_a_view_says_otherwise() -> None:
    """A view that says nothing is not open."""
    assert settings.REST_FRAMEWORK["DEFAULT_PERMISSION_CLASSES"] == ["rest_framework.permissions.IsAuthenticated"]
    assert settings.REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"] == ["access.authentication.TokenAuthentication"]
