"""Reductions by all threads, where the user allows another order: the same sums, no race, the code that is meant."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import Compiled, Options
from polyc.pipeline import compile_region
from polyc.runtime import compare, sizes
from polyc.runtime.opencl import missing, support
from tests.gpu.test_kernels import INPUTS, KERNELS, TARGETS, assert_same
from tests.gpu.test_printed import compiled as printed
from tests.gpu.test_printed import run_quiet
from tests.programs import compiled, region_of
from tests.turns import on_targets, turn

SIZES = (1, 31, 1000, 100_000)
ROWS_SIZES = (1, 31, 300)


def nest(type_: str, head: str, body: str) -> str:
    inside = f"    {type_} s = 3;\n#pragma scop\n{body}\n#pragma endscop\n    out[0] = s;\n"
    return f"#include <math.h>\nvoid f({head})\n{{\n{inside}}}\n"


LARGE = {
    "int": nest("int", "int n, int *x, int out[1]", "for (int i = 0; i < n; i++) s += x[i];"),
    "long": nest("long", "int n, int *x, long out[1]", "for (int i = 0; i < n; i++) s -= x[i] * 3;"),
    "bits": nest("unsigned", "int n, unsigned *x, unsigned out[1]", "for (int i = 0; i < n; i++) s ^= x[i];"),
    "double": nest("double", "int n, double x[n], double out[1]", "for (int i = 0; i < n; i++) s = x[i] * x[i] + s;"),
    "float": nest("float", "int n, float x[n], float out[1]", "for (int i = 0; i < n; i++) s += x[i] * x[i];"),
    "product": nest(
        "double", "int n, double x[n], double out[1]", "for (int i = 0; i < n; i++) s *= 1 + 0.00001 * x[i];"
    ),
    "temporary": nest(
        "double",
        "int n, double x[n], double out[1]",
        "double t;\nfor (int i = 0; i < n; i++) { t = x[i] + 1; s += t * t; }",
    ),
    "largest": nest(
        "float", "int n, float x[n], float out[1]", "for (int i = 0; i < n; i++) s = fmaxf(x[i] * x[i], s);"
    ),
    "smallest": nest(
        "double", "int n, double x[n], double out[1]", "for (int i = 0; i < n; i++) s = s <= x[i] - 4 ? s : x[i] - 4;"
    ),
    "largest int": nest(
        "int", "int n, int *x, int out[1]", "for (int i = 0; i < n; i++) if (s < x[i] - 7) s = x[i] - 7;"
    ),
    "smallest byte": nest(
        "unsigned char",
        "int n, unsigned char *x, unsigned char out[1]",
        "for (int i = 0; i < n; i++) s = x[i] < s ? x[i] : s;",
    ),
}
"""Into a scalar: many blocks, and a second kernel."""
ROWS = {
    "two loops": nest(
        "double",
        "int n, double a[n][n], double out[1]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += a[i][j] * a[i][j];",
    ),
    "rows": """
void f(int n, double a[n][n], double x[n], double s[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int j = 0; j < n; j++)
            s[i] += a[i][j] * a[i][j] + x[j] * x[j];
        s[i] = 2 * s[i];
    }
#pragma endscop
}
""",
    "triangle": """
