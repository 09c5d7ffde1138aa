"""Steps of loops that have a name: a constant, or a variable that is given one value before the loops."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polyc.codegen import render_file
from polyc.frontend import read
from polyc.model import ctree as c
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.programs import compiled, run_alike

from .conftest import Modeller

REGION = """{before}
void f(int n, int m, double *a)
{{
    {inside}
#pragma scop
    for (int i = 0; i < n; i {step}) {{
        a[i] = i;{more}
    }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("before", "inside", "step"),
    [
        ("", "const int bs = 3;", "+= bs"),
        ("", "int bs = 3;", "+= bs"),
        ("", "int bs; bs = 3;", "= i + bs"),
        ("static const int bs = 3;", "", "= bs + i"),
        ("enum { bs = 3 };", "", "+= bs"),
        ("", "const int one = 1; int bs = 2;", "+= bs + one"),
        ("", "int bs = ~0u >> 30;", "+= bs"),
        ("", "int bs = 7u / -1 + 03;", "+= bs"),
        ("", "const unsigned char bs = 259;", "+= bs"),
        ("enum { bs = (unsigned char)259 };", "", "+= bs"),
        ("enum { bs = -1 < 0u ? 4 : sizeof(int) - 8 > 9 ? !0 + 2 : 5 };", "", "+= bs"),
    ],
)
def test_a_name_that_has_one_value(before: str, inside: str, step: str, scop: Modeller) -> None:
    found = scop(REGION.format(before=before, inside=inside, step=step, more=""))
    domain = found.statements["S0"].domain.intersect_params(found.context)
    assert domain.is_equal(
        type(domain)("[n] -> { S0[i] : 0 <= i < n and i mod 3 = 0 }").intersect_params(found.context)
    )


@pytest.mark.parametrize(
    ("before", "inside", "more"),
    [
        ("", "int bs = m;", ""),
        ("int bs = 3;", "", ""),
        ("", "int bs = 3; if (m) bs = 4;", ""),
        ("", "int bs = 3;", " bs = 2;"),
        ("", "volatile int bs = 3;", ""),
        ("", "int bs; int *p = &bs; bs = 3; *p = m;", ""),
    ],
)
def test_others_are_not_known(before: str, inside: str, more: str, read_text: object, tmp_path: Path) -> None:
    text = REGION.format(before=before, inside=inside, step="+= bs", more=more).replace("#pragma scop\\n", "")
    file = tmp_path / "t.c"
    file.write_text(text.replace("#pragma scop", "").replace("#pragma endscop", ""))
    source = read(str(file), InputOptions(detect=True))
    changes = bool(more) or "volatile" in inside
    assert bool(source.left) is changes
    for region in source.regions:
        assert not changes
        (quotient,) = [p for p in region.scop.parameters if isinstance(p.expr, c.Ternary)]
        domain = region.scop.statements["S0"].domain
        assert "mod" not in str(domain)
        assert quotient.name in domain.get_var_names(isl.dim_type.param)


def test_the_name_of_a_step_is_a_number_in_each_check(tmp_path: Path) -> None:
    """What runs the region and the text knows it, too: `bs` has no declaration in either."""
    text = REGION.format(before="", inside="int bs = 3;", step="+= bs", more="").replace("void f", "void g")
    assert "i += 3" in compiled(text, tmp_path).text


@pytest.mark.parametrize("step", ["+= (unsigned char)259", "+= (_Bool)259", "-= 0u - 3"])
def test_a_step_that_a_conversion_changes(step: str, scop: Modeller) -> None:
    """It is no step of 259, nor of 3: the loop is kept as it is."""
    (statement,) = scop(REGION.format(before="", inside="", step=step, more="")).statements.values()
    assert statement.opaque


TEXT = """#include <stdio.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void product(int n, const double *a, const double *b, double *c)
{
    const int bs = 8;
    for (int ii = 0; ii < n; ii += bs)
        for (int jj = 0; jj < n; jj += bs)
            for (int kk = 0; kk < n; kk += bs)
                for (int i = ii; i < MIN(ii + bs, n); i++)
                    for (int j = jj; j < MIN(jj + bs, n); j++)
                        for (int k = kk; k < MIN(kk + bs, n); k++)
                            c[i * n + j] += a[i * n + k] * b[k * n + j];
}
void turn(int n, const double *a, double *b)
{
    int blk = 5;
    for (int i = 0; i < n; i += blk)
        for (int j = 0; j < n; j += blk)
            for (int x = i; x < i + blk && x < n; x++)
                for (int y = j; y < j + blk && y < n; y++)
                    b[y * n + x] = a[x * n + y];
}
int main(void)
{
    static double a[2500], b[2500], c[2500];
    for (int n = 0; n < 50; n += 7) {
        for (int i = 0; i < 2500; i++) a[i] = i % 7 - 3, b[i] = i % 5 - 2, c[i] = i % 3;
        product(n, a, b, c);
        turn(n, c, n == 21 ? c + 3 : a);
        double sum = 0;
        for (int i = 0; i < 2500; i++) sum += (a[i] + 2 * c[i]) * (i % 17);
        printf("%.17g\\n", sum);
    }
    return 0;
}
"""


@pytest.mark.slow
def test_the_same_values(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(TEXT.replace('\n");', '\\n");'))
    text = file.read_text()
    source = read(str(file), InputOptions(detect=True))
    regions = [compile_region(region, Options(threads="always")) for region in source.regions]
    assert {region.program.scop.function for region in regions} >= {"product", "turn"}
    run_alike(text, render_file(source, regions), tmp_path)


@pytest.mark.parametrize(
    ("step", "loops", "body"),
    [
        (4, 3, "s += a[i][k] * w[k][j]; s += a[i][k + 1] * w[k + 1][j]; s += a[i][2 + k] * w[k + 2][j];"
         "s += a[i][k + 3] * w[k + 3][j];"),
        (2, 3, "s += a[i][k] * w[k][j]; s += a[i][k + 1] * w[1 + k][j];"),
        (2, 3, "s += a[i][k] * w[k][j]; s += a[i][k + 1] * w[k][j];"),  # not the same
        # 5 does not divide 64
        (5, 3, "s += a[i][k] * w[k][j];" + "".join(f"s += a[i][k + {m}] * w[k + {m}][j];" for m in range(1, 5))),
    ],
)  # fmt: skip
def test_loops_that_were_unrolled(step: int, loops: int, body: str, tmp_path: Path) -> None:
    text = f"""enum {{ K = 64 }};
void mm(float a[40][K + 8], float w[K + 8][40], float y[40][40])
{{
#pragma scop
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++) {{
            float s = 0;
            for (int k = 0; k < K; k += {step}) {{ {body} }}
            y[i][j] = s;
        }}
#pragma endscop
}}
"""
    result = compiled(text, tmp_path)
    assert result.passed
    inner = [s for s in result.program.scop.statements.values() if len(s.loops) == loops]
    rolled = 64 % step == 0 and "w[k][j]; s += a[i][k + 1] * w[k][j]" not in body
    assert len(inner) == (1 if rolled else step)
