"""Rows of a Claude Code transcript, in the shape of the version that wrote them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import msgspec

from generator.claude_families import Setting
from generator.claude_tools import ToolUse, Workbench
from generator.ledger import SourceTotals, Tokens
from generator.text import Text, stamp

Row = dict[str, Any]


@dataclass(slots=True)
class Done:
    """A tool call that was written: the call, its id, the row that holds it."""

    use: ToolUse
    id: str
    row: str


@dataclass(slots=True)
class Transcript:
    """One transcript being written; knows its parent row, clock and context size."""

    path: Path
    setting: Setting
    text: Text
    totals: SourceTotals
    clock: int
    agent_id: str | None = None
    keep: bool = False  # remember the rows, so that they can be copied
    kept: list[tuple[str, bytes]] = field(default_factory=list)
    parent: str | None = None
    sidechain: bool = False
    size: int = 0
    lines: int = 0
    calls: int = 0
    copied: int = 0  # how many of the calls also stand in another file
    replied: bool = False
    last_tokens: Tokens = field(default_factory=Tokens)
    file: IO[bytes] = field(init=False)
    bench: Workbench = field(init=False)
    backwards: bool = field(init=False)
    context: int = field(init=False)

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.path.open("wb", buffering=1 << 18)
        self.bench = Workbench(self.text, self.setting.cwd)
        self.backwards = self.text.rng.random() < 0.28
        self.sidechain = self.agent_id is not None
        self.context = self.text.size(14_000, 0.3)

    def raw(self, line: bytes) -> None:
        """Write a line as it is."""
        self.file.write(line)
        self.file.write(b"\n")
        self.size += len(line) + 1
        self.lines += 1

    def meta(self, row: Row) -> None:
        """Write a row that stands outside the conversation."""
        self.raw(msgspec.json.encode(row))

    def tick(self, mean_ms: int) -> int:
        """Move the clock; the time to write, which now and then goes backwards."""
        rng = self.text.rng
        self.clock += int(rng.expovariate(1 / mean_ms)) + 1
        if self.backwards and rng.random() < 0.01:
            return self.clock - rng.randint(1, 5000)
        return self.clock

    def put(
        self,
        body: Row,
        after: Row | None = None,
        *,
        at: int | None = None,
        root: bool = False,
        copied_body: Row | None = None,
    ) -> Row:
        """Write a conversation row; `copied_body` is what copies will say instead."""
        setting = self.setting
        who: Row = {"agentId": self.agent_id} if self.agent_id else {}
        common: Row = {
            "userType": "external",
            "cwd": setting.cwd,
            "sessionId": setting.session_id,
            "version": setting.version,
            "gitBranch": setting.branch,
        }
        head: Row = {
            "parentUuid": None if root else self.parent,
            "isSidechain": self.sidechain,
        }
        moment = stamp(self.tick(1100) if at is None else at)
        tail: Row = {"uuid": self.text.uuid(), "timestamp": moment, **(after or {})}
        if setting.family.late_fields:
            head |= who
            tail |= {"entrypoint": "cli", **common}
        else:
            head |= {**common, **who}
        row = {**head, **body, **tail}
        if self.text.rng.random() < 0.0074:
            line = json.dumps(row, separators=(",", ":")).encode()
        else:
            line = msgspec.json.encode(row)
        self.raw(line)
        self.parent = row["uuid"]
        if self.keep:
            copy = {**head, **copied_body, **tail} if copied_body else None
            kept = msgspec.json.encode(copy) if copy else line
            self.kept.append((row["uuid"], kept))
        return row

    def prompt(self, content: str | list[Row], **marks: Any) -> Row:
        """Write a user row."""
        message = {"role": "user", "content": content}
        return self.put({"type": "user", "message": message}, marks or None)

    def system(self, subtype: str, **fields: Any) -> Row:
        """Write a system row."""
        return self.put({"type": "system", "subtype": subtype, **fields})

    def result(self, done: Done) -> Row:
        """Write the result of a tool call."""
        use, rng = done.use, self.text.rng
        block: Row = {"tool_use_id": done.id, "type": "tool_result"}
        block["content"] = use.content
        if use.is_error is not None:
            block["is_error"] = use.is_error
        after: Row = {}
        if self.agent_id is None or rng.random() < 0.4:
            after["toolUseResult"] = use.result
        if self.setting.family.agents == "nested":
            after["sourceToolAssistantUUID"] = done.row
        message = {"role": "user", "content": [block]}
        return self.put({"type": "user", "message": message}, after)

    def call(
        self, uses: Sequence[ToolUse | None], *, only_in_copies: bool = False
    ) -> list[Done]:
        """Write one model call, a row per content block, and its tool results.

        An empty `uses` is a final answer; a None in it is a tool of our choice.
        `only_in_copies`: this file gets the output of the stream's start, the
        copies of its rows get the final one.
        """
        text, rng, setting = self.text, self.text.rng, self.setting
        family, tokens = setting.family, self._tokens()
        blocks = self._blocks(uses, tokens)
        usages = self._usages(tokens, len(blocks), truncated=only_in_copies)
        message_id, request_id = text.id("msg_"), text.id("req_01")
        at_once = len(uses) < 2 or rng.random() < 0.9
        written: list[int] = []
        waiting: list[Done] = []
        finished: list[Done] = []
        for nth, (block, use) in enumerate(blocks):
            last = nth == len(blocks) - 1
            stop = (last and family.growing > 0) or family.iterations
            reason = ("tool_use" if uses else "end_turn") if stop else None
            message = {
                "model": setting.model,
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": reason,
                "stop_sequence": None,
                "usage": usages[nth],
            }
            ident = {} if setting.proxy else {"requestId": request_id}
            body: Row = {"message": message, **ident, "type": "assistant"}
            copied: Row | None = None
            if last and only_in_copies:
                final = {**message, "usage": self._usage(tokens, final=True)}
                copied = {**body, "message": final}
            written.append(self.tick(2600 if nth == 0 else 700))
            row = self.put(body, at=written[-1], copied_body=copied)
            if use is not None:
                waiting.append(Done(use, block["id"], row["uuid"]))
            if waiting and (last or not at_once):
                finished += self._results(waiting)
                waiting = []
        self.totals.call(setting.model, written, tokens)
        self.totals.counts["rows_with_usage"] += len(blocks)
        self.calls += 1
        self.replied = True
        self.last_tokens = tokens
        return finished

    def _results(self, waiting: list[Done]) -> list[Done]:
        self.totals.tool_calls += len(waiting)
        for done in waiting:
            # Agents report after their own rows; an interrupted call never does.
            if done.use.result is not None and self.text.rng.random() > 0.01:
                self.result(done)
        return waiting

    def _tokens(self) -> Tokens:
        rng, text, family = self.text.rng, self.text, self.setting.family
        fresh, output = text.size(700, 1.1, 60_000), text.size(260, 1.2, 32_000)
        if not family.final_output and rng.random() < 0.95:
            output = rng.randint(1, 8)
        tokens = Tokens(input=rng.randint(1, 12), output=output)
        tokens.cache_read = self.context
        if self.setting.proxy:
            tokens.input += fresh
        else:
            tokens.cache_write = fresh
            tokens.cache_write_1h = fresh if family.hour_cache else 0
        if family.cache_split and rng.random() < 0.004:
            tokens.web_searches = rng.randint(1, 4)
        self.context += fresh + output
        return tokens

    def _blocks(
        self, uses: Sequence[ToolUse | None], tokens: Tokens
    ) -> list[tuple[Row, ToolUse | None]]:
        text, rng = self.text, self.text.rng
        blocks: list[tuple[Row, ToolUse | None]] = []
        draw = rng.random()
        if draw < (0.45 if uses else 0.3):
            thought = "" if rng.random() < 0.3 else text.prose(text.size(420, 0.9))
            signature = text.base64(text.size(420, 0.5))
            block = {"type": "thinking", "thinking": thought, "signature": signature}
            blocks.append((block, None))
        if not uses or 0.3 < draw < 0.62:
            size = text.size(190 if uses else 700, 1.0)
            blocks.append(({"type": "text", "text": text.prose(size)}, None))
        if tokens.web_searches:
            asked = {"query": text.words(5)}
            server = {"type": "server_tool_use", "id": text.id("srvtoolu_")}
            found = {"type": "web_search_tool_result", "tool_use_id": server["id"]}
            blocks.append(({**server, "name": "web_search", "input": asked}, None))
            blocks.append(({**found, "content": []}, None))
            self.totals.server_tool_calls += 1
        for given in uses:
            use = given or self.bench.use()
            block = {"type": "tool_use", "id": text.id("toolu_"), "name": use.name}
            blocks.append(({**block, "input": use.input}, use))
        return blocks

    def _usages(self, tokens: Tokens, rows: int, *, truncated: bool) -> list[Row]:
        rng, final = self.text.rng, self._usage(tokens, final=True)
        if self.setting.proxy and rng.random() < 0.4:
            # First nothing or an estimate of the input, the truth at the end.
            guess = rng.choice((0, tokens.input, tokens.input + tokens.cache_read))
            early = Tokens(input=guess)
        elif truncated or rng.random() < self.setting.family.growing:
            early = Tokens(
                input=tokens.input,
                cache_read=tokens.cache_read,
                cache_write=tokens.cache_write,
                cache_write_1h=tokens.cache_write_1h,
                output=rng.randint(0, min(8, tokens.output - 1)),
            )
        else:
            return [final] * rows
        first = self._usage(early, final=False)
        return [first] * (rows - 1) + [first if truncated else final]

    def _usage(self, tokens: Tokens, *, final: bool) -> Row:
        family = self.setting.family
        usage: Row = {
            "input_tokens": tokens.input,
            "cache_creation_input_tokens": tokens.cache_write,
            "cache_read_input_tokens": tokens.cache_read,
        }
        if family.cache_split:
            usage["cache_creation"] = {
                "ephemeral_5m_input_tokens": tokens.cache_write - tokens.cache_write_1h,
                "ephemeral_1h_input_tokens": tokens.cache_write_1h,
            }
        usage |= {"output_tokens": tokens.output, "service_tier": "standard"}
        if final and (family.late_fields or tokens.web_searches):
            searches = {"web_search_requests": tokens.web_searches}
            usage["server_tool_use"] = {**searches, "web_fetch_requests": 0}
        if family.late_fields:
            usage |= {"inference_geo": "" if final else "not_available"}
        if final and family.iterations:
            same = ("input_tokens", "output_tokens", "cache_read_input_tokens")
            step = {key: usage[key] for key in (*same, "cache_creation_input_tokens")}
            usage |= {"iterations": [{**step, "type": "message"}], "speed": "standard"}
        return usage
