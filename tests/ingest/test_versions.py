"""Records that change in place: what is new, what replaces what, what is gone."""

import json
import sqlite3
from types import SimpleNamespace

import pytest
from support.warehouses import rebuilt, refreshed, same

from agentlake.adapters.sdk.contract import Keyed, Stream, Table
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.models.message import Message
from agentlake.models.usage import Usage
from agentlake.pipelines.ingest.listing import SourcePlan
from agentlake.pipelines.ingest.loader import load
from agentlake.pipelines.ingest.replay import replay
from agentlake.pipelines.warehouse.connect import transaction

pytestmark = pytest.mark.slow

ROWS = """
    create table if not exists said (
        id text primary key, chat text, at integer, text text, tokens integer, more text
    )"""


def explode(stream, data):
    try:
        document = json.loads(data)
    except ValueError as error:
        raise Unreadable(str(error)) from error
    for at, item in enumerate(document):
        yield Keyed(f"said/{item['id']}", json.dumps(item).encode(), at)


def parse(record):
    row = json.loads(record.data)
    yield Message(
        session_id=row["chat"], message_id=row["id"], role="user", kind="prompt"
    )
    if row.get("tokens") is not None:
        kind = row.get("more") or "call"
        yield Usage(
            session_id=row["chat"],
            usage_key=row["id"] if kind == "snapshot" else None,
            message_id=row["id"],
            kind=kind,
            granularity="call" if kind == "call" else "session",
            output_tokens=row["tokens"],
        )


def adapter(reader, **table):
    def discover(root, options):
        yield Stream(path=f"{root}/store", key="store", reader=reader)

    shape = Table(name="said", key=("id",), order="at", **table)
    return SimpleNamespace(
        SOURCE="codex",
        ROOTS=("anywhere",),
        PARSER_VERSION=1,
        discover=discover,
        parse=parse,
        explode=explode,
        tables=lambda stream: [shape],
    )


class Store:
    """A toy agent's history in one file, whichever way it is kept."""

    def __init__(self, lake, home, adapter):
        self.lake, self.adapter = lake, adapter
        self.path = home / "store"
        self.plans = [SourcePlan(adapter=adapter, roots=[home])]

    def write(self, *rows):
        """Replace all that the store holds; a row is id, chat, text, tokens, kind."""
        names = ("id", "chat", "text", "tokens", "more")
        items = [
            dict(zip(names, row, strict=False)) | {"at": at}
            for at, row in enumerate(rows)
        ]
        if "tables" not in self.reader:
            self.path.write_text(json.dumps(items))
            return
        with sqlite3.connect(self.path) as database:
            database.execute("pragma journal_mode = wal")
            database.execute(ROWS)
            ids = [item["id"] for item in items]
            marks = ",".join("?" * len(ids))
            database.execute(f"delete from said where id not in ({marks})", ids)
            for item in items:
                database.execute(
                    """
                    insert into said values (:id, :chat, :at, :text, :tokens, :more)
                    on conflict (id) do update set
                    at = :at, text = :text, tokens = :tokens, more = :more
                    """,
                    dict.fromkeys(names) | item,
                )
        database.close()

    @property
    def reader(self):
        kind = next(iter(self.adapter.discover(str(self.path.parent), {}))).reader
        return "tables" if kind == "sqlite" else kind

    def load(self):
        return load(self.lake.connection, self.plans, refresh=refreshed)

    def usage(self):
        return self.lake.rows(
            "select message_id, output_tokens from core.usage order by all"
        )


KINDS = {
    "document": {"reader": "json_document"},
    "table": {"reader": "sqlite"},
    "groups": {"reader": "sqlite", "key": ("chat", "id"), "group": "chat"},
}


@pytest.fixture(params=KINDS)
def store(request, lake):
    settings = dict(KINDS[request.param])
    made = adapter(settings.pop("reader"))
    if settings:
        shape = Table(name="said", order="at", **settings)
        made.tables = lambda stream: [shape]
    return Store(lake, lake.home, made)


def test_only_what_changed_is_written_again(store):
    store.write(("a", "s", "one", 5), ("b", "s", "two", 7))
    assert store.load().total("records") == 2
    assert store.load().total("records") == 0
    store.write(("a", "s", "one", 5), ("b", "s", "two, longer", 9), ("c", "s", "3", 1))
    assert store.load().total("records") == 2
    assert store.usage() == [("a", 5), ("b", 9), ("c", 1)]


def test_a_newer_version_counts_even_if_it_is_smaller(store):
    store.write(("a", "s", "one", 50))
    store.load()
    store.write(("a", "s", "one", 20))
    store.load()
    assert store.usage() == [("a", 20)]


def test_usage_outlives_a_version_that_shows_none(store):
    store.write(("a", "s", "one", 5))
    store.load()
    store.write(("a", "s", "one, cleared", None))
    store.load()
    assert store.usage() == [("a", 5)]
    store.write(("a", "s", "one, again", 6))
    store.load()
    assert store.usage() == [("a", 6)]


