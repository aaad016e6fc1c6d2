"""What a first load ends with: what was found, what it cost, and what to ask next."""

import os
import shutil
import sys
from decimal import Decimal
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
        cast(sum(coalesce(usage.cost_low_usd, usage.reported_cost_usd))
            as decimal(18, 6)) as least_usd,
        cast(sum(coalesce(usage.cost_high_usd, usage.reported_cost_usd))
            as decimal(18, 6)) as most_usd,
        coalesce(reported_only_usd(usage), 0) as reported_usd,
        unknown_cost_calls(usage) as unknown
    from core.usage as usage
    where usage.unit in ('tokens', 'usd')
"""


def print_first_answer(settings: Settings) -> None:
    """Say it on stderr, in the user's days, with a command that works in this shell."""
    with reading(settings.warehouse) as connection:
        _, ((sessions, first, last, calls, *cost),) = rows(connection, _FOUND)
    print(file=sys.stderr)
    if not sessions:
        print(
            f"No coding agent has left any calls in {settings.home} yet."
            f" Try `{command()} demo`.",
            file=sys.stderr,
        )
        return
    days = f"on {first}" if first == last else f"from {first} to {last}"
    print(
        f"{counted(sessions, 'session')} {days}: {counted(calls, 'call')},"
        f" {_money(*cost)}.\n"
        f"Next: {command()} report, report session, report model; {command()} ui",
        file=sys.stderr,
    )


def _money(
    least: Decimal | None, most: Decimal | None, reported: Decimal, unknown: int
) -> str:
    if least is None:
        return "and no known cost of any"
    money = usd(least, most, partly=unknown > 0, reported=reported > 0)
    if not reported:
        return f"{money} at the prices of the API"
    if reported == least:
        return f"{money} as the agents themselves reported it (*)"
    return f"{money} at the prices of the API and, for {usd(reported)}, as reported (*)"


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
