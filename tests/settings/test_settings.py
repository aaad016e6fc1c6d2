"""Settings: what the user asked for, and where a source is looked for."""

import json
from pathlib import Path

import pytest

from agentlake.adapters.sdk.roots import Listed, Root
from agentlake.errors import UserError
from agentlake.pipelines.settings.places import resolve_roots, searched_places
from agentlake.pipelines.settings.settings import load_settings
from agentlake.pipelines.settings.time_zone import checked_time_zone, machine_time_zone

SOURCES = ["claude_code", "codex"]
CLAUDE = (
    Root(default=("~/.claude",), env="CLAUDE_CONFIG_DIR", strip="projects"),
    Root(default=("${XDG_CONFIG_HOME:-~/.config}/claude", "~/.config/claude")),
)


class Machine:
    """A home folder with a settings file, and nothing of the real machine."""

    def __init__(self, folder):
        self.home = folder / "me"
        self.home.mkdir()
        self.environ = {"HOME": str(self.home), "TZ": "Asia/Tokyo"}
        self.file = self.home / "settings.toml"

    def folder(self, name):
        path = self.home / name
        path.mkdir(parents=True)
        return path

    def settings(self, text="", *, config=None, home=None, warehouse=None):
        self.file.write_text(text)
        return load_settings(
            config=config or self.file,
            home=home,
            warehouse=warehouse,
            environ=self.environ,
            known_sources=SOURCES,
        )

    def error(self, text):
        with pytest.raises(UserError) as caught:
            self.settings(text)
        return str(caught.value).removeprefix(f"{self.file}: ")

    def roots(self, text="", roots=CLAUDE, **flags):
        settings = self.settings(text, **flags)
        return resolve_roots(roots, settings, "claude_code", self.environ)

    def searched(self, text="", roots=CLAUDE, **flags):
        settings = self.settings(text, **flags)
        return searched_places(roots, settings, "claude_code", self.environ)


@pytest.fixture
def me(tmp_path):
    return Machine(tmp_path.resolve())


WHAT_IS_REFUSED = {
    'warehous = "/x"': "unknown key warehous. Did you mean warehouse?"
    " Allowed: home, prices, sources, time_zone, warehouse.",
    "Sources = 1": "unknown key Sources. Did you mean sources?"
    " Allowed: home, prices, sources, time_zone, warehouse.",
    "[sources.claudecode]": "unknown source sources.claudecode."
    " Did you mean claude_code? Allowed: claude_code, codex.",
    "[sources.zzz]": "unknown source sources.zzz. Allowed: claude_code, codex.",
    "[sources.codex]\nroot = []": "unknown key sources.codex.root."
    " Did you mean roots? Allowed: enabled, options, roots.",
    '[sources.codex]\nenabled = "yes"': "sources.codex.enabled: expected bool, got str",
    '[sources.codex]\nroots = "~/x"': "sources.codex.roots: expected list, got str",
    "[sources.codex]\nroots = [1]": "sources.codex.roots[0]: expected str, got int",
    '[sources.codex]\nroots = ["x"]': 'sources.codex.roots: "x" must be absolute or'
    " start with ~/",
    "sources = 1": "sources: expected table, got int",
    "sources.codex = 1": "sources.codex: expected table, got int",
    'prices."gpt 9" = 1': 'prices."gpt 9": expected table, got int',
    "warehouse = 1": "warehouse: expected str, got int",
    'warehouse = "x.duckdb"': 'warehouse: "x.duckdb" must be absolute or start with ~/',
    'home = ""': 'home: "" must be absolute or start with ~/',
    'time_zone = "Europe/Berln"': 'time_zone: there is no time zone "Europe/Berln".'
    " Did you mean Europe/Berlin?",
    "[prices]\nx = y": "this is not TOML: Invalid value (at line 2, column 5)",
}


