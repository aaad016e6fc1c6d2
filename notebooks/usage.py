"""A look at the lake: spend, tokens, caches, windows, tools, subagents, prices.

    make notebook                                   your own warehouse
    make notebook ARGS="-- --warehouse demo.duckdb"   another one

It reads through `agentlake.open()`, so it may stay open while loads go on; run its
first cell again to see what is new. Nothing is written, and nothing is sent anywhere.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="agentlake: usage")


@app.cell
def _():
    import altair as alt
    import marimo as mo
    import polars as pl

    import agentlake

    days = alt.Axis(format="%b %d")
    return agentlake, alt, days, mo, pl


@app.cell
def _(agentlake, mo):
    warehouse = mo.cli_args().get("warehouse")
    lake = agentlake.open(warehouse)
    return (lake,)


@app.cell
def _(lake, mo):
    mo.md(f"""
    # What your agents used

    From `{lake.path}`, days in {lake.time_zone}. Calls without a known price are in no
    sum of dollars; `agentlake doctor` names their models.
    """)
    return


@app.cell
def _(lake, pl):
    # Calls with the project of their session; dollars as floats, for pictures only.
    calls = lake.sql("""
        select
            local_date(usage.called_at) as usage_date,
            coalesce(agents.display_name, usage.source) as source,
            coalesce(usage.model, '(no model)') as model,
            coalesce(parse_filename(sessions.project), '(no project)') as project,
            usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens,
            usage.output_tokens, cast(usage.cost_usd as double) as cost_usd
        from core.usage
        left join core.sources as agents on agents.source = usage.source
        left join core.sessions
            on sessions.source = usage.source
            and sessions.session_id = usage.session_id
        where usage.unit = 'tokens'
    """)
    by_day = calls.group_by("usage_date", "source", "model", "project").agg(
        pl.sum(
            "input_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "output_tokens",
            "cost_usd",
        )
    )
    return (by_day,)


@app.cell
def _(mo):
    split_by = mo.ui.dropdown(["source", "model", "project"], value="model", label="by")
    measure = mo.ui.dropdown(
        {"dollars": "cost_usd", "output tokens": "output_tokens"},
        value="dollars",
        label="show",
    )
    mo.hstack([measure, split_by], justify="start")
    return measure, split_by


@app.cell
def _(alt, by_day, days, measure, pl, split_by):
    def over_time(split, what):
        """Bars of days, stacked by source, model or project."""
        frame = by_day.group_by("usage_date", split).agg(pl.sum(what))
        title = "USD" if what == "cost_usd" else what.replace("_", " ")
        return (
            alt.Chart(frame, title=f"Per day, by {split}", width=640, height=240)
            .mark_bar()
            .encode(
                alt.X("yearmonthdate(usage_date):T", title=None, axis=days),
                alt.Y(f"{what}:Q", title=title),
                alt.Color(f"{split}:N", title=split),
                tooltip=[
                    alt.Tooltip("usage_date:T"),
                    alt.Tooltip(f"{split}:N"),
                    alt.Tooltip(f"{what}:Q", format=",.2f"),
                ],
            )
        )

    spend_chart = over_time(split_by.value, measure.value)
    spend_chart
    return over_time, spend_chart


@app.cell
def _(mo):
    mo.md("""
    ## Tokens, and how many came from the cache

    A prompt is input, cache reads and cache writes together; the three are disjoint.
    """)
    return


@app.cell
def _(alt, by_day, days, pl):
    kinds = ["input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"]
    tokens = (
        by_day.group_by("usage_date")
        .agg(pl.sum(*kinds))
        .unpivot(on=kinds, index="usage_date", variable_name="kind")
        .with_columns(pl.col("kind").str.replace("_tokens", "").str.replace("_", " "))
    )
    tokens_chart = (
        alt.Chart(tokens, title="Tokens per day, by kind", width=640, height=200)
        .mark_bar()
        .encode(
            alt.X("yearmonthdate(usage_date):T", title=None, axis=days),
            alt.Y("value:Q", title="tokens", axis=alt.Axis(format="~s")),
            alt.Color("kind:N", title=None),
            tooltip=["usage_date:T", "kind:N", alt.Tooltip("value:Q", format=",")],
        )
    )
    tokens_chart
    return (tokens_chart,)


@app.cell
def _(alt, by_day, days, pl):
    prompt = pl.sum_horizontal(
        "input_tokens", "cache_read_tokens", "cache_write_tokens"
    ).alias("prompt_tokens")
    hits = (
        by_day.with_columns(prompt)
        .group_by("usage_date", "source")
        .agg(pl.sum("cache_read_tokens", "prompt_tokens"))
        .filter(pl.col("prompt_tokens") > 0)
        .with_columns(hit_rate=pl.col("cache_read_tokens") / pl.col("prompt_tokens"))
    )
    cache_chart = (
        alt.Chart(hits, title="Part of the prompts read from the cache", width=640)
        .mark_line(point=True)
        .encode(
            alt.X("yearmonthdate(usage_date):T", title=None, axis=days),
            alt.Y(
                "hit_rate:Q",
                title=None,
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            alt.Color("source:N", title=None),
            tooltip=[
                "usage_date:T",
                "source:N",
                alt.Tooltip("hit_rate:Q", format=".1%"),
            ],
        )
        .properties(height=180)
    )
    cache_chart
    return (cache_chart,)


@app.cell
def _(mo):
    mo.md("""
    ## 5-hour windows

    As subscription plans count: a window starts with the first call after the one
    before has ended. The dashed line is your fullest one.
    """)
    return


@app.cell
def _(alt, lake, pl):
    windows = lake.usage_windows().with_columns(pl.col("^.*_usd$").cast(pl.Float64))
    fullest = (
        alt.Chart(windows)
        .mark_rule(strokeDash=[4, 4], color="gray")
        .encode(alt.Y("max(output_tokens):Q"))
    )
    windows_chart = (
        alt.Chart(windows, title="Output tokens per window", width=640, height=200)
        .mark_rect()
        .encode(
            alt.X("started_at:T", title=None),
            alt.X2("ends_at:T"),
            alt.Y("output_tokens:Q", title="output tokens"),
            alt.Y2(datum=0),
            alt.Color("source:N", title=None),
            tooltip=[
                "source:N",
                "started_at:T",
                "ends_at:T",
                "calls:Q",
                alt.Tooltip("output_tokens:Q", format=","),
                alt.Tooltip("cost_usd:Q", format="$.2f"),
            ],
        )
        + fullest
    )
    windows_chart
    return (windows_chart,)


@app.cell
def _(mo):
    mo.md("""
    ## Tools, and how often they fail
    """)
    return


@app.cell
def _(alt, lake, pl):
    tools = (
        lake.tool_usage()
        .head(20)
        .with_columns(
            tool=pl.col("name") + " (" + pl.col("source") + ")",
            ended=pl.col("calls") - pl.col("failed") - pl.col("no_result"),
        )
        .rename({"no_result": "no result", "ended": "done"})
        .unpivot(
            on=["done", "failed", "no result"],
            index=["tool", "calls"],
            variable_name="status",
            value_name="count",
        )
    )
    tools_chart = (
        alt.Chart(tools, title="The 20 most called tools", width=520)
        .mark_bar()
        .encode(
            alt.X("count:Q", title="calls"),
            alt.Y("tool:N", title=None, sort=alt.SortField("calls", "descending")),
            alt.Color(
                "status:N",
                title=None,
                scale=alt.Scale(
                    domain=["done", "failed", "no result"],
                    range=["#9ecae1", "#d62728", "#bdbdbd"],
                ),
            ),
            tooltip=["tool:N", "status:N", "count:Q"],
        )
    )
    tools_chart
    return (tools_chart,)


@app.cell
def _(mo):
    mo.md("""
    ## Sessions, and the trees of their subagents
    """)
    return


@app.cell
def _(lake, mo, pl):
    sessions = lake.session_summary().select(
        "started_at", "source", "title", "project", "messages", "calls", "cost_usd"
    )
    trees = lake.subagent_tree().select(
        pl.concat_str(
            pl.lit("\u2003\u2003").repeat_by("tree_depth").list.join(""),
            pl.coalesce("agent_type", "title", "session_id"),
        ).alias("who"),
        "source",
        "calls",
        "cost_usd",
        "tree_calls",
        "tree_cost_usd",
    )
    mo.vstack([mo.ui.table(sessions, page_size=10), mo.ui.table(trees, selection=None)])
    return


@app.cell
def _(alt, lake, pl):
    started = lake.session_summary().with_columns(
        pl.col("^.*_usd$").cast(pl.Float64),
        folder=pl.col("project").str.split("/").list.last(),
    )
    sessions_chart = (
        alt.Chart(started, title="Sessions", width=640, height=220)
        .mark_circle(opacity=0.7)
        .encode(
            alt.X("started_at:T", title=None),
            alt.Y("cost_usd:Q", title="USD"),
            alt.Size("calls:Q", title="calls"),
            alt.Color("folder:N", title="project"),
            tooltip=["title:N", "source:N", "started_at:T", "calls:Q", "cost_usd:Q"],
        )
    )
    sessions_chart
    return (sessions_chart,)


@app.cell
def _(mo):
    mo.md("""
    ## What if

    The same tokens at another model's prices, without caches of its own kind: cache
    writes at its plain rate for writes, no tiers and no fees. A rough answer, for a
    model that thinks more or less would use other tokens.
    """)
    return


@app.cell
def _(lake, mo):
    rates = lake.sql("""
        select
            model, cast(input_usd as double) as input_usd,
            cast(coalesce(cache_read_usd, input_usd) as double) as cache_read_usd,
            cast(coalesce(cache_write_usd, input_usd) as double) as cache_write_usd,
            cast(output_usd as double) as output_usd
        from core.prices
        where model is not null and tier_above < 0
        qualify row_number() over (
            partition by model order by valid_from desc nulls last, price_id
        ) = 1
        order by model
    """)
    models = rates["model"].to_list()
    other = mo.ui.dropdown(models, value=models[0] if models else None, label="all by")
    other
    return other, rates


@app.cell
def _(alt, by_day, other, pl, rates):
    def at_prices_of(model):
        """What all tokens would have cost at one model's rates; what they did cost."""
        (rate,) = rates.filter(pl.col("model") == model).to_dicts()
        parts = ["input", "cache_read", "cache_write", "output"]
        cost = pl.sum_horizontal(
            pl.col(f"{part}_tokens").fill_null(0) * rate[f"{part}_usd"] / 1e6
            for part in parts
        )
        return (
            by_day.with_columns(what_if=cost)
            .group_by("model")
            .agg(pl.sum("cost_usd", "what_if"))
            .sort("cost_usd", descending=True)
        )

    what_if = at_prices_of(other.value) if other.value else None
    what_if_chart = None
    if what_if is not None:
        named = {"cost_usd": "as it was", "what_if": f"at the prices of {other.value}"}
        long = what_if.rename(named).unpivot(
            on=list(named.values()), index="model", variable_name="price"
        )
        what_if_chart = (
            alt.Chart(long, title="Cost of the same tokens", width=520)
            .mark_bar()
            .encode(
                alt.X("value:Q", title="USD"),
                alt.Y("model:N", title=None, sort="-x"),
                alt.YOffset("price:N"),
                alt.Color(
                    "price:N",
                    title=None,
                    legend=alt.Legend(orient="bottom", labelLimit=400),
                ),
                tooltip=["model:N", "price:N", alt.Tooltip("value:Q", format="$.2f")],
            )
        )
    what_if_chart
    return at_prices_of, what_if_chart


if __name__ == "__main__":
    app.run()
