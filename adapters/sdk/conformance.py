"""The promises that every adapter keeps, as checks that run on anybody's adapter.

Use it on your own, with a folder such as your adapter's `discover` is given:

    from agentlake.adapters.sdk.conformance import PROMISES

    @pytest.mark.parametrize("promise", PROMISES, ids=lambda it: it.__name__)
    def test_my_adapter(promise, tmp_path):
        promise(my_adapter, Path("fixtures/home/.acme"), tmp_path)

A broken promise is an AssertionError that says which, where and by what. The folder
is only read; `scratch` is an empty one to write in.
"""

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path
from threading import Event, Thread
from typing import TypeAlias

import msgspec

from agentlake.adapters.sdk.contract import (
    Adapter,
    Options,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.readers import document, jsonl
from agentlake.adapters.sdk.readers.chunks import chunks
from agentlake.adapters.sdk.run import facts_of, line_key, misfit
from agentlake.adapters.sdk.scan import within
from agentlake.adapters.sdk.splice import spans
from agentlake.models.fact import Fact

Promise: TypeAlias = Callable[[Adapter, Path, Path], None]
Found: TypeAlias = list[tuple[Record, list[Fact], list[Reject]]]

_MOST_PAIRS = 200
_PATIENCE_S = 60.0
_DAMAGED = b'{"type": "assistant", "message": {"id": "m\xff'


def streams_of(
    adapter: Adapter, root: Path, options: Options | None = None
) -> list[Stream]:
    """What the adapter finds below a root, within which links stay."""
    with within([str(root)] if adapter.ROOTS else []):
        return list(adapter.discover(str(root), options or {}))


def records_of(adapter: Adapter, stream: Stream) -> Iterator[Record]:
    """All records of a stream, as the first load would take them."""
    if stream.reader == "document":
        read = document.read(stream.path, None)
        if read is not None:  # else it is empty
            yield Record(stream, 0, 0, "document", read[0])
        return
    if stream.reader != "jsonl":
        place = 0
        with suppress(Unreadable):  # half written: it waits
            for chunk in chunks(adapter, stream, stream.path, None, {}):
                for one in chunk.records:
                    place = place + 1 if one.seq is None else one.seq
                    yield Record(stream, place, 0, one.key, one.data)
        return
    occurrences: Counter[str] = Counter()
    for batch in jsonl.read(stream.path, None):
        for line in batch.lines:
            data = line.data or b""
            content = hashlib.sha256(data).hexdigest()[:16]
            again = occurrences[content]
            occurrences[content] += 1
            key = f"{content}.{again}" if again else content
            yield Record(stream, line.seq, line.offset, key, data)


def everything(adapter: Adapter, streams: Iterable[Stream]) -> Found:
    """Each record of these streams with its facts and rejects."""
    return [
        (record, *facts_of(adapter, record))
        for stream in streams
        for record in records_of(adapter, stream)
    ]


def tree(root: Path) -> dict[str, tuple[int, ...]]:
    """Names, kinds, sizes, inodes and times of all that lies below a folder."""
    found: dict[str, tuple[int, ...]] = {}
    for folder, folders, files in os.walk(root):
        for name in (".", *folders, *files):
            path = Path(folder, name)
            it = path.lstat()
            about = (it.st_mode, it.st_ino, it.st_size, it.st_mtime_ns, it.st_ctime_ns)
            found[str(path)] = about
    return found


def nothing_is_touched(adapter: Adapter, root: Path, scratch: Path) -> None:
    """Neither looking nor reading changes a byte, a name or a time stamp."""
    del scratch
    before = tree(root)
    everything(adapter, streams_of(adapter, root))
    after = tree(root)
    changed = {
        path
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }
    assert not changed, f"changed by reading: {sorted(changed)}"


def discover_is_sorted_and_gives_each_stream_once(
    adapter: Adapter, root: Path, scratch: Path
) -> None:
    """Paths ascend, keys and paths are unique, every path lies below the root."""
    del scratch
    streams = streams_of(adapter, root)
    paths = [stream.path for stream in streams]
    assert paths == sorted(paths), f"not sorted by path: {paths}"
    for name, values in (("path", paths), ("key", [one.key for one in streams])):
        twice = [value for value, count in Counter(values).items() if count > 1]
        assert not twice, f"{name} given twice: {twice}"
    for path in paths:
        assert Path(path).is_relative_to(root), f"{path} is not below {root}"
        assert Path(path).is_file(), f"{path} is no file"


def discover_opens_nothing(adapter: Adapter, root: Path, scratch: Path) -> None:
    """Files that would block whoever opens them are found all the same."""
    copy = scratch / root.name
    for folder, _, files in os.walk(root):
        to = copy / Path(folder).relative_to(root)
        to.mkdir(parents=True, exist_ok=True)
        for name in files:
            Path(to, name).touch()
    there = [os.path.relpath(one.path, copy) for one in streams_of(adapter, copy)]
    here = [os.path.relpath(one.path, root) for one in streams_of(adapter, root)]
    assert there == here, "what is found depends on what the files hold"


def links_that_lead_out_are_not_followed(
    adapter: Adapter, root: Path, scratch: Path
) -> None:
    """What a link inside the folder leads to may be anybody's: `scan` stays within."""
    copy, outside = scratch / root.name, scratch / "outside"
    shutil.copytree(root, outside)
    copy.mkdir()
    for name in os.listdir(outside):
        (copy / name).symlink_to(outside / name)
    found = [stream.path for stream in streams_of(adapter, copy)]
    assert not found, f"found through links that lead out: {found}"


def what_is_no_file_keeps_nobody_waiting(
    adapter: Adapter, root: Path, scratch: Path
) -> None:
    """A pipe at the place of a file, or of one beside it, is never opened."""
    copy = scratch / root.name
    for folder, _, files in os.walk(root):
        to = copy / Path(folder).relative_to(root)
        to.mkdir(parents=True, exist_ok=True)
        for name in files:
            os.mkfifo(to / name)
    # Data and side files are opened apart: here some of them are what they should be.
    for stream in streams_of(adapter, root):
        path = copy / Path(stream.path).relative_to(root)
        path.unlink()
        shutil.copyfile(stream.path, path)
    done = Event()

    def look() -> None:
        with suppress(OSError):
            everything(adapter, streams_of(adapter, copy))
        if tell := getattr(adapter, "health", None):
            tell(str(copy))
        done.set()

    Thread(target=look, daemon=True).start()
    assert done.wait(_PATIENCE_S), "something waits for what is written to a pipe"


def an_empty_folder_and_none_have_no_streams(
    adapter: Adapter, root: Path, scratch: Path
) -> None:
    """An agent that was never used, or is being removed, is no error."""
    empty = scratch / root.name
    empty.mkdir()
    for folder in (empty, scratch / "nowhere"):
        found = streams_of(adapter, folder)
        assert not found, f"streams in {folder}: {found}"


def reading_twice_gives_the_same(adapter: Adapter, root: Path, scratch: Path) -> None:
    """Parse is pure: the same records in another order give equal facts and rejects."""
    del scratch
    first = everything(adapter, streams_of(adapter, root))
    again = [(record, *facts_of(adapter, record)) for record, *_ in reversed(first)]
    for (record, *one), (_, *other) in zip(first, reversed(again), strict=True):
        assert one == other, f"{_at(record)}: parsed twice, {one} and {other}"


def facts_have_the_types_of_their_fields(
    adapter: Adapter, root: Path, scratch: Path
) -> None:
    """A str is a str, a count is no float and not negative, required is there."""
    del scratch
    for record, facts, _ in everything(adapter, streams_of(adapter, root)):
        for fact in facts:
            reason = misfit(fact)
            assert reason is None, f"{_at(record)}: {type(fact).__name__}: {reason}"


def keys_are_unique_within_a_stream(
    adapter: Adapter, root: Path, scratch: Path
) -> None:
    """So that a record is never taken for another one, nor loaded twice."""
    del scratch
    for stream in streams_of(adapter, root):
        keys = Counter(record.key for record in records_of(adapter, stream))
        twice = [key for key, count in keys.items() if count > 1]
        assert not twice, f"{stream.path}: keys given twice: {twice}"


def a_half_written_last_line_waits_for_its_end(
    adapter: Adapter, root: Path, scratch: Path
) -> None:
    """Nothing of it is given before its newline, all of it afterwards."""
    for stream in _copied_lines(adapter, root, scratch):
        file = Path(stream.path)
        data = file.read_bytes()
        data = data[: data.rfind(b"\n") + 1]
        start = data.rfind(b"\n", 0, -1) + 1
        if not data[start:].strip():
            continue
        file.write_bytes(data)
        whole = everything(adapter, [stream])
        for cut in (start + 1, (start + len(data)) // 2, len(data) - 1):
            file.write_bytes(data[:cut])
            before = everything(adapter, [stream])
            (*_, torn) = jsonl.read(stream.path, None)
            assert before == whole[:-1], f"{stream.path}: half a line was taken"
            assert torn.cursor.offset == start, f"{stream.path}: read past {start}"
            file.write_bytes(data)
            rest = [
                (line.seq, line.data)
                for batch in jsonl.read(stream.path, torn.cursor)
                for line in batch.lines
            ]
            last = whole[-1][0]
            assert rest == [(last.seq, last.data)], f"{stream.path}: the end is lost"


def a_damaged_record_costs_itself_and_no_other(
    adapter: Adapter, root: Path, scratch: Path
) -> None:
    """A broken line is a reject, and what its neighbours say is as before."""
    for stream in _copied_lines(adapter, root, scratch):
        file = Path(stream.path)
        data = file.read_bytes()
        end = data.find(b"\n") + 1
        if not end:
            continue
        before = everything(adapter, [stream])
        file.write_bytes(data[:end] + _DAMAGED + b"\n" + data[end:])
        after = everything(adapter, [stream])
        ((_, facts, rejects),) = (one for one in after if one[0].data == _DAMAGED)
        assert not facts, f"{stream.path}: facts of a broken line: {facts}"
        kept = [_said(one) for one in after if one[0].data != _DAMAGED]
        assert kept == [_said(one) for one in before], f"{stream.path}: others changed"
        if any(facts for _, facts, _ in before):
            assert rejects, f"{stream.path}: a broken line was passed over in silence"


def records_that_share_a_line_are_all_there(
    adapter: Adapter, root: Path, scratch: Path
) -> None:
    """Two records on one line say what they say on two, also after half a record."""
    del scratch
    for stream in streams_of(adapter, root):
        if stream.reader != "jsonl":
            continue
        lines = [one for one in records_of(adapter, stream) if _is_object(one.data)]
        for one, other in islice(pairwise(lines), _MOST_PAIRS):
            said = [_on_its_own_line(adapter, it) for it in (one, other)]
            for cut in (len(one.data), len(one.data) // 2, one.data.index(b"{") + 1):
                both = msgspec.structs.replace(one, data=one.data[:cut] + other.data)
                facts, rejects = facts_of(adapter, both)
                is_cut = cut < len(one.data)
                wanted = said[1] if is_cut else said[0] + said[1]
                assert facts == wanted, (
                    f"{_at(one)}: with the next one on the line of its first {cut}"
                    f" bytes, it says {facts} instead of {wanted}"
                )
                assert rejects or not (is_cut and wanted), f"{_at(one)}: half is silent"


def _is_object(data: bytes) -> bool:
    found = spans(data)
    return len(found) == 1 and found[0].is_whole


def _on_its_own_line(adapter: Adapter, record: Record) -> list[Fact]:
    key = line_key(record.data)
    return facts_of(adapter, msgspec.structs.replace(record, key=key))[0]


def _copied_lines(adapter: Adapter, root: Path, scratch: Path) -> list[Stream]:
    """The plain line-based streams of a copy that may be written to."""
    copy = scratch / root.name
    shutil.copytree(root, copy)
    return [
        stream
        for stream in streams_of(adapter, copy)
        if stream.reader == "jsonl" and not stream.path.endswith(".zst")
    ]


def _said(one: tuple[Record, list[Fact], list[Reject]]) -> tuple[object, ...]:
    record, facts, rejects = one
    return record.key, record.data, facts, rejects


def _at(record: Record) -> str:
    return f"{record.stream.path}:{record.seq + 1}"


PROMISES: tuple[Promise, ...] = (
    nothing_is_touched,
    discover_is_sorted_and_gives_each_stream_once,
    discover_opens_nothing,
    links_that_lead_out_are_not_followed,
    what_is_no_file_keeps_nobody_waiting,
    an_empty_folder_and_none_have_no_streams,
    reading_twice_gives_the_same,
    facts_have_the_types_of_their_fields,
    keys_are_unique_within_a_stream,
    a_half_written_last_line_waits_for_its_end,
    a_damaged_record_costs_itself_and_no_other,
    records_that_share_a_line_are_all_there,
)


def claimed_twice(places: Iterable[tuple[Adapter, Path]]) -> dict[str, set[str]]:
    """Files that more than one source would load: each with those sources."""
    claims: dict[str, set[str]] = {}
    for adapter, root in places:
        for stream in streams_of(adapter, root):
            claims.setdefault(stream.path, set()).add(adapter.SOURCE)
    return {path: sources for path, sources in claims.items() if len(sources) > 1}
