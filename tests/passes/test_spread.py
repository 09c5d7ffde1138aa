"""Recurrences of neighbouring columns beside each other, run; the trees are in `strips/`, for `test_on_trees.py`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.frontend import read
from polyc.model.program import Buffer, InputOptions, Options, Program
from polyc.model.tree import Band, Domain, Leaf, Mark, Node, rewrite, walk
from polyc.pipeline import compile_region
from polyc.poly import names
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.programs import after, compiled, compiled_file, region_in, region_of

FILES = sorted((Path(__file__).parent / "strips").glob("*.c"))
FAILURES = {"verification-failed", "budget", "not-printed"}
SIZES = (1, 7, 33, 64, 65, 130)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
@pytest.mark.parametrize("target", ["openmp", "c"])
def test_values(file: Path, target: str) -> None:
    """Bit by bit, at sizes around those of strips."""
    region = region_in(file)
    result = compile_region(region, Options(target=target))
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert "spread" in codes
    assert not codes & FAILURES
    assert check(region, result, sizes=SIZES) == []


LEFT_ALONE = {
    "rows in which data choose, and no element that tells the next one": """
void f(int n, int m, int feat[m][6], float thr[m][6], float value[m][64], const float *restrict x, float *restrict out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float s = 0.5f;
        for (int t = 0; t < m; t++) {
            int at = 0;
            for (int d = 0; d < 6; d++)
                at |= (x[i * 28 + feat[t][d]] > thr[t][d]) << d;
            s += value[t][at];
        }
        out[i] = s;
    }
#pragma endscop
}
""",
    "calls with a value of each column, and nothing along them": """
#include <math.h>
void f(int n, int m, double A[n][m], double B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            double s = 0.0, t = 0.0;
            for (int j = 0; j < m; j++) {
                double angle = 0.5 * k * j / m;
                s += A[i][j] * cos(angle);
                t += A[i][j] * sin(angle);
            }
            B[i][k] = s / t;
        }
#pragma endscop
}
""",
    "rows that do not wait": """
void f(int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t = 0.0;
        for (int j = 0; j < n; j++) {
            B[i][j] = t;
            t = A[i][j];
        }
    }
#pragma endscop
}
""",
    "a value that goes from column to column": """
void f(int n, double A[n][n], double out[1])
{
    double t = 1.0;
#pragma scop
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            A[i][j] = A[i][j] + t;
            t = 0.5 * A[i][j];
        }
    out[0] = t;
#pragma endscop
}
""",
    "whole numbers along a row": """
void f(int n, int A[n][n], int out[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int j = 0; j < n; j++)
            s += A[i][j];
        out[i] = s;
    }
#pragma endscop
}
""",
    "rows across the lines of a cache": """
void f(int n, float W[n][10][64], float x[n][n], float out[n][10])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 10; j++) {
            float s = 0;
            for (int k = 0; k < 64; k++)
                s += W[i][j][k] * x[i][k % n];
            out[i][j] = s;
        }
#pragma endscop
}
""",
    "a row that may not be there where data say so": """
void f(int n, int k, const int use[n], const float (*restrict P)[16], const float C[k][16], float *restrict out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float best = 0;
        for (int c = 0; c < k; c++) {
            float d = 0;
            for (int j = 0; j < 16; j++)
                d += use[i] ? P[i][j] * C[c][j] : 0;
            if (d > best)
                best = d;
        }
        out[i] = best;
    }
#pragma endscop
}
""",
    "a window": """
void f(int n, double A[n + 3], double B[n])
{
#pragma scop
    for (int j = 0; j < n; j++) {
        double t = 0.0;
        for (int k = 0; k < 3; k++)
            t = 0.5 * t + A[j + k];
        B[j] = t;
    }
#pragma endscop
}
""",
    "rows of their own, along which compilers make vectors": """
void f(int n, const double A[n][64], double B[n][64])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double row[64];
        for (int j = 0; j < 64; j++)
            row[j] = 2 * A[i][j];
        for (int j = 1; j < 64; j++)
            B[i][j] = row[j] - row[j - 1];
    }
#pragma endscop
}
""",
    "rows of their own in loops that are unrolled": """
