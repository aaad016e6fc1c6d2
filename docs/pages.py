"""The pages that are made from the code: sources, tables, queries, commands.

    make pages        writes them; a test fails while one of them is not current

Nothing is said here that the code does not say: a source's page is the docstring of
its adapter, a table's the header of its SQL, a column's the dictionary, and what stands
below a query is what `agentlake sql` prints of the demo.
"""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import duckdb

from agentlake.adapters.registry import BUILT_IN, adapters
from agentlake.fixtures.given import GIVEN, given
from agentlake.models.table import FACTS
from agentlake.pipelines.cli import main
from agentlake.pipelines.transform.columns import (
    Column,
    bound,
    fact_columns,
    meta_columns,
    model_columns,
    raw_columns,
)
from agentlake.pipelines.transform.sql_models import models
from agentlake.pipelines.warehouse.schema import META_TABLES

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))  # commands.py stands beside it, in no package
from commands import commands as command_line  # noqa: E402

_FIELDS = ("Where", "Seen", "Trap", "Missing")
_HEADER = re.compile(r"\A/\*\n(?P<title>.*?)\n(?:\n(?P<text>.*?)\n)?\*/\n", re.DOTALL)
_MADE = "<!-- Made by docs/pages.py; `make pages` writes it again. -->\n"


def write() -> None:
    """Write every page that is made, beside this file."""
    for name, text in pages():
        (DOCS / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}", file=sys.stderr)


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of each page that is made."""
    yield "sources.md", sources()
    yield "tables.md", tables()
    yield "queries.md", queries()
    yield "commands.md", commands()
    yield "../README.md", readme()


# -- sources


def sources() -> str:
    """One section per built-in adapter: its docstring, field by field."""
    adapters()  # imports them
    parts = [
        f"{_MADE}# Sources\n\nWhat each adapter reads and cannot know; the words are"
        " those of its own docstring. A source that is not on your disk is a line in"
        " the table of `agentlake load`, and no error. [Add one](contributing.md).\n",
        source_table(""),
        "\n## What each gives\n\nA ✓ is a fact that the adapter made of a record of its"
        " golden cases. Tokens in brackets are totals of a session or a turn."
        " What is counted in another unit is in `marts.other_usage`.\n",
        given_table(),
    ]
    for name in BUILT_IN:
        title, fields = described(name, sys.modules[BUILT_IN[name]])
        parts.append(f"\n## {name}\n\n{_prose(title)}\n")
        parts += [f"**{field}.** {_prose(text)}\n" for field, text in fields.items()]
    return "\n".join(parts)


def source_table(page: str) -> str:
    """A line per built-in adapter, which leads to its section on a page."""
    rows = ["| source | what it is | moved by |", "|---|---|---|"]
    for name in BUILT_IN:
        adapter = adapters()[name]
        variables = [f"`{root.env}`" for root in adapter.ROOTS if root.env]
        title, _ = described(name, sys.modules[BUILT_IN[name]])
        about = (
            f"[`{name}`]({page}#{name})",
            _cell(title),
            ", ".join(variables) or "-",
        )
        rows.append(f"| {' | '.join(about)} |")
    return "\n".join(rows)


def given_table() -> str:
    """A line per built-in adapter with what its golden cases show that it gives."""
    names = [*GIVEN, "tokens", "other units"]
    rows = [f"| source | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for name in BUILT_IN:
        shown = given(name)
        cells = ["✓" if one in shown else "" for one in GIVEN]
        tokens = [it.split()[-1] for it in shown if it.startswith("tokens per ")]
        each = "per call" if "call" in tokens else f"({', '.join(sorted(tokens))})"
        units = [it for it in shown if it not in GIVEN and " per " not in it]
        cells += [each if tokens else "", ", ".join(units)]
        rows.append(f"| [`{name}`](#{name}) | {' | '.join(cells)} |")
    return "\n".join(rows)


def readme() -> str:
    """The README, with its table of sources made again."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    head, begin, rest = text.partition("<!-- sources: made by `make pages` -->\n")
    _, end, tail = rest.partition("\n<!-- end of sources -->")
    return f"{head}{begin}{source_table('docs/sources.md')}{end}{tail}"


def described(name: str, module: ModuleType) -> tuple[str, dict[str, str]]:
    """The first line of an adapter's docstring, and its fields.

    Raises ValueError for an adapter that does not say where its files are, what was
    seen of them, or what they do not hold.
    """
    title, _, rest = (module.__doc__ or "").partition("\n")
    fields: dict[str, str] = {}
    current = None
    for line in rest.splitlines():
        field, colon, text = line.partition(":")
        if colon and field in _FIELDS:
            current, line = field, text
        if current and (line := line.strip()):
            fields[current] = f"{fields.get(current, '')} {line}".strip()
    missing = [field for field in ("Where", "Seen", "Missing") if field not in fields]
    if missing:
        msg = f"{name}: its docstring has no {', '.join(missing)} (see CONTRIBUTING.md)"
        raise ValueError(msg)
    return title, fields


# -- tables


