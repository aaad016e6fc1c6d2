"""Read the rows of a database that are new or changed since the last reading.

A signature says whether to look; this says at which rows. Per table, by what its
owner does with it (`Table`): rows above the highest one seen; or the groups whose
digest over (key, version) changed, read again as a whole; or all of it. To read a
row again is harmless, as it is compared with what is known of it; not to is a loss.
"""

import base64
import math
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec
import xxhash

from agentlake.adapters.sdk.contract import Chunk, Keyed, Table
from agentlake.adapters.sdk.readers import live
from agentlake.adapters.sdk.readers.sound import sound

_PAGE_BYTES = 8 << 20
_ROWS_AT_ONCE = 64
_EPOCH_MS = 1_577_836_800_000
"""2020: places made of times count from here, to fit beside the generation."""
_SECONDS, _MILLISECONDS = 1e9, 1e12  # above: seconds since 1970, milliseconds

_encoder = msgspec.json.Encoder(enc_hook=str)


class Cursor(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How far each table was read: the highest row, or a digest for each group."""

    above: dict[str, tuple[int, str]] = {}
    """Per table its highest row, and which one that was."""
    digests: dict[str, dict[str, str]] = {}


class _Todo(msgspec.Struct, frozen=True):
    """One thing to be read: rows above a number, or one group, or a whole table."""

    table: Table
    columns: tuple[str, ...]
    above: int | None = None
    group: Any = None
    digest: str = ""
    after: int | None = None
    """The rowid up to which it has been read."""
    is_whole: bool = True
    """Whether all of the prefix is given, so that the rest of it is gone."""
    highest: tuple[int, str] | None = None


class _State(msgspec.Struct, frozen=True):
    """What is left to read; nothing is known of that before the first look."""

    todo: tuple[_Todo, ...] = ()
    has_looked: bool = False


class _Page(msgspec.Struct, frozen=True):
    """What one snapshot gave: rows, what is done with them, groups that are gone."""

    records: list[Keyed] = []
    done: list[_Todo] = []
    gone: list[str] = []


_Step = tuple[_Page, _State | None]


def read(path: str, tables: Sequence[Table], cursor: Any) -> Iterator[Chunk]:
    """Rows that may be new or changed, in chunks of some megabytes; at least one chunk.

    Raises `live.Busy` and sqlite3.DatabaseError.
    """
    now = msgspec.convert(cursor or {}, Cursor)

    def page(connection: sqlite3.Connection, state: _State) -> _Step:
        if state.has_looked:
            return _read_some(connection, state)
        todo, gone = _look(connection, tables, now)
        return _Page(gone=gone), _State(todo, has_looked=True) if todo else None

    for given in live.pages(path, page, _State()):
        for one in given.done:
            _remember(now, one)
        for prefix in given.gone:
            _forget(now, prefix)
        prefixes = [*given.gone, *(_prefix(one) for one in given.done if one.is_whole)]
        yield Chunk(
            records=given.records,
            cursor=msgspec.to_builtins(now),
            complete=tuple(prefixes),
        )


def _look(
    connection: sqlite3.Connection, tables: Sequence[Table], known: Cursor
) -> tuple[tuple[_Todo, ...], list[str]]:
    """What has to be read, and the prefixes of groups that are no longer there."""
    todo: list[_Todo] = []
    gone: list[str] = []
    for wanted in tables:
        columns = _columns(connection, wanted)
        if columns is None:
            continue
        table = _fitting(connection, wanted)
        if table.above is not None:
            todo += _above(connection, table, columns, known)
            continue
        before = known.digests.get(table.name, {})
        now = _digests(connection, table, columns)
        for name, (group, digest) in now.items():
            if before.get(name) != digest:
                todo.append(
                    _Todo(
                        table,
                        columns,
                        group=group,
                        digest=digest,
                        is_whole=table.parts is None,
                    )
                )
        if table.parts is None:
            gone += [_prefix_of(table, name) for name in before if name not in now]
    return tuple(todo), gone


def _columns(connection: sqlite3.Connection, table: Table) -> tuple[str, ...] | None:
    """The columns that are there now; None if the table, or its key, is not."""
    rows = connection.execute(f"pragma table_info({_name(table.name)})").fetchall()
    there = [row[1] for row in rows]
    needed = {*table.key, *([table.group] if table.group else [])}
    if not needed <= set(there):
        return None
    return tuple(name for name in there if name not in table.without)


def _fitting(connection: sqlite3.Connection, table: Table) -> Table:
    """The table without the SQL that needs what an older database does not have."""

    def fits(sql: str) -> bool:
        try:
            connection.execute(f"explain select {sql} from {_name(table.name)}")
        except sqlite3.OperationalError as error:
            if str(error).startswith("no such"):
                return False
            raise
        return True

    return msgspec.structs.replace(
        table,
        order=table.order if fits(table.order) else "rowid",
        version=table.version if table.version and fits(table.version) else None,
        instead={name: sql for name, sql in table.instead.items() if fits(sql)},
    )


def _above(
    connection: sqlite3.Connection,
    table: Table,
    columns: tuple[str, ...],
    known: Cursor,
) -> list[_Todo]:
    """Rows from the highest one seen on; all, if another row has taken its number."""
    ((highest,),) = connection.execute(
        f"select max({table.above}) from {_source(table)}"
    ).fetchall()
    if highest is None:
        return []
    if not isinstance(highest, int):  # no number to go on from
        return [_Todo(table, columns, is_whole=False)]
    key = _key_at(connection, table, highest)
    before = known.above.get(table.name)
    if before == (highest, key):
        # The row itself may have been written again in place.
        return [_Todo(table, columns, above=highest, is_whole=False, highest=before)]
    last, last_key = before or (None, "")
    is_other = last is not None and _key_at(connection, table, last) not in (
        "",
        last_key,
    )
    if last is None or highest < last or is_other:
        return [_Todo(table, columns, highest=(highest, key))]
    return [_Todo(table, columns, above=last, is_whole=False, highest=(highest, key))]


def _key_at(connection: sqlite3.Connection, table: Table, number: int) -> str:
    """The key of the row with this number; "" if there is none."""
    rows = connection.execute(
        f"select {_names(table.key)} from {_source(table)}"
        f" {_and(table)} {table.above} = ?",
        [number],
    ).fetchall()
    return _joined(rows[0]) if rows else ""


def _digests(
    connection: sqlite3.Connection, table: Table, columns: Sequence[str]
) -> dict[str, tuple[Any, str]]:
    """A digest over the keys and versions of each group, without their content."""
    version = table.version or _names(columns)
    group = _name(table.group) if table.group else "''"
    rows = connection.execute(
        f"select {group}, {_names(table.key)}, {version} from {_source(table)}"
        f" order by {group}, {_names(table.key)}"
    )
    found: dict[str, tuple[Any, str]] = {}
    for value, of_group in groupby(rows, key=lambda row: row[0]):
        digest = xxhash.xxh3_64()
        for row in of_group:
            digest.update(repr(row).encode())
        found[_quoted(value)] = value, digest.hexdigest()
    return found


def _read_some(connection: sqlite3.Connection, state: _State) -> _Step:
    """Read on for a short while; what was finished, and what is left."""
    deadline = time.monotonic() + live.SHORT_S
    records: list[Keyed] = []
    done: list[_Todo] = []
    size = 0
    left = list(state.todo)
    while left and size < _PAGE_BYTES and time.monotonic() < deadline:
        one = left.pop(0)
        rows = _rows(connection, one)
        while some := rows.fetchmany(_ROWS_AT_ONCE):
            for _, order, *values in some:
                record = _record(one.table, _given(one), order, values)
                records += _parts(one.table, record)
                size += len(record.data)
            if size >= _PAGE_BYTES or time.monotonic() > deadline:
                left.insert(0, msgspec.structs.replace(one, after=some[-1][0]))
                break
        else:
            done.append(one)
    following = _State(tuple(left), has_looked=True) if left else None
    return _Page(records, done), following


def _rows(connection: sqlite3.Connection, one: _Todo) -> sqlite3.Cursor:
    table = one.table
    conditions = [f"({table.where})"] if table.where else []
    values: list[Any] = []
    if one.above is not None:
        conditions.append(f"{table.above} >= ?")
        values.append(one.above)
    if table.group and one.above is None and table.above is None:
        conditions.append(f"{_name(table.group)} is ?")
        values.append(one.group)
    if one.after is not None:
        conditions.append("rowid > ?")
        values.append(one.after)
    where = f"where {' and '.join(conditions)}" if conditions else ""
    selected = ", ".join(
        f"{table.instead[name]} as {_name(name)}"
        if name in table.instead
        else _name(name)
        for name in _given(one)
    )
    return connection.execute(
        f"select rowid, {table.order}, {selected} from {_name(table.name)}"
        f" {where} order by rowid",
        values,
    )


def _given(one: _Todo) -> list[str]:
    """The columns of a record: those of the table, and what is put beside them."""
    return list(dict.fromkeys((*one.columns, *one.table.instead)))


def _record(
    table: Table, columns: Sequence[str], order: Any, values: Sequence[Any]
) -> Keyed:
    """One row as JSON; what is NULL is left out, as is a column that is not there."""
    row = {
        name: _written(value)
        for name, value in zip(columns, values, strict=True)
        if value is not None
    }
    key = _joined([row.get(name) for name in table.key])
    return Keyed(f"{table.name}/{key}", _encoder.encode(row), place(order))


def _written(value: Any) -> Any:
    """A value as JSON can hold it; of an infinite number only the name."""
    if isinstance(value, bytes):
        return {"$blob": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _parts(table: Table, record: Keyed) -> Iterator[Keyed]:
    """The records in a row; most rows are one."""
    if table.parts is None:
        yield record
        return
    for part in table.parts(record):
        yield sound(msgspec.structs.replace(part, seq=place(part.seq)))


def place(order: Any) -> int | None:
    """A row's place from its number, or from a time since 1970 in (milli)seconds."""
    if not isinstance(order, int | float) or not 0 <= order < math.inf:
        return None
    if order > _MILLISECONDS:
        return max(0, min(int(order) - _EPOCH_MS, (1 << 40) - 1))
    if order > _SECONDS:
        return max(0, int(order * 1000) - _EPOCH_MS)
    return int(order)


def _remember(cursor: Cursor, one: _Todo) -> None:
    if one.highest is not None:
        cursor.above[one.table.name] = one.highest
    elif one.digest:
        groups = cursor.digests.setdefault(one.table.name, {})
        groups[_quoted(one.group)] = one.digest


def _forget(cursor: Cursor, prefix: str) -> None:
    table, _, group = prefix.removesuffix("/").partition("/")
    cursor.digests.get(table, {}).pop(group, None)


def _prefix(one: _Todo) -> str:
    return _prefix_of(one.table, _quoted(one.group) if one.table.group else "")


def _prefix_of(table: Table, group: str) -> str:
    return f"{table.name}/{group}/" if table.group and group else f"{table.name}/"


def _joined(values: Sequence[Any]) -> str:
    *first, last = values
    return "/".join([*map(_quoted, first), str(last)])


def _quoted(value: Any) -> str:
    return str(value).replace("%", "%25").replace("/", "%2F")


def _source(table: Table) -> str:
    return _name(table.name) + (f" where ({table.where})" if table.where else "")


def _and(table: Table) -> str:
    return "and" if table.where else "where"


def _names(columns: Sequence[str]) -> str:
    return ", ".join(map(_name, columns))


def _name(name: str) -> str:
    if not re.fullmatch(r"\w+", name):
        return '"' + name.replace('"', '""') + '"'
    return f'"{name}"'
