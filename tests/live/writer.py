"""A writer of a database as agents have one, told on stdin what to do next.

Run alone, without the project: `python writer.py FILE [USER]`, as that user if one is
given. Each line is a statement, or one of the words below; each is answered.
"""

import os
import signal
import sqlite3
import sys
import time


def answer():
    sys.stdout.write("ok\n")
    sys.stdout.flush()


def main(path):
    database = None
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "open":
            database = sqlite3.connect(path, isolation_level=None, timeout=5)
            for pragma in rest.split(","):
                database.execute(f"pragma {pragma}").fetchall()
        elif word == "close":
            database.close()
        elif word == "die":
            answer()
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "rewrite":
            # All rows in one transaction, again and again, until killed.
            reopen = rest == "reopen"
            answer()
            rewrite(path, database, reopen=reopen)
        else:
            database.execute(line)
        answer()


def rewrite(path, database, *, reopen):
    ((count,),) = database.execute("select max(stamp) from item").fetchall()
    while True:
        count += 1
        database.execute("begin immediate")
        database.execute(
            "update item set stamp = ?, pad = ?", (count, str(count) * 200)
        )
        database.execute("commit")
        time.sleep(0.01)
        if count % 5 == 0:
            database.execute("pragma wal_checkpoint(restart)").fetchall()
        if count % 17 == 0:
            database.execute("pragma wal_checkpoint(truncate)").fetchall()
        if reopen and count % 3 == 0:
            database.close()
            database = sqlite3.connect(path, isolation_level=None, timeout=5)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        os.setgid(int(sys.argv[2]))
        os.setuid(int(sys.argv[2]))
    main(sys.argv[1])
