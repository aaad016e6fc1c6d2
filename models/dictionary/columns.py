"""What a column of this name means in every table that does not say otherwise.

Same thing, same name: so one entry per name is enough.
"""

from agentlake.models.dictionary.entry import Entry, of_values
from agentlake.models.dictionary.rules import DROP_RULES

_SETTINGS_ZONE = "the time zone of the settings"
_MILLION = "US dollars per million tokens"
_THOUSAND = "US dollars per thousand"

KEYS = {
    "source": Entry("The agent: claude_code, codex, ..."),
    "session_id": Entry("The session, by the agent's own id."),
    "main_session_id": Entry(
        "The session that a subagent worked for; for any other, the session itself."
    ),
    "parent_session_id": Entry("The session from which this one came."),
    "root_session_id": Entry("The first session of the chain of parents."),
    "agent_id": Entry("The subagent; null for the session itself."),
    "message_id": Entry(
        "The message, by the agent's own id; with `@` and when it began where a gateway"
        " gave other replies the same."
    ),
    "parent_message_id": Entry("The message that this one answers."),
    "turn_id": Entry("The turn: one prompt and everything that followed from it."),
    "tool_call_id": Entry("The call of a tool, by the agent's own id."),
    "usage_id": Entry("The billed call to a model."),
    "request_id": Entry("The vendor's id of the request."),
    "record_id": Entry("The record's own id."),
    "parent_record_id": Entry("The record that this one answers."),
    "request_session_id": Entry(
        "On a copied record: the session in which the request was made."
    ),
    "forked_from_session_id": Entry(
        "The session from which a branch copied the record."
    ),
    "spawned_agent_id": Entry("The subagent that the call started."),
    "compaction_id": Entry("The compaction, by the agent's own id."),
    "price_id": Entry("The rate that was applied; see core.prices."),
    "block_index": Entry("Place of the block in its message, from 0."),
}

FACTS = {
    "role": of_values("Whose message it is.", "user", "assistant", "tool", "system"),
    "type": of_values(
        "What the block holds.",
        "text",
        "thinking",
        "tool_use",
        "tool_result",
        "image",
        "document",
        "attachment",
        "other",
    ),
    "trigger": of_values(
        "What started the compaction; null where the record does not say.",
        "manual",
        auto="the context was full",
        micro="old tool results were cleared",
    ),
    "name": Entry("The tool's name."),
    "text_hash": Entry("A number, the same where the text is; null: there is no text."),
    "input": Entry("The arguments as JSON; free text is a JSON string."),
    "model": Entry("The model, by the name that the agent wrote down."),
    "provider": Entry("Who serves the model, where the record says it."),
    "service_tier": Entry("The tier of service that the call was billed at."),
    "cwd": Entry("The working directory."),
    "display_name": Entry("The agent's name as people know it."),
    "icon": Entry("One sign that stands for the agent: an emoji or a letter."),
    "stores": Entry("How it keeps its history: lines, documents, databases."),
    "gives": Entry("The kinds of facts that its history holds."),
    "project": Entry(
        "The folder in which the session began, in one spelling; other folders of the"
        " same repository, as far as it is known, and worktrees count as the shortest."
    ),
    "repository": Entry(
        "The repository, by its address without scheme, user and ending."
    ),
    "title": Entry("The title that the user gave, else the best there is."),
    "category": of_values(
        "What started the session.",
        interactive="a person",
        automated="a program",
        cron="a schedule",
        probe="the agent asked about itself, at no cost",
        system="the agent itself",
    ),
    "relation": of_values(
        "How the session came from its parent.",
        "subagent",
        "fork",
        "continuation",
        main="it has none",
    ),
    "git_commit": Entry("The commit that was checked out."),
    "repo_url": Entry("Where the repository comes from."),
    "git_branch": Entry("The branch that was checked out."),
    "client_version": Entry("The version of the agent."),
    "entrypoint": Entry("How the agent was started."),
    "team": Entry("The team of agents to which it belongs."),
    "agent_type": Entry("The kind of subagent."),
    "is_copied": Entry("Whether the message was made in another session."),
    "is_sidechain": Entry("Whether it belongs to a subagent's thread."),
    "is_error": Entry("Whether the tool reported a failure."),
    "is_gone": Entry("Whether its agent has deleted it since; it is kept here."),
    "is_active": Entry(
        "Whether it is on the branch on which the conversation goes on."
    ),
    "depth": Entry("How many messages stand before it on its branch."),
    "status": of_values(
        "What became of the call.",
        "done",
        "failed",
        no_result="there is no answer",
        no_call="there is an answer and no call",
    ),
    "text": Entry("The words."),
    "result_text": Entry("What the tool answered."),
    "result_ref": Entry("The file to which the agent moved a long answer."),
    "label": Entry(
        "Who speaks in a prompt that nobody typed, or through which channel."
    ),
    "job": Entry("The scheduled job that the session is a run of."),
    "channel": Entry("Where the prompts come from, if not from a terminal."),
    "rule": Entry("Why the record is no call of its own.", values=DROP_RULES),
    "dropped_by": Entry(
        "Why the record is no call of its own; null where it is one.",
        values=DROP_RULES,
    ),
    "copies": Entry("How often the same call was written down again."),
    "granularity": of_values("What the numbers are of.", "call", "turn", "session"),
    "has_hourly_windows": Entry("Whether the plan's windows begin on a full hour."),
    "is_estimated": Entry("Whether the agent guessed, or reports less than the whole."),
    "is_partial": Entry(
        "Whether only others tell of the session: its own transcript is gone."
    ),
    "is_total": Entry("Whether it is a running total; core.usage_steps has its parts."),
    "step": Entry("Which reading of the running total, from 1."),
    "ordinal": Entry("The record's own number, where the format has one."),
    "precedence": Entry(
        "How exact this record is, compared with others that report the same."
    ),
}

