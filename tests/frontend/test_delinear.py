"""Linearised subscripts: which shape an array gets, what is assumed for it, and when it gets none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polyc.codegen.text.printer import expression
from polyc.model import ctree as c
from polyc.model.scop import Scop

from .conftest import Modeller

Relations = Callable[[Scop, str], list[str]]
HEAD = "int n, int m, int s, int r, size_t w, unsigned u, float *a, float *b, int *k"


def nest(body: str, i: str = "i = 0; i < n", j: str = "j = 0; j < m", arguments: str = HEAD) -> str:
    return (
        f"typedef unsigned long size_t;\nvoid f({arguments}) {{\n#pragma scop\n  for (int {i}; i++)\n"
        f"    for (int {j}; j++)\n      {body}\n#pragma endscop\n}}\n"
    )


def cells(found: Scop, relations: Relations) -> list[str]:
    return [text for text in relations(found, "S0") if " -> b[" not in text]


@pytest.mark.parametrize(
    ("subscript", "cell", "extents"),
    [
        ("i * m + j", "[i, j]", ["m"]),
        ("j + m * i", "[i, j]", ["m"]),
        ("i * (m + 2) + j + 1", "[i, 1 + j]", ["m + 2"]),
        ("(i + 1) * (m + 2) + j", "[1 + i, j]", ["m + 2"]),
        ("i * m + 2 * i + j", "[i, j]", ["m + 2"]),
        ("(n - 1 - i) * m + m - 1 - j", "[-1 + n - i, -1 + m - j]", ["m"]),
        ("(i - 1) * (m + 1) + j", "[-1 + i, j]", ["m + 1"]),
        ("j * n + i", "[j, i]", ["n"]),
        ("(size_t)i * m + j", "[i, j]", ["m"]),
        ("(long)i * (long)m + j", "[i, j]", ["m"]),
        ("i * m", "[i, 0]", ["m"]),
        ("2 * i * m + j", "[2i, j]", ["m"]),
        ("(i * m + j) * 3 + 1", "[i, j, 1]", ["m", "3"]),
    ],
)
def test_shapes_that_hold(subscript: str, cell: str, extents: list[str], scop: Modeller, relations: Relations) -> None:
    """Nothing is assumed of the sizes."""
    others = " + b[j]" if "3" not in subscript else " + a[(i * m + j) * 3]"
    found = scop(nest(f"a[{subscript}] = 1.0f{others};"))
    assert cells(found, relations)[-1] == f"write {{ S0[i, j] -> a{cell} }}"
    array = found.arrays["a"]
    assert array.flat
    assert array.extents[0] is None
    assert [expression(size) for size in array.extents_c if size is not None] == extents
    assert found.assumed.plain_is_universe()
    assert [note.code for note in found.notes] == ["delinearised"]


def test_three_dimensions(scop: Modeller, relations: Relations) -> None:
    text = """void f(int n, int m, float *a) {
#pragma scop
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        a[c * n * (m + 4) + i * (m + 4) + j + 4] = a[(c * n + i) * (m + 4) + j];
#pragma endscop
}
"""
    found = scop(text)
    assert relations(found, "S0") == ["read { S0[c, i, j] -> a[c, i, j] }", "write { S0[c, i, j] -> a[c, i, 4 + j] }"]
    assert found.assumed.plain_is_universe()


@pytest.mark.parametrize(
    ("body", "i", "j", "assumed"),
    [
        ("a[i * s + j] = 0;", "i = 0; i < n", "j = 0; j < m", "m <= s"),
        ("a[(i - 1) * s + j - 1] = 0;", "i = 2; i < n", "j = 2; j < m", "m <= s + 2"),
        ("a[i * w + j] = 0;", "i = 0; i < n", "j = 0; j < m", "m <= w"),
        ("a[i * s + j + r] = 0;", "i = 0; i < n", "j = 0; j < m", "r >= 0 and m + r <= s"),
    ],
)
def test_shapes_that_need_a_guard(
    body: str, i: str, j: str, assumed: str, scop: Modeller, same: Callable[[object, str], None]
) -> None:
    found = scop(nest(body, i, j))
    assert found.arrays["a"].flat
    names = "[n, m, s, r, w]"
    runs = "n >= 3 and m >= 3"
    here = found.assumed.intersect(found.context)
    wanted = f"{names} -> {{ : {assumed} and {runs} and w >= 0 }}"
    same(here.intersect(type(here)(f"{names} -> {{ : {runs} and w >= 0 }}")).coalesce(), wanted)
    assert [note.code for note in found.notes] == ["delinearised", "assumed"]


@pytest.mark.parametrize(
    ("subscript", "cell", "bound"),
    [
        ("i * u + j", "[i, j]", "4294967295 / u"),
        ("2 * i * u + j", "[2i, j]", "4294967295 / u"),
        ("(i * u + j) * 3 + 1", "[i, j, 1]", "1431655765 / u"),
        ("(size_t)(i * u) + j", "[i, j]", "4294967295 / u"),
        ("i * u + (size_t)j", "[i, j]", "4294967295 / u"),
    ],
)
def test_unsigned_subscripts_that_may_wrap(
    subscript: str, cell: str, bound: str, scop: Modeller, relations: Relations
) -> None:
    """The guard asks whether they do: how many rows there are up to the element 2^32."""
    others = " + b[j]" if "3" not in subscript else " + a[(i * u + j) * 3]"
    found = scop(nest(f"a[{subscript}] = 1.0f{others};", j="j = 0; j < u"))
    assert cells(found, relations)[-1] == f"write {{ S0[i, j] -> a{cell} }}"
    assert f"u > 0 ? {bound} : 0" in [expression(parameter.expr) for parameter in found.parameters]
    assert "assumed" in [note.code for note in found.notes]


def test_quarters_of_a_row_are_in_one_row(scop: Modeller, relations: Relations) -> None:
    """`g[n * 4 * h + h + j]` beside `g[n * 4 * h + k]` with k < 4 * h: with rows of h, the latter left theirs."""
    found = scop(
        "void f(int n, int h, float *restrict g, float *restrict c) {\n#pragma scop\n"
        "  for (int i = 0; i < n; i++)\n    for (int k = 0; k < 4 * h; k++)\n      g[i * 4 * h + k] = k;\n"
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < h; j++)\n"
        "      c[i * h + j] = g[i * 4 * h + j] * g[i * 4 * h + h + j] - g[i * 4 * h + 3 * h + j];\n#pragma endscop\n}\n"
    )
    assert relations(found, "S0") == ["write { S0[i, k] -> g[i, k] }"]
    assert "read { S1[i, j] -> g[i, 3h + j] }" in relations(found, "S1")


@pytest.mark.parametrize(
    ("body", "cell", "origins", "assumed"),
    [
        ("a[i * m + j] = 1;", "i, -1 + j", (1,), "m >= 0"),
        ("a[i * s + j] = 1;", "i, -1 + j", (1,), "m <= s"),
        ("a[i * s + j] = a[i * s];", "i, j", (), "m < s"),
    ],
)
def test_rows_that_begin_at_one(
    body: str,
    cell: str,
    origins: tuple[int, ...],
    assumed: str,
    scop: Modeller,
    relations: Relations,
    same: Callable[[object, str], None],
) -> None:
    """As those of Fortran do: `c[i * m + j]` with 1 <= j <= m. Not where another reference is to element 0."""
    found = scop(nest(body, "i = 0; i < n", "j = 1; j <= m"))
    assert relations(found, "S0")[-1] == f"write {{ S0[i, j] -> a[{cell}] }}"
    assert found.arrays["a"].origins == origins
    names = "[n, m, s, r, w]"
    runs = "n >= 3 and m >= 3 and w >= 0"
    here = found.assumed.intersect(found.context)
    wanted = f"{names} -> {{ : {assumed} and {runs} }}"
    same(here.intersect(type(here)(f"{names} -> {{ : {runs} }}")).coalesce(), wanted)


@pytest.mark.parametrize(
    "body",
    [
        "a[i * s + j] = a[i * s + j + s];",  # fits: s more is the next row
    ],
)
def test_a_row_on_is_a_row(body: str, scop: Modeller, relations: Relations) -> None:
    found = scop(nest(body, j="j = 0; j < s"))
    assert relations(found, "S0")[0] == "read { S0[i, j] -> a[1 + i, j] }"
    assert found.assumed.plain_is_universe()


@pytest.mark.parametrize(
    ("body", "j"),
    [
        ("a[i * s + j] = 0;", "j = 0; j < 2 * s"),  # rows overlap by design
        ("a[i * s + j] = 0;", "j = 0; j <= s"),
        ("a[i * s - j - 1] = 0;", "j = 0; j < s + 1"),
        ("a[i * m + j * j] = 0;", "j = 0; j < m"),
        ("a[(int)(i * u) + j] = 0;", "j = 0; j < u"),  # the product may wrap
    ],
)
def test_what_has_no_shape(body: str, j: str, scop: Modeller) -> None:
    found = scop(nest(body, j=j))
    assert not found.arrays["a"].flat
    assert found.arrays["a"].rank == 1
    codes = {note.code for note in found.notes}
    assert "non-affine-index" in codes
    assert "delinearised" not in codes
    assert codes <= {"non-affine-index", "not-delinearised"}


def test_a_minority_touches_any_element(scop: Modeller, relations: Relations) -> None:
    """The shape of most references counts; what does not fit it may be anywhere."""
    inspection = scop(nest("a[i * m + j] = a[(i + 1) * m + j] + a[i * m + k[j]];")).inspection
    assert inspection is not None
    found = inspection.plain
    assert cells(found, relations)[0] == "read { S0[i, j] -> a[1 + i, j] }"
    assert "read { S0[i, j] -> a[i0, i1] } inexact" in [text.replace("o", "i") for text in cells(found, relations)]
    assert [note.code for note in found.notes] == ["delinearised", "non-affine-index"]


def test_an_outermost_subscript_may_depend_on_data(scop: Modeller, relations: Relations) -> None:
    found = scop(nest("b[i * m + j] = a[k[i] * m + j];"))
    assert cells(found, relations)[1] == "read { S0[i, j] -> a[o0, j] } inexact"


def test_a_diagonal_is_one(scop: Modeller, relations: Relations) -> None:
    found = scop(nest("a[i * n + i] = a[i * n + j] + a[j * n + i];", j="j = 0; j < n"))
    assert cells(found, relations)[-1] == "write { S0[i, j] -> a[i, i] }"


PARTS = """void f(int rows, int cols, float *a, float *b) {
  const int H = rows / 2, W = cols / 2, Q = W / 2;
#pragma scop
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      b[i * W + j] = a[2 * i * cols + 2 * j] + a[(2 * i + 1) * cols + 2 * j + 1];
%s#pragma endscop
}
"""


def test_halves_of_sizes(scop: Modeller, same: Callable[[object, str], None]) -> None:
    """Whether `2 * j + 1` lies in a row of `cols` depends on W, which was declared as a half: it is asked to be one."""
    found = scop(PARTS % "")
    same(found.guard, "[rows, H, cols, W] -> { : cols = 2W }")
    assert found.assumed.plain_is_universe()
    assert [(tie.name, tie.base, tie.factor) for tie in found.ties] == [("cols", "W", 2)]
    again = "  for (int i = 0; i < rows; i++) for (int j = 0; j < cols / 4; j++) b[i / 2 * W + j] = a[i * cols + j];\n"
    found = scop(PARTS % again)
    same(found.guard, "[rows, H, cols, W, Q] -> { : rows = 2H and cols = 4Q and W = 2Q }")
    assert str(found.statements["S1"].domain.coalesce()) == "[Q, H] -> { S1[i, j] : 0 <= i < 2H and 0 <= j < Q }"


def test_multiples_stand_in_the_order_of_the_text(scop: Modeller) -> None:
    """And so does the guard that they make: the same text for each run."""
    pairs = [(f"w{k}", f"half{k}") for k in range(6)]
    nests = "\n".join(
        f"  for (int i = 0; i < n; i++)\n    for (int j = 0; j < {half}; j++)\n"
        f"      a{k}[i * {half} + j] = b{k}[i * {whole} + 2 * j];"
        for k, (whole, half) in enumerate(pairs)
    )
    arguments = ", ".join(f"float *a{k}, float *b{k}, int {whole}" for k, (whole, _) in enumerate(pairs))
    halves = "\n".join(f"  const int {half} = {whole} / 2;" for whole, half in pairs)
    found = scop(f"void f(int n, {arguments}) {{\n{halves}\n#pragma scop\n{nests}\n#pragma endscop\n}}\n")
    assert [(tie.name, tie.base) for tie in found.ties] == pairs


def test_halves_that_nothing_needs(scop: Modeller) -> None:
    """Nothing is asked of sizes where all subscripts stay in their rows anyway."""
    body = "a[2 * i * cols + 2 * j] + a[(2 * i + 1) * cols + 2 * j + 1]"
    assert scop(PARTS.replace(body, "a[i] * cols") % "").assumed.plain_is_universe()


def test_a_plain_subscript_needs_no_guard_of_its_own(scop: Modeller, relations: Relations) -> None:
    """`a[j]` is in the first row where the other reference has to be in its row; alone it says nothing of rows."""
    found = scop(nest("a[j] = a[i * s + j];"))
    assert cells(found, relations)[-1] == "write { S0[i, j] -> a[0, j] }"
    found = scop(nest("a[j + s] = a[i * r];"))
    assert not found.arrays["a"].flat
    assert found.assumed.plain_is_universe()


@pytest.mark.parametrize("name", ["S2", "band", "set"])
def test_names_that_isl_does_not_take(name: str, scop: Modeller) -> None:
    """They have other names in isl, but not in C."""
    body = f"a[i * {name} + j] = {name};"
    found = scop(nest(body, j=f"j = 0; j < {name}", arguments=f"int n, int {name}, float *a"))
    (size,) = (p for p in found.parameters if p.name == f"{name}_")
    assert expression(size.expr) == name
    assert [expression(e) for e in found.arrays["a"].extents_c if e is not None] == [name]
    written = found.statements["S0"].body
    assert {node.name for node in c.walk(written) if isinstance(node, c.Name)} == {"i", "j", name}


def test_a_small_budget_leaves_arrays_flat(scop: Modeller) -> None:
    text = nest("a[i * s + j] = a[(i + 1) * s + j - 1] + a[(i + 2) * s + j + 1];")
    found = [scop(text, budget=operations) for operations in (8_000, 100_000)]
    assert [one.arrays["a"].flat for one in found] == [False, True]
    assert "not-delinearised" in {note.code for note in (found[0].general or found[0]).notes}


def test_a_small_local_array_is_no_private_one(scop: Modeller) -> None:
    """A private copy would need all of its sizes."""
    text = """void f(int n, float *a) {
  float t[64];
#pragma scop
  for (int k = 0; k < 9; k++) {
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < n; j++)
        t[i * n + j] = a[k + i];
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < n; j++)
        a[k] += t[i * n + j];
  }
