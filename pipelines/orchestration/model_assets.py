"""core/* and marts/*: one asset per SQL file; what it reads is parsed from it."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from agentlake.pipelines.orchestration.checks import (
    Promise,
    asset_key,
    promises,
    results,
)
from agentlake.pipelines.orchestration.columns import OWNERS, Types, model_schema
from agentlake.pipelines.orchestration.lake import Lake, told_plainly
from agentlake.pipelines.orchestration.raw_assets import code_reference
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.sql_models import (
    MADE_FROM,
    Model,
    fingerprint,
    models,
)


def model_assets(types: Types, binder: Connection) -> list[dg.AssetsDefinition]:
    """One asset per model. Raises ModelError for a header that is not understood."""
    return [_model_asset(model, types, binder) for model in models().values()]


def reads(model: Model) -> list[dg.AssetKey]:
    """What the model reads, of what is an asset: `meta` is not.

    For a table of `meta` that is made from a model, that model stands.
    """
    names = [MADE_FROM.get(name, name) for name in model.reads]
    return [asset_key(name) for name in names if not name.startswith("meta.")]


def group(model: Model) -> str:
    """Helpers have a group of their own, so that the graph of the entities is small."""
    return "core_helpers" if is_helper(model) else model.name.partition(".")[0]


def is_helper(model: Model) -> bool:
    """Whether it is a step on the way, which no one asks by itself."""
    return model.name.partition(".")[2].startswith("_")


def _model_asset(model: Model, types: Types, binder: Connection) -> dg.AssetsDefinition:
    key = asset_key(model.name)
    promised = promises(model, types[model.name].keys(), binder)
    never_null = {one.never_null for one in promised if one.never_null}
    if is_helper(model):
        # It is computed as part of what reads it: to count and check it as well would
        # cost that once more in every run. Its header is held true by the tests.
        promised = []
    spec = dg.AssetSpec(
        key,
        deps=reads(model),
        description=_description(model),
        group_name=group(model),
        owners=OWNERS,
        kinds={"sql", "duckdb"},
        code_version=fingerprint(model.name),
        metadata={
            "dagster/table_name": model.name,
            "dagster/column_schema": model_schema(model, types, never_null, binder),
            **code_reference(model.path, "the query"),
        },
    )
    check_specs = {
        one.name: dg.AssetCheckSpec(one.name, asset=key, description=one.description)
        for one in promised
    }

    @dg.multi_asset(
        name=model.name.replace(".", "__"),
        specs=[spec],
        check_specs=list(check_specs.values()),
        can_subset=True,
    )
    def _refresh(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[Any]:
        asked = [
            one
            for one in promised
            if check_specs[one.name].key in context.selected_asset_check_keys
        ]
        with told_plainly():
            if key in context.selected_asset_keys:
                yield from _refreshed(lake, model, asked)
            else:
                yield from results(lake.connection, model, asked)[1]

    return _refresh


def _refreshed(lake: Lake, model: Model, asked: Sequence[Promise]) -> Iterator[Any]:
    done = lake.refresh(model.name)
    metadata: dict[str, Any] = {"how": done.how, "seconds": round(done.seconds, 4)}
    if not model.is_view:
        metadata["rows_written"] = done.rows
    if not model.is_view and done.how != "full":  # what was there before is unknown
        metadata["rows_added"] = done.rows - done.replaced
    if done.sessions is not None:
        metadata["sessions_touched"] = done.sessions
    found: list[dg.AssetCheckResult] = []
    if not is_helper(model):
        metadata["dagster/row_count"], found = results(lake.connection, model, asked)
    yield dg.MaterializeResult(asset_key=asset_key(model.name), metadata=metadata)
    yield from found


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