MOMENTS = {
    "sent_at": Entry("When the message was sent."),
    "called_at": Entry("When the call was made."),
    "finished_at": Entry("When the answer was there."),
    "started_at": Entry("The first record that is the session's own."),
    "ended_at": Entry("The last record that is the session's own."),
    "updated_at": Entry(
        "When it was last active: its last record's time, of its subagents too."
    ),
    "usage_date": Entry("The day of the calls.", zone=_SETTINGS_ZONE),
    "began_at": Entry("When the turn began."),
    "linked_at": Entry("When the record was written."),
    "first_message_at": Entry("The oldest message."),
    "last_message_at": Entry("The newest message."),
    "first_called_at": Entry("The first of the calls."),
    "last_called_at": Entry("The last of the calls."),
    "compacted_at": Entry("When the context was replaced by its summary."),
    "duration_ms": Entry("How long it took."),
    "last_loaded_at": Entry("When something new was last loaded."),
}

NUMBERS = {
    "input_tokens": Entry("The part of the prompt that came from no cache."),
    "cache_read_tokens": Entry("The part of the prompt that was read from the cache."),
    "cache_write_tokens": Entry(
        "The part of the prompt that was written to the cache."
    ),
    "cache_write_1h_tokens": Entry(
        "The part of cache_write_tokens that is kept for an hour."
    ),
    "output_tokens": Entry("The answer, reasoning included."),
    "reasoning_tokens": Entry("The part of the answer that was spent on reasoning."),
    "web_search_requests": Entry("Web searches that are billed."),
    "cost_usd": Entry("Cost by the price list of that day; null: no price is known."),
    "cost_low_usd": Entry("The least it can have cost; cost_usd where that is known."),
    "cost_high_usd": Entry("The most it can have cost; cost_usd where that is known."),
    "reported_cost_usd": Entry("Cost as the agent itself reported it."),
    "unit": of_values(
        "What the numbers count.",
        "credits",
        "requests",
        tokens="split into input, cache and output",
        unsplit_tokens="tokens that nobody split",
        usd="only a cost is known",
    ),
    "amount": Entry("The number in `unit`, where that is not tokens."),
    "calls": Entry("Number of requests to a model; null: it is not known."),
    "sessions": Entry("Number of sessions."),
    "messages": Entry("Number of messages of its own."),
    "tool_calls": Entry("Number of calls of tools."),
    "difference_usd": Entry("How much more the agent told than we calculate."),
    "reported_prompt_tokens": Entry("The prompts by the agent's own count."),
    "prompt_tokens": Entry("The prompts: input, cache reads and cache writes."),
    "reported_output_tokens": Entry("The answers by the agent's own count."),
    "reported_at": Entry("When the agent wrote its total down."),
    "unpriced_calls": Entry("Rows without a cost of ours: no price, or only bounds."),
    "assumed_cost_usd": Entry("The part of the cost that rests on an assumption."),
    "reported_only_usd": Entry(
        "What the agent itself reported of what has no cost of ours; in no other sum."
    ),
    "unknown_cost_calls": Entry("Rows of which nobody knows any cost."),
    "failed": Entry("Calls that failed."),
    "no_result": Entry("Calls without an answer."),
    "rejects": Entry("Records, or parts of them, that could not be understood."),
    "models": Entry("The models that were used."),
    "path": Entry("The file of the transcript."),
    "file_bytes": Entry("Size of its files on disk."),
    "tokens_before": Entry("The context before.", unit="tokens"),
    "tokens_after": Entry("The context after.", unit="tokens"),
    "total_input_tokens": Entry("The running total of input_tokens."),
    "total_cache_read_tokens": Entry("The running total of cache_read_tokens."),
    "total_cache_write_tokens": Entry("The running total of cache_write_tokens."),
    "total_output_tokens": Entry("The running total of output_tokens."),
    "total_reasoning_tokens": Entry("The running total of reasoning_tokens."),
    "median_duration_ms": Entry("Half of the calls took longer."),
    "total_duration_ms": Entry("All calls together."),
    "subagents": Entry("All subagents below it."),
    "tree_depth": Entry("How many sessions stand above it: 0 for the first."),
    "tree_path": Entry("The sessions from the first one down to this one."),
    "tree_calls": Entry("Its calls and those of all subagents below it."),
    "tree_output_tokens": Entry("Its output and that of all subagents below it."),
    "tree_cost_usd": Entry("Its cost and that of all subagents below it."),
    "tree_unpriced_calls": Entry("Those of tree_calls whose cost is unknown."),
    "tree_cost_low_usd": Entry(
        "The least that it and all subagents below it can cost."
    ),
    "tree_cost_high_usd": Entry(
        "The most that it and all subagents below it can cost."
    ),
    "tree_reported_only_usd": Entry(
        "What the agent itself reported of calls of the tree without a cost of ours."
    ),
    "tree_unknown_cost_calls": Entry("Rows of the tree of which nobody knows a cost."),
}