void f(int n, long a[n][n], long s[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            s[i] -= a[i][j];
#pragma endscop
}
""",
    "temporary": """
void f(int n, double a[n][n], double out[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t = 0;
        for (int j = 0; j < n; j++)
            t += a[i][j] * a[i][j];
        out[i] = 2 * t;
    }
#pragma endscop
}
""",
    "largest": """
#include <math.h>
void f(int n, double a[n][n], double s[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        s[i] = fabs(a[i][0]);
        for (int j = 1; j < n; j++)
            if (a[i][j] * a[i][j] > s[i])
                s[i] = a[i][j] * a[i][j];
        s[i] = 2 * s[i];
    }
#pragma endscop
}
""",
    "begun elsewhere": """
void f(int n, double a[n][n], double x[n], double s[n], double q[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        q[i] = 1;
        for (int j = 0; j < n; j++) {
            s[i] += a[i][j] * a[i][j];
            q[i] += x[j] * a[i][j] * x[j] * a[i][j];
        }
        s[i] = s[i] / q[i];
    }
#pragma endscop
}
""",
    "in a loop": """
void f(int n, double a[n][n], double q[n][n])
{
    double t;
#pragma polyc live-out(q)
#pragma scop
    for (int k = 1; k < n; k++) {
        t = 1;
        for (int i = 0; i < n; i++)
            t += q[i][k - 1] * q[i][k - 1];
        for (int i = 0; i < n; i++)
            q[i][k] = a[i][k] + q[i][k - 1] / t;
    }
#pragma endscop
}
""",
}


def record(type_: str, start: str, body: str, head: str = "") -> str:
    return f"""
#include <math.h>
void f(int n, {type_} x[n], {head}int at[4], {type_} out[2])
{{
#pragma scop
    {start}
    for (int i = 0; i < n; i++) {{
        {body}
    }}
    at[0] = p;
    out[0] = m;
#pragma endscop
}}
"""


TOGETHER = {
    "sums": """
void f(int n, float x[n], float y[n], float out[3])
{
#pragma scop
    float xy = 0, xx = 0, yy = 0;
    for (int i = 0; i < n; i++) {
        xy += x[i] * y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
    }
    out[0] = xy;
    out[1] = xx;
    out[2] = yy;
#pragma endscop
}
""",
    "of a stencil": """
#include <math.h>
void f(int n, double a[n][n], double b[n][n], double out[1])
{
#pragma scop
    double most = 0;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
            most = fmax(most, fabs(b[i][j] - a[i][j]));
        }
    out[0] = most;
#pragma endscop
}
""",
}
"""What one loop has, though each part of it could have one of its own."""
APART = TOGETHER["of a stencil"].replace("fabs(b[i][j] -", "fabs(b[i - 1][j] -")
"""A sum of what another iteration makes."""
RECORDS = {
    "first": record("float", "int p = 0; float m = x[0];", "if (x[i] > m) { m = x[i]; p = i; }"),
    "last byte": record(
        "unsigned char", "int p = -5; unsigned char m = 0;", "p = m <= x[i] ? 2 * i + 1 : p; m = m <= x[i] ? x[i] : m;"
    ),
    "smallest byte": record("unsigned char", "int p = n; unsigned char m = 9;", "if (x[i] < m) { m = x[i]; p = i; }"),
    "last smallest": record(
        "double", "int p = 7; double m = INFINITY;", "if (fabs(x[i]) <= m) { m = fabs(x[i]); p = -i; }"
    ),
    "no numbers": record(
        "float",
        "int p = -1; float m = -INFINITY, t;",
        "t = (x[i] - x[i]) / (float)(i % 3); if (t > m) { m = t; p = i; }",
    ),
    "with a condition": record(
        "double", "int p = -1; double m = 1e300;", "if (c[i] > 90 && x[i] < m) { m = x[i]; p = i; }", "char c[n], "
    ),
    "without a place": record("float", "float m = 0.25f; int p = 3;", "if (x[i] - 1 >= m) m = x[i] - 1;"),
    "two and a count": record(
        "unsigned char",
        "int p = -1, q = -1, count = 0; unsigned char m = 255, l = 0;",
        "if (x[i] <= m) { m = x[i]; p = i; } if (x[i] > l) { l = x[i]; q = i; } if (x[i] > 9) count++;",
    ).replace("at[0] = p;", "at[0] = p; at[1] = q; at[2] = count; out[1] = l;"),
    "row and column": """
