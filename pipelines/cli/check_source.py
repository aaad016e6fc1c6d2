"""`agentlake check-source`: what an adapter gives, and what it still lacks."""

import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from inspect import getdoc
from pathlib import Path
from typing import Any, cast

from agentlake.adapters.registry import BUILT_IN, adapters
from agentlake.adapters.sdk.conformance import PROMISES, everything, streams_of
from agentlake.adapters.sdk.contract import (
    Adapter,
    Chunk,
    Options,
    ReadsItself,
    Stream,
    Unknown,
)
from agentlake.adapters.sdk.load import adapter_from
from agentlake.adapters.sdk.run import place_of_error
from agentlake.adapters.sdk.shape import what_is_missing
from agentlake.errors import UserError, did_you_mean
from agentlake.pipelines.cli.new_source import HOMES
from agentlake.pipelines.cli.table import counted
from agentlake.pipelines.cli.width import clean
from agentlake.pipelines.settings.settings import Settings

_MOST_SHOWN = 5
_SECTIONS = ("Where:", "Seen:", "Trap:", "Missing:")
_WHY = {
    "Message": "no message is shown, and a session without one does not exist",
    "Block": "messages have no text",
    "ToolCall": "no call of a tool is shown",
    "ToolResult": "calls of tools have no result",
    "Usage": "nothing is counted: no tokens, no cost",
}
"""What is missing from the tables where a kind of fact is missing from a source."""


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Print what was found; exit code 1 if something has to be put right."""
    del environ
    folder = args.folder or settings.adapters_folder
    adapter = _adapter(args.name, folder)
    missing = what_is_missing(adapter)
    if not missing and adapter.SOURCE in BUILT_IN and not _is_built_in(adapter):
        missing.append(f"there is a source {adapter.SOURCE} already: choose a name")
    if missing:
        for one in missing:
            print(f"! {one}")
        return 1
    told = cast("Adapter", Told(adapter, settings.source(args.name).options))
    fine = True
    for home in _places(args, folder, adapter):
        print(f"{home}")
        lines = [*_given(told, home), *_broken(told, home)]
        fine = fine and not any(line.startswith("! ") for line in lines)
        for line in lines:
            print("\n".join(map(clean, line.split("\n"))))
    for line in _undocumented(adapter):
        print(f"  {line}")
    print("All promises are kept." if fine else "Put right what stands in !.")
    return 0 if fine else 1


class Told:
    """An adapter that is told its options whatever others hand it."""

    def __init__(self, adapter: Adapter, options: Options) -> None:
        self._adapter = adapter
        self._options = options

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    def discover(self, root: str, _: Options) -> Iterator[Stream]:
        """What the adapter finds with the options of the settings file."""
        return self._adapter.discover(root, self._options)

    def read(self, stream: Stream, cursor: Any, _: Options) -> Iterator[Chunk]:
        """What the adapter reads with these options."""
        return cast("ReadsItself", self._adapter).read(stream, cursor, self._options)


def _is_built_in(adapter: Adapter) -> bool:
    return str(getattr(adapter, "__name__", "")).startswith("agentlake.")


def _places(args: Namespace, folder: Path, adapter: Adapter) -> list[Path]:
    """Where it is tried: what is asked for, else its homes; "." if it has no place."""
    if args.on:
        if not args.on.is_dir():
            msg = f"--on {args.on}: there is no such folder."
            raise UserError(msg)
        return [args.on.resolve()]
    return _homes(folder, args.name) if adapter.ROOTS else [Path()]


def _adapter(name: str, folder: Path) -> Adapter:
    path = folder / f"{name}.py"
    if path.exists():
        try:
            return adapter_from(path)
        except Exception as error:
            msg = f"{place_of_error(error, str(path))}\nIt cannot be used until then."
            raise UserError(msg) from error
    known = adapters()
    if name in known:
        return known[name]
    msg = (
        f"there is no {path}, and no source {name}.{did_you_mean(name, known)}"
        f" Begin one with `agentlake new-source {name}`."
    )
    raise UserError(msg)


def _homes(folder: Path, name: str) -> list[Path]:
    place = folder / HOMES / name
    homes = (
        sorted(it for it in place.iterdir() if it.is_dir()) if place.is_dir() else []
    )
    if not homes:
        msg = (
            f"{place} holds no home to try it on. Put a folder there such as"
            " `discover` is given, or name one with --on."
        )
        raise UserError(msg)
    return homes


def _given(adapter: Adapter, home: Path) -> Iterator[str]:
    """How much of it was found and understood, and what no record gave."""
    try:
        streams = streams_of(adapter, home if adapter.ROOTS else Path())
        found = everything(adapter, streams)
    except Exception as error:  # noqa: BLE001 - it is being written
        yield f"! {place_of_error(error, getattr(adapter, '__file__', '') or '')}"
        return
    if not streams:
        files = sum(path.is_file() for path in home.rglob("*")) if adapter.ROOTS else 0
        yield f"! discover finds no stream; there are {counted(files, 'file')}"
        return
    waiting = {one.path for one in streams} - {r.stream.path for r, *_ in found}
    for path in sorted(waiting):
        yield f"  waits: {path}: empty, or half written"
    if found and not any(given for _, given, _ in found):
        yield "! no record gives a fact: is the reader of its streams the right one?"
    facts = Counter(type(fact).__name__ for _, given, _ in found for fact in given)
    silent = sum(not given and not rejects for _, given, rejects in found)
    yield f"  {counted(len(streams), 'stream')}, {counted(len(found), 'record')}"
    yield "  gives: " + (", ".join(f"{n:,} {kind}" for kind, n in facts.items()) or "-")
    if silent:
        yield f"  passes over {counted(silent, 'record')} in silence: is that meant?"
    rejects = [(record, it) for record, _, given in found for it in given]
    types = Counter(it.reason for _, it in rejects if isinstance(it, Unknown))
    for name, count in types.most_common(_MOST_SHOWN):
        yield f"  of the unknown type {name}: {counted(count, 'record')}"
    rejects = [(record, it) for record, it in rejects if not isinstance(it, Unknown)]
    for record, reject in rejects[:_MOST_SHOWN]:
        yield f"  reject: {record.stream.path}:{record.seq + 1}  {reject.reason}"
    if len(rejects) > _MOST_SHOWN:
        yield f"  ... and {len(rejects) - _MOST_SHOWN:,} rejects more"
    for kind, why in _WHY.items():
        if not facts[kind]:
            yield f"  missing: no {kind}, so {why}"


def _broken(adapter: Adapter, home: Path) -> Iterator[str]:
    for promise in PROMISES if adapter.ROOTS else ():
        said = (getdoc(promise) or "").splitlines()[0]
        with tempfile.TemporaryDirectory(prefix="agentlake-") as scratch:
            try:
                promise(adapter, home, Path(scratch))
            except Exception as error:  # noqa: BLE001 - it is being written
                what = str(error)
                if not isinstance(error, AssertionError):
                    file = getattr(adapter, "__file__", "") or ""
                    what = place_of_error(error, file)
                name = promise.__name__.replace("_", " ")
                what = what.splitlines()[0] if what else said
                yield f"! {name}: {what}\n    ({said})"


def _undocumented(adapter: Adapter) -> Iterator[str]:
    page = getdoc(adapter) or ""
    for section in _SECTIONS:
        if section not in page:
            yield f"its docstring has no {section} The table of sources is made of it."
