"""A machine for the tests of Dagster: homes, a warehouse, an instance that forgets."""

import os
import shutil

import dagster as dg
import pytest

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.warehouse.connect import writing

QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}


class Machine:
    """A home with agents' files, a warehouse, and a Dagster that forgets."""

    def __init__(self, folder, defs):
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.warehouse = folder / "lake.duckdb"
        self.instance = dg.DagsterInstance.ephemeral()
        self.job = defs.resolve_job_def("sync")

    def has(self, *cases):
        for case in cases:
            home = FIXTURES_DIR / "sources" / case / "home"
            shutil.copytree(home, self.home, dirs_exist_ok=True)

    def sync(self, *assets, checks=(), tags=None):
        """Materialize everything, or these assets, or make these checks alone."""
        job = self.job
        if assets or checks:
            chosen = {dg.AssetKey(name.split("/")) for name in assets}
            asked = {
                dg.AssetCheckKey(dg.AssetKey(name.split("/")), check)
                for name, check in checks
            }
            job = job.get_subset(
                asset_selection=chosen, asset_check_selection=asked or None
            )
        return self.execute(job, tags=tags)

    def execute(self, job, config=None, tags=None):
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("AGENTLAKE_")]:
                patch.delenv(name)
            patch.setenv("HOME", str(self.home))
            patch.setenv("XDG_CONFIG_HOME", str(self.home / "config"))
            patch.setenv("AGENTLAKE_HOME", str(self.home))
            patch.setenv("AGENTLAKE_WAREHOUSE", str(self.warehouse))
            return job.execute_in_process(
                instance=self.instance,
                raise_on_error=False,
                tags=tags,
                run_config={**(config or {}), **QUIET},
            )

    def all(self, query):
        with writing(self.warehouse) as connection:
            return connection.execute(query).fetchall()


def made(result):
    """The metadata of every materialization, by asset."""
    events = [event for event in result.all_events if event.is_step_materialization]
    found = [event.event_specific_data.materialization for event in events]
    return {
        "/".join(one.asset_key.path): {
            name: it.value for name, it in one.metadata.items()
        }
        for one in found
    }


def failing(result):
    """The checks that failed, with what they say of it."""
    return {
        ("/".join(one.asset_key.path), one.check_name): one
        for one in result.get_asset_check_evaluations()
        if not one.passed
    }
