"""Values that some loops do not change: where they are computed before the nest, and where they stay."""

from __future__ import annotations

import islpy as isl
import pytest

from polyc.codegen.text.printer import statement
from polyc.model.scop import CALLS, Scop
from polyc.verify.region.parted import parting_faults

from .conftest import Reader

HEAD = (
    "#include <math.h>\nvoid use(double *);\ndouble any(int);\n"
    "void f(int n, int m, int r, double a[restrict n][m], double b[restrict n][m], double c[restrict n][n],"
    " double *restrict w)"
)


def modelled(read_text: Reader, body: str) -> Scop:
    (found,) = read_text(f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n").regions
    return found.scop


def pairs(body: str) -> str:
    """Loops over pairs of rows, with a sum that stays."""
    return (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {"
        f" double s = 0; for (int k = 0; k < m; k++) s += a[i][k] * b[j][k]; {body} }}"
    )


STEPS = (
    "for (int t = 0; t < r; t++) {{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] += exp({0});"
    " for (int i = 0; i < n; i++) {{ w[i] += a[i][0]; b[t][i] = a[i][0]; }} }}"
)
"""What a nest reads that each step changes behind it."""
LARGE = (
    "for (int i = 0; i < {}; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " a[j][i] += w[i] * cos(0.1 * j * k);"
)
"""More cosines than elements of any array."""


def made(found: Scop) -> list[str]:
    """What is stored in new arrays."""
    new = set() if found.whole is None else found.arrays.keys() - found.whole.arrays.keys()
    writers = [
        s for s in found.statements.values() if any(a.array in new and a.kind.value == "write" for a in s.accesses)
    ]
    return ["".join(statement(s.body, 0)) for s in writers]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            pairs("double t = 0; for (int k = 0; k < m; k++) t += a[i][k]; c[i][j] = s / t;"),
            ["t_of[i] = 0;", "t_of[i] += a[i][k];"],
        ),
        (
            pairs("double t = 0; for (int k = 0; k < m; k++) t += b[j][k]; t /= m; c[i][j] = s / t;"),
            ["t_of[j] = 0;", "t_of[j] += b[j][k];", "t_of[j] /= m;"],
        ),
        (
            pairs("c[i][j] = s * cos(0.1 * i) * cos(0.2 * j);"),
            ["table[i] = cos(0.1 * i);", "table2[j] = cos(0.2 * j);"],
        ),
        (
            "for (int i = 0; i < n; i++) for (int j = r; j < m - r; j++) { double s = 0;"
            " for (int u = -r; u <= r; u++) s += exp(-0.5 * u * u) * a[i][j + u]; b[i][j] = s; }",
            ["table[u + r] = exp(-0.5 * u * u);"],
        ),
        (pairs("c[i][j] = s * exp(w[i]) + j * exp(w[i]);"), ["table[i] = exp(w[i]);"]),
        (pairs("double t = exp(w[i]); c[i][j] = s * t;"), ["t_of[i] = exp(w[i]);"]),
        (pairs("double u = w[i] + 1, t = exp(u); c[i][j] = s * t;"), ["t_of[i] = exp(u);"]),
        (
            "for (int i = r; i < n - r; i++) for (int j = r; j < m - r; j++) { double s = 0, t = 0;"
            " for (int u = -r; u <= r; u++) { double g = exp(-0.5 * u * u); s += g * a[i][j + u]; t += g; }"
            " b[i][j] = s / t; }",
            ["g_of[u + r] = exp(-0.5 * u * u);", "t_of = 0;", "t_of += g_of[u + r];"],
        ),
        (
            # loops of one name, of which one stays around the sum
            "for (int k = 0; k < n; k++) { double s = 0; for (int i = 0; i < m; i++) s += a[k][i];"
            " for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i][j] += exp(-s * j); }",
            ["table[k][j] = exp(-s * j);"],
        ),
        (LARGE.format("m"), ["table[j][k] = cos(0.1 * j * k);"]),
        (LARGE.format(4), ["table[j][k] = cos(0.1 * j * k);"]),
    ],
)
def test_what_is_computed_before_the_nest(body: str, expected: list[str], read_text: Reader) -> None:
    found = modelled(read_text, body)
    assert sorted(made(found)) == sorted(expected)
    assert {note.code for note in found.notes} >= {"computed-once"}
    assert found.whole is not None
    assert parting_faults(found.whole, found) == []


