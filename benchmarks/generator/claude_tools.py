"""Tool calls of Claude Code and their results: two thirds of all bytes on disk.

Reads and edits keep their text twice, once for the model (`content`) and once for
the screen (`toolUseResult`), which is why real logs pack so well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from generator.text import Text


@dataclass(slots=True)
class ToolUse:
    """One call and what came back: for the model, and for the screen."""

    name: str
    input: dict[str, Any]
    content: Any
    result: Any
    is_error: bool | None = None


@dataclass(slots=True)
class Workbench:
    """The tools of one session, with the files it has already opened."""

    text: Text
    cwd: str
    opened: dict[str, str] = field(default_factory=dict)

    def use(self) -> ToolUse:
        """Invent a call; tools appear about as often as in real logs."""
        rng = self.text.rng
        return rng.choices(_TOOLS, cum_weights=_SHARES)[0](self)

    def file(self) -> tuple[str, str]:
        """A file and its text: often one that this session has seen before."""
        text, rng = self.text, self.text.rng
        if self.opened and rng.random() < 0.45:
            return rng.choice(list(self.opened.items()))
        path, body = f"{self.cwd}/{text.path()}", text.code(text.size(4200, 1.25))
        if len(self.opened) > 8:
            self.opened.pop(next(iter(self.opened)))
        self.opened[path] = body
        return path, body


def numbered(body: str, first: int = 1) -> str:
    """The text as the model sees it: line numbers and an arrow."""
    lines = body.split("\n")
    if len(lines) + first >= len(_NUMBERS):
        first = 1
    numbers = _NUMBERS[first : first + len(lines)]
    return "\n".join(map(str.__add__, numbers, lines))


_NUMBERS = [f"{n:>6}→" for n in range(40_000)]


def _bash(bench: Workbench) -> ToolUse:
    text, rng = bench.text, bench.text.rng
    command = {
        "command": f"cd {bench.cwd} && {text.words(3)} {text.path()} 2>&1 | tail -40",
        "description": text.words(5).capitalize(),
    }
    shown = text.output(text.size(230, 1.75))
    if rng.random() < 0.2:
        failure = f"Exit code {rng.choice((1, 1, 1, 2, 127))}\n{shown}"
        return ToolUse("Bash", command, failure, f"Error: {failure}", is_error=True)
    screen = {
        "stdout": shown,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
    }
    return ToolUse("Bash", command, shown, screen, is_error=False)


def _read(bench: Workbench) -> ToolUse:
    rng, text = bench.text.rng, bench.text
    if rng.random() < 0.003:
        return _read_image(bench)
    path, body = bench.file()
    if rng.random() < 0.04:
        missing = "<tool_use_error>File does not exist.</tool_use_error>"
        screen: Any = "Error: File does not exist."
        return ToolUse("Read", {"file_path": path}, missing, screen, is_error=True)
    lines = body.count("\n") + 1
    screen = {
        "filePath": path,
        "content": body,
        "numLines": lines,
        "startLine": 1,
        "totalLines": lines,
    }
    asked: dict[str, Any] = {"file_path": path}
    if rng.random() < 0.2:
        asked |= {"limit": lines, "offset": int(text.rng.random() * 200)}
    return ToolUse("Read", asked, numbered(body), {"type": "text", "file": screen})


def _read_image(bench: Workbench) -> ToolUse:
    text = bench.text
    path = f"{bench.cwd}/docs/{text.name()}.png"
    data = text.base64(text.size(87_000, 1.1, most=2_200_000))
    source = {"type": "base64", "data": data, "media_type": "image/png"}
    screen = {"base64": data, "type": "image/png", "originalSize": len(data)}
    return ToolUse(
        "Read",
        {"file_path": path},
        [{"type": "image", "source": source}],
        {"type": "image", "file": screen},
    )


def _edit(bench: Workbench) -> ToolUse:
    text, rng = bench.text, bench.text.rng
    path, body = bench.file()
    middle = body.find("\n", int(rng.random() * len(body))) + 1
    old = body[middle : middle + text.size(260, 1.0, most=6000)]
    new = text.code(text.size(420, 1.1, most=9000))
    after = body[:middle] + new + body[middle + len(old) :]
    bench.opened[path] = after[:300_000]
    asked = {"file_path": path, "old_string": old, "new_string": new}
    if rng.random() < 0.07:
        failure = f"<tool_use_error>String to replace not found in file.\n{old}"
        return ToolUse("Edit", asked, failure, f"Error: {failure}", is_error=True)
    line = body.count("\n", 0, middle) + 1
    removed, added = old.split("\n"), new.split("\n")
    patch = {
        "oldStart": line,
        "oldLines": len(removed),
        "newStart": line,
        "newLines": len(added),
        "lines": [f"-{row}" for row in removed] + [f"+{row}" for row in added],
    }
    content = (
        f"The file {path} has been updated. Here's the result of running `cat -n` on a"
        f" snippet of the edited file:\n{numbered(new, line)}"
    )
    screen = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": body,
        "structuredPatch": [patch],
        "userModified": False,
        "replaceAll": False,
    }
    return ToolUse("Edit", asked, content, screen)


def _write(bench: Workbench) -> ToolUse:
    text = bench.text
    path, body = f"{bench.cwd}/{text.path()}", text.code(text.size(5200, 1.0))
    bench.opened[path] = body
    screen: dict[str, Any] = {
        "type": "create",
        "filePath": path,
        "content": body,
        "structuredPatch": [],
        "originalFile": None,
    }
    done = f"File created successfully at: {path}"
    return ToolUse("Write", {"file_path": path, "content": body}, done, screen)


def _todo(bench: Workbench) -> ToolUse:
    text = bench.text
    todos = [
        {
            "content": text.words(6),
            "status": text.rng.choice(("pending", "in_progress", "completed")),
            "activeForm": text.words(6),
        }
        for _ in range(text.rng.randint(3, 8))
    ]
    done = "Todos have been modified successfully. Continue with the current tasks."
    return ToolUse(
        "TodoWrite", {"todos": todos}, done, {"oldTodos": todos[1:], "newTodos": todos}
    )


def _glob(bench: Workbench) -> ToolUse:
    text = bench.text
    names = [f"{bench.cwd}/{text.path()}" for _ in range(text.size(4, 1.6, most=100))]
    screen = {
        "filenames": names,
        "durationMs": text.size(20, 1.0),
        "numFiles": len(names),
        "truncated": len(names) == 100,
    }
    pattern = {"pattern": f"**/*{text.name()}*"}
    return ToolUse("Glob", pattern, "\n".join(names), screen)


def _grep(bench: Workbench) -> ToolUse:
    text = bench.text
    found = text.output(text.size(420, 1.7))
    screen = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": found,
        "numLines": found.count("\n") + 1,
    }
    asked = {"pattern": text.name(), "path": bench.cwd, "output_mode": "content"}
    return ToolUse("Grep", asked, found, screen)


def _search(bench: Workbench) -> ToolUse:
    text = bench.text
    asked = {"query": text.words(6)}
    found = text.prose(text.size(3300, 0.5))
    links = [{"title": text.words(5), "url": f"https://example.org/{text.name()}"}]
    screen = {
        "query": asked["query"],
        "results": [{"content": links}, found],
        "durationSeconds": 4.2,
    }
    return ToolUse("WebSearch", asked, found, screen)


def _fetch(bench: Workbench) -> ToolUse:
    text = bench.text
    page = text.prose(text.size(900, 1.0))
    asked = {"url": f"https://example.org/{text.name()}", "prompt": text.words(9)}
    screen = {
        "bytes": len(page) * 9,
        "code": 200,
        "codeText": "OK",
        "result": page,
        "durationMs": 2100,
        "url": asked["url"],
    }
    return ToolUse("WebFetch", asked, page, screen)


def _mcp(bench: Workbench) -> ToolUse:
    text = bench.text
    blocks = [{"type": "text", "text": text.output(text.size(1100, 1.6))}]
    asked = {"query": text.words(4), "mode": "search"}
    return ToolUse("mcp__tracker__search", asked, blocks, blocks)


_MIX: dict[Callable[[Workbench], ToolUse], float] = {
    _bash: 35,
    _read: 30,
    _edit: 12,
    _todo: 6,
    _write: 5.5,
    _glob: 5,
    _grep: 4,
    _mcp: 1,
    _search: 0.6,
    _fetch: 0.6,
}
_TOOLS = tuple(_MIX)
_SHARES = tuple(sum(list(_MIX.values())[: n + 1]) for n in range(len(_MIX)))
