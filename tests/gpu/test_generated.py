"""Programs that generated ones came down to: wrong on a GPU, and right on a CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc import __version__
from polyc.codegen.gpu.render import render_device_files
from polyc.model.program import Options
from polyc.pipeline import compile_region
from tests.gpu.test_kernels import assert_same
from tests.programs import compiled, region_of

OVERLAP = """
void kernel(int n, float a[n + 5], float c[n])
{
    for (int i = 0; i < n; i++)
        a[i] = a[i] * 0.25f + 1.0f;
    for (int i = 2; i < n - 4; i++)
        c[i] = a[i] + a[i];
}
"""
HANDED_ON = """
void kernel(int n, double b[n], double c[n + 1][2])
{
    double v = 0;
#pragma scop
    for (long i = 0; i < n; i++) {
        v = b[i % 5];
        b[i] = v * 1.7 + c[i + 1][i / 2 - i / 2];
        for (long z = 0; z < 2; z++) {
            v = b[i % 5];
            b[i] = v * 1.7 + c[i + 1][i % 2];
        }
    }
#pragma endscop
}
"""
UNSIGNED = """
void kernel(int n, short k, int c[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        c[i] = (k - 40000 + abs(3)) % 1009;
#pragma endscop
}
"""


def test_what_is_copied_back_is_apart(tmp_path: Path) -> None:
    """All of `c` from its first element on is copied back, so that none of it may be a part of `a`."""
    region = region_of(OVERLAP, tmp_path, detect=True)
    assert "polyc_apart(a, a + n, c, c + (n - 4L))" in compile_region(region, Options(target="cuda")).text
    assert "polyc_apart(a, a + n, c + 2, c + (n - 4L))" in compile_region(region, Options()).text


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_a_value_from_another_kernel(target: str, tmp_path: Path) -> None:
    """isl prints the steps of a loop that runs on the host in kernels of their own."""
    result = compile_region(region_of(HANDED_ON, tmp_path), Options(target=target, fuse="max"))
    why = [remark.message for remark in result.program.remarks if remark.code == "not-mapped"]
    assert bool(result.device) != any("a thread's own variable in different loops" in message for message in why)


def test_absolute_values_are_signed(tmp_path: Path) -> None:
    assert_same(region_of("#include <stdlib.h>\n" + UNSIGNED, tmp_path), Options(target="opencl"))


def test_without_the_mapping_it_stays_on_the_host(tmp_path: Path) -> None:
    """A pass that is left out for want of budget leaves no kernels, which no function for a GPU can do without."""
    text = "void f(int n, float a[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] *= 2;\n#pragma endscop\n}\n"
    result = compiled(text, tmp_path, target="cuda", budget=1)
    assert not result.device or "__global__" in result.device[0]


def test_no_iterations_of_a_loop_that_shares_an_axis(tmp_path: Path) -> None:
    """Blocks along x are divided by how many tiles the inner of two loops has, which may be none."""
    loops = " ".join(f"for (int {i} = 0; {i} < {n}; {i}++)" for i, n in zip("ijkl", "nmnm", strict=True))
    head = "void f(int n, int m, float a[n][m][n][m]) {\n#pragma scop\n"
    text = f"{head}{loops}\na[i][j][k][l] *= 2;\n#pragma endscop\n}}\n"
    kernel = compiled(text, tmp_path, target="cuda").device[0]
    assert "bx / polyc_max(" in kernel
    assert "bx % polyc_max(" in kernel


STRIDED = """
void kernel(int D6[18][12], int C3[12][6])
{
    int D7[15][8];
#pragma scop
    for (int i = 0; i < 15; i++)
        for (int j = 0; j < 8; j++)
            D7[i][j] = D6[i][j + 4] + D6[i + 2][j + 3];
    for (int i = 0; i <= 11; i++)
        for (int j = 5; j >= 2; j -= 2)
            C3[i][j] = D7[i + 3][j + 1] * D7[i + 3][j - 2] + D7[i][j + 2] * D7[i][j - 1];
#pragma endscop
}
"""


@pytest.mark.parametrize("target", ["cuda", "opencl", "openmp"])
def test_a_tile_counts_from_its_own_values(target: str, tmp_path: Path) -> None:
    """isl divides a loop's values by its stride, where a buffer counts from them: it is asked not to."""
    options = Options(target=target, tile_sizes=(3, 4), inline=False, max_recompute=1e6)
    region = region_of(STRIDED, tmp_path)
    if target == "openmp":
        assert compile_region(region, options).verified
    else:
        assert_same(region, options)


OWN_ROWS = """
void kernel(float a[60][160], float out[60])
{
#pragma scop
    for (int b = 0; b < 60; b++) {
        float m[161][161];
        for (int i = 0; i <= 160; i++)
            for (int j = 0; j <= 160; j++)
                m[i][j] = 1e30f;
        for (int i = 1; i <= 160; i++)
            for (int j = 1; j <= 160; j++) {
                float c = 0;
                for (int d = 0; d < 3; d++)
                    c += a[b][j - 1] - i * d;
                m[i][j] = c + (m[i - 1][j] < m[i][j - 1] ? m[i - 1][j] : m[i][j - 1]);
            }
        out[b] = m[160][160];
    }
#pragma endscop
}
"""


def test_an_array_of_each_iteration_of_a_loop_on_the_host(tmp_path: Path) -> None:
    result = compiled(OWN_ROWS, tmp_path, target="cuda")
    (remark,) = (one for one in result.program.remarks if one.code == "not-mapped")
    assert "each iteration of a loop that the host runs has its own m_here" in remark.message


WORDS = """
#include <math.h>
typedef struct { float new, class; int half; } operator;
static float and(float this, float kernel)
{
    float or = this * kernel;
    for (int xor = 0; xor < 3; xor++)
        or += xor;
    return or;
}
static operator make(operator template, float virtual)
{
    operator private = template;
    private.class = virtual;
    return private;
}
void f(int dim3, int kernel, const float template[dim3], float half[dim3], operator this[dim3], float stream[dim3],
       int grid, int groups, float half_bytes[dim3], const float fabs[dim3], float threadIdx[dim3][kernel],
       float constant, int n, float local[n])
{
#pragma scop
    for (int new = 0; new < dim3; new++) {
        half[new] = and(template[new], constant) + fabsf(fabs[new]) + grid;
        half_bytes[new] = groups;
        float delete = template[new] * 2;
        if (delete > 3)
            delete = sqrtf(delete);
        stream[new] = delete * delete;
        this[new] = make(this[new], delete);
        this[new].new += 1;
        for (int try = 0; try < kernel; try++)
            threadIdx[new][try] = threadIdx[new][try] * 2 + this[new].half;
    }
    for (int global = 0; global < n; global++) {
        float private[3] = {1, 2, 3};
        for (int catch = 0; catch < n; catch++)
            private[catch % 3] += local[global] * catch;
        local[global] = private[0] + private[2];
    }
#pragma endscop
}
"""


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_names_that_are_words_of_the_device(target: str, tmp_path: Path) -> None:
    """Words of C++, of OpenCL, and of the text around kernels, which C leaves to the user."""
    assert_same(region_of(WORDS, tmp_path), Options(target=target), (17,))


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_files_without_kernels_have_no_functions(target: str) -> None:
    """Compilers would warn of them."""
    told = f"/* polyc {__version__}: no loop of t.c is a kernel; 'polyc explain' says why. */\n"
    assert set(render_device_files("t.c", [], target).values()) == {told}
