"""Readers: an answer at any moment, from one committed state; and no load waits."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from support.transcripts import Disk, lines
from support.warehouses import like

from agentlake.pipelines import timing
from agentlake.pipelines.cli import main
from agentlake.pipelines.settings.settings import load_settings
from agentlake.pipelines.sync import sync
from agentlake.pipelines.warehouse import copy_closed
from agentlake.pipelines.warehouse import publish as publishing
from agentlake.pipelines.warehouse.connect import attach_published, reading, writing
from agentlake.pipelines.warehouse.files import vault_of
from agentlake.pipelines.warehouse.publish import publish, rest_s

pytestmark = pytest.mark.slow

KEPT = {".lake.duckdb.copying", "lake.duckdb", "lake.vault.duckdb"}


class Machine(Disk):
    """A home that grows, and the command that loads it."""

    def __init__(self, folder):
        super().__init__(folder / "home")
        self.lakes = folder / "lakes"
        self.lakes.mkdir()
        self.warehouse = self.lakes / "lake.duckdb"
        self.written = 0
        self.environ = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "AGENTLAKE_WAREHOUSE": str(self.warehouse),
        }

    def speak(self, calls=1):
        """The agent makes some calls, of 10 output tokens each."""
        self.append(lines(*range(self.written, self.written + calls)))
        self.written += calls

    def load(self):
        assert main(["load", "--quiet"], self.environ) == 0

    def start_load(self):
        command = [sys.executable, "-m", "agentlake", "load", "--quiet"]
        return subprocess.Popen(command, env=self.environ, start_new_session=True)

    def calls(self):
        """What a reader sees."""
        with reading(self.warehouse) as connection:
            return connection.execute("select count(*) from core.usage").fetchone()[0]

    def in_vault(self):
        with writing(self.warehouse) as connection:
            return connection.execute("select count(*) from core.usage").fetchone()[0]

    def names(self):
        return {path.name for path in self.lakes.iterdir()}


@pytest.fixture
def machine(tmp_path, empty_warehouse):
    machine = Machine(tmp_path)
    like(empty_warehouse, machine.warehouse)
    return machine


CLIENT = """
import duckdb, sys
con = duckdb.connect(sys.argv[1], read_only=True)
for line in sys.stdin:
    print(con.execute("select count(*) from core.usage").fetchone()[0], flush=True)
"""


@contextmanager
def client(warehouse):
    """A program that has the warehouse open, and asks it when it is told to."""
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(warehouse)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def ask():
            process.stdin.write("\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield ask
        process.stdin.close()


def test_what_is_left_open_stops_no_load_and_stays_what_it_was(machine):
    machine.speak(2)
    machine.load()
    with client(machine.warehouse) as left_open:
        assert left_open() == 2
        for _ in range(3):
            machine.speak()
            machine.load()
            assert left_open() == 2
            assert machine.calls() == machine.written
            with client(machine.warehouse) as another:
                assert another() == machine.written
    assert machine.names() == KEPT
    assert {path.stat().st_mode & 0o777 for path in machine.lakes.iterdir()} == {0o600}


ASK_AGAIN_AND_AGAIN = '''
import duckdb, sys, time
from pathlib import Path
stop = Path(sys.argv[2])
print("ready", flush=True)
while not stop.exists():
    time.sleep(0.02)
    with duckdb.connect(sys.argv[1], read_only=True) as con:
        print(*con.execute("""
            select count(*), sum(output_tokens)::bigint,
                (select sum(calls) from marts.daily_usage)::bigint
            from core.usage
        """).fetchone())
'''


def test_whoever_asks_while_loads_write_gets_one_committed_state(machine, tmp_path):
    machine.speak(3)
    machine.load()
    stop = tmp_path / "stop"
    command = [sys.executable, "-c", ASK_AGAIN_AND_AGAIN, machine.warehouse, stop]
    readers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    committed = {machine.written}
    try:
        for reader in readers:
            assert reader.stdout.readline() == b"ready\n"
        for calls in (1, 300, 2, 5):
            machine.speak(calls)
            machine.load()
            committed.add(machine.written)
    finally:
        stop.touch()
        found = [reader.communicate(timeout=60) for reader in readers]
    for out, err in found:
        assert err == b""
        answers = [[int(word) for word in line.split()] for line in out.splitlines()]
        counts = [count for count, *_ in answers]
        assert counts == sorted(counts)
        assert len(set(counts)) > 1
        assert set(counts) <= committed
        assert all(
            answer == [n, 10 * n, n] for n, answer in zip(counts, answers, strict=True)
        )


def test_a_load_that_is_killed_at_any_instant_leaves_the_old_or_the_new(machine):
    order = random.Random(3)
    machine.speak(3)
    start = time.monotonic()
    with machine.start_load() as load:
        assert load.wait() == 0
    takes = time.monotonic() - start
    seen, killed = 3, 0
    for _ in range(6):
        machine.speak(order.choice([1, 300]))
        with machine.start_load() as load:
            time.sleep(order.uniform(takes / 3, takes * 1.1))
            if load.poll() is None:
                os.killpg(load.pid, signal.SIGKILL)  # with the process that copies
                killed += 1
            else:  # the first one, which imports everything, takes longest
                takes /= 2
        now = machine.calls()
        assert seen <= now <= machine.written
        seen = now
    assert killed
    machine.load()
    assert machine.calls() == machine.in_vault() == machine.written
    assert machine.names() <= KEPT


KILLED_AT_EACH_LINE = """
import duckdb, os, signal, shutil, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import copy_closed
folder, old, new = map(Path, sys.argv[2:])
vault, target = folder / "vault", folder / "lake"

