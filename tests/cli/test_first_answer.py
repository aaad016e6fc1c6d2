"""What a newcomer sees first: what was found, and tables under their plain names."""

from support.terminal import write_home


def test_a_mart_is_found_without_its_schema(terminal):
    bare = terminal.json("sql", "--json", "select sum(calls) as calls from daily_usage")
    assert bare == [{"calls": 3}]
    assert terminal("sql", "show tables") == 0
    assert "daily_usage" in terminal.out


def test_a_first_load_ends_with_what_it_cost(fresh):
    write_home(fresh.home)
    assert fresh("load") == 0
    assert "2 sessions from 2026-11-28 to 2026-11-30: 3 calls, >=$0.0135" in fresh.err
    assert "Next: " in fresh.err
    assert fresh("load") == 0
    assert "Next: " not in fresh.err


def test_a_first_load_of_nothing_says_so(fresh):
    assert fresh("load") == 0
    assert f"has left any calls in {fresh.home} yet" in fresh.err
