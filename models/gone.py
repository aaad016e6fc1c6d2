"""What an agent removed from its own store after it was loaded."""

from typing import ClassVar

from agentlake.models.fact import Fact


class Gone(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One session or message that its source no longer has; all of it stays here.

    Made by the loader: an adapter sees records, not what is missing.
    """

    TABLE: ClassVar[str] = "gone"

    session_id: str
    agent_id: str | None = None
    message_id: str | None = None
    """None: the session itself."""
