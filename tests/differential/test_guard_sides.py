"""Every guard that is printed for kernels, operators and pipelines, on both of its sides.

As they are marked, few have one. Without their marks, `--detect` finds the same loops, and has to ask of each two
arguments whether they are apart, and of rows of constant length whether sizes stay in them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.differential.guard_sides import both_sides
from tests.differential.toolbox import OTHERWISE, assert_verified

ROOT = Path(__file__).parents[2]
PIPELINES = ROOT / "benchmarks" / "pipelines"
INCLUDES = (str(ROOT / "polybench" / "harness"), str(PIPELINES / "harness"))
FOLDERS = {
    "polybench": (ROOT / "polybench" / "kernels", "MINI_DATASET"),
    "operators": (ROOT / "benchmarks" / "operators", "SMALL"),
    "arrays": (PIPELINES / "arrays", "MINI_DATASET"),
    "flat": (PIPELINES / "flat", "MINI_DATASET"),
    "guarded": (Path(__file__).parent / "guarded", ""),
}
MARKED = {
    "polybench/fdtd-2d": 1,
    "flat/bilateral": 1,
    "flat/camera": 1,
    "flat/laplacian": 1,
    "flat/multiscale": 1,
    "guarded/softmax": 1,
}
"""Files with a guard where the user's own marks stand, and how many."""
UNMARKED = {}
"""The same where `--detect` finds the regions."""
UNREACHED: dict[str, dict[str, str]] = {}
"""Conditions of which one side is never reached, and why."""
MARK = re.compile(r"(?m)^[ \t]*#pragma (?:(?:end)?scop|polyc live-out)[^\n]*$")


def guards_of(name: str, detect: bool, folder: Path, *defines: str) -> int:
    """Run both sides of each guard of a file; how many it has."""
    where, define = FOLDERS[name.partition("/")[0]]
    file = where / f"{name.partition('/')[2]}.c"
    text = file.read_text()
    if detect:
        text = MARK.sub("", text)
    inputs = InputOptions(include_dirs=INCLUDES, defines=defines or (define,) if define else (), detect=detect)
    count = 0
    for region in read(str(file), inputs, text=text).regions:
        compiled = compile_region(region, Options())
        assert_verified([compiled])
        if OTHERWISE not in compiled.text:
            continue
        count += 1
        own = folder / str(count)
        own.mkdir()
        guarded, sides, missing = both_sides(region, compiled, own)
        assert not sides.faults, "\n".join(sides.faults[:5])
        assert sides.branches == {False, True}, guarded.condition
        assert missing == set(UNREACHED.get(name, {})) & set(guarded.conjuncts + guarded.comparisons), guarded.condition
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", MARKED)
def test_marked(name: str, tmp_path: Path) -> None:
    assert guards_of(name, False, tmp_path) == MARKED[name]


@pytest.mark.slow
def test_marked_at_another_size(tmp_path: Path) -> None:
    """At sizes at which a row of the result goes into registers as a whole, its length is asked for."""
    assert guards_of("polybench/doitgen", False, tmp_path, "LARGE_DATASET") == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", UNMARKED)
def test_unmarked(name: str, tmp_path: Path) -> None:
    assert guards_of(name, True, tmp_path) == UNMARKED[name]
