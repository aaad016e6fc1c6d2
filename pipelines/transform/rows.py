"""Put a model's rows into its table: those that are new or other, and no others.

One more turn of a long session changes a few of its rows. The others stay where they
are in the file, so that little of it is written, and copied for readers.
"""

from agentlake.pipelines.transform.narrow import NAME, Narrow
from agentlake.pipelines.transform.sql_models import Model
from agentlake.pipelines.warehouse.connect import Connection

_MADE = f"{NAME}.main.made"
_NEW = f"{NAME}.main.new"
_OLD = f"{NAME}.main.old"


class Change:
    """What a model's table lacks, and holds no longer, of the narrowed sessions.

    It is worked out when this is made, before the transaction that applies it.
    """

    def __init__(
        self, connection: Connection, narrow: Narrow, model: Model, target: str
    ) -> None:
        self._connection = connection
        self._target = target
        self._key = model.key
        self._is_sorted = not narrow.is_few()
        self._new = f"from {_NEW}"
        self.rows = 0
        """Rows to be inserted; without texts, where these are fetched last."""
        stored = f"select *, rowid as id from {target} where "
        stored += narrow.condition(model.key)
        if not narrow.may_have_rows(model):
            self.replaced = self._put(_OLD, f"select id from ({stored})")
            return
        narrow.make_inputs(model)
        with narrow.names():
            self._put(_MADE, f"from {model.base}" if model.base else model.query)
        same = " and ".join(
            f'old."{name}" is not distinct from new."{name}"'
            for name in self._names(_MADE) & self._names(target)
        )
        self.replaced = self._put(
            _OLD, f"select id from ({stored}) as old anti join {_MADE} as new on {same}"
        )
        """Rows to be deleted."""
        self.rows = self._put(
            _NEW, f"from {_MADE} as new anti join ({stored}) as old on {same}"
        )
        if model.base:
            narrow.stand_in(model.base, self._new)
            self._new = model.query

    def apply(self, lake: str, load_id: int) -> None:
        """Delete and insert, inside the caller's transaction and the narrowed names.

        Many rows lie by session, and for each session it is written down that this load
        made rows of it: so few parts of the table are read when it is touched again.
        """
        if self.replaced:
            self._connection.execute(
                f"delete from {self._target} where rowid in (from {_OLD})"
            )
        if not self.rows:
            return
        source, session = self._key
        order = f"order by {source}, {session}" if self._is_sorted else ""
        self._connection.execute(
            f"insert into {self._target} by name"
            f" select *, {load_id} as load_id from ({self._new}) {order}"
        )
        note_load(self._connection, lake, _NEW, self._key, load_id)

    def _names(self, table: str) -> set[str]:
        described = self._connection.execute(f"describe {table}").fetchall()
        return {name for name, *_ in described}

    def _put(self, table: str, query: str) -> int:
        found = self._connection.execute(f"create or replace table {table} as {query}")
        return int(found.fetchall()[0][0])


def note_load(
    connection: Connection, lake: str, rows: str, key: tuple[str, ...], load_id: int
) -> None:
    """Write down after which load these rows of their sessions were made."""
    loads = f'"{lake}".meta.session_loads'
    connection.execute(
        f"""
        insert into {loads}
        select distinct {key[0]}, {key[1]}, {load_id} from {rows}
        except
        select source, session_id, load_id from {loads} where load_id = {load_id}
        """
    )
