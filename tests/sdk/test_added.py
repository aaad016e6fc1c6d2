"""Sources that users add: files, packages, broken ones, and the two commands."""

import os
import subprocess
import sys

import pytest
from support.warehouses import like

from agentlake.adapters import registry
from agentlake.adapters.sdk import ready
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.models.message import Message
from agentlake.models.usage import Usage
from agentlake.pipelines.cli import main


@pytest.fixture
def home(tmp_path, empty_warehouse):
    """A home without any agent; what a test adds is forgotten afterwards."""
    home = tmp_path / "me"
    (home / ".agentlake").mkdir(parents=True)
    like(empty_warehouse, home / ".agentlake/agentlake.duckdb")
    yield home
    registry._folders.clear()
    registry._added.cache_clear()


@pytest.fixture
def run(home, capsys):
    def run_(*words):
        registry._added.cache_clear()  # each command is a process of its own
        environ = {"HOME": str(home), "AGENTLAKE_CONFIG": str(home / "it/config.toml")}
        (home / "it").mkdir(exist_ok=True)
        (home / "it/config.toml").touch()
        capsys.readouterr()
        code = main(words, environ)
        return code, *capsys.readouterr()

    return run_


def added(home):
    return home / "it/adapters/acme_code.py"


def begin(run, home):
    code, out, _ = run("new-source", "acme_code")
    assert code == 0
    return out


def give_history(home):
    first = home / "it/adapters/homes/acme_code/first/sessions"
    there = home / ".acme_code/sessions"
    there.mkdir(parents=True)
    for file in first.iterdir():
        (there / file.name).write_bytes(file.read_bytes())


def test_what_new_source_writes_is_whole(run, home):
    out = begin(run, home)
    assert str(added(home)) in out
    for path in (home / "it/adapters").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    code, out, _ = run("check-source", "acme_code")
    assert code == 0
    assert "gives: 2 Message, 2 Block, 1 Usage" in out
    assert "All promises are kept." in out


@pytest.mark.slow
def test_the_test_that_new_source_writes_passes(run, home):
    begin(run, home)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=home / "it/adapters",
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stdout
    assert "13 passed" in done.stdout


def test_an_added_source_is_loaded_reported_and_examined_like_any(run, home):
    begin(run, home)
    give_history(home)
    code, out, _ = run("load")
    assert code == 0
    assert "acme_code" in out
    code, out, _ = run("report", "model", "--json")
    assert '"acme_code"' in out
    code, out, _ = run("doctor")
    assert "acme_code" in out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("1 / 0", "line 1: ZeroDivisionError"),
        ("def (", "line 1: invalid syntax"),
        ("import nothing_like_it", "No module named"),
        ("from agentlake.nowhere import x", "No module named"),
    ],
)
def test_a_broken_one_names_itself_and_its_line_and_stops_nothing(
    run, home, line, says
):
    begin(run, home)
    good = added(home).with_name("good_code.py")
    good.write_text(added(home).read_text().replace('"acme_code"', '"good_code"'))
    give_history(home)
    added(home).write_text(line)
    code, out, err = run("load")
    assert code == 1
    assert says in err
    assert str(added(home)) in err
    assert "good_code" in out
    code, out, _ = run("doctor")
    assert code == 1
    assert says in out


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('SOURCE = "acme_code"', 'SOURCE = "Acme Code"', "SOURCE must be"),
        ('ICON = "A"', "ICON = 5", "ICON must be a text"),
        ('STORES = ("lines",)', 'STORES = ("lines")', "STORES must be a tuple"),
        ('SOURCE = "acme_code"', 'SOURCE = "codex"', "a source codex already"),
        ("PARSER_VERSION = 1", 'PARSER_VERSION = "1"', "PARSER_VERSION must be"),
        ("def parse(record", "def parsed(record", "parse(record) is missing"),
        ("def discover(root: str, options", "def discover(options", "discover must"),
        ('ROOTS = (Root(default=("~/.acme_code",)),)', 'ROOTS = ("~",)', "ROOTS must"),
        ('("~/.acme_code",)', '("~/.acme_code")', "must be a tuple"),
        ('SOURCE = "acme_code"', "import sys; sys.exit(3)", "SystemExit: 3"),
    ],
)
def test_what_is_no_adapter_is_told_what_it_lacks(run, home, old, new, says):
    begin(run, home)
    text = added(home).read_text()
    assert old in text
    added(home).write_text(text.replace(old, new))
    code, _, err = run("load")
    assert code == 1
    assert says in err


