"""An agent that writes to its database while it is loaded, and what its home holds."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from agentlake.adapters.sdk.conformance import tree

AGENT = """
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("pragma journal_mode = wal")
database.execute("pragma wal_autocheckpoint = 0")
for line in sys.stdin:
    database.executescript("begin;" + json.loads(line) + ";commit")
    print("committed", flush=True)
"""


class Agent:
    """The process that writes; it keeps the database open until it is told to end."""

    def __init__(self, database):
        self._process = subprocess.Popen(
            [sys.executable, "-c", AGENT, str(database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def does(self, sql):
        self._process.stdin.write(json.dumps(sql) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "committed\n"

    def ends(self):
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(timeout=30) == 0


def looks(home):
    """The whole directory: names, sizes, times, and what the files hold."""
    held = {
        path: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in map(Path, tree(home))
        if path.is_file()
    }
    return tree(home), held
