"""What Cline and its forks write, as typed structs: the fields that become facts."""

from typing import Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count, Usd

Time: TypeAlias = int | float | str | None


class ModelInfo(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The model that answers; `provider_id` is a name of Cline's own, no vendor's."""

    model_id: str | None = None
    provider_id: str | None = None
    id: str | None = None


class Condensed(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A compaction."""

    prev_context_tokens: Count | None = None
    new_context_tokens: Count | None = None
    summary: str | None = None


class Entry(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One entry of what the user saw; `text` is often JSON within a text."""

    ts: Time = None
    type: str | None = None
    say: str | None = None
    ask: str | None = None
    text: str | None = None
    reasoning: str | None = None
    model_info: ModelInfo | None = None
    api_protocol: str | None = None
    context_condense: Condensed | None = None
    answers: list[str | None] | None = msgspec.field(default=None, name="$answers")
    """What the entries behind a tool's show of its output, as `explode` found it."""


class Request(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The counts of a request, filled in when its reply has ended."""

    tokens_in: Count | None = None
    tokens_out: Count | None = None
    cache_writes: Count | None = None
    cache_reads: Count | None = None
    cost: Usd | None = None
    api_protocol: str | None = None
    request: Any = None


class Requests(msgspec.Struct, frozen=True, gc=False):
    """All requests of a task, and when its newest entry was made."""

    newest: int = 0
    entries: list[Entry] = []


class Part(msgspec.Struct, frozen=True, gc=False):
    """A piece of a message to or from the model."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class Asked(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A call that the reply before a message asked for."""

    id: str
    name: str | None = None


class Spoken(msgspec.Struct, frozen=True, gc=False):
    """A message to or from the model; what `explode` put in begins with `$`."""

    role: str | None = None
    content: str | list[Part] | None = None
    ts: Time = None
    asked: list[Asked] = msgspec.field(default=[], name="$asked")
    before: str | None = msgspec.field(default=None, name="$before")
    """The name of the reply before it."""
    is_alone: bool = msgspec.field(default=False, name="$alone")
    """Whether nothing else tells of the task."""


class Used(msgspec.Struct, frozen=True, gc=False):
    """A change of the model."""

    ts: Time = None
    model_id: str | None = None


class Item(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A task in a list of tasks."""

    id: str | None = None
    ts: Time = None
    workspace: str | None = None
    cwd_on_task_initialization: str | None = None
    parent_task_id: str | None = None
    child_ids: list[str] | None = None
    model_id: str | None = None


class Metrics(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a reply cost; input includes what the cache read and wrote."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    cost: Usd | None = None
    total_cost: Usd | None = None


class Git(msgspec.Struct, frozen=True, gc=False):
    """The repository that a session works in."""

    url: str | None = None
    branch: str | None = None


class About(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What is known about a message or a session."""

    kind: str | None = None
    display_only: bool | None = None
    title: str | None = None
    usage: Metrics | None = None
    git: Git | None = None


class Answer(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A message of a session of the SDK."""

    id: str | None = None
    role: str | None = None
    content: str | list[Part] | None = None
    ts: Time = None
    timestamp: Time = None
    model: str | None = None
    model_info: ModelInfo | None = None
    metrics: Metrics | None = None
    metadata: About | None = None


class Manifest(msgspec.Struct, frozen=True, gc=False):
    """A session of the SDK."""

    cwd: str | None = None
    workspace_root: str | None = None
    model: str | None = None
    started_at: Time = None
    ended_at: Time = None
    metadata: About | None = None


ENTRY = Decoder(Entry)
REQUEST = Decoder(Request)
REQUESTS = Decoder(Requests)
SPOKEN = Decoder(Spoken)
USED = Decoder(Used)
ITEM = Decoder(Item)
ANSWER = Decoder(Answer)
MANIFEST = Decoder(Manifest)
