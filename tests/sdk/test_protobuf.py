"""The wire format of protobuf, field by field, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.protobuf import Fields

TASK = bytes.fromhex("0A0274312A0A0A026D31120412026869".replace("12026869", "0A026869"))
"""id "t1", and one message with id "m1" and a query "hi"."""


def test_a_message_is_read_field_by_field_and_message_by_message():
    task = Fields(TASK)
    assert task.text(1) == "t1"
    (message,) = map(Fields, task.all(5))
    assert message.text(1) == "m1"
    assert message.message(2).text(1) == "hi"
    assert (2 in message, 3 in message) == (True, False)


@pytest.mark.parametrize(
    ("data", "number"),
    [
        ("0800", 0),
        ("08AC02", 300),
        ("08FFFFFFFFFFFFFFFFFF01", 2**64 - 1),
        ("0D01000000", 1),
        ("090100000000000080", 2**63 + 1),
        ("08010802", 2),
        ("0A0101", None),
        ("1001", None),
        ("", None),
    ],
)
def test_numbers_of_each_width_and_the_last_of_many(data, number):
    assert Fields(bytes.fromhex(data)).number(1) == number


def test_a_number_is_no_text_and_bytes_that_are_no_utf8_are_marked():
    assert Fields(bytes.fromhex("0801")).text(1) is None
    assert Fields(bytes.fromhex("0801")).all(1) == []
    assert Fields(bytes.fromhex("0A02FF61")).text(1) == "\ufffda"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("0A05AA", "protobuf ends at byte 3 within a field"),
        ("0901", "protobuf ends at byte 2 within a field"),
        ("08", "no protobuf: a number without end at byte 1"),
        ("08FFFFFFFFFFFFFFFFFFFF01", "no protobuf: a number without end at byte 1"),
        ("0B", "no protobuf: wire type 3 at byte 1"),
        ("0F", "no protobuf: wire type 7 at byte 1"),
    ],
)
def test_what_is_no_message_says_where(data, reason):
    with pytest.raises(Unreadable, match=reason):
        Fields(bytes.fromhex(data))


def test_of_a_torn_message_the_whole_fields_are_kept():
    fields, problem = Fields.as_far_as(TASK[:-1])
    assert (fields.text(1), fields.all(5)) == ("t1", [])
    assert "ends at byte 15" in str(problem)
    assert Fields.as_far_as(TASK)[1] is None


@given(st.binary(max_size=40))
def test_any_bytes_are_fields_or_unreadable(data):
    fields, problem = Fields.as_far_as(data)
    if problem is None:
        for number in range(1, 20):
            assert len(fields.all(number)) <= len(data)
