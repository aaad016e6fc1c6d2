"""What surrounds a Claude Code conversation: the rows that are no model call."""

from __future__ import annotations

from typing import Any

import msgspec

from generator.claude_rows import Row, Transcript
from generator.claude_tools import ToolUse
from generator.text import Text, stamp

_PERMISSIONS = ("default", "acceptEdits", "plan", "bypassPermissions")


def snapshot(main: Transcript, message_id: str) -> None:
    """The list of files that could be restored to this point."""
    rng = main.text.rng
    names = list(main.bench.opened)[: rng.choice((0, 0, 1, 3, 8))]
    backups = {
        name: {"backupFileName": f"{main.text.hex(16)}@v{n + 1}", "version": n + 1}
        for n, name in enumerate(names)
    }
    state = {"messageId": message_id, "trackedFileBackups": backups}
    moment = {"timestamp": stamp(main.clock)}
    row: Row = {"type": "file-history-snapshot", "messageId": message_id}
    main.meta({**row, "snapshot": {**state, **moment}, "isSnapshotUpdate": bool(names)})


def summary(main: Transcript) -> None:
    """A title in the style of versions before 2.1.8x; its leaf may be elsewhere."""
    title = main.text.words(5).title()
    main.meta({"type": "summary", "summary": title, "leafUuid": main.text.uuid()})


def local_command(main: Transcript) -> None:
    """A slash command that only the client answered."""
    name = main.text.rng.choice(("/model", "/status", "/usage", "/mcp"))
    body = f"<command-name>{name}</command-name>\n<command-args></command-args>"
    main.system("local_command", content=body, level="info", isMeta=False)


def queue_operation(main: Transcript, operation: str, content: str | None) -> None:
    """A prompt that was typed while the model was busy enters or leaves the queue."""
    row: Row = {"type": "queue-operation", "operation": operation}
    row |= {"timestamp": stamp(main.clock), "sessionId": main.setting.session_id}
    main.meta({**row, "content": content} if content else row)


def opening(main: Transcript) -> None:
    """Rows before the first prompt."""
    rng, family, text = main.text.rng, main.setting.family, main.text
    mine = {"sessionId": main.setting.session_id}
    if not family.late_fields:
        for _ in range(rng.choice((0, 0, 1, 2))):
            summary(main)
        return
    mode = rng.choice(_PERMISSIONS)
    main.meta({"type": "permission-mode", "permissionMode": mode, **mine})
    names = [f"mcp__tracker__{text.name()}" for _ in range(rng.randint(10, 200))]
    attachment(main, "deferred_tools_delta", addedNames=names, removedNames=[])
    skills = "\n".join(f"- {text.name()}: {text.words(14)}" for _ in range(60))
    attachment(main, "skill_listing", content=skills, skillCount=60, isInitial=True)


def attachment(main: Transcript, kind: str, **fields: Any) -> Row:
    """Context that the client added by itself."""
    return main.put({"attachment": {"type": kind, **fields}, "type": "attachment"})


def prompt(main: Transcript) -> Row:
    """What the user typed, and what the client writes next to it."""
    rng, text, family = main.text.rng, main.text, main.setting.family
    asked = text.prose(text.size(230, 1.3, 30_000))
    if rng.random() < 0.04:
        asked = f"<command-name>/review</command-name>\n<command-args>{asked[:60]}"
    queued = family.agents != "inline" and rng.random() < 0.4
    if queued:
        queue_operation(main, "enqueue", asked[:400])
        queue_operation(main, "dequeue", None)
    if queued and family.late_fields and main.replied and rng.random() < 0.3:
        row = attachment(main, "queued_command", prompt=asked, commandMode="prompt")
    elif family.late_fields:
        marks = {"permissionMode": rng.choice(_PERMISSIONS), "promptId": text.uuid()}
        row = main.prompt(asked, **marks)
    else:
        row = main.prompt(asked)
    if family.agents != "inline":
        snapshot(main, row["uuid"])
    if family.late_fields and rng.random() < 0.3:
        attachment(main, "task_reminder", content=[], itemCount=0)
    return row


