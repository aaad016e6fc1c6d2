"""A project as people name it, and how a connection comes to ask about it alone."""

import os
import re
from pathlib import Path

from agentlake.pipelines.literal import literal

_DRIVE = re.compile(r"[A-Za-z]:[/\\]")


def as_folder(text: str) -> str:
    """A project as it is typed: a path from here or from the home, or its last part."""
    is_path = any(part in text for part in ("/", "\\")) or text in {".", "..", "~"}
    if not is_path or _DRIVE.match(text):
        return text
    return os.path.abspath(Path(text).expanduser())


def only_of(folder: str) -> str:
    """SQL after which the marts of a connection count the sessions of a project."""
    return (
        "set variable session_keys = (select coalesce(list(session_key(source,"
        f" session_id)), []) from project_sessions({literal(folder)}))"
    )
