"""How what Qwen Code writes reads: small total functions, no facts yet."""

import json
from collections.abc import Iterator
from typing import Any

from agentlake.adapters.qwen_code.format import Answer, Body, Part, Result, Tokens
from agentlake.adapters.sdk.injected import Injected
from agentlake.adapters.sdk.values import json_text, verbatim


def objects(line: bytes) -> Iterator[bytes]:
    """The objects of a line, of which a crash leaves several on one.

    What is no JSON is given as it is, for its decoder to say so.
    """
    text = line.decode("utf-8", "replace").strip("\0\ufeff \t\r")
    decoder = json.JSONDecoder()
    while text:
        try:
            _, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            end = len(text)
        yield text[:end].encode()
        text = text[end:].lstrip("\0 \t\r")


def prompt(tokens: Tokens) -> tuple[int | None, int]:
    """The uncached part of the prompt, and what was read from the cache."""
    whole, read = tokens.prompt_token_count, tokens.cached_content_token_count or 0
    if whole is None:
        return None, read
    read = min(read, whole)
    return whole - read, read


def output(tokens: Tokens) -> int | None:
    """The output with its reasoning, which some providers count beside it.

    Only the total tells: it is that of prompt and output.
    """
    said, thought = tokens.candidates_token_count, tokens.thoughts_token_count or 0
    whole, total = tokens.prompt_token_count or 0, tokens.total_token_count
    if total is None or total == whole + (said or 0):
        return said
    if said is not None and total == whole + said + thought:
        return said + thought
    return max(said or 0, total - whole)


def is_nothing(tokens: Tokens) -> bool:
    """Whether nothing was counted."""
    counts = (tokens.prompt_token_count, tokens.candidates_token_count)
    return not any((*counts, tokens.total_token_count))


def block_type(part: Part) -> str:
    """Our word for what a part is."""
    if part.function_call:
        return "tool_use"
    if part.function_response:
        return "tool_result"
    if part.thought:
        return "thinking"
    if part.text is not None:
        return "text"
    return "image" if part.inline_data or part.file_data else "other"


_INJECTED = Injected("system-reminder", "session_context", "hook_context")


def typed(text: str | None) -> str | None:
    """A text without what the program put around it; None where nothing is left."""
    return None if text is None else _INJECTED.without(text)[0] or None


def is_injected(message: Body | None) -> bool:
    """Whether a prompt has nothing in it that was typed."""
    parts = message.parts or [] if message else []
    said = [part.text for part in parts]
    return any(said) and not any(
        part.text is None or typed(part.text) for part in parts
    )


def is_answer(message: Body | None) -> bool:
    """Whether all that is said in the user's name is what tools answered."""
    parts = message.parts or [] if message else []
    return any(part.function_response for part in parts) and not any(
        part.text for part in parts
    )


def shown(ended: Result) -> str | None:
    """What the user saw of an answer."""
    return ended.result_display if isinstance(ended.result_display, str) else None


def answer(answered: Answer | None) -> str | None:
    """What a tool said: its output or its error, or else all of it as JSON."""
    response: Any = answered.response if answered else None
    match response:
        case {"output": str(text)} | {"error": str(text)} | str(text):
            return text
        case _:
            return json_text(response)


def arguments(part: Part) -> str | None:
    """A call's arguments as they were written."""
    return verbatim(part.function_call.args) if part.function_call else None
