"""What the notebook works out: spans of days, the bars of them, prices of a list."""

import html
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl

from agentlake.lake import Lake

KINDS = ["input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"]
SPANS: Mapping[str, int | None] = {
    "the last 7 days": 7,
    "the last 30 days": 30,
    "the last 90 days": 90,
    "the last 365 days": 365,
    "everything": None,
}
OTHER = "(other)"
_MOST_DAYS, _MOST_WEEKS = 62, 62 * 7
_MOST_SHOWN = 2000
_CALLS = """
    with
        parts as (
            select source, session_id, model, called_at, calls, input_tokens,
                cache_read_tokens, cache_write_tokens, output_tokens, cost_usd
            from core.usage
            where unit in ('tokens', 'usd') and not is_total
            union all by name
            select source, session_id, model, called_at, input_tokens,
                cache_read_tokens, cache_write_tokens, output_tokens, cost_usd
            from core.usage_steps
            where unit in ('tokens', 'usd')
        ),
        quarters as (
            select source, session_id, model,
                divide(epoch_us(called_at), 900000000) as quarter_hour,
                sum(calls) as calls, sum(input_tokens) as input_tokens,
                sum(cache_read_tokens) as cache_read_tokens,
                sum(cache_write_tokens) as cache_write_tokens,
                sum(output_tokens) as output_tokens, sum(cost_usd) as cost_usd
            from parts
            where called_at is not null
            group by all
        )
    select
        local_date(make_timestamptz(quarter_hour * 900000000)) as usage_date,
        coalesce(agents.display_name, quarters.source) as source,
        coalesce(quarters.model, '(no model)') as model,
        coalesce(parse_filename(sessions.project), '(no project)') as project,
        cast(sum(calls) as bigint) as calls,
        cast(sum(input_tokens) as bigint) as input_tokens,
        cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
        cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
        cast(sum(output_tokens) as bigint) as output_tokens,
        cast(sum(cost_usd) as double) as cost_usd
    from quarters
    left join core.sources as agents on agents.source = quarters.source
    left join core.sessions
        on sessions.source = quarters.source
        and sessions.session_id = quarters.session_id
    group by all
"""


def calls_by_day(lake: Lake) -> pl.DataFrame:
    """What was used a day, source, model and project; dollars are for pictures only."""
    return lake.sql(_CALLS)


def first_span(days: int) -> str:
    """The span that is shown first of a history of so many days."""
    return "the last 30 days" if days > 30 else "everything"


def span_of(name: str, first: date, last: date) -> tuple[date, date]:
    """The days of a span, both included."""
    length = SPANS[name]
    if length is None:
        return first, last
    return max(first, last - timedelta(days=length - 1)), last


def within(frame: pl.DataFrame, column: str, start: date, stop: date) -> pl.DataFrame:
    """The rows of these days, both included."""
    return frame.filter(pl.col(column).cast(pl.Date).is_between(start, stop))


def before(start: date, stop: date) -> tuple[date, date]:
    """As many days just before."""
    length = stop - start + timedelta(days=1)
    return start - length, stop - length


def unit_of(start: date, stop: date) -> str:
    """What a bar stands for: `day`, `week` or `month`, so that none is a hairline."""
    days = (stop - start).days + 1
    if days <= _MOST_DAYS:
        return "day"
    return "week" if days <= _MOST_WEEKS else "month"


def with_bars(frame: pl.DataFrame, unit: str) -> pl.DataFrame:
    """The frame with the first and the last moment of each row's bar."""
    every = {"day": "1d", "week": "1w", "month": "1mo"}[unit]
    start = pl.col("usage_date").dt.truncate(every).cast(pl.Datetime)
    return frame.with_columns(bar=start, bar_end=start.dt.offset_by(every))


def stacked(frame: pl.DataFrame, split: str, what: str) -> pl.DataFrame:
    """The sums of each bar's parts, and where each part begins and ends in it."""
    sums = frame.group_by("bar", "bar_end", split).agg(pl.sum(what))
    high = pl.col(what).cum_sum().over("bar")
    return (
        sums.filter(pl.col(what) > 0)
        .sort("bar", split)
        .with_columns(low=high - pl.col(what), high=high)
    )


