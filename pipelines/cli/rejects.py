"""`agentlake rejects`: records that could not be understood, and why."""

import sys
from argparse import Namespace
from collections.abc import Mapping

from agentlake.pipelines.cli.days import span, today_in
from agentlake.pipelines.cli.query import as_json, rows
from agentlake.pipelines.cli.table import Column, first, is_bold, render, terminal_width
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.warehouse.connect import reading

_MOST_ROWS = 50
_REJECTS = """
    select
        loads.started_at as loaded_at, rejects.source,
        streams.path, rejects.seq + 1 as line, rejects.reason
    from meta.rejects as rejects
    left join meta.streams as streams using (stream_id)
    left join meta.loads as loads on loads.load_id = rejects.load_id
    where ($source is null or rejects.source = $source)
        and ($since is null or loads.started_at >= cast($since as timestamptz))
    order by rejects.load_id desc, rejects.source, streams.path, rejects.seq
"""


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """List them; none is a line and no error."""
    zone = settings.time_zone
    since, _none = span(args.since, None, zone, today_in(zone))
    values = {"source": args.source, "since": since.isoformat() if since else None}
    most = args.limit or (None if args.json else _MOST_ROWS)
    with reading(settings.warehouse) as connection:
        limit = None if most is None else most + 1
        local = None if args.json else zone
        names, found = rows(connection, _REJECTS, values, limit=limit, zone=local)
    if args.json:
        print(as_json(names, found[:most]))
        return 0
    if not found:
        print("No rejects.", file=sys.stderr)
        return 0
    columns = [
        Column(title="loaded", dropped=1),
        Column(title="source"),
        Column(title="where", gives_way="start", is_whole=True),
        Column(title="reason", gives_way="end", is_whole=True),
    ]
    cells = [
        [str(at or "-"), source, f"{path}:{line}", reason]
        for at, source, path, line, reason in found[:most]
    ]
    print(render(columns, cells, width=terminal_width(), bold=is_bold()))
    if most is not None and len(found) > most:
        print(f"{first(most)}; --limit N shows more", file=sys.stderr)
    return 0
