"""The table of counters in docs/gpu.md is what `benchmarks/gpu/counters.py` prints."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT

OPERATORS = sorted(file.stem for file in (ROOT / "benchmarks" / "operators").glob("*.c"))
QUICK = ("add2", "bmmtrans", "mmbias2")
EXACT = 6
"""Columns that do not depend on nvcc: the operator, and its counters."""


def table(text: str) -> dict[str, list[str]]:
    """The rows of the page or the script, by their operators."""
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| ")
    return {row[0]: row for row in rows if row[0] in OPERATORS}


def test_all_operators_are_there() -> None:
    assert list(table((ROOT / "docs" / "gpu.md").read_text())) == OPERATORS


@pytest.mark.slow
def test_the_table() -> None:
    if not all(shutil.which(tool) for tool in ("gcc", "g++", "addr2line", "objdump")):
        pytest.skip("the shim is built with g++ and binutils")
    command = [sys.executable, "benchmarks/gpu/counters.py", *QUICK]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found, page = table(done.stdout), table((ROOT / "docs" / "gpu.md").read_text())
    assert list(found) == list(QUICK)
    assert {name: row[:EXACT] for name, row in found.items()} == {name: page[name][:EXACT] for name in QUICK}
