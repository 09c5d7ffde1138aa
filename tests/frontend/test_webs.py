"""Scalars that hold several values in turn: a variable for each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polyc.model.scop import Scop, Storage
from tests.programs import compiled

from .conftest import Modeller

HEAD = "void use(double *);\ndouble f(int n, double s, double *a, double (*c)[100], int *d)"
SQUARES = "for (j = 0; j < n; j++) { t = c[i][j]; c[i][j] = t * t; }"
TWICE = f"for (i = 0; i < n; i++) {{ t = a[i]; a[i] = t * t; {SQUARES} }}"


def program(body: str, inside: str = "int i, j; double t;", after: str = "return 0;") -> str:
    return f"{HEAD}\n{{\n{inside}\n#pragma scop\n{body}\n#pragma endscop\n{after}\n}}\n"


def scalars(found: Scop) -> dict[str, Storage]:
    names = {a.array for s in found.statements.values() for a in s.accesses}
    return {name: found.arrays[name].storage for name in sorted(names) if not found.arrays[name].rank}


@pytest.mark.parametrize(
    ("body", "inside", "webs"),
    [
        (TWICE, "int i, j; double t;", {"t", "t_2"}),
        (TWICE, "int i, j; static double t;", {"t", "t_2"}),
        (re.sub(r"\bt\b", "s", TWICE), "int i, j;", {"s", "s_2"}),
        (
            "for (i = 0; i < n; i++) { t = a[i]; a[i] = t * t; t = c[i][0]; c[i][0] = t * t; }",
            "int i; double t;",
            {"t", "t_2"},
        ),
        (
            "for (i = 0; i < n; i++) { t = a[i]; a[i] = t * t; } for (i = 0; i < n; i++) { t = a[i]; a[i] = t * t; }",
            "int i; double t;",
            {"t", "t_2"},
        ),
        (
            f"for (i = 0; i < n; i++) {{ double t; t = a[i]; a[i] = t * t; {SQUARES} }}",
            "int i, j;",
            {"t", "t_2"},
        ),
        (
            f"for (i = 0; i < n; i++) {{ if (i < 5) t = 1; else t = 2; a[i] = t * t; {SQUARES} }}",
            "int i, j; double t;",
            {"t", "t_2"},
        ),
    ],
    ids=["inner loop", "static", "argument", "same block", "two loops", "declared inside", "by a condition"],
)
def test_each_has_a_variable(body: str, inside: str, webs: set[str], scop: Modeller) -> None:
    found = scalars(scop(program(body, inside)))
    assert found == dict.fromkeys(sorted(webs), Storage.REGION)


def test_a_value_that_is_changed_in_place_stays_one(scop: Modeller) -> None:
    body = TWICE.replace("a[i] = t * t;", "t = t * 2; t *= 3; a[i] = t * t;")
    assert set(scalars(scop(program(body)))) == {"t", "t_2"}


@pytest.mark.parametrize(
    ("body", "inside", "after"),
    [
        (
            "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) { t = c[i][j]; c[i][j] = t * t; } a[i] = t; }",
            "int i, j; double t = 0;",
            "return 0;",
        ),
        ("for (i = 0; i < n; i++) { a[i] = t; t = a[n - i]; a[i] += t; }", "int i; double t = 0;", "return 0;"),
        ("for (i = 0; i < n; i++) { t = a[i]; a[i] = t * t; }", "int i; double t = 0;", "return t;"),
        ("for (i = 0; i < n; i++) { t = a[i]; a[i] = t * t; }", "int i; double t = 0; use(&t);", "return 0;"),
        ("for (i = 0; i < n; i++) { if (d[i]) t = a[i]; a[i] = t * t; }", "int i; double t = 0;", "return 0;"),
        (
            "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) { if (j) c[i][j] = t; t = c[i][j]; } }",
            "int i, j; double t = 0;",
            "return 0;",
        ),
    ],
    ids=["read behind", "read before", "read after", "address", "not always", "next iteration"],
)
def test_what_stays(body: str, inside: str, after: str, scop: Modeller) -> None:
    assert scalars(scop(program(body, inside, after))) == {"t": Storage.LOCAL}


def test_a_part_of_it_stays(scop: Modeller) -> None:
    """What is read after the region comes from the variable itself."""
    found = scop(program(f"{TWICE} t = 0; for (i = 0; i < n; i++) {{ t = a[i]; a[i] = t * t; }}", after="return t;"))
    assert scalars(found) == {"t": Storage.LOCAL, "t_2": Storage.REGION, "t_3": Storage.REGION}
    assert found.live_out >= {"t"}
    assert [one.name for one in found.walked] == ["t"]


def test_a_name_that_is_declared_anew(tmp_path: Path) -> None:
    """Of the user's variable, which nothing uses any more, is told before a variable of the region hides it."""
    text = """
void f(int n, double *restrict a, double *restrict b)
{
    double t;
#pragma scop
    for (int i = 0; i < n; i++)
        b[i] = a[i] * a[i + 1];
    for (int i = 1; i < n; i++) {
        t = a[i] + b[i - 1];
        a[i - 1] = t * t;
        for (int z = 0; z < 1; z++) {
            t = a[i];
            a[i - 1] += t * t;
        }
    }
#pragma endscop
}
"""
    printed = compiled(text, tmp_path, target="c", fuse="max", tile_sizes=None).text
    assert "double t_2 = 0;" in printed
    assert "(void)t; /* only the original loops used it */" in printed


@pytest.mark.parametrize("value", ["a[i] * 2", "sqrt(a[i])"])
def test_a_value_that_nobody_reads_is_left_out(value: str, scop: Modeller) -> None:
    """Compilers warn of a variable for it."""
    body = f"for (i = 0; i < n; i++) {{ if (a[i] > 0) {{ t = {value}; }} t = c[i][0]; a[i] = t * t; {SQUARES} }}"
    found = scop(f"double sqrt(double);\n{program(body)}")
    assert not any(s.opaque for s in found.statements.values())
    assert [access.array for s in found.statements.values() for access in s.accesses].count("a") == 1


def test_a_value_with_an_effect_stays(scop: Modeller) -> None:
    body = "for (i = 0; i < n; i++) { t = d[i]++; t = c[i][0]; a[i] = t * t; }"
    found = scop(program(body, "int i; double t;"))
    assert any(access.array == "d" for s in found.statements.values() for access in s.accesses)
