"""Look up the entry of a column of a fact, of raw or of meta."""

import ast
import inspect
from collections.abc import Mapping
from functools import cache

from agentlake.models.dictionary.columns import COLUMNS
from agentlake.models.dictionary.entry import Entry, completed
from agentlake.models.dictionary.tables import META, RAW
from agentlake.models.fact import Fact
from agentlake.models.table import columns


def shared_entry(name: str) -> Entry | None:
    """What a column of this name means where nothing else is said."""
    found = COLUMNS.get(name)
    return None if found is None else completed(name, found)


def raw_entry(name: str) -> Entry:
    """What a column of a raw table means."""
    return completed(name, RAW[name])


def meta_entry(table: str, name: str) -> Entry | None:
    """What a column of a table of `meta` means."""
    found = META.get(table, {}).get(name)
    return shared_entry(name) if found is None else completed(name, found)


def fact_entry(fact: type[Fact], name: str) -> Entry | None:
    """What a column of a fact means: its field's docstring and values, if it has any.

    None for a column of which neither the fact nor the dictionary says anything.
    """
    shared = shared_entry(name)
    said, values = _docstrings(fact).get(name), _values(fact).get(name)
    if said is None and values is None:
        return shared
    description = said or (shared.description if shared else "")
    unit, zone = (shared.unit, shared.zone) if shared else (None, None)
    return completed(name, Entry(description, unit, zone, values or {}))


@cache
def _docstrings(fact: type[Fact]) -> dict[str, str]:
    """The text below each field of the class: Python drops it, the source has it."""
    (body,) = ast.parse(inspect.getsource(fact)).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(doc))),
            ):
                found[name] = " ".join(doc.split())
    return found


@cache
def _values(fact: type[Fact]) -> dict[str, Mapping[str, str]]:
    return {it.name: it.values for it in columns(fact) if it.values is not None}
