"""Debian's Chromium, or Chrome, for the tests that operate the pages that the project writes."""

import contextlib
import os
import shutil

from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
NEEDED = "needs a browser: apt-get install chromium"


@contextlib.contextmanager
def opened():
    """The browser, without a window. root has to do without its sandbox."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM,
                                             args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield browser
        browser.close()
