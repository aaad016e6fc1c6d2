"""The vault, which loaders alone open, and the published copy of it, for readers.

The path that people know is the copy. So whatever they leave open never stops a load,
and they never see one half done: `publish` puts a new file under the name, and who has
the old one open keeps it. The copy bears the vault's time of change; where both are
equal there is nothing to do, and where a load was killed before it published, the next
one does, whether or not it finds anything new.
"""

import os
import sys
import time
from pathlib import Path

from agentlake.errors import UserError
from agentlake.pipelines import timing
from agentlake.pipelines.warehouse import copy_closed
from agentlake.pipelines.warehouse.files import vault_of

_SHARE = 10
"""Throttled, publishing takes one part in so many of the time."""


def publish(path: Path, *, throttled: bool = False) -> None:
    """Let readers see what is in the vault, which this process has closed.

    `throttled` waits until publishing, where a copy is dear, takes a tenth of the
    time. Raises UserError when the copy cannot be made; the old one then stands.
    """
    vault = vault_of(path)
    if copy_closed.is_done(vault, path):
        return
    if throttled:
        time.sleep(rest_s(path))
    if problem := _copy(vault, path, copy_closed.CLOSED):
        msg = (
            f"{path}: the load is done and safe in {vault.name}, but it could not be"
            f" published: {problem}. Readers see the state before it; the next"
            " `agentlake load` publishes."
        )
        raise UserError(msg)


def publish_meanwhile(path: Path) -> None:
    """Let readers see what is there in the middle of a long load, if it is time.

    For the one who has the vault open: everything must be committed and checkpointed.
    What goes wrong is left to the end of the load, which publishes again.
    """
    if not rest_s(path):
        _copy(vault_of(path), path, copy_closed.HELD)


def rest_s(path: Path) -> float:
    """How long to wait, after the last copy, for the next one, throttled."""
    guard = copy_closed.guard_of(path)
    try:
        took, ended = float(guard.read_text() or 0), guard.stat().st_mtime
    except FileNotFoundError:
        return 0.0
    rest = took * (_SHARE - 1)
    return min(max(0.0, ended + rest - time.time()), rest)


def adopt(path: Path, vault: Path) -> None:
    """Make the vault of a whole warehouse file, which is left as it is.

    Raises UserError when that cannot be done.
    """
    problem = _copy(path, vault, copy_closed.ONCE)
    if problem or not vault.exists():
        msg = (
            f"{path}: could not be copied to {vault.name}, where loads write from now"
            f" on: {problem or 'another program writes to it'}. Nothing was changed."
        )
        raise UserError(msg)
    copy_closed.guard_of(vault).unlink(missing_ok=True)


def _copy(source: Path, target: Path, how: str) -> str:
    """What went wrong, if something did."""
    import subprocess  # only who copies pays for it

    script = [sys.executable, "-I", "-S", copy_closed.__file__]
    done = subprocess.run(  # noqa: S603 - our own Python
        [*script, source, target, str(timing.PUBLISH_WAIT_S), how, str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode in (0, copy_closed.BUSY):  # who is busy with it will publish
        return ""
    if done.returncode == copy_closed.NOT_CLOSED:
        return f"{copy_closed.log_of(source)} holds a part of it"
    return done.stderr.strip() or f"the copy ended with code {done.returncode}"
