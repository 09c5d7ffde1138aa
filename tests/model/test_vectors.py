"""Loops over lanes as operations on vectors, and those that stay loops."""

from __future__ import annotations

from pathlib import Path

from polyc.codegen.blocks.vectors import VectorTypes, with_vectors
from polyc.model import ctree as c
from polyc.model.program import Options
from polyc.pipeline import compile_region
from tests.programs import region_of

TEXT = """
void f(int n, float a[n], float b[n], double d[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = b[i] + d[i];
#pragma endscop
}
"""


def lanes(target: str, *sources: str) -> c.For:
    """`for (long l = 0; l < 8; l++) target[l] = source[l] + ...;`"""
    lane = (c.Name("l"),)
    value: c.Expr = c.ArrayRef(sources[0], lane)
    for source in sources[1:]:
        value = c.Binary("+", value, c.ArrayRef(source, lane))
    body = c.ExprStmt(c.Assign("=", c.ArrayRef(target, lane), value))
    start = c.Decl("long", "l", init=c.Literal("0"))
    return c.For(start, c.Binary("<", c.Name("l"), c.Literal("8")), c.Postfix("++", c.Name("l")), body, lanes=8)


def test_a_loop_that_stays_leaves_no_type(tmp_path: Path) -> None:
    """Compilers warn of a type that nothing has."""
    program = compile_region(region_of(TEXT, tmp_path), Options()).program
    types = VectorTypes()
    (kept,) = with_vectors([lanes("a", "b", "d")], program, types)
    assert isinstance(kept, c.For)
    assert types.types() == []
    (changed,) = with_vectors([lanes("a", "b")], program, types)
    assert isinstance(changed, c.Block)
    (line,) = types.types()
    assert line.startswith("typedef float polyc_float8 ")
