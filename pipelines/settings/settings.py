"""What the user asked for: one TOML file, a few variables, a few flags.

```toml
warehouse = "~/.agentlake/agentlake.duckdb"
home = "/mnt/backup/home/me"      # look for every source in another home
time_zone = "Europe/Berlin"       # else the machine's own

[sources.claude_code]
enabled = true
roots = ["~/.claude", "/srv/claude"]   # instead of the places it looks by itself
options = { any = "thing" }            # handed to the adapter unread

[prices."some-model"]                  # handed to the price table unread
input = 1.25
output = 10.0
```

A file says less than a variable (AGENTLAKE_WAREHOUSE, AGENTLAKE_HOME), and a
variable less than a flag. What cannot be understood is refused by name: a key
with a typing error must not look like a setting that does nothing.

Nothing here reads `os.environ`; it is passed in, so that a test sees only what it
made. Nothing here is slow to import either: every command starts with this file.
"""

import os
import sys
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agentlake.errors import UserError, did_you_mean
from agentlake.pipelines.settings.paths import at_home, with_variables
from agentlake.pipelines.settings.time_zone import checked_time_zone, machine_time_zone

_T = TypeVar("_T")
# The places of platformdirs, worked out here because that library reads os.environ.
_CONFIG_FOLDER = {
    "darwin": "~/Library/Application Support",
    "win32": "${LOCALAPPDATA:-~/AppData/Local}",
}.get(sys.platform, "${XDG_CONFIG_HOME:-~/.config}")


class SourceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the user said about one source; `roots` is None where they said nothing."""

    enabled: bool = True
    roots: tuple[str, ...] | None = None
    options: dict[str, Any] = {}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings in force, with every path absolute and every name checked.

    `config` is the file that was read, or would have been had it existed; the
    user's own adapters lie beside it. `is_other_home` tells that `home` is not the
    home of this process, whose variables then say nothing about it.
    """

    config: Path
    home: Path
    is_other_home: bool
    warehouse: Path
    time_zone: str
    sources: dict[str, SourceSettings] = {}
    prices: dict[str, dict[str, Any]] = {}

    @property
    def adapters_folder(self) -> Path:
        """Where the user's own adapters are."""
        return adapters_folder(self.config)

    def source(self, name: str) -> SourceSettings:
        """Give what was said about a source, or the defaults if nothing was."""
        return self.sources.get(name) or SourceSettings()


class _File(msgspec.Struct, frozen=True, kw_only=True):
    warehouse: str = "~/.agentlake/agentlake.duckdb"
    home: str | None = None
    time_zone: str | None = None
    sources: dict[str, Any] = {}  # checked one by one, so that an error names its key
    prices: dict[str, Any] = {}


def config_file(config: Path | None, environ: Mapping[str, str]) -> Path:
    """The settings file: the one asked for, or its place if none is."""
    own_home = _own_home(environ)
    asked = _asked(config, environ, "AGENTLAKE_CONFIG", own_home)
    folder = Path(at_home(with_variables(_CONFIG_FOLDER, environ), own_home))
    return asked or folder / "agentlake" / "config.toml"


def adapters_folder(config: Path) -> Path:
    """Where users put adapters of their own: beside their settings file."""
    return config.parent / "adapters"


