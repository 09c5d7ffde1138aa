"""Choices that C compilers make vectors of, or minima: how they are printed, and when they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from polyc.analysis.readable import _plain
from polyc.cli.main import cli
from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.records import replace
from polyc.runtime.check import check
from tests.programs import compiled, region_of, run_alike


def text_of(text: str, folder: Path, sizes: tuple[int, ...] | None = None) -> str:
    """What is printed for a region, which was shown to be right, and run."""
    region = region_of(text, folder)
    result = compile_region(region, Options())
    assert result.verified
    assert (check(region, result) if sizes is None else check(region, result, sizes=sizes)) == []
    return result.text


CUTOFF = """
void f(int n, double c2, double x[n], double m[n], double out[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) {
            double d = x[i] - x[j];
            double r2 = d * d;
            if (r2 < c2) {
                double s = %s;
                sum %s s * d;
            }
        }
        out[i] = sum;
    }
#pragma endscop
}
"""


@pytest.mark.parametrize("op", ["+=", "-=", "*=", "="])
def test_conditional_updates_are_selects(op: str, tmp_path: Path) -> None:
    text = text_of(CUTOFF % ("1 - r2 / c2", op), tmp_path, sizes=(1, 7, 64, 65))
    assert "int polyc_taken = r2 < c2;" in text
    assert "sum_of[i - it] = polyc_select(polyc_taken, " in text


FORCES = """
#include <math.h>
%s
static double x[99], y[99], q[99], fx[99], fy[99];
void f(double c2)
{
#pragma scop
    for (int i = 0; i < 99; i++) {
        double ax = 0, ay = 0;
        for (int j = 0; j < 99; j++) {
            double dx = x[i] - x[j], dy = y[i] - y[j], r2 = dx * dx + dy * dy;
            if (r2 < c2 && r2 > 0) {
                double r = sqrt(r2), s = q[i] * q[j] / (r2 * r);
                ax += s * dx;
                ay += s * dy;
            }
        }
        fx[i] = ax;
        fy[i] = ay;
    }
#pragma endscop
}
"""


def test_forces_within_a_cutoff(tmp_path: Path) -> None:
    """Both comparisons, roots that set no errno, and elements of arrays that are there as a whole."""
    text = text_of(FORCES % "", tmp_path)
    assert "int polyc_taken = (r2 < c2) & (r2 > 0);" in text
    assert "double r = polyc_sqrt(r2);" in text
    assert "ax_of[i - it] = polyc_select(polyc_taken, ax_of[i - it] + s * dx, ax_of[i - it]);" in text


NEAREST = """
#include <math.h>
static float x[99], y[99], depth[99];
static {whole} nearest[99];
void f(int n)
{{
#pragma scop
    for (int i = 0; i < 99; i++) {{
        float best = 1e30f;
        {whole} hit = -1;
        int hits = 0;
        for (int j = 0; j < 99; j++) {{
            float b = x[i] * y[j] + x[j], d = b * b - y[j];
            if (d > 0) {{
                float t = b - sqrtf(d);
                hits++;
                if (t > 0 && t < best) {{
                    best = t;
                    hit = j;
                }} else if (t < -0.9f)
                    hit = -3;
                else
                    best += 0.25f;
            }} else if (d < -0.5f)
                hits--;
        }}
        depth[i] = best + hits;
        nearest[i] = hit;
    }}
#pragma endscop
}}
"""


@pytest.mark.parametrize("whole", ["int", "short", "long"])
def test_branches_inside_of_branches(whole: str, tmp_path: Path) -> None:
    """Roots below a condition, and whole numbers that are set there."""
    text = text_of(NEAREST.format(whole=whole), tmp_path)
    assert "int polyc_taken1 = polyc_taken & ((t > 0) & (t < best_of[i - it]));" in text
    assert "int polyc_taken2 = polyc_taken & !polyc_taken1;" in text
    cast = "unsigned long long" if whole == "long" else "unsigned"
    assert f"hit_of[i - it] += polyc_taken1 * (({cast})j - hit_of[i - it]);" in text
    assert "polyc_sqrtf(d)" in text
    assert "if (d > 0)" not in text.split("as it was written")[0]


def test_not_where_a_number_would_be_converted(tmp_path: Path) -> None:
    """Of a negative one without a sign there is no telling what becomes."""
    for value in ("t", "-1.5f"):
        text = text_of(NEAREST.format(whole="int").replace("hit = -3", f"hit = {value}"), tmp_path)
        assert "polyc_taken" not in text


BORDER = """
#include <math.h>
void f(int n, double u[n][n], double p[n][n])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            double dx = x < n - 1 ? u[y][x + 1] - u[y][x] : 0, dy = y < n - 1 && x >= 0 ? u[y + 1][x] - u[y][x] : 0;
            p[y][x] = 1 / sqrt(1 + dx * dx + dy * dy);
        }
