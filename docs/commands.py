"""The page of the command line: made of its parser, and of what each command prints.

`pages.py` writes it with the others. What changes from run to run (times, sizes, the
folder) is replaced by words that do not, so that a test can tell whether it is current.
"""

import re
import sys
from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Callable, Iterator
from pathlib import Path

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.cli.parser import make_parser

DEMO_HOME = FIXTURES_DIR / "demo" / "home"
_COMMON = ("--config", "--home", "--warehouse", "--help")
_EXIT_CODES = """\
| exit code | means |
|---|---|
| 0 | done |
| 1 | done, and something needs you: the command's own section says what |
| 2 | wrong usage, or something that you can put right; nothing was changed |
| 130 | stopped by Ctrl-C |
| 141 | whoever read the output, such as `head`, had enough |
"""

Print = Callable[[list[str], Path], str]
"""Runs a command on a warehouse and gives what it prints on stdout."""

RUNS: dict[str, list[str]] = {
    "load": ["load"],
    "report": ["report", "model"],
    "sql": [
        "sql",
        "select role, count(*) as n from core.messages group by 1 order by 1",
    ],
    "export": ["export", "{folder}/lake", "marts.daily_usage"],
    "prices": ["prices", "gpt-5.1-codex"],
    "doctor": ["doctor"],
    "rejects": ["rejects"],
    "reconcile": ["reconcile", "--bill", "{folder}/claude_usage.csv"],
    "verify": ["verify"],
    "replay": ["replay", "codex"],
    "restore": ["restore", "{folder}/demo.duckdb"],
    "new-source": ["new-source", "acme_code", "--folder", "{folder}/adapters"],
    "check-source": ["check-source", "acme_code", "--folder", "{folder}/adapters"],
    "service": ["service", "watch", "--manager", "systemd"],
}
"""The example of each command that ends by itself, run on the demo."""

_BILL = """\
usage_date_utc,model_version,api_key,usage_type,usage_input_tokens_no_cache,\
usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,\
usage_input_tokens_cache_read,usage_output_tokens,web_search_count
2026-11-21,claude-haiku-4-5-20251001,k,standard,53,59393,0,168695,7000,0
"""
"""A vendor's report of one day of the demo."""

UNSEEN = {
    "load": ["--home", str(DEMO_HOME), "--warehouse", "{folder}/new.duckdb"],
    "doctor": ["--home", str(DEMO_HOME)],
}
"""What is added to an example so that it reads the demo's home."""

STAYS = {
    "demo": "The tables of `report daily`, `report session` and `report model`.",
    "watch": "A line for each load, on stderr, until Ctrl-C.",
    "ui": "The address of the page, on stderr, and then the lines of Dagster itself.",
    "notebook": "The address of the page, on stderr.",
}
"""What is printed by the others."""


_CHANGING = {
    r"\b\d+\.\d+s\b": "0.1s",
    r"\b[\d.,]+ (?:[kMG]B|B)\b": "9.9 MB",
    r"\b[0-9a-f]{16}\b": "0123456789abcdef",
    r"\bsince \d{4}-\d\d-\d\d \d\d:\d\d": "since 2026-12-01 10:00",
    r"^\d+ checks": "128 checks",
}
"""What another run or machine prints differently, and what stands for it here."""


def commands(printed: Print, warehouse: Path) -> str:
    """Every command with its options, its exit codes and an example."""
    parser = make_parser()
    parts = [
        "# The command line\n\n`agentlake COMMAND [options]`. What is asked for goes to"
        " stdout; progress and problems go to stderr. With `--json` it is JSON. The"
        " output below is that of the demo; times and sizes are yours.\n",
        _EXIT_CODES,
        "\nThese options stand before the command or after it:\n",
        _options(parser, of=_COMMON),
    ]
    for name, command in commands_of(parser).items():
        if name not in RUNS | STAYS:
            msg = f"docs/commands.py: no example of {name}: add it to RUNS or STAYS"
            raise ValueError(msg)
        parts.append(f"\n## {name}\n\n{(command.description or '').strip()}\n")
        usage = " ".join(command.format_usage().removeprefix("usage: ").split())
        parts.append(f"```text\n{_without_common(usage)}\n```\n")
        if table := _options(command, without=_COMMON):
            parts.append(table + "\n")
        parts.append(_example(name, command, printed, warehouse))
    return "\n".join(parts)


def commands_of(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """The parser of each command, by its name."""
    (found,) = (it for it in parser._actions if isinstance(it, _SubParsersAction))
    return found.choices


def _without_common(usage: str) -> str:
    """The usage without the options that every command has."""
    usage = re.sub(r" \[--(?:config|home|warehouse) \w+\]", "", usage)
    return usage.replace(" [-h]", "")


def _options(
    parser: ArgumentParser, of: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> str:
    rows = ["| option | what it does |", "|---|---|"]
    for action in parser._actions:
        is_common = any(name in _COMMON for name in action.option_strings)
        if isinstance(action, _SubParsersAction) or (is_common and without):
            continue
        if of and not any(name in of for name in action.option_strings):
            continue
        rows.append(f"| {_name(action)} | {_about(action)} |")
    return "\n".join(rows) if len(rows) > 2 else ""


def _name(action: Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if not action.option_strings:
        return f"`{metavar or action.dest}`"
    takes = "" if action.nargs == 0 else f" {metavar}".rstrip()
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings)


def _about(action: Action) -> str:
    text = action.help if action.help not in (None, SUPPRESS) else ""
    if action.choices is not None:
        text += f" ({', '.join(map(str, action.choices))})"
    return text.replace("|", "\\|")


def _example(
    name: str, command: ArgumentParser, printed: Print, warehouse: Path
) -> str:
    """The command's examples, and what one of them prints."""
    lines = (command.epilog or "").splitlines()[1:]
    text = "\n".join(line.strip() for line in lines)
    parts = [f"```sh\n{text}\n```\n"]
    if name in STAYS:
        return "\n".join([*parts, f"{STAYS[name]}\n"])
    words, more = (
        [word.replace("{folder}", str(warehouse.parent)) for word in given]
        for given in (RUNS[name], UNSEEN.get(name, []))
    )
    shown = " ".join(f'"{word}"' if " " in word else word for word in words)
    (warehouse.parent / "claude_usage.csv").write_text(_BILL)
    said = printed([*words, *more], warehouse).splitlines()
    said = said or ["# prints nothing on stdout"]
    output = "\n".join(_steady([shown, *said], warehouse))
    return "\n".join([*parts, f"```text\n$ agentlake {output}\n```\n"])


def _steady(lines: list[str], warehouse: Path) -> Iterator[str]:
    """The lines without what another run on another machine would print differently."""
    for line in lines:
        for place in (str(warehouse.parent), str(DEMO_HOME)):
            line = line.replace(place, "~")
        line = line.replace(sys.executable, "/usr/bin/python3")
        for changing, steady in _CHANGING.items():
            line = re.sub(changing, steady, line)
        yield line.rstrip()
