"""Where a payload stands, and how it is named when it has no id of its own."""

from datetime import datetime
from hashlib import sha256

import msgspec

from agentlake.adapters.codex.format import Payload


class Where(msgspec.Struct, frozen=True, gc=False):
    """What a payload does not say itself: its thread, and when and where it stands."""

    thread: str
    key: str = ""
    at: datetime | None = None
    ordinal: int | None = None

    def name(self, payload: Payload, text: str | None) -> str:
        """The payload's own id, else one that a rewrite of the file does not change.

        The oldest lines have no time; then the record's key tells them apart.
        """
        if payload.id:
            return payload.id
        at = self.at.isoformat() if self.at else self.key
        said = f"{at}|{payload.type}|{payload.role}|{text or ''}"
        return f"{self.thread}:{sha256(said.encode()).hexdigest()[:12]}"