#pragma endscop
}
"""


def test_roots_beside_what_counters_choose(tmp_path: Path) -> None:
    """Of differences that end at a border: the loop for all others knows that they are there."""
    text = text_of(BORDER, tmp_path)
    loop = text.index("for (int x = 0; x < n - 1; x++) {")
    assert text[:loop].rstrip().endswith("polyc_simd")
    assert "polyc_sqrt(1 + dx * dx + dy * dy)" in text[loop:]


def test_forces_that_set_errno_are_computed_where_they_are_asked_for(tmp_path: Path) -> None:
    text = compiled(FORCES % "#include <errno.h>\nint failed(void) { return errno != 0; }", tmp_path).text
    assert "polyc_taken" not in text


@pytest.mark.parametrize("value", ["m[j]", "m[i]", "sin(d)"])
def test_not_where_something_may_not_be_there(value: str, tmp_path: Path) -> None:
    """An element is loaded, or a function called, only where the condition holds."""
    result = compiled(CUTOFF % (value, "+="), tmp_path)
    assert result.verified
    assert "polyc_taken" not in result.text


NARROW = """
void f(int n, int a[n], unsigned u[n], {type} out[n])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        out[i] = {value};
#pragma endscop
}}
"""
CHOICES = {
    ("unsigned char", "(unsigned char)(a[i] < 0 ? 0 : a[i] > 255 ? 255 : a[i])"): True,
    ("unsigned char", "a[i] < 0 ? 0 : a[i] > 255 ? 255 : a[i]"): True,
    ("short", "(short)(a[i] + 3 < 9 ? a[i] + 3 : 9)"): True,
    ("unsigned char", "a[i] > 9 ? 255 : 0"): False,
    ("signed char", "(signed char)(a[i] > 9 ? 1 : a[i] < -9 ? -1 : 0)"): False,
    ("unsigned char", "(unsigned char)(u[i] > 255 ? 255 : u[i])"): False,
    ("int", "a[i] < 0 ? 0 : a[i]"): False,
    ("float", "a[i] < 0 ? 0 : a[i]"): False,
}


@pytest.mark.parametrize(("type_", "value"), CHOICES)
def test_choices_of_int_are_narrowed_as_a_whole(type_: str, value: str, tmp_path: Path) -> None:
    text = text_of(NARROW.format(type=type_, value=value), tmp_path)
    assert ("polyc_int(" in text) == CHOICES[type_, value]


def test_extrema_are_macros(tmp_path: Path) -> None:
    """glibc's functions keep loops from vectors."""
    program = "#include <math.h>\n" + NARROW.format(type="double", value="fmax(a[i], 0.5) + fminf(a[i], 3)")
    assert "out[i] = polyc_vfmax(a[i], 0.5) + polyc_vfminf(a[i], 3);" in text_of(program, tmp_path)
    assert "polyc_vfmax" not in compiled(program, tmp_path, target="cuda").text


def test_a_function_of_that_name_of_the_file_is_called(tmp_path: Path) -> None:
    own = "static double fmax(double a, double b) { for (int i = 0; i < 2; i++) if (a < b) return b + 1; return a; }"
    program = own + NARROW.format(type="double", value="fmax(a[i], 0.5)")
    assert "out[i] = fmax(a[i], 0.5);" in text_of(program, tmp_path)


PARITY = """
void f(int n, int a[n][n], int out[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int v;
            if ((i + j) % 2 == 0)
                v = a[i][j];
            else
                v = -a[i][j];
            out[i][j] = v;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if ((i + j) % 2 == 0)
                a[i][j] = 0;
#pragma endscop
}
"""


