"""Tiles and blocks for a GPU come from its description and from what a tile touches."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

import islpy as isl
import pytest

from polyc.cost.footprints import footprints_of
from polyc.cost.gpu_tiles import TileSize, default_block, tile_candidates
from polyc.machine import load_gpu, shipped
from polyc.model.program import Compiled, Remark
from polyc.model.tree import Band, walk
from polyc.model.tree_text import render_tree
from polyc.nests.nest import Outer
from polyc.nests.samples import sample_parameters
from polyc.passes.fusion.basteln import fuse_tiles
from tests.programs import after, compiled, region_of

MATMUL = """
void matmul(int n, float a[n][n], float b[n][n], float c[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            c[i][j] = 0;
            for (int k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
        }
#pragma endscop
}
"""
WHOLE = MATMUL.replace("float", "short")
"""Of short integers, which have no register tiles."""
ADD = """
void add(int n, int m, float a[n][m], float b[n][m], float c[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c[i][j] = a[i][j] + b[i][j];
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
COLUMNS = """
void columns(int n, int m, float a[n][m], float b[m])
{
#pragma scop
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            a[i][j] = b[j] + 1;
#pragma endscop
}
"""
STENCIL = """
void stencil(int n, int m, float in[n][m], float out[n][m])
{
#pragma scop
    for (int i = 2; i < n - 2; i++)
        for (int j = 1; j < m - 1; j++)
            out[i][j] = in[i - 2][j] + in[i + 2][j] + in[i][j - 1] + in[i][j + 1];
#pragma endscop
}
"""
TEXTS = {"matmul": MATMUL, "add": ADD, "row": ROW, "columns": COLUMNS, "stencil": STENCIL}
MACHINES = pytest.mark.parametrize("machine", shipped("gpu"))


def candidates(text: str, folder: Path, **options: object) -> list[TileSize]:
    """For the outermost band after pre-tiling fusion."""
    region = region_of(text, folder, params=options.pop("params", ()))
    program = after(region, "pretiling", target="cuda", **options)
    band = next(node for node in walk(program.tree.child) if isinstance(node, Band))
    return tile_candidates(program, band, Outer(), sample_parameters(program))


@MACHINES
@pytest.mark.parametrize("name", TEXTS)
def test_shapes_fit_the_machine(name: str, machine: str, tmp_path: Path) -> None:
    found, gpu = candidates(TEXTS[name], tmp_path, machine=machine), load_gpu(machine)
    assert 0 < len(found) < 200
    assert len({(size.tile, size.block) for size in found}) == len(found)
    for size in found:
        threads = prod(size.block)
        assert threads % gpu.warp_size == 0
        assert size.block[0] % gpu.warp_size == 0
        assert threads <= gpu.threads_per_block
        assert size.registers <= gpu.registers_per_thread
        assert 1 <= size.blocks_per_multiprocessor <= gpu.blocks_per_multiprocessor
        assert size.blocks_per_multiprocessor * threads <= gpu.threads_per_multiprocessor
        assert size.shared_bytes <= gpu.shared_bytes_per_block
        assert 0 < size.score <= 1
        assert size.tiles is None
        assert prod(size.tile) % threads == 0
    assert found == candidates(TEXTS[name], tmp_path, machine=machine)


def test_the_usual_shapes_for_the_usual_nests(tmp_path: Path) -> None:
    best = {name: candidates(text, tmp_path)[0] for name, text in TEXTS.items()}
    assert {name: size.block for name, size in best.items()} == {
        "matmul": (32, 8),
        "add": (32, 8),
        "row": (256,),
        "columns": (32, 8),
        "stencil": (32, 16),  # the halo of a larger tile is less of it
    }
    assert best["matmul"].tile == (32, 32)
    assert best["row"].tile[0] % 256 == 0
    assert best["columns"].tile[0] % 32 == 0  # j runs along memory, and is the outer loop


def test_footprints(tmp_path: Path) -> None:
    """A tile of 8 x 32 and its halo: (8 + 4) x (32 + 2) floats of `in`, 8 x 32 of `out`."""
    program = after(region_of(STENCIL, tmp_path), "pretiling", target="cuda")
    band = next(node for node in walk(program.tree.child) if isinstance(node, Band))
    found = footprints_of(program, band, Outer(), sample_parameters(program))
    touched = {array.array: array.bytes((8, 32)) for array in found.arrays}
    assert touched == {"in": 12 * 34 * 4, "out": 8 * 32 * 4}
    in_sectors = {array.array: array.bytes((8, 32), 32) for array in found.arrays}
    assert in_sectors == {"in": 12 * 160, "out": 8 * 128}
    assert found.extents == (None, None)


def test_footprint_of_a_row_that_only_a_subscript_names(tmp_path: Path) -> None:
    """No loop bound says how large n is."""
    text = """
void last(int n, int m, float a[n + 1][m])
{
#pragma scop
    for (int j = 0; j < m; j++)
        a[n][j] = 0;
#pragma endscop
}
"""
    program = after(region_of(text, tmp_path), "pretiling", target="cuda")
    band = next(node for node in walk(program.tree.child) if isinstance(node, Band))
    (array,) = footprints_of(program, band, Outer(), sample_parameters(program)).arrays
    assert array.bytes((64,)) == 64 * 4
    assert candidates(text, tmp_path)[0].block == (256,)


def test_footprint_of_a_product(tmp_path: Path) -> None:
    program = after(region_of(MATMUL, tmp_path, params=(("n", 1000),)), "pretiling", target="cuda")
    band = next(node for node in walk(program.tree.child) if isinstance(node, Band))
    found = footprints_of(program, band, Outer(), sample_parameters(program))
    touched = {array.array: array.bytes((8, 32)) for array in found.arrays}
    assert touched == {"a": 8 * 1000 * 4, "b": 1000 * 32 * 4, "c": 8 * 32 * 4}
    assert found.extents == (1000, 1000)


@MACHINES
def test_small_problems_have_tiles_for_all_multiprocessors(machine: str, tmp_path: Path) -> None:
    best = candidates(ADD, tmp_path, machine=machine, params=(("n", 256), ("m", 256)))[0]
    assert best.tiles is not None
    assert best.tiles >= load_gpu(machine).multiprocessors
    tiny = candidates(ROW, tmp_path, machine=machine, params=(("n", 256),))[0]
    assert (tiny.tiles, tiny.bound) == (4, "parallelism")


def test_given_blocks(tmp_path: Path) -> None:
    assert {size.block for size in candidates(ADD, tmp_path, block=(64, 2))} == {(64, 2)}
    assert {size.block for size in candidates(ADD, tmp_path, block=(64,))} == {(64, 1)}
    assert {size.block for size in candidates(ROW, tmp_path, block=(32, 4))} == {(128,)}
    assert default_block(load_gpu("generic"), True, None) == (32, 8)
    assert default_block(load_gpu("generic"), False, None) == (256,)


ODD = {
    "empty at the typical sizes": "for (int i = 5000; i < n; i++) a[i][0] = 1;",
    "never runs": "for (int i = 0; i < n && i < -1; i++) a[i][0] = 1;",
    "a row in the middle": "for (int j = 0; j < m; j++) a[n / 2][j] = 1;",
    "every third": "for (int i = 0; i < n; i += 3) for (int j = 0; j < m; j++) a[i][j] = a[(i + n) / 2][m - 1 - j];",
    "a triangle": "for (int i = 0; i < n; i++) for (int j = i; j < m; j++) a[i][j] = 1;",
    "two statements": "for (int i = 0; i < n; i++) { a[i][0] = 1; for (int j = 1; j < 4; j++) a[i][j] = 2; }",
    "an unknown row": "for (int j = 0; j < m; j++) a[k[j]][j] = 1;",
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_odd_nests(body: str, tmp_path: Path) -> None:
    text = f"void odd(int n, int m, const int k[m], float a[n][m])\n{{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n"
    result = compiled(text, tmp_path, target="cuda")
    assert result.passed
    assert not {remark.code for remark in result.program.remarks} & {"isl-failed", "budget", "verification-failed"}
    assert all(remark.data for remark in sizes(result))


def test_the_usual_sizes_where_nothing_can_be_constructed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> list[TileSize]:
        raise isl.Error("set has no elements")

    monkeypatch.setattr("polyc.passes.fusion.sizes.tile_candidates", fails)
    result = compiled(WHOLE, tmp_path, target="cuda")
    (remark,) = sizes(result)
    assert remark.message == "the usual tiles for S0, S1: isl failed (set has no elements)"
    assert result.program.groups[0].tile_sizes[:2] == (32, 32)
    assert "32 x 8 threads" in render_tree(result.program.tree)


def sizes(result: Compiled) -> list[Remark]:
    return [remark for remark in result.program.remarks if remark.code == "gpu-sizes"]


def test_the_remark_has_the_numbers(tmp_path: Path) -> None:
    (remark,) = sizes(compiled(WHOLE, tmp_path, target="cuda", machine="a100"))
    assert remark.data["tried"] < 200
    first, second, *_ = remark.data["candidates"]
    assert re.fullmatch(r"32 x 32 on 32 x 8 threads: [\d.]+ %", first)
    assert remark.message.endswith(f", then {second}")
    assert remark.data["tile"] == (32, 32)
    assert remark.data["block"] == (32, 8)
    assert remark.data["bound"] in ("arithmetic", "memory")
    assert {"registers", "shared_bytes", "blocks_per_multiprocessor", "traffic_bytes", "score"} <= set(remark.data)
    assert sizes(compiled(MATMUL, tmp_path, target="cuda", tile_sizes=(16,))) == []
    assert sizes(compiled(MATMUL, tmp_path)) == []


CHAIN = """
void chain(int n, int w, float in[n][n], float t[n][n], float out[n][n])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = 2 * in[i][j];
    for (int i = WINDOW; i < n - WINDOW; i++)
        for (int j = WINDOW; j < n - WINDOW; j++)
            out[i][j] = t[i - WINDOW][j - WINDOW] + t[i + WINDOW][j + WINDOW];
#pragma endscop
}
"""


def test_a_smaller_tile_only_where_it_fuses_more(tmp_path: Path) -> None:
    """A window that fits the shared memory of no tile leaves the tile as it is."""
    tiles = {}
    for window in (1, 60):
        region = region_of(CHAIN.replace("WINDOW", str(window)), tmp_path)
        program = fuse_tiles(after(region, "pretiling", target="cuda", max_recompute=1e6))
        group = next(g for g in program.groups if "S1" in g.outputs)
        tiles[window] = group.fused, prod(group.tile_sizes)
    assert tiles[1][0] == ("S0",)
    assert tiles[60][0] == ()
    assert tiles[60][1] >= 256
