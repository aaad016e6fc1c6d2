"""The names of a warehouse's files, and which files are refused as one.

The published copy has the name that people know; all others are made of it. Whoever
gives one of the others as `--warehouse`, or as the place of an export, would have it
overwritten by the next publishing, and with it history that the agents have deleted.
"""

import re
from pathlib import Path

import duckdb

from agentlake.errors import UserError

_VAULT = ".vault"
_OURS = re.compile(
    r"\.(?P<name>.+?)(?:\.vault)?(?P<suffix>\.[^.]+)?"
    r"\.(?:copying|stepping|spare|old|compacted|adopted|new|\d+\.spill)"
)
_MAGIC, _MAGIC_AT = b"DUCK", 8
_OWN_TABLE = "meta.streams"
_MOST_NAMED = 3


def vault_of(path: Path) -> Path:
    """The loader's own file, beside the published copy `path`."""
    return path.with_name(f"{path.stem}{_VAULT}{path.suffix}")


def refuse_inner(path: Path) -> None:
    """Raise UserError for a file that agentlake keeps beside a warehouse."""
    if path.stem.endswith(_VAULT):
        path_of = path.with_name(path.stem.removesuffix(_VAULT) + path.suffix)
        msg = (
            f"{path}: is the vault of {path_of.name}, which loads write and nothing"
            f" else may. Nothing was changed. Give {path_of} instead."
        )
        raise UserError(msg)
    if _OURS.fullmatch(path.name):
        msg = (
            f"{path}: has a name that agentlake uses for its own files beside a"
            " warehouse. Nothing was changed. Choose another name."
        )
        raise UserError(msg)


def refuse_as_target(path: Path, warehouse: Path) -> None:
    """Raise UserError where an export would replace a file of a warehouse."""
    refuse_inner(path)
    for ours in (warehouse, vault_of(warehouse)):
        if path.exists() and ours.exists() and path.samefile(ours):
            msg = (
                f"{path}: is a file of the warehouse {warehouse}, so nothing was"
                " written. Choose another name for the export."
            )
            raise UserError(msg)


def refuse_foreign(path: Path) -> None:
    """Raise UserError for a file that is there and is no warehouse of ours.

    An empty file is as good as none. The file is opened read-only, if at all.
    """
    if not path.is_file():  # a folder; or a pipe, which would never answer
        msg = f"{path}: is not a file, so it can be no warehouse. Nothing was changed."
        raise UserError(msg)
    if path.stat().st_size == 0:
        return
    what = "is not a DuckDB file"
    if _is_database(path):
        what = _foreign_tables(path)
    if what:
        msg = (
            f"{path}: {what}, so it was left as it is. Choose another place for the"
            " warehouse: --warehouse FILE."
        )
        raise UserError(msg)


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC


def _foreign_tables(path: Path) -> str:
    """What a database holds, if it is somebody else's."""
    with duckdb.connect(str(path), read_only=True) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "select schema_name || '.' || table_name from duckdb_tables()"
                " where not internal order by all"
            ).fetchall()
        ]
    if _OWN_TABLE in names or not names:
        return ""
    shown = ", ".join(names[:_MOST_NAMED])
    return f"is a database of something else (it has {shown})"
