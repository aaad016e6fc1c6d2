"""A wheel holds what the editable install shows."""

import glob
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def packages_on_disk():
    for name, folder in SETUPTOOLS["package-dir"].items():
        for init in (ROOT / folder).rglob("__init__.py"):
            yield ".".join((name, *init.parent.relative_to(ROOT / folder).parts))


def test_every_package_on_disk_is_named_in_pyproject():
    assert sorted(packages_on_disk()) == sorted(SETUPTOOLS["packages"])


def test_every_package_says_what_belongs_into_it():
    for name, folder in SETUPTOOLS["package-dir"].items():
        for init in (ROOT / folder).rglob("__init__.py"):
            assert init.read_text().startswith('"""'), f"{name} has no docstring"


@pytest.mark.parametrize(
    ("package", "files"),
    [("agentlake.fixtures", "demo/**/*"), ("agentlake.sql", "**/*.sql")],
)
def test_every_data_file_on_disk_goes_into_the_wheel(package, files):
    folder = ROOT / SETUPTOOLS["package-dir"][package]
    packed = {
        folder / name
        for pattern in SETUPTOOLS["package-data"][package]
        for name in glob.glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207 setuptools' own way
    }
    assert {path for path in folder.glob(files) if path.is_file()} <= packed


def test_the_lock_names_no_place_to_download_from():
    lock = (ROOT / "requirements.lock").read_text()
    assert "://" not in lock
    assert "-index" not in lock
