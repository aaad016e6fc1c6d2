"""A real browser: the distribution's Chromium, headless."""

import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

# Chromium calls home for updates and lists; a closed network refuses that, noisily.
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--no-sandbox",
]


@contextmanager
def browser_page(width=1280, height=900):
    """One page; the browser ends with the block."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.fail("these tests need Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        try:
            yield browser.new_page(viewport={"width": width, "height": height})
        finally:
            browser.close()