def after_turn(main: Transcript, began: int) -> None:
    """Rows that close a turn."""
    rng, family = main.text.rng, main.setting.family
    if family.agents != "inline" and rng.random() < 0.25:
        main.system("turn_duration", durationMs=main.clock - began, isMeta=False)
    if family.late_fields and rng.random() < 0.3:
        hooks = {"hookCount": 1, "hookInfos": [{"command": "make lint"}]}
        main.system("stop_hook_summary", **hooks, hookErrors=[], level="suggestion")
    if rng.random() < 0.03:
        local_command(main)
    if rng.random() < 0.01:
        _api_errors(main)


def _api_errors(main: Transcript) -> None:
    for attempt in range(main.text.rng.randint(1, 4)):
        retry = {"retryInMs": 612.5 * 2**attempt, "retryAttempt": attempt + 1}
        main.system("api_error", level="error", error={"status": 529}, **retry)
    # The CLI's own words, shaped like an answer that cost nothing.
    zero = ("input_tokens", "output_tokens", "cache_read_input_tokens")
    usage: Row = dict.fromkeys((*zero, "cache_creation_input_tokens"), 0)
    usage["server_tool_use"] = {"web_search_requests": 0, "web_fetch_requests": 0}
    message = {
        "id": main.text.uuid(),
        "model": "<synthetic>",
        "role": "assistant",
        "stop_reason": "stop_sequence",
        "type": "message",
        "usage": {**usage, "service_tier": None},
        "content": [{"type": "text", "text": "API Error: 529 overloaded_error"}],
    }
    body = {"message": message, "type": "assistant"}
    main.put(body, {"error": "overloaded", "isApiErrorMessage": True})


def command_progress(main: Transcript, tool_id: str) -> None:
    """2.1.x up to about .30: what a command printed so far, again and again."""
    shown = main.text.output(main.text.size(160, 1.0))
    for second in range(main.text.rng.choice((1, 1, 2, 4))):
        data = {"type": "bash_progress", "output": shown[:200], "fullOutput": shown}
        _progress(main, tool_id, {**data, "elapsedTimeSeconds": second + 2})


def agent_progress(main: Transcript, agent: Transcript, tool_id: str) -> None:
    """The subagent's own rows once more, usage included, inside the parent's file."""
    for _, line in agent.kept[:60]:
        row = msgspec.json.decode(line)
        keys = ("type", "message", "requestId", "uuid", "timestamp")
        message = {key: row[key] for key in keys if key in row}
        data = {"message": message, "normalizedMessages": [], "type": "agent_progress"}
        _progress(main, tool_id, {**data, "prompt": "", "agentId": agent.agent_id})
        if "usage" in row["message"]:
            main.totals.counts["rows_with_usage_in_progress"] += 1


def _progress(main: Transcript, tool_id: str, data: Row) -> None:
    links = {"toolUseID": main.text.id("agent_msg_"), "parentToolUseID": tool_id}
    main.put({"type": "progress", "data": data, **links})


def compaction(main: Transcript) -> None:
    """The boundary and the summary with which the conversation goes on."""
    rng, text = main.text.rng, main.text
    auto = "auto" if main.context > 150_000 else "manual"
    boundary: Row = {"type": "system", "subtype": "compact_boundary"}
    boundary |= {"content": "Conversation compacted", "level": "info"}
    boundary |= {"logicalParentUuid": main.parent}
    boundary["compactMetadata"] = {"trigger": auto, "preTokens": main.context}
    main.put(boundary, root=True)
    told = "This session is being continued from a previous conversation that ran out"
    told = f"{told} of context.\n{text.prose(text.size(9000, 0.3))}"
    main.prompt(told, isVisibleInTranscriptOnly=True, isCompactSummary=True)
    main.context = rng.randint(14_000, 30_000)
    main.totals.counts["compactions"] += 1


