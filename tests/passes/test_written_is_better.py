"""Nests that other people's programs have, of which an order or a form that polyc knows was slower than the written."""

from __future__ import annotations

import re
from pathlib import Path

from polyc.codegen import render_file
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.programs import compiled, region_of

OWN_PLACES = """
void f(double score[200][96], double trans[96][96], int back[200][96], int t)
{
#pragma scop
    double best[96];
    int arg[96];
    for (int j = 0; j < 96; j++) {
        best[j] = score[t][0] + trans[0][j];
        arg[j] = 0;
    }
    for (int i = 1; i < 96; i++)
        for (int j = 0; j < 96; j++) {
            double v = score[t][i] + trans[i][j];
            arg[j] = v > best[j] ? i : arg[j];
            best[j] = v > best[j] ? v : best[j];
        }
    for (int j = 0; j < 96; j++) {
        score[t + 1][j] = best[j];
        back[t][j] = arg[j];
    }
#pragma endscop
}
"""


def test_an_array_with_a_place_for_each_iteration_gets_no_other(tmp_path: Path) -> None:
    result = compiled(OWN_PLACES, tmp_path)
    assert result.verified
    assert not re.search(r"best\w*\[\d+\]\[\d+\]", result.text)


STREAM = """
enum { NX = 400, NY = 160, Q = 9 };
extern const int ex[Q], ey[Q];
void stream(double f[NX][NY][Q], double g[NX][NY][Q])
{
#pragma scop
    for (int x = 0; x < NX; x++)
        for (int y = 0; y < NY; y++)
            for (int i = 0; i < Q; i++)
                g[(x + ex[i] + NX) % NX][(y + ey[i] + NY) % NY][i] = f[x][y][i];
#pragma endscop
}
"""


def test_a_short_loop_stays_inside(tmp_path: Path) -> None:
    """It alone carries nothing, and goes through all of memory in each of its iterations where it is outermost."""
    text = compiled(STREAM, tmp_path).text
    assert text.index("x < 400") < text.index("i < 9")


KNOWN = """
static void nearest(const unsigned char *src, int sw, unsigned char *dst, int dw, int dh, int ch)
{
    for (int y = 0; y < dh; y++)
        for (int x = 0; x < dw; x++)
            for (int c = 0; c < ch; c++)
                dst[(y * dw + x) * ch + c] = src[(2 * y * sw + 2 * x) * ch + c];
}
static void polyval(const double *restrict x, double *restrict y, int n, const double *c, int deg)
{
    for (int i = 0; i < n; i++) {
        double v = c[deg];
        for (int k = deg - 1; k >= 0; k--)
            v = v * x[i] + c[k];
        y[i] = v;
    }
}
void both(const unsigned char *s, unsigned char *d, double *x, double *y, double *c)
{
    nearest(s, 1600, d, 800, 600, 3);
    polyval(x, y, 5000, c, 11);
}
"""


def test_loops_that_calls_make_short(tmp_path: Path) -> None:
    """Three channels are no vectors, and eleven terms are unrolled inside of a loop with them."""
    file = tmp_path / "t.c"
    file.write_text(KNOWN)
    source = read(str(file), InputOptions(detect=True))
    text = render_file(source, [compile_region(region, Options()) for region in source.regions])
    assert "omp simd" not in text[text.index("nearest") : text.index("void polyval")]
    assert "v_of" not in text


PATHS = """
void f(int dist[90][90])
{
#pragma scop
    for (int k = 0; k < 90; k++)
        for (int i = 0; i < 90; i++)
            for (int j = 0; j < 90; j++) {
                int d = dist[i][k] + dist[k][j];
                if (d < dist[i][j])
                    dist[i][j] = d;
            }
#pragma endscop
}
"""


def test_a_name_for_what_is_compared_is_no_obstacle(tmp_path: Path) -> None:
    """Each loop carries something where it is whole; cut at k, those inside carry nothing."""
    result = compiled(PATHS, tmp_path)
    assert result.verified
    assert len(re.findall(r"^ +polyc_(?:plain_)?simd$", result.text, re.MULTILINE)) >= 6


def test_two_products_into_one_result_have_a_register_tile_each(tmp_path: Path) -> None:
    """`g = W x + U h`, as the gates of a recurrent cell: joined in one loop nest, none would have one."""
    text = """
void cell(int b, int d, int h, int g, const float *restrict w, const float *restrict u, const float *restrict x,
          const float *restrict y, float *restrict out)
{
#pragma scop
    for (int n = 0; n < b; n++)
        for (int k = 0; k < g; k++) {
            float s = 0;
            for (int i = 0; i < d; i++)
                s += w[k * d + i] * x[n * d + i];
            for (int i = 0; i < h; i++)
                s += u[k * h + i] * y[n * h + i];
            out[n * g + k] = s;
        }
#pragma endscop
}
"""
    result = compile_region(region_of(text, tmp_path), Options())
    assert result.verified
    assert sum(remark.code == "register-tile" for remark in result.program.remarks) == 2