def tables() -> str:
    """One section per table: what a row is, why, and its columns."""
    parts = [
        f"{_MADE}# Tables\n\nMade from the headers in `sql/`, the types that DuckDB"
        " gives and the dictionary of columns in `models/dictionary`; the same words"
        " are the comments in the warehouse. Ask `marts` first: they are questions,"
        " answered. `core` has one row per thing that happened, `staging` every"
        " occurrence on disk, `raw` the records as they were found, `meta` what the"
        " loader remembers. Tables whose name begins with `_` are steps on the way and"
        " are left out. How each number is made: [numbers](numbers.md).\n"
    ]
    with duckdb.connect() as connection:
        types = bound(connection)
        shown = {name: model for name, model in models().items() if "._" not in name}
        for layer in ("marts", "core"):
            parts.append(f"## {layer}\n")
            for name in sorted(one for one in shown if one.startswith(layer)):
                model = shown[name]
                columns = model_columns(model, types, set(model.grain), connection)
                grain = ", ".join(f"`{column}`" for column in model.grain)
                about = f"{model.description}\n\nUnique by {grain}."
                parts += _table(name, f"{about} {model.why}", columns)
    parts.append("## staging\n")
    for fact in sorted(FACTS, key=lambda fact: fact.TABLE):
        about = (fact.__doc__ or "").strip().partition("\n")[0]
        parts += _table(f"staging.{fact.TABLE}", about, fact_columns(fact, types))
    parts.append("## raw\n")
    about = "One row per record of a source, exactly as it was found."
    parts += _table("raw.<source>", about, raw_columns(types))
    parts.append("## meta\n")
    for name, (about, _) in sorted(META_TABLES.items()):
        parts += _table(name, about, meta_columns(name, types))
    return "\n".join(parts)


def _table(name: str, about: str, columns: list[Column]) -> list[str]:
    rows = ["| column | type | unit or zone | what it is |", "|---|---|---|---|"]
    for one in columns:
        entry, origin = one.entry, f" {one.origin}." if one.origin else ""
        measure = (entry and (entry.unit or entry.zone)) or ""
        meaning = _cell((entry.meaning if entry else "") + origin)
        rows.append(f"| `{one.name}` | {one.type} | {measure} | {meaning} |")
    return [f"### {_prose(name)}\n", f"{_prose(about)}\n", *rows, ""]


# -- queries


def queries() -> str:
    """Each file of docs/queries with what it prints of the demo."""
    parts = [
        f"{_MADE}# Twenty queries worth running\n\nEach is a file in `docs/queries`,"
        " run on the demo, with its output. Try one on your own history:\n\n"
        "```\nagentlake sql -f docs/queries/03_dearest_sessions.sql\n```\n"
    ]
    with TemporaryDirectory() as folder:
        warehouse = demo(Path(folder))
        for file in sorted((DOCS / "queries").glob("*.sql")):
            found = _HEADER.match(file.read_text(encoding="utf-8"))
            if found is None:
                msg = f"{file}: does not begin with a comment that names it"
                raise ValueError(msg)
            query = file.read_text(encoding="utf-8")[found.end() :].strip()
            parts += [f"## {found['title']}\n"]
            parts += [f"{found['text']}\n"] if found["text"] else []
            parts += [f"```sql\n{query}\n```\n"]
            output = printed(["sql", "-f", str(file)], warehouse)
            parts += [f"```text\n{output}\n```\n"]
    return "\n".join(parts)


def demo(folder: Path) -> Path:
    """A warehouse with the demo in it, days in UTC."""
    (folder / "config.toml").write_text('time_zone = "UTC"\n')
    warehouse = folder / "demo.duckdb"
    printed(["demo", "--keep", str(warehouse)], warehouse)
    return warehouse


def printed(words: list[str], warehouse: Path) -> str:
    """What a command prints on stdout. Raises ValueError when it fails."""
    out, err = io.StringIO(), io.StringIO()
    environ = {
        "HOME": str(warehouse.parent),
        "AGENTLAKE_CONFIG": str(warehouse.parent / "config.toml"),
        "AGENTLAKE_WAREHOUSE": str(warehouse),
    }
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words, environ)
    if code:
        msg = f"agentlake {' '.join(words)}: {err.getvalue()}"
        raise ValueError(msg)
    return out.getvalue().rstrip()


# -- commands


def commands() -> str:
    """Every command with its options, its exit codes and an example."""
    with TemporaryDirectory() as folder:
        warehouse = demo(Path(folder))
        return f"{_MADE}{command_line(printed, warehouse)}"


# -- text


def _prose(text: str) -> str:
    """Text of a docstring as Markdown: <names>, *stars* and __lines__ are no markup."""
    return re.sub(r"([<>*_|\[\]])", r"\\\1", text) if "`" not in text else _around(text)


def _around(text: str) -> str:
    """The same outside of `code`."""
    parts = re.split(r"(``[^`]+``|`[^`]+`)", text)
    return "".join(
        part if place % 2 else re.sub(r"([<>*_|\[\]`])", r"\\\1", part)
        for place, part in enumerate(parts)
    )


def _cell(text: str) -> str:
    return _prose(" ".join(text.split()))


if __name__ == "__main__":
    write()
