"""Every source there is: the built-in ones, one line each, and what users add.

A user adds a source without touching this: one Python file in a folder of the
settings, or an installed package with an entry point in the group
`agentlake.adapters`. One that is broken names itself and its line, and stops
nothing else.
"""

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from agentlake.adapters.sdk.contract import Adapter
from agentlake.adapters.sdk.introduced import Introduced
from agentlake.adapters.sdk.load import adapter_from, later, told_of
from agentlake.adapters.sdk.run import place_of_error

GROUP = "agentlake.adapters"

BUILT_IN: dict[str, str] = {
    "amp": "agentlake.adapters.amp",
    "antigravity": "agentlake.adapters.antigravity",
    "claude_code": "agentlake.adapters.claude_code",
    "cline_family": "agentlake.adapters.cline_family",
    "codex": "agentlake.adapters.codex",
    "copilot_cli": "agentlake.adapters.copilot_cli",
    "crush": "agentlake.adapters.crush",
    "cursor": "agentlake.adapters.cursor",
    "droid": "agentlake.adapters.droid",
    "gemini_cli": "agentlake.adapters.gemini_cli",
    "goose": "agentlake.adapters.goose",
    "hermes": "agentlake.adapters.hermes",
    "kilo_cli": "agentlake.adapters.kilo_cli",
    "kimi": "agentlake.adapters.kimi",
    "kiro": "agentlake.adapters.kiro",
    "mistral_vibe": "agentlake.adapters.mistral_vibe",
    "oh_my_pi": "agentlake.adapters.oh_my_pi",
    "openclaw": "agentlake.adapters.openclaw",
    "opencode": "agentlake.adapters.opencode",
    "pi": "agentlake.adapters.pi",
    "qwen_code": "agentlake.adapters.qwen_code",
    "vscode_copilot": "agentlake.adapters.vscode_copilot",
    "warp": "agentlake.adapters.warp",
    "zcode": "agentlake.adapters.zcode",
    "zed": "agentlake.adapters.zed",
}


MANIFEST = Path(__file__).with_name("manifest.json")
"""Where the built-in ones look, made of them by `make accept`."""


class Added(NamedTuple):
    """What users added: the adapters by source, and what is broken, with its reason."""

    adapters: dict[str, Adapter]
    broken: dict[str, str]


_folders: list[Path] = []


def use_folder(folder: Path) -> None:
    """Look for the user's own adapters in this folder, and in no other, from now on."""
    _folders[:] = [folder]


def names() -> list[str]:
    """The names of all sources; the built-in ones are not imported for it."""
    return [*BUILT_IN, *added().adapters]


def adapters() -> dict[str, Adapter]:
    """Every adapter by its source name, in the order in which they are shown."""
    own = {name: cast("Adapter", import_module(to)) for name, to in BUILT_IN.items()}
    return own | added().adapters


def all_later() -> dict[str, Adapter]:
    """The same, but the built-in ones are imported when they are needed."""
    return _built_in_later(MANIFEST.read_bytes()) | added().adapters


@cache  # the same ones each time: what is known of a plan hangs on its adapter
def _built_in_later(manifest: bytes) -> dict[str, Adapter]:
    return later(BUILT_IN, manifest)


@cache
def introduced_built_in() -> dict[str, Introduced]:
    """What the built-in ones say of themselves, and what they give."""
    said = told_of(MANIFEST.read_bytes())
    return {source: one.introduced for source, one in said.items()}


def added() -> Added:
    """What users added; imported once."""
    return _added(_folders[0] if _folders else None)


@cache
def _added(folder: Path | None) -> Added:
    found = Added({}, {})
    for path in added_files(folder):
        _take(found, str(path), partial(adapter_from, path))
    for origin, load in _entry_points():
        _take(found, origin, load)
    return found


def _take(found: Added, origin: str, load: Callable[[], Adapter]) -> None:
    # Imported here: without anything added it is not needed.
    from agentlake.adapters.sdk.shape import what_is_missing

    try:
        adapter = load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a user's does
        found.broken[origin] = place_of_error(error, origin)
        return
    if missing := what_is_missing(adapter):
        found.broken[origin] = f"{origin}: {'; '.join(missing)}"
    elif adapter.SOURCE in BUILT_IN or adapter.SOURCE in found.adapters:
        found.broken[origin] = f"{origin}: there is a source {adapter.SOURCE} already"
    else:
        found.adapters[adapter.SOURCE] = adapter


def added_files(folder: Path | None) -> list[Path]:
    """The adapters in a folder: its Python files, tests and hidden ones left out."""
    if folder is None or not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.glob("*.py")
        if not path.name.startswith(("_", ".", "test_", "conftest"))
    )


def _entry_points() -> Iterator[tuple[str, Callable[[], Adapter]]]:
    """Installed packages that announce an adapter.

    importlib.metadata takes longer to import than many a load takes: it is asked only
    if a package in sight mentions the group.
    """
    if not any(_mentions_group(folder) for folder in sys.path):
        return
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        yield f"{point.value} ({point.name})", point.load


def _mentions_group(folder: str) -> bool:
    try:
        with os.scandir(folder or ".") as found:
            packages = [it.path for it in found if it.name.endswith("-info")]
    except OSError:
        return False
    for package in packages:
        try:
            said = Path(package, "entry_points.txt").read_bytes()
        except OSError:
            continue
        if GROUP.encode() in said:
            return True
    return False
