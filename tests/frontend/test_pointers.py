"""Pointers that a function assigns: swapped buffers are two arrays, other names of one array are refused."""

from __future__ import annotations

import pytest

from polyc.errors import UserError

from .conftest import Modeller

REGION = "#pragma scop\nfor (int i = 0; i < n; i++) { b[i] = a[i]; d[i] = c[i]; }\n#pragma endscop\n"
HEAD = "void *malloc(unsigned long);\nvoid f(int n, int k, double *a, double *b, double *c, double *d, double *m)"
SWAP = "t = a; a = b; b = t;"


def program(before: str = "", after: str = "", around: str = "for (int s = 0; s < k; s++)") -> str:
    return f"{HEAD}\n{{\n{before}\n{around} {{\n{REGION}{after}\n}}\n}}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"double *{SWAP} t = c; c = d; d = t;"),
        ("double *t;", f"{SWAP} t = c; c = d; d = t;"),
        ("double *t;", f"if (n > k) {{ {SWAP} }} else {{ t = c; c = d; d = t; }}"),
        ("", "double *t = a; a = b; b = c; c = d; d = t;"),
        ("double *t;", f"while (k--) {{ {SWAP} if (n) break; }}"),
        ("", "double *swap = (double *)a; a = b, b = swap;"),
        ("", "m = a; m = b; if (m == c) m = a + 1;"),
        ("double *x = malloc(n), *y = malloc(n); a = x; b = y;", "y = x;"),
        ("a = m; b = m + n;", ""),
        ("if (n > 3) goto out;", "out: ;"),
        ("a = n ? m : a; c = k ? c : malloc(8);", ""),
    ],
)
def test_they_are_arrays_of_their_own(before: str, after: str, scop: Modeller) -> None:
    assert scop(program(before, after)).live_out == {"b", "d"}


@pytest.mark.parametrize(
    ("before", "after", "pair"),
    [
        ("a = b;", "", "'a' points into 'b'"),
        ("a = m; b = m;", "", "'b' points into 'a'"),
        ("double *t = b; a = t;", "", "'a' points into 'b'"),
        ("a = &b[2];", "", "'a' points into 'b'"),
        ("a = m + 1; b = a + 1;", "", "'b' points into 'a'"),
        ("if (n > 3) a = b;", "", "'a' points into 'b'"),
        ("a = n > 3 ? m : b;", "", "'a' points into 'b'"),
        ("", "a = b;", "'a' points into 'b'"),
        ("double *t;", "t = a; a = b; if (n > 3) b = t;", "'a' points into 'b'"),
        ("double *t;", f"{SWAP} t = a; c = a;", "'c' points into 'a'"),
        ("switch (n) { case 1: a = b; break; default: ; }", "", "'a' points into 'b'"),
        ("again: if (n++ < 3) { a = b; goto again; }", "", "'a' points into 'b'"),
        ("double *t = a; a = a + 1; b = t; b = a;", "", "'b' points into 'a'"),
        ("double *t = b + 1; a = b; b = m; a = t;", "b = c; c = m;", "'c' points into 'b'"),
    ],
)
def test_two_names_of_one_array(before: str, after: str, pair: str, scop: Modeller) -> None:
    with pytest.raises(UserError) as caught:
        scop(program(before, after))
    assert {d.code for d in caught.value.diagnostics} == {"aliased-pointer"}
    assert pair in " ".join(d.message for d in caught.value.diagnostics)


def test_too_many_ways(scop: Modeller) -> None:
    after = " ".join(f"if (n > {k}) a = k ? b : m; t = malloc({k}); if (n < {k}) m = t;" for k in range(9))
    with pytest.raises(UserError) as caught:
        scop(program("double *t;", after))
    assert [d.code for d in caught.value.diagnostics] == ["aliased-pointer"]


HELD = """
struct view {{ double *at; int n; }};
void f(int m, double *c, float *d)
{{
    struct view held = {{c, 1}};
    const struct view *v = &held;
#pragma polyc live-out({named})
#pragma scop
    for (int i = 0; i < m; i++) {{
        v->at[i] = 0.3;
        d[i] = 0.5f;
    }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(("named", "live"), [("c", {"v->at"}), ("c, d", {"v->at", "d"}), ("d", {"d"}), ("m", set())])
def test_what_is_named_may_be_what_a_pointer_in_memory_leads_to(named: str, live: set[str], scop: Modeller) -> None:
    found = scop(HELD.format(named=named))
    assert {found.arrays[key].c_name for key in found.live_out} == live