void f(int n, const double A[9][n], double B[9][n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double own[9], sum = 0;
        for (int q = 0; q < 9; q++) {
            own[q] = A[q][i];
            sum += own[q];
        }
        for (int q = 0; q < 9; q++)
            B[q][i] = own[q] / sum;
    }
#pragma endscop
}
""",
    "columns of blocks, eight apart": """
void f(int n, const float A[8][8 * n], float B[8][8 * n])
{
#pragma scop
    for (int b = 0; b < 8 * n; b += 8) {
        float own[8][8];
        for (int u = 0; u < 8; u++)
            for (int x = 0; x < 8; x++)
                own[u][x] = u ? own[u - 1][x] * 0.5f + A[u][b + x] : A[u][b + x];
        for (int u = 0; u < 8; u++)
            for (int x = 0; x < 8; x++)
                B[u][b + x] = own[x][u];
    }
#pragma endscop
}
""",
    "sums of small windows, which start again in each column": """
void f(int n, int m, const unsigned char rgb[2 * n][2 * m][2], int A[n][m], int B[n][m])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            int r = 0, g = 0;
            for (int j = 0; j < 2; j++)
                for (int i = 0; i < 2; i++) {
                    r += rgb[2 * y + j][2 * x + i][0];
                    g += rgb[2 * y + j][2 * x + i][1];
                }
            A[y][x] = r - g;
            B[y][x] = r + g;
        }
#pragma endscop
}
""",
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_other_nests_stay(name: str, tmp_path: Path) -> None:
    region = region_of(LEFT_ALONE[name], tmp_path)
    result = compile_region(region, Options())
    assert "spread" not in {r.code for r in result.program.remarks}
    assert check(region, result, sizes=(1, 9, 67)) == []


def test_columns_inside_go_first() -> None:
    """Not rows far from each other, for recurrences of which nobody knows how long they are."""
    result = compile_region(region_in(Path(__file__).parent / "strips" / "any_length.c"), Options())
    (message,) = [remark.message for remark in result.program.remarks if remark.code == "spread"]
    assert "iterations of i, each with its own e" in message


def test_sums_of_one_window_share_its_loops() -> None:
    """Those of a row, too."""
    rows, strips = (region_in(next(f for f in FILES if f.stem == stem)) for stem in ("two_sums", "gradient"))
    for region, sums in ((rows, {"S2", "S3"}), (strips, {"S2", "S3"})):
        tree = after(region, "spread").tree
        loops = [n for n in walk(tree.child) if isinstance(n, Band) and not any(m.coincident for m in n.members)]
        assert loops
        assert all(set(names(n.members[0].schedule.domain())) == sums for n in loops)


def test_sums_that_need_each_other_stay_apart(tmp_path: Path) -> None:
    """The second one reads what the first one comes to; and the same scalar is used twice."""
    text = """
void f(int n, int m, double A[m][n], double out[n], double more[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0, q = 0;
        for (int j = 0; j < m; j++)
            s += A[j][i];
        for (int j = 0; j < m; j++)
            q += (A[j][i] - s) * (A[j][i] - s);
        out[i] = q;
        s = 1;
        for (int j = 0; j < m; j++)
            s *= A[j][i];
        more[i] = s;
    }
#pragma endscop
}
"""
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert "spread" in {r.code for r in result.program.remarks}
    loops = [n for n in walk(after(region, "spread").tree.child) if isinstance(n, Band)]
    sums = [names(n.members[0].schedule.domain()) for n in loops if not any(m.coincident for m in n.members)]
    assert sorted(map(len, sums)) == [1, 1, 1]
    assert check(region, result, sizes=(1, 9, 67)) == []


@pytest.mark.parametrize("divided", [False, True])
def test_no_vectors_from_row_to_row(divided: bool, tmp_path: Path) -> None:
    """The rows that run at once are left to the C compiler, but for vectors of quotients."""
    sum_ = "s = A[i][j] / (s + 2)" if divided else "s += A[i][j]"
    text = f"""
void f(int n, float A[n][n], float out[n])
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        float s = 0;
        for (int j = 0; j < n; j++)
            {sum_};
        out[i] = s;
    }}
