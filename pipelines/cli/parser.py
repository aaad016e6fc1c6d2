"""Which commands there are, with their options, their help and an example each."""

from argparse import (
    SUPPRESS,
    Action,
    ArgumentParser,
    ArgumentTypeError,
    RawDescriptionHelpFormatter,
    _MutuallyExclusiveGroup,
    _SubParsersAction,
)
from pathlib import Path
from typing import Any, TypeAlias

from agentlake import __version__
from agentlake.errors import did_you_mean

REPORTS = (
    "daily",
    "weekly",
    "monthly",
    "session",
    "model",
    "project",
    "tool",
    "windows",
    "unit",
)
_Commands: TypeAlias = "_SubParsersAction[_Parser]"


class _Parser(ArgumentParser):
    """Guesses what a mistyped word should have been, and nothing of half a word."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False, **more
        )
        self.set_defaults(refuse=self.error)

    def _check_value(self, action: Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            what = "/".join(action.option_strings) or action.dest
            guess = did_you_mean(str(value), known)
            unknown = f"unknown {what} {value}.{guess} Known: {', '.join(known)}."
            self.exit(2, f"agentlake: {unknown}\n")


def make_parser() -> ArgumentParser:
    """The whole command line; nothing of what it runs is imported.

    What it parses has `refuse`: the `error` of the command, which shows its usage.
    """
    parser = _Parser(
        prog="agentlake",
        description="Every coding agent's history, kept in one local DuckDB warehouse."
        " Agents' own files are only read, and nothing leaves this machine.",
        epilog="First steps:\n  agentlake demo          see what it looks like\n"
        "  agentlake load          load what your agents wrote\n"
        "  agentlake report daily  what was used on each day\n",
    )
    parser.add_argument(
        "--version", action="version", version=f"agentlake {__version__}"
    )
    _common(parser, default=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for add in (
        _load,
        _watch,
        _report,
        _sql,
        _export,
        _doctor,
        _rejects,
        _prices,
        _reconcile,
        _verify,
        _replay,
        _restore,
        _new_source,
        _check_source,
        _demo,
        _ui,
        _notebook,
        _service,
    ):
        add(commands)
    return parser


def _command(
    commands: _Commands, name: str, about: str, more: str, *examples: str
) -> ArgumentParser:
    """One command with the options that all have."""
    parser = commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}. {more}".strip(),
        epilog="Examples:\n" + "\n".join(f"  agentlake {text}" for text in examples),
    )
    _common(parser, default=SUPPRESS)  # else it would overrule one before the command
    return parser


def _common(parser: ArgumentParser, default: str | None) -> None:
    """The options that stand before the command or after it."""
    common = parser.add_argument_group("common options")
    for option, metavar, about in (
        ("--config", "FILE", "the settings file to read"),
        ("--home", "DIR", "look for agents in this home"),
        (
            "--warehouse",
            "FILE",
            "the warehouse (default ~/.agentlake/agentlake.duckdb)",
        ),
    ):
        common.add_argument(
            option, type=Path, metavar=metavar, help=about, default=default
        )


def _json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _limit(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=_positive, metavar="N", help="at most N rows")


def _load(commands: _Commands) -> None:
    parser = _command(
        commands,
        "load",
        "load what your agents wrote since last time",
        "Progress goes to stderr, the table of what was loaded to stdout.\n"
        "Exit code 1: a stream could not be read now and is retried by the next load.",
        "load",
        "load --source codex",
        "load --session 0199f3a2 --json",
    )
    parser.add_argument(
        "--source", action="append", metavar="NAME", help="only this source; repeatable"
    )
    parser.add_argument(
        "--path", type=Path, metavar="PATH", help="only this file, or what is below it"
    )
    parser.add_argument(
        "--session", metavar="ID", help="only files whose path or key contains this"
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit code 1 for new rejects as well"
    )
    parser.add_argument(
        "--quiet", action="store_true", help="print nothing but problems"
    )
    _json(parser)


def _watch(commands: _Commands) -> None:
    parser = _command(
        commands,
        "watch",
        "load whatever your agents write, as they write it, until Ctrl-C",
        "One line per load goes to stderr. What was written before is loaded first.\n"
        "The warehouse is open only while something is loaded.",
        "watch",
        "watch --poll",
    )
    parser.add_argument(
        "--poll",
        action="store_true",
        help="look every second instead of waiting to be told: done by itself for"
        " network mounts and for Windows' disks under WSL",
    )


def _report(commands: _Commands) -> None:
    parser = _command(
        commands,
        "report",
        "show usage and cost by day, week, month, session, model, project or tool",
        "Days are those of your time zone; --since and --until are both included and"
        "\nare dates (2026-11-30 or 20261130), `today`, `yesterday`, or `7d` and `2w`"
        "\nfor the last days with today. A week begins on Monday.",
        "report",
        "report daily --since 7d",
        "report weekly --by model --project ~/work/shop",
        "report session --limit 10 --sort cost",
        "report model --since 2026-11-01 --until 2026-11-30 --json",
    )
    parser.add_argument(
        "report", nargs="?", choices=REPORTS, default="daily", help="default daily"
    )
    parser.add_argument("--since", metavar="DAY", help="from this day on")
    parser.add_argument("--until", metavar="DAY", help="up to and with this day")
    for option, metavar, about in (
        ("--source", "NAME", "only this source; repeatable"),
        ("--model", "NAME", "only this model, or '*opus*' for a part; repeatable"),
    ):
        parser.add_argument(option, action="append", metavar=metavar, help=about)
    parser.add_argument(
        "--project",
        metavar="PATH",
        help="only sessions in this folder or below it; its last part is enough",
    )
    parser.add_argument(
        "--by",
        action="append",
        choices=("source", "model"),
        help="a row for each of them in a day, week or month; repeatable",
    )
    parser.add_argument(
        "--breakdown", action="store_true", help="the same as --by source --by model"
    )
    parser.add_argument("--sort", metavar="COLUMN", help="the order of the rows")
    parser.add_argument("--tz", metavar="ZONE", help="count days in this time zone")
    _limit(parser)
    parser.add_argument("--all", action="store_true", help="all rows of a long table")
    _formats(parser)


def _sql(commands: _Commands) -> None:
    parser = _command(
        commands,
        "sql",
        "ask the warehouse in SQL, or list its tables",
        "Nothing can be changed, and no other file can be reached from the query.\n"
        "Any other DuckDB client may open the warehouse too, best read-only.",
        "sql",
        'sql "select model, sum(cost_usd) from core.usage group by all"',
        "sql \"from spend_by_day(since := '2026-11-01')\"",
        "sql -f question.sql --csv > answer.csv",
        "sql - --parquet answer.parquet < question.sql",
    )
    parser.add_argument(
        "query", nargs="?", metavar="QUERY", help="the query; - reads it from stdin"
    )
    parser.add_argument(
        "-f", "--file", type=Path, metavar="FILE", help="read the query here"
    )
    shape = _formats(parser)
    shape.add_argument(
        "--parquet", type=Path, metavar="FILE", help="write all rows to this file"
    )
    _limit(parser)
    _timeout(parser)


def _formats(parser: ArgumentParser) -> _MutuallyExclusiveGroup:
    """How to print: as a table, CSV or JSON."""
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="how to print",
    )
    for name in ("csv", "json"):
        shape.add_argument(
            f"--{name}",
            dest="format",
            action="store_const",
            const=name,
            help=f"the same as --format {name}",
        )
    parser.add_argument(
        "--csv-safe",
        action="store_true",
        help="with --csv: an apostrophe before what a spreadsheet would run",
    )
    return shape


def _export(commands: _Commands) -> None:
    parser = _command(
        commands,
        "export",
        "write marts, other tables or a query to Parquet files",
        "Without TABLE: every mart, as FOLDER/marts.daily_usage.parquet and so on.\n"
        "A file that is there already is replaced when the new one is complete.",
        "export lake/",
        "export lake/ marts.daily_usage core.usage",
        "export dear.parquet --query 'from core.usage where cost_usd > 1'",
    )
    parser.add_argument(
        "place", type=Path, metavar="PLACE", help="a folder; for a query, the file"
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="only this table")
    parser.add_argument("--query", metavar="SQL", help="the rows of this query")
    _timeout(parser)
    _json(parser)


def _timeout(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--timeout",
        type=_positive,
        default=300,
        metavar="SECONDS",
        help="stop what takes longer (default 300)",
    )


def _prices(commands: _Commands) -> None:
    parser = _command(
        commands,
        "prices",
        "show what a model costs over time, and what another price would change",
        "Every step from its name to a price list; without options, as it was used.\n"
        "In USD per million tokens; searches per thousand.",
        "prices claude-opus-4-6",
        "prices gpt-5.5 --source codex --tier priority",
        "prices my-model --what-if input=3 output=15",
        "prices gpt-5.4 --what-if alias=gpt-5.5",
        "prices --what-if",
    )
    parser.add_argument("model", nargs="?", metavar="MODEL", help="by any name")
    for option, about in (
        ("--source", "as this agent calls it"),
        ("--provider", "as this provider serves it"),
        ("--tier", "in this service tier"),
        ("--region", "run there"),
    ):
        parser.add_argument(option, metavar=option[2:].upper(), help=about)
    parser.add_argument(
        "--what-if",
        nargs="*",
        metavar="KEY=VALUE",
        help="what history would cost at these prices; without any, at those of now",
    )
    _json(parser)


def _reconcile(commands: _Commands) -> None:
    parser = _command(
        commands,
        "reconcile",
        "set a vendor's bill against what is here, by day, model and kind",
        "A file as the vendor's console or API gives it, CSV or JSON: Anthropic's\n"
        "usage and cost reports, OpenAI's usage and costs, OpenRouter's activity,\n"
        "Cursor's usage export. Fetch it yourself: nothing leaves this machine.",
        "reconcile --bill claude_usage.csv",
        "reconcile --bill activity.json --all",
    )
    parser.add_argument(
        "--bill", type=Path, required=True, metavar="FILE", help="the report"
    )
    parser.add_argument("--all", action="store_true", help="also what is equal")
    _json(parser)


def _doctor(commands: _Commands) -> None:
    parser = _command(
        commands,
        "doctor",
        "say what was found where, how fresh it is, and what needs you",
        "Exit code 1: history is about to be lost, or could not be read.",
        "doctor",
        "doctor --json",
    )
    _json(parser)


def _rejects(commands: _Commands) -> None:
    parser = _command(
        commands,
        "rejects",
        "list records that could not be understood, newest load first",
        "Each is kept in raw, with everything else of its file loaded.",
        "rejects",
        "rejects --source codex --since 7d",
    )
    parser.add_argument("--source", metavar="NAME", help="only this source")
    parser.add_argument("--since", metavar="DAY", help="loaded on this day or later")
    _limit(parser)
    _json(parser)


def _verify(commands: _Commands) -> None:
    parser = _command(
        commands,
        "verify",
        "build all core tables again beside the warehouse, compare, and run all checks",
        "Incremental must equal full, and every check must hold; of one that does not,"
        " the query is printed that finds the rows. Exit code 1: something is wrong.",
        "verify",
        "verify --files",
    )
    parser.add_argument(
        "--files",
        action="store_true",
        help="instead read the agents' files again and compare them with what was"
        " loaded: a change that left size and time alone is loaded by the next load",
    )
    _json(parser)


def _replay(commands: _Commands) -> None:
    parser = _command(
        commands,
        "replay",
        "parse all records in the warehouse again",
        "Done by itself when a parser changes; agents' files are not needed.",
        "replay",
        "replay codex",
    )
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="only this source")
    _json(parser)


def _restore(commands: _Commands) -> None:
    parser = _command(
        commands,
        "restore",
        "go on from a backup of the warehouse, or from what was published last",
        "The file is read to its end first. The vault that is there is moved aside\n"
        "and kept; what the agents' files still hold is loaded again by the next load.",
        "restore ~/.agentlake/agentlake.duckdb",
        "restore /mnt/backup/agentlake.duckdb",
    )
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a published warehouse, or a copy of one",
    )


def _demo(commands: _Commands) -> None:
    parser = _command(
        commands,
        "demo",
        "load made-up examples into a throw-away warehouse and show them",
        "Your own warehouse is not touched.",
        "demo",
        "demo --keep demo.duckdb",
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="make the warehouse here and keep it"
    )


def _ui(commands: _Commands) -> None:
    parser = _command(
        commands,
        "ui",
        "start Dagster on this warehouse",
        "It loads by itself when agents write. Only this machine can reach it.",
        "ui",
        "ui --port 3333",
    )
    parser.add_argument(
        "--port", type=_positive, default=3000, metavar="N", help="default 3000"
    )


def _notebook(commands: _Commands) -> None:
    parser = _command(
        commands,
        "notebook",
        "show the warehouse in pictures, in your browser, until Ctrl-C",
        "It may stay open while loads go on. Only this machine can reach it.",
        "notebook",
        "notebook --port 4444",
    )
    parser.add_argument(
        "--port", type=_positive, default=2718, metavar="N", help="default 2718"
    )


def _service(commands: _Commands) -> None:
    parser = _command(
        commands,
        "service",
        "print what makes this machine start agentlake by itself",
        "A systemd user unit, on macOS a launchd property list; nothing is installed.",
        "service watch > ~/.config/systemd/user/agentlake-watch.service",
        "service ui --manager launchd",
    )
    parser.add_argument("what", choices=("watch", "ui"), help="what is to run")
    parser.add_argument(
        "--manager", choices=("systemd", "launchd"), help="default: this machine's"
    )


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        msg = "must be a number above 0"
        raise ArgumentTypeError(msg)
    return int(text)


def _new_source(commands: _Commands) -> None:
    parser = _command(
        commands,
        "new-source",
        "begin an adapter of your own for another agent",
        "Writes a module, a home to try it on and a test into the adapters folder\n"
        "beside your settings file. What is there already is never written over.",
        "new-source acme_code",
    )
    _name_and_folder(parser)


def _check_source(commands: _Commands) -> None:
    parser = _command(
        commands,
        "check-source",
        "say what an adapter still lacks",
        "Runs the promises that every adapter keeps on its homes, and counts what it\n"
        "gives. Exit code 1: a promise is broken.",
        "check-source acme_code",
        "check-source acme_code --on ~/.acme",
    )
    _name_and_folder(parser)
    parser.add_argument(
        "--on",
        type=Path,
        metavar="DIR",
        help="a folder such as `discover` is given, instead of the source's own homes",
    )


def _name_and_folder(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="its short name, like acme_code")
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="the adapters folder (default: beside the settings file)",
    )
