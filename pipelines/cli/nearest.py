"""Which session was meant, where no stream on disk has the id that was typed."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import PurePath

from agentlake.adapters.sdk.contract import Stream

_MOST = 3
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def nearest(session: str | None, streams: Sequence[Stream]) -> str:
    """What to try instead: the ids that are nearest, or where all of them stand."""
    if not streams:
        return (
            " No agent's history is on this machine:"
            " `agentlake doctor --json` says where it was looked for."
        )
    if session and (found := _ids(session, streams)):
        return f" Did you mean {' or '.join(found)}?"
    if session:
        return (
            f" None of the {len(streams):,} streams on disk has {session} in its name:"
            " `agentlake report session --all` lists the sessions that are loaded."
        )
    return " `agentlake doctor --json` lists the folders in which agents write."


def _ids(session: str, streams: Sequence[Stream]) -> list[str]:
    """The nearest ids. Of each as much is compared as was typed: ids are shortened."""
    begins: dict[str, str] = {}
    for stream in streams:
        name = PurePath(stream.path).stem
        match = _ID.search(name)
        one = match.group() if match else name
        begins.setdefault(one[: len(session)].lower(), one)
    close = get_close_matches(session.lower(), begins, n=_MOST, cutoff=0.7)
    return [begins[one] for one in close]
