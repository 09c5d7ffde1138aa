"""C's integer semantics: what may wrap is assumed openly, or not affine."""

from __future__ import annotations

import islpy as isl
import pytest

from polyc.codegen.text.printer import expression
from polyc.model.scop import Scop

from .conftest import Modeller


def model(scop: Modeller, region: str, **options: object) -> Scop:
    arguments = "unsigned u, size_t z, int n, int m, short s, unsigned char c, long l, double *a, double A[n][m]"
    return scop(
        f"#include <stddef.h>\nvoid f({arguments}) {{\n#pragma scop\n{region}\n#pragma endscop\n}}\n", **options
    )


@pytest.mark.parametrize(
    ("region", "assumed"),
    [
        ("for (unsigned i = 0; i < u; i++) a[i] = 0;", "{ : }"),
        ("for (unsigned i = 0; i < u; i++) a[i] = i > 0 ? a[i - 1] : 0;", "{ : }"),
        ("for (unsigned i = 1; i < u; i++) a[i - 1] = 0;", "{ : }"),
        ("for (unsigned i = 0; i < u - 1; i++) a[i] = 0;", "[u] -> { : u > 0 }"),
        ("for (unsigned i = 0; i <= u; i++) a[i] = 0;", "[u] -> { : u <= 4294967294 }"),
        ("for (unsigned i = u; i > 0; i--) a[i] = 0;", "{ : }"),
        ("for (unsigned i = 1; i + 1 < u; i++) a[i] = 0;", "[u] -> { : u <= 4294967294 }"),
        ("for (unsigned i = 0; u >= 2 + i; i += 2) a[i] = 0;", "[u] -> { : u <= 4294967293 }"),
        ("for (size_t i = 0; i < z - 2; i++) a[i] = 0;", "[z] -> { : z >= 2 }"),
        ("for (size_t i = 0; i < n; i++) a[i] = 0;", "[n] -> { : n >= 0 }"),
        ("for (int i = n; i < z; i++) a[i] = 0;", "[n] -> { : n >= 0 }"),
        ("for (int i = 0; i < z; i++) a[i] = 0;", "{ : }"),
        ("for (int i = 0; i < u; i++) a[i] = 0;", "{ : }"),
        ("for (int i = 1; i < u + 2; i++) a[i] = 0;", "[u] -> { : u <= 4294967293 }"),
        ("for (int i = u - 1; i >= 0; i--) a[i] = 0;", "[u] -> { : u <= 2147483648 }"),
        ("for (unsigned char i = 0; i < n; i++) a[i] = 0;", "[n] -> { : n <= 255 }"),
        ("for (short i = 0; i < n; i++) a[i] = 0;", "[n] -> { : n <= 32767 }"),
        ("for (short i = 0; i < s; i++) a[i] = 0;", "{ : }"),
        ("for (int i = 0; i < c; i++) a[i] = 0;", "{ : }"),
        ("for (long i = 0; i < (long)n * 100000; i++) a[i] = 0;", "{ : }"),
        ("for (int i = 0; i < (int)l; i++) a[i] = 0;", "[l] -> { : -2147483648 <= l <= 2147483647 }"),
    ],
)
def test_assumed(region: str, assumed: str, scop: Modeller) -> None:
    found = model(scop, region)
    assert not any(s.opaque for s in found.statements.values())
    expected = type(found.assumed)(assumed).intersect(found.context)
    assert found.assumed.intersect(found.context).is_equal(expected)
    assert ("assumed" in [n.code for n in found.notes]) == (assumed != "{ : }")


@pytest.mark.parametrize(
    ("bound", "asked"),
    [("u * w", "u <= 4294967295 / w"), ("z * z", ""), ("n * m", ""), ("u * w * 3", "u <= 4294967295 / w")],
)
def test_products_as_bounds(bound: str, asked: str, scop: Modeller) -> None:
    """A parameter of their own; the guard asks of unsigned ones of 32 bits whether they wrap."""
    text = "#include <stddef.h>\nvoid f(unsigned u, unsigned w, size_t z, int n, int m, double *a) {\n#pragma scop\n"
    found = scop(f"{text}for (size_t i = 0; i < {bound}; i++) a[i] = 0;\n#pragma endscop\n}}\n")
    assert not any(s.opaque for s in found.statements.values())
    rows = [p.name for p in found.parameters if expression(p.expr) == "w > 0 ? 4294967295 / w : 0"]
    assert len(rows) == bool(asked)
    for row in rows:
        wrong = isl.Set(f"[u, {row}] -> {{ : u > {row} }}")
        assert found.assumed.intersect(wrong).is_empty()


