"""What Amp writes, as typed structs: the fields that become facts, each optional."""

from typing import Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count

Time: TypeAlias = int | float | str | None


class Repository(msgspec.Struct, frozen=True, gc=False):
    """The checkout that a tree is of."""

    ref: str | None = None
    sha: str | None = None
    url: str | None = None


class Tree(msgspec.Struct, frozen=True, gc=False):
    """One folder of the workspace."""

    uri: str | None = None
    repository: Repository | None = None


class Platform(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The program that began the thread."""

    client: str | None = None
    client_version: str | None = None


class Initial(msgspec.Struct, frozen=True, gc=False):
    """Where a thread began."""

    trees: list[Tree] | None = None
    platform: Platform | None = None


class Env(msgspec.Struct, frozen=True, gc=False):
    """The surroundings of a thread."""

    initial: Initial | None = None


class Thread(msgspec.Struct, frozen=True, gc=False):
    """The thread itself, without its messages and its ledger."""

    created: Time = None
    title: str | None = None
    env: Env | None = None
    main_thread: str | None = msgspec.field(name="mainThreadID", default=None)
    origin_thread: str | None = msgspec.field(name="originThreadID", default=None)


class Run(msgspec.Struct, frozen=True, gc=False):
    """What became of a call."""

    status: str | None = None
    result: Any = None
    error: Any = None


class Part(msgspec.Struct, frozen=True, gc=False):
    """One piece of a message's content."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = msgspec.field(name="toolUseID", default=None)
    run: Run | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What one request cost, as its message has it; the three of the prompt add up."""

    model: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    timestamp: Time = None


class Meta(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """When a message was sent."""

    sent_at: Time = None


class Said(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A message; a user's may hold the results of tools."""

    message_id: int | str | None = None
    role: str | None = None
    content: str | list[Part] | None = None
    usage: Tokens | None = None
    meta: Meta | None = None


class Split(msgspec.Struct, frozen=True, gc=False):
    """The tokens of an event of the ledger; the oldest have but their sum."""

    input: Count | None = None
    output: Count | None = None
    total: Count | None = None


class Event(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One paid request, in the ledger."""

    id: str | None = None
    timestamp: Time = None
    model: str | None = None
    tokens: Split | None = None
    credits: Any = None
    to_message_id: int | str | None = None


class Booked(msgspec.Struct, frozen=True, gc=False):
    """An event, with the usage of the message that came of it, if any.

    Of a thread without a ledger it is the message's usage alone.
    """

    event: Event | None = None
    message: Said | None = None


THREAD = Decoder(Thread)
SAID = Decoder(Said)
BOOKED = Decoder(Booked)