@pytest.mark.parametrize(
    "body",
    [
        pairs("c[i][j] = s;"),  # each pair has a sum of its own
        pairs("double t = w[i] + w[j]; c[i][j] = s * t;"),  # that takes no longer than to load it
        pairs("double t = sqrt(w[i]); c[i][j] = s * t;"),
        pairs("c[i][j] = s * exp(0.5);"),  # compilers fold it
        pairs("double t = 0; for (int k = 0; k < m; k++) t += c[i][k]; c[i][j] = s / t;"),  # the nest writes it
        pairs("double t = 0; for (int k = 0; k < j; k++) t += a[i][k]; c[i][j] = s / t;"),  # another sum for each j
        pairs("double t = w[i]; for (int k = 0; k < m; k++) if (j > 6) t += a[i][k]; c[i][j] = s / t;"),  # for some j
        pairs("double t = exp(w[i]); if (j > 6) t = exp(w[0]); c[i][j] = s / t;"),
        pairs("c[i][j] = w[j] > 0 ? s * log(w[j]) : s;"),  # evaluated where the condition holds only
        pairs("use(w); c[i][j] = s * exp(w[i]);"),
        LARGE.format(3),  # n x n values, no array of the nest has so many, and each of them is read three times only
        LARGE.format(4).replace("n;", "2049;"),  # more than 32 MB
        "double t = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { t += exp(w[i]) * t; c[i][j] = t; }",
    ],
)
def test_what_stays(body: str, read_text: Reader) -> None:
    found = modelled(read_text, body)
    assert not [text for text in made(found) if any(word in text for word in ("_of", "log", "cos", "0.5"))]


def test_values_that_are_shared_keep_their_order(read_text: Reader) -> None:
    """A mean, and the squares of what is left, both of one row: the second one reads the array of the first."""
    found = modelled(
        read_text,
        pairs(
            "double t = 0, q = 0; for (int k = 0; k < m; k++) t += a[i][k]; t /= m;"
            " for (int k = 0; k < m; k++) { double d = a[i][k] - t; q += d * d; } c[i][j] = s / q;"
        ),
    )
    assert made(found) == ["t_of[i] = 0;", "t_of[i] += a[i][k];", "t_of[i] /= m;", "q_of[i] = 0;", "q_of[i] += d * d;"]
    assert found.whole is not None
    assert parting_faults(found.whole, found) == []


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("int t = 1; for (int k = 0; k < m; k++) { c[i][j] += t * a[j][k]; t = -t; }", []),
        ("double t = 0; for (int k = 0; k < m; k++) { t += a[0][k]; c[i][j] += t; }", []),
        (
            "double t = 0; for (int k = 0; k < m; k++) t += a[0][k]; c[i][j] = t;"
            " for (int k = 0; k < m; k++) t += a[1][k]; b[i][j] = t;",
            [],
        ),
        (
            "double t = 1; for (int k = 0; k < m; k++) { c[i][j] += exp(t); t = -0.5 * t; }",
            ["table[k] = exp(t);"],
        ),
        (
            "double t = 1; for (int k = 0; k < m; k++) { double u = exp(t); c[i][j] += u * a[j][k]; t = -0.5 * t; }",
            ["u_of[k] = exp(t);"],
        ),
        (
            "double t = 1; for (int k = 0; k < m; k++) t *= w[k]; c[i][j] = exp(t);"
            " for (int k = 0; k < m; k++) t *= w[k]; b[i][j] = exp(t);",
            ["table = exp(t);", "table2 = exp(t);"],
        ),
    ],
)
def test_values_on_the_way_to_the_last_one(inner: str, expected: list[str], read_text: Reader) -> None:
    """What is read between two assignments of a variable is not what the last one of them leaves."""
    found = modelled(read_text, f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {inner} }}")
    assert sorted(made(found)) == sorted(expected)
    if found.whole is not None:
        assert parting_faults(found.whole, found) == []


@pytest.mark.parametrize(("rows", "assumed"), [("m", "m > 3"), ("8", "m > 0")])
def test_sizes_that_a_table_which_is_larger_than_the_data_is_for(rows: str, assumed: str, read_text: Reader) -> None:
    """The region as a whole is there for all others."""
    found = modelled(read_text, LARGE.format(rows))
    wanted = isl.Set(f"[n, m] -> {{ : 0 < n < 2049 and {assumed} }}")
    assert found.known.is_equal(wanted)
    assert found.whole is not None
    assert found.whole.guard.plain_is_universe()


