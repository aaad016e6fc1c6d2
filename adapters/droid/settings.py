"""What is set for a session, what it has used, and which model that was."""

import re

import msgspec

from agentlake.adapters.droid.format import SEEN, Line, Settings
from agentlake.adapters.sdk.contract import Facts
from agentlake.adapters.sdk.decode import encode, untyped
from agentlake.adapters.sdk.files import content, open_plain
from agentlake.adapters.sdk.scan import is_file
from agentlake.models.usage import Usage

_PART = 1 << 20
"""Bytes at each end of a transcript in which is looked for what settings lack."""
_REMINDER = re.compile(r"<system-reminder>(.*?)(?:</system-reminder>|$)", re.DOTALL)
_MODEL = re.compile(r"^\s*(?:[-*] )?Model: *(\S.*)$", re.MULTILINE | re.IGNORECASE)
_BRACKETS = re.compile(r"(?:\[[^\]]*\]|\([^)]*\))(?:-\d+$)?|(?<=\.\d)-\d$")
_EFFORT = re.compile(r"-(?:none|minimal|low|medium|high|x-?high)$")


def seen(path: str) -> bytes:
    """Settings, with the newest message, and the model if only a reminder names it.

    Raises OSError, and Unreadable for settings that are half written.
    """
    settings = untyped(content(path))
    transcript = path.removesuffix(".settings.json") + ".jsonl"
    head, tail = _ends(transcript)
    lines = [line for line in map(_line, reversed(tail)) if line]
    times = (line.timestamp for line in lines if line.type == "message")
    found = {
        "settings": settings,
        "newest_message_at": next((time for time in times if time is not None), None),
    }
    if isinstance(settings, dict) and not _text(settings.get("model")):
        told = (_reminded(line) for line in (*reversed(tail), *reversed(head)))
        found["reminded_model"] = next((model for model in told if model), None)
    return encode(found)


def _ends(transcript: str) -> tuple[list[bytes], list[bytes]]:
    """The first lines of a transcript, unless they are among the last, and the last."""
    if not is_file(transcript):
        return [], []
    with open_plain(transcript) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _PART))
        tail = file.read().split(b"\n")
        file.seek(0)
        head = file.read(min(_PART, max(0, size - _PART))).split(b"\n")
    return head, tail


def _line(data: bytes) -> Line | None:
    try:
        return msgspec.json.decode(data, type=Line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _reminded(data: bytes) -> str | None:
    """The model that a reminder in a message names, the last one."""
    if b"Model:" not in data or (line := _line(data)) is None or line.message is None:
        return None
    parts = line.message.content or []
    texts = [parts] if isinstance(parts, str) else [part.text or "" for part in parts]
    named = [
        model
        for text in texts
        for reminder in _REMINDER.findall(text)
        for model in _MODEL.findall(reminder)
    ]
    return named[-1].strip() if named else None


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def totals(session_id: str, data: bytes) -> Facts:
    """The running total of a session."""
    found, rejects = SEEN.decode(data)
    settings = found.settings or Settings()
    if tokens := settings.token_usage:
        parts = (
            tokens.input_tokens,
            tokens.output_tokens,
            tokens.cache_creation_tokens,
            tokens.cache_read_tokens,
            tokens.thinking_tokens,
        )
        is_whole = any(parts)
        output = tokens.output_tokens if is_whole else tokens.total_tokens
        if is_whole and tokens.thinking_tokens:
            output = (output or 0) + tokens.thinking_tokens
        if is_whole or output:
            yield Usage(
                session_id=session_id,
                kind="snapshot",
                usage_key=session_id,
                resets=True,
                granularity="session",
                model=_model(settings, found.reminded_model),
                called_at=found.newest_message_at or settings.provider_lock_timestamp,
                input_tokens=tokens.input_tokens,
                cache_read_tokens=tokens.cache_read_tokens,
                cache_write_tokens=tokens.cache_creation_tokens,
                output_tokens=output,
                reasoning_tokens=tokens.thinking_tokens,
                is_estimated=None if is_whole else True,
            )
    yield from rejects


def _model(settings: Settings, reminded: str | None) -> str | None:
    """The model, by the name that its vendor gives it; else which vendor it is of."""
    if name := model_name(settings.model or "") or model_name(reminded or ""):
        return name
    vendor = _text(settings.provider_lock).lower()
    return f"{vendor}-unknown" if vendor else None


def model_name(written: str) -> str:
    """`custom:Claude-Sonnet-4.5-[Anthropic]-0` is claude-sonnet-4.5.

    A name for people is the same with blanks, and an effort may stand at its end; only
    Claude's thinking is one, others have models that are called so.
    """
    name = _BRACKETS.sub("", written.strip().removeprefix("custom:")).strip().lower()
    name = re.sub(r"[\s-]+", "-", name).strip("-")
    effort = _EFFORT.search(name)
    name = name[: effort.start()] if effort else name
    return name.removesuffix("-thinking") if "claude" in name else name