void f(int n, unsigned char x[n][n], int at[2], unsigned char out[1])
{
#pragma scop
    int r = -1, c = -2;
    unsigned char m = 3;
    for (int i = n - 1; i >= 0; i--)
        for (int j = 0; j < n; j++)
            if (x[i][j] >= m) {
                m = x[i][j];
                r = i;
                c = j;
            }
    at[0] = r;
    at[1] = c;
    out[0] = m;
#pragma endscop
}
""",
}
"""What keeps its order: equal values are told apart by the iteration."""
NO_RECORDS = {
    "keeps what is no number": record(
        "float", "int p = 0; float m = x[0];", "p = m >= x[i] ? p : i; m = m >= x[i] ? m : x[i];"
    ),
    "rounds": record("double", "int p = 0; float m = 0;", "if (x[i] > m) { m = x[i]; p = i; }"),
    "after the record": record(
        "float", "int p = 0; float m = x[0];", "m = x[i] >= m ? x[i] : m; p = x[i] >= m ? i : p;"
    ),
    "the old place": record("float", "int p = 0; float m = x[0];", "if (x[i] > m) { m = x[i]; p = p + i; }"),
    "on the way": record("float", "int p = 0; float m = x[0];", "if (x[i] > m) { m = x[i]; p = i; } x[i] = p;"),
    "another test": record("float", "int p = 0; float m = x[0];", "p = x[i] > m + 1 ? i : p; m = x[i] > m ? x[i] : m;"),
}
COLUMNS = {
    "into an array": """
void f(int n, double a[n][n], double s[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s[j] += a[i][j];
#pragma endscop
}
""",
    "two, into scalars": """
void f(int n, double a[n][n], double b[n][n], double s[n])
{
#pragma scop
    for (int j = 1; j < n; j++) {
        double t = 0, u = 1;
        for (int i = 0; i < n; i++) {
            t += a[i][j];
            u += a[i][j] * b[i][j];
        }
        s[j] = t / u;
    }
#pragma endscop
}
""",
    "one after the other": """
void f(int n, float a[n][n], float b[n][n], float s[n], float t[n])
{
#pragma scop
    for (int j = 0; j < n; j++) {
        s[j] = 0;
        for (int i = 0; i < n; i++)
            s[j] += a[i][j];
        s[j] = s[j] / n;
        t[j] = 0;
        for (int i = 0; i < n; i++)
            t[j] += (a[i][j] - s[j]) * (a[i][j] - s[j]);
        for (int i = 0; i < n; i++)
            b[i][j] = a[i][j] / (1 + t[j]);
    }
#pragma endscop
}
""",
    "two loops": """
void f(int n, float a[n][9][n], float s[n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        s[k] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 9; j++)
            for (int k = 0; k < n; k++)
                s[k] += a[i][j][k];
#pragma endscop
}
""",
    "of a batch": """
void f(int n, int a[n][n][n], int s[n][n])
{
#pragma scop
    for (int b = 0; b < n; b++)
        for (int j = 0; j < n; j++) {
            s[b][j] = -1;
            for (int i = 0; i < n; i++)
                s[b][j] += a[b][i][j];
        }
#pragma endscop
}
""",
    "triangle": """
void f(int n, long a[n][n], long s[n])
{
#pragma scop
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            s[j] ^= a[i][j];
#pragma endscop
}
""",
    "largest": """
#include <math.h>
void f(int n, double a[n][n], double s[n])
{
#pragma scop
    for (int j = 0; j < n; j++) {
        s[j] = fabs(a[0][j]);
        for (int i = 1; i < n; i++)
            s[j] = fmax(s[j], fabs(a[i][j]));
    }
#pragma endscop
}
""",
}
"""A result for each thread, of which blocks of a kernel before leave parts."""
PREFIX = nest("double", "int n, double x[n], double out[n]", "for (int i = 0; i < n; i++) { s += x[i]; out[i] = s; }")
CUT = nest("int", "int n, double x[n], int out[1]", "for (int i = 0; i < n; i++) s += x[i];")
"""Each addition cuts to a whole number: parts of it have another sum."""
COUNTED = nest("int", "int n, double x[n], double y, int out[1]", "for (int i = 0; i < n; i++) if (x[i] > y) s++;")
"""What data leave out is combined with nothing."""
OWN = nest("int", "int n, int x[n], int out[1]", "for (int i = 0; i < n; i++) if (x[i] > s) s += x[i];")
"""What is left out depends on the sum so far."""
PAIRS = """
void f(int n, int m, int d, float a[n][d], float b[m][d], float out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < d; k++)
                s += fabsf(a[i][k] - b[j][k]);
            out[i][j] = s;
        }
