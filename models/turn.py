"""What was set for the requests that follow."""

from typing import ClassVar

from agentlake.models.fact import Fact, Moment


class Turn(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One record that begins or ends a turn, or changes its settings.

    Formats that name the model once per turn, and not on each request, need it.
    """

    TABLE: ClassVar[str] = "turns"

    session_id: str
    turn_id: str | None = None
    kind: str
    """context (names the model), started, ended or user_message; run: the program was
    started and goes on with the session."""
    model: str | None = None
    cwd: str | None = None
    began_at: Moment | None = None
    ordinal: int | None = None
