"""Keys of an identity provider, and tokens that it signs, or that a forger makes."""

import base64
import hashlib
import hmac
import json
import time
from functools import lru_cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from django.conf import settings
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@lru_cache
def rsa_key(name: str = "first", *, bits: int = 2048) -> rsa.RSAPrivateKey:
    """Make an RSA key; the same name gives the same key."""
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


@lru_cache
def ec_key(name: str = "first") -> ec.EllipticCurvePrivateKey:
    """Make a key of the curve P-256; the same name gives the same key."""
    return ec.generate_private_key(ec.SECP256R1())


def pem(key: PrivateKey) -> str:
    """Write the public half as PEM."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def private_pem(key: PrivateKey) -> str:
    """Write the private half as PEM, which belongs in no setting of ours."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def key_set(**named: PrivateKey) -> str:
    """Write a JWK set of public keys by their kid."""
    return json.dumps({"keys": [_jwk(key) | {"kid": kid, "use": "sig"} for kid, key in named.items()]})


def claims(**changed: Any) -> dict[str, Any]:  # JSON values
    """Give good claims, with changes; None takes one away."""
    good = {"sub": "user001", "exp": int(time.time()) + 600, "scope": "orders:any-buyer"}
    return {name: value for name, value in (good | changed).items() if value is not None}


def signed(key: PrivateKey, *, kid: str | None = None, **changed: Any) -> str:  # JSON values
    """Sign a token as the provider does."""
    algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
    return jwt.encode(claims(**changed), key, algorithm=algorithm, headers={"kid": kid} if kid else None)


def shared(**changed: Any) -> str:  # JSON values
    """Sign a token with JWT_SECRET."""
    return jwt.encode(claims(**changed), settings.JWT_SECRET, algorithm="HS256")


def forged(header: dict[str, Any], payload: bytes, *, secret: bytes) -> str:  # JSON values
    """Put a token together by hand, as no library would."""
    parts = [_segment(json.dumps(header).encode()), _segment(payload)]
    digest = hmac.digest(secret, ".".join(parts).encode(), hashlib.sha256)
    return ".".join([*parts, _segment(digest)])


def _jwk(key: PrivateKey) -> dict[str, Any]:  # JSON values
    if isinstance(key, rsa.RSAPrivateKey):
        return RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return ECAlgorithm.to_jwk(key.public_key(), as_dict=True)


def _segment(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
