"""OpenCode: all sessions in one SQLite database per release channel.

Where:   <data>/opencode.db, other channels in opencode-<channel>.db beside it; up to
         1.1 a file per session, message and part below <data>/storage, in mid 2025
         below <data>/project/<name>/storage. <data> is ~/.local/share/opencode on
         every system (XDG_DATA_HOME moves it); OPENCODE_DB names another database.
Seen:    the JSON of 1.0.107 in real files; the tables of 1.2 - 1.19 and of 2.0 in the
         program's own source. How 2.0 takes over older sessions, and what of its own
         calls it later deletes, is known less well.
Trap:    a session may be in all three forms; its usage counts from the newest only.
         Rows are written again in place and deleted on revert, which was paid for.
         The tokens of a message are those of its last step. Output includes the
         reasoning up to 1.3, no more since 1.4: the total decides. A fork copies
         messages under new ids; equal times, model, tokens and cost tell.
Missing: what an aborted request cost before its first step ended. A cost of 0 is
         unknown, not free. Imported sessions of others look like one's own.
"""

import re
from collections.abc import Iterator

from agentlake.adapters.families.opencode import store
from agentlake.adapters.families.opencode.store import explode, parse, read, tables
from agentlake.adapters.sdk.contract import Options, Stream
from agentlake.adapters.sdk.roots import Root

__all__ = [
    "ICON",
    "NAME",
    "PARSER_VERSION",
    "ROOTS",
    "SOURCE",
    "STORES",
    "discover",
    "explode",
    "parse",
    "read",
    "tables",
]

SOURCE = "opencode"
NAME = "OpenCode"
ICON = "🔓"
STORES = ("databases", "documents")
_DATA = "${XDG_DATA_HOME:-~/.local/share}/opencode"
ROOTS = (Root(default=(_DATA,)), Root(default=(), env="OPENCODE_DB", file_in=_DATA))
PARSER_VERSION = 3

_DATABASE = re.compile(r"opencode(?:-[\w.-]+)?\.db", re.ASCII)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The databases of all channels, and the files from before there was one."""
    del options
    return store.discover(root, _DATABASE)