def test_a_choice_by_parity_is_one_statement(tmp_path: Path) -> None:
    """What it stores to an array has the iterations that store it."""
    region = region_of(PARITY, tmp_path)
    assert [s.opaque for s in region.scop.statements.values()] == [True, False, False]
    text = text_of(PARITY, tmp_path)
    assert "if ((i + j) % 2 == 0)" in text
    assert "j += 2" in text


BYTES = """
void f(int w, int h, unsigned char a[h][w], unsigned char out[h][w], float k[7])
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float s = 0;
            for (int d = -3; d <= 3; d++)
                s += k[d + 3] * a[y][%s];
            out[y][x] = (unsigned char)s;
        }
#pragma endscop
}
"""


def test_clamped_bytes_are_not_gathered(tmp_path: Path) -> None:
    clamped = "x + d < 0 ? 0 : x + d > w - 1 ? w - 1 : x + d"
    remarks = {r.code for r in compiled(BYTES % clamped, tmp_path).program.remarks}
    assert "spread" not in remarks


WRAPPED = """
void f(int a[600][600], int b[600][600], int c[600][600])
{
#pragma scop
    for (int y = 0; y < 600; y++)
        for (int x = 0; x < 600; x++) {
            b[y][x] = a[y][(x + 599) % 600] + a[y][(x + 1) % 600];
            if (b[y][x] && a[y][x])
                c[y][x] = c[y][x] < 255 ? c[y][x] + 1 : 255;
            else
                c[y][x] = 0;
        }
#pragma endscop
}
"""


def test_ends_of_rows_beside_what_data_decide(tmp_path: Path) -> None:
    """A loop of its own for what does not wrap around, also where another statement of the loop depends on data."""
    text = text_of(WRAPPED, tmp_path)
    assert "for (int x = 1; x < 599; x++)" in text
    assert "a[y][x - 1] + a[y][x + 1]" in text


BORDERS = """
#define N 384
static double h[N + 2][N + 2], q[N + 2][N + 2];
void f(void)
{
#pragma scop
    for (int i = 1; i <= N; i++) {
        h[i][0] = h[i][1];
        h[i][N + 1] = h[i][N];
    }
    for (int j = 1; j <= N; j++) {
        h[0][j] = h[1][j];
        h[N + 1][j] = h[N][j];
    }
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            q[i][j] = 0.25 * (h[i - 1][j] + h[i + 1][j] + h[i][j - 1] + h[i][j + 1]) / (1 + h[i][j] * h[i][j]);
#pragma endscop
}
"""


def test_no_tile_takes_all_iterations_of_the_parallel_loop(tmp_path: Path) -> None:
    result = compiled(BORDERS, tmp_path)
    assert result.verified
    assert "#pragma omp parallel for\n#endif\n  for (int i = 1; i < 385; i++)" in result.text


ELEMENTS = """
#include <math.h>
void f(int n, float t, float a[n], float b[n], double d[n], int k[n], float out[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        %s
#pragma endscop
}
"""
TAKEN = {
    "out[i] = a[i] > 0 ? a[i] : 0.1f * a[i];": "out[i] = polyc_selectf(a[i] > 0, a[i], 0.1f * a[i]);",
    "out[i] = a[i] > 0 ? a[i] : 0.1 * a[i];": "out[i] = polyc_select(a[i] > 0, a[i], 0.1 * a[i]);",
    "if (a[i] > t) out[i] = a[i] - t; else if (a[i] < -t) out[i] = a[i] + t; else out[i] = 0;": (
        "out[i] = polyc_selectf(a[i] > t, a[i] - t, polyc_selectf(a[i] < -t, a[i] + t, 0));"
    ),
    "{ float v = a[i]; if (v < 0) v *= t; out[i] = v; }": "v = polyc_selectf(v < 0, v * t, v);",
    "out[i] = d[i] > 1 && k[i] ? fabsf(a[i] - t) : a[i];": "polyc_selectf(d[i] > 1 && k[i], fabsf(a[i] - t), a[i])",
    "out[i] = a[i] > 0 ? sqrtf(a[i]) : a[i] * 2;": "polyc_selectf(a[i] > 0, polyc_sqrtf(a[i]), a[i] * 2)",
    "k[i] = a[i] > t ? a[i] > 2 * t ? 2 : 1 : 0;": "k[i] = polyc_selecti(a[i] > t, a[i] > 2 * t ? 2 : 1, 0);",
    "k[i] = a[i] >= -t && a[i] <= t ? 255 : 0;": "k[i] = polyc_selecti((a[i] >= -t) & (a[i] <= t), 255, 0);",
    "out[i] = (a[i] < -t || a[i] > t) ? a[i] - t : a[i];": "polyc_selectf((a[i] < -t) | (a[i] > t), a[i] - t, a[i])",
    "k[i] = a[i] > t && a[i] < 2 * t;": "k[i] = (a[i] > t) & (a[i] < 2 * t);",
    "k[i] = (a[i] < -t || a[i] > t) ? 9 : 4;": "k[i] = polyc_selecti((a[i] < -t) | (a[i] > t), 9, 4);",
    "{ int l = 0; if (a[i] > 1) l = 1; if (a[i] > t) l = 2; k[i] = l; }": "l = polyc_selecti(a[i] > t, 2, l);",
    # What both branches have at hand is a minimum, or a move; an element may not be there; whole numbers may overflow;
    # a function may say so; and what is stored in one case only may not be stored in the other.
    "out[i] = a[i] > t ? a[i] : t;": "",
    "out[i] = k[i] > 0 ? b[i] * 2 : a[i];": "",
    "out[i] = k[i] > 0 ? k[i] * 2 : k[i] + 3;": "",
    "out[i] = a[i] > 0 ? expf(a[i]) : a[i] * 2;": "",
    "k[i] = a[i] > t && b[i] > t ? 1 : 0;": "",
    "k[i] = k[i] > 3 && k[i] < 9 ? 1 : 0;": "",
    "if (a[i] > 0) out[i] = a[i] * 2;": "",
}