#pragma endscop
}
"""
    found = scop(text)
    assert found.arrays["t"].flat
    assert not found.privatizable


PLANES = """void f(int n, int m, int w, int P, int S, int U, float *a) {
#pragma scop
  for (int z = 0; z < n; z++)
    for (int y = 0; y < m; y++)
      for (int x = 0; x < w; x++)
        %s = 1;
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("cell", "place", "extents", "strides", "assumed"),
    [
        ("a[z * P + y * S + x]", "z, y, x", ["S > 0 ? P / S : 0", "S"], ["P", "S"], "m <= P_per_S, w <= S"),
        (
            "a[x + (z + 1) * P + (y + 2) * (S + 1)]",
            "1 + z, 1 + y, x",
            ["S + 1 > 0 ? P / (S + 1) : 0", "S + 1"],
            ["P", "S + 1"],
            "m <= P_per_S_1 - 1, w <= S + 1",
        ),
        (
            "a[z * P + y * S + x * U]",
            "z, y, x, 0",
            ["S > 0 ? P / S : 0", "U > 0 ? S / U : 0", "U"],
            ["P", "S", "U"],
            "m <= P_per_S, w <= S_per_U, U >= 1",
        ),
        ("a[z * P + y * 1000 + x]", "z, y, x", ["P / 1000", "1000"], ["P", "1000"], "w <= 1000, 1000m <= P"),
    ],
)
def test_strides_of_their_own(
    cell: str,
    place: str,
    extents: list[str],
    strides: list[str],
    assumed: str,
    scop: Modeller,
    relations: Relations,
    same: Callable[[object, str], None],
) -> None:
    """As many rows as fit into a plane are what its subscript is asked to stay below."""
    found = scop(PLANES % cell)
    assert relations(found, "S0") == [f"write {{ S0[z, y, x] -> a[{place}] }}"]
    array = found.arrays["a"]
    assert [expression(size) for size in array.extents_c if size is not None] == extents
    assert [expression(stride) for stride in array.strides_c] == strides
    names = [p.name for p in found.parameters]
    runs = "n >= 1 and m >= 1 and w >= 1"
    here = found.assumed.intersect(type(found.assumed)(f"[n, m, w] -> {{ : {runs} }}"))
    same(here.coalesce(), f"[{', '.join(names)}] -> {{ : {assumed.replace(', ', ' and ')} and {runs} }}")
    assert [note.code for note in found.notes] == ["delinearised", "assumed"]


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("a[z * P + z * S + x]", "what is the row, and what the plane, is not known"),
        ("a[z * P + y * (P + 1) + x]", "nor here"),
    ],
)
def test_strides_that_say_nothing(cell: str, why: str, scop: Modeller) -> None:
    found = scop(PLANES % cell)
    assert not found.arrays["a"].strides_c, why


