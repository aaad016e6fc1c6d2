"""Qwen Code: one JSONL transcript per session, and one per subagent.

Where:   <runtime dir>/projects/<cwd with dashes>/chats/<session id>.jsonl; subagents in
         projects/<...>/subagents/<session id>/agent-<id>.jsonl with a side file
         agent-<id>.meta.json. The runtime dir is ~/.qwen, moved by QWEN_RUNTIME_DIR or
         QWEN_HOME.
Seen:    the programs 0.24.4, 0.15.10 and 0.0.14; no real file
Trap:    the prompt includes what the cache gave; the output includes the reasoning with
         most providers and not with Google's, which only the total tells, and for some
         the reasoning is a guess from its length. `/branch` copies rows, named as such.
         ui_telemetry repeats usage and compressedHistory repeats messages: neither is
         booked. A crash leaves two objects on one line.
Missing: what was written to a cache (it is in the prompt); the sessions up to 0.4 or so
         in tmp/<hash>/chats, which are Gemini CLI's format; the fields of the side file
         are not proven.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from agentlake.adapters.qwen_code import rows
from agentlake.adapters.qwen_code.rows import At
from agentlake.adapters.sdk.contract import (
    Health,
    Options,
    Reader,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below
from agentlake.adapters.sdk.settings import said_in
from agentlake.models.fact import Fact

SOURCE = "qwen_code"
NAME = "Qwen Code"
ICON = "Q"
STORES = ("lines", "documents")
ROOTS = (
    Root(env="QWEN_RUNTIME_DIR", default=("${QWEN_HOME:-~/.qwen}",), strip="projects"),
)
PARSER_VERSION = 2

_FILE = re.compile(
    r""".*/projects/[^/]+/
    (?: chats/(?P<session>[^/]+)\.jsonl
    | subagents/(?P<parent>[^/]+)/agent-(?P<agent>[^/]+?)
      (?: \.jsonl | (?P<meta>\.meta\.json) )
    )""",
    re.VERBOSE | re.DOTALL,
)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Transcripts of sessions and subagents, and the side files of the latter."""
    del options
    for path in files_below(f"{root}/projects"):
        if found := _FILE.fullmatch(path.replace("\\", "/")):
            reader: Reader = "document" if found["meta"] else "jsonl"
            yield Stream(path=path, key=path, reader=reader)


@lru_cache(maxsize=4096)
def _place(path: str) -> tuple[str, str | None]:
    """Whose a file of this path is: session, and subagent."""
    path = path.replace("\\", "/")
    if found := _FILE.fullmatch(path):
        return found["session"] or found["parent"], found["agent"]
    return path.rsplit("/", 1)[-1].removesuffix(".jsonl"), None


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A line is one row of a conversation, rarely more than one."""
    session, agent = _place(record.stream.path)
    at = At(session, agent, record.key)
    if record.stream.reader == "document":
        return rows.side_file(record.data, at)
    return rows.facts(record.data, at)


def health(root: str) -> Health:
    """Whether sessions are written at all: general.chatRecording."""
    if said_in(Path(root, "settings.json"), "general", "chatRecording") is not False:
        return Health()
    return Health(
        warnings=(
            "general.chatRecording in settings.json is false: new sessions are not"
            " written",
        )
    )
