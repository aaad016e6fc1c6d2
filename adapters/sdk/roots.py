"""Where a source looks for its streams, said as data."""

import msgspec


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A list, kept by the agent, of folders elsewhere that hold more of its history.

    `file` is a JSON file below the root, with an object for each folder: its text
    `folder` is the folder, and if that is not absolute, it lies below its `above`.
    """

    file: str
    folder: str
    above: str


class Root(msgspec.Struct, frozen=True, kw_only=True):
    """One place of a source: its default folders, and the variable that moves it.

    `default` may use `~` for the home that is asked for and
    `${XDG_CONFIG_HOME:-~/.config}` for a variable with its fallback. Folders
    that do not exist are fine: list the places of every operating system.

    `env` is the agent's own variable. Its value, a path or a comma-separated
    list of paths, takes the place of this root's `default`, and of no other's.

    `strip` is the last folder that people put into a path although the root
    lies above it: with `strip="projects"`, `~/.claude/projects` means `~/.claude`.

    `listed` names a list below the root whose folders are roots as well.

    `file_in` says that `env` names a file, which is the root itself: `discover` is
    given its path. A relative one lies in the folder `file_in`.
    """

    default: tuple[str, ...]
    env: str | None = None
    strip: str | None = None
    listed: Listed | None = None
    file_in: str | None = None
