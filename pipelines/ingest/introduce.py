"""What adapters say of themselves goes into the warehouse, for reports to show."""

from collections.abc import Iterable

import msgspec

from agentlake.adapters.registry import introduced_built_in
from agentlake.adapters.sdk.contract import Adapter
from agentlake.adapters.sdk.introduced import Introduced, introduced
from agentlake.pipelines.warehouse.connect import Connection, transaction


def introduce(connection: Connection, adapters: Iterable[Adapter]) -> None:
    """Bring `meta.sources` up to date; what is not asked for stays as it is."""
    built_in = introduced_built_in()
    said = {
        adapter.SOURCE: built_in.get(adapter.SOURCE) or introduced(adapter)
        for adapter in adapters
    }
    rows = connection.execute("from meta.sources").fetchall()
    known = {
        source: Introduced(
            name, icon, tuple(stores), None if gives is None else tuple(gives)
        )
        for source, name, icon, stores, gives in rows
    }
    news = {source: one for source, one in said.items() if known.get(source) != one}
    if not news:
        return
    with transaction(connection):
        connection.execute(
            "delete from meta.sources where source in (select unnest($sources))",
            {"sources": list(news)},
        )
        connection.executemany(
            "insert into meta.sources values ($1, $2, $3, $4, $5)",
            [[source, *msgspec.structs.astuple(one)] for source, one in news.items()],
        )
