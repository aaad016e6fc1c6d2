"""The warehouse from Python: marts, tables and queries as Polars frames.

    lake = agentlake.open()
    lake.daily_usage()                                        # one method per mart
    lake.table("core.messages").filter(...).collect()         # any table, lazy
    lake.sql("select model, sum(cost_usd) from core.usage group by all")
    lake.of_project("~/work/shop").session_summary()          # one project's sessions

What a method reads is the copy that is published at that moment, on a connection of
its own: the next call sees the next load, nothing is held open in between, and nothing
can be changed. So a notebook may stay open for days.

In every frame moments are in UTC, days (`usage_date`) in the lake's time zone, tokens
are counts, costs (`_usd`) decimals of six digits in US dollars, and unknown is null,
never 0: a sum of costs is that of the calls that have a price, and `unpriced_calls`
counts the others. `input_tokens`, `cache_read_tokens` and `cache_write_tokens` are
disjoint; `output_tokens` includes `reasoning_tokens`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl
import polars.selectors as cs
from polars.io.plugins import register_io_source

from agentlake.errors import UserError
from agentlake.pipelines.settings.open import open_settings
from agentlake.pipelines.settings.project import as_folder, only_of
from agentlake.pipelines.settings.time_zone import checked_time_zone
from agentlake.pipelines.warehouse.connect import NAME, attach_published

_TEXT, _COUNT = pl.String(), pl.Int64()
_USD = pl.Decimal(18, 6)
_MOMENT = pl.Datetime("us", "UTC")
_TOKENS: dict[str, pl.DataType] = {
    "input_tokens": _COUNT,
    "cache_read_tokens": _COUNT,
    "cache_write_tokens": _COUNT,
    "output_tokens": _COUNT,
}
_SEEN: dict[str, pl.DataType] = {
    "first_called_at": _MOMENT,
    "last_called_at": _MOMENT,
}
_PAID: dict[str, pl.DataType] = {
    "web_search_requests": _COUNT,
    "cost_usd": _USD,
    "unpriced_calls": _COUNT,
    "cost_low_usd": _USD,
    "cost_high_usd": _USD,
    "assumed_cost_usd": _USD,
    "reported_only_usd": _USD,
    "unknown_cost_calls": _COUNT,
}

SCHEMAS: dict[str, pl.Schema] = {
    "daily_usage": pl.Schema(
        {
            "usage_date": pl.Date(),
            "source": _TEXT,
            "model": _TEXT,
            "calls": _COUNT,
            **_TOKENS,
            **_PAID,
        }
    ),
    "model_usage": pl.Schema(
        {
            "source": _TEXT,
            "provider": _TEXT,
            "model": _TEXT,
            **_SEEN,
            "calls": _COUNT,
            **_TOKENS,
            "reasoning_tokens": _COUNT,
            **_PAID,
        }
    ),
    "other_usage": pl.Schema(
        {
            "usage_date": pl.Date(),
            "source": _TEXT,
            "model": _TEXT,
            "unit": _TEXT,
            "amount": pl.Float64(),
            "is_estimated": pl.Boolean(),
        }
    ),
    "project_usage": pl.Schema(
        {
            "source": _TEXT,
            "project": _TEXT,
            **_SEEN,
            "sessions": _COUNT,
            "calls": _COUNT,
            **_TOKENS,
            **_PAID,
        }
    ),
    "reported_difference": pl.Schema(
        {
            "source": _TEXT,
            "session_id": _TEXT,
            "model": _TEXT,
            "counter": _TEXT,
            "last_called_at": _MOMENT,
            "reported_cost_usd": _USD,
            "cost_usd": _USD,
            "difference_usd": _USD,
            "reported_prompt_tokens": _COUNT,
            "prompt_tokens": _COUNT,
            "reported_output_tokens": _COUNT,
            "output_tokens": _COUNT,
            "reported_tokens": _COUNT,
            "tokens": _COUNT,
            "because": _TEXT,
        }
    ),
    "session_summary": pl.Schema(
        {
            "source": _TEXT,
            "session_id": _TEXT,
            "title": _TEXT,
            "project": _TEXT,
            "category": _TEXT,
            "started_at": _MOMENT,
            "ended_at": _MOMENT,
            "updated_at": _MOMENT,
            "messages": _COUNT,
            "tool_calls": _COUNT,
            "calls": _COUNT,
            **_TOKENS,
            "reasoning_tokens": _COUNT,
            **_PAID,
            "models": pl.List(pl.String()),
            "path": _TEXT,
            "file_bytes": _COUNT,
        }
    ),
    "source_health": pl.Schema(
        {
            "source": _TEXT,
            "display_name": _TEXT,
            "icon": _TEXT,
            "streams": _COUNT,
            "deferred_streams": _COUNT,
            "waiting_streams": _COUNT,
            "missing_streams": _COUNT,
            "bytes": _COUNT,
            "records": _COUNT,
            "last_loaded_at": _MOMENT,
            "parser_version": pl.Int32(),
            "rejects": _COUNT,
            "last_reject_load_id": _COUNT,
            "first_message_at": _MOMENT,
            "last_message_at": _MOMENT,
        }
    ),
    "subagent_tree": pl.Schema(
        {
            "source": _TEXT,
            "session_id": _TEXT,
            "parent_session_id": _TEXT,
            "root_session_id": _TEXT,
            "tree_depth": _COUNT,
            "tree_path": pl.List(pl.String()),
            "relation": _TEXT,
            "agent_type": _TEXT,
            "title": _TEXT,
            "project": _TEXT,
            "started_at": _MOMENT,
            "ended_at": _MOMENT,
            "calls": _COUNT,
            "output_tokens": _COUNT,
            "cost_usd": _USD,
            "unpriced_calls": _COUNT,
            "cost_low_usd": _USD,
            "cost_high_usd": _USD,
            "reported_only_usd": _USD,
            "unknown_cost_calls": _COUNT,
            "subagents": _COUNT,
            "tree_calls": _COUNT,
            "tree_output_tokens": _COUNT,
            "tree_cost_usd": _USD,
            "tree_unpriced_calls": _COUNT,
            "tree_cost_low_usd": _USD,
            "tree_cost_high_usd": _USD,
            "tree_reported_only_usd": _USD,
            "tree_unknown_cost_calls": _COUNT,
        }
    ),
    "tool_usage": pl.Schema(
        {
            "source": _TEXT,
            "name": _TEXT,
            "calls": _COUNT,
            "failed": _COUNT,
            "no_result": _COUNT,
            "sessions": _COUNT,
            "median_duration_ms": _COUNT,
            "total_duration_ms": _COUNT,
            "last_called_at": _MOMENT,
        }
    ),
    "unknown_types": pl.Schema(
        {
            "source": _TEXT,
            "type": _TEXT,
            "records": _COUNT,
            "first_seen_at": _MOMENT,
            "last_seen_at": _MOMENT,
            "example_path": _TEXT,
            "example_seq": _COUNT,
        }
    ),
    "unpriced_models": pl.Schema(
        {
            "source": _TEXT,
            "provider": _TEXT,
            "model": _TEXT,
            "service_tier": _TEXT,
            "region": _TEXT,
            "because": _TEXT,
            "settings_line": _TEXT,
            "cost_low_usd": _USD,
            "cost_high_usd": _USD,
            "unpriced_rows": _COUNT,
            "calls": _COUNT,
            **_TOKENS,
            "reported_cost_usd": _USD,
            **_SEEN,
        }
    ),
    "usage_windows": pl.Schema(
        {
            "source": _TEXT,
            "started_at": _MOMENT,
            "ends_at": _MOMENT,
            **_SEEN,
            "calls": _COUNT,
            **_TOKENS,
            **_PAID,
        }
    ),
}
"""The columns of each mart's frame, whatever is in the warehouse."""

