"""Walk a directory tree fast: one scandir per folder, no stat per file."""

import os


def files_below(root: str) -> list[str]:
    """The paths of all files below `root`, sorted.

    A folder that cannot be listed (gone, forbidden) has no files; a link to a
    folder is followed once, one that leads nowhere is a file. Nothing is opened.
    """
    files: list[str] = []
    folders: list[tuple[str, frozenset[str]]] = [(root, frozenset())]
    while folders:
        folder, above = folders.pop()
        try:
            with os.scandir(folder) as found:
                entries = list(found)
        except OSError:
            continue
        for entry in entries:
            if not is_folder(entry):
                files.append(entry.path)
            elif not entry.is_symlink():
                folders.append((entry.path, above))
            elif (target := os.path.realpath(entry.path)) not in above:
                folders.append((entry.path, above | {target}))
    files.sort()
    return files


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is one, or a link to one; a link to itself is none."""
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False
