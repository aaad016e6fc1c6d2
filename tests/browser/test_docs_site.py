"""The docs site in a real browser, on a desk and on a telephone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.browser import browser_page
from support.servers import folder_served

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-d", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    with folder_served(folder) as port:
        yield folder, f"http://127.0.0.1:{port}"


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