TURNS = """
#include <math.h>
void f(int n, int steps, double *restrict u, double *restrict v)
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double s = sin(0.1 * i) * sin(0.2 * j);
                v[i * n + j] = 0.5 * u[i * n + j] + s;
            }
        double *w = u;
        u = v;
        v = w;
    }
#pragma endscop
}
"""


def test_two_turns_of_a_loop_share_a_table(read_text: Reader) -> None:
    (region,) = read_text(TURNS).regions
    found = region.scop
    assert made(found) == ["table[i][j] = sin(0.1 * i) * sin(0.2 * j);"]
    assert sum("= table[i][j]" in "".join(statement(s.body, 0)) for s in found.statements.values()) == 2
    assert found.whole is not None
    assert parting_faults(found.whole, found) == []


def votes(inner: str) -> str:
    """A transform that asks the data of each pixel whether it has to do anything: the loop over t is in a statement."""
    return f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (b[i][j] > 0.5) {{ {inner} }}"


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (
            "for (int t = 0; t < r; t++) c[t][(int)(i * cos(t * 0.1) + j * sin(t * 0.1))] += 1;",
            ["table[t] = cos(t * 0.1);", "table2[t] = sin(t * 0.1);"],
        ),
        (
            "for (int t = 0; t < 90; t++) { double p = t * 0.1; double q = cos(p); c[t][(int)(i * q)] += 1; }",
            ["table[t] = cos((double)(t * 0.1));"],
        ),
        (
            "for (int t = 1; t <= r; t += 2) { if (c[0][t] > 0) { int k = exp(-0.5 * t) * j; c[t][k]++; } }",
            ["table[t] = exp(-0.5 * t);"],
        ),
        (
            "double s = 0; for (int k = 0; k < r; k++) s += exp(-0.1 * k) * j; c[0][(int)s]++;",
            ["table[k] = exp(-0.1 * k);"],
        ),
        ("c[0][0] += exp(w[0] - i) + log(2.0 * r);", ["table = log(2.0 * r);"]),
        ("if (c[0][0] > 0) c[0][(int)(j * cos(0.1 * i))] += 1;", ["table[i] = cos(0.1 * i);"]),
    ],
)
def test_what_is_computed_before_data_are_asked(inner: str, expected: list[str], read_text: Reader) -> None:
    found = modelled(read_text, votes(inner))
    assert made(found) == expected
    assert found.whole is not None
    assert parting_faults(found.whole, found) == []


@pytest.mark.parametrize(
    "inner",
    [
        "for (int t = 0; t < r; t++) c[t][(int)(i * cos(1 / t * 0.1))] += 1;",  # 1 / 0 for a t that may never come
        "for (int t = 0; t < r; t++) c[t][(int)(i * cos(0.1 * (t * 1000 * n)))] += 1;",  # it may overflow
        "for (int t = 0; t < r; t++) c[t][(int)(i * cos(w[t]))] += 1;",  # there may be no w[t]
        "for (int t = 0; t < r; t++) c[t][(int)(i * cos(any(t)))] += 1;",
        "for (int t = 0; t < r; t++) { c[t][(int)(i * cos(0.1 * t))] += 1; t += c[t][0] > 9; }",
        "for (unsigned t = 0; t < r; t++) c[t][(int)(i * cos(0.1 * t))] += 1;",
        "for (int t = 0; t * t < r; t++) c[t][(int)(i * cos(0.1 * t))] += 1;",
        "double p = 0.1 * j; p = c[0][0]; for (int t = 0; t < r; t++) c[t][(int)(t * cos(p))] += 1;",
        "for (int t = 0; t < r; t++) c[t][(int)(t * cos(0.1 * i + 0.2 * j + t))] += 1;",
    ],
)
def test_what_stays_where_data_are_asked(inner: str, read_text: Reader) -> None:
    found = modelled(read_text, votes(inner))
    assert not [text for text in made(found) if "table" in text]


