"""Who reads: this machine, by an id of its own, and which warehouse it writes to.

Every load notes the machine that it ran on (`meta.loads.machine_id`), and every row of
raw its load. So each record tells where it was read, also after warehouses of several
machines were merged, or one was restored on another machine.
"""

import json
import os
import socket
import uuid
from contextlib import suppress
from pathlib import Path

import duckdb
import msgspec

from agentlake.errors import UserError

WAREHOUSE_ID = "warehouse_id"
"""The name in `meta.settings` of the id that a warehouse has from its first load on."""


class Machine(msgspec.Struct, frozen=True):
    """A machine as it is written down: a random id, and what people call it."""

    id: str
    name: str


def machine_file(path: Path) -> Path:
    """Where a machine keeps its id, beside the warehouse that it writes to."""
    return path.with_name(f".{path.name}.machine")


def machine_of(path: Path) -> Machine:
    """This machine; its id is made at the first call, and its name is the host's.

    The name may be edited in the file. Raises UserError where the file is no such one.
    """
    file = machine_file(path)
    if not file.exists():
        _make(file, Machine(uuid.uuid4().hex, socket.gethostname() or "unnamed"))
    try:
        machine = msgspec.json.decode(file.read_bytes(), type=Machine)
    except (msgspec.DecodeError, OSError) as error:
        msg = (
            f"{file}: does not tell this machine's id: {error}. Nothing was changed."
            " Put the file back from a backup, or delete it: the machine gets a new id."
        )
        raise UserError(msg) from error
    return machine


def introduce_machine(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Let a writer's connection know on which machine its loads run."""
    machine = machine_of(path)
    for name, value in (("machine_id", machine.id), ("machine_name", machine.name)):
        connection.execute(f"set variable {name} = $1", [value])


def note_machine(connection: duckdb.DuckDBPyConnection) -> None:
    """Write down the machine that this connection was introduced to, if it is news."""
    said = "getvariable('machine_id'), getvariable('machine_name')"
    known = connection.execute(
        f"select ({said}) in (select (machine_id, name) from meta.machines)"
    ).fetchall()
    if known != [(True,)]:
        connection.execute(
            f"""
            merge into meta.machines
            using (select {said}) as this (machine_id, name) using (machine_id)
            when matched then update set name = this.name
            when not matched then insert values (this.machine_id, this.name, now())
            """
        )


def _make(file: Path, machine: Machine) -> None:
    """Write the file whole, the user's alone; who comes second keeps the first one."""
    new = file.with_name(f"{file.name}.{os.getpid()}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        text = json.dumps(msgspec.to_builtins(machine)) + "\n"
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        with suppress(FileExistsError):
            os.link(new, file)
    finally:
        new.unlink(missing_ok=True)