def test_what_is_deleted_is_marked_and_its_usage_stays(store):
    gone = "select message_id, is_gone from core.messages order by all"
    store.write(("a", "s", "one", 5), ("b", "t", "two", 7))
    store.load()
    store.write(("b", "t", "two", 7))
    store.load()
    assert store.lake.rows(gone) == [("a", True), ("b", False)]
    assert store.usage() == [("a", 5), ("b", 7)]
    assert store.load().total("records") == 0
    store.write(("a", "s", "one", 5), ("b", "t", "two", 7))
    store.load()
    assert store.lake.rows(gone) == [("a", False), ("b", False)]


def test_a_total_is_one_row_and_never_lowered(store):
    for tokens in (10, 25, 20, 40):
        store.write(("a", "s", f"so far {tokens}", tokens, "snapshot"))
        store.load()
    assert store.usage() == [("a", 40)]
    steps = "select step, output_tokens from core.usage_steps order by step"
    assert store.lake.rows(steps) == [(1, 10), (2, 15), (4, 15)]
    rules = "select rule, count(*) from core.usage_copies group by all"
    assert store.lake.rows(rules) == [("earlier_total", 3)]
    assert store.lake.one("select sum(output_tokens) from marts.daily_usage") == 40
    assert store.lake.one("select sum(calls) from marts.daily_usage") == 0


def test_a_replay_and_a_rebuild_give_what_the_loads_gave(store):
    store.write(
        ("a", "s", "one", 5), ("b", "s", "two", 7), ("t", "s", "", 1, "snapshot")
    )
    store.load()
    store.write(("a", "s", "one!", None), ("t", "s", "", 3, "snapshot"))
    store.load()
    store.write(
        ("a", "s", "one!!", 4), ("b", "s", "back", 8), ("t", "s", "", 2, "snapshot")
    )
    store.load()
    store.write(("t", "s", "", 9, "snapshot"))
    report = store.load()
    before = store.lake.all("core", "staging", without=("load_id",))
    with transaction(store.lake.connection):
        replay(store.lake.connection, store.adapter, report.next_id)
    rebuilt(store.lake.connection)
    same(before, store.lake.all("core", "staging", without=("load_id",)))


def test_a_half_written_document_leaves_all_as_it_was(lake):
    store = Store(lake, lake.home, adapter("json_document"))
    store.write(("a", "s", "one", 5))
    store.load()
    whole = store.path.read_bytes()
    for cut in (0, 1, len(whole) // 2, len(whole) - 1):
        store.path.write_bytes(whole[:cut])
        deferred = [path for path, _ in store.load().sources["codex"].deferred]
        # An empty document is being made: there is nothing to wait for, or to forget.
        assert deferred == [str(store.path)] * (cut > 0)
        assert store.usage() == [("a", 5)]
    store.write(("a", "s", "one", 5), ("b", "s", "two", 6))
    assert store.load().complete
    assert store.usage() == [("a", 5), ("b", 6)]


def test_rows_above_the_highest_one_are_found_and_a_number_used_again_is_noticed(lake):
    made = adapter("sqlite")
    shape = Table(name="said", key=("id",), above="rowid")
    made.tables = lambda stream: [shape]
    store = Store(lake, lake.home, made)
    store.write(("a", "s", "one", 5), ("b", "s", "two", 7))
    store.load()
    store.write(("a", "s", "one", 5), ("b", "s", "two", 7), ("c", "s", "three", 1))
    assert store.load().total("records") == 1
    with sqlite3.connect(store.path) as database:
        database.execute("delete from said where id in ('b', 'c')")
        database.execute(
            "insert into said (id, chat, tokens) values ('d', 's', 2), ('e', 's', 3)"
        )
    database.close()
    store.load()
    assert store.usage() == [("a", 5), ("b", 7), ("c", 1), ("d", 2), ("e", 3)]
    with sqlite3.connect(store.path) as database:
        database.execute("replace into said (id, chat, tokens) values ('a', 's', 50)")
    database.close()
    assert store.load().total("records") == 1
    assert ("a", 50) in store.usage()


def test_own_readers_get_their_cursor_and_their_settings_back(lake):
    seen = []

    def read(stream, cursor, options):
        from agentlake.adapters.sdk.contract import Chunk

        seen.append((cursor, options["token"]))
        page = (cursor or {"page": 0})["page"] + 1
        item = {"id": f"m{page}", "chat": "s", "tokens": page}
        yield Chunk(
            records=[Keyed(item["id"], json.dumps(item).encode())],
            cursor={"page": page},
        )

    made = adapter("own")
    made.ROOTS = ()
    made.read = read
    made.discover = lambda root, options: [
        Stream(path=options["url"], key="api", reader="own")
    ]
    plan = SourcePlan(
        adapter=made, roots=[], options={"url": "https://acme.test", "token": "t"}
    )
    for _ in range(3):
        load(lake.connection, [plan], refresh=refreshed)
    assert seen == [(None, "t"), ({"page": 1}, "t"), ({"page": 2}, "t")]
    found = "select message_id, output_tokens from core.usage order by all"
    assert lake.rows(found) == [("m1", 1), ("m2", 2), ("m3", 3)]
