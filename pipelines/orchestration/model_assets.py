"""core/* and marts/*: one asset per SQL file; what it reads is parsed from it."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import dagster as dg
import duckdb

from agentlake.errors import UserError
from agentlake.pipelines.orchestration.raw_assets import code_reference
from agentlake.pipelines.orchestration.shown import (
    FRESHNESS,
    OWNERS,
    STEPS,
    asset_key,
    check_result,
    check_spec,
    row_count,
    table_schema,
)
from agentlake.pipelines.orchestration.through import (
    checked_through,
    is_narrow,
    through_metadata,
)
from agentlake.pipelines.orchestration.warehouse_resource import (
    WarehouseResource,
    error_text,
    plain_errors,
)
from agentlake.pipelines.transform.checks.check import Check, Outcome
from agentlake.pipelines.transform.checks.header import check_model, header_checks
from agentlake.pipelines.transform.columns import Types, model_columns
from agentlake.pipelines.transform.sql_models import (
    MADE_FROM,
    Model,
    fingerprint,
    models,
)
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.meta import last_load_id

_FEW_ROWS = ("touched", "current")
"""How a model was made if its other rows are those of the run before."""


def model_assets(types: Types, binder: Connection) -> list[dg.AssetsDefinition]:
    """One asset per model. Raises ModelError for a header that is not understood.

    One op makes those of a layer: Dagster takes longer over a step than DuckDB over
    most models.
    """
    layers: dict[str, list[Model]] = {}
    for model in models().values():
        layers.setdefault(model.name.partition(".")[0], []).append(model)
    return [_layer(name, found, types, binder) for name, found in layers.items()]


def reads(model: Model) -> list[dg.AssetKey]:
    """What the model reads, of what is an asset: `meta` is not.

    For a table of `meta` that is made from a model, that model stands.
    """
    names = [MADE_FROM.get(name, name) for name in model.reads]
    return [asset_key(name) for name in names if not name.startswith("meta.")]


def group(model: Model) -> str:
    """Helpers have a group of their own, so that the graph of the entities is small."""
    return asset_key(model.name).path[0]


def is_helper(model: Model) -> bool:
    """Whether it is a step on the way, which no one asks by itself."""
    return group(model) == STEPS


def _layer(
    name: str, layer: Sequence[Model], types: Types, binder: Connection
) -> dg.AssetsDefinition:
    """The assets of one layer, made in the order in which they read each other."""
    reads_from: dict[str, set[str]] = {}  # at any distance
    for model in layer:
        near = reads_from.keys() & set(model.reads)
        reads_from[model.name] = near.union(*(reads_from[name] for name in near))
    specs: list[dg.AssetSpec] = []
    check_specs: list[dg.AssetCheckSpec] = []
    checks: dict[str, dict[dg.AssetCheckKey, Check]] = {}
    for model in layer:
        key = asset_key(model.name)
        found = header_checks(model, types[model.name].keys(), binder)
        specs.append(_spec(model, found, types, binder))
        if is_helper(model):
            # It is computed as part of what reads it: to count and check it as well
            # would cost that once more in every run. `agentlake verify` checks it.
            found = []
        checks[model.name] = {dg.AssetCheckKey(key, one.name): one for one in found}
        check_specs += map(check_spec, found)

    @dg.multi_asset(name=name, specs=specs, check_specs=check_specs, can_subset=True)
    def _make(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[WarehouseResource]
    ) -> Iterator[Any]:
        with plain_errors():
            lake.connection  # noqa: B018 - without it none can be made
        failed: dict[str, str] = {}
        for model in layer:
            is_asked = asset_key(model.name) in context.selected_asset_keys
            asked = [
                one
                for key, one in checks[model.name].items()
                if key in context.selected_asset_check_keys
            ]
            if not is_asked and not asked:
                continue
            if without := failed.keys() & reads_from[model.name]:
                failed[model.name] = f"not made without {min(without)}"
                continue
            try:
                if is_asked:
                    yield from _refreshed(context, lake, model, asked)
                else:
                    outcomes = check_model(lake.connection, model, asked)
                    yield from _shown(lake, outcomes)
            except (UserError, duckdb.Error) as error:  # it stops no other
                failed[model.name] = error_text(error)
        if failed:
            told = "\n".join(f"{name}: {why}" for name, why in failed.items())
            told += f"\nThe rest of {name} is made, and what comes after it is not."
            raise dg.Failure(description=told, allow_retries=False)

    return _make


def _spec(
    model: Model, checks: Sequence[Check], types: Types, binder: Connection
) -> dg.AssetSpec:
    never_null = {one.never_null for one in checks if one.never_null}
    columns = model_columns(model, types, never_null, binder)
    with warnings.catch_warnings():
        # Dagster pins us: what it previews may change.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return dg.AssetSpec(
            asset_key(model.name),
            deps=reads(model),
            description=_description(model),
            group_name=group(model),
            owners=OWNERS,
            kinds={"sql", "duckdb", "view" if model.is_view else "table"},
            code_version=fingerprint(model.name),
            freshness_policy=FRESHNESS if group(model) == "marts" else None,
            is_virtual=model.is_view,  # as new as what it reads, without a run
            metadata={
                "dagster/table_name": model.name,
                "dagster/column_schema": table_schema(columns),
                **code_reference(model.path, "the query"),
            },
        )


def _shown(
    lake: WarehouseResource, outcomes: Iterable[Outcome], since: int = 0
) -> Iterator[dg.AssetCheckResult]:
    for one in outcomes:
        yield check_result(lake.connection, one, since)


def _refreshed(
    context: dg.AssetExecutionContext,
    lake: WarehouseResource,
    model: Model,
    asked: Sequence[Check],
) -> Iterator[Any]:
    done = lake.refresh(model.name)
    metadata: dict[str, Any] = {"how": done.how, "seconds": round(done.seconds, 4)}
    if not model.is_view:
        metadata["rows_written"] = done.rows
    if not model.is_view and done.how != "full":  # what was there before is unknown
        metadata["rows_added"] = done.rows - done.replaced
    if done.sessions is not None:
        metadata["sessions_touched"] = done.sessions
    if is_helper(model):
        yield dg.MaterializeResult(asset_key=asset_key(model.name), metadata=metadata)
        return
    key, head = asset_key(model.name), last_load_id(lake.connection)
    through = 0 if model.is_view else checked_through(context, key, head)
    since = through if is_narrow(context) and done.how in _FEW_ROWS else 0
    outcomes = check_model(lake.connection, model, asked, since)
    if not model.is_view:
        is_good = bool(asked) and all(one.is_good for one in outcomes)
        metadata |= through_metadata(head if is_good else since)
    metadata["dagster/row_count"] = row_count(lake.connection, model.name)
    yield dg.MaterializeResult(asset_key=key, metadata=metadata)
    yield from _shown(lake, outcomes, since)


def _description(model: Model) -> str:
    kept = (
        "a view, computed when asked"
        if model.is_view
        else f"a table, renewed by {' and '.join(model.key)}"
    )
    parts = [
        model.description,
        model.why,
        f"**Grain** {', '.join(model.grain)} · {kept}",
        f"```sql\n{model.query}\n```",
    ]
    return "\n\n".join(filter(None, parts))
