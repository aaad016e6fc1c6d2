"""What all stores of Kiro make alike: messages, their blocks, calls and answers.

A conversation may lie in two stores that name the user's half differently. So that half
is named by what is the same in both: its call, or its text and the second it was said.
"""

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import Any, TypeAlias

from agentlake.adapters.kiro.format import Head
from agentlake.adapters.sdk.contract import Reject
from agentlake.adapters.sdk.values import moment, raw_json
from agentlake.models.block import Block
from agentlake.models.fact import Fact
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

Facts: TypeAlias = Iterator[Fact | Reject]


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
