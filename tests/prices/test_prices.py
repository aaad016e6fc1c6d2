"""The price rows and the one formula must say what genai-prices says, to the micro."""

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import msgspec
import pyarrow as pa
import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import (
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
    Usage,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlake.pipelines.prices import overlay
from agentlake.pipelines.prices.names import Offer, resolve
from agentlake.pipelines.prices.quotes import PriceRow, fingerprint, quotes
from agentlake.pipelines.transform import sql_models
from agentlake.pipelines.warehouse import schema

COSTS = """
select usage.n, price.price_id, call_cost(usage, price) as cost_usd
from calls as usage
left join core.prices as price on price_fits(usage, price)
order by usage.n
"""
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TIERS = [None, "standard", "default", "fast", "priority", "flex", "batch"]


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One billed call, as core.usage will have it."""

    source: str = "pi"
    provider: str | None = None
    model: str = "claude-sonnet-4-5"
    service_tier: str | None = None
    region: str | None = None
    called_at: datetime = NOON
    input_tokens: int | None = 0
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = 0
    reasoning_tokens: int | None = None
    web_search_requests: int | None = None

    @property
    def offer(self) -> Offer:
        key = (self.provider, self.model, self.service_tier, self.region)
        return Offer(self.source, *key)


CALLS = pa.schema(
    [
        ("n", pa.int64()),
        *((name, pa.string()) for name in Call.__struct_fields__[:5]),
        ("called_at", pa.timestamp("us", "UTC")),
        *((name, pa.int64()) for name in Call.__struct_fields__[6:]),
    ]
)


@pytest.fixture(scope="module")
def warehouse() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        con.execute("set timezone = 'Asia/Kolkata'")  # no result may depend on it
        schema.ensure(con, ())
        con.execute(sql_models.macros())
        query = (sql_models.SQL / "core" / "usage" / "prices.sql").read_text()
        con.execute(f"create view core.prices as {query}")
        yield con


def costs(
    con: duckdb.DuckDBPyConnection, calls: list[Call], rows: list[PriceRow]
) -> list[Decimal | None]:
    """Price all calls in one query; every call must come back exactly once."""
    con.execute("truncate meta.price_quotes")
    like = con.sql("from meta.price_quotes limit 0").to_arrow_table().schema
    batch = pa.Table.from_pylist([msgspec.structs.asdict(r) for r in rows], like)
    con.register("batch", batch)
    con.execute("insert into meta.price_quotes from batch")
    numbered = [{"n": n, **msgspec.structs.asdict(c)} for n, c in enumerate(calls)]
    con.register("calls", pa.Table.from_pylist(numbered, CALLS))
    found = con.execute(COSTS).fetchall()
    assert [n for n, _, _ in found] == list(range(len(calls)))
    return [cost for _, _, cost in found]


def cost(
    con: duckdb.DuckDBPyConnection,
    call: Call,
    overrides: Mapping[str, Any] | None = None,
) -> Decimal | None:
    return costs(con, [call], rows_of([call.offer], overrides))[0]


def an_offer(
    provider: str | None = None, model: str = "", tier: str | None = None
) -> Offer:
    return Offer("pi", provider, model, tier, None)


def rows_of(
    offers: Iterable[Offer], overrides: Mapping[str, Any] | None = None
) -> list[PriceRow]:
    return quotes(offers, overrides or {})[1]


def usd(text: str) -> Decimal:
    return Decimal(text).quantize(Decimal("0.000001"), ROUND_HALF_UP)


# --- against the package, over all its models --------------------------------


def billed(provider: Provider, model: ModelInfo) -> bool:
    """Tell whether it is a chat model that the package finds under its own id."""
    dated = model.prices if isinstance(model.prices, list) else []
    every = [p.prices for p in dated]
    every += [model.prices] if isinstance(model.prices, ModelPrice) else []
    if any(p.input_mtok is None or p.output_mtok is None for p in every):
        return False
    try:
        found = get_snapshot().find_provider_model(model.id, None, provider.id, None)
    except LookupError:
        return False
    ours = resolve(an_offer(provider.id, model.id), overlay.known)
    return found[1] is model and (ours.seller, ours.list_model) == (
        provider.id,
        model.id,
    )


PROVIDERS = {provider.id: provider for provider in get_snapshot().providers}
MODELS = [
    (provider.id, model)
    for provider in PROVIDERS.values()
    for model in provider.models
    if billed(provider, model)
]


def conditions(model: ModelInfo) -> Iterable[object]:
    dated = model.prices if isinstance(model.prices, list) else []
    return [c.constraint for c in (*dated, *(model.price_variants or ()))]


def edges(model: ModelInfo) -> tuple[list[date], list[time], list[int]]:
    """Say where the model's prices change: the places worth drawing from."""
    days = [
        c.start_date for c in conditions(model) if isinstance(c, StartDateConstraint)
    ]
    clocks = [
        clock
        for c in conditions(model)
        if isinstance(c, TimeOfDateConstraint)
        for clock in (c.start_time, c.end_time)
    ]
    dated = model.prices if isinstance(model.prices, list) else []
    every = [p.prices for p in (*dated, *(model.price_variants or ()))]
    every += [model.prices] if isinstance(model.prices, ModelPrice) else []
    sizes = {
        tier.start
        for price in every
        for value in vars(price).values()
        if isinstance(value, TieredPrices)
        for tier in value.tiers
    }
    return days, clocks, sorted(sizes)


TRICKY = [pair for pair in MODELS if any(edges(pair[1])) or pair[1].price_variants]


def a_call(rng: Random, provider: str, model: ModelInfo) -> Call:
    """Draw a call at or near one of the model's edges, or anywhere."""
    days, clocks, sizes = edges(model)
    day = rng.choice([*days, date(2025, 6, 1), date(2026, 11, 30)])
    clock = rng.choice([*clocks, time(0), time(12)]).replace(tzinfo=UTC)
    shift = rng.choice([-86_400_000_000, -1, 0, 1, 3_600_000_000])
    near = max(rng.choice([*sizes, 0, 1000]) + rng.randint(-1, 1), 0)
    prompt = rng.choice([near, rng.randint(0, 2_000_000)])
    cached = rng.randint(0, prompt)
    written = rng.randint(0, prompt - cached)
    output = rng.randint(0, 200_000)
    return Call(
        provider=provider,
        model=model.id,
        service_tier=rng.choice(TIERS),
        called_at=datetime.combine(day, clock) + timedelta(microseconds=shift),
        input_tokens=prompt - cached - written,
        cache_read_tokens=cached,
        cache_write_tokens=written,
        cache_write_1h_tokens=rng.randint(0, written),
        output_tokens=output,
        reasoning_tokens=rng.randint(0, output),
        web_search_requests=rng.randint(0, 5),
    )


def package_cost(call: Call) -> Decimal:
    """Ask the package itself, in the words of each provider."""
    assert call.provider is not None
    tier = call.service_tier
    context = {
        None: {},
        "standard": {},
        "fast": {"speed": "fast", "service_tier": "fast"},
        "batch": {"processing": "batch"},
    }.get(tier, {"service_tier": str(tier)})
    cached, written = call.cache_read_tokens or 0, call.cache_write_tokens or 0
    usage = Usage(
        input_tokens=(call.input_tokens or 0) + cached + written,
        cache_read_tokens=cached,
        cache_write_tokens=written,
        cache_write_1h_tokens=call.cache_write_1h_tokens,
        output_tokens=call.output_tokens,
        output_reasoning_tokens=call.reasoning_tokens,
        web_searches=call.web_search_requests,
    )
    provider = PROVIDERS[call.provider]
    _, model = get_snapshot().find_provider_model(call.model, None, provider.id, None)
    price = model.calc_price(
        usage,
        provider,
        genai_request_timestamp=call.called_at,
        price_context=context,
    )
    return price.total_price.quantize(Decimal("0.000001"), ROUND_HALF_UP)


@settings(
    max_examples=5,
    # The warehouse is emptied by every query, so examples may share it.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    models=st.lists(
        st.sampled_from(TRICKY) | st.sampled_from(MODELS), min_size=8, max_size=12
    ),
    seed=st.integers(0, 2**32),
)
def test_sql_costs_what_the_package_says(
    warehouse: duckdb.DuckDBPyConnection,
    models: list[tuple[str, ModelInfo]],
    seed: int,
) -> None:
    rng = Random(seed)  # Hypothesis draws the models; hundreds of calls are too slow
    calls = [a_call(rng, *rng.choice(models)) for _ in range(400)]
    rows = rows_of(call.offer for call in calls)
    assert len({row.price_id for row in rows}) == len(rows)
    found = costs(warehouse, calls, rows)
    overlaid = {row.price_id for row in rows if "overlay" in row.origin}
    used = warehouse.execute(COSTS).fetchall()
    for call, cost_usd, (_, price_id, _) in zip(calls, found, used, strict=True):
        if price_id is None:  # a tier that the package has no price for is no standard
            assert call.service_tier not in (None, "standard", "default"), call
        elif price_id not in overlaid:
            assert cost_usd == package_cost(call), call


