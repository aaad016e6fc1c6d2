"""The IDE's newest layout: a log of lines per session."""

from agentlake.adapters.kiro.ide_format import IDE_LINE, Payload
from agentlake.adapters.kiro.talk import KINDS, Say, credits_in, words
from agentlake.adapters.sdk.contract import Facts, Record
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import json_text
from agentlake.models.usage import Usage

_ELIDED = "..."
"""What stands in place of reasoning that is kept from the reader."""


def line(session_id: str, record: Record) -> Facts:
    """A line of messages.jsonl."""
    told, rejects = IDE_LINE.decode(record.data)
    it = told.payload or Payload()
    name = f"{session_id}:{told.id or record.key}"
    say = Say(session_id, name, moment(told.timestamp))
    match it.type:
        case "assistant" if it.operation_type == "Reasoning":
            text = it.text or words(it.content)
            if text and text.strip() != _ELIDED:
                yield from say.message("assistant", "thinking")
                yield say.block("thinking", text)
        case "user" | "assistant" as role:
            yield from say.message(role, KINDS[role])
            yield say.text(it.text or words(it.content))
        case "tool_call":
            given = (it.input, it.args, it.arguments)
            asked = next((one for one in given if one is not None), None)
            yield from say.message("assistant", "response")
            yield from say.call(it.tool_call_id, it.name or it.tool_name, asked)
        case "tool_result":
            yield from say.message("tool", "tool_result")
            said = it.output if it.content is None else it.content
            text = said if isinstance(said, str) else json_text(said)
            status = "error" if it.success is False else it.status
            yield from say.result(it.tool_call_id, text, status)
        case "usage_summary":
            if credits := credits_in(it.prompt_turn_summaries):
                yield Usage(
                    session_id=session_id,
                    usage_key=f"{session_id}/{it.turn_id or told.id or record.key}",
                    called_at=moment(told.timestamp),
                    granularity="turn",
                    unit="credits",
                    amount=credits,
                )
    yield from rejects
