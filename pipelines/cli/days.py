"""Days as people type them, and the moments at which they begin and end."""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from agentlake.errors import UserError

_LAST = re.compile(r"(\d{1,4})([dw])")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{8}")
_EARLIEST, _LATEST = date(1970, 1, 1), date(9000, 1, 1)


def today_in(zone: str) -> date:
    """The date of now in a zone."""
    return datetime.now(ZoneInfo(zone)).date()


def day(text: str, option: str, today: date) -> date:
    """`2026-11-30`, `20261130`, `today`, `yesterday`, or the first of the last days.

    `7d` are the last 7 days with today, `2w` the last 14.
    """
    last = _LAST.fullmatch(text)
    found = None
    if text in {"today", "yesterday"}:
        found = today - timedelta(days=text == "yesterday")
    elif last and int(last[1]):
        found = today - timedelta(days=int(last[1]) * (7 if last[2] == "w" else 1) - 1)
    elif _DATE.fullmatch(text):
        try:
            found = date.fromisoformat(text)
        except ValueError:
            pass  # the 31st of June
    if found is None or not _EARLIEST <= found < _LATEST:
        msg = (
            f'{option}: "{text}" is no day. Say 2026-11-30, 20261130, today,'
            " yesterday, 7d or 2w."
        )
        raise UserError(msg)
    return found


def span(
    since: str | None, until: str | None, zone: str, today: date
) -> tuple[datetime | None, datetime | None]:
    """The first moment of `since`, and the first one after `until`, in UTC.

    A day begins at its first moment there is: at 1 o'clock where the clock skips
    midnight, at the first of two midnights where it goes back.
    """
    first = day(since, "--since", today) if since else None
    last = day(until, "--until", today) if until else None
    if first and last and first > last:
        msg = f"--since {first} is after --until {last}, so there is nothing to show."
        raise UserError(msg)
    return (
        _begin(first, zone) if first else None,
        _begin(last + timedelta(days=1), zone) if last else None,
    )


def as_days(since: datetime | None, until: datetime | None, zone: str) -> str:
    """The days of a span in words: `from 2026-11-24 on`; nothing for all days."""
    first = _local_day(since, zone) if since else None
    last = _local_day(until - timedelta(microseconds=1), zone) if until else None
    if first == last:
        return f"on {first}" if first else ""
    if last is None:
        return f"from {first} on"
    return f"from {first} to {last}" if first else f"up to {last}"


def _local_day(moment: datetime, zone: str) -> date:
    return moment.astimezone(ZoneInfo(zone)).date()


def _begin(of: date, zone: str) -> datetime:
    return datetime.combine(of, time(), ZoneInfo(zone)).astimezone(UTC)
