"""Rows that blocks fetch and threads walk along: the same values, in the order of each row."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from polyc.model.program import Options
from tests.gpu.test_gpu_reductions import SOFTMAX
from tests.gpu.test_kernels import TARGETS, assert_same
from tests.gpu.test_printed import compiled as printed
from tests.gpu.test_printed import run_quiet
from tests.programs import compiled, region_of
from tests.turns import on_targets


def program(head: str, *body: str) -> str:
    return f"void f({head})\n{{\n#pragma scop\n" + "\n".join(body) + "\n#pragma endscop\n}\n"


EACH = "for (int i = 0; i < n; i++)"
ALONG = "for (int j = 0; j < m; j++)"
STAGED = {
    "sum": program(
        "int n, int m, double A[n][m], double x[m], double y[n]",
        f"{EACH} {{ double s = 0; {ALONG} s += A[i][j] * x[j]; y[i] = s; }}",
    ),
    "cell": program(
        "int n, int m, float A[n][m], float y[n]", f"{EACH} {{ y[i] = 1; {ALONG} y[i] = y[i] * 0.5f + A[i][j]; }}"
    ),
    "recurrence": program(
        "int n, int m, float x[n][m], float y[n][m], float a, float b",
        f"{EACH} {{ float p = 0, q = 1; {ALONG}",
        "{ float in = x[i][j]; float out = b * in + p; p = a * in - b * out + q; q = 0.25f * out; y[i][j] = out; } }",
    ),
    "in place": program(
        "int n, int m, double y[n][m]", f"{EACH} for (int j = 1; j < m; j++) y[i][j] += 0.5 * y[i][j - 1];"
    ),
    "there and back": program(
        "int n, int m, double a[n][m], double c[n][m], double d[n][m]",
        f"{EACH} {{ c[i][0] *= 0.25;",
        "for (int j = 1; j < m; j++)",
        "{ double w = 1 / (4 + a[i][j] * c[i][j - 1]); c[i][j] *= w; d[i][j] = (d[i][j] - d[i][j - 1]) * w; }",
        "for (int j = m - 2; j >= 0; j--) d[i][j] -= c[i][j] * d[i][j + 1]; }",
    ),
    "place of the largest": program(
        "int n, int m, int *x, int *at",
        f"{EACH} {{ int most = x[i * m], k = 0;",
        "for (int j = 1; j < m; j++) if (x[i * m + j] > most) { most = x[i * m + j]; k = j; }",
        "at[i] = k; }",
    ),
    "batch": program(
        "int n, int m, float A[3][n][m], float x[3][m], float y[3][n]",
        f"for (int b = 0; b < 3; b++) {EACH} {{ y[b][i] = 0; {ALONG} y[b][i] += A[b][i][j] * x[b][j]; }}",
    ),
    "triangle": program(
        "int n, double A[n][n], double y[n]",
        f"{EACH} {{ double s = 0; for (int j = 0; j <= i; j++) s += A[i][j]; y[i] = s; }}",
    ),
    "every second": program(
        "int n, int m, float A[n][2 * m], float y[n]",
        f"{EACH} {{ float s = 0; {ALONG} s = 0.5f * s + A[i][2 * j]; y[i] = s; }}",
    ),
    "state of several": program(
        "int n, int m, float A[n][m], float y[n]",
        f"{EACH} {{ float h[4]; for (int k = 0; k < 4; k++) h[k] = k; {ALONG}",
        "{ h[3] = h[2]; h[2] = h[1]; h[1] = h[0]; h[0] = A[i][j] - 0.5f * h[3]; }",
        "y[i] = h[0] + h[1] + h[2] + h[3]; }",
    ),
    "softmax": SOFTMAX,
    "columns": program("int n, int m, float A[m][n], float y[n]", f"{EACH} {{ y[i] = 0; {ALONG} y[i] += A[j][i]; }}"),
    "its own": program(
        "int n, int m, float A[n][m], float y[n][m]",
        f"{EACH} {{ float s = 1; {ALONG} {{ y[i][j] = A[i][j] * s; s = 0.5f * s + y[i][j]; }} }}",
    ),
    "sums of columns": program(
        "int n, int m, double A[m][n], double B[m][n], double x[m], double y[n], double z[n]",
        f"{EACH} {{ y[i] = 0; z[i] = 1; }}",
        f"{ALONG} {EACH} {{ y[i] += A[j][i] * x[j]; z[i] += A[j][i] * B[j][i]; }}",
    ),
    "down": program(
        "int n, int m, float x[m][n], float y[m][n]",
        f"{EACH} y[0][i] = x[0][i];",
        f"for (int j = 1; j < m; j++) {EACH} y[j][i] = 0.5f * y[j - 1][i] + x[j][i];",
    ),
    "down in place": program(
        "int n, int m, double y[m][n]",
        f"for (int j = 2; j < m; j++) {EACH} y[j][i] += 0.5 * y[j - 1][i] - y[j - 2][i];",
    ),
    "columns of a batch": program(
        "int n, int m, float A[3][m][n], float y[3][n]",
        f"for (int b = 0; b < 3; b++) {EACH} {{ y[b][i] = 0; {ALONG} y[b][i] = 0.5f * y[b][i] + A[b][j][i]; }}",
    ),
}
SHARED = {
    "scaled": program(
        "int n, int m, float A[n][m], float b[n]",
        f"{EACH} {{ float s = b[i] * 0.5f, t = s + 1; {ALONG} A[i][j] = A[i][j] * s + t; }}",
    ),
    "norm of a batch": program(
        "int n, int m, const float x[n][3][m], const float b[3], float y[n][3][m]",
        f"{EACH} for (int k = 0; k < 3; k++) {{ float s = b[k] * 0.5f; {ALONG} y[i][k][j] = s - x[i][k][j]; }}",
    ),
    "several loops": program(
        "int n, int m, double A[n][m], double B[n][m], double b[n]",
        f"{EACH} {{ double s = b[i] - 1; {ALONG} A[i][j] += s; {ALONG} B[i][j] = s * A[i][m - 1 - j]; }}",
    ),
}
"""Rows that all threads share, and what is computed before each."""
TRANSPOSED = {
    "plain": program("int n, int m, float A[n][m], float B[m][n]", f"{EACH} {ALONG} B[j][i] = A[i][j];"),
    "beside a row": program(
        "int n, double A[n][n], double B[n][n], double C[n][n]",
        f"{EACH} for (int j = 0; j < n; j++) C[i][j] = A[i][j] + 2 * B[j][i];",
    ),
    "both ways": program(
        "int n, float A[n][n], float B[n][n]", f"{EACH} for (int j = 0; j < n; j++) B[i][j] = A[i][j] - A[j][i];"
    ),
    "in place": program(
        "int n, int m, int A[n][m], int B[m][n]", f"{EACH} {ALONG} {{ B[j][i] += A[i][j]; A[i][j] = 2 * A[i][j] - 1; }}"
    ),
    "with neighbours": program(
        "int n, int m, float A[n][m], float B[m][n + 2]",
        f"{EACH} {ALONG} A[i][j] = B[j][i] + 0.5f * B[j][i + 1] - B[j][i + 2];",
    ),
    "channels last": program(
        "int b, int c, int h, int w, const float *x, float *y",
        "for (int q = 0; q < b; q++) for (int k = 0; k < c; k++)",
        "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)",
        "y[((q * h + i) * w + j) * c + k] = x[((q * c + k) * h + i) * w + j];",
    ),
    "triangle": program(
        "int n, float A[n][n], float B[n][n]", f"{EACH} for (int j = 0; j <= i; j++) B[j][i] = A[i][j];"
    ),
}
"""What lies along one loop in some arrays, and along another one in others."""
LEFT = {
    "both along the same": program(
        "int n, int m, float A[n][m], float B[n][m], float b[n]", f"{EACH} {ALONG} B[i][j] = A[i][j] * b[i];"
    ),
    "where data say": program(
        "int n, int m, float A[n][m], float B[m][n]", f"{EACH} {ALONG} if (A[i][j] > 0) B[j][i] = A[i][j];"
    ),
    "shared down": program(
        "int n, int m, float A[m][n], float b[n]", f"{EACH} {{ float s = b[i] * 0.5f; {ALONG} A[j][i] *= s; }}"
    ),
    "short rows": program(
        "int n, float A[n][16], float y[n]", f"{EACH} {{ y[i] = 0; for (int j = 0; j < 16; j++) y[i] += A[i][j]; }}"
    ),
    "the same for all": program(
        "int n, int m, float x[m], float y[n]", f"{EACH} {{ y[i] = 0; {ALONG} y[i] = 0.5f * y[i] + x[j]; }}"
    ),
    "columns as well": program(
        "int n, int m, float A[n][m], float B[m][n], float y[n]",
        f"{EACH} {{ y[i] = 0; {ALONG} y[i] += A[i][j] * B[j][i]; }}",
    ),
    "parallel": program("int n, int m, float A[n][m], float B[n][m]", f"{EACH} {ALONG} B[i][j] = A[i][j];"),
}


def codes(text: str, folder: Path, **options: object) -> set[str]:
    return {remark.code for remark in compiled(text, folder, target="cuda", **options).program.remarks}


@pytest.mark.parametrize("name", STAGED)
def test_where_it_gains(name: str, tmp_path: Path) -> None:
    result = compiled(STAGED[name], tmp_path, target="cuda")
    assert result.passed
    assert "rows-staged" in {remark.code for remark in result.program.remarks}
    assert "_panel" in result.device[0]


@pytest.mark.parametrize("name", SHARED)
def test_all_threads_share_rows_without_an_order(name: str, tmp_path: Path) -> None:
    result = compiled(SHARED[name], tmp_path, target="cuda")
    assert "rows-staged" in {remark.code for remark in result.program.remarks}
    assert "j += 32" in result.device[0].split("_2(")[0]


@pytest.mark.parametrize("name", TRANSPOSED)
def test_tiles_are_transposed(name: str, tmp_path: Path) -> None:
    result = compiled(TRANSPOSED[name], tmp_path, target="cuda")
    assert result.passed
    assert "tile-transposed" in {remark.code for remark in result.program.remarks}
    assert "[32][33]" in result.device[0] or name == "with neighbours"


@pytest.mark.parametrize("name", LEFT)
def test_where_it_gains_nothing(name: str, tmp_path: Path) -> None:
    assert not {"rows-staged", "tile-transposed"} & codes(LEFT[name], tmp_path)


def test_not_for_opencl(tmp_path: Path) -> None:
    """PoCL makes something else of some of these kernels."""
    result = compiled(STAGED["sum"], tmp_path, target="opencl")
    assert result.passed
    assert "_panel" not in result.device[0]


def test_not_with_tiles_that_are_asked_for(tmp_path: Path) -> None:
    assert "rows-staged" not in codes(STAGED["sum"], tmp_path, tile_sizes=(64,))


def test_two_places_while_nothing_is_written(tmp_path: Path) -> None:
    """What is only read is on its way while the part before is used; what is written has one place."""
    text = compiled(STAGED["recurrence"], tmp_path, target="cuda").device[0]
    assert "float x_panel[2][32][65];" in text
    assert "float y_panel[32][65];" in text
    assert "y[x0 * m + x1] = y_panel[x0 - it][x1 - jt];" in text


def test_columns_that_have_the_same_loops_share_panels(tmp_path: Path) -> None:
    """And a part's own values are not fetched, but for the one before it."""
    text = compiled(STAGED["sums of columns"], tmp_path, target="cuda").device[0]
    assert text.count("A_panel[2][32][32];") == 1
    assert text.count("y[i] += A_panel[stage][j - jt][i - it] * x_panel[stage][j - jt];") == 1
    assert "y_panel[0][x1 - it] = y[(jt - 1) * n + x1];" in compiled(STAGED["down"], tmp_path, target="cuda").device[0]


