"""Keys: a public key, or a provider's key set that changes."""

import json
from pathlib import Path

import jwt
import pytest
from pytest_django import Settings

from access import keys, tokens
from access.caller import Caller
from tests.access import signing
from tests.access.signing import PrivateKey

ANY_BUYER_CALLER = Caller("user001", frozenset({"orders:any-buyer"}))


@pytest.fixture
def key_set_file(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Verify by a key set of two keys, in a file that is looked at before every token."""
    monkeypatch.setattr(keys, "LOOK_SECONDS", 0.0)
    path = tmp_path / "keys.json"
    path.write_text(signing.key_set(one=signing.rsa_key(), two=signing.ec_key()))
    settings.JWT_KEYS = keys.KeySetFile(path)
    return path


@pytest.mark.parametrize("key", [signing.rsa_key(), signing.ec_key()], ids=["RS256", "ES256"])
@pytest.mark.parametrize("form", ["text", "text on one line", "file"])
def test_a_public_key_verifies_what_its_private_key_signed(
    key: PrivateKey, form: str, tmp_path: Path, settings: Settings
) -> None:
    """As a PEM text, as one with `\\n` for its line ends, and as the path of one."""
    path = tmp_path / "key.pem"
    path.write_text(signing.pem(key))
    forms = {"text": signing.pem(key), "text on one line": signing.pem(key).replace("\n", "\\n"), "file": str(path)}

    settings.JWT_KEYS = keys.public(forms[form])

    assert tokens.verify(signing.signed(key)) == ANY_BUYER_CALLER


@pytest.mark.parametrize("key", [signing.rsa_key(), signing.ec_key()], ids=["RS256", "ES256"])
def test_a_public_key_is_never_taken_for_a_secret(key: PrivateKey, settings: Settings) -> None:
    """Everybody knows it: a token with an HMAC of it, which says HS256, is a forger's."""
    settings.JWT_KEYS = keys.public(signing.pem(key))
    payload = json.dumps(signing.claims()).encode()

    for algorithm in ("HS256", "RS256", "ES256"):
        for text in (signing.pem(key), signing.pem(key).strip()):
            with pytest.raises(tokens.InvalidToken):
                tokens.verify(signing.forged({"alg": algorithm}, payload, secret=text.encode()))


@pytest.mark.parametrize(
    "token", [signing.signed(signing.ec_key()), signing.signed(signing.rsa_key("other"))], ids=["ES256", "other key"]
)
def test_a_token_of_another_key_is_refused(token: str, settings: Settings) -> None:
    """The kind of key and the key itself."""
    settings.JWT_KEYS = keys.public(signing.pem(signing.rsa_key()))

    with pytest.raises(tokens.InvalidToken):
        tokens.verify(token)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("/nowhere/key.pem", "neither a PEM text nor a file"),
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "not a public key"),
        (signing.private_pem(signing.rsa_key()), "not a public key"),
        (signing.pem(signing.rsa_key("weak", bits=1024)), "2048"),
    ],
    ids=["missing", "broken", "private", "weak"],
)
def test_what_is_no_public_key_is_refused_at_once(text: str, reason: str) -> None:
    """The process does not start with it; no caller ever sees it."""
    with pytest.raises(ValueError, match=reason):
        keys.public(text)


@pytest.mark.usefixtures("key_set_file")
def test_the_kid_chooses_the_key() -> None:
    """RS256 and ES256 stand side by side in one set."""
    assert tokens.verify(signing.signed(signing.rsa_key(), kid="one")) == ANY_BUYER_CALLER
    assert tokens.verify(signing.signed(signing.ec_key(), kid="two")) == ANY_BUYER_CALLER


@pytest.mark.usefixtures("key_set_file")
@pytest.mark.parametrize("kid", [None, "two", "three", ""])
def test_a_kid_of_no_key_or_of_another_is_refused(kid: str | None) -> None:
    """Nothing is tried out: the kid says which key, or there is none."""
    with pytest.raises(tokens.InvalidToken):
        tokens.verify(signing.signed(signing.rsa_key(), kid=kid))


def test_a_set_of_one_key_needs_no_kid(key_set_file: Path) -> None:
    """There is nothing to choose."""
    key_set_file.write_text(signing.key_set(only=signing.rsa_key()))

    assert tokens.verify(signing.signed(signing.rsa_key())) == ANY_BUYER_CALLER


def test_a_changed_key_set_is_read_again(key_set_file: Path) -> None:
    """A new key is good, and an old one no longer, also for a token that was verified with it before."""
    old, new = signing.signed(signing.rsa_key(), kid="one"), signing.signed(signing.ec_key("new"), kid="three")
    tokens.verify(old)

    key_set_file.write_text(signing.key_set(three=signing.ec_key("new"), two=signing.ec_key()))

    assert tokens.verify(new) == ANY_BUYER_CALLER
    with pytest.raises(tokens.InvalidToken):
        tokens.verify(old)


def test_a_half_written_key_set_changes_nothing(key_set_file: Path) -> None:
    """The keys that were read before stay in use until there is a whole file."""
    token = signing.signed(signing.rsa_key(), kid="one")

    key_set_file.write_text(key_set_file.read_text()[:100])
    assert tokens.verify(token) == ANY_BUYER_CALLER

    key_set_file.unlink()
    assert tokens.verify(token) == ANY_BUYER_CALLER


def test_the_file_is_not_looked_at_for_every_token(tmp_path: Path) -> None:
    """Once a second is enough."""
    path = tmp_path / "keys.json"
    path.write_text(signing.key_set(one=signing.rsa_key()))
    known = keys.KeySetFile(path)

    path.write_text(signing.key_set(two=signing.rsa_key()))

    with pytest.raises(jwt.InvalidKeyError):
        known.key_of(signing.signed(signing.rsa_key(), kid="two"))


def test_keys_for_other_uses_are_left_out(tmp_path: Path) -> None:
    """Secrets, keys for encryption, weak keys and other algorithms verify nothing."""
    entries = json.loads(
        signing.key_set(good=signing.ec_key(), enc=signing.rsa_key(), weak=signing.rsa_key("w", bits=1024))
    )
    entries["keys"][1]["use"] = "enc"
    entries["keys"] += [{"kty": "oct", "k": "c2VjcmV0", "kid": "oct"}, {"kty": "what"}, 7, None]
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(entries))

    known = keys.KeySetFile(path)

    assert known.key_of(signing.signed(signing.ec_key(), kid="good")).algorithm_name == "ES256"
    for kid in ("enc", "weak", "oct"):
        with pytest.raises(jwt.InvalidKeyError):
            known.key_of(signing.signed(signing.rsa_key(), kid=kid))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"keys": 7}', '{"keys": []}', '{"keys": [{"kty": "oct", "k": "AA"}]}']
)
def test_a_key_set_without_a_key_is_refused_at_once(text: str, tmp_path: Path) -> None:
    """The process does not start with it."""
    path = tmp_path / "keys.json"
    path.write_text(text)

    with pytest.raises(ValueError, match=str(path)):
        keys.KeySetFile(path)
