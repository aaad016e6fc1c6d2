"""The tags of a run: why it was started, which rows it checks, and by whom."""

WHY = "agentlake/why"
BY_HAND = "by hand"
"""What it says of the runs of a job that neither the sensor nor a schedule started."""

CHECKS = "agentlake/checks"
TOUCHED, ALL = "rows that changed", "all rows"
"""Where it says nothing all rows are checked; of the facts, those that came."""

BY = ".dagster/agentlake_ui"
"""Which `agentlake ui` asked for the run, by its process; a tag that no page shows."""
