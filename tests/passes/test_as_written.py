"""Nests to which tiles, strips or nests apart would do no good: they stay as they were written, in parallel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import compiled, compiled_file, region_of

BLOCKS = """
void f(int n, double t[n][6][6], double s[n][6][6], double j[n][6][6])
{
#pragma scop
    for (int b = 0; b < n; b++) {
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++) {
                t[b][i][k] = 0;
                for (int l = 0; l < 6; l++)
                    t[b][i][k] += j[b][i][l] * s[b][l][k];
            }
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++) {
                s[b][i][k] = 0;
                for (int l = 0; l < 6; l++)
                    s[b][i][k] += t[b][i][l] * j[b][k][l];
            }
    }
#pragma endscop
}
"""
"""Two small products, of which the second one needs just what the first one makes in the same iteration."""
FILTERS = """
void f(int n, int m, double st[n][8], double in[n][m], double out[n][m], double a)
{
#pragma scop
    for (int c = 0; c < n; c++)
        for (int t = 0; t < m; t++) {
            double x = in[c][t];
            for (int b = 0; b < 6; b++) {
                x = a * x + st[c][b];
                st[c][b] = x;
            }
            out[c][t] = x;
        }
#pragma endscop
}
"""
"""A recurrence along a row, whose state nothing else meets."""


@pytest.mark.parametrize(
    ("text", "reason"), [(BLOCKS, "parallel-as-it-is"), (FILTERS, "no-reuse")], ids=["small blocks", "filters"]
)
def test_they_stay(text: str, reason: str, tmp_path: Path) -> None:
    region = region_of(text, tmp_path)
    result = compile_region(region, Options(threads="always"))
    assert result.verified
    told = {r.data.get("reason") for r in result.program.remarks if r.code == "not-tiled"}
    assert told == {reason}
    assert result.text.count("omp parallel for") == 1
    assert check(region, result, sizes=(1, 5)) == []


def test_blocks_of_a_few_values_are_no_blocks(tmp_path: Path) -> None:
    """Of three channels the loops around are what vectors run along."""
    text = BLOCKS.replace("< 6", "< 2").replace("[6][6]", "[2][2]")
    result = compile_region(region_of(text, tmp_path), Options())
    assert "not-scheduled" not in {r.code for r in result.program.remarks}


DILATION = """
static void dilate(unsigned char *img, const unsigned char *in, int w, int h, int radius)
{
    int x, y, k;
    unsigned char m;
    for (y = radius; y < h - radius; y++)
        for (x = radius; x < w - radius; x++) {
            m = 0;
            for (k = -radius; k <= radius; k++)
                if (in[(y + k) * w + x] > m)
                    m = in[(y + k) * w + x];
            img[y * w + x] = m;
        }
}
unsigned char a[768 * 1024], b[768 * 1024];
void all(void) { dilate(a, b, 1024, 768, RADIUS); }
"""


@pytest.mark.parametrize(("radius", "strips"), [("2", False), ("40", True)])
def test_a_window_that_the_file_knows_is_unrolled(radius: str, strips: bool, tmp_path: Path) -> None:
    """A C compiler keeps the largest of five in a register; of 81 it would not."""
    _, text = compiled_file(DILATION.replace("RADIUS", radius), tmp_path)
    assert ("m_of[" in text) == strips


def test_several_tables_in_one_declaration(tmp_path: Path) -> None:
    table = ", ".join(str(k % 7) for k in range(900))
    text = f"static const int ex[900] = {{{table}}}, ey[900] = {{{table}}};\nint a[900][1000];\n"
    text += "void f(void)\n{\n    for (int k = 0; k < 900; k++)\n        for (int x = 0; x < 1000; x++)\n"
    text += "            a[k][x] = ex[k] * x + ey[k];\n}\n"
    found, _ = compiled_file(text, tmp_path)
    assert len(found) == 1


BACKWARDS = """
void f(int n, int m, double U[restrict n][n], double x[restrict n][m])
{
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            for (int t = 0; t < m; t++)
                x[i][t] -= U[i][j] * x[j][t];
        for (int t = 0; t < m; t++)
            x[i][t] /= U[i][i];
    }
}
"""


def test_one_thread_takes_whole_rows_that_a_cache_holds(tmp_path: Path) -> None:
    """Strips of the right-hand sides are for threads, where these start, and for systems that are larger than the last
    cache."""
    _, text = compiled_file(BACKWARDS, tmp_path)
    (start,) = re.findall(r"omp parallel for if \(m > 64 && (.*)\)", text)
    wanted = f"m > 64 && {start.replace('(n - 1)', '(n - 1L)')} && polyc_several()"
    assert f"&& polyc_threads(({wanted}) || 1.0 * (n - 1L) * m > 2097152)) {{" in text


NARROW = """
void f({bound} n, int m, double a[40], double b[40][40], double *after)
{{
    int i = 0, k = 0, l = 0;
#pragma scop
    for (i = 0; i < 40; i++)
        for (k = 0; k < n; k++)
            for (l = 0; l < 7; l++)
                a[i] += b[k][l];
#pragma endscop
    *after += i + k + l;
}}
"""


@pytest.mark.parametrize("bound", ["short", "unsigned char", "int"])
def test_where_a_loop_ends_that_has_a_narrow_bound(bound: str, tmp_path: Path) -> None:
    """One assignment, which iterations of a loop with threads may have to themselves, and no empty loop."""
    found = compiled(NARROW.format(bound=bound), tmp_path)
    assert found.verified
    assert "k = 0 < n ? n : 0;" in found.text


NIBBLES = """
void f(int n, const short x[2 * n], unsigned char code[n])
{
    int s = 1;
#pragma scop
    for (int i = 0; i < 2 * n; i++) {
        s = (s * 3 + x[i]) % 64;
        if (i % 2 == 0)
            code[i / 2] = s & 15;
        else
            code[i / 2] |= (s & 15) << 4;
    }
#pragma endscop
}
"""


def test_quotients_in_subscripts_are_as_they_were_written(tmp_path: Path) -> None:
    """Where i is odd, `i / 2` is `(i + 1) / 2 - 1` as well."""
    region = region_of(NIBBLES, tmp_path)
    found = compile_region(region, Options())
    assert found.verified
    assert found.text.count("code[i / 2]") == 2
    assert check(region, found, sizes=(1, 2, 7)) == []


SEARCH = """
void f(int n, const unsigned char c[n][n], const unsigned char r[n][n], unsigned best[n][n])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            unsigned least = 1u << 30;
            for (int dy = -6; dy <= 6; dy++)
                for (int dx = -6; dx <= 6; dx++) {
                    if (%s) continue;
                    unsigned sad = 0;
                    for (int i = 0; i < 8; i++) {
                        sad += c[y][x] > r[y + dy][x + dx] ? 1 : i;
                        if (sad > least) break;
                    }
                    if (sad < least) least = sad;
                }
            best[y][x] = least;
        }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("condition", "helped"),
    [("y + dy < 0 || x + dx < 0 || y + dy >= n || x + dx >= n", True), ("c[y][x] == 0", False)],
)
def test_one_thread_runs_loops_whose_conditions_are_bounds(condition: str, helped: bool, tmp_path: Path) -> None:
    region = region_of(SEARCH % condition, tmp_path)
    text = compile_region(region, Options()).text
    assert ("polyc_several()" not in text) == helped