#pragma endscop
}}
"""
    program = after(region_of(text, tmp_path), "parallel")
    (strip,) = (n for n in walk(program.tree.child) if isinstance(n, Mark))
    (inner,) = (
        n.members[-1]
        for n in walk(strip)
        if isinstance(n, Band) and isinstance(n.child, Leaf) and names(n.members[-1].schedule.domain()) == ["S1"]
    )
    assert inner.vector is divided


@pytest.mark.parametrize("width", [1024, 1000])
def test_no_vectors_over_far_elements(width: int, tmp_path: Path) -> None:
    """gcc loads all that lies between elements that a power of two is between, where a pragma asks for vectors: also
    where only the version for the sizes that all calls have says so."""
    text = f"""
static void solve(int n, int m, float *u, const float *a)
{{
    for (int j = 0; j < n; j++) {{
        float own[1024];
        own[0] = u[j * m];
        for (int i = 1; i < m; i++) {{
            own[i] = a[i] / (own[i - 1] + 2);
            u[j * m + i] = (u[j * m + i] - u[j * m + i - 1]) * own[i];
        }}
    }}
}}
void all(float *u, const float *a) {{ solve(1000, {width}, u, a); }}
"""
    (found,), _ = compiled_file(text, tmp_path)
    assert ("omp simd" in found.special) == (width == 1000)


# --- the check sees what breaks it -----------------------------------------------------------------------------------


def spread(name: str) -> Program:
    file = next(f for f in FILES if f.stem == name)
    found = after(region_in(file), "parallel")
    assert faults_of(found) == []
    return found


def with_buffers(program: Program, change: Callable[[Buffer], Buffer]) -> Program:
    return replace(program, buffers={key: change(b) for key, b in program.buffers.items()})


def one_place(buffer: Buffer) -> Buffer:
    """All iterations of a strip share the first place."""
    assert buffer.places is not None
    size = isl.Val.int_from_si(buffer.places.get_ctx(), 32)
    pieces = buffer.places.get_map_list()
    found = isl.UnionMap.empty(buffer.places.get_space())
    for k in range(pieces.n_map()):
        piece = pieces.get_at(k)
        value = isl.PwMultiAff.from_map(piece).get_pw_aff(0).scale_down_val(size).floor().scale_val(size)
        one = isl.Map.from_pw_aff(value).set_tuple_id(isl.dim_type.out, piece.get_tuple_id(isl.dim_type.out))
        found = found.union(isl.UnionMap.from_map(one))
    return replace(buffer, places=found)


def fewer_places(buffer: Buffer) -> Buffer:
    return replace(
        buffer, extents=tuple(e.add_constant_val(isl.Val.int_from_si(e.get_ctx(), -1)) for e in buffer.extents)
    )


def without_some(buffer: Buffer) -> Buffer:
    """Instances of one statement have no place."""
    assert buffer.places is not None
    first = buffer.places.get_map_list().get_at(0)
    return replace(buffer, places=buffer.places.subtract(isl.UnionMap.from_map(first)))


@pytest.mark.parametrize("change", [one_place, fewer_places, without_some], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["filter", "one_sum"])
def test_wrong_places_are_seen(name: str, change: Callable[[Buffer], Buffer]) -> None:
    assert faults_of(with_buffers(spread(name), change))


@pytest.mark.parametrize("name", ["filter", "one_sum"])
def test_a_scalar_without_places_is_seen(name: str) -> None:
    """The loop inside, and one scalar for all."""

    def change(node: Node) -> Node:
        return node.child if isinstance(node, Mark) and node.kind == "allocate" else node

    program = spread(name)
    assert faults_of(replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change))))


def test_places_for_each_step_are_seen() -> None:
    """Declared inside of the loop that carries their values."""

    def change(node: Node) -> Node:
        match node:
            case Mark(kind="allocate", child=below):
                return below
            case Band(members=(member,)) if not member.coincident:
                return replace(node, child=Mark("allocate", node.child, names=tuple(program.buffers)))
            case _:
                return node

    program = spread("filter")
    assert faults_of(replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change))))


def test_strips_of_constant_length(tmp_path: Path) -> None:
    """The last rows of an unknown number have loops of their own, as they were written."""
    text = """
