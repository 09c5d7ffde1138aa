"""Strides and steps of which nobody knows the value: for which numbers a region is modelled, and where it is not."""

from __future__ import annotations

import pytest

from polyc.codegen.text.printer import expression
from polyc.frontend import read
from polyc.model.program import InputOptions
from polyc.model.scop import Scop

from .conftest import Modeller, Reader

HEAD = "int n, int m, int s, int d, unsigned u, struct layer l, const float *restrict a, float *restrict b"


def loops(body: str, arguments: str = HEAD) -> str:
    return (
        "struct layer { int stride; unsigned short step; };\n"
        f"void f({arguments}) {{\n#pragma scop\nfor (int i = 0; i < n; i++)\n  for (int j = 0; j < 3; j++)\n{body}\n"
        "#pragma endscop\n}\n"
    )


def supposed(found: Scop) -> dict[str, int]:
    return {expression(one.expr): one.value for one in found.supposed}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("{ int x = i * s + j; if (x < m) b[i] += a[x]; }", {"s"}),
        ("{ int x = i * s + j * d; if (x < m) b[i] += a[x]; }", {"s", "d"}),
        ("{ int x = i + j * d; if (x < m) b[i] += a[x]; }", {"d"}),
        ("{ int x = i * l.stride + j; if (x < m) b[i] += a[x]; }", {"l.stride"}),
        ("{ int x = i * l.step + j; if (x < m) b[i] += a[x]; }", {"l.step"}),
        ("{ unsigned x = i * u + j; if (x < m) b[i] += a[x]; }", {"u"}),
    ],
)
def test_a_stride_is_taken_for_one(body: str, names: set[str], scop: Modeller) -> None:
    found = scop(loops(body))
    assert supposed(found) == dict.fromkeys(names, 1)
    assert found.general is not None
    assert not found.general.supposed
    assert {note.code for note in found.notes} >= {"supposed", "assumed"}
    assert all(not access.loose for s in found.statements.values() for access in s.accesses)


@pytest.mark.parametrize(
    "body",
    [
        "b[i] += a[i * m + j];",  # a row's length
        "{ int x = i * s + j; if (x < m * s) b[i] += a[x]; }",  # it bounds something
        "for (int k = 0; k < 2 * s; k++) b[i] += a[i * s + k];",
        "{ int x = i * s + j; s = 2; if (x < m) b[i] += a[x]; }",
        "{ int x = i * s + j; if (x < m) b[i] += a[(int)a[x]]; }",  # something else is in the way
    ],
)
def test_what_is_no_stride(body: str, scop: Modeller) -> None:
    found = scop(loops(body))
    assert not found.supposed
    assert found.general is None


ASSERTED = """#include <assert.h>
static void f(int n, int m, int s, const int *k, float *b)
{{
#pragma scop
    for (int i = 0; i < n / 2; i += s) {{
        assert(i <= m);
        b[k[i]] = 1;
    }}
#pragma endscop
}}
void g(int n, int m, int s, const int *k, float *b) {{ {calls} }}
"""


@pytest.mark.parametrize(
    ("calls", "versions"),
    [
        ("f(n, m, s, k, b);", [{"s": 1}]),
        ("f(n, m, 3, k, b);", [{"s": 3}]),
        ("f(n, m, 3, k, b); f(n, m, 4, k, b);", [{"s": 3}, {"s": 4}]),
    ],
)
def test_what_is_refused_for_all_steps_is_modelled_for_some(
    calls: str, versions: list[dict[str, int]], read_text: Reader
) -> None:
    """Whatever else is not affine: for all of them nobody knows whether what is asserted holds."""
    (region,) = read_text(ASSERTED.format(calls=calls)).regions
    scop: Scop | None = region.scop
    found = []
    while scop is not None:
        found.append(supposed(scop))
        scop = scop.general
    assert found == versions


def test_what_each_call_passes_is_taken() -> None:
    text = loops("{ int x = i * s + j * d; if (x < m) b[i] += a[x]; }").replace("void f(", "static void f(")
    head = "void g(struct layer l, const float *a, float *b) "
    call = head + "{{ f(9, 9, {s}, {d}, 1, l, a, b); f(8, 8, 2, 3, 1, l, a, b); }}"
    (region,) = read("t.c", InputOptions(), text=text + call.format(s=2, d="1 + 2")).regions
    assert supposed(region.scop) == {"s": 2, "d": 3}
    assert region.scop.general is None  # no call has others
    (region,) = read("t.c", InputOptions(), text=text + call.format(s=1, d=3)).regions
    assert supposed(region.scop) == {"d": 3, "s": 1}
    assert region.scop.has_versions
    assert region.scop.general is not None
    assert supposed(region.scop.general) == {"d": 3, "s": 2}
    (region,) = read("t.c", InputOptions(), text=text + call.format(s=1, d=3).replace("2, 3, 1", "500, 3, 1")).regions
    assert supposed(region.scop) == {"d": 3, "s": 1}