def test_few_rows(tmp_path: Path) -> None:
    """Where the sizes are known, tiles have fewer rows rather than leave multiprocessors without work."""
    fixed = STAGED["sum"].replace("int n, int m, ", "").replace("[n]", "[500]").replace("i < n", "i < 500")
    fixed = fixed.replace("[m]", "[900]").replace("j < m", "j < 900")
    assert "A_panel[2][8][129]" in compiled(fixed, tmp_path, target="cuda").device[0]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(STAGED | SHARED | TRANSPOSED))
def test_same_values(name: str, target: str, tmp_path: Path) -> None:
    assert_same(region_of((STAGED | SHARED | TRANSPOSED)[name], tmp_path), Options(target=target))


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("block", [(32,), (64, 2), (1,)])
def test_any_block(block: tuple[int, ...], target: str, tmp_path: Path) -> None:
    assert_same(region_of(STAGED["recurrence"], tmp_path), Options(target=target, block=block))


@pytest.mark.slow
def test_nvcc_takes_it(tmp_path: Path) -> None:
    """No warning, and no register is spilled."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not there")
    texts = [text.replace("void f(", f"void f{k}(") for k, text in enumerate(STAGED.values())]
    file = tmp_path / "rows.c"
    file.write_text("".join(texts))
    kernels = printed(file, tmp_path, "--target", "cuda").with_suffix(".cu")
    command = [nvcc, "-arch=sm_80", "-Werror", "all-warnings", "-Xptxas", "-warn-spills", "-c"]
    run_quiet([*command, str(kernels), "-o", str(tmp_path / "x.o")])


def test_names_of_arrays_stay_theirs(tmp_path: Path) -> None:
    """Unrolled copies count with a name that no array has."""
    text = compiled(STAGED["sum"].replace("A[", "q["), tmp_path, target="cuda").device[0]
    assert "for (int q2 = 0;" in text
    assert "for (int q = 0;" not in text
