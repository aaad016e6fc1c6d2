"""What was set for the requests that follow."""

from typing import Annotated, ClassVar

from agentlake.models.fact import Fact, Moment, one_of


class Turn(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One record that begins or ends a turn, or changes its settings.

    Formats that name the model once per turn, and not on each request, need it.
    """

    TABLE: ClassVar[str] = "turns"

    session_id: str
    turn_id: str | None = None
    kind: Annotated[
        str,
        one_of(
            "started",
            "ended",
            "user_message",
            context="names the model",
            run="the program was started and goes on with the session",
        ),
    ]
    """What the record begins, ends or sets."""
    model: str | None = None
    service_tier: str | None = None
    cwd: str | None = None
    began_at: Moment | None = None
    ordinal: int | None = None
