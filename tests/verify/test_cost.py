"""What the check costs isl: counted in its operations, so that it is the same on every machine."""

from __future__ import annotations

from pathlib import Path

from polyc.frontend import read
from polyc.frontend.c.state import CTX
from polyc.model.program import InputOptions, Options
from polyc.pipeline import initial_program, passes_for
from polyc.poly import budget
from polyc.verify import check

SAMPLED = """
void kernel(int n, float C1[n + 5][n + 5], unsigned C4[31][31], double D3[n][n + 10][n + 1])
{
    double B2[n + 2];
#pragma scop
    for (long i = 0; i < n + 2; i++)
        B2[i] = C1[i + 3][i + 3];
    for (long i = 0; i < n - 2; i += 2)
        for (long j = 1; j < 19; j++)
            for (long k = 3; k < n - 1; k += 4)
                D3[i + 2][j + 2][k + 2] = B2[i + 4] + B2[i] + B2[i + 1];
    for (long i = 0; i <= n - 1; i++)
        for (long j = i; j <= n - 1; j++)
            C4[i][j] = B2[i + 2] > 0.25;
#pragma endscop
}
"""
"""A tile of the second nest runs where it has some even i and some k: conditions with variables of their own."""


def test_the_conditions_of_a_tile_are_not_repeated_for_each_loop(tmp_path: Path) -> None:
    file = tmp_path / "sampled.c"
    file.write_text(SAMPLED)
    (region,) = read(str(file), InputOptions()).regions
    options = Options(tile_sizes=(16,), max_recompute=1e6)
    program = initial_program(region.scop, options)
    for _, run in passes_for(options):
        program = run(program)
    assert any(group.fused for group in program.groups)
    with budget(CTX, 600_000):
        assert check(program, region.scop) == []