def load_settings(
    *,
    config: Path | None,
    home: Path | None,
    warehouse: Path | None,
    environ: Mapping[str, str],
    known_sources: Collection[str],
) -> Settings:
    """Read the settings file, let variables and flags overrule it, check all of it.

    The three paths are the flags of the same names, None where none was given.
    A file that was asked for by name must exist; the default one need not.
    """
    own_home = _own_home(environ)
    must_exist = _asked(config, environ, "AGENTLAKE_CONFIG", own_home) is not None
    config = config_file(config, environ)
    file = _checked(_read_toml(config, must_exist=must_exist), _File, config, "")

    _refuse_unknown(file.sources, known_sources, config, "sources", "source")
    sources = {
        name: _checked(said, SourceSettings, config, f"sources.{name}")
        for name, said in file.sources.items()
    }
    for name, said in sources.items():
        for root in said.roots or ():
            _absolute(root, own_home, config, f"sources.{name}.roots")

    home = _asked(home, environ, "AGENTLAKE_HOME", own_home)
    if home is None and file.home is not None:
        home = _absolute(file.home, own_home, config, "home")
    if home is not None and not home.is_dir():
        message = (
            f"home {home} is not a folder, so nothing can be found in it."
            " Correct --home, AGENTLAKE_HOME or `home` in the settings file."
        )
        raise UserError(message)
    home = home or own_home

    place = _asked(warehouse, environ, "AGENTLAKE_WAREHOUSE", own_home)
    place = place or _absolute(file.warehouse, own_home, config, "warehouse")
    return Settings(
        config=config,
        home=home,
        is_other_home=os.path.realpath(home) != os.path.realpath(own_home),
        # A link stays a link: what it leads to is replaced, and what lies beside it.
        warehouse=place.resolve() if place.is_symlink() else place,
        time_zone=machine_time_zone(environ)
        if file.time_zone is None
        else checked_time_zone(file.time_zone, f"{config}: time_zone"),
        sources=sources,
        prices={
            name: _checked(said, dict[str, Any], config, f'prices."{name}"')
            for name, said in file.prices.items()
        },
    )


def _own_home(environ: Mapping[str, str]) -> Path:
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME")
    return Path(home).absolute() if home else Path.home()


def _asked(
    flag: Path | None, environ: Mapping[str, str], name: str, own_home: Path
) -> Path | None:
    """Give the flag's path, else the variable's; relative to the current folder."""
    text = str(flag) if flag is not None else environ.get(name, "").strip()
    return Path(at_home(text, own_home)).absolute() if text else None


def _absolute(text: str, home: Path, file: Path, key: str) -> Path:
    """Refuse a relative path: a file has no current folder that one could mean."""
    path = Path(at_home(text, home))
    if not path.is_absolute():
        message = f'{file}: {key}: "{text}" must be absolute or start with ~/'
        raise UserError(message)
    return path


def _read_toml(file: Path, *, must_exist: bool) -> dict[str, Any]:
    try:
        text = file.read_bytes().decode("utf-8-sig")  # Notepad writes a mark first
        return tomllib.loads(text)
    except FileNotFoundError:
        if not must_exist:
            return {}
        message = f"{file}: there is no such settings file. Correct the path."
    except tomllib.TOMLDecodeError as error:
        message = f"{file}: this is not TOML: {error}"
    except RecursionError:
        message = f"{file}: this is nested too deeply to be settings"
    except UnicodeDecodeError as error:
        message = f"{file}: this is not UTF-8 text, from byte {error.start} on"
    except OSError as error:
        message = f"{file}: cannot be read: {error.strerror}"
    raise UserError(message)


def _checked(value: object, into: type[_T], file: Path, at: str) -> _T:
    """Make a struct of a table, or say which key is unknown or of which wrong type."""
    allowed = getattr(into, "__struct_fields__", None)
    if isinstance(value, dict) and allowed:
        _refuse_unknown(value, allowed, file, at, "key")
    try:
        return msgspec.convert(value, into)
    except msgspec.ValidationError as error:
        what, _, where = str(error).replace("`", "").partition(" - at $.")
        what = what.replace("object", "table").replace("array", "list")
        what = what.replace(" | null", "")  # TOML has no null
        key = ".".join(filter(None, (at, where)))
        message = f"{file}: {key}: {what[0].lower()}{what[1:]}"
    raise UserError(message)


def _refuse_unknown(
    names: Collection[str], allowed: Collection[str], file: Path, at: str, kind: str
) -> None:
    for name in names:
        if name not in allowed:
            guess = did_you_mean(name, allowed)
            known = ", ".join(sorted(allowed)) or "none"
            full = f"{at}.{name}" if at else name
            message = f"{file}: unknown {kind} {full}.{guess} Allowed: {known}."
            raise UserError(message)
