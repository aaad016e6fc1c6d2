"""The code location of Dagster: `dagster dev -m agentlake.pipelines.definitions`.

Assembles only. Which warehouse and whose files is what the settings say:
AGENTLAKE_CONFIG, AGENTLAKE_HOME and AGENTLAKE_WAREHOUSE.
"""

from functools import cache

import dagster as dg

from agentlake.pipelines.orchestration.build import build_defs


@dg.definitions
@cache  # a run asks twice
def defs() -> dg.Definitions:
    """Everything that Dagster shows."""
    return build_defs()
