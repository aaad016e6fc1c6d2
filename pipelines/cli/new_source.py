"""`agentlake new-source`: a module, a home and a test to begin with, which all work."""

import os
import re
from argparse import Namespace
from collections.abc import Mapping

from agentlake.adapters.registry import names
from agentlake.errors import UserError
from agentlake.pipelines.settings.settings import Settings

HOMES = "homes"
"""Below the adapters folder: per source, homes such as its agent would leave."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")

MODULE = '''\
"""{title}: one JSONL file per session, one message per line.

Where:   ~/.{name}/sessions/<session id>.jsonl
Seen:    (the versions whose files you have seen)
Trap:    (what makes totals wrong if it is not known)
Missing: (what this agent does not write: costs, tool results, ...)
"""

import os
from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from agentlake.adapters.sdk.contract import Options, Record, Reject, Stream
from agentlake.adapters.sdk.decode import Decoder
from agentlake.adapters.sdk.drift import unknown
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below
from agentlake.models.block import Block
from agentlake.models.fact import Fact
from agentlake.models.message import Message
from agentlake.models.usage import Usage

SOURCE = "{name}"
NAME = "{title}"
ICON = "{icon}"
STORES = ("lines",)
ROOTS = (Root(default=("~/.{name}",)),)
PARSER_VERSION = 1


class Tokens(msgspec.Struct):
    """The counts of one request, as the agent names them."""

    prompt: int | None = None
    cached: int | None = None
    answer: int | None = None


class Line(msgspec.Struct):
    """One line. Declare what you use; everything else is passed over."""

    id: str | None = None
    role: str | None = None
    at: datetime | None = None
    model: str | None = None
    text: str | None = None
    tokens: Tokens | None = None


LINE = Decoder(Line)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """One stream per session; its key is the session's id, wherever the file lies."""
    for path in files_below(os.path.join(root, "sessions")):
        name = os.path.basename(path)
        if name.endswith(".jsonl"):
            yield Stream(path=path, key=name.removesuffix(".jsonl"))


def parse(record: Record) -> Iterable[Fact | Reject]:
    """The facts of one line."""
    line, rejects = LINE.decode(record.data)
    yield from rejects
    if line.id is None or line.role not in ("user", "assistant"):
        # Names of what says nothing of interest go into the third argument.
        yield from unknown("role", line.role, ())
        return
    session = record.stream.key
    yield Message(
        session_id=session,
        message_id=line.id,
        role=line.role,
        kind="prompt" if line.role == "user" else "response",
        model=line.model,
        sent_at=line.at,
    )
    if line.text:
        yield Block(
            session_id=session,
            message_id=line.id,
            block_index=0,
            type="text",
            text=line.text,
        )
    if line.tokens:
        # One convention: input has nothing of the cache in it, output has reasoning.
        cached = line.tokens.cached or 0
        prompt = line.tokens.prompt
        yield Usage(
            session_id=session,
            message_id=line.id,
            model=line.model,
            called_at=line.at,
            input_tokens=None if prompt is None else max(0, prompt - cached),
            cache_read_tokens=line.tokens.cached,
            output_tokens=line.tokens.answer,
        )
'''

LINES = """\
{"id": "m1", "role": "user", "at": "2026-01-05T10:00:00Z", "text": "List the files."}
{"id": "m2", "role": "assistant", "at": "2026-01-05T10:00:04Z", "model": "acme-large", \
"text": "There are two.", "tokens": {"prompt": 120, "cached": 100, "answer": 30}}
"""

TEST = '''\
"""{name}: the promises that every adapter makes, and what its homes must give."""

from pathlib import Path

import pytest

from agentlake.adapters.sdk.conformance import PROMISES, everything, streams_of
from agentlake.adapters.sdk.load import adapter_from
from agentlake.models.usage import Usage

HERE = Path(__file__).parent
ADAPTER = adapter_from(HERE / "{name}.py")
HOMES = sorted((HERE / "{homes}" / "{name}").iterdir())


@pytest.mark.parametrize("home", HOMES, ids=lambda it: it.name)
@pytest.mark.parametrize("promise", PROMISES, ids=lambda it: it.__name__)
def test_a_promise_is_kept(promise, home, tmp_path):
    promise(ADAPTER, home, tmp_path)


def test_the_first_home_gives_its_totals():
    found = everything(ADAPTER, streams_of(ADAPTER, HOMES[0]))
    usage = [it for _, facts, _ in found for it in facts if isinstance(it, Usage)]
    totals = [(it.input_tokens, it.cache_read_tokens, it.output_tokens) for it in usage]
    assert totals == [(20, 100, 30)]  # by hand: 120 - 100 from the cache
'''


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Write the three, and say what to do next."""
    del environ
    name: str = args.name
    if not _NAME.fullmatch(name):
        msg = (
            f"{name!r} cannot be a source's name: lower case letters, digits and _ "
            "only, a letter first. Nothing was written."
        )
        raise UserError(msg)
    if name in names():
        msg = f"there is a source {name} already. Nothing was written."
        raise UserError(msg)
    folder = args.folder or settings.adapters_folder
    home = folder / HOMES / name / "first"
    title = name.replace("_", " ").title()
    files = {
        folder / f"{name}.py": MODULE.replace("{name}", name)
        .replace("{title}", title)
        .replace("{icon}", title[0]),
        home / "sessions" / "s1.jsonl": LINES,
        folder / f"test_{name}.py": TEST.replace("{name}", name).replace(
            "{homes}", HOMES
        ),
    }
    for file in files:
        if file.exists():
            msg = f"{file} is there already. Nothing was written."
            raise UserError(msg)
    before = os.umask(0o077)  # homes are made of transcripts: the user's alone
    try:
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    finally:
        os.umask(before)
    print(f"wrote  {folder / name}.py         the adapter: it works on the home below")
    print(f"wrote  {home}/   a home as the agent leaves it: invent your own")
    print(f"wrote  {folder}/test_{name}.py    run it with pytest")
    print(f"next   agentlake check-source {name}")
    return 0
