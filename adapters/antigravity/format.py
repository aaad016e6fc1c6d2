"""What Antigravity writes: rows as typed structs, and the numbers of their fields."""

import msgspec

from agentlake.adapters.sdk.blobs import Blob
from agentlake.adapters.sdk.decode import Decoder


class UsageRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `gen_metadata`, with what else may tell its time."""

    idx: int | None = None
    data: Blob | None = None
    step: Blob | None = None
    conversation: Blob | None = None


class StepRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `steps`: what was said, or what a tool answered."""

    idx: int | None = None
    step_type: int | None = None
    status: int | None = None
    metadata: Blob | None = None
    step_payload: Blob | None = None


class ConversationRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `trajectory_metadata_blob`."""

    data: Blob | None = None


class Typed(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A line of history.jsonl."""

    conversation_id: str | None = None
    display: str | None = None
    timestamp: int | float | None = None
    workspace: str | None = None
    type: str | None = None


USAGE_ROW, STEP_ROW = Decoder(UsageRow), Decoder(StepRow)
CONVERSATION_ROW, TYPED = Decoder(ConversationRow), Decoder(Typed)

FULL, SHORT, STEPS, HISTORY = 4, 3, 2, 1
"""Precedence of each store, where several hold as many answers of one conversation."""

USER, ANSWER = 14, 15
"""Types of steps; those of other types are work of tools."""
DONE = 3
"""The status of a step that has ended."""


class Generation:
    """The message in `gen_metadata`: what one call of a model was, and used."""

    CHAT = 1
    USAGE, INFO, MODEL, DISPLAY_NAME = 4, 9, 19, 21  # of the chat
    TIME = 4  # of the info


class Used:
    """The usage of a call. Its field 1 is which model it was, in numbers of its own."""

    INPUT, OUTPUT, CACHE_READ = 2, 3, 5
    ANSWER, THINKING, RESPONSE_ID = 9, 10, 11


class Payload:
    """The message in `step_payload`."""

    TOOL, PROMPT, ANSWER, FAILURE, COMMAND = 5, 19, 20, 31, 140
    CALL = 4  # of the tool
    TYPED = 2  # of the prompt
    TEXT, THINKING, CALLS, OTHER_TEXT = 1, 3, 7, 8  # of the answer
    ID, NAME, INPUT = 1, 2, 3  # of a call
    REASON = 2  # of the failure
    RESULT, PRINTED = 2, 1  # of the command, and of that


class Metadata:
    """The message in `metadata` of a step."""

    CREATED = 1


class About:
    """The message in `trajectory_metadata_blob`."""

    WORKSPACE, CREATED, FOLDER = 1, 2, 7
    URI = 1  # of the workspace
