"""The request_id of a call: from the body, the header, or both where they agree."""

import msgspec
import pytest

from inventory import request_ids
from inventory.exceptions import RequestIdConflict, RequestIdInvalid, RequestIdMissing

UUID = "8e03978e-40d5-43e8-bc93-6894a57f9324"


@pytest.mark.parametrize("value", ["a", "A.b_c~d:e-f", "0", "x" * 128, UUID])
def test_a_request_id_is_1_to_128_plain_characters(value: str) -> None:
    """In the body as in the header."""
    assert request_ids.read(value, in_header=None) == value
    assert request_ids.read(msgspec.UNSET, in_header=value) == value


@pytest.mark.parametrize("value", ["", "  ", [], {}, 0, 1.5, True, False, ["a"], {"a": "b"}])
def test_what_is_no_text_is_no_request_id(value: object) -> None:
    """I12: nothing is made into a text for the caller's sake."""
    with pytest.raises(RequestIdInvalid):
        request_ids.read(value, in_header=None)


@pytest.mark.parametrize("character", ["\x00", "\t", "\n", "\u202e", "😀", "é", " ", "/", ",", '"', "\ud800"])
def test_other_characters_are_refused_wherever_they_stand(character: str) -> None:
    """I11: NUL, tab, newline, direction marks, emoji; a newline at the end as well."""
    for value in (character, f"a{character}", f"{character}a", f"a{character}b"):
        with pytest.raises(RequestIdInvalid):
            request_ids.read(value, in_header=None)
        with pytest.raises(RequestIdInvalid):
            request_ids.read(None, in_header=value)


@pytest.mark.parametrize("length", [129, 3_000, 9_000])
def test_a_long_request_id_is_refused_and_never_cut(length: int) -> None:
    """I10: two that differ at the end must not become one."""
    with pytest.raises(RequestIdInvalid):
        request_ids.read("x" * length, in_header=None)
    with pytest.raises(RequestIdInvalid):
        request_ids.read(None, in_header="x" * length)


@pytest.mark.parametrize("missing", [None, msgspec.UNSET])
def test_absent_and_null_are_missing(missing: object) -> None:
    """The one answer tells what is needed."""
    with pytest.raises(RequestIdMissing):
        request_ids.read(missing, in_header=None)
    assert request_ids.read(missing, in_header="a") == "a"


def test_a_header_may_stand_in_quotes() -> None:
    """The IETF draft has a quoted string; everybody else sends it bare."""
    assert request_ids.read(None, in_header='"a"') == "a"
    assert request_ids.read("a", in_header='"a"') == "a"


@pytest.mark.parametrize("value", ["", '""', '"', '"a', 'a"', '"a";b=c', "a, b", "a,a", '"a","a"'])
def test_a_header_is_one_request_id(value: str) -> None:
    """I13: a header sent twice reaches the application joined by a comma."""
    with pytest.raises(RequestIdInvalid):
        request_ids.read(None, in_header=value)


def test_body_and_header_must_agree() -> None:
    """I13: which of the two would the caller repeat?"""
    with pytest.raises(RequestIdConflict):
        request_ids.read("a", in_header="b")


def test_a_uuid_is_made_lower_case_and_nothing_else_is() -> None:
    """Libraries differ in how they print a UUID; other identifiers keep their case."""
    assert request_ids.read(UUID.upper(), in_header=UUID) == UUID
    assert request_ids.read("Seed-A", in_header=None) == "Seed-A"
    with pytest.raises(RequestIdConflict):
        request_ids.read("a", in_header="A")
