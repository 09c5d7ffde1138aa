"""What the pages show of a session is what happens (`pytest --update-golden tests/docs` writes the outputs anew)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from .pages import PAGES, ROOT
from .sessions import Session, is_session, needs

SESSIONS = [page for page in PAGES if is_session(page)]


@pytest.mark.slow
@pytest.mark.parametrize("page", SESSIONS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_shows_what_happens(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest, golden: Callable[[Path, str], None]
) -> None:
    for program in ("gcc", "make", *needs(page)):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    session = Session(page, tmp_path)
    text = session.run()
    for file, picture in session.pictures().items():
        golden(file, picture)
    if request.config.getoption("--update-golden"):
        page.write_text(text)
    assert text == page.read_text(), f"{page.name} is stale: run pytest --update-golden tests/docs, and read the diff"