#pragma endscop
}
"""
"""Tiles of results read both arrays again, which blocks for single ones do not."""
TYPES = nest("int", "int n, unsigned *x, int out[1]", "for (int i = 0; i < n; i++) if (x[i] > s) s = x[i];")
"""-1 is larger than 1u here, and smaller than 1: no order."""
ROUNDED = nest("double", "int n, double x[n], double out[1]", "for (int i = 0; i < n; i++) s = fmaxf(s, x[i]);")
"""Each step rounds to float, also a value that nobody compared."""
SHORT = nest("double", "double x[20], double out[1]", "for (int i = 0; i < 20; i++) s += x[i];")
FIXED = nest("double", "double x[2000], double out[1]", "for (int i = 0; i < 2000; i++) s += x[i];")
TREE = """\
  s_parts[tx] = s_part;
  __syncthreads();
  if (tx < 16) {
#pragma unroll
    for (int q = 1; q < 16; q++)
      s_part += s_parts[tx + 16 * q];
    s_parts[tx] = s_part;
  }
  __syncthreads();
  if (tx == 0) {
#pragma unroll
    for (int q = 1; q < 16; q++)
      s_part += s_parts[q];
"""


def device(text: str, folder: Path, **options: object) -> str:
    result = compiled(text, folder, target="cuda", **options)
    assert result.passed
    return kernels_of(result)


def kernels_of(result: Compiled) -> str:
    """The kernels; none where one thread would run the region in its order."""
    if result.device:
        return result.device[0]
    assert any("on one thread of a GPU" in remark.message for remark in result.program.remarks)
    return ""


def told(result: Compiled) -> set[str]:
    return {remark.code for remark in result.program.remarks}


def test_two_kernels(tmp_path: Path) -> None:
    text = device(LARGE["double"], tmp_path, reassociate=True)
    assert text.count("__global__") == 2
    assert text.count(TREE) == 2
    assert TREE + "    s_blocks[bx] = s_part;" in text
    assert TREE + "    s[0] += s_part;" in text
    assert "atomic" not in text


WHOLE = ("int", "long", "bits", "largest", "largest int", "smallest byte")
ALL = {**LARGE, **{f"rows: {name}": text for name, text in ROWS.items()}}


@pytest.mark.parametrize("name", ALL)
def test_only_of_whole_numbers_without_reassociate(name: str, tmp_path: Path) -> None:
    """Their bits are the same in any order, and those of the largest of magnitudes."""
    assert ("_parts" in device(ALL[name], tmp_path)) == (name in WHOLE or name == "rows: triangle")


@pytest.mark.parametrize(
    "text",
    [PREFIX, CUT, TYPES, ROUNDED, SHORT, OWN, "#include <math.h>" + PAIRS],
    ids=["prefix", "cut", "types", "rounded", "short", "own", "pairs"],
)
def test_where_it_is_none_or_gains_nothing(text: str, tmp_path: Path) -> None:
    result = compiled(text, tmp_path, target="cuda", reassociate=True)
    assert result.passed
    assert "reduction" not in told(result)
    assert "_parts" not in kernels_of(result)


def test_a_count_of_what_data_choose(tmp_path: Path) -> None:
    text = device(COUNTED, tmp_path)
    assert "    if (x[i] > y)\n      s_part++;" in text
    assert_reduced(COUNTED, (1, 31, 1000), Options(target="cuda"), tmp_path)


@pytest.mark.parametrize("size", ["", "[100000]"])
def test_sums_of_a_known_size(size: str, tmp_path: Path) -> None:
    """The array of the blocks' sums is none of the region's."""
    known = LARGE["int"].replace("int n, ", "").replace("*x", "x[100000]").replace("i < n", "i < 100000")
    assert "s_blocks" in device(known if size else LARGE["int"], tmp_path)


def test_a_largest_value(tmp_path: Path) -> None:
    """Each thread starts with the cell as it is, which needs no smallest number of any type."""
    text = device(LARGE["largest int"], tmp_path, reassociate=True)
    assert text.count("int s_part = s[0];") == 2
    assert "s_part = s_part < x[i] - 7 ? x[i] - 7 : s_part;" in text
    assert "if (s_parts[tx + 16 * q] > s_part)" in text
    assert "    if (s_part > s[0])\n      s[0] = s_part;" in text


SOFTMAX = """
#include <math.h>
void softmax(int n, int m, float x[n][m], float out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float most = x[i][0];
        for (int j = 1; j < m; j++)
            most = x[i][j] > most ? x[i][j] : most;
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            out[i][j] = expf(x[i][j] - most);
            sum += out[i][j];
        }
        for (int j = 0; j < m; j++)
            out[i][j] /= sum;
    }