ROWS = """void f(int n, int m, float *a, const float *b) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < %s; j++)
      %s
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("body", "width", "cell", "extents", "assumed"),
    [
        ("a[i * 1024 + j] = 1;", "1024", "i, j", ["1024"], ""),
        ("a[(i + 1) * 1024 - 1 - j] = 1;", "1024", "i, 1023 - j", ["1024"], ""),
        ("a[i * 1024 + j] = 1;", "m", "i, j", ["1024"], "m <= 1024"),
        ("a[(i - 1) * 1024 + j - 1 + 1] = 1;", "m", "-1 + i, j", ["1024"], "m <= 1024"),
        ("a[(i * 100 + j) * 3 + 2] = 1;", "100", "i, 2 + 3j", ["300"], ""),
        ("for (int k = 0; k < 24; k++) a[i * 25000 + j * 1000 + k] = 1;", "24", "i, j, k", ["25", "1000"], ""),
    ],
)
def test_rows_of_a_constant_length(
    body: str,
    width: str,
    cell: str,
    extents: list[str],
    assumed: str,
    scop: Modeller,
    relations: Relations,
    same: Callable[[object, str], None],
) -> None:
    found = scop(ROWS % (width, body))
    (written,) = relations(found, "S0")
    array = found.arrays["a"]
    assert array.flat
    assert [expression(size) for size in array.extents_c if size is not None] == extents
    here = found.assumed.intersect(type(found.assumed)("[n, m] -> { : n >= 1 and m >= 1 }"))
    both = " and ".join(filter(None, [assumed, "n >= 1 and m >= 1"]))
    same(here.coalesce(), f"[n, m] -> {{ : {both} }}")
    assert cell in written


@pytest.mark.parametrize(
    ("body", "width"),
    [
        ("a[i * 1024 + j] = 1;", "1025"),  # rows share their ends
        ("a[i] = b[i * 160 + j];", "400"),  # windows that overlap by design
        ("a[i] = b[i * 160 + j];", "m"),  # perhaps; what is read only is worth no guard
        ("a[i * 16 + j] = 1;", "m"),  # nor are short rows
        ("a[i * 4 + j] = 1;", "4"),
        ("a[2 * i] = a[2 * i + 1];", "m"),
        ("a[i * 1024 + j] = a[i + j];", "1024"),
    ],
)
def test_constants_that_are_no_rows(body: str, width: str, scop: Modeller) -> None:
    """The array keeps one dimension, in which its subscripts are affine: nothing is lost, and nothing is told."""
    found = scop(ROWS % (width, body))
    assert not any(array.flat for array in found.arrays.values())
    assert all(access.exact for access in found.statements["S0"].accesses)
    assert found.assumed.plain_is_universe()
    assert not found.notes


def test_small_arrays_with_constant_rows_may_be_private(scop: Modeller) -> None:
    text = """void f(int n, float *a) {
  float t[512];
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 64; j++)
        t[i * 64 + j] = a[k + i];
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 64; j++)
        a[k] += t[i * 64 + j];
  }
