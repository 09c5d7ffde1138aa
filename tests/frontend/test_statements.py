"""Accesses, bodies and texts of single statements."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polyc.model import ctree as c
from polyc.model.scop import Scop, Storage

from .conftest import Modeller

Relations = Callable[[Scop, str], list[str]]


def one(
    body: str, head: str = "", arguments: str = "int n, int m, double A[n][m], double *a, double *b, int *k"
) -> str:
    return (
        f"{head}\nvoid f({arguments}) {{\n#pragma scop\n"
        f"  for (int i = 0; i < n; i++) {{\n    {body}\n  }}\n#pragma endscop\n}}\n"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a[i] = b[i + 1];", ["read { S0[i] -> b[1 + i] }", "write { S0[i] -> a[i] }"]),
        ("a[i] += 2;", ["read { S0[i] -> a[i] }", "write { S0[i] -> a[i] }"]),
        ("a[i]++;", ["read { S0[i] -> a[i] }", "write { S0[i] -> a[i] }"]),
        ("--a[i];", ["read { S0[i] -> a[i] }", "write { S0[i] -> a[i] }"]),
        ("a[i] = b[i] = 0;", ["write { S0[i] -> b[i] }", "write { S0[i] -> a[i] }"]),
        ("*(a + i) = *b;", ["read { S0[i] -> b[0] }", "write { S0[i] -> a[i] }"]),
        ("a[2 * i + 3] = (float)n;", ["write { S0[i] -> a[3 + 2i] }"]),
        ("a[i] = i > 1 ? b[i - 2] : 0;", ["read { S0[i] -> b[-2 + i] : i >= 2 }", "write { S0[i] -> a[i] }"]),
        ("a[i] = sqrt(fabs(b[i])) + sizeof(double);", ["read { S0[i] -> b[i] }", "write { S0[i] -> a[i] }"]),
        ("A[i][0] = A[n - 1][i];", ["read { S0[i] -> A[-1 + n, i] }", "write { S0[i] -> A[i, 0] }"]),
        (
            "a[k[i]] = 1;",
            ["read { S0[i] -> k[i] }", "may-write { S0[i] -> a[o0] } inexact"],
        ),
        (
            "b[i] > 0 && (a[i] = 1);",
            ["read { S0[i] -> b[i] }", "may-write { S0[i] -> a[i] }"],
        ),
        (
            "i > 3 && (a[i] = 1);",
            ["write { S0[i] -> a[i] : i >= 4 }"],
        ),
        (
            "b[i] > 0 ? (a[i] = 1) : (a[i + 1] = 2);",
            ["read { S0[i] -> b[i] }", "may-write { S0[i] -> a[i] }", "may-write { S0[i] -> a[1 + i] }"],
        ),
    ],
)
def test_accesses(body: str, expected: list[str], scop: Modeller, relations: Relations) -> None:
    assert relations(scop(one(body)), "S0") == expected


def test_quasi_affine_subscripts(scop: Modeller, same: Callable[[object, str], None]) -> None:
    found = scop(one("a[i / 2] = b[i % 3];"))
    read, write = found.statements["S0"].accesses
    assert read.exact
    assert write.exact
    domain = "0 <= i < n"
    same(read.relation, f"[n] -> {{ S0[i] -> b[i mod 3] : {domain} }}")
    same(write.relation, f"[n] -> {{ S0[i] -> a[floor(i / 2)] : {domain} }}")


def test_division_truncates_toward_zero(scop: Modeller, same: Callable[[object, str], None]) -> None:
    text = one("a[(i - 5) / 2 + 10] = 1;")
    (write,) = scop(text).statements["S0"].accesses
    same(
        write.relation,
        "[n] -> { S0[i] -> a[floor((i - 5) / 2) + 10] : 5 <= i < n; "
        "S0[i] -> a[10 - floor((5 - i) / 2)] : 0 <= i < n and i < 5 }",
    )


def test_a_subscript_that_is_not_affine_stays_in_its_dimension(
    scop: Modeller, same: Callable[[object, str], None]
) -> None:
    found = scop(one("w[2][i * i] = A[k[i]][k[i]];", "double w[5][30];"))
    read = next(a for a in found.statements["S0"].accesses if a.array == "A")
    write = found.statements["S0"].accesses[-1]
    same(read.relation, "[n, m] -> { S0[i] -> A[x, y] : 0 <= i < n and 0 <= y < m }")
    same(write.relation, "[n] -> { S0[i] -> w[2, y] : 0 <= i < n and 0 <= y < 30 }")
    assert found.statements["S0"].opaque
    assert [n.code for n in found.notes] == ["non-affine-index"] * 3


def test_labels_join_the_body_with_its_accesses(scop: Modeller) -> None:
    statement = scop(one("a[i] += b[i] * a[i + 1];")).statements["S0"]
    refs = {node.ref: node.array for node in c.walk(statement.body) if isinstance(node, c.ArrayRef)}
    assert refs == {a.ref: a.array for a in statement.accesses}
    assert len(statement.accesses) == 4
    match statement.body:
        case c.ExprStmt(c.Assign("+=", c.ArrayRef("a", (c.Name("i"),)), c.Binary("*"))):
            pass
        case other:
            pytest.fail(str(other))


def test_text_is_the_users_own(scop: Modeller) -> None:
    found = scop(one("a[i] = MUL(b[ i ], /* two */\n  2) ; // tail", "#define MUL(x, y) ((x) * (y))"))
    assert found.statements["S0"].text == "a[i] = MUL(b[ i ], 2) ;"
    span = found.statements["S0"].span
    assert (span.line, span.column) == (5, 5)


def test_arrays(scop: Modeller) -> None:
    head = "typedef float real; double g[10][20]; struct p { real x, y; };"
    arguments = (
        "int n, int m, real A[n][2 * m + 1], double (*q)[30], double **r, struct p *s, const double c[restrict 7]"
    )
    body = "static float z[3]; (void)0;"
    text = f"""{head}
