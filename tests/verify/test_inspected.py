"""The check of what the data are asked can fail: each test leaves out a part of the question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model import ctree as c
from polyc.model.program import Options, Program
from polyc.model.scop import AccessKind, CType
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


GIVEN = """
void f(int n, int m, int s, const int *k, float *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            VALUE
            a[i * s + INDEX] = 1;
        }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("value", "index"),
    [
        ("int z = j;", "k[z]"),
        ("int z = j + 1;", "k[z]"),
        ("int z = j;", "k[z] % (z + 1)"),
        ("int z = j; int y = k[z];", "y"),
        ("int z = s;", "k[j + z]"),
        ("long z = 2 * (long)j;", "k[z]"),
        ("short z = j;", "k[z]"),
    ],
)
def test_a_cast_that_changes_nothing(value: str, index: str, tmp_path: Path) -> None:
    """A variable that is given `j` stands for `j` in the region, and for `(int)j` in what is asked."""
    text = GIVEN.replace("VALUE", value).replace("INDEX", index)
    program = initial_program(region_of(text, tmp_path).scop, Options())
    assert program.scop.inspection is not None
    assert not inspection_faults(program)


def no_short(node: c.Node) -> c.Node | None:
    return node.operand if isinstance(node, c.Cast) and node.type == "short" else None


def test_a_cast_that_changes_something(tmp_path: Path) -> None:
    text = GIVEN.replace("VALUE", "short z = j;").replace("INDEX", "k[z]")
    program = initial_program(region_of(text, tmp_path).scop, Options())
    assert inspection_faults(asking(program, no_short))


def test_iterations_are_counted_in_the_same_type(tmp_path: Path) -> None:
    """Of `j * j` another type has other values."""
    text = GIVEN.replace("VALUE", "").replace("INDEX", "k[j * j]")
    program = initial_program(region_of(text, tmp_path).scop, Options())
    inspection = program.scop.inspection
    assert inspection is not None
    assert not inspection_faults(program)
    unsigned = CType("unsigned", "int", 4, signed=False)
    statements = {n: replace(s, loop_types=(unsigned,)) for n, s in inspection.scop.statements.items()}
    other = replace(inspection, scop=replace(inspection.scop, statements=statements))
    assert inspection_faults(replace(program, scop=replace(program.scop, inspection=other)))


KEPT = """
void f(int n, int m, int w, const float *in, float *a)
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++)
        if (in[i] > 0)
            for (j = 0; j < m; j++)
                a[i * m + j] += 1;
#pragma endscop
}
"""


def longer(node: c.Node) -> c.Node | None:
    """A loop over more than a row has."""
    return c.Name("w") if node == c.Name("m") else None


def faster(node: c.Node) -> c.Node | None:
    """A loop that counts in its body as well."""
    more = c.ExprStmt(c.Assign("+=", c.Name("j"), c.Literal("1")))
    return replace(node, body=c.Block((more, node.body))) if isinstance(node, c.For) else None


def unsigned(node: c.Node) -> c.Node | None:
    return replace(node, type="unsigned") if isinstance(node, c.Decl) else None


def further(node: c.Node) -> c.Node | None:
    """A loop that counts down to less than 0."""
    return replace(node, right=c.Literal("-1")) if isinstance(node, c.Binary) and node.op == ">=" else None


@pytest.mark.parametrize("change", [longer, faster, unsigned, further])
def test_loops_that_count_down_inside_of_a_statement(change: Callable[[c.Node], c.Node | None], tmp_path: Path) -> None:
    text = KEPT.replace("j = 0; j < m; j++", "j = m - 1; j >= 0; j -= 2")
    program = initial_program(region_of(text, tmp_path).scop, Options())
    assert not inspection_faults(program)
    scop = program.scop
    statements = {name: replace(s, body=c.rewrite(s.body, change)) for name, s in scop.statements.items()}
    assert inspection_faults(replace(program, scop=replace(scop, statements=statements)))


@pytest.mark.parametrize("row", ["i", "(w * 9 + i)"])
@pytest.mark.parametrize("change", [longer, faster, unsigned])
def test_loops_inside_of_a_statement(change: Callable[[c.Node], c.Node | None], row: str, tmp_path: Path) -> None:
    """Their counters are the statement's own, whether a loop declares them or a block around it. Which row it is may be
    computed without a sign."""
    text = KEPT.replace("int w", "unsigned long w").replace("i * m", f"{row} * m")
    program = initial_program(region_of(text, tmp_path).scop, Options())
    assert not inspection_faults(program)
    scop = program.scop
    statements = {name: replace(s, body=c.rewrite(s.body, change)) for name, s in scop.statements.items()}
    assert inspection_faults(replace(program, scop=replace(scop, statements=statements)))