void sums(int n, int m, double A[n][m], double s[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t = 0.0;
        for (int j = 0; j < m; j++)
            t += A[i][j];
        s[i] = t;
    }
#pragma endscop
}
"""
    printed = compile_region(region_of(text, tmp_path), Options()).text
    whole, _, rest = printed.partition("} else")
    assert "n >= it + 8" in whole
    assert "t_of[i - it] += A[i][j];" in whole
    assert "polyc_min" not in whole
    assert "t += A[i][j];" in rest


def test_strips_have_their_scalars_in_registers(tmp_path: Path) -> None:
    """Of two sums, four rows at once are eight registers."""
    program = after(region_in(Path(__file__).parent / "strips" / "two_row_sums.c"), "spread")
    (said,) = (r for r in program.remarks if r.code == "spread")
    assert said.data["size"] == 4


@pytest.mark.parametrize("rows", ["n", "64"])
def test_pragmas_that_gcc_heeds(rows: str, tmp_path: Path) -> None:
    """gcc warns of a pragma before a loop up to the lesser one of two values, and ignores it."""
    text = f"""
void sums(int n, int m, double A[n][m], double s[n])
{{
#pragma scop
    for (int i = 0; i < {rows}; i++) {{
        double t = 0.0;
        for (int j = 0; j < m; j++)
            t += A[i][j];
        s[i] = t;
    }}
#pragma endscop
}}
"""
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert "#pragma GCC unroll" in result.text
    printed = tmp_path / "printed.c"
    printed.write_text(f"void sums(int n, int m, double A[n][m], double s[n])\n{{\n{result.text}\n}}\n")
    subprocess.run(["gcc", "-O2", "-fopenmp", "-Werror", "-c", printed, "-o", tmp_path / "o"], check=True)


def test_loops_of_two_iterations_make_no_strips(tmp_path: Path) -> None:
    """Two by two columns, where the sizes say which."""
    text = """