@pytest.mark.parametrize("text", WHAT_IS_REFUSED, ids=lambda text: text[:40])
def test_what_cannot_be_meant_is_refused_by_name(me, text):
    assert me.error(text) == WHAT_IS_REFUSED[text]


def test_without_a_file_there_are_defaults(me):
    settings = load_settings(
        config=None,
        home=None,
        warehouse=None,
        environ=me.environ,
        known_sources=SOURCES,
    )
    assert settings.warehouse == me.home / ".agentlake/agentlake.duckdb"
    assert settings.home == me.home
    assert not settings.is_other_home
    assert settings.time_zone == "Asia/Tokyo"
    assert settings.config.is_relative_to(me.home)
    assert settings.config.parts[-2:] == ("agentlake", "config.toml")
    assert settings.source("codex").enabled
    assert settings.source("codex").roots is None


def test_everything_in_the_file_arrives(me):
    settings = me.settings(
        """
        warehouse = "/w.duckdb"
        home = "/"
        time_zone = "Europe/Berlin"
        [sources.codex]
        enabled = false
        roots = ["~/x", "/y"]
        options = { deep = { any = [1] } }
        [prices."gpt 9"]
        input_mtok = 1.5
        """
    )
    codex = settings.source("codex")
    assert settings.warehouse == Path("/w.duckdb")
    assert settings.home == Path("/")
    assert settings.is_other_home
    assert settings.time_zone == "Europe/Berlin"
    assert (codex.enabled, codex.roots) == (False, ("~/x", "/y"))
    assert codex.options == {"deep": {"any": [1]}}
    assert settings.prices == {"gpt 9": {"input_mtok": 1.5}}


def test_a_flag_beats_a_variable_beats_the_file(me):
    file = 'warehouse = "/file"\nhome = "/"'
    assert me.settings(file).warehouse == Path("/file")
    me.environ |= {"AGENTLAKE_WAREHOUSE": "~/variable", "AGENTLAKE_HOME": "/usr"}
    assert me.settings(file).warehouse == me.home / "variable"
    assert me.settings(file).home == Path("/usr")
    flagged = me.settings(file, warehouse=Path("/flag"), home=Path("/etc"))
    assert (flagged.warehouse, flagged.home) == (Path("/flag"), Path("/etc"))


def test_a_flag_may_be_relative_to_the_current_folder(me, monkeypatch):
    monkeypatch.chdir(me.home)
    assert me.settings(warehouse=Path("x.duckdb")).warehouse == me.home / "x.duckdb"


def test_the_file_is_named_by_flag_or_variable_and_must_then_exist(me):
    me.environ["AGENTLAKE_CONFIG"] = "~/elsewhere.toml"
    (me.home / "elsewhere.toml").write_text('warehouse = "/elsewhere"')
    settings = load_settings(
        config=None,
        home=None,
        warehouse=None,
        environ=me.environ,
        known_sources=SOURCES,
    )
    assert settings.warehouse == Path("/elsewhere")
    with pytest.raises(UserError, match=r"gone\.toml: there is no such settings file"):
        me.settings(config=me.home / "gone.toml")
    with pytest.raises(UserError, match=r"cannot be read: Is a directory"):
        me.settings(config=me.home)


def test_a_file_written_by_notepad_is_read(me):
    (me.home / "bom.toml").write_bytes(b'\xef\xbb\xbfwarehouse = "/w"\r\n')
    settings = me.settings(config=me.home / "bom.toml")
    assert settings.warehouse == Path("/w")


def test_a_file_in_another_encoding_is_an_error_and_no_crash(me):
    (me.home / "latin.toml").write_bytes(b'home = "/h\xf6me"')
    with pytest.raises(UserError, match=r"not UTF-8 text, from byte 10 on"):
        me.settings(config=me.home / "latin.toml")


def test_a_home_that_is_not_there_is_an_error_and_not_an_empty_load(me):
    with pytest.raises(UserError, match=r"gone is not a folder"):
        me.settings(home=me.home / "gone")


