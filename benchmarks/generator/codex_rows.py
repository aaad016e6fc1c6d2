"""Lines of a Codex rollout, in the shape of the version that wrote them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import IO, Any

import msgspec

from generator.codex_generations import Generation
from generator.ledger import SourceTotals, Tokens
from generator.text import Text, stamp

Payload = dict[str, Any]


def vector(tokens: Tokens, *, cache_writes: bool) -> Payload:
    """Token counts as Codex words them: the input includes both cache parts."""
    whole = tokens.input + tokens.cache_read + tokens.cache_write
    counts = {"input_tokens": whole, "cached_input_tokens": tokens.cache_read}
    if cache_writes:
        counts["cache_write_input_tokens"] = tokens.cache_write
    counts["output_tokens"] = tokens.output
    counts["reasoning_output_tokens"] = tokens.reasoning
    return {**counts, "total_tokens": whole + tokens.output}


@dataclass(slots=True)
class Thread:
    """One rollout being written; knows its clock, running total and model."""

    id: str
    file: IO[bytes]
    generation: Generation
    version: str
    model: str
    cwd: str
    text: Text
    totals: SourceTotals
    clock: int
    keep: bool = False
    meta: Payload = field(default_factory=dict)
    total: Tokens = field(default_factory=Tokens)
    kept: list[bytes] = field(default_factory=list)
    # Where a fork may cut: lines so far, and the running total there.
    cuts: list[tuple[int, Tokens]] = field(default_factory=list)
    size: int = 0
    lines: int = 0
    turn_id: str = ""
    told: str = ""  # the user's instructions, if every turn repeats them
    records: bool = False
    replied: bool = False
    repeats: float = field(init=False)
    context: int = field(init=False)

    def __post_init__(self) -> None:
        self.repeats = self.text.rng.uniform(*self.generation.repeats)
        self.context = self.text.size(9000, 0.3)
        if self.text.rng.random() < 0.12:
            self.told = self.text.prose(self.text.size(9000, 0.2))

    def raw(self, line: bytes) -> None:
        """Write a line as it is."""
        self.file.write(line)
        self.file.write(b"\n")
        self.size += len(line) + 1
        self.lines += 1
        if self.keep:
            self.kept.append(line)

    def put(self, kind: str, payload: Payload, mean_ms: int = 250) -> None:
        """Write a line, a moment after the one before."""
        self.clock += int(self.text.rng.expovariate(1 / mean_ms)) + 1
        line: Payload = {"timestamp": stamp(self.clock)}
        if self.generation.ordinals:
            line["ordinal"] = self.lines
        self.raw(msgspec.json.encode({**line, "type": kind, "payload": payload}))

    def event(self, kind: str, **fields: Any) -> None:
        """Write what the screen showed."""
        self.put("event_msg", {"type": kind, **fields})

    def item(self, kind: str, **fields: Any) -> None:
        """Write what the model was told or said."""
        self.put("response_item", {"type": kind, **fields})

    def turn_start(self) -> None:
        """Open a turn: its id, its model, its prompt."""
        text, rng, generation = self.text, self.text.rng, self.generation
        self.turn_id = text.uuid()
        turn = {"turn_id": self.turn_id} if generation.turn_ids else {}
        if rng.random() < 0.15:
            self.model = rng.choice(generation.models)
        if turn:
            self.event("task_started", **turn, model_context_window=258_400)
        self.turn_context(turn)
        asked = text.prose(text.size(180, 1.6, 60_000))
        content = [{"type": "input_text", "text": asked}]
        self.item("message", role="user", content=content)
        self.event("user_message", message=asked, images=[])
        if generation.null_info and rng.random() < 0.2:
            self.event("token_count", info=None, rate_limits=self._limits())

    def turn_context(self, turn: Payload) -> None:
        """Say which model answers from here on."""
        context = {**turn, "cwd": self.cwd, "approval_policy": "on-request"}
        context |= {"sandbox_policy": {"mode": "workspace-write"}, "model": self.model}
        if self.told:
            context["user_instructions"] = self.told
        self.put("turn_context", {**context, "effort": "high", "summary": "auto"})

    def call(self, *, final: bool) -> None:
        """Write one model call: reasoning, a tool call or an answer, its tokens."""
        text, rng = self.text, self.text.rng
        self.clock += int(rng.expovariate(1 / 4000))
        if rng.random() < 0.8:
            hint = text.words(6).capitalize()
            if rng.random() < 0.4:
                self.event("agent_reasoning", text=f"**{hint}**")
            secret = text.base64(text.size(1250, 0.8))
            summary = [{"type": "summary_text", "text": f"**{hint}**"}]
            self.item("reasoning", summary=summary, encrypted_content=secret)
        if final or rng.random() < 0.3:
            said = text.prose(text.size(330, 1.0))
            phase = "final_answer" if final else "commentary"
            self.event("agent_message", message=said)
            content = [{"type": "output_text", "text": said}]
            self.item("message", role="assistant", content=content, phase=phase)
        if final:
            self._tokens()
            return
        call_id = text.id("call_")
        self.totals.tool_calls += 1
        draw = rng.random()
        if draw < 0.03:
            self.totals.server_tool_calls += 1
            action = {"type": "search", "query": text.words(5)}
            search = text.id("ws_")
            self.item("web_search_call", id=search, action=action, status="completed")
        if draw < 0.15:
            patch = f"*** Begin Patch\n*** Update File: {text.path()}\n"
            patch += text.code(text.size(900, 1.3)) + "\n*** End Patch"
            called = {"status": "completed", "call_id": call_id, "name": "apply_patch"}
            self.item("custom_tool_call", **called, input=patch)
            self._tokens()
            shown = f"Success. Updated the following files:\nM {text.path()}\n"
            self.item("custom_tool_call_output", call_id=call_id, output=shown)
            return
        command = f"rg -n {text.name()} {text.path()} | head -50"
        arguments = msgspec.json.encode({"cmd": command, "workdir": self.cwd}).decode()
        named = {"name": "exec_command", "arguments": arguments}
        self.item("function_call", **named, call_id=call_id)
        self._tokens()
        shown = text.output(text.size(420, 2.0, 180_000))
        if self.generation.command_events:
            ran: Payload = {"call_id": call_id, "turn_id": self.turn_id, "exit_code": 0}
            command_line = ["/bin/zsh", "-lc", command]
            ran |= {"command": command_line, "aggregated_output": shown[:9000]}
            self.event("exec_command_end", **ran, status="completed")
        self.item("function_call_output", call_id=call_id, output=shown)

    def turn_end(self) -> None:
        """Close the turn."""
        if self.generation.turn_ids:
            done = self.text.prose(self.text.size(330, 1.0))
            self.event("task_complete", turn_id=self.turn_id, last_agent_message=done)
        if self.context > 200_000 or self.text.rng.random() < 0.01:
            self._compact()

    def token_count(self, last: Payload) -> None:
        """Write the running total and what the last call added to it."""
        total = vector(self.total, cache_writes=self.generation.cache_writes)
        info: Payload = {"total_token_usage": total, "last_token_usage": last}
        info["model_context_window"] = 258_400
        self.event("token_count", info=info, rate_limits=self._limits())

    def _tokens(self, *, compaction: bool = False) -> None:
        rng, text = self.text.rng, self.text
        output, fresh = text.size(240, 1.2, 30_000), text.size(900, 1.2, 60_000)
        tokens = Tokens(output=output, reasoning=int(output * rng.random() * 0.8))
        tokens.cache_read = min(self.context, self.context // 128 * 128)
        tokens.input = self.context - tokens.cache_read + fresh
        if self.generation.cache_writes and rng.random() < 0.3:
            tokens.cache_write = tokens.input // 2
            tokens.input -= tokens.cache_write
        self.context += fresh + output
        self.replied = True
        last = vector(tokens, cache_writes=self.generation.cache_writes)
        if self.records:
            of = {"thread_id": self.id, "session_id": self.id, "turn_id": self.turn_id}
            of |= {"root_turn_id": self.turn_id, "response_id": text.id("resp_")}
            self.put("token_usage_record", {**of, "usage": last})
        if not (self.records and compaction):
            self.total.add(tokens)
        noted = self.clock
        if not compaction:
            self.token_count(last)
            noted = noted if self.records else self.clock
            if rng.random() < self.repeats:
                self.token_count(last)
                self.totals.counts["repeated_token_counts"] += 1
        self.totals.call(self.model, [noted], tokens)
        if self.keep:
            self.cuts.append((self.lines, replace(self.total)))

    def _compact(self) -> None:
        """End the context; only newer versions write down what that call cost."""
        history = [{"type": "message", "role": "user", "content": self.text.words(9)}]
        if self.records:
            self._tokens(compaction=True)
            self.totals.counts["compaction_calls"] += 1
        told = self.text.prose(self.text.size(3000, 0.8))
        self.put("compacted", {"message": told, "replacement_history": history})
        self.event("context_compacted")
        self.context = self.text.size(9000, 0.3)
        if not self.records:
            zero = vector(Tokens(), cache_writes=self.generation.cache_writes)
            self.token_count({**zero, "total_tokens": self.context})
        self.totals.counts["compactions"] += 1

    def _limits(self) -> Payload:
        rng = self.text.rng
        return {
            "limit_id": "codex",
            "primary": {
                "used_percent": rng.randint(1, 99) * 1.0,
                "window_minutes": 300,
                "resets_at": self.clock // 1000 + 9000,
            },
            "secondary": {
                "used_percent": rng.randint(1, 99) * 1.0,
                "window_minutes": 10_080,
                "resets_at": self.clock // 1000 + 300_000,
            },
            "credits": None,
            "plan_type": "plus",
        }
