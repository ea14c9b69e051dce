"""Tokens: JSON Web Tokens (RFC 7519), checked by signature alone, without a query.

HS256 with JWT_SECRET, or RS256 and ES256 with the public key of an identity provider. A key has one kind of algorithm:
a token that names another is refused, so a public key is never taken for a shared secret.
"""

import json
import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import jwt
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from access.caller import Caller, is_buyer

SHARED = ["HS256"]
PUBLIC = ["RS256", "ES256"]
#: Clocks of two machines differ.
LEEWAY_SECONDS = 5
#: How often the key set's file is looked at.
JWKS_CHECK_SECONDS = 10.0


class InvalidToken(Exception):  # noqa: N818 - it names what the token is.
    """The token is not valid."""


def verify(token: str) -> Caller:
    """Give the caller of a token; raise InvalidToken with a sentence that may be shown."""
    try:
        key, algorithms = _key(token)
        claims = jwt.decode(
            token,
            key,
            algorithms=algorithms,
            audience=settings.JWT_AUDIENCE or None,
            issuer=settings.JWT_ISSUER or None,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "sub"], "verify_aud": bool(settings.JWT_AUDIENCE)},
        )
    except jwt.ExpiredSignatureError as error:
        raise InvalidToken("The token has expired.") from error
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
        raise InvalidToken("The token is not valid.") from error
    return _caller(claims)


def issue(subject: str, *, scopes: Iterable[str] = (), seconds: float) -> str:
    """Make a token signed with JWT_SECRET; raise ValueError for a subject that cannot be a buyer."""
    if not is_buyer(subject):
        raise ValueError("a subject is 1 to 128 printable characters")
    claims: dict[str, Any] = {"sub": subject, "exp": int(time.time() + seconds), "scope": " ".join(scopes)}
    claims |= {name: value for name, value in (("aud", settings.JWT_AUDIENCE), ("iss", settings.JWT_ISSUER)) if value}
    return jwt.encode(claims, settings.JWT_SECRET, algorithm=SHARED[0])


def _caller(claims: dict[str, Any]) -> Caller:
    subject, scope = claims["sub"], claims.get("scope") or ""
    if not is_buyer(subject):
        raise InvalidToken("The token's subject is not 1 to 128 printable characters.")
    if not isinstance(scope, str):
        raise InvalidToken("The token's scope is not a string.")
    return Caller(subject, frozenset(scope.split()))


def _key(token: str) -> tuple[Any, list[str]]:  # a key of PyJWT: text, or an object of the cryptography library
    if settings.JWT_JWKS_FILE:
        return _key_of_set(token).key, PUBLIC
    if settings.JWT_PUBLIC_KEY:
        return _public_key(settings.JWT_PUBLIC_KEY), PUBLIC
    return settings.JWT_SECRET, SHARED


@lru_cache(maxsize=1)
def _public_key(text_or_path: str) -> str:
    if text_or_path.lstrip().startswith("-----BEGIN"):
        return text_or_path
    try:
        return Path(text_or_path).read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"JWT_PUBLIC_KEY is neither a PEM text nor a readable file: {error}") from error


def _key_of_set(token: str) -> jwt.PyJWK:
    keys = _key_set(settings.JWT_JWKS_FILE, int(time.monotonic() / JWKS_CHECK_SECONDS))
    kid = jwt.get_unverified_header(token).get("kid")
    if kid is None and len(keys) == 1:
        return next(iter(keys.values()))
    if kid not in keys:
        raise jwt.InvalidKeyError("unknown key")
    return keys[kid]


@lru_cache(maxsize=1)
def _key_set(path: str, period: int) -> dict[str, jwt.PyJWK]:
    """Read the key set of a file; `period` changes when it is time to look again."""
    try:
        keys = jwt.PyJWKSet.from_dict(json.loads(Path(path).read_text(encoding="utf-8"))).keys
    except (OSError, ValueError, jwt.PyJWTError) as error:
        raise ImproperlyConfigured(f"JWT_JWKS_FILE cannot be read: {error}") from error
    return {key.key_id or "": key for key in keys if key.algorithm_name in PUBLIC}
