"""What an agent itself counted of a session, to be compared with what we count."""

from typing import Annotated, ClassVar

from agentlake.models.fact import Count, Fact, Moment, Usd, one_of


class ReportedTotal(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One reading of an agent's own total of a session; no usage is booked from it.

    It holds calls that have no record of their own, so it is never added to them.
    """

    TABLE: ClassVar[str] = "reported_totals"

    session_id: str
    counter: Annotated[
        str,
        one_of(
            cost_state="the session's cost, as Claude Code ends",
            state_database="the last total of a thread in Codex' database",
        ),
    ]
    """Which of the agent's counters it is."""
    model: str | None = None
    """null: of all models together."""
    reported_at: Moment | None = None
    input_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    output_tokens: Count | None = None
    tokens: Count | None = None
    """All of them together, where the agent tells no more."""
    web_search_requests: Count | None = None
    reported_cost_usd: Usd | None = None
