"""Tile sizes of a CPU are constructed from its description."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.cost.cpu_model import FULL, TiledNest, TileModel
from polyc.cost.cpu_tiles import AS_GOOD, TOP, Builder, Construction, construct, even
from polyc.cost.footprints import ArrayFootprint, Box, TileFootprints
from polyc.machine import load_cpu, shipped
from polyc.model.program import Remark
from polyc.nests.tiling import WHOLE
from tests.programs import compiled

CPUS = shipped("cpu")
LINE = 8
"""Doubles of a line."""


def array(name: str, rows: tuple[float, float], columns: tuple[float, float], n: int, **more: int) -> ArrayFootprint:
    """A box of n x n doubles: base and slope of the rows with i or j, and of the columns with the other loop."""
    transposed = bool(more.get("transposed"))
    slopes = ((rows[1], 0.0), (0.0, columns[1]))
    slopes = slopes if not transposed else ((0.0, columns[1]), (rows[1], 0.0))
    box = Box((rows[0], columns[0]), slopes, (float(n), float(n)))
    written = bool(more.get("written"))
    return ArrayFootprint(name, 8, (box,), None, 1, 0 if written else more.get("reads", 1), False, written)


def model(machine: str, n: int, *arrays: ArrayFootprint, known: bool = False, operations: float = 1.0) -> TileModel:
    work = Box((1.0, 1.0), ((1.0, 0.0), (0.0, 1.0)), (float(n), float(n)))
    extents = (n, n) if known else (None, None)
    prints = TileFootprints(tuple(arrays), extents, (n, n), ((operations, work),))
    loads, stores = (sum(bool(a.reads) == loaded for a in arrays) for loaded in (True, False))
    cpu = load_cpu(machine)
    return TileModel(cpu, cpu.cores, (TiledNest(prints, 1, (1,), True, loads, stores),), 2)


def transpose(machine: str, n: int = 4000, known: bool = False) -> TileModel:
    return model(
        machine,
        n,
        array("a", (1, 1), (1, 1), n, transposed=1),
        array("b", (1, 1), (1, 1), n, written=1),
        known=known,
    )


def copy(machine: str, n: int = 4000) -> TileModel:
    return model(machine, n, array("a", (1, 1), (1, 1), n), array("b", (1, 1), (1, 1), n, written=1))


def built(tiles: TileModel) -> Construction:
    return construct(tiles, (LINE, LINE))


@pytest.mark.parametrize("machine", CPUS)
def test_sizes_are_multiples_of_a_line(machine: str) -> None:
    for tiles in (transpose(machine), transpose(machine, 4001, known=True), copy(machine)):
        for one in built(tiles).best:
            assert all(size % LINE == 0 for size in one.tile)


@pytest.mark.parametrize("machine", CPUS)
def test_tiles_of_a_transposition_move_each_line_about_once(machine: str) -> None:
    tiles = transpose(machine)
    found = built(tiles)
    best = found.best[0]
    assert best.seconds < found.plain.seconds
    least = 3 * 8 * 4000 * 4000
    assert dict(best.traffic)["memory"] <= 1.1 * least
    assert dict(found.plain.traffic)["L2"] > 2 * least >= dict(best.traffic)["L2"]


@pytest.mark.parametrize("machine", CPUS)
def test_growing_stops_where_a_level_is_full(machine: str) -> None:
    tiles = transpose(machine)
    for level in tiles.machine.levels:
        room = FULL * tiles.machine.capacity(level, tiles.cores)
        builder = Builder(tiles, ((8, 16, 32, 64, 128, 256, 512, WHOLE),) * 2, float("inf"))
        end = builder.judged(builder.grown((0, 0), room, level.name))
        assert end.footprint_bytes <= room
        assert builder.stopped[end.tile]


@pytest.mark.parametrize("machine", CPUS)
def test_a_copy_needs_no_tiles(machine: str) -> None:
    found = built(copy(machine))
    assert found.best[0].seconds >= found.plain.seconds


@pytest.mark.parametrize("machine", CPUS)
def test_the_list_is_short_ordered_and_always_the_same(machine: str) -> None:
    first, again = built(transpose(machine)), built(transpose(machine))
    assert first == again
    assert 1 < len(first.best) <= TOP
    assert len({one.tile for one in first.best}) == len(first.best)
    least = min(one.seconds for one in first.best)
    assert first.best[0].seconds <= AS_GOOD * least
    assert first.stopped


@pytest.mark.parametrize("machine", CPUS)
def test_a_kernel_takes_less_than_a_tenth_of_a_second(machine: str) -> None:
    tiles = transpose(machine)
    start = time.process_time()
    built(tiles)
    assert time.process_time() - start < 0.1


@pytest.mark.parametrize("machine", CPUS)
def test_there_are_enough_tiles_for_the_cores(machine: str) -> None:
    tiles = transpose(machine)
    best = built(tiles).best[0]
    axis = tiles.dealt(best.tile)
    assert -(-4000 // best.tile[axis]) >= min(tiles.cores, 4000 // LINE)


def test_a_larger_cache_moves_no_more_data() -> None:
    """A tile that is built for a larger second level takes no longer."""
    small = transpose("x86-64-v3")
    levels = small.machine.levels
    larger = replace(levels[1], bytes=4 * levels[1].bytes)
    large = replace(small, machine=replace(small.machine, levels=(levels[0], larger, *levels[2:])))
    assert built(large).best[0].seconds <= 1.02 * built(small).best[0].seconds
    for tile in ((64, 64), (512, 8), (128, 512)):
        one, two = small.predicted(tile), large.predicted(tile)
        assert all(b <= a for (_, a), (_, b) in zip(one.traffic, two.traffic, strict=True))


def test_traffic_of_outer_levels_is_not_more_than_that_of_inner_ones() -> None:
    tiles = transpose("zen4")
    for tile in ((8, 8), (64, 64), (WHOLE, 16), (512, 512), (WHOLE, WHOLE)):
        moved = [count for _, count in tiles.predicted(tile).traffic]
        assert moved == sorted(moved, reverse=True)


@pytest.mark.parametrize("extent", [100, 1001, 1999, 4096])
def test_the_last_tile_of_a_known_extent_is_nearly_full(extent: int) -> None:
    for most in (8, 16, 64, 256):
        size = even(extent, most, LINE)
        parts = -(-extent // size)
        assert size % LINE == 0
        assert size <= most
        assert parts * size - extent < LINE * parts


def test_rows_stay_whole_where_cutting_them_saves_nothing() -> None:
    """A stencil whose rows fit a level is left alone, whatever the machine is."""
    n = 2000
    window = array("a", (3, 1), (3, 1), n, reads=5)
    for machine in CPUS:
        found = built(model(machine, n, window, array("b", (1, 1), (1, 1), n, written=1), operations=5))
        assert found.best[0].seconds > 0.95 * found.plain.seconds


# --- in the compiler -------------------------------------------------------------------------------------------------

TRANSPOSE = """
void transpose(int n, const double in[n][n], double out[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = in[j][i];
#pragma endscop
}
"""
BLUR = """
void blur(int n, const float in[n][n], float out[n][n], float a[n][n])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            a[i][j] = 0.25f * (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]);
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < n - 2; j++)
            out[i][j] = 0.5f * (a[i - 1][j] + a[i + 1][j]);
