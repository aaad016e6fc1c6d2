"""How far the rows of an asset were found good: a run checks what came after.

A run that the sensor asks for checks what was touched since; every other run (the
daily one, one by hand) all rows of a model. Facts are validated as they come, and all
of them only in a warehouse that is new to this Dagster. Bad rows are shown until they
are gone: as long as a check fails, the mark stays where it is.
"""

from typing import Any

import dagster as dg

from agentlake.pipelines.orchestration.tags import ALL, CHECKS, TOUCHED

_THROUGH = "checked_through_load"


def checked_through(
    context: dg.AssetExecutionContext, key: dg.AssetKey, head: int
) -> int:
    """The load up to which all rows were found good, at most the last one, `head`.

    0, if nobody knows: after a change of the asset's code, or in another warehouse.
    """
    if context.run.tags.get(CHECKS) == ALL:
        return 0
    event = context.instance.get_latest_materialization_event(key)
    if event is None or event.asset_materialization is None:
        return 0
    made = event.asset_materialization
    version = context.assets_def.specs_by_key[key].code_version
    if version and (made.tags or {}).get("dagster/code_version") != version:
        return 0
    value = made.metadata.get(_THROUGH)
    text = str(value.value) if value else ""
    through = int(text) if text.isdecimal() else 0
    return through if through <= head else 0


def is_narrow(context: dg.AssetExecutionContext) -> bool:
    """Whether this run checks only what was touched."""
    return context.run.tags.get(CHECKS) == TOUCHED


def through_metadata(load_id: int) -> dict[str, Any]:
    """What the materialization records: as text, since a number would be drawn."""
    return {_THROUGH: str(load_id)}