def task(text: Text, name: str) -> ToolUse:
    """The call that starts a subagent; its result comes when the agent is done."""
    asked = {"description": text.words(4), "subagent_type": "general-purpose"}
    asked["prompt"] = text.prose(text.size(900, 0.8))
    return ToolUse(name, asked, None, None)


def task_done(agent: Transcript, use: ToolUse) -> None:
    """Fill in the result; its token numbers are one call's and no extra usage."""
    text, last = agent.text, agent.last_tokens
    use.content = [{"type": "text", "text": text.prose(text.size(2800, 0.8))}]
    usage = {"input_tokens": last.input, "output_tokens": last.output}
    usage |= {"cache_read_input_tokens": last.cache_read}
    usage |= {"cache_creation_input_tokens": last.cache_write}
    use.result = {
        "status": "completed",
        "prompt": use.input["prompt"],
        **({"agentId": agent.agent_id} if agent.agent_id else {}),
        "content": use.content,
        "totalDurationMs": 12_001,
        "totalTokens": sum(usage.values()),
        "totalToolUseCount": 3,
        "usage": usage,
    }


def closing(main: Transcript) -> None:
    """Titles and other rows that the client repeats at the end."""
    rng, text = main.text.rng, main.text
    mine = {"sessionId": main.setting.session_id}
    if main.setting.family.late_fields:
        main.meta({"type": "last-prompt", "lastPrompt": text.prose(200), **mine})
        main.meta({"type": "ai-title", "aiTitle": text.words(6).title(), **mine})
        main.meta({"type": "mode", "mode": "normal", **mine})
    elif main.setting.family.agents != "inline" and rng.random() < 0.5:
        summary(main)
    if rng.random() < 0.03:
        main.meta({"type": "custom-title", "customTitle": text.words(4), **mine})
    if rng.random() < 0.02:
        link = {"prNumber": rng.randint(1, 900), "prRepository": "example/shop"}
        main.meta({"type": "pr-link", **mine, **link, "timestamp": stamp(main.clock)})


def spread_string(main: Transcript) -> None:
    """A message whose text was spread into an object: thousands of odd keys."""
    letters = dict(enumerate(main.text.prose(main.text.rng.randint(3400, 9000))))
    message = {**{str(n): letter for n, letter in letters.items()}, "content": []}
    main.put({"message": message, "type": "assistant"})


def metadata_only(stub: Transcript) -> None:
    """All that a file without conversation holds."""
    rng = stub.text.rng
    kind = rng.choices(("snapshot", "summary", "command", "queue"), (7, 5, 4, 2))[0]
    for _ in range(rng.choice((1, 1, 2, 3, 9))):
        if kind == "snapshot":
            snapshot(stub, stub.text.uuid())
        elif kind == "summary":
            summary(stub)
        elif kind == "command":
            local_command(stub)
        else:
            queue_operation(stub, "enqueue", stub.text.prose(80))


def dirty_tail(main: Transcript, nth: int) -> None:
    """What a few of the files end with: zeros of a crash, or a torn row."""
    if nth % 900 == 7:
        main.file.write(bytes(main.text.rng.randint(1800, 3400)))
        main.totals.counts["nul_tails"] += 1
    elif nth % 70 == 11:
        _torn_line(main)
        main.totals.counts["torn_lines"] += 1


def _torn_line(main: Transcript) -> None:
    # Without a newline it is no row, and its call never happened.
    text = main.text
    message = {"model": main.setting.model, "id": text.id("msg_"), "role": "assistant"}
    block = {"type": "tool_use", "id": text.id("toolu_"), "name": "Bash"}
    usage = {"input_tokens": 999_999, "output_tokens": 999_999}
    row = {"message": {**message, "content": [block], "usage": usage}}
    main.file.write(msgspec.json.encode(row)[: -text.rng.randint(1, 120)])
