"""`agentlake reconcile`: a vendor's bill beside what is on this machine."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from decimal import Decimal

from agentlake.pipelines.cli.table import Column, count, first, is_bold, render, usd
from agentlake.pipelines.prices.bills.bill import Bill
from agentlake.pipelines.prices.bills.compare import Compared, compare
from agentlake.pipelines.prices.bills.vendors import read
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.warehouse.connect import reading

_MOST_ROWS = 50
_COLUMNS = [
    Column(title="day (UTC)"),
    Column(title="model", gives_way="end"),
    Column(title="what"),
    *(Column(title=title, right=True) for title in ("here", "billed", "difference")),
    Column(title="likely because", gives_way="end", dropped=1),
]


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Print the comparison; nothing is stored, and nothing leaves the machine."""
    bill = read(args.bill)
    with reading(settings.warehouse) as connection:
        found = compare(connection, bill)
    if args.json:
        print(json.dumps([_said(one) for one in found], indent=2))
        return 0
    shown = found if args.all else [one for one in found if one.because != "equal"]
    equal = len(found) - len([one for one in found if one.because != "equal"])
    if shown:
        rows = [_cells(one) for one in shown[: None if args.all else _MOST_ROWS]]
        print(render(_COLUMNS, rows, bold=is_bold()))
        if len(rows) < len(shown):
            print(f"{first(len(rows), len(shown))}; --all shows all", file=sys.stderr)
    print(_summary(bill, found, equal), file=sys.stderr)
    return 0


def _summary(bill: Bill, found: Sequence[Compared], equal: int) -> str:
    costs = [one for one in found if one.kind == "cost"]
    text = f"{bill.seller} {bill.report}: {count(len(found))} compared, {equal} equal."
    if costs:
        here = sum((one.local for one in costs), Decimal(0))
        billed = sum((one.billed for one in costs), Decimal(0))
        text += f" Here {usd(here)}, billed {usd(billed)}."
    return text


def _cells(one: Compared) -> list[str]:
    amounts = (one.local, one.billed, one.difference)
    shown = [_amount(one.kind, amount) for amount in amounts]
    return [str(one.day), one.model or "-", one.kind, *shown, one.because]


def _amount(kind: str, amount: Decimal) -> str:
    if kind != "cost":
        return count(int(amount))
    return f"-{usd(-amount)}" if amount < 0 else usd(amount)


def _said(one: Compared) -> dict[str, object]:
    return {
        "day": str(one.day),
        "model": one.model,
        "kind": one.kind,
        "local": float(one.local),
        "billed": float(one.billed),
        "difference": float(one.difference),
        "because": one.because,
    }