_BATCH = 100_000


class Lake:
    """A warehouse to be read. `agentlake.open()` makes one."""

    def __init__(self, path: Path, time_zone: str, project: str | None = None) -> None:
        self.path = path
        """The published file."""
        self.time_zone = time_zone
        """In which days are counted."""
        self.project = project
        """The folder whose sessions alone are counted; None: all are."""

    def __repr__(self) -> str:
        of = f", only {self.project}" if self.project else ""
        return f"<agentlake.Lake {self.path}, days in {self.time_zone}{of}>"

    def of_project(self, folder: str | Path) -> "Lake":
        """The same warehouse, of which only a project's sessions are counted.

        Those in the folder or below it; `~` and paths from here are understood, and the
        last part of its path is enough. `daily_usage`, `model_usage`, `other_usage`,
        `project_usage`, `session_summary` and `tool_usage` count no others; in a query
        of your own, `from sessions_of('shop')` and `semi join project_sessions('shop')
        using (source, session_id)` do the same.
        """
        return Lake(self.path, self.time_zone, as_folder(str(folder)))

    def sql(self, query: str) -> pl.DataFrame:
        """The rows of a query. Raises UserError with what DuckDB says of a wrong one.

        Tables are `core.usage` and so on; `sql/README.md` has macros for common
        questions. The warehouse cannot be changed; your own files can be read.
        """
        with self._connected() as connection:
            relation = connection.sql(query)
            if relation is None:  # a statement without rows
                return pl.DataFrame()
            # Several times as fast as relation.pl()
            return _in_utc(pl.DataFrame(relation))

    def table(self, name: str) -> pl.LazyFrame:
        """Any table or mart, read when it is collected, and only what is needed of it.

        `lake.table("core.messages").select("sent_at", "role")` never reads the texts.
        Raises UserError when there is no such table.
        """
        table = ".".join(f'"{part}"' for part in name.split(".", 1))
        schema = self.sql(f"from {table} limit 0").schema

        def read(
            columns: list[str] | None,
            predicate: pl.Expr | None,
            n_rows: int | None,
            batch_size: int | None,
        ) -> Iterator[pl.DataFrame]:
            names = schema.names() if columns is None else columns
            # Of rows that are only counted, one column is enough.
            chosen = ", ".join(f'"{one}"' for one in names or schema.names()[:1])
            limit = "" if n_rows is None else f" limit {n_rows}"
            with self._connected() as connection:
                relation = connection.sql(f"select {chosen} from {table}{limit}")
                for batch in relation.to_arrow_reader(batch_size or _BATCH):
                    frame = _in_utc(pl.DataFrame(batch))
                    yield frame if predicate is None else frame.filter(predicate)

        return register_io_source(read, schema=schema)

    def daily_usage(self) -> pl.DataFrame:
        """One row per day, source and model, newest day first.

        `usage_date` is the day of the call in the lake's time zone. `calls`, then
        `input_tokens`, `cache_read_tokens`, `cache_write_tokens`, `output_tokens` and
        `web_search_requests` are sums of that day; `cost_usd` is in US dollars, of all
        but the `unpriced_calls`.
        `cost_low_usd` and `cost_high_usd` bound it where sums hide the rate,
        `assumed_cost_usd` of it rests on assumptions; what only the agent itself
        reported is in `reported_only_usd`, and `unknown_cost_calls` have nothing.
        """
        return self._mart("daily_usage")

    def model_usage(self) -> pl.DataFrame:
        """One row per source, provider and model, the dearest first.

        `first_called_at` and `last_called_at` (UTC), `calls`, sums of `input_tokens`,
        `cache_read_tokens`, `cache_write_tokens`, `output_tokens` (with the
        `reasoning_tokens`) and `web_search_requests`; `cost_usd` in US dollars, of all
        but the `unpriced_calls`.
        `cost_low_usd` and `cost_high_usd` bound it where sums hide the rate,
        `assumed_cost_usd` of it rests on assumptions; what only the agent itself
        reported is in `reported_only_usd`, and `unknown_cost_calls` have nothing.
        """
        return self._mart("model_usage")

    def other_usage(self) -> pl.DataFrame:
        """One row per day, source, model and unit other than tokens, newest day first.

        `usage_date` is the day in the lake's time zone; `amount` is counted in `unit`
        (credits, requests, ...) and is in no other mart's tokens or `cost_usd`;
        `is_estimated` tells that the agent itself had only estimated a part of it.
        """
        return self._mart("other_usage")

    def project_usage(self) -> pl.DataFrame:
        """One row per source and project, the dearest first.

        `project` is the folder in which sessions were started, null where there was
        none. `first_called_at` and `last_called_at` (UTC), `sessions`, `calls`, sums of
        `input_tokens`, `cache_read_tokens`, `cache_write_tokens`, `output_tokens` and
        `web_search_requests`; `cost_usd` in US dollars, of all but the
        `unpriced_calls`.
        `cost_low_usd` and `cost_high_usd` bound it where sums hide the rate,
        `assumed_cost_usd` of it rests on assumptions; what only the agent itself
        reported is in `reported_only_usd`, and `unknown_cost_calls` have nothing.
        """
        return self._mart("project_usage")

    def reported_difference(self) -> pl.DataFrame:
        """One row per source, session_id, model and counter that an agent itself told.

        `reported_cost_usd`, `reported_prompt_tokens` and `reported_output_tokens` are
        its own; `cost_usd`, `prompt_tokens` and `output_tokens` ours, until
        `last_called_at` (UTC); `reported_tokens` and `tokens` are both together;
        `difference_usd` is what theirs is more, `because` why.
        """
        return self._mart("reported_difference")

    def session_summary(self) -> pl.DataFrame:
        """One row per source and session_id, the last active first, subagents included.

        `title`, `project`, `category`; `started_at` and `ended_at` of what was said,
        and `updated_at`, when it or a subagent was last active (UTC); `messages`,
        `tool_calls` and `calls` that were made in it; sums of `input_tokens`,
        `cache_read_tokens`, `cache_write_tokens`, `output_tokens` (with the
        `reasoning_tokens`) and `web_search_requests`;
        `cost_usd` in US dollars, of all but the `unpriced_calls`; the list of its
        `models`; the `path` of its file, and `file_bytes` of all its files.
        `cost_low_usd` and `cost_high_usd` bound it where sums hide the rate,
        `assumed_cost_usd` of it rests on assumptions; what only the agent itself
        reported is in `reported_only_usd`, and `unknown_cost_calls` have nothing.
        """
        return self._mart("session_summary")

    def source_health(self) -> pl.DataFrame:
        """One row per source: how much of it is loaded, and how fresh it is.

        `display_name` and `icon` of the agent; its `streams` (files), of which
        `deferred_streams` could not be read, `waiting_streams` end in the middle of a
        record and `missing_streams` are gone from disk; their `bytes` and `records`;
        `last_loaded_at`, `first_message_at` and `last_message_at` (UTC); the
        `parser_version`; `rejects`, the newest of them in load `last_reject_load_id`.
        """
        return self._mart("source_health")

    def subagent_tree(self) -> pl.DataFrame:
        """One row per source and session_id that has subagents or is one, by tree.

        `parent_session_id` spawned it, null for the session at the top, which is the
        `root_session_id` of all; `tree_depth` counts from 0, `tree_path` lists the
        sessions down to this one. `relation`, `agent_type`, `title`, `project`;
        `started_at` and `ended_at` (UTC); its own `calls`, `output_tokens`, and
        `cost_usd` in US dollars of all but the `unpriced_calls`; between
        `cost_low_usd` and `cost_high_usd`, `reported_only_usd`, `unknown_cost_calls`;
        how many `subagents` are below it, and the sums of it and them: `tree_calls`,
        `tree_output_tokens`, `tree_cost_usd`, `tree_unpriced_calls`,
        `tree_cost_low_usd`, `tree_cost_high_usd`, `tree_reported_only_usd`,
        `tree_unknown_cost_calls`.
        """
        return self._mart("subagent_tree")

    def tool_usage(self) -> pl.DataFrame:
        """One row per source and tool (`name`), the most called first.

        `calls`, of which `failed` failed and `no_result` never got a result; `sessions`
        that used it; `median_duration_ms` and `total_duration_ms` in milliseconds, of
        the calls whose duration is known; `last_called_at` (UTC).
        """
        return self._mart("tool_usage")

    def unknown_types(self) -> pl.DataFrame:
        """One row per source and type of record that its adapter does not know.

        How many `records` hold the `type`, when a load first and last met it
        (`first_seen_at`, `last_seen_at`, UTC), and the place of the latest:
        `example_path`, and `example_seq` counted from 0.
        """
        return self._mart("unknown_types")

    def unpriced_models(self) -> pl.DataFrame:
        """One row per source, provider, model, service_tier and region without a cost.

        `because` says why, `settings_line` what would price it; `cost_low_usd` and
        `cost_high_usd` bound what can be bounded, `reported_cost_usd` is the agent's
        own. `unpriced_rows` and `calls` of how many tokens: `input_tokens`,
        `cache_read_tokens`, `cache_write_tokens`, `output_tokens`, between
        `first_called_at` and `last_called_at`.
        """
        return self._mart("unpriced_models")

    def usage_windows(self) -> pl.DataFrame:
        """One row per source and 5-hour window, as plans count them, newest first.

        `started_at` and `ends_at` (UTC; `sql/marts/usage_windows.sql` has the rule),
        `first_called_at` and `last_called_at` in it, `calls`, sums of `input_tokens`,
        `cache_read_tokens`, `cache_write_tokens`, `output_tokens` and
        `web_search_requests`; `cost_usd` in US dollars, of all but the
        `unpriced_calls`; `cost_low_usd` and `cost_high_usd` bound it,
        `assumed_cost_usd` of it rests on assumptions, `reported_only_usd` is the
        agents' own figure beside it, `unknown_cost_calls` are in none of them.
        """
        return self._mart("usage_windows")

    def _mart(self, name: str) -> pl.DataFrame:
        schema = SCHEMAS[name]
        frame = self.sql(f"from marts.{name}")
        if not schema.items() <= frame.schema.items():
            msg = (
                f"{self.path}: marts.{name} was made by another version of agentlake."
                " Run `agentlake load` with this one."
            )
            raise UserError(msg)
        return frame.select(schema.names())

    @contextmanager
    def _connected(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with duckdb.connect() as connection:
            attach_published(connection, self.path, NAME)
            connection.execute(f"use {NAME}")
            connection.execute(f"set variable time_zone = '{self.time_zone}'")
            connection.execute(f"set timezone = '{self.time_zone}'")
            try:
                if self.project is not None:
                    connection.execute(only_of(self.project))
                yield connection
            except duckdb.Error as error:
                raise UserError(str(error)) from error


def open_lake(warehouse: str | Path | None, time_zone: str | None) -> Lake:
    """What `agentlake.open` does."""
    path = None if warehouse is None else Path(warehouse)
    settings = open_settings(os.environ, warehouse=path)
    if time_zone is not None:
        time_zone = checked_time_zone(time_zone, "time_zone")
    lake = Lake(settings.warehouse, time_zone or settings.time_zone)
    with lake._connected():  # a wrong path is told at once
        return lake


def _in_utc(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(cs.datetime(time_zone="*").dt.convert_time_zone("UTC"))
