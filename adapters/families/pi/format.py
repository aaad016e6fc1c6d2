"""What the Pi family writes, as typed structs: the fields that become facts.

There is one `Entry` for all types, with every field optional. Fields that are not
declared here are stepped over undecoded. Names are the product's own, in camelCase.
"""

from datetime import datetime
from typing import Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count, Usd


class Cost(msgspec.Struct, frozen=True, gc=False):
    """What a request cost in USD, by the agent's own prices or the provider's."""

    total: Usd | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Counts as the family writes them: all disjoint, reasoning inside of output.

    `total_tokens` is the sum of the four; where it is not, see `rules.prompt`.
    """

    input: Count | None = None
    output: Count | None = None
    cache_read: Count | None = None
    cache_write: Count | None = None
    cache_write_1h: Count | None = msgspec.field(default=None, name="cacheWrite1h")
    reasoning: Count | None = None
    reasoning_tokens: Count | None = None
    total_tokens: Count | None = None
    cost: Cost | None = None
    cost_usd: Usd | None = msgspec.field(default=None, name="costUSD")


class Part(msgspec.Struct, frozen=True, gc=False):
    """One block of a message's content."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()


Content: TypeAlias = str | list[Part | str] | None


class Body(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A message, of any role."""

    role: str | None = None
    content: Content = None
    api: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: Tokens | None = None
    stop_reason: str | None = None
    timestamp: Any = None
    response_id: str | None = None
    response_model: str | None = None
    error_message: str | None = None

    # toolResult
    tool_call_id: str | None = None
    is_error: bool | None = None

    # bashExecution
    command: str | None = None
    output: str | None = None

    # branchSummary, compactionSummary
    summary: str | None = None


class Entry(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One line of a session: its header, or an entry of its tree."""

    type: str | None = None
    id: str | None = None
    parent_id: str | None = None
    timestamp: datetime | None = None
    message: Body | None = None

    # session
    cwd: str | None = None
    parent_session: str | None = None
    branched_from: str | None = None

    # model_change, usage
    provider: str | None = None
    api: str | None = None
    model: str | None = None
    model_id: str | None = None
    usage: Tokens | None = None

    # compaction, branch_summary, custom_message
    summary: str | None = None
    tokens_before: Count | None = None
    custom_type: str | None = None
    content: Content = None

    # custom: anything that an extension keeps
    data: msgspec.Raw = msgspec.Raw()

    # session_info; title, title_change and the header of Oh-My-Pi
    name: str | None = None
    title: str | None = None
    title_source: str | None = None
    source: Any = None
    updated_at: Any = None


class Snapshot(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The data of a `model-snapshot`: the model from here on."""

    model_id: str | None = None


ENTRY, SNAPSHOT = Decoder(Entry), Decoder(Snapshot)
