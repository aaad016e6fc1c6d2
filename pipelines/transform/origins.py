"""Where a column of a model comes from, read from the parsed query.

Simple cases only: a column that is passed on as it is, or summed, or picked by a
min or max, through CTEs. What is computed has no origin.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Columns = Mapping[str, Sequence[str]]
"""The columns of each table, by its full name."""

_PICKS = {
    "sum": "Sum of",
    "min": "Minimum of",
    "max": "Maximum of",
    "arg_min": "First of",
    "arg_max": "Last of",
}
Origin = tuple[str, str, str]
"""How it is taken ("" as it is), the table and the column."""


def origin(tree: Mapping[str, Any], column: str, tables: Columns) -> Origin | None:
    """Find the column of another table that this column of the query shows."""
    return _in_node(tree["statements"][0]["node"], column, {}, tables)


def _in_node(
    node: Mapping[str, Any] | None,
    column: str,
    ctes: Mapping[str, Any],
    tables: Columns,
) -> Origin | None:
    if node is None:
        return None
    own = {item["key"]: item["value"]["query_node"] for item in node["cte_map"]["map"]}
    ctes = {**ctes, **own}
    if node["type"] == "SET_OPERATION_NODE":
        return _in_node(node["children"][0], column, ctes, tables)
    if node["type"] != "SELECT_NODE":
        return None
    relations = dict(_relations(node["from_table"]))
    for item in node["select_list"]:
        if item["type"] == "STAR":
            if column in item["exclude_list"]:
                continue
            name = item["relation_name"]
            found = _in_relations(column, name, relations, ctes, tables)
        elif column == (item["alias"] or item.get("column_names", [""])[-1]):
            return _of_expression(item, relations, ctes, tables)
        else:
            continue
        if found is not None:
            return found
    return None


def _of_expression(
    item: Mapping[str, Any],
    relations: Mapping[str, Any],
    ctes: Mapping[str, Any],
    tables: Columns,
) -> Origin | None:
    if item["type"] == "OPERATOR_CAST":
        return _of_expression(item["child"], relations, ctes, tables)
    if item["type"] == "FUNCTION" and item["function_name"] in _PICKS:
        first = item["arguments"][0]
        found = _of_expression(first.get("expression", first), relations, ctes, tables)
        if found is None or found[0]:
            return found
        return (_PICKS[item["function_name"]], *found[1:])
    if item["type"] != "COLUMN_REF":
        return None
    *relation, column = item["column_names"]
    name = relation[-1] if relation else ""
    return _in_relations(column, name, relations, ctes, tables)


def _in_relations(
    column: str,
    name: str,
    relations: Mapping[str, Any],
    ctes: Mapping[str, Any],
    tables: Columns,
) -> Origin | None:
    """Look in the relation of this name, or in all when none is named."""
    for alias, relation in relations.items():
        if name in ("", alias):
            found = _in_relation(column, relation, ctes, tables)
            if found is not None:
                return found
    return None


def _in_relation(
    column: str, relation: Mapping[str, Any], ctes: Mapping[str, Any], tables: Columns
) -> Origin | None:
    if relation["type"] == "SUBQUERY":
        return _in_node(relation["subquery"]["node"], column, ctes, tables)
    name = relation["table_name"]
    if relation["schema_name"]:
        table = f"{relation['schema_name']}.{name}"
        return ("", table, column) if column in tables.get(table, ()) else None
    others = {key: node for key, node in ctes.items() if key != name}
    return _in_node(ctes.get(name), column, others, tables)


def _relations(node: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What stands in a from clause, by the name it has there."""
    if node["type"] == "JOIN":
        yield from _relations(node["left"])
        yield from _relations(node["right"])
    elif node["type"] in ("BASE_TABLE", "SUBQUERY"):
        yield node["alias"] or node.get("table_name", ""), node
