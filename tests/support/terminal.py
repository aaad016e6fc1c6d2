"""A terminal to type at, and a small home whose numbers are known by hand."""

import json

from agentlake.pipelines.cli import main

SONNET = "claude-sonnet-4-5-20250929"  # $3 in, $15 out
LATE, LUNCH = (f"{letter * 8}-0000-4000-8000-00000000000{letter}" for letter in "ab")

# Session, moment (UTC), model, input and output tokens of each call. In Berlin,
# LATE goes on past midnight: from the 28th into the 29th.
CALLS = [
    (LATE, "2026-11-28T22:30:00.000Z", SONNET, 1000, 100),
    (LATE, "2026-11-28T23:30:00.000Z", SONNET, 2000, 200),
    (LUNCH, "2026-11-30T11:00:00.000Z", "mystery-1", 7, 8),
]


def transcript_lines(session):
    calls = [call for call in CALLS if call[0] == session]
    about = {"sessionId": session, "cwd": "/home/ada/shop", "version": "2.1.180"}
    prompt = {"role": "user", "content": f"do {session[0]}\x1b[2J"}
    yield (
        {"type": "user", "uuid": f"u{session}", "message": prompt}
        | about
        | {"timestamp": calls[0][1]}
    )
    for number, (_, at, model, put_in, put_out) in enumerate(calls):
        tool = {"type": "tool_use", "id": f"toolu_{number}{session}", "name": "Bash"}
        message = {
            "id": f"msg_{number}{session}",
            "role": "assistant",
            "model": model,
            "content": [tool | {"input": {"command": "true"}}],
            "usage": {"input_tokens": put_in, "output_tokens": put_out},
        }
        about_this = {"requestId": f"r{number}{session}", "timestamp": at}
        line = {"type": "assistant", "uuid": f"a{number}{session}", "message": message}
        yield line | about | about_this


def write_home(home):
    for session in (LATE, LUNCH):
        file = home / ".claude/projects/-home-ada-shop" / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(line) for line in transcript_lines(session)]
        file.write_text("\n".join(lines) + "\n")


class Terminal:
    """A machine with a home, typed at; `out` and `err` are of the last command."""

    def __init__(self, folder, capsys=None):
        self.home = folder / "me"
        self.home.mkdir()
        self.config = folder / "config.toml"
        self.config.write_text('time_zone = "Europe/Berlin"\n')
        self.warehouse = folder / "lake.duckdb"
        self.environ = {
            "HOME": str(self.home),
            "AGENTLAKE_CONFIG": str(self.config),
            "AGENTLAKE_WAREHOUSE": str(self.warehouse),
        }
        self.capsys = capsys

    def __call__(self, *words):
        if self.capsys:
            self.capsys.readouterr()
        code = main([str(word) for word in words], self.environ)
        if self.capsys:
            self.out, self.err = self.capsys.readouterr()
        return code

    def json(self, *words):
        assert self(*words) == 0, self.err
        return json.loads(self.out)

    def json_of(self, *words):
        self(*words)
        return json.loads(self.out)

    def sources(self, *words):
        return {
            one["source"]: one for one in self.json("load", "--json", *words)["sources"]
        }

    @property
    def claude(self):
        return sorted((self.home / ".claude/projects").rglob("*.jsonl"))
