"""`if (x > m) m = x;` is an assignment that always happens, where that changes no value."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen.text.printer import statement
from polyc.model.scop import AccessKind
from tests.programs import region_of

HEAD = "void f(int n, double a[n], float b[n], double c[n], int k[n], long *l, int h[n], double z)"


def scop_of(body: str, folder: Path):  # type: ignore[no-untyped-def]
    includes = "#include <math.h>\n#include <stdlib.h>\n"
    text = f"{includes}{HEAD} {{\n#pragma scop\nfor (int i = 0; i < n; i++)\n{body}\n#pragma endscop\n}}\n"
    return region_of(text, folder).scop


@pytest.mark.parametrize(
    ("body", "printed"),
    [
        ("if (a[i] > c[0]) c[0] = a[i];", "c[0] = a[i] > c[0] ? a[i] : c[0];"),
        ("if (c[i] <= a[i] * z) { c[i] = a[i] * z; }", "c[i] = c[i] <= a[i] * z ? a[i] * z : c[i];"),
        ("if (k[i] + 1 < h[0]) h[0] = k[i] + 1;", "h[0] = k[i] + 1 < h[0] ? k[i] + 1 : h[0];"),
        ("if (fabs(a[i]) > c[0]) c[0] = fabs(a[i]);", "c[0] = fabs(a[i]) > c[0] ? fabs(a[i]) : c[0];"),
        ("if (k[i] > b[i]) b[i] = k[i];", "b[i] = k[i] > b[i] ? k[i] : b[i];"),
    ],
)
def test_a_choice(body: str, printed: str, tmp_path: Path) -> None:
    (only,) = scop_of(body, tmp_path).statements.values()
    assert not only.opaque
    assert statement(only.body, 0) == [printed]
    assert [a.kind for a in only.accesses if a.kind is not AccessKind.READ] == [AccessKind.WRITE]


@pytest.mark.parametrize(
    "body",
    [
        "if (a[i] > c[0]) c[0] = a[i] + 1;",  # another value
        "if (a[i] > c[0]) c[0] += a[i];",
        "if (a[i] != c[0]) c[0] = a[i];",
        "if (a[i] > c[0]) c[0] = a[i]; else c[0] = 0;",
        "if (a[i] > h[0]) h[0] = a[i];",  # h[0] would become a double, and a whole number again
        "if (a[i] > l[0]) l[0] = a[i];",
        "if (rand() + a[i] > c[0]) c[0] = rand() + a[i];",
        "if (a[i] > c[k[i]]) c[k[i]] = a[i];",  # any element
    ],
)
def test_no_choice(body: str, tmp_path: Path) -> None:
    (only,) = scop_of(body, tmp_path).statements.values()
    assert only.opaque
    assert AccessKind.MAY_WRITE in {a.kind for a in only.accesses}
