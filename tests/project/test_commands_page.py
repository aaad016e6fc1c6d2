"""The page of the command line has an example of every command."""

import importlib.util
from pathlib import Path

from agentlake.pipelines.cli.parser import make_parser

PAGE = Path(__file__).parents[2] / "docs" / "commands.py"


def test_every_command_has_an_example():
    spec = importlib.util.spec_from_file_location("commands_page", PAGE)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    known = page.commands_of(make_parser()).keys()
    assert page.RUNS.keys() | page.STAYS.keys() == set(known)
