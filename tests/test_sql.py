"""The SQL models: what they say of small inputs, and that a refresh is exact."""

import random

import pytest
from conftest import CASES, difference, plans_apart, rebuilt, refreshed, tables

from agentlake.pipelines.load.loader import load

STEPS = 12


class Growing:
    """A home that is written bit by bit, as its agents would."""

    def __init__(self, case, home, order):
        self.case = case
        self.home = home
        self.home.mkdir(parents=True)
        bits = [bit for file in self._files() for bit in self._bits(file)]
        if order is not None:
            bits = _shuffled(bits, order)
        self.rounds = _cut(bits, STEPS)

    def _files(self):
        return sorted(file for file in self.case.home.rglob("*") if file.is_file())

    def _bits(self, file):
        to = self.home / file.relative_to(self.case.home)
        if file.suffix == ".jsonl":
            return [(to, line) for line in file.read_bytes().splitlines(keepends=True)]
        return [(to, file.read_bytes())]

    def grow(self, step):
        for file, data in self.rounds[step]:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab") as out:
                out.write(data)


def _shuffled(bits, order):
    """Files in any order and interleaved; each file's own lines stay in theirs."""
    by_file = {}
    for file, data in bits:
        by_file.setdefault(file, []).append(data)
    turns = [file for file, _ in bits]
    files = order.sample(sorted(by_file), len(by_file))
    if order.random() < 0.5:
        turns = [file for file in files for _ in by_file[file]]
    else:
        order.shuffle(turns)
    return [(file, by_file[file].pop(0)) for file in turns]


def _cut(bits, count):
    """At most `count` pieces, none of them empty if there are enough bits."""
    return [
        bits[len(bits) * step // count : len(bits) * (step + 1) // count]
        for step in range(count)
    ]


@pytest.mark.parametrize("order", ["as written", "any order"])
def test_after_every_piece_that_is_appended_the_warehouse_equals_a_full_load(
    order, new_lake, tmp_path
):
    homes = tmp_path / "homes"
    growing = [
        Growing(
            case,
            homes / f"{case.source}.{case.name}",
            None if order == "as written" else random.Random(case.id),
        )
        for case in CASES
    ]
    now = plans_apart(homes)
    with new_lake().open() as connection:
        for step in range(STEPS):
            for home in growing:
                home.grow(step)
            now = plans_apart(homes)
            load(connection, now, refresh=refreshed)
            if step in (STEPS // 2, STEPS - 1):
                with new_lake().open() as other:
                    load(other, now, refresh=refreshed)
                    at_once = tables(other, "core", "staging", without=("load_id",))
                by_touch = tables(connection, "core", "staging", without=("load_id",))
                assert difference(by_touch, at_once) == {}
        rebuilt(connection)
        whole = tables(connection, "core", "staging", without=("load_id",))
        assert difference(by_touch, whole) == {}
