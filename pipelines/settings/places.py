"""Where a source is searched for: the user's roots, else those of its adapter."""

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import shut_at
from agentlake.pipelines.settings.listed import listed_in
from agentlake.pipelines.settings.paths import at_home, with_variables
from agentlake.pipelines.settings.settings import Settings

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


class Places(NamedTuple):
    """Where a source is, and where it may be: what cannot be seen, and why."""

    found: list[Path]
    unseen: dict[str, str]


def resolve_roots(
    roots: Sequence[Root], settings: Settings, source: str, environ: Mapping[str, str]
) -> list[Path]:
    """List the existing folders of a source, as `look_for` finds them."""
    return look_for(roots, settings, source, environ).found


def look_for(
    roots: Sequence[Root], settings: Settings, source: str, environ: Mapping[str, str]
) -> Places:
    """Find the existing folders of a source, each once, under its real path.

    The order is that of the user's `roots`, else of the declaration. Two names of
    one folder (a link, a mount) count once, so that no stream is loaded twice.
    Whether the source is enabled is for the caller to ask. A file is a place only
    of a source that has a variable for one.
    """
    found: dict[tuple[int, int], Path] = {}
    unseen: dict[str, str] = {}
    kinds = {stat.S_IFDIR} | {stat.S_IFREG for root in roots if root.file_in}
    listed = next((root.listed for root in roots if root.listed), None)
    places = list(_places(roots, settings, source, environ))
    if listed:
        places += [
            more
            for place in places
            for more in listed_in(
                place, listed, settings.home, is_other_home=settings.is_other_home
            )
        ]
    for place in places:
        try:
            status = place.stat()
        except ValueError:  # not a path
            continue
        except OSError as error:
            if error.errno not in _ABSENT:
                unseen[shut_at(str(place))] = error.strerror or str(error)
            continue
        if stat.S_IFMT(status.st_mode) in kinds:
            found.setdefault((status.st_dev, status.st_ino), place.resolve())
    return Places(list(found.values()), unseen)


def searched_places(
    roots: Sequence[Root], settings: Settings, source: str, environ: Mapping[str, str]
) -> list[str]:
    """List every place of a source, found or not, for "not found (looked in ...)"."""
    places = dict.fromkeys(_places(roots, settings, source, environ))
    if settings.is_other_home:
        return [str(place) for place in places]
    return [
        str(Path("~", place.relative_to(settings.home)))
        if place.is_relative_to(settings.home)
        else str(place)
        for place in places
    ]


def _places(
    roots: Sequence[Root], settings: Settings, source: str, environ: Mapping[str, str]
) -> Iterator[Path]:
    """Give every place in order: the user's, else each root's variable or default."""
    if settings.is_other_home:
        environ = {}
    chosen = settings.source(source).roots
    if chosen is not None:
        strip = next((root.strip for root in roots if root.strip), None)
        roots = [Root(default=chosen, strip=strip)]
    for root in roots:
        moved = environ.get(root.env, "").strip() if root.env else ""
        if not moved:
            texts = [with_variables(text, environ) for text in root.default]
        elif os.path.isdir(moved):
            texts = [moved]
        else:
            texts = [text.strip() for text in moved.split(",") if text.strip()]
        folder = with_variables(root.file_in or "", environ)
        for text in texts:
            place = Path(
                at_home(folder, settings.home), at_home(text, settings.home)
            ).absolute()
            yield place.parent if place.name == root.strip else place
