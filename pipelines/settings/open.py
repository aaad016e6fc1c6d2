"""The one way to open the settings: for the command line, Python and Dagster.

Which sources there are depends on where the settings file lies, and what the file may
say depends on which sources there are. So the two are done here, in this order.
"""

from collections.abc import Mapping
from pathlib import Path

from agentlake.adapters import registry
from agentlake.pipelines.settings.settings import (
    Settings,
    adapters_folder,
    config_file,
    load_settings,
)


def use_own_adapters(environ: Mapping[str, str], config: Path | None = None) -> None:
    """Let the registry find the adapters that lie beside the settings file."""
    registry.use_folder(adapters_folder(config_file(config, environ)))


def open_settings(
    environ: Mapping[str, str],
    *,
    config: Path | None = None,
    home: Path | None = None,
    warehouse: Path | None = None,
) -> Settings:
    """The settings in force. Raises UserError for what cannot be understood.

    The three paths are flags, None where none was given.
    """
    use_own_adapters(environ, config)
    return load_settings(
        config=config,
        home=home,
        warehouse=warehouse,
        environ=environ,
        known_sources=registry.names(),
    )