#pragma endscop
}
"""


def test_operators_of_rows_are_one_kernel(tmp_path: Path) -> None:
    """A block for each row: what the row is reduced to, and the loops that use it, which all threads share."""
    text = device(SOFTMAX, tmp_path, reassociate=True)
    assert text.count("__global__") == 1
    assert "for (index i = bx; i < n; i += gridDim.x) {" in text
    assert text.count("for (index j = tx; j < m; j += 256)") == 3
    assert text.count("for (index j = 1 + tx; j < m; j += 256)") == 1
    assert "_parts" not in device(SOFTMAX, tmp_path)


@TARGETS
def test_operators_of_rows_have_the_same_values(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # PoCL 3.0's loops over work items, its default, read `out` before the barrier that they wrote it in front of; with
    # its other method the same text is right, and in the CUDA shim it has no race.
    monkeypatch.setenv("POCL_WORK_GROUP_METHOD", "workitemrepl")
    few = (16,) if target == "opencl" else None  # that method has a copy of the kernel for each thread
    assert_same(region_of(SOFTMAX, tmp_path), Options(target=target, reassociate=True, block=few))


@pytest.mark.parametrize("name", TOGETHER)
def test_reductions_share_a_loop(name: str, tmp_path: Path) -> None:
    """With each other, and with what makes the values: what is before and after, and two kernels."""
    text = device(TOGETHER[name], tmp_path, reassociate=True)
    assert text.count("__global__") == 4


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(TOGETHER))
def test_shared_loops(name: str, target: str, tmp_path: Path) -> None:
    assert_reduced(TOGETHER[name], (3, 31, 300), Options(target=target, reassociate=True), tmp_path)


def test_a_loop_that_is_not_shared(tmp_path: Path) -> None:
    text = device(APART, tmp_path, reassociate=True)
    assert text.count("__global__") == 5
    assert_reduced(APART, (3, 31), Options(target="cuda"), tmp_path)


def test_a_record_is_compared_by_its_iteration(tmp_path: Path) -> None:
    text = device(RECORDS["first"], tmp_path)
    assert (
        """\
    p_part = x[i] > m_part ? (int)i : p_part;
    m_i_part = x[i] > m_part ? i : m_i_part;
    m_part = x[i] > m_part ? x[i] : m_part;
"""
        in text
    )
    better = "m_parts[q] > m_part || (m_parts[q] == m_part && m_i_parts[q] < m_i_part)"
    assert text.count(f"      if ({better}) {{\n        m_i_part = m_i_parts[q];\n") == 2


@pytest.mark.parametrize("name", NO_RECORDS)
def test_what_is_no_record(name: str, tmp_path: Path) -> None:
    assert "m_part" not in device(NO_RECORDS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(RECORDS))
def test_records(name: str, target: str, tmp_path: Path) -> None:
    wanted = ROWS_SIZES if "column" in name else SIZES
    assert_reduced(RECORDS[name], wanted, Options(target=target), tmp_path)


def test_a_small_one_has_one_block(tmp_path: Path) -> None:
    text = device(FIXED, tmp_path, reassociate=True)
    assert text.count("__global__") == 1
    assert "s_blocks" not in text


def test_short_reductions_in_a_loop_share_a_kernel_with_their_neighbours(tmp_path: Path) -> None:
    text = device(ROWS["in a loop"], tmp_path, reassociate=True)
    assert text.count("__global__") == 2
    assert "  if (tx == 0)\n    t[0] = 1;\n  __syncthreads();\n" in text


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(LARGE))
def test_large(name: str, target: str, tmp_path: Path) -> None:
    """Whole numbers come out the same, to the bit; others within the tolerance for `--reassociate`."""
    assert_reduced(LARGE[name], SIZES, Options(target=target, reassociate=True), tmp_path)


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("name", ["int", "bits"])
def test_nothing_to_add(name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes that `verify` chooses by itself are none at which nothing runs."""
    monkeypatch.setattr(sizes, "near", lambda _found, size: {"n": size})
    assert_reduced(LARGE[name], (0,), Options(target=target, reassociate=True), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(ROWS))