@pytest.mark.parametrize("line", TAKEN)
def test_both_branches_are_computed(line: str, tmp_path: Path) -> None:
    text = text_of(ELEMENTS % line, tmp_path)
    assert TAKEN[line] in text
    assert ("polyc_select" in text) == ("polyc_select" in TAKEN[line])


UPWIND = """
void end(void);
void f(int n, double a[n], const double *q, double out[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        out[i] = a[i] > 0 ? a[i] * q[i - 1] : a[i] * q[i];
%s
#pragma endscop
}
"""


def test_what_one_of_two_reads_is_between_is_there(tmp_path: Path) -> None:
    """The first iteration reads `q[0]` or `q[1]`, the last one `q[n - 2]` or `q[n - 1]`: q[1] to q[n - 2] are there."""
    text = text_of(UPWIND % "", tmp_path)
    assert "for (long i = 2; i < n - 1L; i++)" in text
    assert text.count("polyc_select(a[i] > 0, a[i] * q[i - 1], a[i] * q[i])") == 1
    assert "out[1] = a[1] > 0 ? a[1] * q[0] : a[1] * q[1];" in text


def test_all_of_it_where_both_ends_are_read_anyway(tmp_path: Path) -> None:
    text = text_of(UPWIND % "    out[0] = q[0] + q[n - 1];", tmp_path)
    assert text.count("out[i] = polyc_select(") == 1
    assert "a[i] > 0 ?" not in text.partition("as it was written")[0]


def test_nothing_where_a_call_may_end_the_program(tmp_path: Path) -> None:
    assert "polyc_select(" not in compiled(UPWIND % "    end();", tmp_path).text


def test_none_in_loops_that_carry_values_and_on_gpus(tmp_path: Path) -> None:
    scan = ELEMENTS % "out[i] = i > 0 && out[i - 1] > 0 ? out[i - 1] * a[i] : a[i];"
    assert "polyc_select" not in text_of(scan, tmp_path)
    assert "polyc_select" not in compiled(ELEMENTS % next(iter(TAKEN)), tmp_path, target="cuda").text


def test_not_where_a_subscript_may_have_changed(tmp_path: Path) -> None:
    """`b[k]` is read in any case, but with another `k`."""
    line = "{ int k = i; float v = b[k]; k = n / 2; out[i] = a[i] > 0 ? b[k] * v : v; }"
    assert "polyc_select" not in text_of(ELEMENTS % line, tmp_path)


ROOTS = """
#include <errno.h>
#include <math.h>
%s
void f(int n, float v[n], float w[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        w[i] -= 0.1f / (sqrtf(v[i]) + 1e-8f);
#pragma endscop
}
"""


