"""Nests that are joined before tiling though others stand between them, and what of them lives in variables."""

from __future__ import annotations

from pathlib import Path

from polyc.model.program import Compiled
from polyc.runtime.check import check
from tests.programs import compiled, region_of


def joined(result: Compiled) -> set[tuple[str, ...]]:
    return {r.statements for r in result.program.remarks if r.code == "pretiling-fused"}


def right(text: str, folder: Path) -> Compiled:
    """Compiled, verified, and with the same values."""
    result = compiled(text, folder)
    assert result.passed
    assert check(region_of(text, folder), result, sizes=(1, 5, 19, 66)) == []
    return result


CORNERS = """
void corners(int n, float in[n + 4][n + 4], float out[n][n])
{
    float gx[n + 2][n + 2], gy[n + 2][n + 2], xx[n + 2][n + 2], xy[n + 2][n + 2], sx[n][n], sy[n][n], det[n][n];
#pragma scop
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < n + 2; j++)
            gx[i][j] = in[i][j + 2] - in[i][j];
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < n + 2; j++)
            gy[i][j] = in[i + 2][j] - in[i][j];
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < n + 2; j++)
            xx[i][j] = gx[i][j] * gx[i][j];
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < n + 2; j++)
            xy[i][j] = gx[i][j] * gy[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sx[i][j] = xx[i][j] + xx[i + 1][j + 1] + xx[i + 2][j + 2];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sy[i][j] = xy[i][j] + xy[i + 1][j + 1] + xy[i + 2][j + 2];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            det[i][j] = sx[i][j] * sy[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = det[i][j] + sx[i][j];
#pragma endscop
}
"""


def test_stages_of_one_iteration_become_one_nest_whatever_stands_between(tmp_path: Path) -> None:
    result = right(CORNERS, tmp_path)
    assert joined(result) == {("S0", "S1", "S2", "S3"), ("S4", "S5", "S6", "S7")}
    assert len(result.program.groups) == 1
    assert {b.array for b in result.program.buffers.values() if set(map(str, b.extents)) != {"{ [(1)] }"}} >= {
        "xx",
        "xy",
    }


def test_what_a_fused_nest_makes_for_itself_is_a_variable(tmp_path: Path) -> None:
    """Below an extension node too."""
    result = right(CORNERS, tmp_path)
    contracted = {r.data["array"] for r in result.program.remarks if r.code == "contracted"}
    assert contracted == {"gx", "gy", "sx", "sy", "det"}
    assert "float gx_here = " in result.text


THROUGH = """
void through(int n, float a[n], float out[n])
{
    float t[n], u[n];
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = a[i] * 2.0f;
    for (int i = 0; i < n; i++)
        u[i] = t[n - 1 - i] + 1.0f;
    for (int i = 0; i < n; i++)
        out[i] = t[i] + u[n - 1 - i] + u[i];
#pragma endscop
}
"""


def test_a_nest_between_that_needs_one_and_is_needed_keeps_them_apart(tmp_path: Path) -> None:
    assert joined(right(THROUGH, tmp_path)) == set()


OVERWRITTEN = """
void overwritten(int n, float a[n], float b[n], float c[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        b[i] = a[i] * 2.0f;
    for (int i = 0; i < n; i++)
        a[i] = c[n - 1 - i];
    for (int i = 0; i < n; i++)
        c[i] = b[i] + a[n - 1 - i];
#pragma endscop
}
"""


def test_dependences_that_are_no_flow_count_as_well(tmp_path: Path) -> None:
    assert joined(right(OVERWRITTEN, tmp_path)) == set()


SIBLINGS = """
void siblings(int n, float in[n + 2][n], float x[n][n], float y[n][n], float z[n][n])
{
    float t[n + 2][n];
#pragma scop
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = in[i][j] * 2.0f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i][j] = t[i][j] + t[i + 1][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            y[i][j] = t[i + 1][j] - t[i + 2][j];
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < n; j++)
            z[i][j] = t[i + 1][j] * t[i + 2][j];
#pragma endscop
}
"""


def test_siblings_that_read_the_same_cells_share_their_loops(tmp_path: Path) -> None:
    """Those of which one has a row less do not."""
    assert joined(right(SIBLINGS, tmp_path)) == {("S1", "S2")}


LOOKED_UP = """
void looked_up(int n, float in[n][n], unsigned char curve[1024], unsigned char out[n][n])
{
    short t[n][n], u[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = in[i][j] * 1023.0f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            u[i][j] = t[i][j] * 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = curve[u[i][j] < 0 ? 0 : u[i][j] > 1023 ? 1023 : u[i][j]];
#pragma endscop
}
"""


def test_look_ups_of_bytes_keep_their_loop(tmp_path: Path) -> None:
    """Nothing else in it would run in vectors; on a GPU that is no matter."""
    assert joined(right(LOOKED_UP, tmp_path)) == {("S0", "S1")}
    assert joined(compiled(LOOKED_UP, tmp_path, target="cuda")) == {("S0", "S1", "S2")}


TRIANGLE = """
void triangle(int n, int m, double A[n][n], double B[n][m], double C[n][m])
{
    double w;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            w = 0.0;
            for (int k = 0; k < i; k++)
                w += A[i][k] * B[k][j];
            C[i][j] = 0.5 * C[i][j] + w;
        }
#pragma endscop
}
"""


def test_what_reads_the_last_step_of_a_sum_over_a_triangle_joins_it(tmp_path: Path) -> None:
    """That step is i - 1, another one for each row."""
    assert ("S0", "S1", "S2") in joined(right(TRIANGLE, tmp_path))