def test_rows(name: str, target: str, tmp_path: Path) -> None:
    assert_reduced(ROWS[name], ROWS_SIZES, Options(target=target, reassociate=True), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(COLUMNS))
def test_columns(name: str, target: str, tmp_path: Path) -> None:
    text, options = COLUMNS[name], Options(target=target, reassociate=True)
    wanted = (1, 17) if "batch" in name else (1, 31, 300)
    assert_reduced(text, wanted, options, tmp_path)
    assert "_blocks" in compile_region(region_of(text, tmp_path), options).device[0]


def test_columns_are_two_kernels(tmp_path: Path) -> None:
    text = device(COLUMNS["two, into scalars"], tmp_path, reassociate=True, machine="h200")
    assert text.count("__global__") == 2
    assert (
        """\
    {
      const index each = ((index)n + gridDim.y - 1) / gridDim.y;
#pragma unroll 8
      for (index i = each * by; i < polyc_min(n, each * (by + 1)); i++) {
        t_part += a[i * n + j];
        u_part += a[i * n + j] * b[i * n + j];
      }
    }
    t_blocks[by * (n - (index)1) + (j - 1)] = t_part;
    u_blocks[by * (n - (index)1) + (j - 1)] = u_part;
"""
        in text
    )
    assert "        t_part += t_blocks[part * (n - (index)1) + (j - 1)];\n" in text


def test_columns_with_a_grid_of_the_users(tmp_path: Path) -> None:
    """A thread may have several results then, one after the other."""
    assert "s_blocks" not in device(COLUMNS["into an array"], tmp_path, reassociate=True, grid=(3,))


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize(("grid", "block"), [((3,), (48,)), ((2000,), (32,)), (None, (1,)), ((7, 2), (1024,))])
def test_any_grid_and_block(grid: tuple[int, ...] | None, block: tuple[int, ...], target: str, tmp_path: Path) -> None:
    options = Options(target=target, reassociate=True, grid=grid, block=block)
    texts = [LARGE["long"], ROWS["rows"], LARGE["double"], ROWS["two loops"]]
    for text in turn(texts, len(block) + (target == "cuda"), 2) if grid else texts[:2]:
        assert_reduced(text, (1, 31, 200), options, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(["atax", "bicg", "mvt", "gesummv", "gramschmidt", "durbin"]))
def test_polybench(name: str, target: str) -> None:
    wanted = (5,) if name == "gramschmidt" else (5, 40)  # at 40 it has more columns than rows: zeros, and what is left
    for region in read(str(KERNELS[name]), INPUTS).regions:
        assert_same(region, Options(target=target, reassociate=True), wanted)


@pytest.mark.slow
def test_nvcc_takes_it(tmp_path: Path) -> None:
    """No warning, and no register is spilled."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not there")
    texts = [*LARGE.values(), *ROWS.values(), *RECORDS.values(), *COLUMNS.values(), FIXED]
    file = tmp_path / "sums.c"
    file.write_text("".join(text.replace("void f(", f"void f{k}(") for k, text in enumerate(texts)))
    kernels = printed(file, tmp_path, "--target", "cuda", "--reassociate").with_suffix(".cu")
    command = [nvcc, "-arch=sm_80", "-Werror", "all-warnings", "-Xptxas", "-warn-spills", "-c"]
    run_quiet([*command, str(kernels), "-o", str(tmp_path / "x.o")])


def assert_reduced(text: str, wanted: tuple[int, ...], options: Options, folder: Path) -> None:
    if options.target == "opencl" and support() is None:
        pytest.skip(missing())
    region = region_of(text, folder)
    result = compile_region(region, options)
    assert result.passed
    assert "reduction" in told(result)
    assert "_part" in result.device[0]
    report = compare(region, result, wanted)
    assert not report.differences, report.differences[0].message
    assert len(report.rows) == len(wanted), report.skipped
