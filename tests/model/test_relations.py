"""Functions of isl as people write them."""

from __future__ import annotations

import islpy as isl
import pytest

from polyc.model.relations import expression


@pytest.mark.parametrize(
    ("function", "domain", "text"),
    [
        ("{ S[i, j] -> [(i + 2j)] }", None, "i + 2j"),
        ("{ S[i, j] -> [(i - (i) mod 2)] }", None, "i - (i) mod 2"),
        ("[n] -> { S[i] -> [(i)] : n > 2; S[i] -> [(2i)] : n <= 2 }", None, "(i : n >= 3; 2i : n <= 2)"),
        (  # isl divides where it knows that there is no rest
            "{ S[i] -> [(i - (i) mod 2)] }",
            "{ S[i] : (-1 + i) mod 3 = 0 and 0 < i <= 5 }",
            "(-4 + 4i)/3",
        ),
    ],
)
def test_the_value_of_a_function(function: str, domain: str | None, text: str) -> None:
    assert expression(isl.PwAff(function), None if domain is None else isl.Set(domain)) == text
