"""The reports that vendors give, each known by the fields that it alone has.

Written from the vendors' public documentation and from public readers of these files;
no bill of a real organisation was seen. docs/prices.md says what was assumed of each.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

from agentlake.adapters.sdk.moments import from_epoch
from agentlake.errors import UserError
from agentlake.pipelines.prices.bills.bill import Bill, Line, Rows, number, rows_of

_CENTS = Decimal("0.01")
Pairs = Iterable[tuple[str, Any]]


def read(path: Path) -> Bill:
    """Read a report, whichever it is. Raises UserError for a file that is none."""
    rows, document = rows_of(path)
    if isinstance(document, list):  # what stands in `data`, without what is around it
        document = {"data": document}
    for seller, report, parse in _PARSERS:
        lines = list(parse(rows, document))
        if lines:
            return Bill(seller, report, lines)
    fields = ", ".join(sorted(rows[0])) if rows else ", ".join(sorted(document or ()))
    msg = (
        f"{path}: no report that is known (its fields: {fields or 'none'}). Known:"
        f" {'; '.join(f'{seller} {report}' for seller, report, _ in _PARSERS)}."
    )
    raise UserError(msg)


def _lines(day: date | None, model: Any, pairs: Pairs) -> Iterator[Line]:
    if day is None:
        return
    for kind, value in pairs:
        if amount := number(value):
            yield Line(day, str(model) if model else None, kind, amount)


def _day(value: Any) -> date | None:
    """A day in UTC: of an ISO text, or of seconds or milliseconds since 1970."""
    text = str(value or "").strip()
    try:
        if text.replace(".", "", 1).isdigit() and len(text) > len("20261130"):
            found = from_epoch(float(text))
            return found and found.date()
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return None
    zone = moment if moment.tzinfo is None else moment.astimezone(UTC)
    return zone.date()


def _buckets(document: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each result with the bucket of time that it is in."""
    data = document.get("data") if isinstance(document, dict) else None
    for bucket in data if isinstance(data, list) else ():
        results = bucket.get("results") if isinstance(bucket, dict) else None
        for result in results if isinstance(results, list) else ():
            if isinstance(result, dict):
                yield bucket, result


def _anthropic_usage(rows: Rows, document: Any) -> Iterator[Line]:
    for bucket, it in _buckets(document):
        if "uncached_input_tokens" in it:
            written = it.get("cache_creation") or {}
            short = number(written.get("ephemeral_5m_input_tokens")) or 0
            long = number(written.get("ephemeral_1h_input_tokens")) or 0
            tools = it.get("server_tool_use") or {}
            pairs = (
                ("input", it["uncached_input_tokens"]),
                ("cache_read", it.get("cache_read_input_tokens")),
                ("cache_write", short + long),
                ("cache_write_1h", long),
                ("output", it.get("output_tokens")),
                ("web_search", tools.get("web_search_requests")),
            )
            yield from _lines(_day(bucket.get("starting_at")), it.get("model"), pairs)
    for row in rows:
        if "usage_input_tokens_no_cache" in row:
            short = number(row.get("usage_input_tokens_cache_write_5m")) or 0
            long = number(row.get("usage_input_tokens_cache_write_1h")) or 0
            pairs = (
                ("input", row["usage_input_tokens_no_cache"]),
                ("cache_read", row.get("usage_input_tokens_cache_read")),
                ("cache_write", short + long),
                ("cache_write_1h", long),
                ("output", row.get("usage_output_tokens")),
                ("web_search", row.get("web_search_count")),
            )
            model = row.get("model_version") or row.get("model")
            yield from _lines(_day(row.get("usage_date_utc")), model, pairs)


def _anthropic_cost(rows: Rows, document: Any) -> Iterator[Line]:
    for bucket, it in _buckets(document):
        if "cost_type" in it or "token_type" in it:
            cents = number(it.get("amount"))
            cost = None if cents is None else cents * _CENTS
            day = _day(bucket.get("starting_at"))
            yield from _lines(day, it.get("model"), [("cost", cost)])
    for row in rows:
        if "cost_usd" in row and "usage_date_utc" in row:
            day = _day(row["usage_date_utc"])
            yield from _lines(day, row.get("model"), [("cost", row["cost_usd"])])


