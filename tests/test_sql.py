"""The SQL models: what they say of small inputs, and that a refresh is exact."""

import random

from conftest import CASES, plans_apart, rebuilt, refreshed, same, tables

from agentlake.pipelines.load.loader import load

SHORT = 16
PIECES = 8


class Growing:
    """A home that is written bit by bit, as its agents would."""

    def __init__(self, case, homes, order=None):
        self._case = case
        self._home = homes / f"{case.source}.{case.name}"
        self._home.mkdir(parents=True)
        self.bits = [bit for file in self._files() for bit in self._bits(file)]
        if order is not None:
            self.bits = _shuffled(self.bits, order)

    def _files(self):
        """Files by name; what an agent archives lies in the archive afterwards."""
        files = (file for file in self._case.home.rglob("*") if file.is_file())
        return sorted(files, key=lambda file: ("archived_sessions" in file.parts, file))

    def _bits(self, file):
        to = self._home / file.relative_to(self._case.home)
        if file.suffix == ".jsonl":
            return [(to, line) for line in file.read_bytes().splitlines(keepends=True)]
        return [(to, file.read_bytes())]

    def grow(self, start, stop):
        for file, data in self.bits[start:stop]:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab") as out:
                out.write(data)

    def grow_piece(self, piece):
        count = len(self.bits)
        self.grow(count * piece // PIECES, count * (piece + 1) // PIECES)


def _shuffled(bits, order):
    """Files in any order, one after the other or mixed; some lines in two halves."""
    by_file = {}
    for file, data in bits:
        cut = order.randrange(len(data)) if order.random() < 0.3 else 0
        halves = [data[:cut], data[cut:]] if cut and file.suffix == ".jsonl" else [data]
        by_file.setdefault(file, []).extend(halves)
    files = order.sample(sorted(by_file), len(by_file))
    turns = [file for file in files for _ in by_file[file]]
    if order.random() < 0.5:
        order.shuffle(turns)
    return [(file, by_file[file].pop(0)) for file in turns]


def warehouse(connection):
    return tables(connection, "core", "staging", without=("load_id",))


def loaded_at_once(lake, now):
    with lake.open() as connection:
        load(connection, now, refresh=refreshed)
        return warehouse(connection)


def test_after_each_single_line_the_warehouse_equals_a_full_load(new_lake, tmp_path):
    homes = tmp_path / "homes"
    growing = [Growing(case, homes) for case in CASES]
    growing = [home for home in growing if len(home.bits) <= SHORT]
    with new_lake().open() as connection:
        for line in range(SHORT):
            for home in growing:
                home.grow(line, line + 1)
            now = plans_apart(homes)
            load(connection, now, refresh=refreshed)
            if line % 5 == 0:
                same(warehouse(connection), loaded_at_once(new_lake(), now))


def test_homes_that_grow_in_any_order_give_the_same_as_a_full_rebuild(
    new_lake, tmp_path
):
    """Children before parents, halves of lines, all files at once: it is the same.

    Left out is a case in which two files claim one thread: the first to be seen
    has its name then, so the lineage depends on the order.
    """
    homes = tmp_path / "homes"
    growing = [
        Growing(case, homes, random.Random(case.id))
        for case in CASES
        if case.name != "archived_and_compressed"
    ]
    with new_lake().open() as connection:
        for piece in range(PIECES):
            for home in growing:
                home.grow_piece(piece)
            now = plans_apart(homes)
            load(connection, now, refresh=refreshed)
            if piece == PIECES // 2:
                same(warehouse(connection), loaded_at_once(new_lake(), now))
        by_touch = warehouse(connection)
        rebuilt(connection)
        same(by_touch, warehouse(connection))
    same(by_touch, loaded_at_once(new_lake(), now))
