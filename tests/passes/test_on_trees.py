"""Each pass on trees that were written down (`on_trees.py`): before, after, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.passes.on_trees import CASE, rewritten
from tests.programs import region_in

FILES = sorted(file for file in Path(__file__).parent.glob("*/*.c") if CASE.search(file.read_text()))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_trees(file: Path, golden: Callable[[Path, str], None]) -> None:
    golden(file, rewritten(file.read_text(), region_in(file)))