def test_sizes_for_which_a_table_costs_little_that_nobody_may_need(read_text: Reader) -> None:
    found = modelled(read_text, votes("for (int t = 0; t < r; t++) c[t][(int)(i * cos(t * 0.1))] += 1;"))
    few = isl.Set("[n, m, r] -> { : 0 < r <= 4194304 and (n >= r and m >= 128 or m >= r and n >= 128) }")
    assert found.known.is_equal(few)


def test_memory_that_may_overlap_keeps_its_order(read_text: Reader) -> None:
    """Nobody knows whether `acc` and `edge` overlap, and the data choose the elements; the table has none of them."""
    text = """
#include <math.h>
void votes(int h, int w, const unsigned char *edge, int nt, double step, int *acc)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (edge[y * w + x] > 230)
                for (int t = 0; t < nt; t++)
                    acc[(int)(x * cos(t * step) + y * sin(t * step))]++;
}
"""
    (region,) = read_text(text, detect=True).regions
    found = region.scop
    assert made(found) == ["table[t] = cos(t * step);", "table2[t] = sin(t * step);"]
    assert found.ordered == {"edge", "acc"}
    order = {name for name, s in found.statements.items() if any(a.array == CALLS for a in s.accesses)}
    assert order == {name for name, s in found.statements.items() if any(a.array in found.ordered for a in s.accesses)}
    assert found.whole is not None
    assert parting_faults(found.whole, found) == []
    for before, after in [("cos", "fabs"), ("double step", "const double *step"), ("int nt", "const int *nt")]:
        name = before.split()[-1]
        other = text.replace(before, after).replace("sin", "sqrt" if name == "cos" else "sin")
        other = other.replace(f"* {name})", f"* *{name})").replace(f"< {name}", f"< *{name}")
        assert not any(region.scop.ordered for region in read_text(other, detect=True).regions)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("-w[i]", ["table[i] = exp(-w[i]);"]),
        ("-w[j] * t", ["table[j] = exp(-w[j] * t);"]),
        ("b[t][j]", []),  # each step reads a row of its own: these may run in parallel
        ("w[i] * a[0][0]", []),  # the nest itself writes it
    ],
)
def test_what_each_step_computes_before_its_nest(value: str, expected: list[str], read_text: Reader) -> None:
    found = modelled(read_text, STEPS.format(value))
    assert made(found) == expected
    if expected:
        assert found.whole is not None
        (store,) = (s for s in found.statements.values() if any(a.array == "table" for a in s.accesses[-1:]))
        assert store.loops[0] == "t"
        assert parting_faults(found.whole, found) == []


ROW = "double x = a[i][0]; for (int k = 1; k < m; k++) x = fmax(x, a[i][k]); double s = 0; "
SUM = "for (int k = 0; k < m; k++) s += exp(a[i][k] - x); "


def test_a_logarithm_of_each_row_is_computed_in_its_place(read_text: Reader) -> None:
    """Not before the nest, where what it is made of would be computed a second time."""
    rows = f"for (int i = 0; i < n; i++) {{ {ROW}{SUM}for (int k = 0; k < m; k++) b[i][k] = a[i][k] - x - log(s); }}"
    found = modelled(read_text, rows)
    assert made(found) == ["table = log(s);"]
    assert [len(s.loops) for s in found.statements.values()] == [1, 2, 1, 2, 1, 2]
    assert found.whole is not None
    assert not list(parting_faults(found.whole, found))


def test_what_two_nests_compute_is_two_statements(read_text: Reader) -> None:
    """The maximum of a row is needed before the nest and in it."""
    value = "c[i][j] = x + w[j] + log(x * w[j]);"
    body = f"for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) {{ {ROW}{value} }}"
    found = modelled(read_text, body.replace("double s = 0; ", "").replace("x * w[j]", "x * j"))
    assert found.whole is not None
    assert not list(parting_faults(found.whole, found))


def test_a_size_that_is_a_multiple_of_another_one(read_text: Reader) -> None:
    """The table is n long, not `wide / 220` with a fraction."""
    text = (
        "#include <math.h>\nvoid f(int n, float *restrict v)\n{\nint wide = 220 * n;\n#pragma scop\n"
        "for (int s = 0; s < 220; s++) for (int r = 0; r < n; r++) for (int k = 0; k < 6; k++)"
        " v[k * wide + s * n + r] = expf(r * 0.5f);\n#pragma endscop\n}\n"
    )
    (found,) = read_text(text).regions
    assert made(found.scop) == ["table[r] = expf(r * 0.5f);"]
