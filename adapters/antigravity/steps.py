"""The steps of a log in plain text, in order, with the call that each one answers.

Lines are not always in order, and some steps log nothing. No line says which call it
answers: the first open one of its tool, else the first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from agentlake.adapters.sdk import splice
from agentlake.adapters.sdk.contract import Keyed
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped

_ANSWERS = ("PLANNER_RESPONSE", "GENERATE_RESPONSE")
OF_TOOLS = ("TOOL_RESPONSE", "GENERIC")
"""Types of results that do not name the tool."""
_TOOLS = {
    "list_directory": ("list_dir",),
    "code_action": (
        "edit_file",
        "replace_file_content",
        "multi_replace_file_content",
        "write_to_file",
    ),
}
"""Tools whose steps have other names than they."""


def explode(data: bytes) -> Iterator[Keyed]:
    """The steps in order, with the call that each one answers; what is no step as is.

    The last line is left for later while it has no end.
    """
    lines, damaged = _lines(data)
    open_calls: dict[str, str] = {}
    for place, (name, line) in enumerate(_in_order(lines)):
        calls = _names(line.get("tool_calls"))
        of = (line.get("source"), line.get("type"))
        speaks = is_typed(*of) or is_answer(*of)
        if calls or speaks:
            open_calls = {f"{name}.{n}": call for n, call in enumerate(calls)}
        if not speaks and (call := _answered(*of, open_calls)):
            del open_calls[call]
            line["result_of"] = call
        yield Keyed(f"step/{name}", encode(line), place)
    for number, part in enumerate(damaged):
        yield Keyed(f"damaged/{number}", part)


def _lines(data: bytes) -> tuple[list[dict[str, Any]], list[bytes]]:
    found: list[dict[str, Any]] = []
    damaged: list[bytes] = []
    *ended, last = data.split(b"\n")
    for line in filter(bytes.strip, (*ended, last)):
        for part in splice.spans(line):
            try:
                value = untyped(part.data) if part.is_whole else None
            except Unreadable:
                value = None
            if isinstance(value, dict):
                found.append(value)
            elif line is not last:
                damaged.append(part.data)
    return found, damaged


def _in_order(lines: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each step with its name; one that was written again counts as it was last.

    A step without a number follows the line before it.
    """
    steps: dict[tuple[int, str, str], dict[str, Any]] = {}
    number = -1
    for place, line in enumerate(lines):
        told = line.get("step_index")
        if isinstance(told, int):
            number, of = told, (str(line.get("type")), str(line.get("created_at")))
        else:
            of = ("", str(place))
        steps[(number, *of)] = line
    occurrences: Counter[int] = Counter()
    for (at, *_), line in sorted(steps.items(), key=lambda it: it[0][0]):
        again = occurrences[at]
        occurrences[at] += 1
        yield f"{at}~{again}" if again else str(at), line


def _names(calls: Any) -> list[str]:
    return [
        str(call.get("name") or "") if isinstance(call, dict) else ""
        for call in (calls if isinstance(calls, list) else ())
    ]


def is_typed(source: object, type_: object) -> bool:
    """Whether a step comes from the user."""
    return source == "USER_EXPLICIT" or (type_ == "USER_INPUT" and source != "SYSTEM")


def is_answer(source: object, type_: object) -> bool:
    """Whether a step is what the model said; its other steps are those of tools."""
    return type_ in _ANSWERS or (source == "MODEL" and not type_)


def _answered(source: Any, type_: Any, open_calls: dict[str, str]) -> str | None:
    tool = str(type_ or "").lower()
    names = (tool, *_TOOLS.get(tool, ()))
    named = (it for it, name in open_calls.items() if name.split(":")[-1] in names)
    if call := next(named, None):
        return call
    is_result = source == "MODEL" or type_ in OF_TOOLS
    return next(iter(open_calls), None) if is_result else None
