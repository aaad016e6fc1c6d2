"""Macros whose rule is a text's, by examples."""

import duckdb
import pytest


@pytest.fixture(scope="module")
def connection(empty_warehouse):
    with duckdb.connect(str(empty_warehouse), read_only=True) as opened:
        yield opened


CODEX = "Chunk ID: a1b2c3\nWall time: 0.1 seconds\nProcess exited with code 2\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{CODEX}Output:\nls: no such file\n", "ls: no such file"),
        (f"{CODEX}Output:\n", "Process exited with code 2"),
        ("Script failed\nWall time 0.1 seconds\nOutput:\nError: no", "Error: no"),
        (
            "<tool_use_error>File has not been read</tool_use_error>",
            "File has not been read",
        ),
        (
            "Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'b'",
            "KeyError: 'b'",
        ),
        (
            "apply_patch verification failed: no such line",
            "apply_patch verification failed: no such line",
        ),
        ("exec command rejected by user", "exec command rejected by user"),
        ("Exit code 1\nboom", "boom"),
        ("Exit code 1", "Exit code 1"),
        ("\n---\n", None),
        ("", None),
        (None, None),
    ],
)
def test_the_reason_of_a_failure_is_what_failed(connection, text, reason):
    found = connection.execute("select reason_of($1)", [text]).fetchone()
    assert found == (reason,)
