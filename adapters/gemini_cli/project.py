"""Which folder a project is: what Gemini CLI wrote down beside its chats."""

from hashlib import sha256
from pathlib import Path

from agentlake.adapters.sdk.decode import Unreadable, untyped
from agentlake.adapters.sdk.scan import beside


def folder_of(chat: str) -> str | None:
    """The folder of the project that a file below tmp/<project> belongs to."""
    parts = Path(chat).parts
    top = max(at for at, part in enumerate(parts) if part == "tmp")
    root, name = Path(*parts[:top]), parts[top + 1]
    for below in ("tmp", "history"):
        told = beside(Path(root, below, name, ".project_root")) or b""
        if told.strip():
            return told.decode(errors="replace").strip()
    return _registered(root / "projects.json", name)


def _registered(registry: Path, name: str) -> str | None:
    """The folder with this short name, or with this hash, as older versions name it."""
    try:
        told = untyped(beside(registry) or b"null")
    except Unreadable:
        return None
    known = told.get("projects") if isinstance(told, dict) else None
    for folder, short in known.items() if isinstance(known, dict) else ():
        if name in (short, sha256(folder.encode()).hexdigest()):
            return str(folder)
    return None
