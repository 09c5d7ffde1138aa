"""Arrays that are copied by `memcpy` with sizes of several forms, and heads of loops that set more than they count."""

from __future__ import annotations

from pathlib import Path

from polyc.codegen import render_file
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.programs import run_alike

TEXT = """#include <stdio.h>
#include <string.h>
typedef double elem_t;
static double grid[70][70], next[70][70];
static elem_t row[70], old[70];
void relax(int times, double scale)
{
    for (int t = 0; t < times; t++) {
        for (int y = 1; y < 69; y++)
            for (int x = 1; x < 69; x++)
                next[y][x] = (grid[y][x - 1] + grid[y][x + 1] + grid[y - 1][x] + grid[y + 1][x]) / scale;
        memcpy(grid, next, sizeof grid);
    }
}
void smooth(int times)
{
    for (int t = 0; t < times; t++) {
        for (int x = 1; x < 69; x++)
            row[x] = old[x - 1] + old[x + 1];
        memcpy(old, row, 70 * sizeof(elem_t));
        for (int x = 1; x < 69; x++)
            row[x] = old[x - 1] - (elem_t)0.5 * old[x + 1];
        memcpy(&old[0], row, sizeof(row[0]) * 70);
    }
}
void sums(int n, double (*a)[70], const double *x, double *y)
{
    int i, j;
    for (i = 0; i < n; i++)
        for (y[i] = i, j = 0; j < n; j++)
            y[i] += a[i][j] * x[j];
}
int main(void)
{
    for (int way = 0; way < 5; way++) {
        for (int y = 0; y < 70; y++)
            for (int x = 0; x < 70; x++) grid[y][x] = next[y][x] = (x * 7 + y * 3) % 11;
        for (int x = 0; x < 70; x++) row[x] = old[x] = x % 5;
        relax(way, 4 + way);
        smooth(way);
        sums(70 - way, grid, way == 3 ? row : old, way == 2 ? grid[9] : row);
        double sum = 0;
        for (int y = 0; y < 70; y++)
            for (int x = 0; x < 70; x++) sum += grid[y][x] * (x % 17 + y);
        for (int x = 0; x < 70; x++) sum += row[x] * x + old[x];
        printf("%.17g\\n", sum);
    }
    return 0;
}
"""


def test_the_same_values(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(TEXT)
    source = read(str(file), InputOptions(detect=True))
    regions = [compile_region(region, Options(threads="always")) for region in source.regions]
    assert {region.program.scop.function for region in regions} >= {"relax", "smooth", "sums"}
    for region in regions:
        assert region.certificate is not None
        assert (region.certificate.tree, region.certificate.text) == ("shown", "shown")
        assert "verification-failed" not in {remark.code for remark in region.program.remarks}
    run_alike(TEXT, render_file(source, regions), tmp_path)