#pragma endscop
}
"""
    found = scop(text)
    assert not found.arrays["t"].flat
    assert found.privatizable == {"t"}


HEADS = """void f(int T, int C, int NH, const float *inp, float *out) {
  int C3 = C * 3;
  int hs = C / NH;
#pragma scop
  for (int t = 0; t < T; t++)
    for (int h = 0; h < NH; h++)
      for (int i = 0; i < hs; i++)
        out[t * C + h * hs + i] = inp[t * C3 + h * hs + i] * inp[t * C3 + h * hs + i + C]
                                  + inp[t * C3 + h * hs + i + %s];
#pragma endscop
}
"""


def test_sizes_that_are_products_of_others(scop: Modeller) -> None:
    """Several heads in one row: `C` is `NH * hs`, which is asked for."""
    found = scop(HEADS % "2 * C")
    rows = {access.array: access.exact for access in found.statements["S0"].accesses}
    assert rows == {"inp": True, "out": True}
    assert [str(p.expr.op) for p in found.parameters if p.is_answer] == ["==", "=="]  # type: ignore[union-attr]
    assert len(found.arrays["inp"].extents) == 3


def test_not_where_a_subscript_does_not_fit(scop: Modeller) -> None:
    """One more place on, and the last element of a head is the first of the next."""
    found = scop(HEADS % "2 * C + 1")
    assert not any(p.is_answer for p in found.parameters)


ENDS = """void f(int n, int m, double *restrict a, const double *restrict b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 1; j < m; j++)
      a[i * m + j] += a[i * m + j - 1];
    a[i * m + m - 1] /= b[i * m + m - 1];
  }
