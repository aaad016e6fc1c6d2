"""`agentlake verify --files`: the agents' files are what was loaded of them."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import msgspec

from agentlake.pipelines.cli.table import (
    Column,
    count,
    counted,
    is_bold,
    render,
)
from agentlake.pipelines.cli.width import clean
from agentlake.pipelines.ingest.recheck import Rechecked, Unseen, read_anew, recheck
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.sync import plans
from agentlake.pipelines.warehouse.connect import (
    NAME,
    attach_published,
    transaction,
    writing,
)

_MOST_SHOWN = 10
_COLUMNS = [
    Column(title="source"),
    *(Column(title=title, right=True) for title in ("streams", "unseen", "unreadable")),
]


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Read all files again and print what differs; it is loaded by the next load."""
    found = list(_compared(settings, environ))
    ids = [id_ for one in found for id_ in one.stream_ids]
    if ids:
        with writing(settings.warehouse) as connection, transaction(connection):
            read_anew(connection, ids)
    if args.json:
        print(json.dumps(_said(found), indent=2))
    else:
        rows = [[one.source, *map(count, _numbers(one))] for one in found]
        print(render(_COLUMNS, rows, bold=is_bold()))
    for line in _lines(found):
        print(clean(line), file=sys.stderr)
    return 1 if any(one.unseen or one.unreadable for one in found) else 0


def _compared(settings: Settings, environ: Mapping[str, str]) -> Iterator[Rechecked]:
    """Each source of which anything was loaded."""
    with duckdb.connect() as connection:
        attach_published(connection, settings.warehouse, NAME)
        connection.execute(f"use {NAME}")
        for plan in plans(settings, environ):
            one = recheck(connection, plan)
            if one.streams or one.unreadable:
                yield one


def _numbers(one: Rechecked) -> tuple[int, ...]:
    return one.streams, len(one.unseen), len(one.unreadable)


def _lines(found: Sequence[Rechecked]) -> Iterator[str]:
    unseen = [(one.source, it) for one in found for it in one.unseen]
    for source, it in unseen[:_MOST_SHOWN]:
        what = "is gone" if it.is_gone else "is not as it was loaded"
        yield f"{source} {_place(it)} {what}"
    if (more := len(unseen) - _MOST_SHOWN) > 0:
        yield f"... and {more:,} more: --json has all"
    if unseen:
        yield (
            f"{counted(len(unseen), 'record')} changed in files that look as before."
            " What was loaded is kept; the next `agentlake load` reads them again."
        )
    for one in found:
        for path, reason in one.unreadable:
            yield f"{one.source} {path}: {reason}\n  not compared"


def _place(it: Unseen) -> str:
    return f"{it.path}:{it.line}" if it.line else f"{it.path} {it.key}"


def _said(found: Sequence[Rechecked]) -> list[dict[str, Any]]:
    return [
        {
            "source": one.source,
            "streams": one.streams,
            "unseen": [msgspec.to_builtins(it) for it in one.unseen],
            "unreadable": [
                {"path": path, "reason": reason} for path, reason in one.unreadable
            ],
        }
        for one in found
    ]