def test_nothing_is_assumed_that_the_type_says(scop: Modeller) -> None:
    """gcc warns of `u <= 4294967295` in the guard: "comparison is always true"."""
    found = model(
        scop,
        "for (unsigned i = 2; i < s + 1; i++)\n for (unsigned j = 1; j < u + 1; j++)\n  a[j] = a[j + 2];",
    )
    assert "4294967294" in str(found.assumed)
    assert "4294967295" not in str(found.assumed)


def test_nothing_is_assumed_that_types_hold_anyway(scop: Modeller) -> None:
    """gcc says of such a condition in the guard that it is always true."""
    found = model(
        scop,
        """for (unsigned i = 0; i < u; i++)
               for (unsigned j = 0; j < s + 1; j++)
                   if (i + j < s - 1)
                       A[i][j] = 0.3;""",
    )
    pieces = found.assumed.get_basic_set_list()
    types = isl.Set("[u, s] -> { : 0 <= u <= 4294967295 and -32768 <= s <= 32767 }")
    for piece in (pieces.get_at(k) for k in range(pieces.n_basic_set())):
        for k, constraint in enumerate(constraints := piece.get_constraints()):
            others = isl.BasicSet.universe(piece.get_space())
            for other in (*constraints[:k], *constraints[k + 1 :]):
                others = others.add_constraint(other)
            rest = isl.Set.from_basic_set(others).intersect(types)
            assert not rest.is_subset(isl.Set.from_basic_set(others.add_constraint(constraint))), piece


def test_a_promise_makes_the_assumption_needless(scop: Modeller) -> None:
    region = "for (unsigned i = 0; i < u - 1; i++) a[i] = 0;"
    assert model(scop, region, assume=("u >= 4",)).assumed.plain_is_universe()
    assert model(scop, region, params=(("u", 10),)).assumed.plain_is_universe()


@pytest.mark.parametrize(
    "region",
    [
        "for (unsigned i = u; i >= 0; i--) a[i] = 0;",
        "for (unsigned char i = 0; i < 256; i++) a[i] = 0;",
        "for (int i = 0; i < n; i++) if (u - 2 - u) a[i] = 0;",
    ],
)
def test_what_always_wraps_is_not_affine(region: str, scop: Modeller) -> None:
    found = model(scop, region)
    assert any(s.opaque for s in found.statements.values())
    assert found.assumed.plain_is_universe()


def test_unsigned_parameters_are_not_negative(scop: Modeller) -> None:
    found = model(scop, "for (int i = 0; i < c + (int)u; i++) a[i] = 0;")
    assert found.context.is_subset(type(found.context)("[c, u] -> { : c >= 0 and u >= 0 }"))


def test_narrow_parameters_are_small(scop: Modeller) -> None:
    """So that nothing is printed for larger numbers, of which compilers warn."""
    found = model(scop, "for (int i = 0; i < c + s + n; i++) a[i] = 0;")
    assert found.context.is_subset(isl.Set("[c, s] -> { : 0 <= c <= 255 and s <= 32767 }"))


def test_types_of_loops(scop: Modeller) -> None:
    found = model(scop, "for (size_t i = 0; i < z; i++) for (short j = 0; j < s; j++) a[i] += j;")
    (i, j) = found.statements["S0"].loop_types
    assert (i.text, i.kind, i.size_bytes, i.signed) == ("size_t", "int", 8, False)
    assert (j.text, j.size_bytes, j.signed) == ("short", 2, True)


def test_a_product_of_unsigned_is_not_a_parameter(scop: Modeller) -> None:
    assert model(scop, "for (unsigned i = 0; i < u * c * u; i++) a[i] = 0;").statements["S0"].opaque


@pytest.mark.parametrize(
    "bits",
    [
        "i & 1", "1 & i", "i & 2", "i & 6", "i & 12", "i & ~1", "i & ~3u", "i & -4", "i & 0", "i | 1", "i | 3",
        "i | -2", "i ^ 1", "3 ^ i", "i ^ -1", "~i & 7", "(i >> 1) & 1", "i & 0xFFFFFFF8u",
    ],
)  # fmt: skip
def test_bits(bits: str, scop: Modeller) -> None:
    """Neighbouring bits are remainders of divisions."""
    statement = model(scop, f"for (int i = 0; i < 24; i++) a[100 + (int)({bits})] = 1;").statements["S0"]
    (access,) = statement.accesses
    assert access.exact
    for i in range(24):
        number = eval(bits.replace("u", ""), {"i": i}) & 0xFFFFFFFF
        expected = number - (number >> 31 << 32)
        cells = access.relation.intersect_domain(isl.Set(f"{{ S0[{i}] }}")).range()
        assert cells.is_equal(isl.Set(f"{{ a[{100 + expected}] }}")), (i, cells)
