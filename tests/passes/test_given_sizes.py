"""`--sizes`: other numbers for one kind of tiles, in the same code shape, and the same values."""

from __future__ import annotations

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from polyc.records import replace
from tests.docs.pages import ROOT

KERNELS = ROOT / "polybench" / "kernels"
INPUT = InputOptions(include_dirs=(str(ROOT / "polybench" / "harness"),), defines=("LARGE_DATASET",))
ASKED = {
    "gemm": ("register-tiles", (100, 1000, 96), "register-tile", "tile", [104, 1008, 96]),
    "trisolv": ("row-blocks", (12,), "row-blocks", "sizes", [16, 8]),
    "mvt": ("row-blocks", (5,), "row-blocks", "sizes", [5]),
    "lu": ("blocks", (50,), "blocked", "steps", 72),
    "jacobi-2d": ("time-tiles", (20,), "time-tiled", "sizes", [20, 20]),
    "adi": ("tiles", (40,), "cpu-sizes", "sizes", [40]),
}
"""The option, and the remark that tells what came of it: registers and vectors round sizes up."""

MACHINES = {"jacobi-2d": "generic"}
"""Where not `zen4`, whose caches hold its data without tiles."""


@pytest.mark.parametrize("kernel", ASKED)
def test_a_kind_of_tiles_has_the_sizes_that_are_asked_for(kernel: str) -> None:
    kind, sizes, code, name, wanted = ASKED[kernel]
    (region,) = read(str(KERNELS / f"{kernel}.c"), INPUT).regions
    region = replace(region, scop=replace(region.scop, usual={}))  # for those of its file other kinds may be better
    compiled = compile_region(region, Options(machine=MACHINES.get(kernel, "zen4"), sizes=((kind, sizes),)))
    assert compiled.verified
    told = [remark.data[name] for remark in compiled.program.remarks if remark.code == code]
    assert told
    assert all(one == wanted for one in told)


def test_a_kind_that_no_nest_has_is_told() -> None:
    (region,) = read(str(KERNELS / "gemm.c"), INPUT).regions
    compiled = compile_region(region, Options(machine="zen4", sizes=(("blocks", (32,)),)))
    assert "sizes-unused" in {remark.code for remark in compiled.program.remarks}
