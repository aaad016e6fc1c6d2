"""Moments, as vendors write them: texts, or seconds or milliseconds since 1970."""

from datetime import UTC, datetime

_MILLISECONDS = 1e11  # a larger time is no number of seconds
_EARLIEST = 946_684_800  # the year 2000: what is before or after a century is garbage
_LATEST = 4_102_444_800


def from_epoch(number: object) -> datetime | None:
    """A time in seconds or milliseconds since 1970; None when it is no date of ours."""
    if not isinstance(number, int | float) or isinstance(number, bool):
        return None
    seconds = number / 1000 if number > _MILLISECONDS else number
    if not _EARLIEST <= seconds <= _LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def moment(value: object) -> datetime | None:
    """A time as vendors write it: ISO text, or (milli)seconds since 1970.

    What is none of these is no time: None. One that names no zone is UTC.
    """
    if not isinstance(value, str):
        return from_epoch(value)
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
