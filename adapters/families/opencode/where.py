"""Where a record stands: what it does not say itself."""

import msgspec


class Where(msgspec.Struct, frozen=True, gc=False):
    """The session and the message that a record belongs to, and its generation."""

    session: str
    message: str
    precedence: int
    id: str = ""
    """The part's own id."""
    at: float | None = None
    """When the row was made; where its content says when, that is better."""
    version: str | None = None
    """The version that began the session, where nothing there says which."""
