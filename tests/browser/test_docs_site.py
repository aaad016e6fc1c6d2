"""The docs site in a real browser, on a desk and on a telephone."""

import functools
import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.browser import browser_page

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-d", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_is_wider_than_the_window(site, width):
    folder, url = site
    pages = sorted(
        path.parent.relative_to(folder) for path in folder.rglob("index.html")
    )
    assert len(pages) > 8
    wide, missing = {}, []
    with browser_page(width=width) as page:
        page.on(
            "response",
            lambda one: missing.append(one.url) if one.status >= 400 else None,
        )
        for name in pages:
            page.goto(f"{url}/{name}/", wait_until="load")
            over = page.evaluate(
                "document.documentElement.scrollWidth - window.innerWidth"
            )
            if over > 0:
                wide[str(name)] = over
    assert wide == {}
    assert missing == []
