"""docs/add-a-pass.md, followed to its end in a copy of the project: then the tests of the new pass succeed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import ROOT, fences

PAGE = ROOT / "docs" / "add-a-pass.md"
FOLDERS = ("polyc", "tests", "docs", "benchmarks", "polybench")
FILES = ("README.md", "pyproject.toml", "Makefile")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "build")
WRITES = ("tests/remarks", "tests/docs/test_remarks_page.py")
TESTS = (*WRITES, "tests/passes/test_on_trees.py", "tests/docs/test_architecture.py", "tests/docs/test_rooms.py")
OF_PASS = "short or every_code or page or passes"


def follow(copy: Path) -> None:
    """Save and insert what the page says, where it says so."""
    for fence in fences(PAGE):
        saved, place = fence.wished("save"), fence.wished("insert")
        if saved is not None:
            (copy / saved).write_text(fence.text)
        if place is None:
            continue
        name, where = place.split(", behind: ")
        lines = (copy / name).read_text().splitlines(keepends=True)
        at = next(k for k, line in enumerate(lines) if where in line)
        lines.insert(at + 1, fence.text)
        (copy / name).write_text("".join(lines))


@pytest.mark.slow
def test_the_page_leads_to_a_pass(tmp_path: Path) -> None:
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=LEFT_OUT)
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    follow(tmp_path)

    def run(*words: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "POLYC_TURNS": ""}
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280
        )
        assert done.returncode == 0, f"{done.stdout[-4000:]}{done.stderr[-2000:]}"

    run("docs/rooms.py")
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--update-golden", *WRITES, "-k", OF_PASS)
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, "-k", OF_PASS)
    said = (tmp_path / "tests" / "remarks" / "remarks" / "short-loop.expected").read_text()
    assert "the loops c run fewer than 4 times: one thread runs them [short-loop, short-loops]" in said
    assert "### short-loop" in (tmp_path / "docs" / "remarks.md").read_text()