#pragma endscop
}
"""


def test_the_last_element_of_a_row(scop: Modeller, relations: Relations) -> None:
    """It is none of the next one, and asks for a row that is not empty."""
    found = scop(ENDS)
    assert "write { S1[i] -> a[i, -1 + m] }" in relations(found, "S1")
    assert not found.assumed.plain_is_universe()
    assert sorted(note.code for note in found.notes) == ["assumed", "delinearised"]


WIDE = """void f(int n, int m, float *restrict a, const float *restrict b) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3 * m; j++)
      a[i * m * 3 + j] = b[2 * i * m + j / 3] + b[2 * i * m + m + j / 3];
#pragma endscop
}
"""


def test_rows_of_several_parts(scop: Modeller, relations: Relations) -> None:
    """Where subscripts run through three parts of a row; not where each second row is read."""
    found = scop(WIDE)
    assert relations(found, "S0")[-1] == "write { S0[i, j] -> a[i, j] }"
    extents = {
        key: [expression(size) for size in one.extents_c if size is not None] for key, one in found.arrays.items()
    }
    assert extents == {"a": ["3 * m"], "b": ["m"]}


CALLED = """
void frames(int n, int hop, int m, const float *restrict x, float *restrict a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] = 2 * x[i * hop + j];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("hop", "shaped"), [("64", False), ("128", True), ("n / 2", False), ("2 * n", True), ("", True)]
)
def test_what_no_call_of_the_file_meets_is_not_assumed(hop: str, shaped: bool, scop: Modeller) -> None:
    """Rows that overlap, as those of a spectrogram: the guard would hold in none of the calls."""
    call = f"\nint main(void) {{ static float x[9000], a[9000]; frames(9, {hop}, 100, x, a); return 0; }}\n"
    found = scop(CALLED + call.replace("n / 2", "100 / 2").replace("2 * n", "2 * 100") * bool(hop))
    overlap = type(found.known)("[hop, m] -> { : hop < m }")
    assert found.known.is_disjoint(overlap) == shaped


