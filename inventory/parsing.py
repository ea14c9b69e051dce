"""Bodies: parsed once, strictly, by a compiled validator; what is wrong is named by a JSON pointer (RFC 6901)."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from inventory.exceptions import Invalid

Body = TypeVar("Body")

# msgspec says where by a path such as `$.lines[0].quantity`.
_MESSAGE = re.compile(r"(?P<detail>.*?)(?: - at `\$(?P<path>(?:\.\w+|\[\d+\])*)`)?\Z", re.DOTALL)
_STEP = re.compile(r"\w+")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`\Z", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`\Z", re.DOTALL)
#: What is shown of a name that a caller made up.
NAME_SHOWN_MAX = 64


def parse(decoder: msgspec.json.Decoder[Body], body: bytes) -> Body:
    """Parse a body; raise Invalid."""
    try:
        parsed = decoder.decode(body)
        _refuse_duplicates(body)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from error
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Invalid.at("", "is not JSON") from error
    return parsed


def _invalid(message: str) -> Invalid:
    match = _MESSAGE.match(message)
    assert match is not None, "the pattern matches any text"
    steps, detail = _STEP.findall(match["path"] or ""), match["detail"]
    if named := _UNKNOWN.match(detail):
        return Invalid.at(_pointer([*steps, named["name"]]), "is not a member of this body")
    if named := _MISSING.match(detail):
        return Invalid.at(_pointer([*steps, named["name"]]), "is missing")
    return Invalid.at(_pointer(steps), detail)


def _pointer(steps: Iterable[str]) -> str:
    return "".join(f"/{step[:NAME_SHOWN_MAX].replace('~', '~0').replace('/', '~1')}" for step in steps)


@dataclass(frozen=True)
class _Twice:
    """Stands for an object of JSON that has a member twice."""

    name: str


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Twice:  # JSON values
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
    return _Twice(name)


_DUPLICATES = json.JSONDecoder(object_pairs_hook=_members)


def _refuse_duplicates(body: bytes) -> None:
    """Raise Invalid for an object with a member twice: two readers could take it for two different orders.

    RFC 8259 leaves such an object open, and msgspec takes the last of them. This is a look at text that is known to be
    valid, at some millionths of a second.
    """
    steps = _twice(_DUPLICATES.decode(body.decode()))
    if steps is not None:
        raise Invalid.at(_pointer(steps), "is there twice")


def _twice(value: Any) -> list[str] | None:  # a JSON value
    """Find the first member that is there twice, and give the steps to it."""
    if isinstance(value, _Twice):
        return [value.name]
    within = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in within:
        if (found := _twice(member)) is not None:
            return [str(step), *found]
    return None
