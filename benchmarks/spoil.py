"""Homes as a disk, a crash or a new version may spoil them: one odd thing at a time.

A change is one of two kinds. An odd value leaves the file readable: then its record may
be rejected, and nothing else may change. A damage may cost the file, and no other.
"""

import json
import os
import random
import sqlite3
import string
from pathlib import Path

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
ODD = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    10**30,
    0.5,
    -0.0,
    1e308,
    -1e308,
    1e18,
    float("inf"),
    float("-inf"),
    float("nan"),
    "",
    " ",
    "0",
    "true",
    "null",
    "NaN",
    "\0",
    "\ud800",
    "a\ud800b",
    "/",
    "..",
    "../../../etc/passwd",
    "%2F",
    "'; drop table x; --",
    "{}",
    "[]",
    '{"a":',
    "x" * 100_000,
    "\x1b[31m",
    "2026-01-01T00:00:00",
    "2026-01-01",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999-23:59",
    "0000-00-00T00:00:00Z",
    "2026-13-45T99:99:99Z",
    "1780000000000",
    [],
    [1],
    [None],
    [[]],
    [{}],
    ["x", 1, None],
    {},
    {"a": 1},
    {"": None},
    {"type": "text", "text": "x"},
    {"$blob": "!!"},
    {"id": True},
)


def deep(depth=3000):
    """A value so deep that whoever walks it by calls runs out of them."""
    return "[" * depth + "]" * depth


class Choice(random.Random):
    """Choices of this seed."""

    def odd(self):
        """An odd value, mostly one of the known ones."""
        if self.random() < 0.85:
            return self.choice(ODD)
        kind = self.randrange(4)
        if kind == 0:
            return self.randrange(-(2**70), 2**70) >> self.randrange(70)
        if kind == 1:
            return self.uniform(-1, 1) * 10 ** self.randrange(-300, 300)
        if kind == 2:
            size = self.randrange(12)
            return "".join(self.choice(string.printable) for _ in range(size))
        return [self.odd() for _ in range(self.randrange(3))]


def spots(value, path=()):
    """Every place in a JSON value."""
    inner = list(value.items()) if isinstance(value, dict) else []
    inner = list(enumerate(value)) if isinstance(value, list) else inner
    for step, held in inner:
        yield (*path, step)
        yield from spots(held, (*path, step))
        if isinstance(held, str) and held[:1] in "{[" and len(held) < 100_000:
            try:
                parsed = json.loads(held)
            except (ValueError, RecursionError):
                continue
            yield from ((*path, step, "json", *more) for more in spots(parsed))


def spoiled(choose, value):
    """The JSON text of this value with one odd spot, and what was done."""
    found = list(spots(value))
    if not found:
        return None
    spot = choose.choice(found)
    odd = choose.odd()
    what = choose.choice(("set", "set", "set", "set", "drop", "copy", "rename", "deep"))
    text = json.dumps(_with(value, spot, what, odd, choose), ensure_ascii=True)
    if what == "deep":
        text = text.replace('"@deep@"', deep())
    return text, f"{what} {'.'.join(map(str, spot))} {odd!r:.60}"


def _with(value, spot, what, odd, choose):
    step, *more = spot
    if more and more[0] == "json":
        inner = _with(json.loads(value[step]), more[1:], what, odd, choose)
        return _put(value, step, json.dumps(inner))
    if more:
        return _put(value, step, _with(value[step], more, what, odd, choose))
    if what == "set":
        return _put(value, step, odd)
    if what == "deep":
        return _put(value, step, "@deep@")
    copy = dict(value) if isinstance(value, dict) else list(value)
    if what == "drop":
        del copy[step]
    elif isinstance(copy, dict):
        copy[f"{step}X" if what == "rename" else f"{step}2"] = copy[step]
        if what == "rename":
            del copy[step]
    else:
        copy.insert(step, copy[step])
    return copy


def _put(value, step, new):
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[step] = new
    return copy