PADDED = """#define H 56
#define W 60
#define OUT ((H + 2 - 3) / 1 + 1)
void f(float *out, const float *in, const float *w) {
#pragma scop
  for (int c = 0; c < 8; c++)
    for (int y = 0; y < OUT; y++)
      for (int x = 0; x < W; x++)
        for (int k = 0; k < 3; k++)
          for (int l = 0; l < 3; l++) {
            int yy = y + k - 1, xx = x + l - 1;
            if (yy >= 0 && yy < H && xx >= 0 && xx < W)
              out[(c * OUT + y) * W + x] += in[(c * H + yy) * W + xx] * w[3 * k + l];
          }
#pragma endscop
}
"""


def test_borders_of_rows_with_constant_lengths(scop: Modeller, relations: Relations) -> None:
    """One row and one element before is -61 elements, of which neither the quotient nor the rest is the place; and the
    size of a result is a quotient of constants."""
    found = scop(PADDED)
    assert "read { S0[c, y, x, k, l] -> in[c, -1 + y + k, -1 + x + l] }" in relations(found, "S0")
    assert {name: [expression(e) for e in a.extents_c if e is not None] for name, a in found.arrays.items()} == {
        "in": ["56", "60"],
        "out": ["56", "60"],
        "w": [],
    }


GROUPS = """struct layer { float *v; };
void f(struct layer *l, const float *in, float *mean) {
  float *v = l->v;
#pragma scop
  for (int g = 0; g < 4; g++)
    for (int c = 0; c < 16; c++)
      for (int i = 0; i < 900; i++)
        v[(g * 16 + c) * 900 + i] = in[i];
  for (int c = 0; c < 64; c++)
    for (int i = 0; i < 900; i++)
      mean[c] += v[c * 900 + i];
#pragma endscop
}
"""


def test_groups_of_rows_that_others_go_through_as_one(scop: Modeller) -> None:
    """A local pointer is no small array of 8 bytes, and `c` of 64 channels leaves a group of 16."""
    found = scop(GROUPS).arrays["v"]
    assert [expression(e) for e in found.extents_c if e is not None] == ["900"]


def test_no_rows_that_only_sizes_beyond_all_memory_have(scop: Modeller, same: Callable[[object, str], None]) -> None:
    """`m` is compared as a number without a sign, so that `k` may be anything."""
    found = scop("""typedef unsigned long size_t;
void f(size_t n, int m, const double *a, double *b) {
#pragma scop
  for (size_t j = 0; j <= n - 1; j++) {
    double s = 0;
    for (size_t k = 0; k < m; k++) {
      if (s > 0.9) break;
      s = a[j * (n + 3) + k + 3];
    }
    b[j] = s;
  }
#pragma endscop
}
""")
    assert found.arrays["a"].rank == 1
    same(found.assumed, "[n] -> { : n > 0 }")