@pytest.mark.parametrize(
    "old", ["    for path in files_below", "    line, rejects = LINE"]
)
def test_one_that_breaks_while_it_works_costs_itself_only(run, home, old):
    begin(run, home)
    give_history(home)
    text = added(home).read_text()
    broken = "    1 / 0\n" + old
    added(home).write_text(text.replace(old, broken))
    number = text[: text.index(old)].count("\n") + 1
    code, out, err = run("load")
    if "files_below" in old:
        assert code == 1
        assert f"line {number}: ZeroDivisionError" in err
    else:
        assert code == 0
        code, out, _ = run("rejects", "--json")
        assert f"line {number}: ZeroDivisionError" in out


@pytest.mark.parametrize(
    ("reader", "says"),
    [
        ("json_document", "needs explode()"),
        ("own", "needs read()"),
        (
            "json_documents",
            "unknown reader json_documents. Did you mean json_document?",
        ),
    ],
)
def test_a_reader_that_its_adapter_does_not_serve_stops_nothing(
    run, home, reader, says
):
    begin(run, home)
    good = added(home).with_name("good_code.py")
    good.write_text(added(home).read_text().replace('"acme_code"', '"good_code"'))
    give_history(home)
    text = added(home).read_text()
    key = 'key=name.removesuffix(".jsonl")'
    added(home).write_text(text.replace(key, f'{key}, reader="{reader}"'))
    code, out, err = run("load")
    assert code == 1
    assert says in err
    assert "good_code 1 1 2 5 0" in " ".join(out.split())


def test_what_a_kind_of_fact_does_not_allow_is_a_reject(run, home):
    begin(run, home)
    give_history(home)
    text = added(home).read_text()
    added(home).write_text(text.replace("max(0, prompt - cached)", "-5"))
    assert run("load")[0] == 0
    _, out, _ = run("rejects", "--json")
    assert "Usage left out: Expected `int` >= 0" in out


@pytest.mark.slow
def test_another_explode_is_tried_on_files_that_were_read(run, home):
    begin(run, home)
    give_history(home)
    text = added(home).read_text()
    key = 'key=name.removesuffix(".jsonl")'
    text = text.replace(key, f'{key}, reader="json_document"')
    explode = """

def explode(stream, data):
    from agentlake.adapters.sdk.contract import Keyed

    for number, line in enumerate(data.splitlines()[:{}]):
        yield Keyed(str(number), line)
"""
    added(home).write_text(text + explode.format(1))
    _, out, _ = run("load")
    assert "acme_code 1 1 1 " in " ".join(out.split())
    text = text.replace("PARSER_VERSION = 1", "PARSER_VERSION = 2")
    added(home).write_text(text + explode.format(2))
    _, out, _ = run("load")
    assert "acme_code 1 1 1 " in " ".join(out.split())
    assert '"calls":1' in run("report", "daily", "--json")[1].replace(" ", "")


def test_a_package_announces_its_adapter(run, home, monkeypatch):
    begin(run, home)
    site = home / "site"
    (site / "acme_agentlake-1.0.dist-info").mkdir(parents=True)
    (site / "acme_agentlake.py").write_bytes(added(home).read_bytes())
    (site / "acme_agentlake-1.0.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme-agentlake\nVersion: 1.0\n"
    )
    (site / "acme_agentlake-1.0.dist-info/entry_points.txt").write_text(
        "[agentlake.adapters]\nacme_code = acme_agentlake\n"
    )
    monkeypatch.syspath_prepend(str(site))
    added(home).unlink()
    give_history(home)
    code, out, _ = run("load")
    assert code == 0
    assert "acme_code" in out