def test_only_folders_that_exist_are_roots_but_all_are_named(me):
    claude = me.folder(".claude")
    assert me.roots() == [claude]
    assert me.searched() == ["~/.claude", "~/.config/claude"]


def test_the_agents_variable_moves_its_own_root_and_no_other(me):
    me.folder(".claude")
    kept = me.folder(".config/claude")
    moved = [me.folder("a"), me.folder("b")]
    me.environ["CLAUDE_CONFIG_DIR"] = f"{moved[0]}, {moved[1]}/,,/gone"
    assert me.roots() == [*moved, kept]
    assert me.searched() == ["~/a", "~/b", "/gone", "~/.config/claude"]


def test_an_empty_variable_is_no_variable(me):
    claude = me.folder(".claude")
    me.environ |= {"CLAUDE_CONFIG_DIR": "", "XDG_CONFIG_HOME": ""}
    assert me.roots() == [claude]


def test_a_comma_may_be_part_of_a_folders_name(me):
    me.environ["CLAUDE_CONFIG_DIR"] = str(me.folder("a,b"))
    assert me.roots() == [me.home / "a,b"]


def test_a_path_that_ends_too_deep_means_the_folder_above(me):
    x = me.folder("x/projects").parent
    me.environ["CLAUDE_CONFIG_DIR"] = f"{x}/projects/"
    assert me.roots() == [x]
    assert me.roots('[sources.claude_code]\nroots = ["~/x/projects"]') == [x]


def test_a_variable_inside_a_default_is_used_or_its_fallback(me):
    moved, fixed = me.folder("xdg/claude"), me.folder(".config/claude")
    me.environ["XDG_CONFIG_HOME"] = str(me.home / "xdg")
    assert me.roots() == [moved, fixed]


def test_another_home_is_looked_at_without_this_homes_variables(me, tmp_path):
    me.folder(".claude")
    me.folder("a")
    other = tmp_path.resolve() / "other"
    (other / ".config/claude").mkdir(parents=True)
    me.environ |= {"CLAUDE_CONFIG_DIR": f"{me.home}/a", "XDG_CONFIG_HOME": "/nowhere"}
    assert me.roots(home=other) == [other / ".config/claude"]
    assert me.searched(home=other)[0] == str(other / ".claude")


def test_this_home_asked_for_by_name_keeps_its_variables(me):
    me.environ["CLAUDE_CONFIG_DIR"] = str(me.folder("a"))
    assert me.roots(home=me.home) == [me.home / "a"]


def test_the_users_roots_replace_all_others_and_stay_in_their_order(me):
    me.folder(".claude")
    b, a = me.folder("b"), me.folder("a")
    me.environ["CLAUDE_CONFIG_DIR"] = str(a)
    text = '[sources.claude_code]\nroots = ["~/b", "~/gone", "~/a"]'
    assert me.roots(text) == [b, a]
    assert me.searched(text) == ["~/b", "~/gone", "~/a"]
    assert me.roots("[sources.claude_code]\nroots = []") == []


def test_two_names_of_one_folder_are_one_root_under_its_real_path(me):
    real = me.folder("real")
    (me.home / ".claude").symlink_to(real)
    (me.home / ".config").mkdir()
    (me.home / ".config/claude").symlink_to(real)
    assert me.roots() == [real]


LISTING = (
    Root(
        default=("~/.acme",),
        env="ACME_DATA",
        listed=Listed(file="projects.json", folder="data", above="path"),
    ),
)


def _listed(me, *projects):
    file = me.folder(".acme") / "projects.json"
    file.write_text(json.dumps({"projects": list(projects)}))


def test_folders_that_an_agent_lists_are_roots_as_well(me):
    shop, garden = me.folder("shop/.acme"), me.folder("garden/.acme")
    _listed(
        me,
        {"path": str(shop.parent), "data": str(shop)},
        {"path": str(garden.parent), "data": ".acme"},
        {"path": str(garden.parent), "data": str(me.home / "deleted")},
        {"path": str(garden.parent), "data": 7},
        {"data": "without/a/path"},
        "no object",
    )
    assert me.roots(roots=LISTING) == [me.home / ".acme", shop, garden]


