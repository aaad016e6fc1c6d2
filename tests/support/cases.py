"""The golden cases, and plans to load what is in a home."""

import json
import os
import shutil
import sqlite3
import tempfile
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from agentlake.adapters.registry import adapters
from agentlake.fixtures import FIXTURES_DIR
from agentlake.models.fact import Fact
from agentlake.pipelines.ingest.listing import SourcePlan
from agentlake.pipelines.settings.places import resolve_roots
from agentlake.pipelines.settings.settings import load_settings

_SCRATCH = tempfile.TemporaryDirectory(prefix="agentlake-cases-")


class Case:
    """One golden case: a home as an agent left it, and what has to be found in it."""

    def __init__(self, folder):
        self.folder = folder
        self.source, self.name = folder.parts[-2:]
        self.id = f"{self.source}/{self.name}"

    @cached_property
    def home(self):
        """The home; a copy with databases made of its .sql files, if it has some."""
        home = self.folder / "home"
        if not any(home.rglob("*.sql")):
            return home
        made = Path(_SCRATCH.name, self.source, self.name, "home")
        if not made.exists():
            shutil.copytree(home, made, copy_function=shutil.copy)
            for script in made.rglob("*.sql"):
                database = sqlite3.connect(script.with_suffix(""))
                database.executescript(script.read_text())
                database.close()
                script.unlink()
        return made

    @property
    def checks(self):
        return json.loads((self.folder / "expected.json").read_text())["checks"]


CASES = [
    Case(file.parent) for file in sorted(FIXTURES_DIR.glob("sources/*/*/expected.json"))
]


LOADED_FAST = {"claude_code", "gemini_cli", "opencode"}
"""One source for each kind of reader: lines, documents, databases."""


def plans(home):
    """What `agentlake load --home` would look at."""
    settings = load_settings(
        config=None,
        home=home,
        warehouse=None,
        environ={"HOME": str(home)},
        known_sources=adapters(),
    )
    return [
        SourcePlan(
            adapter=adapter,
            roots=resolve_roots(adapter.ROOTS, settings, name, {"HOME": str(home)}),
        )
        for name, adapter in adapters().items()
    ]


class Apart:
    """An adapter that reads many homes at once and keeps their ids apart.

    The cases use the same few ids. Here each gets the name of its home, the folder
    below `homes`, in front; all else is the adapter's own.
    """

    def __init__(self, adapter, homes):
        self.SOURCE = adapter.SOURCE
        self.ROOTS = adapter.ROOTS
        self.PARSER_VERSION = adapter.PARSER_VERSION
        self._adapter = adapter
        self._homes = homes

    def discover(self, root, options):
        home = Path(root).relative_to(self._homes).parts[0]
        for stream in self._adapter.discover(root, options):
            yield replace(stream, key=f"{home}|{stream.key}")

    def explode(self, stream, data):
        return self._adapter.explode(_own(stream), data)

    def tables(self, stream):
        return self._adapter.tables(_own(stream))

    def read(self, stream, cursor, options):
        return self._adapter.read(_own(stream), cursor, options)

    def parse(self, record):
        home, _, _ = record.stream.key.partition("|")
        own = replace(record, stream=_own(record.stream))
        for found in self._adapter.parse(own):
            yield _prefixed(found, home) if isinstance(found, Fact) else found


def _own(stream):
    return replace(stream, key=stream.key.partition("|")[2])


def _prefixed(fact, home):
    ids = {
        name: f"{home}|{value}"
        for name in fact.__struct_fields__
        if name.endswith("_id")
        or name in ("counter", "replay_base", "scope", "usage_key")
        if (value := getattr(fact, name))
    }
    return replace(fact, **ids)


def plans_apart(homes):
    """One plan per source for all homes below a folder."""
    every = [plan for home in sorted(homes.iterdir()) for plan in plans(home)]
    return [
        SourcePlan(
            adapter=Apart(adapter, homes),
            roots=[
                root for one in every if one.adapter is adapter for root in one.roots
            ],
        )
        for adapter in adapters().values()
    ]


def copied(case, to):
    """The case's home as if it had just been written."""
    shutil.copytree(case.home, to, copy_function=shutil.copy)
    return to


def aged(path, seconds=7200):
    """Make the file look as if nobody had written to it for that long."""
    status = path.stat()
    then = status.st_mtime_ns - seconds * 10**9
    os.utime(path, ns=(then, then))