void f({arguments}) {{
  {body} unsigned char l[n + 1]; l[0] = 0;
#pragma scop
  for (int i = 0; i < n; i++) {{
    float t[2];
    t[0] = c[i];
    A[i][0] = q[i][1] + r[i][2] + s[i].x + z[1] + l[i] + t[0] + g[i][i];
  }}
#pragma endscop
}}
"""
    found = scop(text)
    shown = {k: (a.element.text, [str(e) for e in a.extents], a.storage) for k, a in found.arrays.items()}
    assert shown == {
        "A": ("real", ["[n] -> { [] -> [(n)] }", "[m] -> { [] -> [(1 + 2m)] }"], Storage.ARGUMENT),
        "q": ("double", ["None", "{ [] -> [(30)] }"], Storage.ARGUMENT),
        "r": ("double", ["None", "None"], Storage.ARGUMENT),
        "s": ("struct p", ["None"], Storage.ARGUMENT),
        "c": ("double", ["{ [] -> [(7)] }"], Storage.ARGUMENT),
        "z": ("float", ["{ [] -> [(3)] }"], Storage.GLOBAL),
        "g": ("double", ["{ [] -> [(10)] }", "{ [] -> [(20)] }"], Storage.GLOBAL),
        "l": ("unsigned char", ["[n] -> { [] -> [(1 + n)] }"], Storage.LOCAL),
        "t": ("float", ["{ [] -> [(2)] }"], Storage.REGION),
    }
    assert found.arrays["c"].constant
    assert found.arrays["s"].element.size_bytes == 8
    assert found.context.is_equal(type(found.context)("[n, m] -> { : n >= 0 and m >= 0 }"))
    assert [n.code for n in found.notes] == ["distinct-rows"]


def test_an_extent_whose_variable_changes_is_unknown(scop: Modeller) -> None:
    found = scop(
        """void f(int n, int m, double A[n][m], double B[n][n]) {
  m = m / 2;
#pragma scop
  for (int i = 0; i < n; i++) A[i][0] = B[i][m];
#pragma endscop
}
"""
    )
    assert found.arrays["A"].extents[1] is None
    assert str(found.arrays["B"].extents[1]) == "[n] -> { [] -> [(n)] }"


def test_members_are_may_writes_of_their_element(scop: Modeller, relations: Relations) -> None:
    head = "struct pix { float r, g; int w[3]; }; struct sz { int n; float s; };"
    arguments = "int n, struct pix *p, struct pix *q, struct sz *z"
    assert relations(scop(one("p[i].r = q[i].g * z->s;", head, arguments)), "S0") == [
        "read { S0[i] -> q[i] }",
        "read { S0[i] -> z[0] }",
        "read { S0[i] -> p[i] }",
        "may-write { S0[i] -> p[i] }",
    ]
    assert relations(scop(one("p[i] = q[i];", head, arguments)), "S0") == [
        "read { S0[i] -> q[i] }",
        "write { S0[i] -> p[i] }",
    ]
    assert relations(scop(one("p[i].w[i % 3] = i;", head, arguments)), "S0") == [
        "read { S0[i] -> p[i] }",
        "may-write { S0[i] -> p[i] }",
    ]
    assert relations(scop(one("(*p).w[1] = i;", head, arguments)), "S0") == ["write { S0[i] -> p_w[1] }"]


def test_invariants_are_parameters(scop: Modeller) -> None:
    head = "struct sz { int n; }; int total; enum { K = 3 };"
    found = scop(
        one(
            "for (int j = 0; j < n * m + z.n + p->n - total + K; j++) a[j] = m * 2.0;",
            head,
            "int n, int m, double *a, struct sz *p, struct sz z",
        )
    )
    assert [p.name for p in found.parameters] == ["n", "m", "n_m", "z_n", "p_n", "total"]
    assert found.parameters[4].expr == c.Member(c.Name("p"), "n", True)
    assert set(found.arrays) == {"a"}


def test_a_product_that_starts_with_a_number_has_a_name(scop: Modeller) -> None:
    found = scop(one("for (int j = 0; j < n; j++) a[j + 3 * n * m] = 0;", arguments="int n, int m, double *a"))
    assert [p.name for p in found.parameters] == ["n", "m", "v3_n_m"]


def test_a_value_that_is_only_read_is_a_scalar(scop: Modeller, relations: Relations) -> None:
    found = scop(one("a[i] = s * w;", arguments="int n, double *a, float s, int w"))
    assert [p.name for p in found.parameters] == ["n"]
    assert set(found.arrays) == {"a", "s", "w"}


@pytest.mark.parametrize("name", ["max", "S0", "floor", "and", "mod"])
def test_names_that_isl_knows_are_renamed(name: str, scop: Modeller) -> None:
    found = scop(one(f"{name}[i] = 1;", arguments=f"int n, double *{name}"))
    (key,) = found.arrays
    assert key == f"{name}_"
    assert found.arrays[key].c_name == name


def test_an_element_that_keeps_its_value_is_not_written(scop: Modeller) -> None:
    """Compilers warn of it, once it is a variable of polyc's own."""
    found = scop(one("a[i] = (a[i]); b[i] = a[i + 1]; b[i] = b[i]; a[k[i]] = a[k[i]]; a[i + 1] = a[i];"))
    assert [statement.text for statement in found.statements.values()] == ["b[i] = a[i + 1];", "a[i + 1] = a[i];"]
