"""Words, ids and times without meaning: text that packs about as real logs do."""

from __future__ import annotations

import binascii
import math
from functools import lru_cache
from random import Random
from time import gmtime, strftime

DAY_MS = 86_400_000
_WORDS = """
the a of to and in is for that with this from not on be as it if by are or when we
can will has one each only now first then should was after before because without
file test line value error path index config request response client server cache
token user session message record table column query schema parser reader writer
loader batch stream offset event state model source project report total count
result status change update build check commit branch merge review issue release
version module package import export function method class field type string number
list dict array object option default setting timeout retry limit queue worker task
job thread lock pool handle buffer chunk header body payload format encode decode
parse render format validate compute resolve register publish fetch load store save
delete insert select filter sort group join split merge map reduce apply create open
close read write start stop run wait send receive log trace debug warn info metric
order invoice customer account price product cart shipment address payment refund
green missing wrong slow fast empty unknown stale broken nested shared local remote
async strict partial ready pending failed skipped cached signed sorted unique
""".split()  # noqa: SIM905 - readable as a text
_FOREIGN = (
    "# über die Größe prüfen",
    "# 测试数据 — 不要修改",
    "// función que añade los días hábiles",
    "# 결과를 확인한다",
    "┌──────────┬───────┐",
    "│ größe    │ ✓ ok  │",
    "✅ done — next: naïve café case 🚀",
)
_CODE = (
    "def {a}({b}: str, {c}: int = {n}) -> {D}:",
    "    {a} = {b}.{c}({d}, {a}={n})",
    "    if {a} is None or not {b}.{c}:",
    '        raise {D}Error(f"{w} {x}: {{{a}}}")',
    "    return [{a}.{b} for {a} in {c} if {a}.{d} > {n}]",
    "    for {a}, {b} in enumerate({c}.{d}()):",
    "        {a}[{b}] += {c}.get('{d}', {n})",
    "from {a}.{b} import {D}, {c}",
    "class {D}({C}):",
    '    """{W} {x} {w} the {y}."""',
    "    self.{a} = {b}",
    "        self.{a}.{b}({c})  # {w} {x} {y}",
    "export const {a} = async ({b}: {D}): Promise<{C}> => {{",
    "  const {a} = await {b}.{c}({{ {d}: {n}, {a} }});",
    "  if (!{a}) {{ throw new Error('{w} {x} {y}'); }}",
    '  "{a}": {{ "{b}": "{c}", "{d}": {n} }},',
    "  <{D} {a}={{{b}.{c}}} className='{w}-{x} p-{n}'>",
    "    assert {a}.{b} == {n}, {c}",
    "}}",
    "",
)
_PROSE = (
    "{W} the {a} of {b}, {w} {x} {y} the {c} {w}.",
    "- **{W} {x}**: the `{a}` in `{p}` {w} {y} {n} {x}",
    "I'll {w} the {x} {y} first, then look at `{a}` and {w} the {y}.",
    "{W} {x} is {y} because {w} {x} {c} {y}; {w} {y} the {x} {w} now.",
    "{n}. {W} {x} {y} {w} `{b}` ({w} {x}, {y} {w})",
    "The {w} {x} {y} {w} {x}. {Y} {w} {x} not {y} the {w} of the {x} {w}.",
    "## {W} {x} {y}",
    "",
)
_OUTPUT = (
    "-rw-r--r-- 1 dev dev {n:>8} Mar {d2} {d2}:{d2} {p}",
    "{p}:{n}: {W}: {w} {x} {y} '{a}'",
    "tests/test_{a}.py::test_{b}_{c} PASSED [{d2}%]",
    "{h} {w} {x} the {y} {w}",
    '  File "{p}", line {n}, in {a}',
    "{W} {x} {w}: {n} {y}, {d2} {w} in {d2}.{d2}s",
    "   {a:<24} {n:>7} {d2}%  {p}",
    "added {d2} packages, and audited {n} packages in {d2}s",
    " M {p}",
    "[2026-03-{d2}T{d2}:{d2}:{d2}] INFO {a}.{b}: {w} {x}={n}",
)


