"""From rows of Hermes to facts: sessions, and what was spent."""

from urllib.parse import urlsplit

import msgspec

from agentlake.adapters.hermes import messages
from agentlake.adapters.hermes.format import (
    ORIGIN,
    Counters,
    Origin,
    SessionRow,
    SpentRow,
)
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.moments import from_epoch
from agentlake.models.compaction import Compaction
from agentlake.models.usage import Usage

_MAIN = ("", "voice_chat")
"""Tasks whose calls the session's own counters hold as well."""
_HERE = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - compared, not bound


def session(row: SessionRow) -> Facts:
    """What its counters show beyond the model rows, and where the session came from."""
    if not row.id:
        yield Reject("session without id")
        return
    at = from_epoch(row.last_activity_at or row.ended_at or row.started_at)
    if _is_spent(row):
        yield msgspec.structs.replace(
            _usage(row, row.id),
            kind="scope_total",
            usage_key=f"{row.id}/rest",
            scope=row.id,
            called_at=at,
        )
    origin, rejects = ORIGIN.within(row.model_config, Origin())
    yield from rejects
    yield msgspec.structs.replace(
        messages.begun(row.id, row.source, from_epoch(row.started_at)),
        parent_session_id=row.parent_session_id,
        relation=_relation(row, origin),
        title=row.title or None,
        title_source="ai" if row.title_source in (None, "derived") else "custom",
        cwd=row.cwd or None,
        git_branch=row.git_branch or None,
        provider=row.billing_provider or None,
    )
    if row.end_reason == "compression":
        yield Compaction(
            session_id=row.id,
            compaction_id=f"{row.id}/end",
            compacted_at=from_epoch(row.ended_at),
        )


def _relation(row: SessionRow, origin: Origin) -> str | None:
    """How a child came to be; one that says nothing goes on after a compression."""
    if not row.parent_session_id:
        return None
    if origin.delegated:
        return "subagent"
    return "fork" if origin.branched else "continuation"


def spent(row: SpentRow) -> Facts:
    """The totals of one model for one task in one session."""
    if not row.session_id:
        yield Reject("session_model_usage: row without session_id")
        return
    if not _is_spent(row):
        return
    key = (
        row.session_id,
        row.model,
        row.billing_provider,
        row.billing_base_url,
        row.billing_mode,
        row.task,
    )
    yield msgspec.structs.replace(
        _usage(row, row.session_id),
        kind="snapshot",
        usage_key="/".join(part or "" for part in key),
        scope=row.session_id if (row.task or "") in _MAIN else None,
        called_at=from_epoch(row.last_seen),
    )


def _usage(row: Counters, session_id: str) -> Usage:
    return Usage(
        session_id=session_id,
        granularity="session",
        provider=_provider(row),
        model=row.model or None,
        input_tokens=row.input_tokens,
        cache_read_tokens=row.cache_read_tokens,
        cache_write_tokens=row.cache_write_tokens,
        output_tokens=row.output_tokens,
        reasoning_tokens=row.reasoning_tokens,
        reported_cost_usd=_cost(row),
    )


def _is_spent(row: Counters) -> bool:
    return any(
        (
            row.input_tokens,
            row.output_tokens,
            row.cache_read_tokens,
            row.cache_write_tokens,
        )
    )


def _provider(row: Counters) -> str | None:
    """The provider; that a proxy of this machine stands before it is said with it."""
    provider = row.billing_provider or None
    try:
        host = urlsplit(row.billing_base_url or "").hostname
    except ValueError:  # no address: not on this machine
        host = None
    return f"{provider or 'unknown'} via localhost" if host in _HERE else provider


def _cost(row: Counters) -> float | None:
    """What was billed, else 0 where a plan includes it, else Hermes's own estimate.

    A 0 of the first and the last only means that nobody knows.
    """
    if row.actual_cost_usd:
        return row.actual_cost_usd
    if row.cost_status == "included" and (row.cost_source or "none") != "none":
        return 0.0
    return row.estimated_cost_usd or None
