"""Loops that threads share though isl, or C, says one after the other: parallel loops inside of each other, whole
numbers added into cells that data choose, and the file's own functions in kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen.gpu import printer
from polyc.codegen.gpu.device.words import NoKernelForm
from polyc.model.program import Options
from tests.gpu.test_kernels import TARGETS, assert_same
from tests.programs import compiled, region_of

POOL = """
void pool(int n, int c, int h, int w, float in[n][c][2 * h][2 * w], float out[n][c][h][w])
{
#pragma scop
    for (int b = 0; b < n; b++)
        for (int k = 0; k < c; k++)
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++) {
                    float m = -1e30f;
                    for (int u = 0; u < 2; u++)
                        for (int v = 0; v < 2; v++) {
                            float p = in[b][k][2 * y + u][2 * x + v];
                            if (p > m)
                                m = p;
                        }
                    out[b][k][y][x] = m;
                }
#pragma endscop
}
"""
BORDER = """
void border(int n, int m, float a[n][m], float b[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i][j] = 2 * a[i][j];
    for (int i = 0; i < n; i++)
        b[i][0] = b[i][1];
#pragma endscop
}
"""
ESCAPE = """
void escape(int most, unsigned char out[300][4096])
{
#pragma scop
    for (int y = 0; y < 300; y++)
        for (int x = 0; x < 4096; x++) {
            float a = 0.001f * x, z = 0;
            int k = 0;
            while (k < most && z < 4.0f) {
                z = z * z + a;
                k++;
            }
            out[y][x] = k;
        }
#pragma endscop
}
"""
HISTOGRAM = """
void histogram(int h, int w, unsigned char px[h][w], int bins[256], unsigned sums[16])
{
#pragma scop
    for (int k = 0; k < 256; k++)
        bins[k] = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            bins[px[y][x]]++;
            sums[px[y][x] & 15] -= px[y][x];
        }
