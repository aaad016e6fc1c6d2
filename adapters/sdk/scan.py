"""Look at a folder and what is below it: fast, bounded, and within the root.

One scandir per folder, no stat per file, nothing is opened, nothing raises. A folder
that cannot be looked at is noted, for it may hold history. So is a link that leads out
of the agent's folders, which is not followed; one that stays within is, once. A
database whose write-ahead log is left alone counts as there: its log was history.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from pathlib import Path

from agentlake.adapters.sdk.files import MOST_BESIDE, content, refuse_other

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_LOG = "-wal"
_NO_FRAMES = 32
"""The bytes of a write-ahead log that has nothing but its header."""


class Noted:
    """What was in the way of a look at the folders of one source."""

    def __init__(self, roots: Sequence[str]) -> None:
        self.roots = tuple(map(os.path.realpath, roots))
        self.unseen: dict[str, str] = {}
        """What could not be looked at, and why."""
        self.led_out: dict[str, str] = {}
        """Links that are not followed, and where they lead."""

    def allows(self, path: str) -> bool:
        """Whether this path, links followed, lies in one of the roots."""
        real = os.path.realpath(path)
        if any(_is_in(real, root) for root in self.roots):
            return True
        if os.path.exists(real):  # noqa: PTH110 - what leads nowhere is no news
            self.led_out[path] = real
        return False


_noted: ContextVar[Noted | None] = ContextVar("noted", default=None)


@contextmanager
def within(roots: Sequence[str]) -> Iterator[Noted]:
    """Look at these folders; what comes to light is noted in what this gives.

    No roots, no bounds. Without this, a walk stays below where it begins.
    """
    before = _noted.set(noted := Noted(roots))
    try:
        yield noted
    finally:
        _noted.reset(before)


def files_below(top: str) -> list[str]:
    """The paths of all files below a folder, sorted."""
    files: list[str] = []
    for _, entries in _walk(top):
        names = {entry.name for entry in entries}
        for entry in entries:
            if not is_folder(entry):
                files.append(entry.path)
            if _is_orphan(entry, names):
                files.append(entry.path.removesuffix(_LOG))
    files.sort()
    return files


def folders_below(top: str) -> Iterator[str]:
    """Every folder below one, that one included, each once."""
    return (folder for folder, _ in _walk(top))


def leads_out(top: str) -> bool:
    """Whether any link below a folder leads out of it."""
    with within([top]) as noted:
        return any(noted.led_out for _ in _walk(top))


def folders_holding(top: str, name: str, depth: int) -> Iterator[str]:
    """The folders with one of this name in them, at most so many steps down.

    What is inside of the named ones is not looked at.
    """
    at_top = top.rstrip(os.sep).count(os.sep)
    for folder, entries in _walk(top):
        inner = [one for one in entries if is_folder(one)]
        if any(one.name == name for one in inner):
            yield folder
        too_deep = folder.count(os.sep) - at_top >= depth - 1
        entries[:] = () if too_deep else [one for one in inner if one.name != name]


def matching(top: str, pattern: str) -> list[str]:
    """The plain files whose path from `top` fits, sorted: `chats/*/*/store.db`.

    Each step is a name, or a pattern for names.
    """
    steps, _, last = pattern.rpartition("/")
    folders = folders_in(top, steps) if steps else [top]
    return sorted(path for folder in folders for path in _files_in(folder, last))


def folders_in(top: str, pattern: str = "*") -> list[str]:
    """The folders whose path from `top` fits, sorted."""
    folders = [top] if _may_enter(top) else []
    for step in pattern.split("/"):
        folders = [inner for folder in folders for inner in _inner(folder, step)]
    return sorted(folders)


def _inner(folder: str, step: str) -> list[str]:
    if not _is_pattern(step):
        path = join(folder, step)
        return [path] if _is_kind(path, stat.S_ISDIR) and _may_enter(path) else []
    return [
        entry.path
        for entry in entries_of(folder)
        if fnmatchcase(entry.name, step) and is_folder(entry)
    ]


def _files_in(folder: str, step: str) -> list[str]:
    if not _is_pattern(step):
        path = join(folder, step)
        return [path] if is_file(path) else []
    entries = entries_of(folder)
    names = {entry.name for entry in entries}
    found = [
        entry.path
        for entry in entries
        if fnmatchcase(entry.name, step)
        and (entry.is_file(follow_symlinks=False) or is_file(entry.path))
    ]
    return found + [
        entry.path.removesuffix(_LOG)
        for entry in entries
        if fnmatchcase(entry.name.removesuffix(_LOG), step) and _is_orphan(entry, names)
    ]


def entries_of(folder: str) -> list["os.DirEntry[str]"]:
    """What is in a folder, without the links that lead out of the roots."""
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except (OSError, ValueError) as error:
        _note(folder, error)
        return []
    noted = _noted.get()
    if noted is None or not noted.roots:
        return entries
    return [one for one in entries if not one.is_symlink() or noted.allows(one.path)]


def is_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether it is one, or a link to one; a link to itself is none."""
    try:
        return entry.is_dir()
    except OSError as error:
        _note(entry.path, error)
        return False


