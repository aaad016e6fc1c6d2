"""A synthetic ~/.codex: threads, forks with copied history, subagents, archives."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import IO, cast

import msgspec

from generator.codex_generations import GENERATIONS, Generation
from generator.codex_rows import Payload, Thread
from generator.ledger import SourceTotals, Tokens
from generator.sizes import Sizes
from generator.text import DAY_MS, Text, stamp

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LOCAL = timezone(timedelta(hours=2))  # file names carry local time
_COPYABLE = 2_000_000  # larger histories are not held in memory to be copied
_MESSAGE = b'"type":"response_item","payload":{"type":"message"'


@dataclass(slots=True)
class CodexHome:
    """Writes the rollouts until the planned sizes are used up."""

    root: Path
    text: Text
    sizes: Sizes
    totals: SourceTotals = field(default_factory=SourceTotals)
    titles: list[Payload] = field(default_factory=list)
    instructions: dict[str, str] = field(default_factory=dict)  # by version

    def write(self) -> SourceTotals:
        """Write everything; what was invented."""
        rng = self.text.rng
        while (budget := self.sizes.take()) is not None:
            if rng.random() < 0.05:
                self._finish(self._open(self._generation()))
                continue
            parent = self._thread(budget)
            if parent.kept and len(parent.cuts) > 2:
                self._relatives(parent)
        lines = [msgspec.json.encode(title) for title in self.titles]
        (self.root / "session_index.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        return self.totals

    def _generation(self) -> Generation:
        kinds, weights = list(GENERATIONS), list(GENERATIONS.values())
        return self.text.rng.choices(kinds, weights)[0]

    # -- threads ----------------------------------------------------------------

    def _thread(self, budget: int) -> Thread:
        rng = self.text.rng
        generation = self._generation()
        legacy = not generation.resets and not generation.cache_writes
        keep = budget < _COPYABLE and legacy
        thread = self._open(generation, keep=keep)
        if rng.random() < 0.04 and generation.turn_ids and not keep:
            thread.meta["source"] = {"subagent": {"other": "guardian"}}
            thread.model = "codex-auto-review"
        thread.put("session_meta", thread.meta)
        self._introduce(thread)
        self._turns(thread, budget)
        self._finish(thread)
        return thread

    def _open(
        self, generation: Generation, *, keep: bool = False, after: int | None = None
    ) -> Thread:
        rng, text = self.text.rng, self.text
        first, last = generation.days
        started = after or rng.randint(first * DAY_MS, last * DAY_MS)
        thread_id = f"{started >> 16:08x}-{started & 0xFFFF:04x}-7{text.uuid()[15:]}"
        local = datetime.fromtimestamp(started / 1000, UTC).astimezone(_LOCAL)
        name = f"rollout-{local:%Y-%m-%dT%H-%M-%S}-{thread_id}.jsonl"
        folder = self.root / "archived_sessions"
        if rng.random() < 0.9:
            folder = self.root / "sessions" / f"{local:%Y/%m/%d}"
        else:
            self.totals.counts["archived_files"] += 1
        folder.mkdir(parents=True, exist_ok=True)
        file: IO[bytes]
        if rng.random() < 0.15:
            file = cast("IO[bytes]", zstd.open(folder / f"{name}.zst", "wb"))
            self.totals.counts["compressed_files"] += 1
        else:
            file = (folder / name).open("wb", buffering=1 << 18)
        thread = Thread(
            id=thread_id,
            file=file,
            generation=generation,
            version=rng.choice(generation.versions),
            model=rng.choice(generation.models),
            cwd=f"/home/dev/work/{text.words(1)}",
            text=text,
            totals=self.totals,
            clock=started,
            keep=keep,
        )
        thread.meta = self._meta(thread)
        return thread

    def _meta(self, thread: Thread) -> Payload:
        text, generation = self.text, thread.generation
        told = self.instructions.get(thread.version)
        if told is None:
            told = text.prose(text.size(generation.instructions, 0.15))
            self.instructions[thread.version] = told
        mode = {"history_mode": "paginated"} if generation.ordinals else {}
        return {
            "id": thread.id,
            "timestamp": stamp(thread.clock),
            "cwd": thread.cwd,
            "originator": "codex_cli_rs",
            "cli_version": thread.version,
            "source": "cli",
            "model_provider": "openai",
            **mode,
            "base_instructions": {"text": told},
            "git": {"commit_hash": text.hex(40), "branch": "main"},
        }

    def _introduce(self, thread: Thread) -> None:
        text = self.text
        about = f"# AGENTS.md instructions\n{text.prose(2500)}\n</INSTRUCTIONS>"
        where = f"<environment_context>\n  <cwd>{thread.cwd}</cwd>\n"
        for told in (about, f"{where}</environment_context>"):
            content = [{"type": "input_text", "text": told}]
            thread.item("message", role="user", content=content)
        title = {"id": thread.id, "thread_name": text.words(5).title()}
        self.titles.append({**title, "updated_at": stamp(thread.clock)})

    def _turns(self, thread: Thread, budget: int) -> None:
        rng, generation = self.text.rng, thread.generation
        # Some threads were begun by a version that knew no usage records yet.
        begun_older = generation.records and rng.random() < 0.3
        thread.records = generation.records and not begun_older
        turns = 0
        while thread.size < budget or turns == 0:
            resumed = turns > 0 and rng.random() < 0.1
            if resumed:
                thread.clock += int(rng.expovariate(1 / DAY_MS))
                if generation.metas_again:
                    thread.put("session_meta", thread.meta)
                    self.totals.counts["metas_again"] += 1
                if generation.resets and rng.random() < 0.3:
                    thread.total = Tokens()
                    self.totals.counts["counter_resets"] += 1
            if begun_older and (resumed or turns == 3) and not thread.records:
                thread.records = True
                self.totals.counts["threads_with_both_counters"] += 1
            thread.turn_start()
            for _ in range(min(int(rng.expovariate(0.12)), 80)):
                if thread.size > budget:
                    break
                thread.call(final=False)
            thread.call(final=True)
            thread.turn_end()
            thread.clock += int(rng.expovariate(1 / 200_000))
            turns += 1

    # -- forks, resumes, subagents --------------------------------------------------

    def _relatives(self, parent: Thread) -> None:
        """Write forks and the like, until 5 % of the threads hold copied history."""
        rng, counts = self.text.rng, self.totals.counts
        if counts["threads_with_copied_history"] > 0.05 * counts["files"]:
            return
        kinds = [self._resume_old]
        if parent.generation.turn_ids:
            kinds = [self._fork, self._fork, self._spawn]
        if parent.generation.command_events:
            self._grow(self._spawn_empty(parent))
        self._grow(rng.choice(kinds)(parent))
        counts["threads_with_copied_history"] += 1

    def _grow(self, child: Thread) -> None:
        budget = self.sizes.take() or 30_000
        self._turns(child, child.size + budget)
        self._finish(child)

    def _child(self, parent: Thread) -> Thread:
        later = parent.clock + self.text.rng.randint(10_000, DAY_MS)
        child = self._open(parent.generation, after=later)
        child.cwd, child.model = parent.cwd, parent.model
        return child

    def _fork(self, parent: Thread) -> Thread:
        """A user's fork: own meta, the parent's, its history; the total goes on."""
        child = self._child(parent)
        child.meta["forked_from_id"] = parent.id
        child.put("session_meta", child.meta)
        lines, child.total = self.text.rng.choice(parent.cuts)
        self._replay(child, parent.kept[:lines])
        self.totals.counts["forks"] += 1
        return child

    def _spawn(self, parent: Thread) -> Thread:
        """A subagent with the parent's messages and events, but not its tool calls."""
        child = self._spawn_empty(parent)
        lines, child.total = self.text.rng.choice(parent.cuts)
        told = [
            line
            for line in parent.kept[:lines]
            if _MESSAGE in line[:120]
            or b'"type":"event_msg"' in line[:60]
            or b'"type":"session_meta"' in line[:60]
        ]
        self._replay(child, told)
        self.totals.counts["subagents_with_copied_history"] += 1
        return child

    def _spawn_empty(self, parent: Thread) -> Thread:
        child = self._child(parent)
        spawn = {"parent_thread_id": parent.id, "depth": 1, "agent_role": "worker"}
        child.meta["source"] = {"subagent": {"thread_spawn": spawn}}
        child.put("session_meta", child.meta)
        self.totals.counts["subagents"] += 1
        return child

    def _resume_old(self, parent: Thread) -> Thread:
        """0.36: a new file and id without a marker; the total starts anew."""
        child = self._child(parent)
        child.put("session_meta", child.meta)
        self._replay(child, parent.kept[1:])
        self.totals.counts["unmarked_resumes"] += 1
        return child

    def _replay(self, child: Thread, lines: list[bytes]) -> None:
        """Copy lines, stamped with the moment of the copy."""
        child.total = replace(child.total)
        for line in lines:
            child.clock += self.text.rng.random() < 0.05
            moment = stamp(child.clock).encode()
            child.raw(b'{"timestamp":"' + moment + line[14 + len(moment) :])
        child.clock += 1500

    def _finish(self, thread: Thread) -> None:
        counts = self.totals.counts
        if thread.lines == 0:
            thread.put("session_meta", thread.meta)
            counts["empty_threads"] += 1
        if counts["files"] % 25 == 3:
            torn = {"type": "token_count", "info": {"total_token_usage": {}}}
            line = {"timestamp": stamp(thread.clock), "type": "event_msg"}
            whole = msgspec.json.encode({**line, "payload": torn})
            thread.file.write(whole[: -self.text.rng.randint(1, 40)])
            counts["torn_lines"] += 1
        thread.file.close()
        self.sizes.wrote(thread.size)
        counts["files"] += 1
        counts["lines"] += thread.lines
        counts["content_bytes"] += thread.size
        self.totals.sessions_with_conversation += thread.replied