#pragma endscop
}
"""
OTHER_SUMS = {
    "floats": ("double s[256]", "s[px[i]] += 0.5"),
    "bytes": ("unsigned char s[256]", "s[px[i]]++"),
    "products": ("int s[256]", "s[px[i]] *= 3"),
    "read": ("int s[256]", "s[px[i]] += s[i % 256]"),
}
PADDED = """
void conv(float x[2][1][14][28], float w[64][1][3][3], float b[64], float t[2][64][14][28])
{
#pragma scop
    for (int n = 0; n < 2; n++)
        for (int o = 0; o < 64; o++)
            for (int i = 0; i < 14; i++)
                for (int j = 0; j < 28; j++) {
                    float s = b[o];
                    for (int r = 0; r < 3; r++)
                        for (int q = 0; q < 3; q++) {
                            int y = i - 1 + r, z = j - 1 + q;
                            if (y < 0 || y >= 14 || z < 0 || z >= 28)
                                continue;
                            s += x[n][0][y][z] * w[o][0][r][q];
                        }
                    t[n][o][i][j] = s;
                }
#pragma endscop
}
"""
TRANSPOSED = """
void up(float d[2][8][2][56], float w[8][64][2][2], float y[2][64][4][112])
{
#pragma scop
    for (int n = 0; n < 2; n++) {
        for (int u = 0; u < 64; u++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 112; j++)
                    y[n][u][i][j] = 0;
        for (int o = 0; o < 8; o++)
            for (int u = 0; u < 64; u++)
                for (int i = 0; i < 2; i++)
                    for (int j = 0; j < 56; j++)
                        for (int r = 0; r < 2; r++)
                            for (int q = 0; q < 2; q++)
                                y[n][u][2 * i + r][2 * j + q] += d[n][o][i][j] * w[o][u][r][q];
    }
#pragma endscop
}
"""
FEW_THREADS = {
    "stages": (
        "void f(unsigned key[64][1024])",
        """for (int k = 2; k <= 1024; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1)
            for (int r = 0; r < 64; r++)
                for (int i = 0; i < 1024; i++)
                    if ((i ^ j) > i && (key[r][i] > key[r][i ^ j]) == ((i & k) == 0))
                        key[r][i] = key[r][i ^ j];""",
        "the loops of S0 run in order, on one thread",
    ),
    "cells that data choose": (
        "void f(int n, float x[n], float v[n], float out[8][512])",
        """for (int c = 0; c < 8; c++)
        for (int s = 0; s < n; s++) {
            int k = (int)x[s];
            if (k >= 0 && k < 512)
                out[c][k] += v[s];
        }""",
        "runs in order, which hands on out, on 8 threads",
    ),
}
FEW_THREADS["a counter"] = (
    "void f(int n, int m, float x[n][m], float y[n][m], int *hits)",
    """for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < m; k++)
                s += x[i][k] * x[j % 8][k];
            if (s > 127) {
                s = 127;
                (*hits)++;
            }
            y[i][j] = s;
        }""",
    "runs in order, which hands on hits, on one thread",
)
FEW_BESIDE_MANY = """
void f(int n, int m, int key[64], float a[n][m])
{
#pragma scop
    for (int k = 2; k <= 64; k <<= 1)
        for (int i = 0; i < 64; i++)
            if (key[i] > key[i / k])
                key[i / k] = key[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= 2;
#pragma endscop
}
"""
CALLS = """
#include <math.h>
static inline float lower(float x, float least) { return x < least ? least : x; }
static float share(float d)
{
    float k = 1.0f / (1.0f + 0.25f * fabsf(d));
    double s = 0;
    for (int i = 0; i < 3; i++)
        s += sqrt(k + i);
    if (d > 1)
        s = 1 - s;
    return (float)s * lower(d, 0.5f);
}
void shares(int n, float *x, float *y)
{
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] = share(x[i] * 3 - 2) + share(x[i]);
#pragma endscop
}
"""
NOT_PLAIN = {
    "a table": "float t[4];\nstatic float f(int k) { float r = 0; while (k) r += t[k--]; return r; }",
    "state": "static float f(int k) { static int calls; calls += k; return calls; }",
    "pointers": "static float f(int k) { float v[2]; float *p = v; p[0] = k; if (k > 2) p[0] = 3; return p[0]; }",
    "itself": "static float f(int k) { if (k < 2) return 1; return k * f(k - 1); }",
}


def test_all_parallel_loops_are_dealt_out(tmp_path: Path) -> None:
    """isl carries what is left of private values in no loop, and the order that was written stays: its loops are
    parallel, all four."""
    text = compiled(POOL, tmp_path, target="cuda").device[0]
    for loop in ("x = xt + tx", "y = yt + ty", "kt = bz", "bt = bx /"):
        assert f"for (index {loop}" in text


def test_a_border_leaves_the_inside_its_threads(tmp_path: Path) -> None:
    text = compiled(BORDER, tmp_path, target="cuda").device[0]
    assert text.count("__global__") == 2
    assert "for (index j = jt + tx;" in text


def test_a_loop_that_computes_has_a_thread_for_each_iteration(tmp_path: Path) -> None:
    """Neighbours in memory would save nothing that it waits for."""
    result = compiled(ESCAPE, tmp_path, target="cuda")
    assert result.passed
    assert "coalesced" not in {remark.code for remark in result.program.remarks}


def test_whole_numbers_are_added_at_once(tmp_path: Path) -> None:
    result = compiled(HISTOGRAM, tmp_path, target="cuda")
    assert result.passed
    assert "atomicAdd(&bins[px[y * w + x]], 1);" in result.device[0]
    assert "atomicAdd(&sums[px[y * w + x] & 15], -px[y * w + x]);" in result.device[0]
    assert "atomic_add(&bins[px[y * w + x]], 1);" in compiled(HISTOGRAM, tmp_path, target="opencl").device[0]


@pytest.mark.parametrize("name", OTHER_SUMS)
def test_other_sums_keep_their_order(name: str, tmp_path: Path) -> None:
    declared, update = OTHER_SUMS[name]
    head = f"void f(int n, unsigned char px[n], {declared})"
    text = f"{head} {{\n#pragma scop\nfor (int i = 0; i < n; i++) {update};\n#pragma endscop\n}}\n"
    for reassociate in (False, True):
        result = compiled(text, tmp_path, target="cuda", reassociate=reassociate)
        assert result.passed
        assert not any("atomic" in kernels for kernels in result.device)  # one thread alone is left to the CPU


def test_functions_of_the_file(tmp_path: Path) -> None:
    """What they call comes first, and has the region's name: another region may have it too."""
    (text,) = compiled(CALLS, tmp_path, target="cuda").device
    first = text.index("static __device__ float shares_16_lower(float x, float least)")
    second = text.index("static __device__ float shares_16_share(float d)")
    assert first < second < text.index("__global__")
    assert "sqrt((double) (k + i))" in text
    assert "shares_16_share(x[i] * 3 - 2)" in text


