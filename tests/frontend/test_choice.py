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
    found = region_of(text, folder).scop
    return found.whole or found  # each iteration in its place


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


def test_where_the_largest_was(tmp_path: Path) -> None:
    body = "{ int at = 0; double m = a[0]; for (int j = 1; j < n; j++) if (a[j] > m) { m = a[j]; at = j; } k[i] = at; }"
    found = list(scop_of(body, tmp_path).statements.values())
    assert not any(one.opaque for one in found)
    printed = ["".join(statement(one.body, 0)) for one in found]
    assert printed[2:4] == ["at = a[j] > m ? j : at;", "m = a[j] > m ? a[j] : m;"]


@pytest.mark.parametrize(
    "body",
    [
        "{ int at; if (a[i] > c[0]) { c[0] = a[i]; at = i; } k[i] = at; }",  # it may have no value
        "{ int at = 0; if (a[i] > c[0]) { c[0] = a[i]; at += i; } k[i] = at; }",
        "{ int at = 0; if (a[i] > c[0]) { c[0] = a[i]; at = k[i]; } k[i] = at; }",  # an element that may not be there
        "{ double at = 0; if (a[i] > c[0]) { c[0] = a[i]; at = c[0]; } b[i] = at; }",
        "{ int at = 0; if (a[i] > c[0]) { c[0] = a[i]; at = i; } else at = 1; k[i] = at; }",
        "{ int at = 0; if (a[i] > c[0]) { c[0] = a[i]; k[0] = i; } }",
        "{ int at = 0; if (a[i] > c[0]) { c[0] = a[i]; at = z; } k[i] = at; }",  # rounded to a whole number
    ],
)
def test_not_where_the_largest_was(body: str, tmp_path: Path) -> None:
    found = scop_of(body, tmp_path).statements.values()
    assert any(one.opaque for one in found)


@pytest.mark.parametrize(
    "body",
    [
        "if (a[i + 1] < a[i]) { double kept = a[i]; a[i] = a[i + 1]; a[i + 1] = kept; }",
        "if (a[i + 1] < a[i]) { t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; }",
        "if (h[i + 1] < h[i]) { int kept = h[i]; h[i] = h[i + 1]; h[i + 1] = kept; }",
    ],
)
def test_elements_put_in_order(body: str, tmp_path: Path) -> None:
    found = scop_of(f"{{ double t; {body} }}", tmp_path).statements.values()
    assert not any(one.opaque for one in found)
    assert not any(a.kind is AccessKind.MAY_WRITE for one in found for a in one.accesses)
    first, second, third = ("".join(statement(one.body, 0)) for one in found)
    kept, array = first.split(" = ")[0], "h" if "h[" in body else "a"
    assert second == f"{array}[i] = {array}[i + 1] < {array}[i] ? {array}[i + 1] : {array}[i];"
    assert third == f"{array}[i + 1] = {array}[i + 1] < {kept} ? {kept} : {array}[i + 1];"


@pytest.mark.parametrize(
    "body",
    [
        "if (a[i + 1] < a[i]) { float kept = a[i]; a[i] = a[i + 1]; a[i + 1] = kept; }",  # rounded
        "if (a[i + 1] < c[i]) { double kept = a[i]; a[i] = a[i + 1]; a[i + 1] = kept; }",
        "if (a[i + 1] != a[i]) { double kept = a[i]; a[i] = a[i + 1]; a[i + 1] = kept; }",
        "if (a[i + 1] < a[i]) { double kept = a[i]; a[i] = a[i + 1]; a[i + 1] = kept; h[i] = 1; }",
        "if (a[i + 1] < a[i]) { double kept = a[i]; a[i] = a[i + 1]; a[i + 1] = kept; } else a[i] = 0;",
        "if (a[i + 1] < a[i]) { t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; } c[i] = t;",  # it is read behind it
        "if (h[h[i]] < h[i]) { int kept = h[h[i]]; h[h[i]] = h[i]; h[i] = kept; }",  # it moves where the other one is
    ],
)
def test_not_put_in_order(body: str, tmp_path: Path) -> None:
    found = scop_of(f"{{ double t = 0; {body} }}", tmp_path).statements.values()
    assert any(one.opaque for one in found)


@pytest.mark.parametrize(
    "body",
    [
        "if (a[i] > c[0]) c[0] = a[i] + 1;",  # another value
        "if (a[i] > c[0]) c[0] += a[i];",
        "if (a[i] != c[0]) c[0] = a[i];",
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


@pytest.mark.parametrize(
    "body",
    [
        "if (a[i] > z) c[i] = a[i]; else c[i] = 0;",
        "if (a[i] > z) { k[i] = 1; c[i] = a[i]; } else if (a[i] > 1) c[i] = 1; else { c[i] += 2; h[i] = 2; }",
        "if (a[i] > z) { if (i > 3) h[i] = 1; c[i] = 2; } else { c[i] = a[i]; c[i] = c[i] + b[i]; }",
    ],
)
def test_written_on_each_way(body: str, tmp_path: Path) -> None:
    (only,) = scop_of(body, tmp_path).statements.values()
    assert only.opaque
    kinds = {a.array: a.kind for a in only.accesses if a.kind is not AccessKind.READ}
    assert kinds.pop("c") is AccessKind.WRITE
    assert set(kinds.values()) <= {AccessKind.MAY_WRITE}


@pytest.mark.parametrize(
    "body",
    [
        "if (a[i] > z) c[i] = a[i]; else c[i + 1] = 0;",
        "if (a[i] > z) c[i] = a[i]; else if (a[i] > 1) c[i] = 0;",
        "if (a[i] > z) c[i] = a[i]; else k[i] = c[i];",
        "{ int t = k[i]; if (a[i] > z) c[t] = a[i]; else c[t] = 0; }",
        "if (b[i] > 1) { if (a[i] > z) c[i] = a[i]; } else c[i] = 1;",
        "for (int j = 0; j < k[i]; j++) { if (a[j] > z) { if (b[j] > 1) break; c[i] = 1; } else c[i] = 2; }",
    ],
)
def test_not_written_on_each_way(body: str, tmp_path: Path) -> None:
    found = scop_of(body, tmp_path).statements.values()
    kinds = {a.kind for one in found for a in one.accesses if a.array == "c"} - {AccessKind.READ}
    assert AccessKind.WRITE not in kinds


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("if (i > 2 && a[i] > z) c[i] = 1;", 3),
        ("if (a[i] > z && i > 2) c[i] = 1;", 3),
        ("if (i > 1 && (i > 2 && a[i] > z)) { c[i] = 1; k[i] = 2; }", 3),
        ("if (i > 2 && rand() > 3 && i > 5) c[i] = 1;", 3),  # it is called for i = 3
        ("if (k[i]++ > 2 && i > 2) c[i] = 1;", 0),
        ("if (i > 2 && a[i] > z) c[i] = 1; else c[i] = 2;", 0),
        ("if (i > 2 || a[i] > z) c[i] = 1;", 0),
    ],
)
def test_what_is_affine_of_a_condition(body: str, first: int, tmp_path: Path) -> None:
    """The first iteration in which the statement runs."""
    (only,) = scop_of(body, tmp_path).statements.values()
    assert only.domain.dim_min_val(0).to_python() == first
