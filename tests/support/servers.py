"""Our servers as processes: `agentlake ui` and `agentlake notebook`, until the end."""

import functools
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress

PATIENCE_S = 240.0  # for machines that do something else as well


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def served(folder, home, warehouse, command):
    """The address of `agentlake <command>`, once it answers."""
    port = free_port()
    environ = os.environ | {
        "AGENTLAKE_HOME": str(home),
        "AGENTLAKE_WAREHOUSE": str(warehouse),
        "DAGSTER_HOME": str(folder / "dagster"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    words = [sys.executable, "-m", "agentlake", command, "--port", str(port)]
    log = folder / f"{command}.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            words, env=environ, stdout=out, stderr=out, start_new_session=True
        )
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + PATIENCE_S
        while not _answers(url):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, f"no answer:\n{log.read_text()}"
            time.sleep(0.5)
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(8)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def folder_served(folder):
    """The port at which the files of a folder are a site."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
