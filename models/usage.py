"""What a request to a model cost in tokens, as one record shows it."""

from typing import Annotated, ClassVar

import msgspec

from agentlake.models.fact import Count, Fact, Moment, Usd, one_of


class Usage(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One occurrence of the usage of one request, in the one token convention.

    input, cache_read and cache_write are disjoint (their sum is the prompt);
    cache_write_1h is a part of cache_write; output includes reasoning. Every
    occurrence is kept: which one is the bill is decided in `core`.
    """

    TABLE: ClassVar[str] = "usage"

    session_id: str
    agent_id: str | None = None
    message_id: str | None = None
    request_id: str | None = None
    record_id: str | None = None
    request_session_id: str | None = None
    forked_from_session_id: str | None = None
    turn_id: str | None = None
    """What names its model, where the record does not; the same as `model` where that
    is a name that the user gave to another one."""
    kind: Annotated[
        str,
        one_of(
            call="the numbers of one request",
            counter="a running total with the last request's numbers beside it",
            response="the vendor's own record of one response",
            snapshot="a total that newer ones of the same `usage_key` replace",
            scope_total="the total of a `scope`, of which only the remainder counts"
            " that its other rows do not show",
            run_segment="what the end of a run reported, of itself or of the session"
            " so far, with the number of requests in `amount`",
            reply_output="the output of a reply, whose other tokens only the run"
            " segment reports",
        ),
    ] = "call"
    """What the record reports."""
    usage_key: str | None = None
    """Identity of the call, or of the total, where the ids above are none: copies of
    one call have the same."""
    scope: str | None = None
    """What this is evidence of. Where several places report one scope, only the rows
    of the highest `precedence` count; they supersede the others."""
    precedence: int | None = None
    """How exact this place is, compared with the others that report its scope."""
    call_part: str = ""
    """Which extra request of the call this is (`advisor:0`); "" is the call itself."""
    provider: str | None = None
    model: str | None = None
    called_at: Moment | None = None
    input_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    cache_write_1h_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    web_search_requests: Count | None = None
    service_tier: str | None = None
    region: str | None = None
    """Where the request was run, where that changes its price."""
    reported_cost_usd: Usd | None = None
    has_hourly_windows: bool | None = None
    """Whether the windows of the subscription begin on a full hour; else they begin
    with a call."""
    granularity: Annotated[str, one_of("call", "turn", "session")] = "call"
    is_estimated: bool | None = None
    unit: Annotated[
        str,
        one_of(
            "credits",
            "requests",
            tokens="split as above",
            unsplit_tokens="nobody split them",
            usd="only a cost is known",
        ),
    ] = "tokens"
    """What the numbers count. If that is not tokens, the number is in `amount`, and no
    token is known."""
    resets: bool | None = None
    """For a snapshot: a smaller total began anew. Else it is an error of the source,
    and the larger one stays."""
    amount: Annotated[float, msgspec.Meta(ge=0, le=1e12)] | None = None
    is_final: bool | None = None
    """Whether the record knows why the reply ended."""
    ordinal: int | None = None
    counter: str | None = None
    """The running total as text, its fields joined by `/`: equal text, equal total."""
    total_input_tokens: Count | None = None
    """Fields of the running total, in the same convention, for a counter."""
    total_cache_read_tokens: Count | None = None
    total_cache_write_tokens: Count | None = None
    total_output_tokens: Count | None = None
    total_reasoning_tokens: Count | None = None