def says(file):
    data = file.read_bytes()
    if data[8:12] != b"DUCK":
        return data
    with duckdb.connect(str(file), read_only=True) as connection:
        return connection.execute("from told").fetchall()

def publish(line=None):
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = line
    def trace(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename != copy_closed.__file__:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace
    if line:
        sys.settrace(trace)
    os._exit(copy_closed.main(str(vault), str(target), "10", "closed", "0"))

line = 0
while True:
    line += 1
    for left in folder.iterdir():
        left.unlink()
    shutil.copy(new, vault)
    shutil.copy2(old, target)
    code = publish(line)
    assert says(target) in (says(old), says(new)), line
    assert publish() == 0
    assert says(target) == says(new), line
    left = {path.name for path in folder.iterdir()}
    assert left <= {"vault", "lake", ".lake.copying"}, left
    if code == 0:
        break
print(line)
"""


def any_files(old, new):
    order = random.Random(5)
    blocks = [order.randbytes(copy_closed._CHUNK) for _ in range(4)]
    old.write_bytes(b"".join(blocks))
    new.write_bytes(b"".join([blocks[0][::-1], *blocks[1:3], b"end"]))


def checkpoints_of_a_database(old, new):
    with duckdb.connect(str(old)) as connection:
        connection.execute("create table told as select range as a from range(300000)")
        connection.execute("checkpoint")
    shutil.copy(old, new)
    with duckdb.connect(str(new)) as connection:
        connection.execute("delete from told where a % 7 = 0")
        connection.execute("insert into told select -range from range(300000)")


@pytest.mark.parametrize("make", [any_files, checkpoints_of_a_database])
def test_killed_at_any_line_the_copy_is_the_old_or_the_new(make, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    make(old, new)
    folder = tmp_path / "lakes"
    folder.mkdir()
    module = Path(copy_closed.__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EACH_LINE, module, folder, old, new],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert int(done.stdout) > 40


def test_what_was_committed_and_not_published_is_by_the_next_load(machine):
    machine.speak()
    with writing(machine.warehouse) as connection:
        connection.execute("insert into meta.settings values ('told', 'yes')")
    query = "select value from meta.settings where name = 'told'"
    with reading(machine.warehouse) as connection:
        assert connection.execute(query).fetchall() == []
    machine.load()
    machine.load()  # finds nothing
    with reading(machine.warehouse) as connection:
        assert connection.execute(query).fetchall() == [("yes",)]


def test_readers_see_a_long_load_grow(machine, monkeypatch):
    monkeypatch.setattr(timing, "REFRESH_EVERY_S", -1.0)
    monkeypatch.setattr(publishing, "_SHARE", 1)
    for number in range(4):
        session = f"aaaaaaaa-0000-4000-8000-00000000001{number}"
        machine.append(
            lines(number, sessionId=session), machine.claude / f"{session}.jsonl"
        )
    seen = []
    settings = load_settings(
        config=None,
        home=None,
        warehouse=None,
        environ=machine.environ,
        known_sources=["claude_code"],
    )
    sync(
        settings,
        environ=machine.environ,
        on_progress=lambda _: seen.append(machine.calls()),
    )
    assert seen == [0, 1, 2, 3]
    assert machine.calls() == machine.in_vault() == 4


def test_a_copy_whose_asker_was_killed_is_not_published(machine):
    """His lock is gone, so the next writer may have written while it was copied."""
    with writing(machine.warehouse) as connection:
        connection.execute("create table core.x (a integer)")
    before = machine.warehouse.stat().st_ino
    paths = [str(vault_of(machine.warehouse)), str(machine.warehouse)]
    killed = os.getpid()  # that is no parent of ours
    code = copy_closed.main(*paths, "0", copy_closed.HELD, str(killed))
    assert code == copy_closed.BUSY
    assert machine.warehouse.stat().st_ino == before
    parent = str(os.getppid())
    assert copy_closed.main(*paths, "0", copy_closed.HELD, parent) == 0
    assert machine.warehouse.stat().st_ino != before


def test_where_nothing_changed_nothing_is_copied(machine):
    machine.speak()
    machine.load()
    before = machine.warehouse.stat()
    machine.load()
    after = machine.warehouse.stat()
    assert (after.st_ino, after.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def sums(file):
    with file.open("rb") as read:
        read.seek(copy_closed._FIRST_BLOCK)
        return [block[:8] for block in iter(lambda: read.read(copy_closed._BLOCK), b"")]


def test_only_what_differs_is_written_into_the_copy_that_nobody_reads(machine):
    machine.speak(50)
    machine.load()
    for _ in range(5):
        before = machine.warehouse.stat().st_ino
        machine.speak(20)
        machine.load()
        assert machine.warehouse.stat().st_ino == before
        vault = sums(vault_of(machine.warehouse))
        assert sums(machine.warehouse)[: len(vault)] == vault
        assert machine.calls() == machine.written


def test_who_opens_the_copy_while_it_is_written_reads_what_was_there(machine):
    """The blocks of the old state are free in none that is one step further."""
    machine.speak(50)
    machine.load()
    vault, copy = vault_of(machine.warehouse), machine.warehouse
    machine.speak(50)
    before = copy.read_bytes()
    machine.load()
    after = bytearray(copy.read_bytes())
    (turn,) = (
        at for at in copy_closed._TURNS if after[at : at + 16] != before[at : at + 16]
    )
    # all blocks are written, the header is not
    after[turn : turn + 4096] = before[turn : turn + 4096]
    torn = machine.lakes / "torn.duckdb"
    torn.write_bytes(after)
    with duckdb.connect(str(torn), read_only=True) as connection:
        assert connection.execute("select count(*) from core.usage").fetchone() == (50,)
        for table in connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables()"
        ).fetchall():
            connection.execute(f"select bit_xor(hash(it)) from {table[0]} as it")
    assert copy_closed.is_done(vault, copy)


def test_a_back_up_of_links_stays_what_it_was(machine):
    machine.speak()
    machine.load()
    backup = machine.lakes / "backup.duckdb"
    os.link(machine.warehouse, backup)
    before = backup.read_bytes()
    machine.speak()
    machine.load()
    assert backup.read_bytes() == before
    assert machine.calls() == 2


def test_a_file_that_any_program_has_open_is_never_written_to(machine):
    """A back-up, say, which takes longer than two loads and knows no locks."""
    machine.speak()
    machine.load()
    before = machine.warehouse.read_bytes()
    with machine.warehouse.open("rb") as reads:
        for _ in range(3):
            machine.speak(20)
            machine.load()
        assert reads.read() == before


def test_what_somebody_wrote_into_the_copy_is_gone_with_its_log(machine):
    machine.speak()
    machine.load()
    script = "import duckdb, os, sys; con = duckdb.connect(sys.argv[1]);"
    script += "con.execute('create table main.mine as select 1'); os._exit(0)"
    subprocess.run([sys.executable, "-c", script, machine.warehouse], check=True)
    assert Path(f"{machine.warehouse}.wal").exists()
    machine.load()  # finds nothing new
    assert machine.names() <= KEPT
    assert machine.calls() == 1
    machine.speak()
    machine.load()
    assert machine.calls() == 2


def test_this_process_sees_the_newest_copy_whatever_it_has_open(machine):
    machine.speak()
    machine.load()
    with duckdb.connect(str(machine.warehouse), read_only=True) as old:
        machine.speak()
        machine.load()
        with duckdb.connect() as new:
            attach_published(new, machine.warehouse, "lake")
            count = "select count(*) from core.usage"
            assert old.execute(count).fetchall() == [(1,)]
            new.execute("use lake")
            assert new.execute(count).fetchall() == [(2,)]


# A warehouse that is older than vaults are


def older(machine):
    """Make the vault the only file, under the name that people know."""
    machine.speak(3)
    machine.load()
    vault_of(machine.warehouse).replace(machine.warehouse)
    for name in machine.names() - {"lake.duckdb"}:
        (machine.lakes / name).unlink()


def test_a_warehouse_without_a_vault_is_adopted_with_all_it_holds(machine):
    older(machine)
    before = machine.warehouse.read_bytes()
    machine.load()
    assert machine.names() == {"lake.duckdb", "lake.vault.duckdb"}
    assert machine.warehouse.read_bytes() == before
    machine.session.unlink()  # only the warehouse has it now
    machine.load()
    assert machine.in_vault() == machine.calls() == 3
    machine.speak()
    machine.load()
    assert machine.calls() == 4


def test_a_killed_writer_s_log_is_adopted_too(machine):
    older(machine)
    script = "import duckdb, os, sys; con = duckdb.connect(sys.argv[1]);"
    script += "con.execute(\"insert into meta.settings values ('told', 'yes')\");"
    script += "os._exit(0)"
    subprocess.run([sys.executable, "-c", script, machine.warehouse], check=True)
    assert Path(f"{machine.warehouse}.wal").exists()
    machine.load()
    with reading(machine.warehouse) as connection:
        query = "select value from meta.settings where name = 'told'"
        assert connection.execute(query).fetchall() == [("yes",)]
    assert machine.calls() == 3


def test_two_loads_that_adopt_at_once_lose_nothing(machine):
    older(machine)
    machine.speak(2)
    with machine.start_load() as one, machine.start_load() as other:
        assert (one.wait(), other.wait()) == (0, 0)
    assert machine.calls() == machine.in_vault() == 5


def test_a_reader_that_has_the_old_file_open_does_not_stop_its_adoption(machine):
    older(machine)
    machine.speak()
    with client(machine.warehouse) as left_open:
        machine.load()
        assert left_open() == 3
    assert machine.calls() == 4


def test_what_is_no_warehouse_is_not_adopted(machine, capsys):
    vault_of(machine.warehouse).unlink()
    machine.warehouse.write_text("my novel")
    assert main(["load"], machine.environ) == 2
    assert "is not a DuckDB file" in capsys.readouterr().err
    assert machine.warehouse.read_text() == "my novel"
    assert not vault_of(machine.warehouse).exists()


# Publishing that has to wait, or cannot be


def test_a_copy_that_cannot_be_made_is_told_and_made_by_the_next_load(machine, capsys):
    machine.speak()
    new = copy_closed.new_of(machine.warehouse)
    new.mkdir()
    assert main(["load"], machine.environ) == 2
    said = capsys.readouterr().err
    assert "safe in lake.vault.duckdb" in said
    assert str(new) in said
    assert machine.calls() == 0
    new.rmdir()
    machine.load()
    assert machine.calls() == 1


def test_throttled_publishing_takes_a_tenth_of_the_time(machine):
    guard = copy_closed.guard_of(machine.warehouse)
    assert rest_s(machine.warehouse) == 0
    guard.write_text("0.05")
    assert 0.3 < rest_s(machine.warehouse) <= 0.45
    os.utime(guard, (time.time() - 9,) * 2)
    assert rest_s(machine.warehouse) == 0
    with writing(machine.warehouse) as connection:
        connection.execute("create table core.x (a integer)")
    guard.write_text("0.03")
    start = time.monotonic()
    publish(machine.warehouse, throttled=True)
    assert time.monotonic() - start > 0.2
    assert copy_closed.is_done(vault_of(machine.warehouse), machine.warehouse)


def test_the_copy_waits_for_who_writes_to_the_vault_and_leaves_it_to_him(
    machine, monkeypatch
):
    monkeypatch.setattr(timing, "PUBLISH_WAIT_S", 0.1)
    before = machine.warehouse.stat().st_ino
    with writing(machine.warehouse) as connection:
        connection.execute("create table core.x (a integer)")
        connection.execute("checkpoint")
        publish(machine.warehouse)
        assert machine.warehouse.stat().st_ino == before
    assert not copy_closed.is_done(vault_of(machine.warehouse), machine.warehouse)
    publish(machine.warehouse)
    assert copy_closed.is_done(vault_of(machine.warehouse), machine.warehouse)
