"""Commands whose n-th change of a file fails, or is the last thing that they do."""

import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

HOWS = ("killed", "torn", "broken", "full")
_HEAD = struct.Struct("qqq")
_SIZE = 4096
_SOURCE = Path(__file__).parents[1] / "faults" / "faults.c"

# It has imported everything before it forks: a command costs what its work costs.
_NURSERY = """
import json, os, sys
from pathlib import Path
import agentlake.pipelines.cli, agentlake.pipelines.sync
import agentlake.pipelines.warehouse.insert, agentlake.pipelines.ingest.arrow
from agentlake.pipelines.cli import main
from agentlake.pipelines.warehouse import compact

def run(words, environ):
    if words != ["compact"]:
        return main(words, environ)
    compact._SHARE = compact._LEAST_BYTES = -1
    compact.compact(Path(environ["AGENTLAKE_WAREHOUSE"]))
    return 0

print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
        continue
    os.setpgid(0, 0)
    said = os.open(asked["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    code = 99
    try:
        code = run(asked["words"], asked["environ"])
    except Exception as error:
        if asked["words"] == ["compact"]:  # who calls it says so
            os._exit(1)
        import traceback
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
"""


class Commands:
    """Runs commands of agentlake in processes of their own, with faults if wanted."""

    def __init__(self, process, control, said):
        self._process = process
        self._control = control
        self._said = said

    def run(self, *words, environ, folder, at=0, how="killed"):
        """Exit code (below 0: killed), what it said, and the number of changes."""
        head = _HEAD.pack(at, HOWS.index(how), 0)
        self._control[:] = (head + os.fsencode(folder)).ljust(_SIZE, b"\0")
        asked = {"words": words, "environ": environ, "said": str(self._said)}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        _, _, count = _HEAD.unpack(self._control[: _HEAD.size])
        return code, self._said.read_text(errors="replace"), count


@contextmanager
def commands(scratch):
    """What runs commands; the library is compiled for it."""
    library, control = scratch / "faults.so", scratch / "control"
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "no C compiler: `apt-get install gcc libc6-dev`"
    flags = ["-shared", "-fPIC", "-O1", "-o", library]
    subprocess.run([compiler, *flags, _SOURCE, "-ldl"], check=True)
    control.write_bytes(bytes(_SIZE))
    environ = os.environ | {
        "LD_PRELOAD": str(library),
        "FAULTS_CONTROL": str(control),
    }
    with (
        control.open("r+b") as file,
        mmap.mmap(file.fileno(), _SIZE) as shared,
        subprocess.Popen(
            [sys.executable, "-c", _NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
        ) as process,
    ):
        assert process.stdout.readline() == "ready\n"
        yield Commands(process, shared, scratch / "said")
        process.stdin.close()
