"""Homes of an odd shape: one giant session, millions of tiny lines, a huge document."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec

from generator.claude_home import ClaudeHome
from generator.sizes import Sizes
from generator.text import Text

_MB = 1_000_000
_TINY = 19


def giant_session(home: Path, megabytes: int) -> None:
    """One Claude session of that size, and next to nothing else."""
    rng = Random(f"giant/{megabytes}")
    size = megabytes * _MB
    mains = Sizes(rng, 1, size, 0.0, size)
    agents = Sizes(rng, 1, 10_000, 0.0, 10_000)
    ClaudeHome(home / ".claude" / "projects", Text(rng), mains, agents).write(4)


def tiny_lines(home: Path, count: int) -> None:
    """One transcript of so many lines of 19 bytes, all different, none a message."""
    folder = home / ".claude" / "projects" / "-tiny"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "aaaaaaaa-0000-4000-8000-000000000001.jsonl").open("wb") as file:
        for start in range(0, count, 100_000):
            some = range(start, min(count, start + 100_000))
            file.write(b"".join(b'{"type":"%08d"}\n' % number for number in some))


def huge_document(home: Path, megabytes: int) -> None:
    """One chat of Gemini CLI, kept as a single JSON document of that size."""
    rng = Random(f"document/{megabytes}")
    text = Text(rng)
    messages: list[dict[str, object]] = []
    size = 0
    while size < megabytes * _MB:
        said = text.words(400)
        messages.append(
            {
                "id": text.uuid(),
                "timestamp": f"2026-03-{len(messages) // 2000 % 28 + 1:02}T10:00:00Z",
                "type": "user" if len(messages) % 2 == 0 else "gemini",
                "content": said,
                "model": "gemini-2.5-pro",
                "tokens": {"input": 900, "output": 90, "cached": 0, "total": 990},
            }
        )
        size += len(said) + 250
    chat = {
        "sessionId": text.uuid(),
        "projectHash": "0" * 64,
        "startTime": "2026-03-01T10:00:00.000Z",
        "lastUpdated": "2026-03-28T10:00:00.000Z",
        "messages": messages,
    }
    folder = home / ".gemini" / "tmp" / ("0" * 64) / "chats"
    folder.mkdir(parents=True, exist_ok=True)
    data = msgspec.json.format(msgspec.json.encode(chat), indent=2)
    (folder / "session-2026-03-01T10-00-00000000.json").write_bytes(data)
