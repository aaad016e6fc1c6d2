"""A reason names fields, is short, and holds nothing of what was said."""

import json

import pytest
from support.transcripts import Disk

from agentlake.pipelines.ingest.reason import MOST_CHARACTERS, bounded_reason

SECRET = "key-4711"
DATA = json.dumps({"role": SECRET, "model": "m", "text": "it said 'no'\n"}).encode()


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("KeyError in parse: 'role'", "KeyError in parse: 'role'"),
        (f"KeyError in parse: '{SECRET}'", "KeyError in parse: '…'"),
        (f"Invalid value '{SECRET}' - at `$.role`", "Invalid value '…' - at `$.role`"),
        (
            "invalid literal for int(): \"it said 'no'\\n\"",
            'invalid literal for int(): "…"',
        ),
        (f"ValueError: b'{SECRET}'", "ValueError: b'…'"),
        (f"cut off: '{SECRET} and so on", "cut off: '…'"),
        ("no JSON: Expecting ',' delimiter", "no JSON: Expecting ',' delimiter"),
        ("the record's role isn't known", "the record's role isn't known"),
        ("two\nlines  of it", "two lines of it"),
    ],
)
def test_what_is_quoted_of_a_record_stays_in_raw(message, kept):
    assert bounded_reason(message, DATA) == kept


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_a_reason_is_bounded_however_much_is_quoted(quote):
    assert len(bounded_reason(f"odd: {quote}{'x' * 10**6}{quote}")) <= MOST_CHARACTERS


def test_no_reject_of_a_load_quotes_what_was_said(lake):
    long = "confidential " * 9_999
    reply = {"type": "assistant", "uuid": "c"}
    odd = [
        {"type": long, "uuid": "a", "message": {"role": long, "content": long}},
        {"type": "user", "uuid": "b", "message": {"role": "user", "content": SECRET}},
        reply | {"timestamp": long, "message": {"id": [long]}},
        reply | {"message": {"usage": {"input_tokens": long}}},
        {"type": SECRET, "uuid": 3, "sessionId": [SECRET], "message": SECRET},
    ]
    disk = Disk(lake.home)
    disk.append(b"".join(json.dumps(one).encode() + b"\n" for one in odd))
    disk.append(f'{{"type": "user", "text": "{long}"\n'.encode())
    lake.load(fresh=False)
    reasons = [reason for (reason,) in lake.rows("select reason from meta.rejects")]
    assert reasons
    for reason in reasons:
        assert len(reason) <= MOST_CHARACTERS
        assert "confidential" not in reason
        assert SECRET not in reason
