"""A relation between two sessions."""

from typing import Annotated, ClassVar

from agentlake.models.fact import Fact, Moment, one_of


class Link(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One record that says how a session came from another one."""

    TABLE: ClassVar[str] = "links"

    session_id: str
    """The child."""
    agent_id: str | None = None
    parent_session_id: str
    relation: Annotated[
        str,
        one_of(
            "subagent",
            "fork",
            "continuation",
            copied="history of the parent lies in the child's own stream",
        ),
    ]
    tool_call_id: str | None = None
    """The parent's call that spawned the child."""
    linked_at: Moment | None = None
