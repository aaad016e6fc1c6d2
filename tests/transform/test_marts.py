"""The marts against another way of counting: loops in Python over random histories."""

import random
from datetime import UTC, datetime, timedelta

import pytest

FIVE_HOURS = timedelta(hours=5)
SLOT = {"claude_code": timedelta(hours=1), "codex": timedelta(minutes=1)}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def calls_of_a_month(order):
    """Busy days and quiet ones; some calls right at the end of a window."""
    at = datetime(2026, 3, 1, 7, 13, 20, tzinfo=UTC)
    while at < datetime(2026, 3, 30, tzinfo=UTC):
        yield at
        at += order.choice(
            [
                timedelta(seconds=order.randrange(1, 4000)),
                timedelta(minutes=order.randrange(1, 900)),
                FIVE_HOURS,
                timedelta(0),
            ]
        )


def windows_by_a_loop(calls, slot):
    """Walk the calls one by one, as a person would with a clock and a notebook."""
    windows = []
    for at in sorted(calls):
        if not windows or at >= windows[-1][0] + FIVE_HOURS:
            windows.append([at - (at - EPOCH) % slot, 0])
        windows[-1][1] += 1
    return [tuple(window) for window in windows]


@pytest.fixture
def with_calls(lake):
    """A warehouse with a month of calls of two sources, and these calls."""
    order = random.Random(5)
    calls = {source: list(calls_of_a_month(order)) for source in SLOT}
    for source, moments in calls.items():
        lake.connection.executemany(
            """
            insert into core.usage by name
            select $1 as source, $2 as usage_id, 's' as session_id, $3 as called_at,
                1 as output_tokens, 'call' as granularity, 1 as calls, 'tokens' as unit,
                $4 as has_hourly_windows
            """,
            [
                [source, str(number), at, SLOT[source] == timedelta(hours=1)]
                for number, at in enumerate(moments)
            ],
        )
    return lake, calls


def test_windows_are_those_of_a_walk_through_all_calls(with_calls):
    lake, calls = with_calls
    for source, slot in SLOT.items():
        found = lake.rows(f"""
            select epoch_us(started_at), calls from marts.usage_windows
            where source = '{source}' order by started_at
        """)
        expected = windows_by_a_loop(calls[source], slot)
        assert len(expected) > 50
        assert found == [
            ((start - EPOCH) // timedelta(microseconds=1), count)
            for start, count in expected
        ]


def test_asking_about_some_days_moves_no_window(with_calls):
    lake, _ = with_calls
    windows = "select source, epoch_us(started_at), calls from marts.usage_windows"
    inside = lake.rows(f"{windows} where started_at >= '2026-03-10 00:00:00Z'")
    lake.connection.execute("set variable since = timestamptz '2026-03-10 00:00:00Z'")
    assert lake.rows(windows) == inside