@pytest.mark.parametrize("name", FEW_THREADS)
def test_few_threads_are_left_to_the_cpu(name: str, tmp_path: Path) -> None:
    head, loops, why = FEW_THREADS[name]
    result = compiled(f"{head}\n{{\n#pragma scop\n    {loops}\n#pragma endscop\n}}\n", tmp_path, target="cuda")
    assert not result.device
    (message,) = (remark.message for remark in result.program.remarks if remark.code == "not-mapped")
    assert why in message


def test_few_threads_beside_many(tmp_path: Path) -> None:
    assert compiled(FEW_BESIDE_MANY, tmp_path, target="cuda").device


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_functions_that_do_more_stay_on_the_cpu(name: str, tmp_path: Path) -> None:
    body = "#pragma polyc pure(f)\n#pragma scop\nfor (int i = 0; i < n; i++) y[i] = f(i);\n#pragma endscop"
    text = f"{NOT_PLAIN[name]}\nvoid g(int n, float y[n]) {{\n{body}\n}}\n"
    result = compiled(text, tmp_path, target="cuda")
    assert not result.device
    (why,) = (remark.message for remark in result.program.remarks if remark.code == "not-mapped")
    assert "cannot call f()" in why


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("text", [POOL, BORDER, ESCAPE, HISTOGRAM], ids=["pool", "border", "escape", "histogram"])
def test_same_values(text: str, target: str, tmp_path: Path) -> None:
    assert_same(region_of(text, tmp_path), Options(target=target))


@pytest.mark.slow
def test_same_values_of_functions(tmp_path: Path) -> None:
    assert_same(region_of(CALLS, tmp_path), Options(target="cuda"))


@TARGETS
@pytest.mark.parametrize("text", [PADDED, TRANSPOSED], ids=["from -1 on", "in steps of two"])
def test_an_index_for_loops_from_anywhere(text: str, target: str, tmp_path: Path) -> None:
    result = assert_same(region_of(text, tmp_path), Options(target=target))
    assert any("% 34 + -1;" in kernels or "2 * (c % 56)" in kernels for kernels in result.device)


def test_the_result_of_a_loop_of_one_iteration_is_in_registers(tmp_path: Path) -> None:
    """One image: the copies of a tile's result have its index, which no loop counts."""
    text = PADDED.replace("[2][1]", "[1][1]").replace("[2][64]", "[1][64]").replace("n < 2", "n < 1")
    result = assert_same(region_of(text, tmp_path), Options(target="cuda"))
    assert "register-tile" in {remark.code for remark in result.program.remarks}


def test_loops_of_a_form_that_no_kernel_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The pass that gave them this form is left out, before the region is left to the CPU."""

    def refused(*_: object) -> None:
        raise NoKernelForm("a form of its own")

    monkeypatch.setattr(printer, "linear_loop", refused)
    result = compiled(PADDED, tmp_path, target="cuda")
    assert result.passed
    assert result.device
    (told,) = (remark for remark in result.program.remarks if "left_out" in remark.data)
    assert told.message.endswith("no kernel (a form of its own); the pass registers was left out")