def _openai_usage(rows: Rows, document: Any) -> Iterator[Line]:
    of_json = (
        (bucket.get("start_time"), it)
        for bucket, it in _buckets(document)
        if "num_model_requests" in it
    )
    of_csv = (
        (row.get("start_time_iso") or row.get("start_time"), row)
        for row in rows
        if "num_model_requests" in row
    )
    for start, it in chain(of_json, of_csv):
        cached = number(it.get("input_cached_tokens")) or 0
        written = number(it.get("input_cache_write_tokens")) or 0
        prompt = number(it.get("input_tokens")) or 0
        pairs = (
            ("input", prompt - cached - written),
            ("cache_read", cached),
            ("cache_write", written),
            ("output", it.get("output_tokens")),
        )
        yield from _lines(_day(start), it.get("model"), pairs)


def _openai_costs(rows: Rows, document: Any) -> Iterator[Line]:
    for bucket, it in _buckets(document):
        if isinstance(amount := it.get("amount"), dict):
            day = _day(bucket.get("start_time"))
            model = _of_line_item(it.get("line_item"))
            yield from _lines(day, model, [("cost", amount.get("value"))])
    for row in rows:
        if "amount_value" in row:
            day = _day(row.get("start_time_iso") or row.get("start_time"))
            model = _of_line_item(row.get("line_item"))
            yield from _lines(day, model, [("cost", row["amount_value"])])


def _of_line_item(text: Any) -> str | None:
    """The model of `gpt-5.5-2026-04-23, cached input`."""
    return str(text).split(",", 1)[0].strip() if text else None


def _openrouter(rows: Rows, document: Any) -> Iterator[Line]:
    data = document.get("data") if isinstance(document, dict) else None
    for it in data if isinstance(data, list) else ():
        if isinstance(it, dict) and "completion_tokens" in it and "usage" in it:
            pairs: Pairs = (
                ("input", it.get("prompt_tokens")),
                ("output", it["completion_tokens"]),
                ("cost", it["usage"]),
            )
            yield from _lines(_day(it.get("date")), it.get("model"), pairs)
    for row in rows:
        if "cost_total" in row and "tokens_completion" in row:
            cached = number(row.get("tokens_cached")) or 0
            pairs = (
                ("input", (number(row.get("tokens_prompt")) or 0) - cached),
                ("cache_read", cached),
                ("output", row["tokens_completion"]),
                ("cost", row["cost_total"]),
            )
            model = row.get("model_permaslug") or row.get("model")
            yield from _lines(_day(row.get("created_at")), model, pairs)


def _cursor(rows: Rows, document: Any) -> Iterator[Line]:
    events = document.get("usageEvents") if isinstance(document, dict) else None
    for it in events if isinstance(events, list) else ():
        tokens = it.get("tokenUsage") if isinstance(it, dict) else None
        if isinstance(tokens, dict):
            cents = number(tokens.get("totalCents"))
            pairs: Pairs = (
                ("input", tokens.get("inputTokens")),
                ("cache_read", tokens.get("cacheReadTokens")),
                ("cache_write", tokens.get("cacheWriteTokens")),
                ("output", tokens.get("outputTokens")),
                ("cost", None if cents is None else cents * _CENTS),
            )
            yield from _lines(_day(it.get("timestamp")), it.get("model"), pairs)
    for row in rows:
        if "Input (w/o Cache Write)" in row:
            pairs = (
                ("input", row["Input (w/o Cache Write)"]),
                ("cache_write", row.get("Input (w/ Cache Write)")),
                ("cache_read", row.get("Cache Read")),
                ("output", row.get("Output Tokens") or row.get("Output")),
                ("cost", row.get("Cost") or row.get("Cost ($)")),
            )
            yield from _lines(_day(row.get("Date")), row.get("Model"), pairs)


_PARSERS: tuple[tuple[str, str, Callable[[Rows, Any], Iterator[Line]]], ...] = (
    ("anthropic", "usage report", _anthropic_usage),
    ("anthropic", "cost report", _anthropic_cost),
    ("openai", "usage", _openai_usage),
    ("openai", "costs", _openai_costs),
    ("openrouter", "activity", _openrouter),
    ("cursor", "usage export", _cursor),
)