PRICES = {
    "valid_from": Entry("From when on the rate applies; null: always.", zone="UTC"),
    "valid_to": Entry(
        "Until when the rate applies (exclusive); null: still.", zone="UTC"
    ),
    "time_from": Entry("From which time of day on; null: all day.", zone="UTC"),
    "time_to": Entry("Until which time of day (exclusive); null: all day.", zone="UTC"),
    "tier_above": Entry("Applies to prompts of more than this.", unit="tokens"),
    "tier_upto": Entry("Applies to prompts of at most this; null: any.", unit="tokens"),
    "input_usd": Entry("What came from no cache.", unit=_MILLION),
    "cache_read_usd": Entry("What was read from the cache.", unit=_MILLION),
    "cache_write_usd": Entry("What was written to the cache.", unit=_MILLION),
    "cache_write_1h_usd": Entry("What is kept for an hour.", unit=_MILLION),
    "output_usd": Entry("The answer.", unit=_MILLION),
    "reasoning_usd": Entry("The reasoning.", unit=_MILLION),
    "web_search_usd": Entry("Web searches.", unit=_THOUSAND),
    "request_usd": Entry("Requests.", unit=_THOUSAND),
    "weekdays": Entry(
        "On which days it applies, a bit each, Monday is 1; null: all.", zone="UTC"
    ),
    "seller": Entry("Whose price list holds."),
    "list_model": Entry("The model's name on that price list."),
    "origin": Entry(
        "Where the rate comes from: the package, our overlay or the user's settings."
    ),
    "page": Entry("The public page on which a rate of our overlay rests."),
    "vendor": Entry("Who made the model."),
    "canonical_model": Entry("The model's name in one spelling."),
    "price_channel": of_values(
        "Through whom the model is sold.",
        "bedrock",
        "vertex",
        "azure",
        **{"first-party": "its maker"},
        gateway="anybody else",
        subscription="a flat plan of its maker",
        local="nobody is paid",
    ),
    "price_region": Entry("Where it was run, as its name or its record says."),
    "price_tier": Entry("The service tier by which it is priced."),
    "context_variant": Entry("The size of its context, where its name says it."),
    "effort": Entry("How hard it thought, where its name says it."),
    "price_assumptions": Entry(
        "What was assumed to find its price, by the words of core.model_names; null:"
        " nothing."
    ),
    "unpriced_because": Entry("Why it has no price; null: it has one."),
    "because": Entry("Why there is no cost."),
    "settings_line": Entry("The line for the settings file that would price it."),
    "unpriced_rows": Entry("How many rows of core.usage have no cost."),
    "region": Entry("Where it was run, where that changes its price."),
}

HEALTH = {
    "streams": Entry("Streams (files) that were ever loaded."),
    "deferred_streams": Entry("Streams that could not be read; they are retried."),
    "waiting_streams": Entry("Streams whose last line had no newline yet."),
    "missing_streams": Entry(
        "Streams that are gone from disk; what they held is kept."
    ),
    "bytes": Entry("Size of the streams.", unit="bytes"),
    "records": Entry("Records in raw."),
    "first_seen_at": Entry("When the load began that first met it."),
    "last_seen_at": Entry("When the load began that last met it."),
    "example_path": Entry("A file that holds one: the latest."),
    "example_seq": Entry("Place of that record in the file, from 0."),
    "parser_version": Entry("The version of the parser that made the facts."),
    "last_reject_load_id": Entry("The load that brought the newest reject."),
}

LINEAGE = {
    "stream_id": Entry("The stream (file) from which the row comes; see meta.streams."),
    "generation": Entry("Which content of that stream."),
    "seq": Entry("Place of the record in its stream."),
    "part": Entry("Which fact of its kind within the record."),
    "load_id": Entry("The load that wrote the row; see meta.loads."),
}

COLUMNS = {
    **KEYS,
    **FACTS,
    **MOMENTS,
    **NUMBERS,
    **PRICES,
    **HEALTH,
    **LINEAGE,
}