# --- rules, one by one -------------------------------------------------------


def test_a_one_hour_write_costs_twice_the_input(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    five_minutes = Call(cache_write_tokens=100_000)
    one_hour = Call(cache_write_tokens=100_000, cache_write_1h_tokens=100_000)
    both = Call(cache_write_tokens=100_000, cache_write_1h_tokens=40_000)
    assert cost(warehouse, five_minutes) == usd("0.375")
    assert cost(warehouse, one_hour) == usd("0.6")
    assert cost(warehouse, both) == usd("0.465")


def test_a_long_prompt_reprices_the_whole_request(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    within = Call(input_tokens=50_000, cache_read_tokens=150_000, output_tokens=1000)
    above = msgspec.structs.replace(within, input_tokens=50_001)
    assert cost(warehouse, within) == usd("0.21")
    assert cost(warehouse, above) == usd("0.412506")


def test_output_does_not_choose_the_tier(warehouse: duckdb.DuckDBPyConnection) -> None:
    call = Call(input_tokens=1, output_tokens=1_000_000)
    assert cost(warehouse, call) == usd("15.000003")


@pytest.mark.parametrize(
    "offer",
    [
        an_offer(None, "my-local-model"),
        an_offer(None, ""),
        an_offer(None, "<synthetic>"),
        an_offer(None, "opus"),
        an_offer("my-gateway", "my-model"),
        an_offer("anthropic", "claude-opus-4-5", "priority"),  # a commitment, no rate
        an_offer("anthropic", "claude-opus-4-5", "fast"),  # there is no such mode
        an_offer("ollama", "kimi-k2.5"),
        an_offer("cerebras", "qwen-3-coder-480b"),  # known, but with no price
        an_offer("voyageai", "voyage-3"),  # input has a price, output has none
    ],
    ids=str,
)
def test_what_nobody_prices_has_no_row_and_no_cost(
    warehouse: duckdb.DuckDBPyConnection, offer: Offer
) -> None:
    (named,), rows = quotes([offer], {})
    assert rows == []
    assert named.unpriced_because
    call = Call(**offer._asdict(), input_tokens=0, output_tokens=0)
    assert cost(warehouse, call) is None


def test_a_model_that_is_free_by_name_costs_nothing(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    model = "openai/gpt-oss-20b:free"
    call = Call(provider="openrouter", model=model, input_tokens=1_000_000)
    assert cost(warehouse, call) == 0


def test_one_bad_model_does_not_take_the_price_from_others() -> None:
    good = an_offer(None, "claude-sonnet-4-5")
    assert rows_of([an_offer(None, "nope"), good]) == rows_of([good])


def test_a_price_change_holds_from_midnight_utc(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    cut = datetime(2025, 6, 10, tzinfo=UTC)
    before = Call(
        model="o3", called_at=cut - timedelta(microseconds=1), input_tokens=1_000_000
    )
    after = Call(model="o3", called_at=cut, input_tokens=1_000_000)
    assert cost(warehouse, before) == 10
    assert cost(warehouse, after) == 2


def test_the_time_of_day_is_utc_and_half_open(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    found = {
        clock: cost(
            warehouse,
            Call(
                provider="deepseek",
                model="deepseek-v4-flash",
                called_at=datetime.fromisoformat(f"2026-11-30T{clock}Z"),
                output_tokens=1_000_000,
            ),
        )
        for clock in ("00:59:59.999999", "01:00:00", "03:59:59.999999", "04:00:00")
    }
    assert [*found.values()] == [usd("0.6"), usd("1.2"), usd("1.2"), usd("0.6")]


def test_searches_and_requests_have_their_own_fee(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    assert cost(warehouse, Call(web_search_requests=3)) == usd("0.03")
    sonar = Call(provider="perplexity", model="sonar", input_tokens=1_000_000)
    assert cost(warehouse, sonar) == usd("1.012")


def test_reasoning_counts_apart_only_where_its_price_differs(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    # The second is a source that counts reasoning beside output: no harm done.
    for reasoning in (600_000, 1_200_000):
        call = Call(output_tokens=1_000_000, reasoning_tokens=reasoning)
        assert cost(warehouse, call) == 15
    deep = Call(
        provider="perplexity",
        model="sonar-deep-research",
        output_tokens=1_000_000,
        reasoning_tokens=400_000,
    )
    assert cost(warehouse, deep) == usd("6")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"input_tokens": None, "output_tokens": None}, None),
        ({"input_tokens": None, "output_tokens": 1_000_000}, Decimal(15)),
        ({"input_tokens": 100_000, "output_tokens": None}, usd("0.3")),
        ({"input_tokens": 0, "output_tokens": 0}, Decimal(0)),
    ],
)
def test_unknown_tokens_are_no_cost_and_not_zero(
    warehouse: duckdb.DuckDBPyConnection,
    known: dict[str, int | None],
    expected: Decimal | None,
) -> None:
    assert cost(warehouse, Call(**known)) == expected  # type: ignore[arg-type]


def test_large_counts_stay_exact_and_impossible_ones_stop_nobody(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    calls = [
        Call(input_tokens=123_456_789_012, output_tokens=1),
        Call(input_tokens=2**63 - 1 - 2**40, output_tokens=2**40),
    ]
    found = costs(warehouse, calls, rows_of([calls[0].offer]))
    assert found == [usd("740740.734095"), None]  # half a micro: up


# --- the user's overrides ----------------------------------------------------


def test_an_override_beats_the_package_for_every_provider_and_tier(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    own = {"claude-sonnet-4-5": {"input": 1, "output": 2.5}}
    for provider, tier in ((None, None), ("anthropic", "batch"), ("my-gateway", "x")):
        call = Call(
            provider=provider,
            service_tier=tier,
            input_tokens=300_000,
            cache_read_tokens=300_000,
            cache_write_tokens=400_000,
            cache_write_1h_tokens=200_000,
            output_tokens=1_000_000,
            web_search_requests=9,
        )
        (row,) = rows_of([call.offer], own)
        assert row.origin == "override"
        assert cost(warehouse, call, own) == usd("3.5")
    dated = an_offer(None, "claude-sonnet-4-5-20250929")
    assert rows_of([dated], own)[0].origin != "override"


def test_an_override_may_price_every_kind(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    own = {
        "mine": {
            "input": 10,
            "output": 50,
            "cache_read": "0.1",
            "cache_write": 0,
            "cache_write_1h": 20,
            "web_search": 5,
        }
    }
    call = Call(
        model="mine",
        input_tokens=1_000_000,
        cache_read_tokens=1_000_000,
        cache_write_tokens=2_000_000,
        cache_write_1h_tokens=1_000_000,
        output_tokens=1_000_000,
        web_search_requests=1000,
    )
    assert cost(warehouse, call, own) == usd("85.1")


def test_an_override_with_a_date_leaves_the_past_to_the_package(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    own = {"o3": {"input": 7, "output": 7, "from": date(2026, 1, 1)}}
    offer = an_offer(None, "o3")
    spans = [(r.valid_from, r.valid_to, r.origin[:8]) for r in rows_of([offer], own)]
    cut, new_year = datetime(2025, 6, 10, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    assert spans == [
        (None, cut, "genai-pr"),
        (cut, new_year, "genai-pr"),
        (new_year, None, "override"),
    ]
    unknown = {"mine": {"input": 7, "output": 7, "from": date(2026, 1, 1)}}
    past = Call(model="mine", called_at=datetime(2025, 12, 31, tzinfo=UTC))
    assert cost(warehouse, past, unknown) is None


@pytest.mark.parametrize("provider", [None, "openai", "my-gateway"])
def test_an_alias_is_priced_as_the_model_it_names(provider: str | None) -> None:
    offer = an_offer(provider, "openai.codex.5_3", "priority")
    own = {offer.model: {"alias": "gpt-5.3-codex"}}
    rows = rows_of([offer], own)
    other = rows_of([an_offer("openai", "gpt-5.3-codex", "priority")])
    rates = PriceRow.__struct_fields__[6:-2]
    assert [[getattr(r, f) for f in rates] for r in rows] == [
        [getattr(r, f) for f in rates] for r in other
    ]
    assert {r.model for r in rows} == {offer.model}
    assert {r.list_model for r in rows} == {"gpt-5.3-codex"}


@pytest.mark.parametrize(
    "value",
    [
        5,
        {},
        {"input": 1},
        {"input": 1, "output": True},
        {"input": 1, "output": "free"},
        {"input": 1, "output": -1},
        {"input": 1, "output": float("nan")},
        {"input": 1, "output": 1_000_000},
        {"input": 1, "output": 1, "cached": 1},
        {"input": 1, "output": 1, "from": 2026},
        {"alias": 1},
        {"alias": "gpt-5.5", "input": 1},
        {"alias": "no-such-model"},
    ],
    ids=str,
)
def test_a_bad_override_is_an_error_that_says_what_is_allowed(value: object) -> None:
    with pytest.raises(ValueError, match=r"\[prices\] 'mine': .*Allowed: either alias"):
        quotes([an_offer(None, "mine")], {"mine": value})


# --- names and fingerprints --------------------------------------------------


def test_price_ids_are_readable_and_never_meet() -> None:
    offers = [
        an_offer(provider, model, tier)
        for provider in (None, "*", "anthropic", "override", "a/b", "a")
        for model in ("m", "b/m", "m#fast", "m@2026-10-14", "m+200000", "anthropic/m")
        for tier in (None, "fast", "")
    ]
    own = {o.model: {"input": 1, "output": 1, "from": NOON.date()} for o in offers}
    known = [
        an_offer(provider, "claude-sonnet-4-5", tier)
        for provider in (None, "anthropic")
        for tier in (None, "batch")
    ]
    ids = [row.price_id for row in rows_of([*offers, *known, *known], own)]
    assert len(set(ids)) == len(ids)
    assert "pi:anthropic/claude-sonnet-4-5#batch@2026-10-14+200000" in ids


def test_no_offer_needs_no_package(tmp_path: Path) -> None:
    code = (
        "import sys; from agentlake.pipelines.prices.quotes import *;"
        "quotes([], {'m': {'alias': 'n'}}); fingerprint({});"
        "sys.exit('genai_prices' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


def test_the_fingerprint_changes_with_the_overrides_and_not_with_their_order() -> None:
    one: dict[str, Any] = {"a": {"input": 1, "output": 2}, "b": {"alias": "c"}}
    assert fingerprint(one) == fingerprint(dict(reversed(one.items())))
    assert fingerprint(one) != fingerprint({**one, "b": {"alias": "d"}})
    dated = {"a": {"input": 1, "output": 2, "from": date(2026, 1, 1)}}
    assert fingerprint(dated) != fingerprint({"a": one["a"]})
    assert fingerprint({}).startswith(f"genai-prices {version('genai-prices')}")
