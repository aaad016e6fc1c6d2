"""A page of another site, in a real browser, gets nothing from our servers."""

import json

import pytest
from support.browser import browser_page
from support.servers import folder_served, served
from support.warehouses import like

pytestmark = pytest.mark.slow

# What a page can do without being allowed to: whatever it sends, it must not work.
EVIL = """
<!doctype html><title>evil</title><script>
const target = "%(target)s", socket = "%(socket)s", done = {};
const mutation = '{"query":"mutation { setNuxSeen }"}';
async function trial(name, it) {
  try { done[name] = await it(); } catch (error) { done[name] = "error"; }
}
const opened = path => new Promise(answer => {
  const one = new WebSocket(socket + path, ["graphql-ws"]);
  one.onopen = () => answer("open"); one.onerror = () => answer("error");
});
const framed = () => new Promise(answer => {
  const one = document.createElement("iframe");
  one.onload = () => answer(one.contentDocument ? "readable" : "loaded");
  one.src = target; document.body.append(one);
});
window.onload = async () => {
  await trial("simple post", async () => (await fetch(target + "/graphql",
    {method: "POST", body: mutation, headers: {"content-type": "text/plain"}})).status);
  await trial("json post", async () => (await fetch(target + "/graphql",
    {method: "POST", body: mutation,
      headers: {"content-type": "application/json"}})).status);
  const byQuery = target + "/graphql?query=mutation%%7BsetNuxSeen%%7D";
  await trial("post by query", async () => (
    await fetch(byQuery, {method: "POST", mode: "no-cors"})).type);
  await trial("get", async () => (await fetch(byQuery)).status);
  await trial("socket", () => opened("/graphql"));
  await trial("notebook socket", () => opened("/ws?session_id=x"));
  await trial("frame", framed);
  document.title = JSON.stringify(done);
};
</script><body></body>
"""


@pytest.fixture
def evil(tmp_path):
    """A site of somebody else, under another name of this machine."""
    folder = tmp_path / "evil"
    folder.mkdir()
    with folder_served(folder) as port:
        yield folder, f"http://localhost:{port}"


def attack(evil, url):
    folder, site = evil
    page = EVIL % {"target": url, "socket": url.replace("http", "ws")}
    (folder / "index.html").write_text(page)
    with browser_page() as browser:
        answers = []
        browser.on(
            "response",
            lambda one: answers.append(one.status) if one.url.startswith(url) else None,
        )
        browser.goto(site)
        browser.wait_for_function("document.title.startsWith('{')", timeout=60_000)
        return json.loads(browser.title()), answers


def test_dagster_obeys_its_own_pages_and_no_other(tmp_path, evil, empty_warehouse):
    like(empty_warehouse, tmp_path / "lake.duckdb")
    home = tmp_path / "home"
    home.mkdir()
    with served(tmp_path, home, tmp_path / "lake.duckdb", "ui") as url:
        got, answers = attack(evil, url)
        blind = ("frame", "post by query")  # the page cannot know; the answers tell
        assert {got[name] for name in got if name not in blind} == {"error"}
        assert set(answers) == {403}
        # Its own page works: it asks for data by POST and by WebSocket.
        with browser_page() as page:
            page.goto(f"{url}/assets/marts/daily_usage")
            page.wait_for_selector(
                "text=One row per day, source and model", timeout=120_000
            )


def test_the_notebook_shows_itself_to_its_own_page_alone(tmp_path, evil, loaded_folder):
    like(loaded_folder / "lake.duckdb", tmp_path / "lake.duckdb")
    home = loaded_folder / "me"
    with served(tmp_path, home, tmp_path / "lake.duckdb", "notebook") as url:
        got, answers = attack(evil, url)
        assert got["notebook socket"] == "error"
        assert set(answers) == {403}
        with browser_page() as page:
            page.goto(url)
            page.wait_for_selector(
                "text=Tokens, and how many came from the cache", timeout=120_000
            )