def odd_value(choose, path):
    """Make one value of this file odd; what was done, None if it has none."""
    data = path.read_bytes()
    if data.startswith(b"SQLite format 3\0"):
        return _odd_cell(choose, path)
    lines = data.split(b"\n")
    for at in choose.sample(range(len(lines)), len(lines)):
        try:
            value = json.loads(lines[at])
        except (ValueError, RecursionError):
            continue
        if (done := spoiled(choose, value)) is not None:
            lines[at] = done[0].encode()
            path.write_bytes(b"\n".join(lines))
            return f"line {at + 1}: {done[1]}"
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    done = spoiled(choose, value)
    if done is None:
        return None
    path.write_bytes(done[0].encode())
    return done[1]


def _odd_cell(choose, path):
    with sqlite3.connect(path) as database:
        database.execute("pragma foreign_keys = 0")
        tables = [
            name
            for (name,) in database.execute(
                "select name from sqlite_master where type = 'table'"
                " and name not like 'sqlite_%'"
            )
        ]
        choose.shuffle(tables)
        for table in tables:
            columns = [
                row[1] for row in database.execute(f'pragma table_info("{table}")')
            ]
            rows = [row[0] for row in database.execute(f'select rowid from "{table}"')]
            if not rows:
                continue
            row, column = choose.choice(rows), choose.choice(columns)
            where = f"where rowid = {row}"
            ((before,),) = database.execute(f'select "{column}" from "{table}" {where}')
            value, what = _cell(choose, before)
            try:
                database.execute(
                    f'update "{table}" set "{column}" = ? {where}', (value,)
                )
            except sqlite3.Error:
                continue
            return f"{table}.{column} row {row}: {what}"
    return None


def _cell(choose, before):
    if isinstance(before, str | bytes) and before[:1] in ("{", "[", b"{", b"["):
        try:
            parsed = json.loads(before)
        except (ValueError, RecursionError, UnicodeDecodeError):
            parsed = None
        if parsed and choose.random() < 0.7:
            done = spoiled(choose, parsed)
            if done is not None:
                text, what = done
                return text.encode() if isinstance(before, bytes) else text, what
    odd = choose.odd()
    if isinstance(odd, int) and not -(2**63) <= odd < 2**63:
        odd = float(odd)
    if isinstance(odd, list | dict):
        odd = json.dumps(odd)
    if isinstance(odd, str):
        odd = odd.encode("utf-8", "surrogatepass")
        odd = odd if choose.random() < 0.3 else odd.decode("utf-8", "replace")
    return odd, f"{odd!r:.60}"


def damage(choose, path):
    """Damage this file as a whole; what was done."""
    data = path.read_bytes()
    at = choose.randrange(len(data) + 1)
    if choose.random() < 0.4:
        return _replace(choose, path, data)
    what, spoilt = choose.choice(
        (
            (f"cut at {at}", data[:at]),
            ("emptied", b""),
            (f"noise at {at}", data[:at] + choose.randbytes(9) + data[at:]),
            (f"a bit flipped at {at}", _flipped(choose, data, at)),
            (f"NULs from {at}", data[:at] + b"\0" * (len(data) - at)),
            ("lines shuffled", _shuffled(choose, data)),
            ("newlines gone", data.replace(b"\n", b"")),
        )
    )
    path.write_bytes(spoilt)
    return what


def _flipped(choose, data, at):
    bit = bytes([data[at] ^ 1 << choose.randrange(8)]) if at < len(data) else b""
    return data[:at] + bit + data[at + 1 :]


def _shuffled(choose, data):
    lines = data.split(b"\n")
    return b"\n".join(choose.sample(lines, len(lines)))


def _replace(choose, path, data):
    """Put something else in its place."""
    path.unlink()
    what = choose.choice(
        ("a folder", "a link to itself", "a pipe", "a pointer", "nothing")
    )
    if what == "a folder":
        path.mkdir()
    elif what == "a link to itself":
        path.symlink_to(path)
    elif what == "a pipe":
        os.mkfifo(path)
    elif what == "a pointer":
        path.write_bytes(POINTER)
    elif data.startswith(b"SQLite"):
        Path(f"{path}-wal").write_bytes(choose.randbytes(choose.randrange(200)))
    return f"{what} in its place"
