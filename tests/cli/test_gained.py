"""Regions that nobody marked: what is too small for threads is compiled where loops changed for the sake of vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

import polyc
from polyc.cli.run import no_gain
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

HEAD = "#define N 2500\ndouble a[N], b[N], c[N], d[9][N], e[9][N];\n"


def reason(loops: str, folder: Path) -> str | None:
    file = folder / "t.c"
    file.write_text(f"{HEAD}void f(void)\n{{\n    {loops}\n}}\n")
    (region,) = read(str(file), InputOptions(detect=True)).regions
    return no_gain(compile_region(region, Options()))


@pytest.mark.parametrize(
    "loops",
    [
        "for (int i = 0; i < N; i++) for (int j = 1; j < 9; j++) d[j][i] = d[j - 1][i] + e[j][i];",
        "for (int i = 1; i < N; i++) { a[i] = b[i] * 2 + c[i]; c[i] = c[i - 1] * 0.5 + b[i]; }",
    ],
    ids=["changed places", "parted"],
)
def test_other_vector_loops(loops: str, tmp_path: Path) -> None:
    assert reason(loops, tmp_path) is None


def test_the_same_vector_loop(tmp_path: Path) -> None:
    found = reason("for (int i = 0; i < N; i++) a[i] = b[i] + 1;", tmp_path)
    assert found is not None
    assert found.startswith("nothing would be gained: threads would take longer")


def test_loops_that_end_where_two_values_meet(tmp_path: Path) -> None:
    """gcc makes no vectors of what stays as written below the question how many threads there are."""
    file = tmp_path / "t.c"
    file.write_text(
        "struct one { int k; float value; };\n"
        "void f(unsigned n, float e, float *s, const struct one *p)\n"
        "{\n    for (unsigned i = 0; i != n; i++)\n        s[i] += e * p[i].value;\n}\n"
    )
    (region,) = read(str(file), InputOptions(detect=True)).regions
    found = no_gain(compile_region(region, Options()))
    assert found == "only threads would be gained, and vectors lost: its head has '!=' (write '<')"
    file.write_text(file.read_text().replace("!=", "<"))
    (region,) = read(str(file), InputOptions(detect=True)).regions
    assert no_gain(compile_region(region, Options())) is None


REFLECTED = """#include <math.h>
static void reflect(double *a, double *tau, int m, int n)
{
    for (int k = 0; k < n; k++) {
        double v = a[k * n + k];
        if (v == 0) { tau[k] = 0; continue; }
        for (int j = k + 1; j < n; j++) {
            double s = a[k * n + j];
            for (int i = k + 1; i < m; i++)
                s += a[i * n + k] * a[i * n + j];
            for (int i = k + 1; i < m; i++)
                a[i * n + j] -= s * a[i * n + k];
        }
    }
}
double f(double *a, double *b, double *tau, int m, int n)
{
    double sum = 0;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < m; i++)
            b[i] = i % 11 - 5;
        reflect(a, tau, m, n);
        for (int i = 0; i < n; i++)
            sum += tau[i] * b[i];
    }
    return sum;
}
"""


def test_what_is_a_region_in_a_function_is_no_text_in_its_caller(tmp_path: Path) -> None:
    """The body of `k` is one statement in the place of the call: a branch around loops that data decide on."""
    file = tmp_path / "t.c"
    file.write_text(REFLECTED)
    found = polyc.compile(file, detect=True)
    _, caller = found.text.split("double f(")
    assert "s_of[j - jt] += " in found.text
    assert caller.count("reflect(a, tau, m, n);") == 1
    assert "* n + k]" not in caller


def test_a_marked_region_of_which_nothing_is_gained_stays() -> None:
    loops = "for (int i = 1; i < n; i++) a[i] = a[i - 1] * 0.5 + b[i];"
    text = polyc.compile(
        f"void f(int n, double *a, double *b)\n{{\n#pragma scop\n    {loops}\n#pragma endscop\n}}\n"
    ).text
    assert "f: left as it was written" in text
    assert loops in text


def test_what_stays_has_its_macros_and_comments() -> None:
    """As they stand in the file; without pragmas that ask polyc for something, and braces that would hide a name."""
    text = polyc.compile(
        "#define N 90\ndouble a[N];\nvoid f(void)\n{\n    int i;\n    #pragma scop\n    #pragma polyc tile(4)\n"
        "    for (i = 1; i < N; i++) /* one after the other */\n        a[i] += a[i - 1];\n    #pragma endscop\n}\n"
    ).text
    assert "    for (i = 1; i < N; i++) /* one after the other */\n        a[i] += a[i - 1];\n}\n" in text
    assert "#pragma" not in text


def test_several_nests_of_which_nothing_is_gained_stay() -> None:
    nests = "    for (int i = 1; i < n; i++) /* one */\n        a[i] += a[i - 1];\n"
    nests += "    for (int i = 1; i < n; i++) /* the other */\n        b[i] += b[i - 1] * b[k[i]];\n"
    text = polyc.compile(
        f"void f(int n, double *a, double *b, int *k)\n{{\n#pragma scop\n{nests}#pragma endscop\n}}\n"
    ).text
    assert nests in text