def most(frame: pl.DataFrame, column: str, what: str, number: int = 9) -> pl.DataFrame:
    """The frame with all but the biggest values of a column under one name."""
    top = frame.group_by(column).agg(pl.sum(what)).sort(what, descending=True)
    names = top[column].head(number)
    kept = pl.when(pl.col(column).is_in(names.implode())).then(pl.col(column))
    return frame.with_columns(kept.otherwise(pl.lit(OTHER)).alias(column))


def local(frame: pl.DataFrame, zone: str) -> pl.DataFrame:
    """All moments as a clock in that zone shows them."""
    moments = pl.col(pl.Datetime("us", "UTC"))
    return frame.with_columns(
        moments.dt.convert_time_zone(zone).dt.replace_time_zone(None)
    )


def headline(daily: pl.DataFrame, start: date, stop: date) -> dict[str, float]:
    """Dollars, calls, tokens and days with calls, of some days of marts.daily_usage."""
    rows = within(daily, "usage_date", start, stop)
    return {
        "dollars": float(rows["cost_usd"].sum() or 0),
        "calls": int(rows["calls"].sum() or 0),
        "tokens": sum(int(rows[kind].sum() or 0) for kind in KINDS),
        "days": rows["usage_date"].n_unique(),
        "unpriced": int(rows["unpriced_calls"].sum() or 0),
    }


def change(now: float, then: float) -> str:
    """How much more or less it is than it was, in words."""
    if not then:
        return "none in the span before"
    return f"{(now - then) / then:+.0%} against the span before"


def list_prices(today: datetime | None = None) -> pl.DataFrame:
    """What each model of the price list costs, in dollars for a million tokens."""
    from genai_prices.data_snapshot import get_snapshot

    moment = today or datetime.now(UTC)
    rows: list[dict[str, Any]] = []
    for provider in get_snapshot().providers:
        for model in provider.models:
            price = model.get_prices(moment)
            plain, output = _base(price.input_mtok), _base(price.output_mtok)
            if plain is None or output is None:
                continue
            read, write = _base(price.cache_read_mtok), _base(price.cache_write_mtok)
            rows.append(
                {
                    "label": f"{model.id} · {provider.name}",
                    "input_usd": plain,
                    "cache_read_usd": plain if read is None else read,
                    "cache_write_usd": plain if write is None else write,
                    "output_usd": output,
                }
            )
    return pl.DataFrame(rows).unique("label", keep="first").sort("label")


def _base(rate: Any) -> float | None:
    """The rate of a short prompt, where it depends on the prompt's length."""
    base = getattr(rate, "base", rate)
    return None if base is None else float(base)


def at_prices(usage: pl.DataFrame, rate: Mapping[str, Any]) -> pl.DataFrame:
    """What each model's tokens cost, and what they would at these rates."""
    cost = pl.sum_horizontal(
        pl.col(kind).fill_null(0) * rate[kind.replace("_tokens", "_usd")] / 1e6
        for kind in KINDS
    )
    return (
        usage.with_columns(what_if=cost)
        .group_by("model")
        .agg(pl.sum("cost_usd", "what_if"))
        .sort("cost_usd", descending=True)
    )


def transcript(lines: Iterable[Mapping[str, Any]]) -> str:
    """Messages as a page, in a box of its own; nothing in them is taken for HTML."""
    parts = []
    for line in lines:
        text = line["text"] or ""
        rest = len(text) - _MOST_SHOWN
        cut = f"{text[:_MOST_SHOWN]} … {rest:,} more characters" if rest > 0 else text
        at = line["sent_at"]
        parts.append(
            f"<p><b>{html.escape(line['role'] or '')}</b>"
            f" <small>{at:%Y-%m-%d %H:%M}</small></p>"
            if at
            else f"<p><b>{html.escape(line['role'] or '')}</b></p>"
        )
        parts.append(f"<pre style='white-space: pre-wrap'>{html.escape(cut)}</pre>")
    return f"<div style='max-height: 32rem; overflow: auto'>{''.join(parts)}</div>"
