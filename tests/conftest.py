"""What tests share: the golden cases, homes to write in, warehouses to load."""

import hypothesis
import pytest
from support.cases import CASES, LOADED_FAST
from support.terminal import Terminal, write_home
from support.warehouses import ScratchLake, like

from agentlake.pipelines.warehouse.publish import publish

# How long a busy machine takes says nothing about what is tested.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        # All cases load the same way: of most sources only CI does.
        slow = "its_rows" in metafunc.function.__name__
        metafunc.parametrize(
            "case",
            [
                pytest.param(case, id=case.id, marks=[pytest.mark.slow])
                if slow and case.source not in LOADED_FAST
                else pytest.param(case, id=case.id)
                for case in CASES
            ],
        )


@pytest.fixture(scope="session")
def empty_warehouse(tmp_path_factory):
    """A warehouse with all tables and models and nothing in them; do not write."""
    folder = tmp_path_factory.mktemp("empty")
    lake = ScratchLake(folder / "empty.duckdb", folder)
    lake.load()
    lake.close()
    publish(lake.path)
    return lake.path


@pytest.fixture
def new_lake(tmp_path, empty_warehouse):
    """Makes warehouses; all share one home unless another is given."""
    made = []

    def make(home=None):
        path = tmp_path / f"lake{len(made)}.duckdb"
        like(empty_warehouse, path)
        if home is None:
            home = tmp_path / "home"
            home.mkdir(exist_ok=True)
        made.append(ScratchLake(path, home))
        return made[-1]

    yield make
    for lake in made:
        lake.close()


@pytest.fixture
def lake(new_lake):
    return new_lake()


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    """Nobody looks at the tests' output, whatever width who runs them has."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def fresh(tmp_path, capsys):
    """Nothing loaded yet, and nothing to load."""
    return Terminal(tmp_path.resolve(), capsys)


@pytest.fixture
def terminal(fresh, loaded_folder, monkeypatch):
    """The calls above, loaded; the warehouse is its own, the home everybody's."""
    monkeypatch.setenv("COLUMNS", "200")
    like(loaded_folder / "lake.duckdb", fresh.warehouse)
    fresh.home = loaded_folder / "me"
    fresh.environ["HOME"] = str(fresh.home)
    return fresh


@pytest.fixture
def own(fresh, empty_warehouse, monkeypatch):
    """The calls above, loaded from a home that may be written to."""
    monkeypatch.setenv("COLUMNS", "200")
    like(empty_warehouse, fresh.warehouse)
    write_home(fresh.home)
    assert fresh("load", "--quiet") == 0
    return fresh


@pytest.fixture(scope="session")
def loaded_folder(tmp_path_factory):
    terminal = Terminal(tmp_path_factory.mktemp("loaded").resolve())
    write_home(terminal.home)
    assert terminal("load", "--quiet") == 0
    return terminal.home.parent
