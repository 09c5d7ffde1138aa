"""What a function's sizes always are, by its calls in the file."""

from __future__ import annotations

import pytest

from tests.frontend.conftest import Modeller

LOOPS = """
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = a[i] + m;
#pragma endscop
}
"""
STATIC = f"static void f(int n, int m, double a[n]){LOOPS}"
ENUM = "enum { N = 20 };\nstatic const int M = N / 2 + 1;\n"
KNOWN = [("n", 20), ("m", 3)]

CASES = [
    (STATIC, "void g(double *a) { f(20, 3, a); f(4 * 5, 3, a); }", KNOWN),
    (STATIC, "void g(double *a) { int n = 20, k = 3; f(n, k, a); }", KNOWN),
    (STATIC, "static void h(int k, double *a) { f(k, 3, a); }\nvoid g(double *a) { h(20, a); }", KNOWN),
    (ENUM + STATIC, "void g(double *a) { f(N, M, a); }", [("n", 20), ("m", 11)]),
    (STATIC.replace("static ", ""), "int main(void) { double a[20]; f(20, 3, a); return 0; }", KNOWN),
    (STATIC, "void g(double *a) { f(20, 3, a); f(21, 3, a); }", KNOWN[1:]),
    (STATIC, "void g(double *a, int k) { f(k, 3, a); }", KNOWN[1:]),
    (STATIC, "void g(double *a) { int n = 20; n++; f(n, 3, a); }", KNOWN[1:]),
    (STATIC, "void g(double *a) { int n = 20, *p = &n; *p = 1; f(n, 3, a); }", KNOWN[1:]),
    (STATIC, "void g(double *a) { for (int n = 20; n; n--) f(n, 3, a); }", KNOWN[1:]),
    (STATIC, "void g(double *a) { f(20, 3, a); }\nvoid (*const p)(int, int, double *) = f;", []),
    (STATIC, "void g(double *a) { f(20, 3, a); h(f); }", []),
    (STATIC.replace("{\n#pragma", "{\n    if (m) f(20, 3, a);\n#pragma"), "void g(double *a) { f(20, 3, a); }", []),
    (STATIC.replace("{\n#pragma", "{\n    m++;\n#pragma"), "void g(double *a) { f(20, 3, a); }", KNOWN[:1]),
    (STATIC.replace("static ", ""), "void g(double *a) { f(20, 3, a); }", []),
    (STATIC, "void g(double *a) { (void)a; }", []),
    ("static void f(unsigned char n, int m, double *a)" + LOOPS, "void g(double *a) { f(300, 3, a); }", KNOWN[1:]),
]


@pytest.mark.parametrize(("function", "callers", "known"), CASES)
def test_sizes(scop: Modeller, function: str, callers: str, known: list[tuple[str, int]]) -> None:
    found = scop(f"{function}\n{callers}\n")
    assert [(one.name, one.value) for one in found.always] == known


@pytest.mark.parametrize(
    ("argument", "extents"),
    [
        ("double a[n][m]", [(3,)]),
        ("double (*a)[m + n]", [(23,)]),
        ("const double a[n][2][m]", [(2, 3)]),
        ("double a[restrict n][m]", []),
        ("double a[n][3]", []),
        ("double **a", []),
        ("double a[n][k]", []),
    ],
)
def test_shapes(scop: Modeller, argument: str, extents: list[tuple[int, ...]]) -> None:
    places = "a[0][0][0]" if "[2]" in argument else "a[0][0]"
    body = f"{{\n#pragma scop\n    for (int i = 0; i < n; i++)\n        b[i] = {places};\n#pragma endscop\n}}"
    text = f"static void f(int n, int m, int k, {argument}, double *b)\n{body}\n"
    found = scop(f"{text}void g(int k, void *a, double *b) {{ f(20, 3, k, a, b); }}\n")
    assert [one.extents for one in found.shaped] == extents
