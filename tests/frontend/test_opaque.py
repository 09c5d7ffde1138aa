"""What depends on data is kept whole, with over-approximated accesses."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
import pytest

from polyc.model import ctree as c
from polyc.model.scop import Scop

from .conftest import Modeller

Relations = Callable[[Scop, str], list[str]]


def loop(
    body: str, before: str = "", arguments: str = "int n, int *row, int *col, double *v, double *x, double *y"
) -> str:
    return (
        f"void f({arguments}) {{\n{before}\n#pragma scop\n"
        f"  for (int i = 0; i < n; i++) {{ {body} }}\n#pragma endscop\n}}\n"
    )


def test_sparse_product(scop: Modeller, relations: Relations) -> None:
    found = scop(loop("y[i] = 0; for (j = row[i]; j < row[i + 1]; j++) y[i] += v[j] * x[col[j]];", "int j;"))
    assert not found.statements["S0"].opaque
    inner = found.statements["S1"]
    assert inner.opaque
    assert inner.loops == ("i",)
    assert inner.text == "for (j = row[i]; j < row[i + 1]; j++) y[i] += v[j] * x[col[j]];"
    assert relations(found, "S1") == [
        "read { S1[i] -> row[i] }",
        "read { S1[i] -> row[1 + i] }",
        "read { S1[i] -> v[o0] } inexact",
        "read { S1[i] -> col[o0] } inexact",
        "read { S1[i] -> x[o0] } inexact",
        "read { S1[i] -> y[i] }",
        "may-write { S1[i] -> y[i] }",
    ]
    assert isinstance(inner.body, c.Block)
    assert inner.body.body[0] == c.Decl("int", "j")
    assert [n.code for n in found.notes] == ["non-affine-loop"]


def test_a_loop_variable_that_is_read_later_is_written(scop: Modeller, relations: Relations) -> None:
    found = scop(loop("for (j = 0; v[j] < x[i]; j++) ; y[i] = j;", "int j;"))
    assert "may-write { S0[i] -> j[] }" in relations(found, "S0") or "write { S0[i] -> j[] }" in relations(found, "S0")
    assert found.privatizable == {"j"}


def test_a_branch_may_write(scop: Modeller, relations: Relations) -> None:
    found = scop(loop("if (x[i] > 0) y[i] = 1; else v[i + 1] = 2;"))
    assert relations(found, "S0") == [
        "read { S0[i] -> x[i] }",
        "may-write { S0[i] -> y[i] }",
        "may-write { S0[i] -> v[1 + i] }",
    ]
    assert list(found.statements) == ["S0"]


def test_a_scalar_that_is_assigned_first_is_not_read(scop: Modeller) -> None:
    found = scop(loop("if (x[i] > 0) { t = x[i]; y[i] = t * t; }", "double t;"))
    assert [a.kind.value for a in found.statements["S0"].accesses if a.array == "t"] == ["may-write"]
    assert found.privatizable == {"t"}


def test_while_with_its_locals(scop: Modeller) -> None:
    found = scop(loop("double t = x[i]; int k = 0; while (t > 1) { t = t / 2; k++; } y[i] = k;"))
    assert [s.opaque for s in found.statements.values()] == [False, False, True, False]
    assert found.privatizable == {"t", "k"}
    assert [n.code for n in found.notes] == ["while-loop"]


def test_inner_affine_loops_bound_what_is_accessed(scop: Modeller, same: Callable[[object, str], None]) -> None:
    found = scop(loop("if (x[i] > 0) for (int j = 2; j < i; j++) y[j] = 1;"))
    (write,) = (a for a in found.statements["S0"].accesses if a.array == "y")
    same(write.relation, "[n] -> { S0[i] -> y[j] : 0 <= i < n and 2 <= j < i }")
    assert not write.exact


def test_a_certain_write_in_an_opaque_statement_stays_one(scop: Modeller) -> None:
    found = scop(loop("do { y[i] = x[i]; } while (y[i] > 0); for (int j = row[i]; j < 3; j++) y[j] = 0;"))
    assert all(s.opaque for s in found.statements.values())


def test_break_and_continue_inside_a_loop(scop: Modeller) -> None:
    found = scop(loop("for (int j = 0; j < n; j++) { if (x[j] > 0) break; y[j] = 1; }"))
    assert list(found.statements) == ["S0"]
    assert [n.code for n in found.notes] == ["jump-in-loop"]
    found = scop(loop("for (int j = 0; j < n; j++) { if (j > i) { if (j == 7) continue; y[j] = 2; } y[j] = 1; }"))
    assert [n.code for n in found.notes] == ["jump-in-loop"]


@pytest.mark.parametrize(
    ("body", "domains"),
    [
        ("if (j == i) continue; y[j] = 1;", ["j < i or j > i"]),
        ("if (j == i) { continue; } y[j] = 1; if (j < 3) continue; x[j] = 1;", ["j < i or j > i", "j >= 3 and j != i"]),
        ("if (j < i) { x[j] = 2; continue; } y[j] = 1;", ["j < i", "j >= i"]),
    ],
)
def test_a_branch_that_ends_with_continue(
    body: str, domains: list[str], scop: Modeller, same: Callable[[object, str], None]
) -> None:
    found = scop(loop(f"for (int j = 0; j < n; j++) {{ {body} }}"))
    assert not found.notes
    for (name, statement), domain in zip(found.statements.items(), domains, strict=True):
        same(statement.domain, f"[n] -> {{ {name}[i, j] : 0 <= i < n and 0 <= j < n and ({domain}) }}")


def test_a_branch_on_data_that_ends_with_continue(scop: Modeller) -> None:
    found = scop(loop("for (int j = 0; j < n; j++) { if (x[j] > 0) continue; y[j] = 1; }"))
    assert [n.code for n in found.notes] == ["non-affine-condition"]
    assert found.statements["S0"].loops == ("i", "j")


def test_side_effects_in_subscripts(scop: Modeller, relations: Relations) -> None:
    found = scop(loop("y[k = 3 * k] = x[i];", "int k = 1;"))
    assert relations(found, "S0") == [
        "read { S0[i] -> x[i] }",
        "read { S0[i] -> k[] }",
        "write { S0[i] -> k[] }",
        "may-write { S0[i] -> y[o0] } inexact",
    ]


def test_statements_that_write_nothing_are_dropped(scop: Modeller) -> None:
    found = scop(loop("x[i]; if (x[i] > 1) y[i]; ; for (int j = 0; j < row[i]; j++) { } y[i] = 1;"))
    assert [s.text for s in found.statements.values()] == ["y[i] = 1;"]


def test_a_loop_that_changes_its_variable(scop: Modeller) -> None:
    found = scop(loop("for (int j = 0; j < n; j++) { if (x[j] > 0) j++; y[j] = 0; }"))
    assert found.statements["S0"].opaque
    found = scop(loop("for (int j = 0; j < n; j *= 2) y[j] = 0;"))
    assert found.statements["S0"].opaque


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("if (j > i) break; x[j] = 1;", "0 <= j < n and j <= i"),
        ("x[j] = 1; if (j > i) break;", "0 <= j < n and j <= i + 1"),
        ("int k = i - j; if (k < 0) break; x[k] = 1;", "0 <= j < n and j <= i"),
        ("if (j == 3) break; x[j] = 1;", "0 <= j < n and j < 3"),
        ("if (j == i) { break; } x[j] = 1;", "0 <= j < n and j < i"),
        ("if (j == i) continue; if (j == 3) break; x[j] = 1;", "0 <= j < n and j != i and (j < 3 or i = 3)"),
    ],
)
def test_a_break_ends_an_affine_loop(body: str, runs: str, scop: Modeller) -> None:
    head = "void f(int n, double *x) {\n#pragma scop\nfor (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++) {"
    found = scop(f"{head} {body} }}\n#pragma endscop\n}}")
    (only,) = found.statements.values()
    assert not found.notes
    assert not only.opaque
    assert only.domain.is_equal(type(only.domain)(f"[n] -> {{ S0[i, j] : 0 <= i < n and {runs} }}"))


def test_a_break_of_a_loop_whose_variable_is_read_later(scop: Modeller) -> None:
    head = "int f(int n, double *x) { int j;\n#pragma scop\nfor (j = 0; j < n; j++)"
    found = scop(f"{head} {{ if (j > 3) break; x[j] = 1; }}\n#pragma endscop\nreturn j; }}")
    assert [note.code for note in found.notes] == ["jump-in-loop"]


@pytest.mark.parametrize(
    "skipped",
    ["if (i == k || d[i][k] >= 9) continue;", "if (d[i][k] >= 9 || k == i) continue;", "if (i != k && d[i][k] < 9)"],
)
def test_what_sizes_leave_out_around_a_loop_is_no_instance(skipped: str, scop: Modeller) -> None:
    """Shortest paths: row k is read by all other rows, and not written."""
    text = (
        "void f(int n, float d[n][n]) {\n#pragma scop\nfor (int k = 0; k < n; k++) for (int i = 0; i < n; i++) {"
        f" {skipped} for (int j = 0; j < n; j++) if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j]; }}\n"
        "#pragma endscop\n}\n"
    )
    (statement,) = scop(text).statements.values()
    assert statement.opaque
    assert statement.domain.is_disjoint(isl.Set(f"[n] -> {{ {statement.name}[k, i] : i = k }}"))
