"""Records as a disk may spoil them: one value of a whole one is something else."""

import json

import msgspec
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates as well
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(TEXT, some, max_size=3),
    max_leaves=5,
)


def spoiled(data, whole, anything):
    """A copy of `whole` in which one value, wherever it is, is `anything`."""
    damaged = spot = json.loads(json.dumps(whole))
    *steps, last = data.draw(st.sampled_from(list(_places(whole))))
    for step in steps:
        spot = spot[step]
    spot[last] = anything
    return damaged


def are_facts_or_rejects(found, rejects):
    """Assert that nothing crashed, and that every field of a fact is of its type."""
    assert not any("in parse" in reject.reason for reject in rejects)
    for fact in found:
        msgspec.convert(msgspec.structs.asdict(fact), type(fact))


def _places(value, path=()):
    inner = list(value.items()) if isinstance(value, dict) else []
    inner = list(enumerate(value)) if isinstance(value, list) else inner
    for step, held in inner:
        yield (*path, step)
        yield from _places(held, (*path, step))
