"""What a first load ends with: what was found, what it cost, and what to ask next."""

import os
import shutil
import sys
from pathlib import Path

from agentlake.pipelines.cli.query import rows
from agentlake.pipelines.cli.table import counted, usd
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.warehouse.connect import reading

_FOUND = """
    select
        count(distinct (usage.source, usage.session_id)) as sessions,
        local_date(min(usage.called_at)) as first_day,
        local_date(max(usage.called_at)) as last_day,
        cast(sum(usage.calls) as bigint) as calls,
        cast(
            coalesce(sum(coalesce(usage.cost_low_usd, usage.reported_cost_usd)), 0)
            as decimal(18, 6)
        ) as cost_usd,
        count(*) filter (
            where usage.cost_low_usd is null and usage.reported_cost_usd is null
        ) as unpriced
    from core.usage as usage
    where usage.unit in ('tokens', 'usd')
"""


def print_first_answer(settings: Settings) -> None:
    """Say it on stderr, in the user's days, with a command that works in this shell."""
    with reading(settings.warehouse) as connection:
        _, ((sessions, first, last, calls, cost, unpriced),) = rows(connection, _FOUND)
    print(file=sys.stderr)
    if not sessions:
        print(
            f"No coding agent has left any calls in {settings.home} yet."
            f" Try `{command()} demo`.",
            file=sys.stderr,
        )
        return
    days = f"on {first}" if first == last else f"from {first} to {last}"
    money = usd(cost, partly=unpriced > 0)
    print(
        f"{counted(sessions, 'session')} {days}: {counted(calls, 'call')}, {money}"
        " at the prices of the API.\n"
        f"Next: {command()} report, report session, report model; {command()} ui",
        file=sys.stderr,
    )


def command() -> str:
    """How this command is called from here: its name, or its path if it needs one."""
    name = "agentlake"
    ours = Path(sys.argv[0])
    if ours.name != name:
        return f"{Path(sys.executable)} -m {name}"
    found = shutil.which(name)
    if found and Path(found).exists() and Path(found).samefile(ours):
        return name
    path = os.path.relpath(ours)
    return path if len(path) < len(str(ours)) else str(ours)
