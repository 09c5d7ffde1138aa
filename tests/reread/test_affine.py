"""Expressions of the printed text, read as isl has them."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.reader import Reader
from polyc.model import ctree as c

ROW, COLUMN = c.Name("i"), c.Name("j")


def test_a_product_of_sizes_may_be_computed_in_64_bits() -> None:
    space = (
        isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 1)
        .set_dim_name(isl.dim_type.param, 0, "i_j")
        .add_unnamed_tuple_ui(0)
    )
    reader = Reader({c.Binary("*", ROW, COLUMN): "i_j"}, {}, space)
    for text in ("long", "size_t"):
        wide = c.Binary("+", c.Binary("*", c.Cast(text, ROW), COLUMN), c.Literal("1"))
        assert str(reader.value(wide)) == "[i_j] -> { [] -> [(1 + i_j)] }"