#pragma endscop
}
"""


def remarks(text: str, folder: Path, code: str, **options: object) -> list[Remark]:
    return [r for r in compiled(text, folder, **options).program.remarks if r.code == code]


def test_the_remark_has_the_numbers(tmp_path: Path) -> None:
    (found,) = remarks(TRANSPOSE, tmp_path, "cpu-sizes")
    assert {"bound", "stopped", "seconds", "traffic_bytes", "footprint_bytes", "candidates"} <= set(found.data)
    assert set(found.data["traffic_bytes"]) == {"L2", "L3", "memory"}
    assert len(found.data["candidates"]) <= TOP


def test_the_users_sizes_are_not_judged(tmp_path: Path) -> None:
    assert not remarks(TRANSPOSE, tmp_path, "cpu-sizes", tile_sizes=(16, 16))


def test_a_producer_is_fused_where_its_values_would_go_to_memory(tmp_path: Path) -> None:
    (found,) = remarks(BLUR, tmp_path, "fused", machine="zen3")
    assert found.data["fused_us"] < found.data["apart_us"]
    (sizes,) = remarks(BLUR, tmp_path, "cpu-sizes", machine="zen3")
    assert sizes.statements == ("S1",)


def test_rows_of_unknown_length_stay_whole_at_the_sample_sizes(tmp_path: Path) -> None:
    """Beside producers they have to be cut; the buffers are as wide as the tiles, and hold for every width."""
    result = compiled(BLUR, tmp_path, machine="zen3")
    (sizes,) = (r for r in result.program.remarks if r.code == "cpu-sizes")
    (group,) = result.program.groups
    rows, width = group.tile_sizes
    assert width >= 2000
    assert f"a_tile[{rows + 2}][{width}]" in result.text
    assert " n <= " not in result.text.split("for (long")[0]
    assert sizes.data["footprint_bytes"] > 0


def test_the_limit_of_recomputation_overrides_the_model(tmp_path: Path) -> None:
    assert not remarks(BLUR, tmp_path, "fused", machine="zen3", max_recompute=0.0)
