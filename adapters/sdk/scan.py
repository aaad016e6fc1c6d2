"""Walk a directory tree fast: one scandir per folder, no stat per file."""

import os
from collections.abc import Iterator


def files_below(root: str) -> Iterator[os.DirEntry[str]]:
    """Every file below `root`, sorted by path within each folder.

    A folder that cannot be listed (gone, forbidden) has no files; a link to a
    folder is followed once. Nothing is opened.
    """
    yield from _walk(root, set())


def _walk(folder: str, above: set[str]) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _walk(entry.path, above)
            elif (target := os.path.realpath(entry.path)) not in above:
                yield from _walk(entry.path, above | {target})
        else:
            yield entry