def test_a_list_in_a_home_that_was_moved_means_the_home_where_it_is(me, tmp_path):
    shop = me.folder("shop/.acme")
    _listed(me, {"path": "/home/ada/shop", "data": "/home/ada/shop/.acme"})
    assert me.roots(roots=LISTING) == [me.home / ".acme", shop]


def test_a_list_in_another_home_means_no_folder_of_this_one(me, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = tmp_path / "other"
    (other / ".acme").mkdir(parents=True)
    file = other / ".acme" / "projects.json"
    file.write_text(json.dumps([{"path": "/", "data": str(elsewhere)}]))
    assert me.roots(roots=LISTING, home=other) == [other / ".acme"]


@pytest.mark.parametrize("text", ["", "{", "7", '[{"data": "\\u0000"}]'])
def test_a_list_that_cannot_be_read_names_nothing(me, text):
    root = me.folder(".acme")
    (root / "projects.json").write_text(text)
    assert me.roots(roots=LISTING) == [root]


def test_a_file_or_an_impossible_path_is_no_root(me):
    (me.home / ".claude").write_text("")
    assert me.roots() == []
    assert me.roots('[sources.claude_code]\nroots = ["/a\\u0000b"]') == []


@pytest.mark.parametrize(
    ("tz", "link", "text", "zone"),
    [
        ("Europe/Paris", "zoneinfo/Asia/Tokyo", None, "Europe/Paris"),
        (":Europe/Paris", None, None, "Europe/Paris"),
        ("/usr/share/zoneinfo/Europe/Paris", None, None, "Europe/Paris"),
        ("CET-1CEST,M3.5.0", "../usr/share/zoneinfo/Asia/Tokyo", None, "Asia/Tokyo"),
        (None, "/usr/share/zoneinfo/posix/Asia/Tokyo", "Europe/Rome", "Asia/Tokyo"),
        (None, "/elsewhere/localtime", "Europe/Rome\n", "Europe/Rome"),
        (None, None, "Nowhere/Land", "UTC"),
        ("", None, None, "UTC"),
    ],
)
def test_the_machines_zone_is_found_where_the_system_says_it(
    tmp_path, tz, link, text, zone
):
    if link:
        (tmp_path / "localtime").symlink_to(link)
    if text:
        (tmp_path / "timezone").write_text(text)
    assert machine_time_zone({"TZ": tz} if tz is not None else {}, tmp_path) == zone


@pytest.mark.parametrize("name", ["", "Europe", "/etc/passwd", "../UTC", "a\0b"])
def test_a_zone_that_is_none_is_refused(name):
    with pytest.raises(UserError, match=r"--tz: there is no time zone"):
        checked_time_zone(name, "--tz")


FILES = (
    Root(default=("~/.acme",)),
    Root(default=(), env="ACME_DB", file_in="${XDG_DATA_HOME:-~/.local/share}/acme"),
)


def test_a_variable_may_name_a_file_which_is_then_a_place_of_its_own(me):
    folder, data = me.folder(".acme"), me.folder(".local/share/acme")
    (data / "mine.db").touch()
    assert me.roots(roots=FILES) == [folder]
    for text in ("mine.db", str(data / "mine.db"), "~/.local/share/acme/mine.db"):
        me.environ["ACME_DB"] = text
        assert me.roots(roots=FILES) == [folder, data / "mine.db"]
    me.environ["ACME_DB"] = ":memory:"
    assert me.roots(roots=FILES) == [folder]


def test_a_file_is_no_place_of_a_source_that_has_folders(me):
    (me.folder("x") / "file").touch()
    me.environ["CLAUDE_CONFIG_DIR"] = str(me.home / "x/file")
    assert me.roots() == []
