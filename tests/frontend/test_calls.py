"""Calls: what the functions of the file touch, and what one may touch of which polyc knows nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polyc.errors import UserError
from polyc.model.scop import CALLS, Scop
from polyc.runtime import compare
from tests.programs import compiled, region_of

from .conftest import Modeller

Relations = Callable[[Scop, str], list[str]]


def program(
    region: str, before: str = "", arguments: str = "int n, double A[n][n], double *b", inside: str = ""
) -> str:
    return f"{before}\nvoid f({arguments})\n{{\n{inside}\n#pragma scop\n{region}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("number", ["-INFINITY", "HUGE_VAL", "NAN", "HUGE_VALF", "-(float)INFINITY"])
def test_numbers_that_headers_write_as_calls(number: str, scop: Modeller) -> None:
    region = (
        f"for (int i = 0; i < n; i++) {{ b[i] = {number}; for (int j = 0; j < n; j++) b[i] = fmax(b[i], A[i][j]); }}"
    )
    found = scop(program(region, "#include <math.h>"))
    assert not any(statement.opaque for statement in found.statements.values())
    assert not any(access.array == CALLS for s in found.statements.values() for access in s.accesses)


LOOP = "for (int i = 0; i < n; i++) b[i] = g(n, A[i]);"


@pytest.mark.parametrize(
    "function",
    [
        "double g(int n, double *x) { return x[n]; }",
        "double g(int n, double *x) { double y[2] = {1, 2}; y[0] += n; return y[0] * *x; }",
        "static const int c[] = {1, 2}; double g(int n, double *x) { return c[n] + *(x + 1); }",
        "enum { K = 2 }; double g(int n, double *x) { if (n > K) return fabs(x[0]); else return sizeof(x); }",
        "static int h(int n) { return n + 1; } double g(int n, double *x) { return h(n) * x[0]; }",
        "typedef struct { double r, i; } z; static z m(z a, z b) { return (z){ a.r * b.r, .i = a.i }; }"
        "double g(int n, double *x) { z v = { x[0], n }; return m(v, (z){ 1, 2 }).r + ((z){ .r = x[1] }).r; }",
        "double g(int n, double *x) { while (n--) if (*x++ == 0) return 1; return 0; }",
        "double g(int n, double *x) { for (int k = 0; k < n; k++) { if (x[0] > k) return k; x += 2; } return 0; }",
        "double g(int n, double *x);\n#pragma polyc pure(g)",
        "static inline __attribute__((always_inline)) double g(int n, double *x) { return x[n]; }",
        "[[gnu::noinline]] static double\n__attribute__((cold))\ng(int n, double *x) { return x[n]; }",
    ],
)
def test_a_function_that_computes_a_value(function: str, scop: Modeller, relations: Relations) -> None:
    found = scop(program(LOOP, function))
    assert {(a.array, a.kind.value) for a in found.statements["S0"].accesses} == {("A", "read"), ("b", "write")}
    assert not found.notes


@pytest.mark.parametrize(
    "function",
    [
        "double g(int n, double *x) { double s = 0; for (int k = 0; k < n; k++) s += x[k]; return s; }",
        "int calls; double g(int n, double *x) { if (n < 0) return 0; calls++; return x[n - 1]; }",
        "int k; double g(int n, double *x) { { int k = 1; if (n < k) return 0; } return k + x[0]; }",
        "double g(int n, double *x) { double *y = x; if (n < 0) return 0; return y[n - 1]; }",
        "double g(int n, double *x) { if (n < 9) { x[n - 1] = 1; return 0; } else if (n > 20) return x[1]; return 2; }",
    ],
)
def test_a_function_in_the_place_of_its_call(function: str, scop: Modeller) -> None:
    found = scop(program(LOOP, function))
    assert len(found.statements) > 1
    assert all(note.code == "delinearised" for note in found.notes)
    assert all(access.exact for s in found.statements.values() for access in s.accesses if access.array == "A")


@pytest.mark.parametrize(
    "function",
    [
        "double g(int n, double *x);",
        "int calls; double g(int n, double *x) { while (calls < n) if (n-- < 0) return 1; return x[n]; }",
        "double g(int n, double *x) { static int k; return x[k++]; }",
        "double g(int n, double *x) __attribute__((weak)); double g(int n, double *x) { return x[n]; }",
        "double g(int n, double *x) { return n ? g(n - 1, x) : 0; }",
        "double h(double *); double g(int n, double *x) { return h(x); }",
        "double *keep; double g(int n, double *x) { keep = x; return 0; }",
        "double *keep; double g(int n, double *x) { keep++; return *keep++; }",
        "double g(int n, double *x) { volatile int k = n; return k; }",
        "double g(int n, double *x) { return *(float *)x; }",
        "double g(int n, double *x) { return ({ x[n]; }); }",
        'double g(int n, double *x) { asm(""); return 0; }',
        "struct s { int *p; }; double g(int n, double *x) { struct s t; return t.p[0]; }",
    ],
)
def test_a_function_that_may_do_anything(function: str, scop: Modeller) -> None:
    found = scop(program(LOOP, function))
    touched = {(a.array, a.kind.value) for a in found.statements["S0"].accesses}
    calls = {(CALLS, "read"), (CALLS, "write")}
    assert touched == {(name, kind) for name in "Ab" for kind in ("read", "may-write")} | {("b", "write")} | calls
    assert [note.code for note in found.notes] == ["side-effects"]
    assert CALLS in found.live_out


def test_a_function_of_the_file_with_the_name_of_one_of_the_library(scop: Modeller) -> None:
    own = "static double fmax(double a, double b) { static int k; k++; return a > b ? a : b; }"
    found = scop(program("for (int i = 0; i < n; i++) b[i] = fmax(A[i][0], 2);", own))
    assert [note.code for note in found.notes] == ["side-effects"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("set(A[i], 1);", "A[o0, o1] : o0 = i"),
        ("set(&A[i][2], 1);", "A[o0, o1] : o0 = i"),
        ("set(A[i] + 2, 1);", "A[o0, o1] : o0 = i"),
        ("set((double *)&b[i], 1);", "b[o0]"),
        ("set(b + i, 1);", "b[o0]"),
        ("set(b, A[i][0]);", "b[o0]"),
    ],
)
def test_what_is_written_through_an_argument(call: str, expected: str, scop: Modeller) -> None:
    function = "static void set(double *to, double value) { while (value != value) return; *to = value; }"
    found = scop(program(f"for (int i = 0; i < n; i++) {call}", function))
    (write,) = [a for a in found.statements["S0"].accesses if a.kind.value == "may-write"]
    domain = found.statements["S0"].domain
    extents = " and 0 <= o1 < n" if expected.startswith("A") else ""
    condition = f"{expected}{extents}" if " : " in expected else f"{expected} : true"
    wanted = type(write.relation)(f"[n] -> {{ S0[i] -> {condition} }}").intersect_domain(domain)
    assert write.relation.is_subset(wanted)
    assert wanted.intersect_params(found.context).is_subset(write.relation)


def test_what_an_unknown_function_cannot_reach(scop: Modeller) -> None:
    """Locals whose address went nowhere, and constants; a global bound may change from call to call."""
    region = "for (i = 0; i < N; i++) { t = c[i]; b[i] = own[i] + t; h(); }"
    before = "int N; const int c[9] = {1}; void h(void);"
    found = scop(program(region, before, inside="int i; double own[9], t;"))
    touched = {a.array for s in found.statements.values() for a in s.accesses if a.kind.value == "may-write"}
    assert touched == {"N", "b", "t", CALLS}
    assert [note.code for note in found.notes] == ["non-affine-loop", "side-effects"]
    found = scop(program("for (i = 0; i < n; i++) { h(&i); b[i] = 0; }", "void h(int *);", inside="int i;"))
    assert list(found.statements) == ["S0"]


def test_a_variable_whose_address_is_known_elsewhere(scop: Modeller) -> None:
    region = "for (int i = 0; i < n; i++) { t = b[i]; h(); b[i] = t; }"
    before = "void h(void); void keep(double *);"
    assert scop(program(region, before, inside="double t;")).privatizable == {"t"}
    found = scop(program(region, before, inside="double t; keep(&t);"))
    assert "t" not in found.privatizable
    assert ("t", "may-write") in {(a.array, a.kind.value) for s in found.statements.values() for a in s.accesses}


def test_hints_do_nothing(scop: Modeller) -> None:
    found = scop(program("__pencil_assume(n > 3); __pencil_kill(b); for (int i = 0; i < n; i++) b[i] = 0;"))
    assert list(found.statements) == ["S0"]
    assert not found.notes


def test_what_cannot_be_told(scop: Modeller) -> None:
    for call, code in [("p->g(n);", "unknown-call"), ("h(&p->x->y);", "array-argument"), ("h(&b);", "array-argument")]:
        before = "struct t { int y; }; struct s { void (*g)(int); struct t *x; }; void h(void *);"
        with pytest.raises(UserError) as caught:
            scop(program(call, before, "int n, struct s *p, double *b"))
        assert [d.code for d in caught.value.diagnostics] == [code]


CALLING = """
#include <string.h>
static double sum(int n, const double *row) { double s = 0; for (int k = 0; k < n; k++) s += row[k]; return s; }
static void add(int n, double *to, const double from[n]) { for (int k = 0; k < n; k++) to[k] += from[k]; }
void f(int n, double A[n][n], double B[n][n], double c[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        c[i] = sum(n, A[i]);
    for (int i = 0; i < n; i++)
        add(n, B[i], A[i]);
    for (int i = 0; i < n; i++)
        memset(&A[i][0], 0, n * sizeof(double));
    for (int i = 0; i < n; i++)
        A[i][i] = c[i] + B[i][i];
#pragma endscop
}
"""


@pytest.mark.slow
def test_calls_run(tmp_path: Path) -> None:
    result = compiled(CALLING, tmp_path)
    assert result.verified
    assert "parallel for" in result.text
    report = compare(region_of(CALLING, tmp_path), result)
    assert report.rows
    assert not report.differences
