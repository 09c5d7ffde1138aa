"""Each printed line knows the line of the source that it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen.origins import origins_in
from polyc.codegen.printer import Line
from polyc.errors import InternalError, Span

from .pages import CAMERA, CONV, GEMM, page


def linked(path: Path, target: str, number: int) -> list[tuple[str, int]]:
    """Printed lines with the line that they come from."""
    (one,) = page(path, target).compiled
    lines = (one.text, *one.device)[number].split("\n")
    return [(lines[position - 1].strip(), span.line) for position, span in one.origins[number]]


BODY = [
    ("A_tile[h - ht][w - wt] = (int)(image[h][w] * 16.0f + 0.5f) / 16.0f;", 16),
    ("result[h][w] = 0;", 20),
    ("result[h][w] += A_tile[h + kh - ht][w + kw - wt] * window[kh][kw];", 23),
    ("result[h][w] = result[h][w] > 0 ? result[h][w] : 0;", 28),
]


def test_statements_of_a_region() -> None:
    assert linked(CONV, "openmp", 0) == BODY


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_statements_of_kernels(target: str) -> None:
    assert linked(CONV, target, 0) == []  # the call alone
    assert [line for _, line in linked(CONV, target, 1)] == [line for _, line in BODY]


def test_operations_on_vectors_keep_their_line() -> None:
    found = linked(GEMM, "openmp", 0)
    assert ("C[i][j] *= beta;", 16) in found
    assert any("polyc_double4" in text for text, line in found if line == 19)


def test_every_statement_of_a_pipeline_is_linked() -> None:
    (one,) = page(CAMERA).compiled
    lines = {line for _, line in linked(CAMERA, "openmp", 0)}
    assert lines >= {statement.span.line for statement in one.program.scop.statements.values()}


def test_pieces_stand_in_order() -> None:
    here = Span("t.c", 7)
    text = "head\n  a;\n  a;\n  b;\ntail\n  a;\n"
    assert origins_in(text, [[Line("a;"), Line("b;", here)], [Line("a;", here)]]) == ((4, here), (6, here))
    with pytest.raises(InternalError):
        origins_in(text, [[Line("c;", here)]])
