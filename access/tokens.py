"""Tokens: JSON Web Tokens (RFC 7519), checked by signature alone, without a query."""

import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import jwt
from django.conf import settings

from access import keys
from access.caller import Caller, is_buyer

TOKEN_LENGTH_MAX = 8192
#: Clocks of two machines differ.
LEEWAY_SECONDS = 5
#: How many verified tokens a process remembers: a signature costs as much as a fifth of a request. A megabyte or two.
REMEMBERED_MAX = 2048


class InvalidToken(Exception):  # noqa: N818 - it names what the token is.
    """The token is not valid."""


class CannotIssue(Exception):  # noqa: N818 - it says what cannot be done.
    """Tokens come from your identity provider: JWT_PUBLIC_KEY or JWT_JWKS_FILE is set."""


def verify(token: str) -> Caller:
    """Give the caller of a token; raise InvalidToken with a sentence that may be shown."""
    if len(token) > TOKEN_LENGTH_MAX:
        raise InvalidToken(f"A token has at most {TOKEN_LENGTH_MAX} characters.")
    try:
        key = settings.JWT_KEYS.key_of(token)
        caller, expires_at = _verified(token, key, settings.JWT_AUDIENCE, settings.JWT_ISSUER)
    except jwt.ExpiredSignatureError as error:
        raise InvalidToken("The token has expired.") from error
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidToken("The token is not valid.") from error
    # Once more, for a token that is remembered.
    if expires_at <= time.time() - LEEWAY_SECONDS:
        raise InvalidToken("The token has expired.")
    return caller


def issue(subject: str, *, scopes: Iterable[str] = (), seconds: float) -> str:
    """Make a token signed with JWT_SECRET.

    Raise CannotIssue where the keys are somebody else's, and ValueError for a subject that cannot be a buyer.
    """
    if not settings.JWT_SECRET:
        raise CannotIssue(CannotIssue.__doc__)
    if not is_buyer(subject):
        raise ValueError("a subject is 1 to 128 printable characters")
    claims: dict[str, Any] = {"sub": subject, "exp": int(time.time() + seconds), "scope": " ".join(scopes)}
    claims |= {name: value for name, value in (("aud", settings.JWT_AUDIENCE), ("iss", settings.JWT_ISSUER)) if value}
    return jwt.encode(claims, settings.JWT_SECRET, algorithm=keys.SHARED_ALGORITHM)


# What is remembered is a fact about a token, a key and two settings: a key set that is read again has other keys. Only
# time can change it, so the caller of this looks at the clock. What is not valid raises, and is never remembered.
@lru_cache(maxsize=REMEMBERED_MAX)
def _verified(token: str, key: jwt.PyJWK, audience: str, issuer: str) -> tuple[Caller, float]:
    """Give the caller of a token and when it expires, in seconds since the epoch."""
    claims = jwt.decode(
        token,
        key,
        algorithms=[key.algorithm_name],
        audience=audience or None,
        issuer=issuer or None,
        leeway=LEEWAY_SECONDS,
        options={"require": ["exp", "sub"], "verify_aud": bool(audience)},
    )
    return _caller(claims), float(claims["exp"])


def _caller(claims: dict[str, Any]) -> Caller:
    subject, scope = claims["sub"], claims.get("scope") or ""
    if not is_buyer(subject):
        raise InvalidToken("The token's subject is not 1 to 128 printable characters.")
    if not isinstance(scope, str):
        raise InvalidToken("The token's scope is not a string.")
    return Caller(subject, frozenset(scope.split()))