RING = """
void f(int n, int s[{size}][{size}])
{{
#pragma scop
    for (int t = 0; t < n; t++)
        for (int y = 0; y < {size}; y++)
            for (int x = (y + t) % 2; x < {size}; x += 2)
                s[y][x] += s[(y + 1) % {size}][x] + s[y][(x + {last}) % {size}];
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("size", "read"),
    [
        (64, "s[(y + 1) % 64][x] + s[y][(x + 63) % 64]"),  # one instruction
        (60, "s[y2][x] + s[y][x == 0 ? 59 : x - 1]"),
    ],
)
def test_remainders_by_powers_of_two_are_as_they_were_written(size: int, read: str, tmp_path: Path) -> None:
    region = region_of(RING.format(size=size, last=size - 1), tmp_path)
    found = compile_region(region, Options())
    assert found.verified
    assert read in found.text
    assert check(region, found, sizes=(1, 2, 7)) == []


SLOTS = """
void f(int head, double x[48][64], double y[48])
{
#pragma scop
    for (int p = 0; p < 48; p++) {
        int slot = (head - p + 48) % 48;
        for (int b = 0; b < 64; b++)
            y[p] += x[slot][b];
    }
#pragma endscop
}
"""


def test_remainders_of_both_signs_are_as_they_were_written(tmp_path: Path) -> None:
    """C's remainder is no choice between those of the value and of its opposite."""
    region = region_of(SLOTS, tmp_path)
    found = compile_region(region, Options())
    assert found.verified
    assert "+ 48) % 48][b]" in found.text
    assert "?" not in found.text
    assert check(region, found, sizes=(1, 2, 7, 47)) == []
