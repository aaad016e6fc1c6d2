"""What Warp writes, as typed structs: the fields that become facts."""

from datetime import datetime
from typing import Annotated

import msgspec

from agentlake.adapters.sdk.blobs import Blob
from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count

Amount = Annotated[float, msgspec.Meta(ge=0, le=1e12)]


class QueryRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `ai_queries`: one exchange, with what the user typed if anything.

    `has_tasks` tells whether the transcript of the conversation is in `agent_tasks`.
    """

    exchange_id: str | None = None
    conversation_id: str | None = None
    start_ts: datetime | None = None
    input: str | None = None
    working_directory: str | None = None
    model_id: str | None = None
    has_tasks: int = 0


class Query(msgspec.Struct, frozen=True, gc=False):
    """What the user typed."""

    text: str | None = None


class Input(msgspec.Struct, frozen=True, gc=False):
    """One of the inputs of an exchange; the others are results of tools."""

    query: Query | None = msgspec.field(default=None, name="Query")


class ConversationRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `agent_conversations`, two columns of it JSON; and where it began."""

    conversation_id: str | None = None
    conversation_data: str | None = None
    last_modified_at: datetime | None = None
    summary: str | None = None
    first_directory: str | None = None


class Summary(msgspec.Struct, frozen=True, gc=False):
    """How a conversation is shown in a list."""

    title: str | None = None
    initial_query: str | None = None
    initial_working_directory: str | None = None


class ModelTokens(msgspec.Struct, frozen=True, gc=False):
    """Tokens of one model so far; nobody says which of them are input or output."""

    model_id: str | None = None
    warp_tokens: Count | None = None
    total_tokens: Count | None = None
    byok_tokens: Count | None = None
    custom_endpoint_tokens: Count | None = None


class Spent(msgspec.Struct, frozen=True, gc=False):
    """What a conversation has cost so far. No cost is an unknown one, not 0."""

    credits_spent: Amount | None = None
    total_provider_cost_in_cents: Amount | None = None
    token_usage: list[ModelTokens] = []


class Conversation(msgspec.Struct, frozen=True, gc=False):
    """The JSON in conversation_data."""

    parent_conversation_id: str | None = None
    parent_agent_id: str | None = None
    agent_name: str | None = None
    forked_from_server_conversation_token: str | None = None
    conversation_usage_metadata: Spent = Spent()


class TaskRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `agent_tasks`; the task is protobuf."""

    conversation_id: str | None = None
    task_id: str | None = None
    task: Blob | None = None


class BlockRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `blocks`: a command that an agent had run, with what it printed."""

    stylized_output: Blob | None = None
    exit_code: int | None = None
    start_ts: datetime | None = None
    completed_ts: datetime | None = None
    ai_metadata: str | None = None


class Asked(msgspec.Struct, frozen=True, gc=False):
    """Whose command a block is; the call had an older name."""

    requested_command_action_id: str | None = None
    action_id: str | None = None
    conversation_id: str | None = None
    subagent_task_id: str | None = None


QUERY_ROW, INPUTS = Decoder(QueryRow), Decoder(list[Input])
CONVERSATION_ROW, CONVERSATION = Decoder(ConversationRow), Decoder(Conversation)
SUMMARY, TASK_ROW = Decoder(Summary), Decoder(TaskRow)
BLOCK_ROW, ASKED = Decoder(BlockRow), Decoder(Asked)

# Numbers of fields, from the code that Warp generates of its schema.


class Task:
    """warp.multi_agent.v1.Task."""

    ID, DESCRIPTION, DEPENDENCIES, MESSAGES = 1, 2, 3, 5
    PARENT_TASK = 1  # of the dependencies


class Said:
    """warp.multi_agent.v1.Message: what all have, then which one it is."""

    ID, REQUEST, TIMESTAMP = 1, 13, 14
    QUERY, OUTPUT, CALL, RESULT, SYSTEM_QUERY, TODOS = 2, 3, 4, 5, 9, 10
    REASONING, SUMMARIZATION, MODEL = 15, 16, 25


TOOLS = {
    2: "run_shell_command",
    3: "search_codebase",
    4: "server",
    5: "read_files",
    6: "apply_file_diffs",
    9: "grep",
    10: "file_glob",
    11: "read_mcp_resource",
    12: "call_mcp_tool",
    13: "write_to_long_running_shell_command",
    15: "file_glob",
    19: "subagent",
    23: "read_shell_command_output",
    29: "start_agent",
}
"""Which tool a call is for, by the field that holds its arguments."""