void nearest(long x, long y, long width, long height, long u, long v, long rx, long ry, unsigned long channels,
             const float *restrict centres, const float *restrict image, unsigned *restrict out)
{
    long up, vp, k;
    float least = 1e30f;
      for (vp = 0 > v ? 0 : v; vp <= (ry - 1 < v + 1 ? ry - 1 : v + 1); ++vp)
        for (up = 0 > u ? 0 : u; up <= (rx - 1 < u + 1 ? rx - 1 : u + 1); ++up) {
          long region = up + vp * rx;
          float sum = 0;
          for (k = 0; k < (signed)channels; ++k) {
            float d = image[x + y * width + k * width * height] - centres[(2 + channels) * region + k + 2];
            sum += d * d;
          }
          if (least > sum) {
            least = sum;
            out[x + y * width] = region;
          }
        }
}
"""
    file = tmp_path / "t.c"
    file.write_text(text)
    (region,) = read(str(file), InputOptions(detect=True)).regions
    assert "spread" not in {remark.code for remark in compile_region(region, Options()).program.remarks}


ONE_STRIP = """
void kernel(int n, int m, double a[12], double r[12][12][28])
{
    double w[28];
#pragma scop
    for (int i = 0; i < n; i += 3)
        for (int j = (i < 1 ? 0 : i - 1); j <= (i + 2 < 11 ? i + 2 : 11); j++) {
            for (int k = 1; k < m; k++)
                w[k] = a[j];
            for (int k = 2; k < m; k++)
                if (w[k] < w[k - 1])
                    w[k] = w[k - 1] * 0.5;
            for (int k = 3; k < m; k++)
                r[i][j][k] = w[k];
        }
#pragma endscop
}
"""


def test_one_strip_does_not_keep_threads_away(tmp_path: Path) -> None:
    """All iterations of j would make one strip around i, whose private array the threads of i would share."""
    options = Options(machine="x86-64-v3", threads="always")
    result = compile_region(region_of(ONE_STRIP, tmp_path), options)
    assert not FAILURES & {remark.code for remark in result.program.remarks}
    loops = [m for n in walk(result.program.tree.child) if isinstance(n, Band) for m in n.members]
    assert any(member.parallel for member in loops)


PERMUTED = """
#include <math.h>
void f(int n, int m, int k, int q, const double rank[n][k], int perm[q][m], double out[n])
{
#pragma scop
    for (int g = 0; g < n; g++) {
        double low = 1e30;
        for (int p = 0; p < q; p++) {
            double s = 0;
            for (int i = 0; i < m; i++)
                s += rank[g][perm[p][i]];
            low = fmin(low, s);
        }
        out[g] = low;
    }
#pragma endscop
}
"""


def test_rows_in_which_data_lead_somewhere_are_few(tmp_path: Path) -> None:
    """Each has lines of its own, whichever elements these are."""
    found = compiled(PERMUTED, tmp_path)
    assert found.verified
    assert "s_of[4]" in found.text
    assert "low_of[4]" in found.text


LATTICE = """
void f(int n, int m, const float k[n], const float p[n], float *price, int *early)
{
    float v[%d], s[%d];
#pragma scop
    for (int o = 0; o < n; o++) {
        int count = 0;
        for (int i = 0; i < %d; i++)
            v[i] = i * k[o];
        for (int t = %d; t >= 0; t--)
            for (int i = 0; i <= t; i++) {
                float keep = p[o] * v[i + 1] + v[i];
                float now = i - k[o];
                v[i] = keep;
                if (now > keep) { v[i] = now; count++; }
            }
        price[o] = v[0];
        early[o] = count;
    }
#pragma endscop
}
"""


def test_loops_that_read_ahead_and_count_are_vectors_as_they_are(tmp_path: Path) -> None:
    """Columns of them beside each other would only leave the nearest cache."""
    region = region_of(LATTICE % (101, 101, 101, 99), tmp_path)
    result = compile_region(region, Options())
    assert "float v_here[101];" in result.text
    assert "_of[" not in result.text
    assert check(region, result, sizes=(1, 5)) == []


WEIGHTS = """
#include <math.h>
void f(int h, int w, const unsigned char a[h][w], float out[h][w], float d)
{
#pragma scop
    for (int i = 2; i < h - 2; i++)
        for (int j = 2; j < w - 2; j++) {
            float sum = 0;
            for (int k = -9; k <= 9; k++) {
                int far = 0;
                for (int p = -2; p <= 2; p++)
                    for (int q = -2; q <= 2; q++)
                        far += (a[i + p][j + q] - k) * (a[i + p][j + q] - k);
                sum += expf(-far * d);
            }
            out[i][j] = sum;
        }
#pragma endscop
}
"""


def test_calls_have_loops_of_their_own_beside_those_of_vectors(tmp_path: Path) -> None:
    region = region_of(WEIGHTS, tmp_path)
    result = compile_region(region, Options())
    assert "far_of[j - jt] += " in result.text
    assert "sum_of[j - jt] += expf(-far_of[j - jt] * d);" in result.text
    assert check(region, result, sizes=(4, 5, 9, 70)) == []


UPDATES = """
struct pair { float u, v; };
void f(int h, int w, const float a[h][w], const float b[h][w], const float d[h][w], struct pair flow[h][w])
{
#pragma scop
    for (int y = 3; y < h - 3; y++)
        for (int x = 3; x < w - 3; x++) {
            float s = 0, t = 0;
            for (int p = -3; p <= 3; p++)
                for (int q = -3; q <= 3; q++) {
                    s += a[y + p][x + q] * b[y + p][x + q];
                    t += a[y + p][x + q];
                }
            if (d[y][x] > 0.5f) {
                flow[y][x].u -= s / d[y][x];
                flow[y][x].v -= t / d[y][x];
            }
        }
#pragma endscop
}
"""


def test_windows_have_loops_of_their_own_beside_branches(tmp_path: Path) -> None:
    region = region_of(UPDATES, tmp_path)
    result = compile_region(region, Options())
    assert "s_of[x - xt] += " in result.text
    assert check(region, result, sizes=(6, 7, 71)) == []


def test_choices_that_a_part_of_the_loops_decides() -> None:
    text = compile_region(region_in(Path(__file__).parent / "strips" / "levels.c"), Options()).text
    assert "double up = 0.0;" in text
    assert "double up = k[l][j][i] / thick[l];" in text
