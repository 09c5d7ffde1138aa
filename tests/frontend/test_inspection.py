"""Subscripts that the data decide: what is asked of the data before the region, and what cannot be."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
import pytest

from polyc.analysis.expressions.ranges import bounds_of, decided, spare_of
from polyc.codegen.text.printer import statement
from polyc.model import ctree as c
from polyc.model.scop import CType, Scop

from .conftest import Modeller

HEAD = "int n, int m, int s, float *a, const float *in, const int *k, const unsigned char *b, unsigned long w"


def nest(body: str) -> str:
    return (
        f"int g(int); int t;\nvoid f({HEAD}) {{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
        f"    for (int j = 0; j < m; j++) {{\n      {body}\n    }}\n#pragma endscop\n}}\n"
    )


def asked(found: Scop) -> list[str]:
    """The statements that ask, with the dimensions of their domains."""
    assert found.inspection is not None
    return [
        f"{', '.join(s.loops)}: {line}"
        for s in found.inspection.scop.statements.values()
        for line in statement(c.rewrite(s.body, lambda _: None))
    ]


@pytest.mark.parametrize(
    ("body", "questions"),
    [
        ("a[i * s + k[j]] = 0;", ["j: index = k[j];", "j: inside &= (0 <= index) & (index < s);"]),
        (
            "int z = k[i * m + j]; a[i * s + z + 2] += 1; a[j * s + z] += 1;",
            [
                "i, j: index = (int)k[i][j] + 2;",
                "i, j: inside &= (0 <= index) & (index < s);",
                "i, j: index2 = (int)k[i][j];",
                "i, j: inside &= (0 <= index2) & (index2 < s);",
            ],
        ),
        (
            "float v = in[j] * s; int z = (int)(v + 0.5f); a[i * s + z] = 0;",
            [
                "j: index = (int)((float)(in[j] * s) + 0.5f);",
                "j: inside &= (1 <= index) & (index < s - 1) & (s < 1048576);",
            ],
        ),
        ("if (i < j) a[i * s + k[j]] = 0;", ["j: index = k[j];", "j: inside &= (0 <= index) & (index < s);"]),
        ("a[i * s + k[j] % 7] = 0;", ["j: index = k[j] % 7;", "j: inside &= (0 <= index) & (index < s);"]),
        ("a[i * w + k[j]] = 0;", ["j: index = k[j];", "j: inside &= (0 <= index) & (index < (long)w);"]),
        (  # of no elements, all but the last are -1, not ULONG_MAX
            "int z = (int)(in[j] * s + 0.5f); a[i * w + z] = 0;",
            [
                "j: index = (int)(in[j] * s + 0.5f);",
                "j: inside &= (1 <= index) & (index < (long)w - 1) & ((long)w < 1048576);",
            ],
        ),
    ],
)
def test_what_is_asked(body: str, questions: list[str], scop: Modeller) -> None:
    found = scop(nest(body))
    assert asked(found) == questions
    assert found.arrays["a"].flat
    assert found.inspection is not None
    assert not found.inspection.plain.arrays["a"].flat
    assert found.inspection.scop.live_out == {"inside"}


def test_its_iterations_are_the_statements(scop: Modeller) -> None:
    """Those of all loops that the index depends on, and no others."""
    found = scop(nest("if (i < j) a[i * s + k[j]] = 0;"))
    assert found.inspection is not None
    domain = found.inspection.scop.statements["S0"].domain
    assert domain == isl.Set("[m, n] -> { S0[j] : 0 < j < m and n > 0 }")


@pytest.mark.parametrize(
    "body",
    [
        "a[i * s + k[j]] = 0; k[j + 1] = 1;",  # the region writes it
        "int z = k[j]; if (z < 3) z = 3; a[i * s + z] = 0;",  # its value is another one by then
        "if (in[j] > 0) a[i * s + k[j]] = 0;",  # not in all iterations
        "in[j] > 0 ? a[i * s + k[j]] : 0;",
        "a[i * s + g(j)] = 0;",  # calls that may do anything
        "int z = t; t = j; a[i * s + z] = 0;",
        "int z = (int)(in[i] * in[j] + in[j] * in[j]); a[i * s + z] = 0;",  # rounded once or twice, by any amount
        "int z = (int)(in[i] * 2 + in[j]); a[i * s + z] = 0;",
        "int z = (unsigned char)(in[j] * 2 + 0.5f); a[i * s + z] = 0;",  # 255 or 0
        "int z = 4 * (int)(in[j] * 2 + 0.5f); a[i * s + z] = 0;",  # 4 apart
        "for (int l = 0; l < k[i]; l++) a[i * s + k[l]] = 0;",  # nobody knows how often
    ],
)
def test_what_cannot_be_asked(body: str, scop: Modeller) -> None:
    assert scop(nest(body).replace("const int *k", "int *k")).inspection is None


@pytest.mark.parametrize(
    ("body", "size"),
    [
        ("if (j < 300) a[i * 300 + b[j]] = a[i * 300 + j];", None),
        ("a[i * s + b[j]] = 0;", 255),
        ("a[i * s + (k[j] & 15)] = 0;", 15),
        ("a[i * s + b[j] % 9] = 0;", 8),
        ("a[i * s + b[j] / 8 + 1] = 0;", 32),
        ("int z = (unsigned char)k[j]; a[i * s + (z >> 4)] = 0;", 15),
        ("a[i * s + ((k[j] < 0 ? 0 : k[j]) > 9 ? 9 : (k[j] < 0 ? 0 : k[j]))] = 0;", 9),
    ],
)
def test_what_needs_no_question(body: str, size: int | None, scop: Modeller) -> None:
    """Bounds of what an index is made of: rows that are longer are asked for, of the sizes."""
    found = scop(nest(body))
    assert found.inspection is None
    assert found.arrays["a"].flat
    if size is not None:
        assert f"s > {size}" in str(found.assumed) or f"s >= {size + 1}" in str(found.assumed)


def test_the_plain_model_asks_nothing(scop: Modeller) -> None:
    inspection = scop(nest("a[i * s + k[j]] = 0;")).inspection
    assert inspection is not None
    assert inspection.plain.inspection is None


def literal(value: float | str) -> c.Literal:
    return c.Literal(str(value))


X, Y = c.Name("x"), c.Name("y")
BOUNDED: list[tuple[c.Expr, tuple[int | None, int | None]]] = [
    (c.Binary("&", X, literal(15)), (0, 15)),
    (c.Binary("&", literal(7), X), (0, 7)),
    (c.Binary("&", X, Y), (None, None)),
    (c.Binary("%", X, literal(5)), (None, None)),
    (c.Binary("%", c.Cast("unsigned char", X), literal(5)), (0, 4)),
    (c.Binary("%", c.Cast("unsigned char", X), literal(500)), (0, 255)),
    (c.Binary("/", c.Cast("unsigned char", X), literal(8)), (0, 31)),
    (c.Binary("/", c.Cast("unsigned char", X), literal(0)), (None, None)),
    (c.Binary(">>", c.Cast("uint16_t", X), literal(4)), (0, 4095)),
    (c.Cast("signed char", X), (None, None)),
    (c.Name("byte"), (0, 255)),
    (c.ArrayRef("byte"), (0, 255)),
]


@pytest.mark.parametrize(("expr", "bounds"), BOUNDED)
def test_bounds(expr: c.Expr, bounds: tuple[int | None, int | None]) -> None:
    element: Callable[[str], CType | None] = {"byte": CType("unsigned char", "int", 1, False)}.get
    assert bounds_of(expr, lambda _: None, element) == bounds


PRODUCT = c.Binary("*", X, Y)
ROUNDED: list[tuple[c.Expr, int | None]] = [
    (c.Cast("int", PRODUCT), 0),
    (c.Cast("int", c.Binary("+", PRODUCT, literal("0.5f"))), 1),
    (c.Cast("int", c.Binary("-", literal("0.5"), PRODUCT)), 1),
    (c.Binary("+", c.Cast("int", c.Binary("+", PRODUCT, literal("0.5f"))), literal(3)), 1),
    (c.Cast("int", c.Binary("+", PRODUCT, literal("1e9f"))), None),
    (c.Cast("int", c.Binary("+", PRODUCT, X)), None),
    (c.Cast("int", c.Binary("+", c.Binary("/", X, Y), literal("0.5f"))), 0),
    (c.Cast("char", c.Binary("+", PRODUCT, literal("0.5f"))), None),
    (c.Ternary(X, c.Cast("int", c.Binary("+", PRODUCT, literal("0.5f"))), literal(0)), None),
]


@pytest.mark.parametrize(("expr", "spare"), ROUNDED)
def test_how_far_roundings_are_apart(expr: c.Expr, spare: int | None) -> None:
    assert spare_of(expr, lambda _: True) == spare
    assert spare_of(expr, lambda _: False) == 0 or "0.5" in str(expr) or "1e9" in str(expr)


@pytest.mark.parametrize(
    ("op", "number", "holds"),
    [
        ("<", 0, False), ("<", 1, None), ("<", 255, None), ("<", 256, True),
        ("<=", 0, None), ("<=", 254, None), ("<=", 255, True),
        (">", 254, None), (">", 255, False),
        (">=", 0, True), (">=", 1, None), (">=", 255, None), (">=", 256, False),
        ("==", 255, None), ("==", 256, False), ("!=", 0, None), ("!=", 256, True),
    ],
)  # fmt: skip
def test_what_a_type_decides(op: str, number: int, holds: bool | None) -> None:
    element: Callable[[str], CType | None] = {"byte": CType("unsigned char", "int", 1, False)}.get
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
    assert decided(c.Binary(op, c.Name("byte"), literal(number)), element) == holds
    assert decided(c.Binary(mirrored, literal(number), c.Name("byte")), element) == holds
