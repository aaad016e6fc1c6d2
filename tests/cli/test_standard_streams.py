"""A closed or full stream ends no command in a traceback."""

import os
import pty
import subprocess
import sys

import pytest

ASKED = [
    ["report"],
    ["report", "session", "--json"],
    ["report", "model", "--csv"],
    ["sql"],
    ["sql", "--json", "from core.usage"],
    ["sql", "--csv", "from core.usage"],
    ["doctor"],
    ["verify"],
    ["load", "--json"],
]


def agentlake(terminal, words, output, **options):
    command = [sys.executable, "-m", "agentlake", *words]
    environ = os.environ | terminal.environ | options.pop("environ", {})
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {output}', "sh", *command],
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        **options,
    )


@pytest.mark.slow
@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_a_full_output_is_said_and_not_taken_for_a_full_warehouse(words, terminal):
    ended = agentlake(terminal, words, "> /dev/full")
    assert ended.returncode == 2
    assert "the output could not be written: No space left on device" in ended.stderr
    assert str(terminal.warehouse) not in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("output", [">&-", ">&- <&-", "| true"])
@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_a_closed_output_ends_without_a_traceback(words, output, terminal):
    before = terminal.warehouse.read_bytes()[:4096]
    ended = agentlake(terminal, words, output)
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
    assert terminal.warehouse.read_bytes()[:4096] == before


@pytest.mark.slow
def test_all_three_closed_is_no_fault(terminal):
    assert agentlake(terminal, ["report"], ">&- <&- 2>&-").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(("term", "moves"), [("xterm", True), ("dumb", False)])
def test_progress_writes_a_line_over_only_where_it_can(term, moves, fresh):
    ours, theirs = pty.openpty()
    environ = os.environ | fresh.environ | {"TERM": term}
    command = [sys.executable, "-m", "agentlake", "load"]
    subprocess.run(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=theirs, check=True
    )
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:  # Linux ends a pty so
        pass
    os.close(ours)
    assert (b"\x1b" in said) is moves
