"""Find the streams of one source, whatever stands in the way of some.

What cannot be looked at hides what is below it: that is said, and nothing that was
loaded from there counts as gone.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

import msgspec

from agentlake.adapters.sdk.contract import Adapter, Options, Reader, Stream
from agentlake.adapters.sdk.run import guarded
from agentlake.adapters.sdk.scan import shut_at, within
from agentlake.errors import did_you_mean
from agentlake.pipelines.ingest.checkpoint import stream_id

_READERS = frozenset(get_args(Reader))


class SourcePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One source with the places where it is searched for."""

    adapter: Adapter
    roots: Sequence[Path]
    searched: Sequence[str] = ()
    unseen: Mapping[str, str] = {}
    """Places that may be there and cannot be looked at, and why."""
    options: Options = {}

    @property
    def is_found(self) -> bool:
        """Whether there is any place of it, as far as can be seen."""
        return bool(self.roots or self.unseen) or not self.adapter.ROOTS


class Listing(msgspec.Struct, kw_only=True):
    """What an adapter finds in all its places."""

    streams: dict[int, tuple[str, Stream]] = {}
    """By stream id, each with the path where it is opened: its own can be stored."""
    unseen: dict[str, str] = {}
    """Files and folders that could not be looked at, and why."""
    led_out: dict[str, str] = {}
    """Links that lead out of the places and are not followed, and where they lead."""
    problems: list[str] = []
    """What the adapter could not do."""
    given_up: list[str] = []
    """The places in which it could not."""

    @property
    def in_the_way(self) -> tuple[str, ...]:
        """What of its places is not known, a sentence each."""
        unseen = (f"{path}: {why}" for path, why in self.unseen.items())
        return (*self.problems, *unseen)

    def hides(self, path: str) -> bool:
        """Whether a stream of this path may be there, unseen."""
        return any(
            not place or f"{path}/".startswith(f"{spelled(place).rstrip(os.sep)}/")
            for place in (*self.unseen, *self.given_up)
        )


def list_streams(plan: SourcePlan) -> Listing:
    """The streams of all places; what one of them raises costs no other.

    A key met again is told apart by its path. A source without places is asked once:
    its settings say where to look.
    """
    found = Listing(unseen=dict(plan.unseen))
    roots = [str(root) for root in plan.roots]
    keys: set[str] = set()
    with within(roots) as noted:
        for place in roots if plan.adapter.ROOTS else [""]:
            try:
                for stream in guarded(plan.adapter, partial(_discover, plan, place)):
                    _take(found, plan.adapter.SOURCE, stream, keys)
            except OSError as error:
                unseen = shut_at(str(error.filename or place))
                found.unseen[unseen] = error.strerror or str(error)
                found.given_up.append(place)
            except Exception as error:  # noqa: BLE001 - an adapter of anyone's
                found.problems.append(str(error))
                found.given_up.append(place)
    found.unseen |= noted.unseen
    found.led_out |= noted.led_out
    return found


def _discover(plan: SourcePlan, place: str) -> Iterator[Stream]:
    return plan.adapter.discover(place, plan.options)


def _take(found: Listing, source: str, stream: Stream, keys: set[str]) -> None:
    """Take a stream. A name that is no UTF-8 is spelled out: no table can hold it."""
    if stream.reader not in _READERS:
        guess = did_you_mean(stream.reader, _READERS)
        msg = f"{stream.path}: unknown reader {stream.reader}.{guess}"
        found.problems.append(msg)
        return
    key, path = spelled(stream.key), spelled(stream.path)
    if key in keys:
        key = f"{key}@{path}"
    keys.add(key)
    if (key, path) == (stream.key, stream.path):
        own = stream
    else:
        own = Stream(path=path, key=key, reader=stream.reader)
    found.streams[stream_id(source, key)] = stream.path, own


def spelled(name: str) -> str:
    r"""The name, with `\xff` for each byte that is no UTF-8."""
    if name.isascii():
        return name
    return os.fsencode(name).decode("utf-8", "backslashreplace")
