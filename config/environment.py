"""Read settings from environment variables, and say in one line what is wrong with them."""

import fcntl
import os
import secrets
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from access import keys, rates
from config import embedded

SECRET_BYTES = 48
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
TRUE_WORDS = {"1", "true", "yes", "on"}
FALSE_WORDS = {"0", "false", "no", "off", ""}


def flag(name: str, *, default: bool) -> bool:
    """Read a yes-or-no variable."""
    word = os.environ.get(name)
    if word is None:
        return default
    if word.lower() in TRUE_WORDS:
        return True
    if word.lower() in FALSE_WORDS:
        return False
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {word!r}.")


def text(name: str, *, default: str = "") -> str:
    """Read a variable as it stands; an empty one counts as unset."""
    return os.environ.get(name) or default


def words(name: str, *, default: list[str] | None = None) -> list[str]:
    """Read a comma-separated list."""
    value = os.environ.get(name)
    if value is None:
        return list(default or [])
    return [word.strip() for word in value.split(",") if word.strip()]


def log_level(name: str, *, default: str) -> str:
    """Read the name of a level of Python's logging."""
    level = text(name, default=default).upper()
    if level not in LOG_LEVELS:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(LOG_LEVELS)}, not {level}.")
    return level


def whole_number(name: str, *, default: int, least: int = 0) -> int:
    """Read a whole number that is at least `least`."""
    value = text(name, default=str(default))
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from None
    if number < least:
        raise ImproperlyConfigured(f"{name} must be at least {least}, not {number}.")
    return number


def seconds(name: str, *, default: float) -> float:
    """Read a positive number of seconds."""
    value = text(name, default=str(default))
    try:
        number = float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a number of seconds, not {value!r}.") from None
    if not 0 < number < float("inf"):
        raise ImproperlyConfigured(f"{name} must be a positive number of seconds, not {value!r}.")
    return number


def networks(name: str, *, default: str = "") -> list[IPv4Network | IPv6Network]:
    """Read a comma-separated list of addresses and networks (CIDR)."""
    try:
        return [ip_network(word, strict=False) for word in words(name, default=default.split(",")) if word]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must list addresses or networks: {error}.") from None


def rate(name: str, *, default: str = "") -> rates.Rate | None:
    """Read a rate such as 100/10s; empty for none."""
    try:
        return rates.parse(os.environ.get(name, default))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}.") from None


def token_keys() -> tuple[str, keys.Keys]:
    """Read what tokens are verified with; the secret comes first, and is empty where the keys are somebody else's."""
    public_key, key_set = text("JWT_PUBLIC_KEY"), text("JWT_JWKS_FILE")
    if public_key and key_set:
        raise ImproperlyConfigured("JWT_PUBLIC_KEY and JWT_JWKS_FILE are both set: choose one.")
    if not public_key and not key_set:
        # HS256 wants a key as long as its digest at the least (RFC 7518, section 3.2).
        shared = secret("JWT_SECRET", least=32)
        return shared, keys.shared(shared)
    try:
        return "", keys.public(public_key) if public_key else keys.KeySetFile(Path(key_set))
    except ValueError as error:
        raise ImproperlyConfigured(f"{'JWT_PUBLIC_KEY' if public_key else 'JWT_JWKS_FILE'}: {error}.") from None


def secret(name: str, *, least: int = 1) -> str:
    """Read a secret, or one made at first use and kept under STATE_DIR, so that all processes of a checkout agree."""
    value = os.environ.get(name)
    if value:
        if len(value) < least:
            raise ImproperlyConfigured(f"{name} must have at least {least} characters.")
        return value
    try:
        return _kept_secret(embedded.state_dir() / name.lower())
    except OSError as error:
        raise ImproperlyConfigured(f"STATE_DIR cannot be used: {error}; or set {name}.") from error


def _kept_secret(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kept = file.read().strip()
        if not kept:
            kept = secrets.token_urlsafe(SECRET_BYTES)
            file.write(kept + "\n")
        return kept
