"""Conditions as isl has them, in C: what the answers of comparisons say of themselves is not asked."""

from __future__ import annotations

import islpy as isl
import pytest

from polyc.codegen.loops.exprs import ExprPrinter
from polyc.codegen.text.printer import expression
from polyc.frontend.c.ctype import INT
from polyc.model import ctree as c
from polyc.model.scop import Parameter


@pytest.mark.parametrize(
    ("holds", "text"),
    [
        ("p = 1", "beta == 0.0"),
        ("p = 0", "beta != 0.0"),
        ("p >= 0 and n >= 3", "n >= 3"),
        ("n >= 3 and p <= 1 and n <= 9", "n >= 3 && n <= 9"),
        ("p >= 0", "1"),
    ],
)
def test_answers_of_comparisons(holds: str, text: str) -> None:
    asked = c.Binary("==", c.Name("beta"), c.Literal("0.0"))
    parameters = (Parameter("n", INT, c.Name("n")), Parameter("p", INT, asked))
    condition = isl.Set(f"[n, p] -> {{ : {holds} }}")
    build = isl.AstBuild.from_context(isl.Set("[n, p] -> { : }"))
    assert expression(ExprPrinter(parameters, {}).convert(build.expr_from_set(condition))) == text
