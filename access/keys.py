"""The keys that tokens are verified with: a shared secret, a public key, or an identity provider's key set.

Each is a `PyJWK`, which binds a key to one algorithm: a token that names another is refused before its signature is
looked at, so a public key is never taken for a shared secret. Keys come from settings and files, never over a network.
"""

import base64
import json
import logging
import time
from pathlib import Path
from typing import Any, Protocol

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from jwt import InvalidKeyError, PyJWK, PyJWTError, get_unverified_header
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

logger = logging.getLogger(__name__)

SHARED_ALGORITHM = "HS256"
PUBLIC_ALGORITHMS = ("RS256", "ES256")
#: How often the key set's file is looked at; a provider publishes a new key long before the first token signed with it.
LOOK_SECONDS = 1.0
KEY_SET_BYTES_MAX = 1024 * 1024


class Keys(Protocol):
    """Where the key of a token is found."""

    def key_of(self, token: str) -> PyJWK:
        """Give the key that this token must be signed with; raise PyJWTError where there is none."""


class OneKey:
    """One key for all tokens."""

    def __init__(self, key: PyJWK) -> None:
        """Keep the key."""
        self._key = key

    def key_of(self, token: str) -> PyJWK:
        """Give the key."""
        return self._key


class KeySetFile:
    """The keys of a JWK set (RFC 7517) in a file, which is read again when it changes."""

    def __init__(self, path: Path) -> None:
        """Read the file; raise ValueError where it cannot be read, or has no key for RS256 or ES256."""
        self._path = path
        self._looked_at = time.monotonic()
        self._stamp = _stamp(path)
        self._keys = _read(path)

    def key_of(self, token: str) -> PyJWK:
        """Give the key that the token's `kid` names; a set of one key needs no name."""
        self._look_again()
        kid = get_unverified_header(token).get("kid")
        if kid is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        if kid not in self._keys:
            raise InvalidKeyError("There is no such key.")
        return self._keys[kid]

    def _look_again(self) -> None:
        """Read the file if it has changed; one that cannot be read, half-written perhaps, changes no key."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now
        try:
            stamp = _stamp(self._path)
            if stamp != self._stamp:
                self._keys, self._stamp = _read(self._path), stamp
        except ValueError as error:
            logger.warning("%s; the keys read before stay in use", error)


def shared(secret: str) -> OneKey:
    """Take the secret that we sign with ourselves."""
    digits = base64.urlsafe_b64encode(secret.encode()).decode()
    return OneKey(PyJWK({"kty": "oct", "k": digits.rstrip("=")}, SHARED_ALGORITHM))


def public(text_or_path: str) -> OneKey:
    """Take a public key: a PEM text (with line ends or `\\n`), or the path of one; else raise ValueError."""
    text = text_or_path.replace("\\n", "\n")
    try:
        pem = text.encode() if text.lstrip().startswith("-----BEGIN") else Path(text_or_path).read_bytes()
    except OSError as error:
        raise ValueError(f"it is neither a PEM text nor a file that can be read: {error}") from error
    return OneKey(_of_pem(pem.strip()))


def _of_pem(pem: bytes) -> PyJWK:
    try:
        key = load_pem_public_key(pem)
    except ValueError as error:
        raise ValueError("it is not a public key in PEM form") from error
    if isinstance(key, RSAPublicKey):
        return _strong(PyJWK(RSAAlgorithm.to_jwk(key, as_dict=True), "RS256"))
    if isinstance(key, EllipticCurvePublicKey) and key.curve.name == "secp256r1":
        return PyJWK(ECAlgorithm.to_jwk(key, as_dict=True), "ES256")
    raise ValueError("it must be an RSA key (RS256) or one of the curve P-256 (ES256)")


def _strong(key: PyJWK) -> PyJWK:
    if weakness := key.Algorithm.check_key_length(key.key):
        raise ValueError(weakness)
    return key


def _stamp(path: Path) -> tuple[int, int, int]:
    """Tell one version of a file from another."""
    try:
        status = path.stat()
    except OSError as error:
        raise ValueError(f"the key set {path} cannot be read: {error.strerror}") from error
    return status.st_ino, status.st_size, status.st_mtime_ns


def _read(path: Path) -> dict[str, PyJWK]:
    """Read the keys that can verify a token, by their `kid`; others of the set have other uses."""
    try:
        with path.open("rb") as file:
            entries = json.loads(file.read(KEY_SET_BYTES_MAX))["keys"]
        found = [_usable(entry) for entry in entries]
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise ValueError(f"the key set {path} cannot be read: {error!r}") from error
    keys = {key.key_id or "": key for key in found if key is not None}
    if not keys:
        raise ValueError(f"the key set {path} has no key for {' or '.join(PUBLIC_ALGORITHMS)}")
    return keys


def _usable(entry: Any) -> PyJWK | None:  # a JSON value
    """Make a key of an entry; None where it is for something else, or not strong enough."""
    if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
        return None
    try:
        key = PyJWK(entry)
        return _strong(key) if key.algorithm_name in PUBLIC_ALGORITHMS else None
    except (PyJWTError, ValueError) as error:
        logger.warning("a key of the key set is left out: %s", error)
        return None
