"""What the check of memory that may overlap says of a right program, and of ones that something was done to."""

from __future__ import annotations

from dataclasses import replace

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.model.scop import CALLS
from polyc.pipeline import compile_region
from polyc.verify.region.ordered import order_faults

TEXT = """
#include <math.h>
void votes(int h, int w, const unsigned char *edge, int nt, double step, int *acc)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (edge[y * w + x] > 230)
                for (int t = 0; t < nt; t++)
                    acc[(int)(x * cos(t * step) + y * sin(t * step))]++;
}
"""


def test_order_of_memory() -> None:
    (region,) = read("t.c", InputOptions(detect=True), text=TEXT).regions
    found = compile_region(region, Options())
    assert found.verified
    assert "table[t]" in found.text
    assert "polyc_apart" not in found.text
    program = found.program
    assert list(order_faults(program, region.scop)) == []
    free = {
        name: replace(s, accesses=tuple(a for a in s.accesses if a.array != CALLS))
        for name, s in region.scop.statements.items()
    }
    faults = list(order_faults(program, replace(region.scop, statements=free)))
    assert [fault.message.split()[1:] for fault in faults] == [["touches", "memory", "in", "no", "order"]]
    (fault, *_) = order_faults(replace(program, scop=replace(program.scop, ordered=frozenset())), region.scop)
    assert fault.message == "what may overlap changed"


def test_nothing_is_gained_on_a_gpu() -> None:
    (region,) = read("t.c", InputOptions(detect=True), text=TEXT).regions
    found = compile_region(region, Options(target="cuda"))
    assert not found.ast
    assert "not-mapped" in {remark.code for remark in found.program.remarks}
