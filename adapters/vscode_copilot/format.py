"""A chat of VS Code as typed structs: the fields that become facts."""

import re
from typing import Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count

Time: TypeAlias = int | float | str | None

SUFFIX = re.compile(r"__vscode-\d+$")
"""What VS Code puts behind the id of a call."""


class State(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A chat without its requests."""

    creation_date: Time = None
    custom_title: str | None = None


class About(msgspec.Struct, frozen=True, gc=False):
    """A chat, and the folder that its window had open."""

    folder: str | None = None
    state: State | None = None


class Call(msgspec.Struct, frozen=True, gc=False):
    """A call of a tool; the arguments are JSON within a text."""

    id: str | None = None
    name: str | None = None
    arguments: Any = None


class Round(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One reply within a request."""

    tool_calls: list[Call] | None = None


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What Copilot itself knows of a request."""

    resolved_model: str | None = None
    prompt_tokens: Count | None = None
    output_tokens: Count | None = None
    tool_call_rounds: list[Round] | None = None
    tool_call_results: dict[str, Any] | None = None


class Failure(msgspec.Struct, frozen=True, gc=False):
    """Why a request failed."""

    message: str | None = None


class Result(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How a request ended."""

    metadata: Metadata | None = None
    error_details: Failure | None = None


class Totals(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """All that a request used of one model, in all its calls."""

    model: str | None = None
    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What the user wrote."""

    text: str | None = None


class CommandLine(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A command as the model gave it, and as others changed it."""

    original: str | None = None
    user_edited: str | None = None
    tool_edited: str | None = None


class Ended(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How a command in the terminal ended."""

    exit_code: int | None = None


class Printed(msgspec.Struct, frozen=True, gc=False):
    """What a command printed."""

    text: str | None = None


class Specific(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a response shows of a call, by the kind of its tool."""

    kind: str | None = None
    command: str | None = None
    command_line: CommandLine | str | None = None
    raw_input: Any = None
    terminal_command_output: Printed | None = None
    terminal_command_state: Ended | None = None


class Details(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a response shows of a call's input and output."""

    input: Any = None
    output: Any = None
    is_error: bool | None = None


class Part(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A piece of a response; without a kind it is text."""

    name: Any = None

    kind: str | None = None
    value: Any = None
    content: Any = None
    inline_reference: Any = None
    tool_id: str | None = None
    tool_call_id: str | None = None
    is_complete: bool | None = None
    tool_specific_data: Specific | None = None
    result_details: Any = None


class Request(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A request with its response."""

    timestamp: Time = None
    message: Asked | str | None = None
    model_id: str | None = None
    response: list[Part] | None = None
    result: Result | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    model_totals: list[Totals] | None = None


ABOUT, REQUEST, DETAILS = Decoder(About), Decoder(Request), Decoder(Details)
