"""What the agent logs of a conversation in plain text: one line per step.

It lies beside the conversation, whether that is encrypted or not, in two forms: the
short one cuts what is long. Its messages have other names than those of the database:
of the stores of one conversation only one counts.
"""

import re
from typing import Any

import msgspec

from agentlake.adapters.antigravity.format import FULL, SHORT
from agentlake.adapters.antigravity.steps import OF_TOOLS, is_answer, is_typed
from agentlake.adapters.sdk.contract import Facts, Record, Reject
from agentlake.adapters.sdk.decode import Decoder
from agentlake.adapters.sdk.drift import unknown
from agentlake.adapters.sdk.injected import Injected
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import posix_path, raw_json, text_of
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

PLACES = tuple(
    f"brain/*/.system_generated/logs/{name}.jsonl"
    for name in ("transcript", "transcript_full")
)
_SOURCES = ("USER_EXPLICIT", "USER_IMPLICIT", "MODEL", "SYSTEM")
_UNDER_WAY = ("PENDING", "RUNNING", "WAITING", "GENERATING", "IN_PROGRESS")
_REQUEST = re.compile(r"<USER_REQUEST>\s*(.*?)\s*(?:</USER_REQUEST>|\Z)", re.DOTALL)
_AROUND = Injected(
    "ADDITIONAL_METADATA",
    "USER_SETTINGS_CHANGE",
    "EPHEMERAL_MESSAGE",
    "USER_INFORMATION",
    "USER_RULES",
)
_BEGUN = re.compile(r'"conversationId"\s*:\s*"([\w-]+)"')


class _Call(msgspec.Struct, frozen=True, gc=False):
    name: str | None = None
    args: Any = None


class _Step(msgspec.Struct, frozen=True, gc=False):
    source: str | None = None
    type: str | None = None
    status: str | None = None
    created_at: str | None = None
    content: str | None = None
    thinking: str | None = None
    error: Any = None
    tool_calls: list[_Call] | None = None
    result_of: str | None = None


_STEP = Decoder(_Step)


def facts(record: Record) -> Facts:
    """One step: what was said, what was called, or what a tool answered."""
    if record.key.startswith("damaged/"):
        yield Reject("part of a line that is no step")
        return
    path = posix_path(record.stream.path)
    session_id, is_full = path.parts[-4], path.stem.endswith("_full")
    step, rejects = _STEP.decode(record.data)
    yield from rejects
    yield from unknown("source", step.source, _SOURCES)
    logged = _Logged(session_id, "full" if is_full else "short")
    yield from logged.facts(step, record.key.partition("/")[2])


class _Logged:
    """One log of one conversation: its messages have other names than its steps'."""

    def __init__(self, session_id: str, form: str) -> None:
        self._session = session_id
        self._prefix = f"{session_id}/{form}/"
        self._precedence = FULL if form == "full" else SHORT

    def facts(self, step: _Step, name: str) -> Facts:
        if is_typed(step.source, step.type):
            typed, is_prompt = _typed(step.content or "")
            kind = "prompt" if is_prompt else "meta"
            yield from self._said(step, name, "user", kind, typed)
        elif is_answer(step.source, step.type):
            yield from self._said(step, name, "assistant", "response", step.content)
        elif step.source == "MODEL" or step.result_of or step.type in OF_TOOLS:
            yield from self._done(step, name)
        else:
            kind = "error" if step.type == "ERROR_MESSAGE" else "meta"
            text = step.content or _reason(step)
            yield from self._said(step, name, "system", kind, text)

    def _said(
        self, step: _Step, name: str, role: str, kind: str, text: str | None
    ) -> Facts:
        said = [("thinking", step.thinking), ("text", text)]
        said = [(type_, it) for type_, it in said if it and it.strip()]
        if said or step.tool_calls:
            yield self._message(step, name, role, kind)
        for index, (type_, it) in enumerate(said):
            yield self._block(name, index, type_, text=it)
        yield from self._calls(step, name, len(said))

    def _calls(self, step: _Step, name: str, before: int) -> Facts:
        for number, call in enumerate(step.tool_calls or ()):
            call_id = f"{self._prefix}{name}.{number}"
            yield self._block(name, before + number, "tool_use", call=call_id)
            yield ToolCall(
                session_id=self._session,
                message_id=self._prefix + name,
                tool_call_id=call_id,
                name=call.name,
                input=raw_json(call.args),
                called_at=moment(step.created_at),
            )

    def _done(self, step: _Step, name: str) -> Facts:
        """A step of a tool; in older logs it is its own call."""
        calls = step.tool_calls or ()
        yield self._message(step, name, "tool", "tool_result")
        yield from self._calls(step, name, 0)
        call_id = self._prefix + (step.result_of or name)
        yield self._block(name, len(calls), "tool_result", call=call_id)
        text = step.content or _reason(step)
        if text or step.status not in _UNDER_WAY:
            yield ToolResult(
                session_id=self._session,
                message_id=self._prefix + name,
                tool_call_id=call_id,
                text=text,
                is_error=step.status == "ERROR" if step.status else None,
            )
        if step.type == "INVOKE_SUBAGENT":
            for begun in dict.fromkeys(_BEGUN.findall(step.content or "")):
                yield Session(
                    session_id=begun,
                    parent_session_id=self._session,
                    relation="subagent",
                )

    def _message(self, step: _Step, name: str, role: str, kind: str) -> Message:
        return Message(
            session_id=self._session,
            message_id=self._prefix + name,
            role=role,
            kind=kind,
            sent_at=moment(step.created_at),
            precedence=self._precedence,
        )

    def _block(
        self,
        name: str,
        index: int,
        type_: str,
        *,
        text: str | None = None,
        call: str | None = None,
    ) -> Block:
        return Block(
            session_id=self._session,
            message_id=self._prefix + name,
            block_index=index,
            type=type_,
            text=text,
            tool_call_id=call,
        )


def _typed(content: str) -> tuple[str, bool]:
    """What the user typed; else what came in its place, which is no prompt."""
    if request := _REQUEST.search(content):
        return request[1], True
    text, tag = _AROUND.without(content)
    return (content, False) if tag else (text, True)


def _reason(step: _Step) -> str | None:
    return text_of(step.error or None)