CALLED = """
static void filter(int n, int k, int s, const float *a, const float *w, float *b)
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        float t = 0;
        for (int u = 0; u < k; u++)
            t += w[u] * a[i * s + u];
        b[i] = t;
    }}
#pragma endscop
}}
void f(const float *a, const float *w, float *b) {{ {calls} }}
"""


@pytest.mark.parametrize(
    ("calls", "versions"),
    [
        ("filter(500, 5, 2, a, w, b);", [{"k": 5, "s": 2}]),  # rows of `s` elements would need s >= k
        ("filter(500, 5, 1, a, w, b); filter(250, 5, 2, a, w, b);", [{"k": 5, "s": 1}, {"k": 5, "s": 2}]),
        ("filter(500, 5, 1, a, w, b); filter(250, 3, 1, a, w, b);", [{"k": 5, "s": 1}, {"k": 3, "s": 1}]),
        ("filter(500, 5, 1, a, w, b); filter(250, 5, n(), a, w, b);", [{"k": 5}]),
        ("filter(500, 500, 1, a, w, b);", [{"s": 1}]),
        ("int k = 5; for (int s = 1; s < 3; s++) filter(500, k, s, a, w, b);", [{"k": 5}]),
        ("int k = 5; k++; filter(500, k, 1, a, w, b);", [{"s": 1}]),
    ],
)
def test_a_model_for_each_set_of_values_that_calls_pass(calls: str, versions: list[dict[str, int]]) -> None:
    (region,) = read("t.c", InputOptions(), text="int n(void);" + CALLED.format(calls=calls)).regions
    found, scop = [], region.scop
    while scop is not None and scop.supposed:
        found.append(supposed(scop))
        scop = scop.general
    assert found == versions
    assert region.scop.has_versions == (len(versions) > 1)


def test_too_many_sets_of_values() -> None:
    calls = "".join(f"filter(500, {k}, {s}, a, w, b);" for k, s in ((1, 1), (3, 1), (5, 1), (3, 2)))
    (region,) = read("t.c", InputOptions(), text=CALLED.format(calls=calls)).regions
    assert supposed(region.scop) == {"s": 1}
    calls += "".join(f"filter(500, 5, {s}, a, w, b);" for s in (3, 4))
    (region,) = read("t.c", InputOptions(), text=CALLED.format(calls=calls)).regions
    assert not region.scop.supposed


def test_what_calls_pass_is_what_there_is_to_do() -> None:
    calls = "filter(500, 50, 1, a, w, b); filter(250, 40, 1, a, w, b);"
    (region,) = read("t.c", InputOptions(), text=CALLED.format(calls=calls)).regions
    assert {name: region.scop.usual[name] for name in "nk"} == {"n": 500, "k": 50}
    (region,) = read(
        "t.c", InputOptions(), text=CALLED.format(calls=calls.replace("00", "").replace("250", "9"))
    ).regions
    assert not region.scop.usual  # a test's


def test_short_loops_of_a_function_in_the_place_of_its_call() -> None:
    text = """
static void filter(int n, int k, int s, const float *restrict a, const float *restrict w, float *restrict b)
{
    for (int i = 0; i < n; i++) {
        float t = 0;
        for (int u = 0; u < k; u++)
            t += w[u] * a[i * s + u];
        b[i] = t;
    }
}
void f(const float *restrict a, const float *restrict w, float *restrict b)
{
    int k = 5;
#pragma scop
    for (int t = 0; t < 10; t++) {
        filter(500, k, 1, a, w, b);
        filter(250, k, 2, a, w, b);
    }
#pragma endscop
}
"""
    (region,) = read("t.c", InputOptions(), text=text).regions
    assert supposed(region.scop) == {"k": 5}
    (region,) = read("t.c", InputOptions(), text=text.replace("500", "6").replace("250", "7")).regions
    assert not region.scop.supposed  # no loop is long
