"""What `inline` takes of an array's flow for one reference is what isl computes of that reference alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.analysis.dependences import accesses_of
from polyc.analysis.order import order_of
from polyc.model.program import Options
from polyc.model.scop import AccessKind
from polyc.passes.values.inline import _flow_of, _through, flow_into
from polyc.pipeline import initial_program
from tests.programs import region_of

HEAD = "void f(int n, double T[n + 2], double A[n + 2], double B[n + 2])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
FOLLOWS = {
    "window": """
    for (int i = 0; i < n; i++) T[i] = A[i];
    for (int i = 1; i < n - 1; i++) B[i] = T[i - 1] + T[i] + T[i + 1];""",
    "two writers": """
    for (int i = 0; i < n / 2; i++) { T[2 * i] = A[i]; T[2 * i + 1] = 2.0 * A[i]; }
    for (int i = 0; i < n; i++) B[i] = T[i] + T[i / 2];""",
    "read before it is written": """
    for (int i = 0; i < n; i++) A[i] = T[i + 1];
    for (int i = 0; i < n; i++) T[i] = A[i];
    for (int i = 0; i < n; i++) B[i] = T[n - 1 - i] + T[i + 1];""",
    "while it is written": """
    for (int i = 1; i < n; i++) T[i] = T[i - 1] + A[i] + T[i + 1] + T[0];
    for (int i = 0; i < n; i++) B[i] = T[i];""",
    "written again, by instances that write one cell": """
    for (int i = 0; i < n; i++) T[i] = A[i];
    for (int i = 0; i < n; i++) B[i] = T[i] + T[n - 1 - i] + T[n];
    for (int i = 1; i < n; i += 2) T[i] = B[i] + T[i - 1];
    for (int i = 0; i < n; i++) A[i] = T[i] + T[i + 1] * T[0];""",
}


@pytest.mark.parametrize("name", FOLLOWS)
def test_a_part_of_the_flow_is_that_of_a_reference(name: str, tmp_path: Path) -> None:
    program = initial_program(region_of(HEAD + FOLLOWS[name] + TAIL, tmp_path).scop, Options())
    order, everything = order_of(program.scop.tree), accesses_of(program.scop, frozenset(["T"]))
    whole = _flow_of(program, "T", everything, program)
    assert whole is not None
    reads = [a for s in program.scop.statements.values() for a in s.accesses if a.kind is AccessKind.READ]
    for access in (a for a in reads if a.array == "T"):
        part, alone = _through(access, everything, whole), flow_into(access.relation, everything, order)
        assert part.dependence.is_equal(alone.dependence)
        assert part.live_in.is_equal(alone.live_in)


def test_what_writes_several_cells_that_others_write_is_asked_for_each_reference(tmp_path: Path) -> None:
    """Of a pair of instances in the array's flow, nobody knows then through which of two cells the value goes."""
    text = HEAD + "    for (int i = 0; i < n; i++) T[i] = A[i];\n    for (int i = 0; i < n; i++) B[i] = T[i];" + TAIL
    program = initial_program(region_of(text, tmp_path).scop, Options())
    first, reader = program.scop.statements.values()
    two_cells = isl.Map("{ T[i] -> T[j] : i <= j <= i + 1 }")
    accesses = tuple(
        replace(a, relation=a.relation.apply_range(two_cells)) if a.kind is AccessKind.WRITE else a
        for a in first.accesses
    )
    scop = replace(program.scop, statements={first.name: replace(first, accesses=accesses), reader.name: reader})
    everything = accesses_of(scop, frozenset(["T"]))
    assert _flow_of(replace(program, scop=scop), "T", everything, program) is None
