"""Transcripts of Claude Code and threads of Codex, line by line, and a home of them."""

import json

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"
THREAD = "019b0000-0000-7000-8000-0000000000a1"


def row(number, text="hi", **more):
    """One line of a Claude Code transcript: a reply with 10 output tokens."""
    value = {
        "type": "assistant",
        "uuid": f"u{number}",
        "sessionId": SESSION,
        "timestamp": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z",
        "requestId": f"req_{number}",
        "message": {
            "id": f"msg_{number}",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 1, "output_tokens": 10},
            "stop_reason": "end_turn",
        },
    } | more
    return json.dumps(value).encode()


def lines(*numbers, **more):
    return b"".join(row(number, **more) + b"\n" for number in numbers)


def event(number, **payload):
    """One line of a Codex rollout."""
    at = f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}.000Z"
    return json.dumps({"timestamp": at, **payload}).encode() + b"\n"


def rollout(turns, start=0, thread=THREAD):
    """A Codex thread with so many calls; only the calls from `start` on."""
    out = []
    if start == 0:
        meta = {"id": thread, "timestamp": "2026-01-01T00:00:00Z", "cwd": "/x"}
        out.append(event(0, type="session_meta", payload=meta))
        out.append(
            event(0, type="turn_context", payload={"model": "gpt-5.1", "turn_id": "t"})
        )
    for turn in range(start, turns):
        last = {"input_tokens": 10, "output_tokens": 1, "total_tokens": 11}
        total = {name: value * (turn + 1) for name, value in last.items()}
        info = {"total_token_usage": total, "last_token_usage": last}
        payload = {"type": "token_count", "info": info}
        out.append(event(turn + 1, type="event_msg", payload=payload))
    return b"".join(out)


class Disk:
    """A home with one Claude Code transcript and one Codex thread to play with."""

    def __init__(self, home):
        self.home = home
        self.claude = home / ".claude/projects/-x"
        self.session = self.claude / f"{SESSION}.jsonl"
        self.codex = home / ".codex"
        self.thread = (
            self.codex
            / f"sessions/2026/01/01/rollout-2026-01-01T00-00-00-{THREAD}.jsonl"
        )
        self.archive = self.codex / "archived_sessions" / self.thread.name
        for folder in (self.claude, self.thread.parent, self.archive.parent):
            folder.mkdir(parents=True)

    def write(self, data, file=None):
        """Write the file anew, in the same inode if it is there."""
        (file or self.session).write_bytes(data)

    def append(self, data, file=None):
        with (file or self.session).open("ab") as out:
            out.write(data)

    def replace(self, data, file=None):
        """Put another file in its place, as an editor does."""
        file = file or self.session
        beside = file.with_name("beside")
        beside.write_bytes(data)
        beside.replace(file)
