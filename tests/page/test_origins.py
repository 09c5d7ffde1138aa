"""Each printed line knows the line of the source that it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen.loops.origins import origins_in
from polyc.codegen.text.printer import Line
from polyc.errors import InternalError, Span

from .pages import CAMERA, CONV, GEMM, JACOBI, page


def linked(path: Path, target: str, number: int) -> list[tuple[str, int]]:
    """Printed lines with the line that they come from."""
    (one,) = page(path, target).compiled
    lines = (one.text, *one.device)[number].split("\n")
    return [(lines[position - 1].strip(), span.line) for position, span in one.origins[number]]


BODY = [
    ("for (int ht = 0; ht < 5756; ht += 32)", 18),
    ("for (int ht = 0; ht < 5756; ht += 32)", 26),
    ("for (int wt = 0; wt < 7676; wt += 512) {", 19),
    ("for (int wt = 0; wt < 7676; wt += 512) {", 27),
    ("for (int h = ht; h < polyc_min(5760, ht + 36); h++) {", 14),
    ("for (int w = wt; w < polyc_min(7680, wt + 516); w++)", 15),
    ("A_tile[h - ht][w - wt] = (int)(image[h][w] * 16.0f + 0.5f) / 16.0f;", 16),
    ("for (int h = ht; h < polyc_min(5756, ht + 32); h++)", 18),
    ("for (int h = ht; h < polyc_min(5756, ht + 32); h++)", 26),
    ("for (int w = wt; w < polyc_min(7676, wt + 512); w++) {", 19),
    ("for (int w = wt; w < polyc_min(7676, wt + 512); w++) {", 27),
    ("result[h][w] = 0;", 20),
    ("for (int kh = 0; kh < 5; kh++)", 21),
    ("for (int kw = 0; kw < 5; kw++)", 22),
    ("result[h][w] += A_tile[h + kh - ht][w + kw - wt] * window[kh][kw];", 23),
    ("result[h][w] = result[h][w] > 0 ? result[h][w] : 0;", 28),
]


"""Tile loops run the loops of the outputs alone; the producer has loops of its own in the tile."""


def test_statements_and_loops_of_a_region() -> None:
    assert linked(CONV, "openmp", 0) == BODY


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_statements_of_kernels(target: str) -> None:
    assert linked(CONV, target, 0) == []  # the call alone
    # Where all sizes are known each block has one tile, and its place needs no loop.
    assert [line for _, line in linked(CONV, target, 1)] == [line for _, line in BODY[4:]]


def test_a_skewed_loop_comes_from_two() -> None:
    found = linked(JACOBI, "openmp", 0)
    waves = next(text for text, _ in found if text.startswith("for (long wavet"))
    assert [line for text, line in found if text == waves] == [10, 11, 14]  # t, and i of both statements


def test_loops_of_register_tiles_keep_their_line() -> None:
    found = linked(GEMM, "openmp", 0)
    assert ("for (int i = 0; i < 6; i++) {", 14) in found
    assert not [line for text, line in found if "_panel[" in text and line != 19]  # copies are polyc's own


def test_operations_on_vectors_keep_their_line() -> None:
    found = linked(GEMM, "openmp", 0)
    assert ("C[i][j] *= beta;", 16) in found
    assert any("polyc_double4" in text for text, line in found if line == 19)


@pytest.mark.long
def test_every_statement_of_a_pipeline_is_linked() -> None:
    (one,) = page(CAMERA).compiled
    lines = {line for _, line in linked(CAMERA, "openmp", 0)}
    assert lines >= {statement.span.line for statement in one.program.scop.statements.values()}


def test_pieces_stand_in_order() -> None:
    here = Span("t.c", 7)
    text = "head\n  a;\n  a;\n  b;\ntail\n  a;\n"
    other = Span("t.c", 8)
    first = [Line("a;", None, (here, other)), Line("b;", here)]
    assert origins_in(text, [first, [Line("a;", here)]]) == ((3, here), (3, other), (4, here), (6, here))
    with pytest.raises(InternalError):
        origins_in(text, [[Line("c;", here)]])
