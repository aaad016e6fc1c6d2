"""What all stores of Kiro make alike: messages, their blocks, calls and answers.

A conversation may lie in two stores that name the user's half differently. So that half
is named by what is the same in both: its call, or its text and the second it was said.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Any, Protocol

from agentlake.adapters.kiro.format import Head
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import raw_json
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn

KINDS = {"user": "prompt", "assistant": "response", "tool": "tool_result"}
_ROLES = {
    "human": "user",
    "user": "user",
    "prompt": "user",
    "bot": "assistant",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "response": "assistant",
    "tool": "tool",
}
_SYSTEM = (
    "# System Prompt",
    "# Identity",
    "<identity>",
    "## Included Rules",
    "You are operating in a workspace",
)
"""How a message begins that no person wrote, although it is said to be one's."""
_CANNED = "I will follow these instructions."
"""What no model answered to that."""
_WRAPPED = re.compile(
    r"\s*<kiro-ide-message>(.*?)(?:</kiro-ide-message>\s*|\Z)", re.DOTALL
)
_WORDS = ("content", "text", "message", "value", "parts", "entries")
_NO_MODELS = ("agent", "auto", "qdev", "")


def role_of(role: Any) -> str:
    """Whose words they are."""
    return _ROLES.get(role.lower(), "system") if isinstance(role, str) else "system"


def words(content: Any) -> str | None:
    """The texts of a content: bare, in an object, or in a list."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(filter(None, map(words, content))) or None
        case dict():
            return next(filter(None, (words(content.get(it)) for it in _WORDS)), None)
        case _:
            return None


def typed(text: str | None) -> str | None:
    """A text that somebody said: not the program's own, and not in its tags."""
    if not text or text.lstrip().startswith(_SYSTEM) or text.strip() == _CANNED:
        return None
    found = _WRAPPED.fullmatch(text)
    return (found[1].strip() if found else text) or None


def model_of(about: Any) -> str | None:
    """The model that a document names; the product's own names for none are none."""
    known = about if isinstance(about, dict) else {}
    for place in (known, known.get("metadata")):
        for name in ("modelId", "modelID", "modelName", "model"):
            it = place.get(name) if isinstance(place, dict) else None
            if isinstance(it, dict):
                it = it.get("id") or it.get("name")
            if isinstance(it, str) and it.lower() not in _NO_MODELS:
                return it
    return None


class Counted(Protocol):
    """A part of what something cost."""

    @property
    def usage(self) -> float | None:
        """How much."""

    @property
    def unit(self) -> str | None:
        """Of what."""


def credits_in(parts: Iterable[Counted]) -> float:
    """The credits among these; what has no unit is credits."""
    return sum(
        one.usage
        for one in parts
        if one.usage and (one.unit or "credit").lower().startswith("credit")
    )


class Names:
    """Names of messages by what they say, with the number of times it was said."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()

    def next(self, role: str, text: str) -> str:
        """The name of the next message that says this."""
        digest = sha256(f"{role}|{text}".encode()).hexdigest()[:16]
        self._times[digest] += 1
        return f"{digest}.{self._times[digest]}"


class Say:
    """A message while its facts are made; it counts its blocks."""

    def __init__(self, session_id: str, message_id: str, at: datetime | None) -> None:
        self._session_id = session_id
        self._message_id = message_id
        self._at = at
        self._blocks = 0

    @classmethod
    def prompt(
        cls, session_id: str, text: str | None, name: str, at: datetime | None
    ) -> "Say":
        """The user's words; `name` tells them apart that have no time."""
        when = str(int(at.timestamp())) if at else name
        digest = sha256(f"{when}|{text}".encode()).hexdigest()[:16]
        return cls(session_id, f"{session_id}:prompt:{digest}", at)

    @classmethod
    def results(
        cls, session_id: str, call: str | None, name: str, at: datetime | None
    ) -> "Say":
        """The answers of tools, the first of them to `call`."""
        return cls(session_id, f"{session_id}:result:{call or name}", at)

    def message(
        self, role: str, kind: str, model: str | None = None, cwd: str | None = None
    ) -> Facts:
        """The message itself."""
        yield Message(
            session_id=self._session_id,
            message_id=self._message_id,
            role=role,
            kind=kind,
            model=model,
            sent_at=self._at,
            cwd=cwd,
        )

    def block(
        self, type_: str, text: str | None = None, call: str | None = None
    ) -> Block:
        """Its next block."""
        self._blocks += 1
        return Block(
            session_id=self._session_id,
            message_id=self._message_id,
            block_index=self._blocks - 1,
            type=type_,
            text=text,
            tool_call_id=call,
        )

    def text(self, text: str | None) -> Block:
        """A block of text."""
        return self.block("text", text)

    def call(self, call: str | None, name: str | None, arguments: Any) -> Facts:
        """A call of a tool and its block."""
        yield self.block("tool_use", call=call)
        if not call:
            yield Reject("call of a tool without id")
            return
        yield ToolCall(
            session_id=self._session_id,
            message_id=self._message_id,
            tool_call_id=call,
            name=name,
            input=raw_json(arguments),
            called_at=self._at,
        )

    def result(
        self,
        call: str | None,
        text: str | None,
        status: str | None,
        *,
        is_cancelled: bool = False,
    ) -> Facts:
        """The answer to a call and its block; what was cancelled is an error."""
        yield self.block("tool_result", call=call)
        if not call:
            yield Reject("answer of a tool that does not name its call")
            return
        is_error = None if status is None else status.lower() in ("error", "failed")
        yield ToolResult(
            session_id=self._session_id,
            message_id=self._message_id,
            tool_call_id=call,
            text=text,
            is_error=is_cancelled or is_error,
            finished_at=self._at,
        )


def head_facts(head: Head) -> Facts:
    """What is said of a session."""
    yield Session(
        session_id=head.session_id,
        title=head.title or None,
        title_source="ai" if head.title else None,
        cwd=head.cwd or None,
        started_at=moment(head.created_at),
    )
    if head.model and head.created_at:
        yield Turn(
            session_id=head.session_id,
            kind="context",
            model=head.model,
            began_at=moment(head.created_at),
        )