def later(node: c.Node) -> c.Node | None:
    """The bound is what a loop inside has left in its counter."""
    outer = c.Binary("<", c.Name("j"), c.Name("m"))
    return replace(outer, right=c.Name("k")) if node == outer else None


def test_a_counter_has_other_values_before_its_loop(tmp_path: Path) -> None:
    text = KEPT.replace("int i, j;", "int i, j, k;").replace(
        "a[i * m + j]", "for (k = 0; k < m; k++)\n                    a[i * m + j]"
    )
    program = initial_program(region_of(text, tmp_path).scop, Options())
    assert not inspection_faults(program)
    scop = program.scop
    statements = {name: replace(s, body=c.rewrite(s.body, later)) for name, s in scop.statements.items()}
    assert inspection_faults(replace(program, scop=replace(scop, statements=statements)))


BLOCKS = """
enum { EDGE = 16, LOW = 0, STEP = 2 };
static const int side = 16;
static const unsigned width = 16;
void f(int n, int s, const unsigned char *restrict p, int *restrict best)
{
#pragma scop
    for (int b = 0; b < n; b++) {
        int sum = 0;
        for (int j = 0; j < EDGE; j++) {
            for (LOOP) sum += TERM;
            if (sum > 1000) break;
        }
        best[b] = sum;
    }
#pragma endscop
}
"""
ELEMENT = "p[j * s + b * EDGE + i]"


def past(node: c.Node) -> c.Node | None:
    """A constant that is larger by one."""
    return replace(node, text=node.text.replace("16", "17")) if isinstance(node, c.Literal) else None


@pytest.mark.parametrize(
    ("loop", "term"),
    [
        ("int i = 0; i < EDGE; i++", ELEMENT),
        ("int i = 0; i < side; i++", ELEMENT),
        ("int i = 0; i < width; i++", ELEMENT),
        ("int i = EDGE - 1; i >= LOW; i--", ELEMENT),
        ("int i = LOW; i <= EDGE - STEP; i += STEP", ELEMENT),
        ("int i = 0; i < 99; i++", f"i < EDGE ? {ELEMENT} : 0"),
    ],
)
def test_constants_with_names_bound_the_loops_inside_of_a_statement(loop: str, term: str, tmp_path: Path) -> None:
    """The check reads numbers: what a name means stands outside of the region."""
    program = initial_program(region_of(BLOCKS.replace("LOOP", loop).replace("TERM", term), tmp_path).scop, Options())
    scop = program.scop
    assert scop.arrays["p"].flat
    assert not inspection_faults(program)
    statements = {name: replace(s, body=c.rewrite(s.body, past)) for name, s in scop.statements.items()}
    assert inspection_faults(replace(program, scop=replace(scop, statements=statements)))


SIZES = """
typedef TYPE count;
struct table { count rows, columns; double *a, *w; };
void f(const struct table *s, double *total)
{
    count i, j;
#pragma scop
    for (i = 0; i < s->rows; i++) {
        if (s->w[i] == 0)
            continue;
        for (j = 0; j < s->columns; j++)
            *total += s->a[i * s->columns + j];
    }
#pragma endscop
}
"""


def wider(node: c.Node) -> c.Node | None:
    """A loop over another size of the struct."""
    return replace(node, field="rows") if isinstance(node, c.Member) and node.field == "columns" else None


@pytest.mark.parametrize("name", ["unsigned", "int", "unsigned long"])
def test_loops_up_to_a_size_in_a_struct(name: str, tmp_path: Path) -> None:
    """A statement that is kept whole reads it as an element of an array of structs."""
    program = initial_program(region_of(SIZES.replace("TYPE", name), tmp_path).scop, Options())
    assert not inspection_faults(program)
    scop = program.scop
    statements = {name: replace(s, body=c.rewrite(s.body, wider)) for name, s in scop.statements.items()}
    assert inspection_faults(replace(program, scop=replace(scop, statements=statements)))
    written = {
        name: replace(
            s, accesses=tuple(replace(a, kind=AccessKind.MAY_WRITE) if a.array == "s" else a for a in s.accesses)
        )
        for name, s in scop.statements.items()
    }
    assert inspection_faults(replace(program, scop=replace(scop, statements=written)))
