"""`agentlake service`: what it prints is what systemd and launchd understand."""

import configparser
import plistlib
import sys

import pytest

from agentlake.pipelines.cli import main


@pytest.fixture
def printed(tmp_path, capsys):
    home = tmp_path / "a home"
    home.mkdir()
    environ = {"HOME": str(home)}

    def service(*words):
        assert main(["service", *words], environ) == 0
        return capsys.readouterr().out, f"{home}/.agentlake/agentlake.duckdb"

    return service


def test_a_unit_for_systemd(printed):
    text, warehouse = printed("watch", "--manager", "systemd")
    unit = configparser.ConfigParser(interpolation=None, comment_prefixes=("#",))
    unit.optionxform = str
    unit.read_string(text)
    command = f'{sys.executable} -m agentlake watch --warehouse "{warehouse}"'
    assert unit["Service"]["ExecStart"] == command
    assert unit["Service"]["KillSignal"] == "SIGINT"


def test_what_systemd_would_expand_is_left_alone(printed):
    text, _ = printed("ui", "--manager", "systemd", "--warehouse", "/x/50% of $it.db")
    assert '"/x/50%% of $$it.db"' in text


def test_a_property_list_for_launchd(printed):
    text, warehouse = printed("ui", "--manager", "launchd")
    job = plistlib.loads(text.encode())
    command = [sys.executable, "-m", "agentlake", "ui", "--warehouse", warehouse]
    assert job["ProgramArguments"] == command
    assert job["Label"] == "agentlake.ui"
    assert job["RunAtLoad"]
