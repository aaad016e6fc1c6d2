"""What an adapter says of itself before any of its agent's files is read."""

import msgspec

from agentlake.adapters.sdk.contract import Adapter


class Introduced(msgspec.Struct, frozen=True):
    """How a source is called, what it is kept in, and what it gives.

    `gives` is what the golden cases of a built-in one show; of others it is not known.
    """

    name: str
    icon: str
    stores: tuple[str, ...] = ()
    gives: tuple[str, ...] | None = None


def introduced(adapter: Adapter) -> Introduced:
    """What this adapter says; one that says nothing is called by its SOURCE."""
    name = getattr(adapter, "NAME", None) or adapter.SOURCE.replace("_", " ").title()
    return Introduced(
        name,
        getattr(adapter, "ICON", None) or name[0].upper(),
        tuple(getattr(adapter, "STORES", None) or ()),
    )
