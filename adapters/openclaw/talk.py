"""The entries of a transcript: Pi's, but for who speaks in them."""

from collections.abc import Iterable

from msgspec.structs import replace

from agentlake.adapters.families.pi import entries, rules
from agentlake.adapters.families.pi.entries import Makes
from agentlake.adapters.families.pi.format import Body, Entry, Part
from agentlake.adapters.families.pi.rules import At
from agentlake.adapters.openclaw import prompts
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.values import parts_of
from agentlake.models.block import Block
from agentlake.models.fact import Fact
from agentlake.models.session import Session

_MIRRORS = ("delivery-mirror", "gateway-injected")


def facts(data: bytes, at: At) -> Iterable[Fact | Reject]:
    """The facts of one entry."""
    return entries.facts(data, at, FACTS)


def message(entry: Entry, at: At) -> Facts:
    """A message, by who speaks."""
    body = entry.message
    if body is None or body.role not in ("user", "assistant"):
        return entries.message(entry, at)
    if body.role == "user":
        return _asked(entry, at, body)
    if body.provider == "openclaw" or body.model in _MIRRORS:
        # The gateway repeats what was delivered: no model was asked.
        return entries.said(entry, at, body, "assistant", "meta")
    is_quiet = prompts.is_quiet(rules.text_of(body.content))
    return entries.answer(entry, at, body, "meta" if is_quiet else "response")


def _asked(entry: Entry, at: At, body: Body) -> Facts:
    """What came in, without what the gateway put around its first text."""
    parts = parts_of(body.content, Part)
    spoken = next((n for n, part in enumerate(parts) if part.text), None)
    if spoken is None:
        yield from entries.said(entry, at, body, "user", "prompt")
        return
    said = prompts.said(parts[spoken].text or "")
    parts[spoken] = replace(parts[spoken], text=said.text)
    body = replace(body, content=parts)
    if said.category:
        yield Session(
            session_id=at.session_id,
            category=said.category,
            job=said.job,
            channel=said.channel,
            title=said.title,
            title_source="job" if said.title else None,
        )
    yield from entries.said(entry, at, body, "user", said.kind, label=said.label)
    if said.around:
        yield Block(
            session_id=at.session_id,
            message_id=rules.name_of(entry, at),
            block_index=len(parts),
            type="other",
            text=said.around,
        )


FACTS: Makes = {**entries.FACTS, "message": message}
