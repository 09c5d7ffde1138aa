"""Golden files: `pytest --update-golden` writes what the tests see, and the diff is read before it is committed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.turns import IN_TURNS, in_turns


def pytest_configure() -> None:
    """A shell starts what it runs in the background with interrupts ignored, and each polyc of a test inherits it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["POLYC_CACHE"] = "off"
    os.environ["POLYC_RAISE"] = "1"  # a pass that fails is a failure here, and no remark


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In `make test`, tests with many cases take turns, and the longest ones are left out."""
    if not IN_TURNS:
        return
    tried = in_turns([item.nodeid for item in items])
    tried = [chosen and item.get_closest_marker("long") is None for item, chosen in zip(items, tried, strict=True)]
    config.hook.pytest_deselected(items=[item for item, chosen in zip(items, tried, strict=True) if not chosen])
    items[:] = [item for item, chosen in zip(items, tried, strict=True) if chosen]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file, or write the file with --update-golden."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        assert path.exists(), f"{path} is missing: run pytest --update-golden and read it"
        assert text == path.read_text(), f"differs from {path}; if it is meant, run pytest --update-golden"

    return compare
