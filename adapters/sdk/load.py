"""An adapter from a file: for those that lie in a folder and in no package."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import cast

from agentlake.adapters.sdk.contract import Adapter


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