def is_file(path: str | Path) -> bool:
    """Whether there is a file; a pipe or a device is noted and none.

    Of a database, its log alone is enough.
    """
    path = str(path)
    is_there = _is_kind(path, stat.S_ISREG) or log_is_alone(path)
    return is_there and _may_enter(path)


def beside(path: str | Path) -> bytes | None:
    """What a small file says that belongs to others: None if it is not to be had."""
    path = str(path)
    try:
        return content(path, MOST_BESIDE) if _may_enter(path) else None
    except (OSError, ValueError):
        return None


def _walk(top: str) -> Iterator[tuple[str, list["os.DirEntry[str]"]]]:
    """Each folder once, with what is in it; what is taken out is not walked."""
    if not _may_enter(top):
        return
    tops = {os.path.realpath(top)}
    folders = [(top, os.path.realpath(top))]
    links: list[str] = []
    while folders or links:
        if not folders:
            link = links.pop()
            real = os.path.realpath(link)
            if any(_is_in(real, one) for one in tops):
                continue  # it is walked under its own name
            if _noted.get() is None:
                continue
            tops.add(real)
            folders.append((link, real))
        folder, real = folders.pop()
        entries = entries_of(folder)
        yield folder, entries
        inner = [entry for entry in entries if is_folder(entry)]
        own = [
            (one.path, join(real, one.name)) for one in inner if not one.is_symlink()
        ]
        folders += [one for one in own if one[1] not in tops]
        links += [one.path for one in inner if one.is_symlink()]
        links.sort(reverse=True)


def _is_orphan(entry: "os.DirEntry[str]", names: set[str]) -> bool:
    """Whether it is the log of a database that is not there."""
    return (
        entry.name.endswith(_LOG)
        and entry.name.removesuffix(_LOG) not in names
        and log_is_alone(entry.path.removesuffix(_LOG))
    )


def log_is_alone(path: str) -> bool:
    """Whether a database is not there, and a log of it with something in it is."""
    try:
        return os.stat(path + _LOG).st_size > _NO_FRAMES and not os.path.lexists(path)  # noqa: PTH116
    except (OSError, ValueError):
        return False


def _is_kind(path: str, fits: Callable[[int], bool]) -> bool:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - one each per task and session
    except (OSError, ValueError) as error:
        _note(path, error)
        return False
    if not stat.S_ISDIR(mode):
        try:
            refuse_other(mode, path)
        except OSError as error:
            _note(path, error)
    return fits(mode)


def _note(path: str, error: Exception) -> None:
    """Note what could not be looked at; what is just not there is no news."""
    noted = _noted.get()
    if noted is not None and isinstance(error, OSError) and error.errno not in _ABSENT:
        noted.unseen[shut_at(path)] = error.strerror or str(error)


def shut_at(path: str) -> str:
    """The folder on the way to a path that lets nobody in; the path if all do."""
    while (above := os.path.dirname(path)) != path and not _lets_in(above):  # noqa: PTH120
        path = above
    return path


def _lets_in(folder: str) -> bool:
    as_we_are = os.access in os.supports_effective_ids
    return os.access(folder, os.X_OK, effective_ids=as_we_are)


def _may_enter(path: str) -> bool:
    noted = _noted.get()
    return noted is None or not noted.roots or noted.allows(path)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _is_pattern(step: str) -> bool:
    return "*" in step


def join(folder: str, name: str) -> str:
    """The path of what has this name in a folder."""
    return f"{folder.rstrip(os.sep)}{os.sep}{name}"
