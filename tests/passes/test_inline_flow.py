"""What `inline` takes of an array's flow for one reference is what isl computes of that reference alone."""

from __future__ import annotations

from pathlib import Path

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
WRITTEN_ONCE = {
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
}


@pytest.mark.parametrize("name", WRITTEN_ONCE)
def test_a_part_of_the_flow_is_that_of_a_reference(name: str, tmp_path: Path) -> None:
    program = initial_program(region_of(HEAD + WRITTEN_ONCE[name] + TAIL, tmp_path).scop, Options())
    order, everything = order_of(program.scop.tree), accesses_of(program.scop, frozenset(["T"]))
    whole = _flow_of(program, "T", everything, order, program)
    assert whole is not None
    reads = [a for s in program.scop.statements.values() for a in s.accesses if a.kind is AccessKind.READ]
    for access in (a for a in reads if a.array == "T"):
        part, alone = _through(access, everything, whole), flow_into(access.relation, everything, order)
        assert part.dependence.is_equal(alone.dependence)
        assert part.live_in.is_equal(alone.live_in)


def test_what_is_written_twice_is_asked_for_each_reference(tmp_path: Path) -> None:
    twice = """
    for (int i = 0; i < n; i++) T[i] = A[i];
    for (int i = 0; i < n; i++) T[i] = B[i];"""
    program = initial_program(region_of(HEAD + twice + TAIL, tmp_path).scop, Options())
    everything = accesses_of(program.scop, frozenset(["T"]))
    assert _flow_of(program, "T", everything, order_of(program.scop.tree), program) is None
