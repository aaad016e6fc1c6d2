"""Whether a module is an adapter: what it lacks, in plain words.

The type checker tells the built-in ones; this tells everybody else, when theirs is
loaded.
"""

import inspect
import re

from agentlake.adapters.sdk.roots import Root

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FUNCTIONS = {
    "discover": ("root", "options"),
    "parse": ("record",),
    "explode": ("stream", "data"),
    "tables": ("stream",),
    "read": ("stream", "cursor", "options"),
    "health": ("root",),
}
_NEEDED = ("discover", "parse")


def what_is_missing(adapter: object) -> list[str]:
    """What keeps this from being an adapter; empty if nothing does."""
    found: list[str] = []
    source = getattr(adapter, "SOURCE", None)
    if not isinstance(source, str) or not _NAME.fullmatch(source):
        found.append(
            'SOURCE must be its short name, lower case, like SOURCE = "acme_code"'
            f"; it is {source!r}"
        )
    roots = getattr(adapter, "ROOTS", None)
    if not isinstance(roots, tuple) or not all(isinstance(it, Root) for it in roots):
        found.append(
            'ROOTS must be a tuple of Root, like ROOTS = (Root(default=("~/.acme",)),)'
            ", or () if nothing lies in a folder"
        )
    elif any(isinstance(root.default, str) for root in roots):
        found.append(
            'the default of a Root must be a tuple: ("~/.acme",) with the comma'
        )
    version = getattr(adapter, "PARSER_VERSION", None)
    if not isinstance(version, int) or version < 0:
        found.append("PARSER_VERSION must be a number, at first PARSER_VERSION = 1")
    found += [
        f'{name} must be a text, like {name} = "Acme Code"'
        for name in ("NAME", "ICON")
        if not isinstance(getattr(adapter, name, ""), str)
    ]
    stores = getattr(adapter, "STORES", ())
    if not isinstance(stores, tuple) or not all(isinstance(it, str) for it in stores):
        found.append('STORES must be a tuple of texts: ("lines",) with the comma')
    for name, parameters in _FUNCTIONS.items():
        function = getattr(adapter, name, None)
        if function is None and name not in _NEEDED:
            continue
        if not callable(function):
            found.append(f"{name}({', '.join(parameters)}) is missing")
        elif not _takes(function, len(parameters)):
            found.append(f"{name} must take ({', '.join(parameters)})")
    return found


def _takes(function: object, count: int) -> bool:
    assert callable(function)
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # written in C: it does not say
        return True
    return True
