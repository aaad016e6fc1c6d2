"""The sdist as a release has it, and the wheel that is built from that sdist alone."""

import subprocess
import sys
import tarfile
from pathlib import Path
from shutil import copy

ROOT = Path(__file__).parents[2]
BUILD = "import setuptools.build_meta as it, sys; print(it.build_{}(sys.argv[1]))"


def tracked():
    """The files of the project, as names below its folder."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def build(folder):
    """Both, in this folder: copies, for setuptools writes beside its source."""
    source, out = folder / "source", folder / "dist"
    for name in tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, source / name)
    out.mkdir()
    sdist = _built("sdist", source, out)
    with tarfile.open(sdist) as packed:
        packed.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return sdist, _built("wheel", unpacked, out)


def _built(kind, source, out):
    done = subprocess.run(
        [sys.executable, "-c", BUILD.format(kind), str(out)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]
