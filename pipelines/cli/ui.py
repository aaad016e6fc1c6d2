"""`agentlake ui`: start Dagster in this process's place, on this warehouse."""

import os
import shutil
import signal
import socket
import sys
from argparse import Namespace
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from agentlake.errors import UserError
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.warehouse.one_ui import PID, hold, lock_of

HOST = "127.0.0.1"
DEV = "agentlake.pipelines.orchestration.dev"
# Its successor `dg dev` does not know our package mapping. As text: -W escapes it, and
# naming the class would import Dagster.
_SUPERSEDED = "ignore:Function `dev_command` is superseded"
_HELD = "agentlake-ui.lock"
DAGSTER_YAML = Path(__file__).resolve().parents[2] / "dagster_home" / "dagster.yaml"
WORKSPACE = DAGSTER_YAML.with_name("workspace.yaml")


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Become `dagster dev`; does not come back, unless another one is in the way."""
    _refuse_without_dagster()
    refuse_taken(args.port)
    os.umask(0o077)  # its logs and records name what was said: they are the user's
    home = dagster_home(settings, environ)
    url = f"http://{HOST}:{args.port}"
    hold(home / _HELD, "Dagster folder", url)
    hold(lock_of(settings.warehouse), "warehouse", url)
    print(
        f"Dagster on {settings.warehouse}: {url}"
        f" in up to a minute; Ctrl-C stops it. Its own state is in {home}.",
        file=sys.stderr,
        flush=True,
    )
    command = [sys.executable, "-m", DEV, "-w", str(WORKSPACE)]
    command += ["-h", HOST, "-p", str(args.port)]
    # A shell that starts us in the background ignores Ctrl-C for us, and Dagster would
    # inherit that and never stop.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.execve(sys.executable, command, environment(settings, environ, home))  # noqa: S606 - our own Python


def environment(
    settings: Settings, environ: Mapping[str, str], home: Path
) -> dict[str, str]:
    """The variables that make the definitions see the settings of this command."""
    ours = {
        "AGENTLAKE_HOME": str(settings.home),
        "DAGSTER_HOME": str(home),
        PID: str(os.getpid()),  # Dagster takes our place
        "PYTHONWARNINGS": ",".join(
            filter(None, (environ.get("PYTHONWARNINGS"), _SUPERSEDED))
        ),
    }
    return {**environ, **warehouse_variables(settings), **ours}


def warehouse_variables(settings: Settings) -> dict[str, str]:
    """The variables that lead another program to the warehouse of this command."""
    ours = {"AGENTLAKE_WAREHOUSE": str(settings.warehouse)}
    if settings.config.exists():  # a file asked for by name must exist
        ours["AGENTLAKE_CONFIG"] = str(settings.config)
    return ours


def dagster_home(settings: Settings, environ: Mapping[str, str]) -> Path:
    """Dagster's own folder, with our settings for it unless it has some."""
    asked = environ.get("DAGSTER_HOME", "").strip()
    home = Path(asked).absolute() if asked else _beside(settings.warehouse)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (home / DAGSTER_YAML.name).exists():
        shutil.copyfile(DAGSTER_YAML, home / DAGSTER_YAML.name)
    return home


def _beside(warehouse: Path) -> Path:
    """~/.agentlake/dagster; two warehouses in one other folder do not share theirs."""
    is_default = warehouse.parts[-2:] == (".agentlake", "agentlake.duckdb")
    return warehouse.with_name("dagster" if is_default else f"{warehouse.stem}.dagster")


def _refuse_without_dagster() -> None:
    """Dagster is an extra: the other commands do without it."""
    if any(find_spec(name) is None for name in ("dagster", "dagster_webserver")):
        msg = (
            "Dagster is not installed, so there is no UI."
            " Install it: pip install 'agentlake[ui]'"
        )
        raise UserError(msg)


def refuse_taken(port: int) -> None:
    """Dagster itself would start silently and serve nobody."""
    with socket.socket() as probe:
        if os.name == "posix":  # else a port that was just left counts as taken
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "no such port"
            msg = (
                f"port {port} cannot be used: {reason}. Another `agentlake ui` may be"
                " running on it. Choose another: agentlake ui --port 3333"
            )
            raise UserError(msg) from error
