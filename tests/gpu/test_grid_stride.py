"""Very large nests: indices have 64 bits, and a machine that is named gets no more blocks than it can hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.machine.shipped import FOLDERS
from polyc.model.program import Options
from tests.gpu.test_kernels import TARGETS, assert_same
from tests.programs import compiled, region_of

ADD = """
void add(int n, int m, float a[n][m], float b[m], float c[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c[i][j] = 2 * a[i][j] + b[j];
#pragma endscop
}
"""
ROW = """
void row(int n, float a[n], float b[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        b[i] = 2 * a[i];
#pragma endscop
}
"""
SHARED = """
void shared(int n, float a[n], float b[n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        b[i] = a[i - 1] + a[i + 1];
#pragma endscop
}
"""


def launched(text: str, folder: Path, **options: object) -> str:
    result = compiled(text, folder, target="cuda", **options)
    assert result.passed
    return result.device[0]


def test_steps_of_the_grid_have_64_bits(tmp_path: Path) -> None:
    """`1024 * gridDim.x` would be computed in 32 bits without a sign."""
    assert "it += (index)1024 * gridDim.x" in launched(ROW, tmp_path)


def test_blocks_are_bounded_where_a_machine_is_named(tmp_path: Path) -> None:
    """132 multiprocessors with 8 blocks of 256 threads each, four times over."""
    assert "polyc_blocks((n + 1023L) / 1024, 2147483647)" in launched(ROW, tmp_path)
    assert "polyc_blocks(polyc_min((n + 1023L) / 1024, 4224), 2147483647)" in launched(ROW, tmp_path, machine="h100")


def test_all_axes_together_are_bounded(tmp_path: Path) -> None:
    text = launched(ADD, tmp_path, machine="h100")
    assert "dim3 grid(polyc_blocks((m + 31L) / 32, 2147483647), polyc_blocks(polyc_min((n + 31L) / 32," in text
    assert "4224 / polyc_max((long)((m + 31L) / 32), 1)" in text


def test_tiles_that_share_data_have_all_their_blocks(tmp_path: Path) -> None:
    assert "4224" not in launched(SHARED, tmp_path, machine="h100")


def test_a_grid_that_the_user_wants_is_kept(tmp_path: Path) -> None:
    assert "polyc_blocks(9, 2147483647)" in launched(ROW, tmp_path, machine="h100", grid=(9,))


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("text", [ADD, ROW], ids=["add", "row"])
def test_few_blocks_do_it_all(text: str, target: str, tmp_path: Path) -> None:
    """A machine of one multiprocessor that holds one block: four blocks take all tiles."""
    described = (FOLDERS["gpu"] / "generic.toml").read_text()
    described = described.replace("multiprocessors = 40", "multiprocessors = 1")
    file = tmp_path / "small.toml"
    file.write_text(described.replace("blocks_per_multiprocessor = 16", "blocks_per_multiprocessor = 1"))
    region = region_of(text, tmp_path)
    assert_same(region, Options(target=target, machine=str(file), tile_sizes=(4,)))
