"""raw/<source>: what an agent left on disk, kept as it was found."""

import inspect
import json
import time
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import msgspec

from agentlake.adapters.sdk.contract import Adapter
from agentlake.adapters.sdk.introduced import introduced
from agentlake.pipelines.ingest.changes import Baseline, baseline_after, changes
from agentlake.pipelines.ingest.checkpoint import stream_id
from agentlake.pipelines.ingest.loader import load
from agentlake.pipelines.ingest.report import SourceReport
from agentlake.pipelines.ingest.scanner import Scanner
from agentlake.pipelines.orchestration.same_warehouse import LAST_LOAD, last_load
from agentlake.pipelines.orchestration.shown import (
    FRESHNESS,
    OWNERS,
    as_table,
    table_schema,
)
from agentlake.pipelines.orchestration.source_checks import (
    source_check_results,
    source_check_specs,
)
from agentlake.pipelines.orchestration.warehouse_resource import (
    WarehouseResource,
    plain_errors,
)
from agentlake.pipelines.transform.checks.check import SHOWN_ROWS
from agentlake.pipelines.transform.columns import Types, raw_columns
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import raw_table

BASELINE = "baseline"
"""The metadata that says what was loaded: the sensor compares the disk with it."""
STREAMS = "streams"
_CONFIG = {
    STREAMS: dg.Field(
        [str],
        is_required=False,
        description="Load these streams only, by their keys (meta.streams.key).",
    )
}

_DESCRIPTION = """\
{icon} Every record of {name}, byte for byte, from every load there ever was. It is \
the archive: what the agent deletes or rewrites stays here, and everything else can be \
made again from it.

```
{page}
```
"""


def raw_asset(source: str, adapter: Adapter, types: Types) -> dg.AssetsDefinition:
    """The asset that loads one source, and no other."""
    key = dg.AssetKey(["raw", source])
    page = inspect.getdoc(adapter) or ""
    agent = introduced(adapter)
    spec = dg.AssetSpec(
        key,
        description=_DESCRIPTION.format(icon=agent.icon, name=agent.name, page=page),
        group_name="raw",
        owners=OWNERS,
        kinds={"python", "duckdb"},
        freshness_policy=FRESHNESS,
        code_version=str(adapter.PARSER_VERSION),
        metadata={
            "dagster/table_name": f"raw.{source}",
            "dagster/column_schema": table_schema(raw_columns(types)),
            **code_reference(_file(adapter), "the adapter"),
        },
    )

    @dg.multi_asset(
        name=raw_op(source),
        specs=[spec],
        check_specs=source_check_specs(key),
        can_subset=True,
        config_schema=_CONFIG,
    )
    def _load(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[WarehouseResource]
    ) -> Iterator[Any]:
        with plain_errors():
            plan = lake.plan(source)
            scanner = Scanner(plan) if plan is not None else None
            listing = None
            if key in context.selected_asset_keys:
                metadata = _loaded(context, lake, source, scanner)
                listing = scanner.listing if scanner else None
                yield dg.MaterializeResult(asset_key=key, metadata=metadata)
            yield from source_check_results(
                lake.connection,
                source,
                key,
                context.selected_asset_check_keys,
                plan=plan,
                listing=listing,
            )

    return _load


def raw_op(source: str) -> str:
    """The name of the op that loads the source."""
    return f"raw__{source}"


def _loaded(
    context: dg.AssetExecutionContext,
    lake: WarehouseResource,
    source: str,
    scanner: Scanner | None,
) -> dict[str, Any]:
    """Load the source; the metadata of its materialization."""
    if scanner is None:
        return {
            "found": "switched off in the settings",
            **_rows(lake.connection, source),
        }
    connection = lake.connection  # a wait for it is no part of the load
    before = time.perf_counter()
    now = time.time()
    plan = scanner.plan
    snapshot = scanner.scan(now)  # before anything is read
    earlier = last_baseline(context.instance, source)
    chosen = _chosen(context, source)
    if earlier is None or changes(snapshot, earlier) is None:
        chosen = None
    listings = {source: scanner.listing}
    report = load(connection, [plan], listings=listings, only=chosen)
    one = report.sources[source]
    if one.problem is not None:
        raise dg.Failure(description=one.problem)
    unread = scanner.ids([path for path, _ in one.deferred])
    half = scanner.ids(one.waiting)
    baseline = baseline_after(snapshot, earlier, chosen, now, unread=unread, half=half)
    return {
        **_rows(connection, source),
        "found": ", ".join(str(root) for root in plan.roots)
        or f"not found (looked in {', '.join(plan.searched)})",
        "new_records": one.records,
        "new_facts": one.facts,
        "new_bytes": one.bytes,
        "new_rejects": one.rejects,
        "streams": len(snapshot.streams),
        "streams_read": one.read,
        "records_replayed": one.replayed,
        "seconds": round(time.perf_counter() - before, 3),
        "signature": f"{snapshot.fingerprint:016x}",
        BASELINE: dg.MetadataValue.json(msgspec.to_builtins(baseline, str_keys=True)),
        LAST_LOAD: last_load(connection),
        **_lag(connection, source, datetime.fromtimestamp(now, UTC)),
        **_deferred(one),
    }


def _chosen(context: dg.AssetExecutionContext, source: str) -> set[int] | None:
    """The streams that the run's config names; None: all."""
    keys = context.op_execution_context.op_config.get(STREAMS)
    return None if keys is None else {stream_id(source, key) for key in keys}


def last_baseline(instance: dg.DagsterInstance, source: str) -> Baseline | None:
    """The source as its last successful load found it."""
    key = dg.AssetKey(["raw", source])
    event = instance.get_latest_materialization_event(key)
    if event is None or event.asset_materialization is None:
        return None
    value = event.asset_materialization.metadata.get(BASELINE)
    return None if value is None else Baseline.decoded(json.dumps(value.value))


def _rows(connection: Connection, source: str) -> dict[str, Any]:
    ((rows,),) = connection.execute(
        f"select count(*) from {raw_table(source)}"
    ).fetchall()
    return {"dagster/row_count": rows}


def _lag(connection: Connection, source: str, since: datetime) -> dict[str, Any]:
    """How old the newest of what was read had become: only if something was."""
    ((newest,),) = connection.execute(
        "select max(mtime_ns) from meta.streams where source = $1 and loaded_at >= $2",
        [source, since],
    ).fetchall()
    if newest is None:
        return {}
    return {"lag_seconds": round(max(0.0, time.time() - newest / 1e9), 3)}


def _deferred(one: SourceReport) -> dict[str, Any]:
    if not one.deferred:
        return {"streams_deferred": 0}
    rows = [{"path": path, "reason": reason} for path, reason in one.deferred]
    shown = as_table(rows[:SHOWN_ROWS])
    return {"streams_deferred": len(rows), "deferred": shown}


def code_reference(path: str | Path, label: str) -> dict[str, Any]:
    """The metadata behind "Open in editor"."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", dg.BetaWarning
        )  # Dagster pins us: it may change
        reference = dg.LocalFileCodeReference(file_path=str(path), label=label)
        value = dg.CodeReferencesMetadataValue(code_references=[reference])
    return {"dagster/code_references": value}


def _file(adapter: Adapter) -> str:
    assert isinstance(adapter, ModuleType)
    return inspect.getfile(adapter)
