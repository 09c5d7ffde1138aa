"""Every guard that is printed for kernels, operators and pipelines, on both of its sides.

As they are marked, few have one. Without their marks, `--detect` finds the same loops, and has to ask of each two
arguments whether they are apart, and of rows of constant length whether sizes stay in them: half of these files in
`make test`, all with `make test-all`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.differential.guard_sides import both_sides
from tests.differential.toolbox import OTHERWISE, assert_verified
from tests.turns import EVERYTHING, turn

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
UNMARKED = {
    "polybench/2mm": 1,
    "polybench/3mm": 1,
    "polybench/adi": 1,
    "polybench/atax": 1,
    "polybench/bicg": 1,
    "polybench/correlation": 1,
    "polybench/covariance": 1,
    "polybench/deriche": 1,
    "polybench/doitgen": 1,
    "polybench/durbin": 1,
    "polybench/fdtd-2d": 1,
    "polybench/gemm": 1,
    "polybench/gemver": 1,
    "polybench/gesummv": 1,
    "polybench/gramschmidt": 1,
    "polybench/heat-3d": 1,
    "polybench/jacobi-1d": 1,
    "polybench/jacobi-2d": 1,
    "polybench/lu": 1,
    "polybench/ludcmp": 1,
    "polybench/mvt": 1,
    "polybench/nussinov": 1,
    "polybench/symm": 1,
    "polybench/syr2k": 1,
    "polybench/syrk": 1,
    "polybench/trmm": 1,
    "operators/add2": 1,
    "operators/attention": 1,
    "operators/bmmtrans": 1,
    "operators/cadd": 1,
    "operators/conv1": 1,
    "operators/conv2": 1,
    "operators/conv3": 1,
    "operators/conv4": 1,
    "operators/indep": 1,
    "operators/madd": 1,
    "operators/maxmin": 1,
    "operators/mmbias1": 1,
    "operators/mmbias2": 1,
    "operators/mmbias3": 1,
    "operators/mul2": 1,
    "operators/s2m": 1,
    "operators/transbmm": 1,
    "arrays/bilateral": 1,
    "arrays/camera": 2,
    "arrays/harris": 1,
    "arrays/laplacian": 7,
    "arrays/multiscale": 3,
    "arrays/unsharp": 1,
    "flat/bilateral": 1,
    "flat/camera": 4,
    "flat/harris": 1,
    "flat/unsharp": 1,
    "guarded/guard_precedence": 1,
}
"""The same where `--detect` finds the regions. Not `flat/laplacian` and `flat/multiscale`: their sizes are what
definitions before the regions say (`C6 = C >> 6`), and a region on its own does not have these."""
LONG = frozenset(["arrays/camera", "arrays/laplacian", "arrays/multiscale", "flat/laplacian", "flat/multiscale"])
"""Half a minute and more each: `make test-all` tries them."""
MARK = re.compile(r"(?m)^[ \t]*#pragma (?:(?:end)?scop|polyc live-out)[^\n]*$")


def guards_of(name: str, detect: bool, folder: Path, *defines: str) -> int:
    """Run both sides of each guard of a file, below which each statement can run; how many it has."""
    where, define = FOLDERS[name.partition("/")[0]]
    file = where / f"{name.partition('/')[2]}.c"
    text = file.read_text()
    if detect:
        text = MARK.sub("", text)
    inputs = InputOptions(include_dirs=INCLUDES, defines=defines or (define,) if define else (), detect=detect)
    count = 0
    for region in read(str(file), inputs, text=text).regions:
        # All is asked for at any size then, not only where there is enough work for threads or a list of memory.
        compiled = compile_region(region, Options(threads="always"))
        assert_verified([compiled])
        if OTHERWISE not in compiled.text:
            continue
        count += 1
        scop = compiled.program.scop
        assert all(not scop.guard.intersect(one.domain.params()).is_empty() for one in scop.statements.values())
        own = folder / str(count)
        own.mkdir()
        guarded, sides, missing = both_sides(region, compiled, own)
        assert not sides.faults, "\n".join(sides.faults[:5])
        assert sides.branches == {False, True}, guarded.condition
        assert not missing, guarded.condition
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MARKED if EVERYTHING or name not in LONG])
def test_marked(name: str, tmp_path: Path) -> None:
    assert guards_of(name, False, tmp_path) == MARKED[name]


@pytest.mark.slow
def test_marked_at_another_size(tmp_path: Path) -> None:
    """At sizes at which a row of the result goes into registers as a whole, its length is asked for."""
    assert guards_of("polybench/doitgen", False, tmp_path, "LARGE_DATASET") == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", turn([name for name in UNMARKED if EVERYTHING or name not in LONG], 0))
def test_unmarked(name: str, tmp_path: Path) -> None:
    assert guards_of(name, True, tmp_path) == UNMARKED[name]


@pytest.mark.slow
def test_a_weaker_guard_is_found(tmp_path: Path) -> None:
    """A guard that asks for less memory than the loops touch, which run backwards: right where nothing overlaps."""
    (region,) = read(str(FOLDERS["guarded"][0] / "guard_precedence.c"), InputOptions(detect=True)).regions
    compiled = compile_region(region, Options(threads="always"))
    backwards = compiled.text.replace("for (int k = 0; k < lk; k++)", "for (int k = lk - 1; k >= 0; k--)")
    weaker = backwards.replace("x + lk, y, y + lk", "x + 1, y, y + 1")
    assert len({compiled.text, backwards, weaker}) == 3
    assert not both_sides(region, replace(compiled, text=backwards), tmp_path)[1].faults
    assert both_sides(region, replace(compiled, text=weaker), tmp_path)[1].faults
