"""Strides and steps of which nobody knows the value: for which numbers a region is modelled, and where it is not."""

from __future__ import annotations

import pytest

from polyc.codegen.text.printer import expression
from polyc.frontend import read
from polyc.model.program import InputOptions
from polyc.model.scop import Scop

from .conftest import Modeller

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


def test_what_each_call_passes_is_taken() -> None:
    text = loops("{ int x = i * s + j * d; if (x < m) b[i] += a[x]; }").replace("void f(", "static void f(")
    head = "void g(struct layer l, const float *a, float *b) "
    call = head + "{{ f(9, 9, {s}, {d}, 1, l, a, b); f(8, 8, 2, 3, 1, l, a, b); }}"
    (region,) = read("t.c", InputOptions(), text=text + call.format(s=2, d="1 + 2")).regions
    assert supposed(region.scop) == {"s": 2, "d": 3}
    assert region.scop.general is None  # no call has others
    (region,) = read("t.c", InputOptions(), text=text + call.format(s=1, d=3)).regions
    assert supposed(region.scop) == {"d": 3, "s": 1}
    assert region.scop.general is not None
    (region,) = read("t.c", InputOptions(), text=text + call.format(s=1, d=3).replace("2, 3, 1", "500, 3, 1")).regions
    assert supposed(region.scop) == {"d": 3, "s": 1}
