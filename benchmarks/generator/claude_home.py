"""A synthetic ~/.claude: sessions, subagents, copies of history, stubs and dirt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from generator import claude_extras as extras
from generator.claude_families import FAMILIES, HAIKU, PROXY_MODELS, Family, Setting
from generator.claude_rows import Transcript
from generator.claude_tools import ToolUse
from generator.ledger import SourceTotals
from generator.sizes import Sizes
from generator.text import DAY_MS, Text

_COPYABLE = 3_000_000  # larger histories are not held in memory to be copied
_COPIED_SHARE = 0.08  # of all calls, also stand in another file
_WITH_AGENTS = 0.34


@dataclass(slots=True)
class ClaudeHome:
    """Writes the projects folder until the planned sizes are used up."""

    projects: Path
    text: Text
    mains: Sizes
    agents: Sizes
    totals: SourceTotals = field(default_factory=SourceTotals)
    cwds: list[str] = field(default_factory=list)
    next_spread: int = 3000

    def write(self, project_count: int) -> SourceTotals:
        """Write everything; what was invented."""
        rng, text = self.text.rng, self.text
        names = (text.words(2).replace(" ", "-") for _ in range(project_count))
        self.cwds = [f"/home/dev/work/{name}" for name in names]
        self.cwds[:3] = ["C:\\Users\\dev\\shop", "/home/dev/.dotfiles", "/srv/büro/api"]
        while (budget := self.mains.take()) is not None:
            self._session(budget)
            # 18 % of main files hold no conversation, 9 % no answer.
            for share, stub in ((0.25, self._metadata_only), (0.12, self._prompt_only)):
                if rng.random() < share:
                    stub()
            if rng.random() < 0.015:
                self._orphans(rng.choice((1, 1, 2, 3)))
        self._orphans(self.agents.left)
        return self.totals

    # -- sessions ---------------------------------------------------------------

    def _setting(self, family: Family | None = None) -> Setting:
        rng = self.text.rng
        chosen = family or rng.choices(list(FAMILIES), list(FAMILIES.values()))[0]
        proxy, cwd = rng.random() < 0.13, rng.choice(self.cwds)
        return Setting(
            session_id=self.text.uuid(),
            project=self.projects / re.sub(r"[^A-Za-z0-9]", "-", cwd),
            family=chosen,
            model=rng.choice(PROXY_MODELS if proxy else chosen.models),
            version=rng.choice(chosen.versions),
            cwd=cwd,
            branch=rng.choice(("main", "main", "develop", "")),
            proxy=proxy,
        )

    def _start(self, setting: Setting) -> int:
        first, last = setting.family.days
        return self.text.rng.randint(first * DAY_MS, last * DAY_MS)

    def _open(self, setting: Setting, *, keep: bool = False) -> Transcript:
        path = setting.project / f"{setting.session_id}.jsonl"
        start = self._start(setting)
        return Transcript(path, setting, self.text, self.totals, start, keep=keep)

    def _session(self, budget: int) -> None:
        rng = self.text.rng
        setting = self._setting()
        wanted = self.totals.counts["copied_calls"] < _COPIED_SHARE * self.totals.calls
        replays = setting.version == "2.0.2"
        main = self._open(setting, keep=(wanted or replays) and budget < _COPYABLE)
        agents = 0
        if setting.family.agents != "inline" and rng.random() < _WITH_AGENTS:
            mean = self.agents.left / (self.mains.left * _WITH_AGENTS * 0.85 + 1)
            agents = 1 + int(rng.expovariate(1 / max(mean - 0.5, 0.1)))
            agents = min(agents, self.agents.left, 105)
        self._conversation(main, budget, agents)
        while wanted and main.kept and rng.random() < 0.75:
            more = self.mains.take()
            if more is None:
                return
            main = self._copy(main, min(more, _COPYABLE))

    def _copy(self, old: Transcript, budget: int) -> Transcript:
        """Resume or fork: a new file that begins with the whole old history."""
        rng, fork = self.text.rng, old.setting.family.late_fields
        setting = replace(old.setting, session_id=self.text.uuid())
        copy = self._open(setting, keep=rng.random() < 0.3)
        copy.clock = old.clock + rng.randint(60_000, 2 * DAY_MS)
        theirs, mine = _session_field(old.setting), _session_field(setting)
        if not fork and rng.random() < 0.1:
            mine = theirs  # some old versions left the old id on the copied rows
        for uuid, line in old.kept:
            row = line.replace(theirs, mine)
            if fork:
                origin = {"sessionId": old.setting.session_id, "messageUuid": uuid}
                row = row[:-1] + b',"forkedFrom":' + msgspec.json.encode(origin) + b"}"
            copy.raw(row)
            copy.parent = uuid
            if copy.keep:
                copy.kept.append((uuid, line.replace(theirs, _session_field(setting))))
        self._copied(old)
        copy.calls = copy.copied = old.calls
        copy.replied = old.replied
        self.totals.counts["forked_files" if fork else "resumed_files"] += 1
        self._conversation(copy, copy.size + budget, 0)
        return copy

    def _copied(self, old: Transcript) -> None:
        self.totals.counts["copied_calls"] += old.calls - old.copied
        old.copied = old.calls

    def _conversation(self, main: Transcript, budget: int, agents: int) -> None:
        rng = self.text.rng
        extras.opening(main)
        before, started = main.size, 0
        while main.size < budget or started < agents or main.size == before:
            self._turn(main, budget)
            while started < agents and main.size >= budget * started / agents:
                self._spawn(main)
                started += 1
            if main.context > 165_000 or rng.random() < 0.015:
                self._compact(main)
            if rng.random() < 0.012:
                main.setting = replace(
                    main.setting,
                    cwd=f"{main.setting.cwd}/{self.text.name()}",
                    branch=f"feature/{self.text.name()}",
                )
            main.clock += int(rng.expovariate(1 / 240_000))
        if self.totals.counts["lines"] + main.lines > self.next_spread:
            extras.spread_string(main)
            self.totals.counts["spread_strings"] += 1
            self.next_spread += 50_000
        extras.closing(main)
        self._finish(main, self.mains)

    def _turn(self, main: Transcript, budget: int) -> None:
        rng, family = self.text.rng, main.setting.family
        extras.prompt(main)
        began = main.clock
        for _ in range(min(int(rng.expovariate(0.17)), 60)):
            if main.size > budget:
                break
            for done in main.call([None] * rng.choice((1, 1, 1, 1, 1, 2, 2, 3, 5))):
                if family.progress and done.use.name == "Bash" and rng.random() < 0.4:
                    extras.command_progress(main, done.id)
        if family.agents == "inline" and rng.random() < 0.06:
            self._inline_agent(main)
        answer = len(main.kept)
        main.call([])
        if main.setting.version == "2.0.2" and rng.random() < 0.03:
            for _, line in main.kept[answer:]:
                main.raw(re.sub(rb'"requestId":"[^"]+",', b"", line))
                self.totals.counts["rows_replayed_in_place"] += 1
        extras.after_turn(main, began)

    def _compact(self, main: Transcript) -> None:
        """End the context; newer versions let a copy of the session summarize it."""
        rng = self.text.rng
        if main.keep and main.setting.family.late_fields and rng.random() < 0.8:
            if rng.random() < 0.3:
                main.call([], only_in_copies=True)
                self.totals.counts["calls_complete_only_in_copies"] += 1
            question = rng.random() < 0.25
            name = f"a{'side_question' if question else 'compact'}-{self.text.hex(16)}"
            agent = self._agent_file(main.setting, main.clock, name)
            mark = b'"isSidechain":true,"agentId":"' + name.encode() + b'"'
            for _, line in main.kept[-40:] if question else main.kept:
                row = line.replace(b'"isSidechain":false', mark, 1)
                if question:
                    other = b'"requestId":"' + self.text.id("req_01").encode() + b'"'
                    row = re.sub(rb'"requestId":"[^"]+"', other, row)
                agent.raw(row)
            agent.call([])
            if not question:
                self._copied(main)
            self.totals.counts["agent_copies"] += 1
            self._finish(agent, self.mains)
        extras.compaction(main)

    # -- subagents --------------------------------------------------------------

    def _spawn(self, main: Transcript) -> None:
        budget, family, rng = self.agents.take(), main.setting.family, self.text.rng
        if budget is None:
            return
        task = extras.task(self.text, "Agent" if family.late_fields else "Task")
        call = main.call([task])[0]
        agent = self._agent(main.setting, main.clock, task, budget)
        if family.progress and rng.random() < 0.75:
            extras.agent_progress(main, agent, call.id)
        main.clock = max(main.clock, agent.clock)
        extras.task_done(agent, task)
        if rng.random() < 0.97:
            main.result(call)

    def _agent_file(
        self, setting: Setting, clock: int, agent_id: str, *, keep: bool = False
    ) -> Transcript:
        folder = setting.project
        if setting.family.agents == "nested":
            folder = folder / setting.session_id / "subagents"
            if setting.version == "2.1.170" and self.text.rng.random() < 0.2:
                folder = folder / "workflows" / f"wf_{self.text.hex(8)}"
        path = folder / f"agent-{agent_id}.jsonl"
        model = setting.model
        if not setting.proxy and self.text.rng.random() < 0.5:
            model = HAIKU
        own = replace(setting, model=model)
        return Transcript(
            path, own, self.text, self.totals, clock, agent_id=agent_id, keep=keep
        )

    def _agent(
        self, setting: Setting, clock: int, task: ToolUse, budget: int
    ) -> Transcript:
        rng, family = self.text.rng, setting.family
        agent_id = self.text.hex(17 if family.late_fields else 7)
        keep = family.progress and budget < _COPYABLE
        agent = self._agent_file(setting, clock, agent_id, keep=keep)
        message = {"role": "user", "content": task.input["prompt"]}
        agent.put({"type": "user", "message": message}, root=True)
        while agent.size < budget:
            agent.call([None] * rng.choice((1, 1, 1, 2, 3)))
        if agent.calls or rng.random() < 0.4:
            agent.call([])
        if family.agents == "nested":
            kind, told = task.input["subagent_type"], task.input["description"]
            about = msgspec.json.encode({"agentType": kind, "description": told})
            agent.path.with_suffix(".meta.json").write_bytes(about)
        self._finish(agent, self.agents)
        return agent

    def _inline_agent(self, main: Transcript) -> None:
        """1.0.x: the subagent's rows stand in the main file, marked isSidechain."""
        task = extras.task(self.text, "Task")
        call = main.call([task])[0]
        outer, main.sidechain = main.parent, True
        message = {"role": "user", "content": task.input["prompt"]}
        main.put({"type": "user", "message": message}, root=True)
        for _ in range(self.text.rng.randint(1, 6)):
            main.call([None])
        main.call([])
        main.parent, main.sidechain = outer, False
        extras.task_done(main, task)
        main.result(call)

    def _orphans(self, count: int) -> None:
        """Subagents whose parent's file is gone."""
        for _ in range(min(count, self.agents.left)):
            nested = [family for family in FAMILIES if family.agents == "nested"]
            setting = self._setting(self.text.rng.choice(nested))
            task = extras.task(self.text, "Task")
            self._agent(setting, self._start(setting), task, self.agents.take() or 1)
            self.totals.counts["orphaned_agent_files"] += 1

    # -- stubs and the end of a file ------------------------------------------------

    def _metadata_only(self) -> None:
        stub = self._open(self._setting())
        extras.metadata_only(stub)
        self.totals.counts["metadata_only_files"] += 1
        self._finish(stub, self.mains)

    def _prompt_only(self) -> None:
        stub = self._open(self._setting())
        extras.opening(stub)
        extras.prompt(stub)
        self.totals.counts["prompt_only_sessions"] += 1
        self._finish(stub, self.mains)

    def _finish(self, done: Transcript, plan: Sizes) -> None:
        counts, main = self.totals.counts, done.agent_id is None
        extras.dirty_tail(done, counts["files"])
        done.file.close()
        plan.wrote(done.size)
        counts["files"] += 1
        counts["main_files" if main else "agent_files"] += 1
        counts["lines"] += done.lines
        counts["content_bytes"] += done.size
        self.totals.sessions_with_conversation += main and done.replied


def _session_field(setting: Setting) -> bytes:
    return f'"sessionId":"{setting.session_id}"'.encode()
