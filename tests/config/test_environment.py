"""Settings from environment variables: what is wrong is said in one line."""

from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from access.rates import Rate
from config import environment
from tests.access import signing


@pytest.mark.parametrize(
    ("read", "value", "result"),
    [
        (lambda: environment.flag("VARIABLE", default=False), "Yes", True),
        (lambda: environment.flag("VARIABLE", default=True), "0", False),
        (lambda: environment.flag("VARIABLE", default=True), "", False),
        (lambda: environment.text("VARIABLE", default="a"), "", "a"),
        (lambda: environment.words("VARIABLE", default=["a"]), " b, c ,", ["b", "c"]),
        (lambda: environment.whole_number("VARIABLE", default=1), "7", 7),
        (lambda: environment.seconds("VARIABLE", default=1), "0.5", 0.5),
        (lambda: environment.networks("VARIABLE"), "10.0.0.1/8,::1", [ip_network("10.0.0.0/8"), ip_network("::1")]),
        (lambda: environment.rate("VARIABLE", default="1/1s"), "5/60s", Rate(5, 60)),
        (lambda: environment.rate("VARIABLE", default="1/1s"), "", None),
        (lambda: environment.log_level("VARIABLE", default="INFO"), "debug", "DEBUG"),
    ],
)
def test_a_variable_is_read(monkeypatch: pytest.MonkeyPatch, read: Any, value: str, result: object) -> None:
    """Each kind in the form that `.env.example` shows."""
    monkeypatch.setenv("VARIABLE", value)

    assert read() == result


@pytest.mark.parametrize(
    ("read", "result"),
    [
        (lambda: environment.flag("VARIABLE", default=True), True),
        (lambda: environment.text("VARIABLE", default="a"), "a"),
        (lambda: environment.words("VARIABLE", default=["a"]), ["a"]),
        (lambda: environment.whole_number("VARIABLE", default=7), 7),
        (lambda: environment.networks("VARIABLE", default="::1"), [ip_network("::1")]),
        (lambda: environment.rate("VARIABLE", default="1/1s"), Rate(1, 1)),
    ],
)
def test_what_is_not_set_has_its_default(read: Any, result: object) -> None:
    """Nothing has to be set for a first run."""
    assert read() == result


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: environment.flag("VARIABLE", default=False), "maybe"),
        (lambda: environment.whole_number("VARIABLE", default=1), "1.5"),
        (lambda: environment.whole_number("VARIABLE", default=1, least=1), "0"),
        (lambda: environment.seconds("VARIABLE", default=1), "soon"),
        (lambda: environment.seconds("VARIABLE", default=1), "-1"),
        (lambda: environment.seconds("VARIABLE", default=1), "inf"),
        (lambda: environment.seconds("VARIABLE", default=1), "nan"),
        (lambda: environment.networks("VARIABLE"), "10.0.0.0/99"),
        (lambda: environment.rate("VARIABLE"), "fast"),
        (lambda: environment.secret("VARIABLE", least=32), "short"),
        (lambda: environment.log_level("VARIABLE", default="INFO"), "loud"),
    ],
)
def test_a_wrong_variable_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch, read: Any, value: str) -> None:
    """Whoever has set it can mend it."""
    monkeypatch.setenv("VARIABLE", value)

    with pytest.raises(ImproperlyConfigured, match="VARIABLE") as raised:
        read()

    assert "\n" not in str(raised.value)


def test_a_secret_that_is_not_set_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All processes of a checkout share it, nobody else can read it, and another checkout has its own."""
    monkeypatch.setenv("STATE_DIR", str(tmp_path / "one"))
    made = environment.secret("VARIABLE", least=32)

    assert environment.secret("VARIABLE", least=32) == made
    assert len(made) >= 32
    assert (tmp_path / "one" / "variable").stat().st_mode & 0o077 == 0

    monkeypatch.setenv("STATE_DIR", str(tmp_path / "two"))
    assert environment.secret("VARIABLE", least=32) != made


class TestTokenKeys:
    """What tokens are verified with."""

    def test_a_secret_signs_and_verifies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """HS256, where nothing else is set."""
        monkeypatch.setenv("JWT_SECRET", "x" * 32)

        secret, keys = environment.token_keys()

        assert secret == "x" * 32
        assert keys.key_of("any").algorithm_name == "HS256"

    def test_a_short_secret_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Anybody could guess it (RFC 7518, section 3.2)."""
        monkeypatch.setenv("JWT_SECRET", "x" * 31)

        with pytest.raises(ImproperlyConfigured, match="JWT_SECRET must have at least 32 characters"):
            environment.token_keys()

    def test_a_public_key_takes_the_place_of_the_secret(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """There is then no secret to sign with, though one is set."""
        monkeypatch.setenv("JWT_SECRET", "x" * 32)
        monkeypatch.setenv("JWT_PUBLIC_KEY", signing.pem(signing.rsa_key()))

        secret, keys = environment.token_keys()

        assert secret == ""
        assert keys.key_of("any").algorithm_name == "RS256"

    @pytest.mark.parametrize("name", ["JWT_PUBLIC_KEY", "JWT_JWKS_FILE"])
    def test_a_key_that_cannot_be_read_stops_the_start(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        """Better than a 401 for everybody."""
        monkeypatch.setenv(name, "/nowhere/key")

        with pytest.raises(ImproperlyConfigured, match=name):
            environment.token_keys()

    def test_one_kind_of_key_is_enough(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Two would leave open which one counts."""
        monkeypatch.setenv("JWT_PUBLIC_KEY", signing.pem(signing.rsa_key()))
        monkeypatch.setenv("JWT_JWKS_FILE", "/nowhere/keys.json")

        with pytest.raises(ImproperlyConfigured, match="choose one"):
            environment.token_keys()