def test_roots_set_no_errno(tmp_path: Path) -> None:
    """So that loops run in vectors, where no function of the file names errno."""
    text = text_of(ROOTS % "", tmp_path)
    assert "0.1f / (polyc_sqrtf(v[i]) + 1e-8f)" in text
    assert "(void)sqrtf" not in text  # the macro calls it
    assert "polyc_sqrtf" not in compiled(ROOTS % "", tmp_path, target="cuda").text


SUM = """
#include <math.h>
double f(int n, const double *x, const double *y)
{
    double s = 0;
    for (int i = 1; i < n; i++) {
        double d = x[i] - x[i - 1];
        %s
    }
    return s;
}
"""


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("s += sqrt(d * d + y[i]);", True),
        ("s = s - sqrt(d * d + y[i]);", True),
        ("s = sqrt(s + d);", False),
        ("s *= sqrt(d);", False),
        ("s += d > 0 ? sqrt(d) : 0;", False),
        ("s += exp(sqrt(d));", False),
    ],
)
def test_roots_that_are_added_up(line: str, made: bool, tmp_path: Path) -> None:
    """gcc computes several at once, and adds one after the other: that is worth a region of its own."""
    (tmp_path / "t.c").write_text(SUM % line)
    printed = tmp_path / "printed.c"
    CliRunner().invoke(cli, ["compile", str(tmp_path / "t.c"), "--detect", "-o", str(printed)])
    assert printed.exists()
    assert ("polyc_sqrt(" in printed.read_text()) is made
    if made:
        main = "#include <stdio.h>\nint main(void) { double x[50], y[50]; for (int i = 0; i < 50; i++) x[i] = i % 7, "
        main += 'y[i] = i + 9; for (int n = 0; n <= 50; n++) printf("%.17g\\n", f(n, x, y)); return 0; }\n'
        run_alike(SUM % line + main, printed.read_text() + main, tmp_path)


@pytest.mark.parametrize(
    "function",
    [
        "int failed(void) { return errno != 0; }",
        "static float sqrtf(float x) { for (int k = 0; k < 3; k++) x = 0.5f * x + 1; return x; }",
    ],
)
def test_roots_are_called(function: str, tmp_path: Path) -> None:
    """Where the file looks at errno, or has a function of that name."""
    result = compiled(ROOTS % function, tmp_path)
    assert result.verified
    assert "polyc_sqrtf" not in result.text
    errno = "errno" in function
    assert ("math-errno" in {remark.code for remark in result.program.remarks}) is errno


def test_what_an_iteration_declares_has_no_edges_apart(tmp_path: Path) -> None:
    """The array `t` is a variable of each iteration, and the edges would declare it once more (20281310:1191)."""
    text = """
static double s[8][64];
void f(int n, int m, const double a[n][m], double c[n][m])
{
    double t[n][m];
#pragma scop
    for (int i = 2; i < n; i++) {
        for (int j = 0; j < m; j++)
            t[i][j] = a[i][j] * a[i][j];
        for (int j = 0; j < m; j++)
            c[i][j] = t[i][j] + (i > m / 2 ? j : s[i + 3][j + 3]);
    }
#pragma endscop
}
"""
    result = compile_region(region_of(text, tmp_path), Options())
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert "contracted" in codes
    assert "verification-failed" not in codes


LARGEST = """
void f(int n, const float a[n][4], float most[n], int at[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float m = -1e30f;
        int k = 0;
        for (int j = 0; j < 4; j++)
            if (a[i][j] > m) { m = a[i][j]; k = j; }
        most[i] = m;
        at[i] = k;
    }
#pragma endscop
}
"""


def test_two_choices_by_one_comparison_of_floats(tmp_path: Path) -> None:
    """gcc 12 makes vectors of a branch in their place, and none of them."""
    text = text_of(LARGEST, tmp_path, sizes=(1, 9))
    assert "if (a[i][j] > m) {" in text


HOLE = """
void f(int n, float box, float cutoff, const float x[n], const float y[n], float fx[n], float fy[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float sx = 0, sy = 0;
        for (int j = 0; j < n; j++) {
            float dx = x[i] - x[j], dy = y[i] - y[j];
            float r2 = dx * dx + dy * dy;
            if (j != i && r2 < cutoff) {
                sx += (1 - r2) * dx;
                sy += (1 - r2) * dy;
            }
        }
        fx[i] = sx;
        fy[i] = sy;
    }
#pragma endscop
}
"""


