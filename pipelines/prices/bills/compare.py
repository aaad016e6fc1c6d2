"""Set a bill against what is on this machine, by day, model and kind."""

from datetime import date
from decimal import Decimal

import msgspec

from agentlake.pipelines.prices import overlay
from agentlake.pipelines.prices.bills.bill import KINDS, Bill
from agentlake.pipelines.prices.names import Offer, resolve
from agentlake.pipelines.warehouse.connect import Connection

_OURS = {  # which calls a seller bills
    "anthropic": "named.vendor = 'anthropic'"
    " and coalesce(named.price_channel, '') not in ('bedrock', 'vertex', 'azure')",
    "openai": "named.vendor = 'openai'"
    " and coalesce(named.price_channel, '') not in ('bedrock', 'azure')",
    "openrouter": "(named.seller = 'openrouter' or usage.provider = 'openrouter')",
    "cursor": "usage.source = 'cursor'",
}
_WITHIN = {  # of which kind one is a part, where a bill does not tell it apart
    "cache_read": "input",
    "cache_write": "input",
}
_LOCAL = """
    with
    calls as (
        select cast(timezone('UTC', usage.called_at) as date) as day,
            coalesce(named.canonical_model, usage.model) as model,
            usage.input_tokens as input, usage.cache_read_tokens as cache_read,
            usage.cache_write_tokens as cache_write,
            usage.cache_write_1h_tokens as cache_write_1h,
            usage.output_tokens as output,
            usage.web_search_requests as web_search,
            cast(usage.cost_usd as double) as cost
        from core.usage as usage
        left join core.model_names as named on is_offered(usage, named)
        where usage.unit = 'tokens' and {of_seller}
    )
    select day, model, {sums}
    from calls
    where day between $since and $until
    group by day, model
"""
_EQUAL = Decimal("0.005")


class Compared(msgspec.Struct, frozen=True):
    """One kind, of one model, on one day."""

    day: date
    model: str | None
    kind: str
    local: Decimal
    billed: Decimal
    because: str

    @property
    def difference(self) -> Decimal:
        """How much more was billed."""
        return self.billed - self.local


def compare(connection: Connection, bill: Bill) -> list[Compared]:
    """Every day of the bill, its models by one spelling; the newest day first."""
    billed: dict[tuple[date, str | None, str], Decimal] = {}
    for line in bill.lines:
        key = (line.day, _canonical(bill.seller, line.model), line.kind)
        billed[key] = billed.get(key, Decimal(0)) + line.amount
    kinds = {kind for _, _, kind in billed}
    has_models = any(model for _, model, _ in billed)
    local = _local(connection, bill, kinds, has_models=has_models)
    keys = {key for key in local if local[key]} | billed.keys()
    found = [
        Compared(*key, ours, theirs, _because(ours, theirs, key, local))
        for key in keys
        for ours, theirs in [
            (local.get(key, Decimal(0)), billed.get(key, Decimal(0))),
        ]
    ]
    return sorted(
        found,
        key=lambda it: (-it.day.toordinal(), it.model or "", KINDS.index(it.kind)),
    )


def _canonical(seller: str, model: str | None) -> str | None:
    """A bill's name of a model, in the spelling of core.model_names."""
    if model is None:
        return None
    found = resolve(Offer("", seller, model, None, None), overlay.known)
    return found.canonical_model or model


def _local(
    connection: Connection, bill: Bill, kinds: set[str], *, has_models: bool
) -> dict[tuple[date, str | None, str], Decimal]:
    """What is here of the days of the bill, in the kinds that it tells apart."""
    days = [line.day for line in bill.lines]
    sums = ", ".join(f"sum({kind})" for kind in KINDS)
    query = _LOCAL.format(of_seller=_OURS[bill.seller], sums=sums)
    rows = connection.execute(
        query, {"since": min(days), "until": max(days)}
    ).fetchall()
    found: dict[tuple[date, str | None, str], Decimal] = {}
    for day, model, *amounts in rows:
        for kind, amount in zip(KINDS, amounts, strict=True):
            counted = kind if kind in kinds else _WITHIN.get(kind)
            if amount and counted in kinds:
                key = (day, model if has_models else None, str(counted))
                found[key] = found.get(key, Decimal(0)) + Decimal(str(amount))
    return found


def _because(
    ours: Decimal,
    theirs: Decimal,
    key: tuple[date, str | None, str],
    local: dict[tuple[date, str | None, str], Decimal],
) -> str:
    """The likely reason of a difference, as far as there is one."""
    day, model, kind = key
    if abs(theirs - ours) < _EQUAL:
        return "equal"
    if theirs > ours:
        if not any(local.get((day, model, other)) for other in KINDS):
            return "nothing of it is here: another machine, program or person"
        if kind == "cost":
            return "side calls that are not on disk, another machine, or a surcharge"
        return "side calls that are not on disk (titles, searches), or another machine"
    if not theirs:
        return "not on this bill: a subscription, or another account"
    return "paid otherwise in part (a subscription, a discount), or not yet billed"
