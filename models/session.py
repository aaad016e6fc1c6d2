"""A fragment of what is known about a session."""

from typing import Annotated, ClassVar

from agentlake.models.fact import Fact, Moment, one_of


class Session(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One statement about one session, or about one of its subagents.

    Many fragments make a session: a title line, a header, a side file. The core
    model picks for each column by the rule of that column; a fragment only says
    what its record said.
    """

    TABLE: ClassVar[str] = "sessions"

    session_id: str
    agent_id: str | None = None
    parent_session_id: str | None = None
    relation: Annotated[str, one_of("subagent", "fork", "continuation")] | None = None
    """How it came from its parent; null where the record does not say."""
    agent_type: str | None = None
    team: str | None = None
    title: str | None = None
    title_source: (
        Annotated[str, one_of("custom", "ai", "index", "summary", "database", "job")]
        | None
    ) = None
    """Which kind of record gave the title. A database beside the transcripts only fills
    in what they lack; the name of a job is the title of a session in which nobody
    spoke."""
    titled_at: Moment | None = None
    """When the title was set, where the format says it: then the latest one counts,
    whoever gave it."""
    leaf_record_id: str | None = None
    """For a summary title: the record whose session it belongs to."""
    cwd: str | None = None
    git_branch: str | None = None
    git_commit: str | None = None
    repo_url: str | None = None
    client_version: str | None = None
    entrypoint: str | None = None
    provider: str | None = None
    category: (
        Annotated[str, one_of("interactive", "automated", "cron", "system")] | None
    ) = None
    """What started the session, where the format says it."""
    job: str | None = None
    """The scheduled job that the session is a run of."""
    channel: str | None = None
    """Where its prompts come from (a messenger, a hook), if not from a terminal;
    direct: typed to a gateway, through no messenger."""
    is_header: bool | None = None
    """Whether it is the header with which a thread's stream begins. What follows it may
    be a copy of another thread's history that no record marks as one."""
    replay_base: str | None = None
    """Thread that this session refers to instead of copying it."""
    own_from_ordinal: int | None = None
    """Records with a smaller ordinal are inherited context."""
    started_at: Moment | None = None
