"""What Qwen Code writes, as typed structs: the fields that become facts.

There is one `Row` for all types, with every field optional. Names are the product's
own, in camelCase; what is inside a message is Google's format.
"""

from datetime import datetime
from typing import Annotated, Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count

Millis: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=2**40)]


class Call(msgspec.Struct, frozen=True, gc=False):
    """A model asks for a tool."""

    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = msgspec.Raw()


class Answer(msgspec.Struct, frozen=True, gc=False):
    """A tool answers."""

    id: str | None = None
    response: Any = None


class Part(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One part of a message."""

    text: str | None = None
    thought: bool | None = None
    function_call: Call | None = None
    function_response: Answer | None = None
    inline_data: Any = None
    file_data: Any = None


class Body(msgspec.Struct, frozen=True, gc=False):
    """A message."""

    parts: list[Part] | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Counts: the prompt is whole, `rules.output` says what the output is."""

    prompt_token_count: Count | None = None
    cached_content_token_count: Count | None = None
    candidates_token_count: Count | None = None
    thoughts_token_count: Count | None = None
    total_token_count: Count | None = None


class Result(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How a call ended, beside what the tool answered."""

    call_id: str | None = None
    status: str | None = None
    error: Any = None
    result_display: Any = None
    duration_ms: Millis | None = None


class Compression(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Sizes of a context before and after."""

    original_token_count: Count | None = None
    new_token_count: Count | None = None


class Payload(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a system row is about, for those that give facts."""

    info: Compression | None = None
    custom_title: str | None = None
    title_source: str | None = None
    parent_session_id: str | None = None
    raw_command: str | None = None
    phase: str | None = None


class Fork(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Where a copied row was written first."""

    session_id: str | None = None


class Row(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One line of a session or of a subagent."""

    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: datetime | None = None
    type: str | None = None
    subtype: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    model: str | None = None
    message: Body | None = None
    usage_metadata: Tokens | None = None
    tool_call_result: Result | None = None
    system_payload: Payload | None = None
    forked_from: Fork | None = None
    agent_id: str | None = None
    agent_name: str | None = None
    is_sidechain: bool | None = None
    external_input_kind: str | None = None


class SideFile(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The side file `agent-<id>.meta.json`."""

    agent_name: str | None = None
    agent_type: str | None = None
    model: str | None = None


ROW, SIDE_FILE = Decoder(Row), Decoder(SideFile)