def test_new_source_never_writes_over_anything(run, home):
    begin(run, home)
    added(home).write_text("mine")
    code, _, err = run("new-source", "acme_code")
    assert code == 2
    assert "Nothing was written" in err
    assert added(home).read_text() == "mine"
    for name in ("Acme", "a b", "", "codex"):
        code, _, err = run("new-source", name)
        assert code == 2


def test_check_source_names_a_broken_promise(run, home):
    begin(run, home)
    text = added(home).read_text()
    added(home).write_text(text.replace('key=name.removesuffix(".jsonl")', 'key="s"'))
    home_of = home / "it/adapters/homes/acme_code/first/sessions"
    (home_of / "s2.jsonl").write_bytes((home_of / "s1.jsonl").read_bytes())
    code, out, _ = run("check-source", "acme_code")
    assert code == 1
    assert "key given twice: ['s']" in out


def test_check_source_is_not_content_with_nothing(run, home):
    begin(run, home)
    empty = home / "empty"
    empty.mkdir()
    code, out, _ = run("check-source", "acme_code", "--on", str(empty))
    assert code == 1
    assert "discover finds no stream; there are no files" in out
    code, _, err = run("check-source", "acme_code", "--on", str(home / "none"))
    assert code == 2
    assert "there is no such folder" in err


def test_a_source_without_a_folder_is_checked_with_its_options(run, home):
    begin(run, home)
    table = home / "calls.csv"
    table.write_text("id,tokens\nc1,5\nc2,7\n")
    added(home).write_text(OWN)
    run("doctor")
    (home / "it/config.toml").write_text(
        f'[sources.acme_code.options]\nfile = "{table}"\n'
    )
    environ = {"HOME": str(home), "AGENTLAKE_CONFIG": str(home / "it/config.toml")}
    registry._added.cache_clear()
    assert main(["check-source", "acme_code"], environ) == 0
    registry._added.cache_clear()
    assert main(["load"], environ) == 0


OWN = '''
"""Acme's bill. Where: a file. Seen: 1. Trap: none. Missing: all else."""

import csv

from agentlake.adapters.sdk import ready
from agentlake.adapters.sdk.contract import Chunk, Keyed, Stream
from agentlake.models.usage import Usage

SOURCE = "acme_code"
ROOTS = ()
PARSER_VERSION = 1


def discover(root, options):
    yield Stream(path=options["file"], key="bill", reader="own")


def read(stream, cursor, options):
    with open(stream.path) as file:
        rows = list(csv.DictReader(file))[cursor or 0:]
    records = [
        Keyed(row["id"], ready.pack([Usage(
            session_id="bill", usage_key=row["id"], output_tokens=int(row["tokens"])
        )]))
        for row in rows
    ]
    yield Chunk(records=records, cursor=(cursor or 0) + len(rows))


parse = ready.unpack
'''


def test_ready_made_facts_are_kept_as_records():
    facts = [
        Message(session_id="s", message_id="m", role="user", kind="prompt"),
        Usage(session_id="s", message_id="m", output_tokens=3, reported_cost_usd=0.5),
    ]
    record = Record(Stream(path="x", key="x"), 0, 0, "k", ready.pack(facts))
    assert list(ready.unpack(record)) == facts
    odd = b'[{"kind_of_fact": "Nothing"}, {"kind_of_fact": "Usage"}]'
    rejects = list(ready.unpack(Record(Stream(path="x", key="x"), 0, 0, "k", odd)))
    assert [one.reason for one in rejects] == [
        "no kind of fact is called Nothing",
        "Usage: Object missing required field `session_id`",
    ]
