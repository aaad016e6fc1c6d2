"""A message, as one record shows it."""

from typing import Annotated, ClassVar

from agentlake.models.fact import Fact, Moment, one_of


class Message(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One occurrence of one message; its text is in its blocks.

    A message that the agent writes in several records (one per content block)
    has one such row per record, all with the same message_id.
    """

    TABLE: ClassVar[str] = "messages"

    session_id: str
    agent_id: str | None = None
    message_id: str
    record_id: str | None = None
    """The record's own id, where it differs from the message's."""
    parent_record_id: str | None = None
    in_tree: bool | None = None
    """Whether the conversation is a tree of records, each naming the one before it; the
    branch of the last record is the active one."""
    request_session_id: str | None = None
    """Session in which the request was made, on a copied record."""
    forked_from_session_id: str | None = None
    """Session from which a branch copied the record."""
    turn_id: str | None = None
    role: Annotated[str, one_of("user", "assistant", "tool", "system")]
    kind: Annotated[
        str,
        one_of(
            "prompt",
            "response",
            "thinking",
            "tool_result",
            "command",
            "compaction_summary",
            "error",
            local_output="what a command of the user's printed",
            meta="words of the agent itself",
        ),
    ]
    """What the message is."""
    model: str | None = None
    sent_at: Moment | None = None
    is_sidechain: bool | None = None
    ordinal: int | None = None
    cwd: str | None = None
    git_branch: str | None = None
    client_version: str | None = None
    entrypoint: str | None = None
    precedence: int | None = None
    """Where several stores hold one session, only messages of the highest count."""
    team: str | None = None
    agent_type: str | None = None
    label: str | None = None
    """Who speaks in a user message, and through what, where it was not typed into the
    agent itself: `[TG] Ann`, `[cron] nightly`, `[sys]`. Taken from a prefix, it is no
    longer in the text."""