def test_a_hole_beside_data_is_one_more_comparison(tmp_path: Path) -> None:
    """A loop with a hole in it would have a branch, and no vectors."""
    text = text_of(HOLE, tmp_path, sizes=(1, 7, 65))
    assert "int polyc_taken = (j != (int)i) & (r2 < cutoff);" in text


FLAGS = """
#include <stdbool.h>
static bool set[70], marks[70][70];
static float w[70][70], x[70];
void f(void)
{
#pragma scop
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++) {
            %s
        }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("float d = 0; if (set[j]) d = 2 * x[j]; w[i][j] += d;", "set[j]"),
        ("w[i][j] = marks[i][j] && x[j] > 0 ? w[i][j] - x[j] : w[i][j];", "marks[i][j]"),
        ("w[i][j] += x[j] * !set[i];", "set[i]"),
        ("marks[i][j] = set[j];", "set[j]"),
    ],
)
def test_flags_are_read_as_bytes(line: str, printed: str, tmp_path: Path) -> None:
    # gcc makes no vectors of loads of a _Bool
    text = text_of(FLAGS % line, tmp_path)
    assert f"polyc_flag({printed})" in text
    assert "polyc_flag(marks[i][j]) =" not in text


def test_flags_of_bytes_are_as_they_are(tmp_path: Path) -> None:
    text = FLAGS.replace("#include <stdbool.h>", "typedef unsigned char bool;") % "w[i][j] += x[j] * !set[i];"
    assert "polyc_flag" not in text_of(text, tmp_path)


MIXING = """
#define N 70
static double rho[5][N], u[5][N], kv[5][N], dz[5];
static int deep[N];
void f(void)
{
#pragma scop
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < N; i++) {
            kv[k][i] = 1e-5;
            if (k + 1 < deep[i]) {
                double n2 = (rho[k + 1][i] - rho[k][i]) / dz[k], du = u[k + 1][i] - u[k][i];
                double ri = n2 / (du * du + 1e-10);
                if (ri < 0)
                    kv[k][i] = 0.1;
                else {
                    double f = 1 / (1 + 5 * ri);
                    kv[k][i] += 5e-3 * f * f;
                }
            }
        }
#pragma endscop
}
"""


def test_elements_that_are_set_in_any_case_are_chosen(tmp_path: Path) -> None:
    """Branches with variables of their own: gcc makes no vectors where it may not load `dz[k]` in vain."""
    text = text_of(MIXING, tmp_path)
    assert "kv[k][i] = polyc_select(polyc_taken1, 0.1, kv[k][i]);" in text


def test_elements_that_are_set_in_no_other_case_are_not(tmp_path: Path) -> None:
    """Somebody else may set them."""
    text = text_of(MIXING.replace("            kv[k][i] = 1e-5;\n", ""), tmp_path)
    assert "polyc_select" not in text


def test_elements_that_may_not_be_there_are_not_loaded(tmp_path: Path) -> None:
    text = text_of(
        MIXING.replace("static double rho", "extern double dz[]; static double rho").replace(", dz[5];", ";"), tmp_path
    )
    assert "polyc_select" not in text


@pytest.mark.parametrize("name", ["fabs", "floor", "sqrt"])
def test_functions_of_the_file_are_computed_where_they_are_asked_for(name: str, tmp_path: Path) -> None:
    """Whatever they are called, they may do something else."""
    scop = region_of(MIXING, tmp_path).scop
    assert name in _plain(scop)
    assert name not in _plain(replace(scop, own_functions=frozenset({name})))


WINDOWED = """
void f(float a[8][64], int k[8][64], float out[8][64])
{
#pragma scop
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 64; x++) {
            float s = 0;
            for (int d = LOW; d <= 2; d++)
                s += a[y][(x + d) & 63];
            out[y][x] = k[y][x] < 0 ? 0.1f : s * 0.5f;
        }
#pragma endscop
}
"""


@pytest.mark.parametrize(("low", "in_vectors"), [("-2", True), ("(x < 2 ? -x : -2)", False)])
def test_no_choice_is_made_where_loops_inside_keep_a_loop_from_vectors(
    low: str, in_vectors: bool, tmp_path: Path
) -> None:
    assert ("= polyc_selectf(" in text_of(WINDOWED.replace("LOW", low), tmp_path)) == in_vectors
