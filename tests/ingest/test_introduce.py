"""What adapters say of themselves stands in the warehouse, and follows them."""

from types import SimpleNamespace

from agentlake.adapters.registry import BUILT_IN
from agentlake.pipelines.ingest.introduce import introduce

SAID = "select display_name, icon, stores, gives from core.sources where source = $1"


def test_every_source_is_introduced_whether_or_not_it_is_there(lake):
    lake.load()
    assert lake.rows("select count(*) from core.sources") == [(len(BUILT_IN),)]
    ((name, icon, stores, gives),) = lake.connection.execute(SAID, ["pi"]).fetchall()
    assert (name, icon, stores) == ("Pi", "π", ["lines"])
    assert {"messages", "tool calls", "tokens per call"} <= set(gives)


def test_what_is_said_anew_replaces_what_was_said(lake):
    lake.load()
    for name in ("Acme", "Acme Code"):
        acme = SimpleNamespace(SOURCE="acme", NAME=name, STORES=("lines",))
        introduce(lake.connection, [acme])
        found = lake.connection.execute(SAID, ["acme"]).fetchall()
        assert found == [(name, "A", ["lines"], None)]
    assert lake.rows("select count(*) from core.sources") == [(len(BUILT_IN) + 1,)]
