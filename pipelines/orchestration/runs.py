"""Runs that are on their way, and those whose process is gone.

After a kill of everything (or a power cut) a run stays "started" for ever: nobody is
left to say how it ended. The sensor would wait for it for ever as well.
"""

import os
import time
from pathlib import Path

import dagster as dg
from dagster import DagsterEventType, DagsterRunStatus

from agentlake.pipelines import timing
from agentlake.pipelines.orchestration.tags import BY
from agentlake.pipelines.processes import is_running
from agentlake.pipelines.warehouse.one_ui import PID

UNFINISHED = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]


def unfinished(instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    """The runs that are queued or running; those whose process died are failed."""
    waiting: list[dg.DagsterRun] = []
    ours = os.environ.get(PID, "")
    for found in instance.get_run_records(dg.RunsFilter(statuses=UNFINISHED)):
        run = found.dagster_run
        age = time.time() - found.update_timestamp.timestamp()
        if run.status == DagsterRunStatus.NOT_STARTED and age > timing.NEVER_QUEUED_S:
            gone: str | None = "it was never queued: who asked for it is gone"
        elif run.status == DagsterRunStatus.STARTING and run.tags.get(BY, ours) != ours:
            # Dagster's own monitoring waits for three minutes. Should its process be
            # there after all, it finds its run failed, and ends.
            gone = "it never began: who asked for it is gone"
        else:
            gone = _gone(instance, run)
        if gone is None:
            waiting.append(run)
        else:
            instance.report_run_failed(run, f"Found by the sensor: {gone}.")
    return waiting


def _gone(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str | None:
    """Why the run can never end by itself; None if it can."""
    if run.status not in (DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING):
        return None
    started = instance.get_records_for_run(
        run.run_id, of_type=DagsterEventType.RUN_START, limit=1
    ).records
    if not started:
        return None
    event = started[0].event_log_entry
    pid = event.dagster_event.pid if event.dagster_event else None
    if pid is None or lives(pid, event.timestamp):
        return None
    return f"its process {pid} is gone"


def lives(pid: int, since: float) -> bool:
    """Whether that process, which ran at that time, still does.

    Numbers are given again, after a restart of the machine very soon: a process that
    began later is another one.
    """
    if not is_running(pid):
        return False
    began = _began(pid)
    return began is None or began <= since + timing.CLOCK_SLACK_S


def _began(pid: int) -> float | None:
    """When the process began, where that can be known."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        ticks = int(stat.rpartition(")")[2].split()[19])
        up = time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.time() - up + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None
