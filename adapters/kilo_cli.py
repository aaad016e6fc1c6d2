"""Kilo CLI, and Kilo Code since version 7: OpenCode's store under another name.

Where:   <data>/kilo.db, builds of other channels in kilo-<channel>.db beside it, early
         ones a file per session, message and part below <data>/storage. <data> is
         ~/.local/share/kilo on every system; XDG_DATA_HOME moves it.
Seen:    no files of it: what is known are readers that take it for OpenCode's
Trap:    all of OpenCode's. Its versions are its own, above those of OpenCode, so output
         without a total to tell is taken to exclude the reasoning, as OpenCode's does.
Missing: what OpenCode misses. Kilo Code up to 5 keeps its tasks elsewhere, in another
         format; both histories can be on one machine, and do not overlap.
"""

import re
from collections.abc import Iterable, Iterator

from agentlake.adapters.families.opencode import store
from agentlake.adapters.families.opencode.store import explode, read, tables
from agentlake.adapters.sdk.contract import Options, Record, Reject, Stream
from agentlake.adapters.sdk.roots import Root
from agentlake.models.fact import Fact

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

SOURCE = "kilo_cli"
NAME = "Kilo CLI"
ICON = "🪨"
STORES = ("databases", "documents")
ROOTS = (Root(default=("${XDG_DATA_HOME:-~/.local/share}/kilo",)),)
PARSER_VERSION = 3

_FIRST = "7.0"
_DATABASE = re.compile(r"kilo(?:-[\w.-]+)?\.db", re.ASCII)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The databases of all channels, and the files from before there was one."""
    del options
    return store.discover(root, _DATABASE)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """As OpenCode's, of versions that all write the reasoning beside the output."""
    return store.parse_as(_FIRST, record)
