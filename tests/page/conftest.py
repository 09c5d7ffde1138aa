"""A real browser: Chromium and its driver from the system's packages, without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .browser import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def started() -> Iterator[Browser]:
    binary = next(filter(None, map(shutil.which, NAMES)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("there is no Chromium with its driver (Debian: apt-get install chromium chromium-driver)")
    pytest.importorskip("selenium", reason="selenium is not installed (pip install .[test])")
    found = Browser(binary, driver)
    yield found
    found.quit()


@pytest.fixture
def browser(started: Browser, tmp_path: Path) -> Browser:
    """The browser as it is at first: wide, light, with scripts, nothing kept from another page."""
    started.fresh(tmp_path)
    return started
