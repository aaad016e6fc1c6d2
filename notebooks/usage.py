"""A look at the lake: spend, tokens, caches, windows, tools, sessions, prices.

    agentlake notebook        your own warehouse (--warehouse FILE before it: another)

It reads through `agentlake.open()`, so it may stay open while loads go on; reload the
page to see what is new. Nothing is written, and nothing is sent anywhere.
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
    from agentlake.notebooks import parts

    return agentlake, alt, mo, parts, pl


@app.cell
def _(agentlake, mo):
    try:
        lake = agentlake.open(mo.cli_args().get("warehouse"))
        daily = lake.daily_usage().drop_nulls("usage_date")
        problem = ""
    except agentlake.UserError as error:
        lake = daily = None
        problem = f"""
    # There is nothing to show yet

    {error}

    `agentlake load` makes the warehouse from what your agents left on this machine. No
    agent at hand? `agentlake demo --keep demo.duckdb` makes one to look at, and
    `agentlake --warehouse demo.duckdb notebook` shows it.
    """
    else:
        if daily.is_empty():
            problem = f"""
    # No call of a model yet

    `{lake.path}` is there, and has no calls in it. `agentlake doctor` says where agents
    were searched for and what was found; `agentlake load` brings in what is new. Then
    reload this page.
    """
    mo.stop(bool(problem), mo.md(problem))
    heading = mo.md  # so that those of the pictures are not shown without them
    return daily, heading, lake


@app.cell
def _(lake, mo):
    mo.md(f"""
    # What your agents used

    From `{lake.path}`; days and hours are those of {lake.time_zone}.
    """)
    return


@app.cell
def _(daily, mo, parts):
    first_day, last_day = daily["usage_date"].min(), daily["usage_date"].max()
    preset = mo.ui.dropdown(
        list(parts.SPANS),
        value=parts.first_span((last_day - first_day).days + 1),
        label="show",
    )
    return first_day, last_day, preset


@app.cell
def _(first_day, last_day, mo, parts, preset):
    days = mo.ui.date_range(
        start=first_day,
        stop=last_day,
        value=parts.span_of(preset.value, first_day, last_day),
        label="days",
    )
    mo.hstack([preset, days], justify="start")
    return (days,)


@app.cell
def _(daily, days, mo, parts):
    start, stop = days.value
    unit = parts.unit_of(start, stop)
    now = parts.headline(daily, start, stop)
    then = parts.headline(daily, *parts.before(start, stop))
    unpriced = f"; {now['unpriced']:,} calls have no price" if now["unpriced"] else ""
    shown = {
        "dollars": f"${now['dollars']:,.2f}",
        "calls": f"{now['calls']:,}",
        "tokens": f"{now['tokens']:,}",
        "days": f"{now['days']:,}",
    }
    mo.hstack(
        [
            mo.stat(
                text,
                label="days with calls" if name == "days" else name,
                caption=parts.change(now[name], then[name])
                + (unpriced if name == "dollars" else ""),
                bordered=True,
            )
            for name, text in shown.items()
        ],
        widths="equal",
        wrap=True,
    )
    return start, stop, unit


@app.cell
def _(lake, parts):
    all_calls = parts.calls_by_day(lake)
    return (all_calls,)


@app.cell
def _(all_calls, alt, parts, start, stop, unit):
    used = parts.with_bars(parts.within(all_calls, "usage_date", start, stop), unit)
    form = "%b %Y" if unit == "month" else "%b %d"
    bar = alt.X("bar:T", title=None, axis=alt.Axis(format=form, labelOverlap=True))
    told = alt.Tooltip("bar:T", title=unit, format="%Y-%m-%d")
    return bar, told, used


@app.cell
def _(daily, mo):
    mo.stop(daily.is_empty())
    split_by = mo.ui.dropdown(["source", "model", "project"], value="model", label="by")
    measure = mo.ui.dropdown(
        {"dollars": "cost_usd", "output tokens": "output_tokens"},
        value="dollars",
        label="show",
    )
    mo.hstack([measure, split_by], justify="start")
    return measure, split_by


@app.cell
def _(alt, bar, measure, parts, split_by, told, unit, used):
    def over_time(split, what):
        """Bars, stacked by source, model or project."""
        frame = parts.stacked(parts.most(used, split, what), split, what)
        is_usd = what == "cost_usd"
        amount = alt.Axis(format="$,.2~f" if is_usd else "~s")
        title = "USD" if is_usd else what.replace("_", " ")
        return (
            alt.Chart(frame, title=f"Per {unit}, by {split}", width=640, height=240)
            .mark_rect()
            .encode(
                bar,
                alt.X2("bar_end:T"),
                alt.Y("low:Q", title=title, axis=amount),
                alt.Y2("high:Q"),
                alt.Color(f"{split}:N", title=split),
                tooltip=[
                    told,
                    alt.Tooltip(f"{split}:N"),
                    alt.Tooltip(f"{what}:Q", format="$,.2f" if is_usd else ","),
                ],
            )
        )

    spend_chart = over_time(split_by.value, measure.value)
    spend_chart
    return over_time, spend_chart


@app.cell
def _(heading):
    heading("""
    ## Tokens, and how many came from the cache

    A prompt is input, cache reads and cache writes together; the three are disjoint.
    """)
    return


@app.cell
def _(alt, bar, parts, pl, told, unit, used):
    tokens = (
        used.unpivot(
            on=parts.KINDS,
            index=["bar", "bar_end"],
            variable_name="kind",
            value_name="tokens",
        )
        .with_columns(pl.col("kind").str.replace("_tokens", "").str.replace("_", " "))
        .pipe(parts.stacked, "kind", "tokens")
    )
    tokens_chart = (
        alt.Chart(tokens, title=f"Tokens per {unit}, by kind", width=640, height=200)
        .mark_rect()
        .encode(
            bar,
            alt.X2("bar_end:T"),
            alt.Y("low:Q", title="tokens", axis=alt.Axis(format="~s")),
            alt.Y2("high:Q"),
            alt.Color("kind:N", title=None),
            tooltip=[told, "kind:N", alt.Tooltip("tokens:Q", format=",")],
        )
    )
    tokens_chart
    return (tokens_chart,)


@app.cell
def _(alt, bar, pl, told, used):
    prompt = pl.sum_horizontal(
        "input_tokens", "cache_read_tokens", "cache_write_tokens"
    ).alias("prompt_tokens")
    hits = (
        used.with_columns(prompt)
        .group_by("bar", "source")
        .agg(pl.sum("cache_read_tokens", "prompt_tokens"))
        .filter(pl.col("prompt_tokens") > 0)
        .with_columns(hit_rate=pl.col("cache_read_tokens") / pl.col("prompt_tokens"))
    )
    cache_chart = (
        alt.Chart(hits, title="Part of the prompts read from the cache", width=640)
        .mark_line(point=True)
        .encode(
            bar,
            alt.Y(
                "hit_rate:Q",
                title=None,
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            alt.Color("source:N", title=None),
            tooltip=[told, "source:N", alt.Tooltip("hit_rate:Q", format=".1%")],
        )
        .properties(height=180)
    )
    cache_chart
    return (cache_chart,)


@app.cell
def _(heading):
    heading("""
    ## 5-hour windows

    As subscription plans count: a window starts with the first call after the one
    before has ended. The dashed line is your fullest one of these days.
    """)
    return


@app.cell
def _(alt, lake, parts, pl, start, stop):
    windows = parts.within(
        parts.local(lake.usage_windows(), lake.time_zone), "started_at", start, stop
    ).with_columns(pl.col("^.*_usd$").cast(pl.Float64))
    fullest = (
        alt.Chart(windows)
        .mark_rule(strokeDash=[4, 4], color="gray")
        .encode(alt.Y("max(output_tokens):Q"))
    )
    clock = "%Y-%m-%d %H:%M"
    windows_chart = (
        alt.Chart(windows, title="Output tokens per window", width=640, height=200)
        .mark_rect()
        .encode(
            alt.X("started_at:T", title=None, axis=alt.Axis(labelOverlap=True)),
            alt.X2("ends_at:T"),
            alt.Y("output_tokens:Q", title="output tokens", axis=alt.Axis(format="~s")),
            alt.Y2(datum=0),
            alt.Color("source:N", title=None),
            tooltip=[
                "source:N",
                alt.Tooltip("started_at:T", format=clock),
                alt.Tooltip("ends_at:T", format=clock),
                alt.Tooltip("calls:Q", format=","),
                alt.Tooltip("output_tokens:Q", format=","),
                alt.Tooltip("cost_usd:Q", format="$,.2f"),
            ],
        )
        + fullest
    )
    windows_chart
    return (windows_chart,)


@app.cell
def _(heading):
    heading("""
    ## Tools, and how often they fail
    """)
    return


@app.cell
def _(alt, heading, lake, start, stop):
    tools = lake.sql(f"""
        with
            calls as (
                select name || ' (' || source || ')' as tool, status
                from core._tool_calls
                where status <> 'no_call'
                    and local_date(called_at) between '{start}' and '{stop}'
            ),
            biggest as (
                select tool, count(*) as calls from calls group by tool
                order by calls desc, tool limit 20
            )
        select tool, calls, count(*) as number,
            case status when 'failed' then 'failed' when 'no_result' then 'no result'
                else 'done' end as status
        from calls inner join biggest using (tool)
        group by all
    """)
    tools_chart = (
        alt.Chart(tools, title="The 20 most called tools", width=480)
        .mark_bar()
        .encode(
            alt.X("number:Q", title="calls", axis=alt.Axis(format=",")),
            alt.Y(
                "tool:N",
                title=None,
                sort=alt.SortField("calls", "descending"),
                axis=alt.Axis(labelLimit=260),
            ),
            alt.Color(
                "status:N",
                title=None,
                scale=alt.Scale(
                    domain=["done", "failed", "no result"],
                    range=["#9ecae1", "#d62728", "#bdbdbd"],
                ),
            ),
            tooltip=["tool:N", "status:N", alt.Tooltip("number:Q", format=",")],
        )
    )
    heading("No tool was called in these days.") if tools.is_empty() else tools_chart
    return (tools_chart,)


@app.cell
def _(heading):
    heading("""
    ## Sessions

    Choose one to read it, and to see the tree of its subagents.
    """)
    return


@app.cell
def _(lake, parts, pl, start, stop):
    started = parts.within(
        parts.local(lake.session_summary(), lake.time_zone), "started_at", start, stop
    ).with_columns(
        pl.col("^.*_usd$").cast(pl.Float64),
        folder=pl.col("project").str.split("/").list.last(),
    )
    return (started,)


@app.cell
def _(mo, pl, started):
    sessions = mo.ui.table(
        started.sort("started_at", descending=True).select(
            pl.col("started_at").dt.strftime("%Y-%m-%d %H:%M").alias("started"),
            "source",
            "title",
            pl.col("folder").alias("project"),
            "messages",
            "calls",
            pl.col("cost_usd").alias("USD"),
            "session_id",
        ),
        selection="single",
        page_size=10,
        show_data_types=False,
        show_column_summaries=False,
        wrapped_columns=["title"],
        hidden_columns=["session_id"],
        format_mapping={"USD": "{:,.2f}", "calls": "{:,.0f}", "messages": "{:,.0f}"},
    )
    sessions
    return (sessions,)


@app.cell
def _(lake, mo, parts, pl, sessions):
    mo.stop(sessions.value.is_empty())
    chosen = sessions.value.row(0, named=True)
    trees = lake.subagent_tree()
    root = trees.filter(
        pl.col("source") == chosen["source"],
        pl.col("session_id") == chosen["session_id"],
    )["root_session_id"].to_list()
    tree = trees.filter(
        pl.col("source") == chosen["source"], pl.col("root_session_id").is_in(root)
    ).select(
        pl.concat_str(
            pl.lit("· · ").repeat_by("tree_depth").list.join(""),
            pl.coalesce("agent_type", "title", "session_id"),
        ).alias("who"),
        "calls",
        pl.col("cost_usd").cast(pl.Float64).alias("USD"),
        pl.col("tree_calls").alias("calls with subagents"),
        pl.col("tree_cost_usd").cast(pl.Float64).alias("USD with subagents"),
    )
    messages = lake.table("core.messages").filter(
        pl.col("source") == chosen["source"],
        pl.col("session_id") == chosen["session_id"],
        pl.col("text").is_not_null(),
    )
    lines = parts.local(
        messages.select("seq", "role", "sent_at", "text").sort("seq").collect(),
        lake.time_zone,
    ).head(500)
    mo.vstack(
        [
            mo.ui.table(
                tree,
                selection=None,
                show_data_types=False,
                show_column_summaries=False,
                format_mapping={
                    "USD": "{:,.2f}",
                    "USD with subagents": "{:,.2f}",
                    "calls": "{:,.0f}",
                    "calls with subagents": "{:,.0f}",
                },
            )
            if tree.height > 1
            else mo.md("It has no subagents."),
            mo.Html(parts.transcript(lines.iter_rows(named=True))),
        ]
    )
    return


@app.cell
def _(alt, parts, started):
    sessions_chart = (
        alt.Chart(
            parts.most(started, "folder", "cost_usd"),
            title="What each cost",
            width=640,
            height=220,
        )
        .mark_circle(opacity=0.7)
        .encode(
            alt.X("started_at:T", title=None, axis=alt.Axis(labelOverlap=True)),
            alt.Y("cost_usd:Q", title="USD", axis=alt.Axis(format="$,.2~f")),
            alt.Size("calls:Q", title="calls"),
            alt.Color("folder:N", title="project"),
            tooltip=[
                "title:N",
                "source:N",
                alt.Tooltip("started_at:T", format="%Y-%m-%d %H:%M"),
                alt.Tooltip("calls:Q", format=","),
                alt.Tooltip("cost_usd:Q", format="$,.2f"),
            ],
        )
    )
    sessions_chart
    return (sessions_chart,)


@app.cell
def _(heading):
    heading("""
    ## What if

    The tokens of these days at another model's list price, without caches of its own
    kind: cache writes at its plain rate for writes, no tiers and no fees. A rough
    answer, for a model that thinks more or less would use other tokens.
    """)
    return


@app.cell
def _(daily, mo, parts):
    mo.stop(daily.is_empty())
    rates = parts.list_prices()
    models = rates["label"].to_list()
    usual = next((name for name in models if name.startswith("claude-haiku")), None)
    other = mo.ui.dropdown(models, value=usual, searchable=True, label="all by")
    other
    return other, rates


@app.cell
def _(alt, mo, other, parts, pl, rates, used):
    mo.stop(other.value is None)
    (rate,) = rates.filter(pl.col("label") == other.value).to_dicts()
    what_if = parts.at_prices(used, rate)
    was, would_be = what_if["cost_usd"].sum(), what_if["what_if"].sum()
    named = {"cost_usd": "as it was", "what_if": f"at the prices of {other.value}"}
    long = (
        what_if.head(20)
        .rename(named)
        .unpivot(on=list(named.values()), index="model", variable_name="price")
    )
    what_if_chart = (
        alt.Chart(long, title="Cost of the same tokens", width=480)
        .mark_bar()
        .encode(
            alt.X("value:Q", title="USD", axis=alt.Axis(format="$,.2~f")),
            alt.Y("model:N", title=None, sort="-x", axis=alt.Axis(labelLimit=260)),
            alt.YOffset("price:N"),
            alt.Color(
                "price:N",
                title=None,
                legend=alt.Legend(orient="bottom", labelLimit=400),
            ),
            tooltip=["model:N", "price:N", alt.Tooltip("value:Q", format="$,.2f")],
        )
    )
    mo.vstack(
        [
            mo.hstack(
                [
                    mo.stat(f"${was:,.2f}", label="as it was", bordered=True),
                    mo.stat(
                        f"${would_be:,.2f}",
                        label=f"all by {other.value}",
                        caption=parts.change(would_be, was).replace(
                            "the span before", "as it was"
                        ),
                        bordered=True,
                    ),
                ],
                justify="start",
            ),
            what_if_chart,
        ]
    )
    return what_if, what_if_chart


if __name__ == "__main__":
    app.run()