class Text:
    """Three pools of made-up text; a request costs one slice.

    Any two slices share vocabulary and phrases, few of them whole lines: zstd
    makes about a third of one slice, and less where a session repeats itself.
    """

    def __init__(self, rng: Random, characters: int = 2_400_000) -> None:
        self.rng = rng
        words = _WORDS + [_syllables(rng) for _ in range(700)]
        self._words = rng.choices(words, _zipf(len(words)), k=50_000)
        pairs = (rng.choices(words, k=rng.choice((1, 1, 2, 2, 3))) for _ in range(3000))
        names = ["_".join(pair) for pair in pairs]
        self.names = rng.choices(names, _zipf(len(names)), k=20_000)
        classes = {name: name.title().replace("_", "") for name in names}
        self._classes = [classes[name] for name in self.names]
        self._paths = [self._new_path() for _ in range(600)]
        self._code = self._pool(_CODE, characters)
        self._prose = self._pool(_PROSE, characters // 3)
        self._output = self._pool(_OUTPUT, characters // 3)

    def code(self, characters: int) -> str:
        """Source code in no language in particular."""
        return self._slice(self._code, characters)

    def prose(self, characters: int) -> str:
        """What people and models write: sentences, lists, headings."""
        return self._slice(self._prose, characters)

    def output(self, characters: int) -> str:
        """What a terminal shows: listings, tests, logs."""
        return self._slice(self._output, characters)

    def words(self, count: int) -> str:
        """A few words, for titles and commands."""
        at = int(self.rng.random() * (len(self._words) - count))
        return " ".join(self._words[at : at + count])

    def name(self) -> str:
        """An identifier."""
        return self.names[int(self.rng.random() * len(self.names))]

    def path(self) -> str:
        """A file below the working directory."""
        return self._paths[int(self.rng.random() * len(self._paths))]

    def size(self, median: float, sigma: float, most: int = 400_000) -> int:
        """A log-normal size: most are small, a few are enormous."""
        return min(int(median * math.exp(self.rng.gauss(0, sigma))) + 1, most)

    def base64(self, size: int) -> str:
        """Bytes that do not pack: signatures, images, encrypted reasoning."""
        raw = self.rng.randbytes(size * 3 // 4)
        return binascii.b2a_base64(raw, newline=False).decode()

    def id(self, prefix: str) -> str:
        """A vendor's id: prefix and 24 letters or digits, never twice the same."""
        raw = binascii.b2a_base64(self.rng.randbytes(18), newline=False)
        return prefix + raw.translate(_NO_SIGNS).decode()

    def uuid(self) -> str:
        """A random UUID."""
        d = f"{self.rng.getrandbits(128):032x}"
        return f"{d[:8]}-{d[8:12]}-4{d[13:16]}-a{d[17:20]}-{d[20:]}"

    def hex(self, digits: int) -> str:
        """Some hexadecimal digits."""
        return f"{self.rng.getrandbits(4 * digits):0{digits}x}"

    def _slice(self, pool: str, characters: int) -> str:
        at = int(self.rng.random() * max(1, len(pool) - characters - 200))
        start = pool.find("\n", at) + 1
        return pool[start : start + characters]

    def _new_path(self) -> str:
        folder = "/".join(self.rng.choices(("src", "app", "core", "web", "tests"), k=2))
        return f"{folder}/{self.name()}.{self.rng.choice(('py', 'ts', 'tsx', 'md'))}"

    def _pool(self, templates: tuple[str, ...], characters: int) -> str:
        rng, lines, length = self.rng, list[str](), 0
        while length < characters:
            if rng.random() < 0.008:
                line = rng.choice(_FOREIGN)
            else:
                at = int(rng.random() * 19_990)
                a, b, c, d = self.names[at : at + 4]
                w, x, y = self._words[2 * at : 2 * at + 3]
                template = templates[int(rng.random() * len(templates))]
                line = template.format(
                    a=a,
                    b=b,
                    c=c,
                    d=d,
                    w=w,
                    x=x,
                    y=y,
                    W=w.capitalize(),
                    Y=y.capitalize(),
                    C=self._classes[at],
                    D=self._classes[at + 1],
                    n=int(30 / (rng.random() + 0.01)),
                    d2=int(rng.random() * 50) + 10,
                    h=f"{rng.getrandbits(28):07x}",
                    p=self._paths[int(rng.random() * len(self._paths))],
                )
            lines.append(line)
            length += len(line) + 1
        return "\n".join(lines)


_NO_SIGNS = bytes.maketrans(b"+/", b"Zz")


def _zipf(count: int) -> list[float]:
    return [1 / (rank + 30) for rank in range(count)]


def _syllables(rng: Random) -> str:
    vowels = ("a", "e", "i", "o", "u", "en", "ar")
    return "".join(
        rng.choice("bcdfghklmnprstvw") + rng.choice(vowels)
        for _ in range(rng.choice((2, 2, 3)))
    )


@lru_cache(maxsize=4096)
def _date(day: int) -> str:
    return strftime("%Y-%m-%d", gmtime(day * 86_400))


@lru_cache(maxsize=4096)
def _minute(minute: int) -> str:
    return strftime("%Y-%m-%dT%H:%M:", gmtime(minute * 60))


def utc_day(ms: int) -> str:
    """The UTC date of a moment."""
    return _date(ms // DAY_MS)


def stamp(ms: int) -> str:
    """A moment as both agents write it: ISO, UTC, three decimals."""
    minute, millis = divmod(ms, 60_000)
    return f"{_minute(minute)}{millis // 1000:02}.{millis % 1000:03}Z"
