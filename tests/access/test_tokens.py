"""Tokens: whom they let in, and whom not."""

import json
import time
from types import SimpleNamespace

import jwt
import pytest
from django.conf import settings
from pytest_django import Settings

from access import keys, tokens
from access.caller import ANY_BUYER, STOCK_WRITE, Caller
from tests.access import signing


def _is_refused(token: str) -> bool:
    with pytest.raises(tokens.InvalidToken):
        tokens.verify(token)
    return True


def test_a_token_names_its_buyer_and_scopes() -> None:
    """The subject is the buyer; scopes are separated by spaces."""
    token = tokens.issue("user001", scopes=[ANY_BUYER, STOCK_WRITE], seconds=60)

    assert tokens.verify(token) == Caller("user001", frozenset({ANY_BUYER, STOCK_WRITE}))


def test_a_token_without_scope_is_a_buyers() -> None:
    """No scope is needed to order for oneself."""
    assert tokens.verify(signing.shared(scope=None)) == Caller("user001")


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_changed_token_is_refused(part: int) -> None:
    """A letter of the header, the claims or the signature."""
    parts = tokens.issue("user001", seconds=60).split(".")
    parts[part] = ("f" if parts[part][0] != "f" else "g") + parts[part][1:]

    assert _is_refused(".".join(parts))


def test_a_token_with_anothers_claims_is_refused() -> None:
    """The signature of one token says nothing about another."""
    header, _, signature = tokens.issue("user001", seconds=60).split(".")
    _, others, _ = tokens.issue("user002", seconds=60).split(".")

    assert _is_refused(f"{header}.{others}.{signature}")


def test_a_token_signed_with_another_secret_is_refused() -> None:
    """I02: wrongly signed."""
    assert _is_refused(jwt.encode(signing.claims(), "x" * 48, algorithm="HS256"))


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", "HS384", "RS256", "hs256", None, 7, ["HS256"]])
def test_the_token_does_not_choose_its_algorithm(algorithm: object) -> None:
    """`alg` is compared, never obeyed; without a signature no token is any good."""
    token = signing.forged({"alg": algorithm}, json.dumps(signing.claims()).encode(), secret=b"")

    assert _is_refused(token)
    assert _is_refused(token.rpartition(".")[0] + ".")


@pytest.mark.parametrize("seconds", [-6, -3600, -(10**9)])
def test_an_expired_token_is_refused(seconds: int) -> None:
    """I02: expired, by more than clocks differ."""
    with pytest.raises(tokens.InvalidToken, match="expired"):
        tokens.verify(tokens.issue("user001", seconds=seconds))


def test_a_token_that_was_good_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process remembers tokens that it has verified; time goes on all the same."""
    token = tokens.issue("user001", seconds=60)
    tokens.verify(token)

    monkeypatch.setattr(tokens, "time", SimpleNamespace(time=lambda: time.time() + 66))

    with pytest.raises(tokens.InvalidToken, match="expired"):
        tokens.verify(token)


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": None},
        {"exp": "soon"},
        {"exp": []},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 129},
        {"sub": "user\u202e001"},
        {"sub": "user\x00"},
        {"sub": "user\n001"},
        {"scope": ["stock:write"]},
        {"scope": 7},
        {"nbf": 10**11},
        {"iat": 10**11},
    ],
    ids=repr,
)
def test_claims_that_do_not_fit_are_refused(changed: dict[str, object]) -> None:
    """A good signature does not make them good."""
    claims = {name: value for name, value in (signing.claims() | changed).items() if value is not None}

    # By hand: the library would not write some of them.
    token = signing.forged({"alg": "HS256"}, json.dumps(claims).encode(), secret=settings.JWT_SECRET.encode())

    assert _is_refused(token)


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"null", b"{", b"\xff", b'{"sub":"a","exp":1e999}', b'{"sub":"a","exp":NaN}', b'{"a":' * 2000],
    ids=range(8),
)
def test_a_payload_that_is_no_claims_is_refused(payload: bytes) -> None:
    """Well signed nonsense is nonsense."""
    assert _is_refused(signing.forged({"alg": "HS256"}, payload, secret=settings.JWT_SECRET.encode()))


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "x" * 100, "é.è.ê", "a.b.c.d", "\x00", "{}"])
def test_what_is_no_token_is_refused(token: str) -> None:
    """Anything can stand in a header."""
    assert _is_refused(token)


def test_a_token_has_a_greatest_length() -> None:
    """Nothing is read without a limit."""
    token = tokens.issue("user001", scopes=["x" * tokens.TOKEN_LENGTH_MAX], seconds=60)

    with pytest.raises(tokens.InvalidToken, match="at most"):
        tokens.verify(token)


@pytest.mark.parametrize(("name", "claim"), [("JWT_AUDIENCE", "aud"), ("JWT_ISSUER", "iss")])
def test_audience_and_issuer_are_checked_when_they_are_set(settings: Settings, name: str, claim: str) -> None:
    """A token for another shop is refused, also one that was remembered before."""
    plain, other = signing.shared(), signing.shared(**{claim: "another"})
    tokens.verify(plain)

    setattr(settings, name, "fairdrop")

    assert _is_refused(plain)
    assert _is_refused(other)
    assert tokens.verify(signing.shared(**{claim: "fairdrop"})).buyer == "user001"
    assert tokens.verify(tokens.issue("user002", seconds=60)).buyer == "user002"


def test_an_audience_that_nobody_asks_for_is_no_harm() -> None:
    """Without JWT_AUDIENCE any audience will do, as it does without the claim."""
    assert tokens.verify(signing.shared(aud=["a", "b"], iss="c")).buyer == "user001"


def test_who_cannot_sign_issues_nothing(settings: Settings) -> None:
    """With a public key, tokens come from elsewhere."""
    settings.JWT_SECRET, settings.JWT_KEYS = "", keys.public(signing.pem(signing.ec_key()))

    with pytest.raises(tokens.CannotIssue, match="identity provider"):
        tokens.issue("user001", seconds=60)


@pytest.mark.parametrize("subject", ["", "x" * 129, "a\nb", "\u202e"])
def test_nothing_is_issued_to_what_cannot_be_a_buyer(subject: str) -> None:
    """Such a token would be refused by everybody."""
    with pytest.raises(ValueError, match="printable"):
        tokens.issue(subject, seconds=60)
