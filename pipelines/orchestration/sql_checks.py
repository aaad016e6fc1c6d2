"""sql/checks/*.sql as asset checks."""

import dagster as dg

from agentlake.pipelines.orchestration.shown import asset_key, check_result
from agentlake.pipelines.orchestration.warehouse_resource import (
    WarehouseResource,
    plain_errors,
)
from agentlake.pipelines.transform.checks.between import checks_between
from agentlake.pipelines.transform.checks.check import Check, run
from agentlake.pipelines.transform.sql_models import SQL
from agentlake.pipelines.warehouse.connect import Connection


def sql_checks(binder: Connection) -> list[dg.AssetChecksDefinition]:
    """All checks between tables. Raises ModelError for a file that is not one."""
    return [_as_dagster(one) for one in checks_between(SQL / "checks", binder)]


def _as_dagster(check: Check) -> dg.AssetChecksDefinition:
    others = [
        asset_key(name)
        for name in check.reads
        if name != check.table and not name.startswith("meta.")
    ]

    @dg.asset_check(
        asset=asset_key(check.table),
        name=check.name,
        description=check.description,
        additional_deps=others,
    )
    def _find(lake: dg.ResourceParam[WarehouseResource]) -> dg.AssetCheckResult:
        with plain_errors():
            return check_result(lake.connection, run(lake.connection, check))

    return _find
