"""Adapters from a file of their own, and adapters that are imported later."""

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import cast

import msgspec

from agentlake.adapters.sdk.contract import Adapter
from agentlake.adapters.sdk.introduced import Introduced, introduced
from agentlake.adapters.sdk.roots import Root


def adapter_from(path: Path) -> Adapter:
    """The module in this file; raises whatever it raises when it is run."""
    name = f"agentlake_added_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # structs look up their own module
    spec.loader.exec_module(module)
    return cast("Adapter", module)


class Said(msgspec.Struct, frozen=True):
    """What of an adapter must be known before anything is known to be there."""

    parser_version: int
    introduced: Introduced
    roots: tuple[Root, ...]


class Later:
    """An adapter that is imported when more is asked of it than where it looks.

    Most of the agents are not on a machine, and to import all adapters takes as long
    as a load that finds nothing new.
    """

    def __init__(self, source: str, module: str, said: Said) -> None:
        self.SOURCE = source
        self.ROOTS = said.roots
        self.PARSER_VERSION = said.parser_version
        self._module = module

    def __getattr__(self, name: str) -> object:
        vars(self).update(vars(import_module(self._module)))
        try:
            return vars(self)[name]
        except KeyError:
            raise AttributeError(name) from None


def manifest(
    adapters: Mapping[str, Adapter], gives: Mapping[str, tuple[str, ...]]
) -> bytes:
    """What `Said` says of these adapters, as JSON, to be read by `later`.

    `gives`: what the golden cases of each show.
    """
    said = {
        name: Said(
            adapter.PARSER_VERSION,
            msgspec.structs.replace(introduced(adapter), gives=gives[name]),
            adapter.ROOTS,
        )
        for name, adapter in sorted(adapters.items())
    }
    return msgspec.json.format(msgspec.json.encode(said)) + b"\n"


def told_of(data: bytes) -> dict[str, Said]:
    """What a manifest says, by source."""
    return msgspec.json.decode(data, type=dict[str, Said])


def later(modules: Mapping[str, str], data: bytes) -> dict[str, Adapter]:
    """These modules as adapters that are imported later; `data` is their manifest."""
    said = told_of(data)
    return {
        name: cast("Adapter", Later(name, module, said[name]))
        for name, module in modules.items()
    }
