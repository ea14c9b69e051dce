"""Bodies: parsed once, strictly, by a compiled validator; what is wrong is named by a JSON pointer."""

import re
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from inventory.exceptions import Invalid

Body = TypeVar("Body")

# msgspec says where by a path such as `$.lines[0].quantity`.
_MESSAGE = re.compile(r"(?P<detail>.*?)(?: - at `(?:key in )?\$(?P<path>[^`]*)`)?\Z", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`\Z", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`\Z", re.DOTALL)
#: What is shown of a name that a caller made up.
NAME_SHOWN_MAX = 64


def parse(decoder: msgspec.json.Decoder[Body], body: bytes) -> Body:
    """Parse a body; raise Invalid."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from error
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Invalid.at("", "is not JSON") from error


def _invalid(message: str) -> Invalid:
    match = _MESSAGE.match(message)
    assert match is not None, "the pattern matches any text"
    pointer, detail = _pointer(_STEP.findall(match["path"] or "")), match["detail"]
    if named := _UNKNOWN.match(detail):
        return Invalid.at(f"{pointer}/{_shown(named['name'])}", "is not a member of this body")
    if named := _MISSING.match(detail):
        return Invalid.at(f"{pointer}/{_shown(named['name'])}", "is missing")
    return Invalid.at(pointer, detail)


def _pointer(steps: Iterable[tuple[str, str]]) -> str:
    return "".join(f"/{name or index}" for name, index in steps)


def _shown(name: str) -> str:
    """Write a name as a step of a JSON pointer (RFC 6901)."""
    return name[:NAME_SHOWN_MAX].replace("~", "~0").replace("/", "~1")
