"""The check of what the data are asked can fail: each test leaves out a part of the question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model import ctree as c
from polyc.model.program import Options, Program
from polyc.pipeline import initial_program
from polyc.verify.region.inspected import inspection_faults
from tests.programs import region_of

ROUNDED = """
void f(int n, int m, unsigned long w, float scale, const float *in, float *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int z = (int)(in[j] * scale + 0.5f);
            a[i * w + z] += 1;
        }
#pragma endscop
}
"""


def no_cast(node: c.Node) -> c.Node | None:
    """A row of no elements is one of ULONG_MAX when one is taken off."""
    return node.operand if isinstance(node, c.Cast) and node.type == "long" else None


def nearer(node: c.Node) -> c.Node | None:
    """The value may be rounded otherwise, to the last element's neighbour."""
    return node.left if isinstance(node, c.Binary) and node.op == "-" else None


@pytest.mark.parametrize("change", [no_cast, nearer])
def test_a_weaker_question(change: Callable[[c.Node], c.Node | None], tmp_path: Path) -> None:
    program = initial_program(region_of(ROUNDED, tmp_path).scop, Options())
    assert not inspection_faults(program)
    assert [fault.message for fault in inspection_faults(asking(program, change))] == [
        "dimension 2 of a in S1: nobody asks whether it stays in its row"
    ]


def asking(program: Program, change: Callable[[c.Node], c.Node | None]) -> Program:
    """The program that asks something else."""
    inspection = program.scop.inspection
    assert inspection is not None
    statements = {name: replace(s, body=c.rewrite(s.body, change)) for name, s in inspection.scop.statements.items()}
    other = replace(inspection, scop=replace(inspection.scop, statements=statements))
    return replace(program, scop=replace(program.scop, inspection=other))
