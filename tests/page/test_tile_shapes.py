"""The shapes of tiles are those of the paper's Figure 6, and of what a person works out."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

from polyc.explain.html.trees import LONG, TreeNode, stages_of
from polyc.explain.pictures.graph import edges_of, graph_svg, units_of
from polyc.explain.pictures.panel import tile_picture
from polyc.explain.pictures.svg import tree_svg
from polyc.explain.pictures.tiles import Frame, Tiles, tiles_of
from polyc.explain.words.data import stages
from tests.programs import compiled

from .pages import CAMERA, CONV, JACOBI, ROOT, page

FIGURE = """
void conv(const float image[6][6], const float window[3][3], float C[4][4])
{
    float A[6][6];
#pragma scop
    for (int h = 0; h < 6; h++)
        for (int w = 0; w < 6; w++)
            A[h][w] = image[h][w] * 2;
    for (int h = 0; h < 4; h++)
        for (int w = 0; w < 4; w++) {
            C[h][w] = 0;
            for (int kh = 0; kh < 3; kh++)
                for (int kw = 0; kw < 3; kw++)
                    C[h][w] += A[h + kh][w + kw] * window[kh][kw];
        }
#pragma endscop
}
"""
ROWS = """
void f(int n, int m, double a[m], double b[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            b[i][j] = b[i][j - 1] + a[j];
#pragma endscop
}
"""
STENCIL = """
void f(int n, int steps, double A[n], double B[n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            B[i] = A[i - 1] + A[i] + A[i + 1];
        for (int i = 1; i < n - 1; i++)
            A[i] = B[i - 1] + B[i] + B[i + 1];
    }
#pragma endscop
}
"""
BATCH = """
void f(double a[64][64][64], double b[64][64][64])
{
#pragma scop
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            for (int k = 0; k < 64; k++)
                b[i][j][k] = 2 * a[i][j][k];
#pragma endscop
}
"""


def shapes(text: str, folder: Path, **options: object) -> Tiles:
    program = compiled(text, folder, **options).program
    found = [tiles for group in program.groups if (tiles := tiles_of(program, group)) is not None]
    assert len(found) == 1
    return found[0]


def test_figure_6(tmp_path: Path) -> None:
    """The blue tile is (1, 0), the red one (1, 1): S1(h, w) with 2 <= h <= 5, and 0 <= w <= 3 or 2 <= w <= 5."""
    tiles = shapes(FIGURE, tmp_path, tile_sizes=(2, 2), max_recompute=1000.0)
    assert tiles.loops == ("ht", "wt")
    assert tiles.positions == ((0, 2), (0, 2))
    output, cells, producer = tiles.panels
    assert (output.kind, cells.kind, producer.kind) == ("output", "footprint", "extension")
    assert output.names == ("S1", "S2")
    assert output.left_out == ("kh", "kw")
    assert output.frames[1, 0] == Frame((2, 0, 4, 2), ((0, 0, 2, 2), (2, 2, 4, 4)))
    assert producer.names == ("S0",)
    assert producer.axes == ("h", "w")
    for panel in (cells, producer):
        assert panel.frames[1, 0].own == (2, 0, 6, 4)
        assert panel.frames[1, 1] == Frame((2, 2, 6, 6), ((0, 2, 4, 6), (2, 0, 6, 4)))
    assert {(c.array, c.extents, c.bytes, c.buffer, c.held) for c in tiles.cells} == {
        ("image", (4, 4), 64, "", 0),
        ("A", (4, 4), 64, "A_tile", 64),
        ("window", (3, 3), 36, "", 0),
        ("C", (2, 2), 16, "", 0),
    }
    assert tiles.bytes == 64 + 64 + 36 + 16


def test_one_tiled_loop_is_drawn_to_the_right(tmp_path: Path) -> None:
    tiles = shapes(ROWS, tmp_path, tile_sizes=(32,))
    assert all(len(panel.frames) > 1 for panel in tiles.panels)
    assert any("drawn for" in note for note in tiles.notes)


def test_of_three_tiled_loops_the_last_two_move(tmp_path: Path) -> None:
    tiles = shapes(BATCH, tmp_path, tile_sizes=(16, 16, 16))
    assert tiles.loops == ("jt", "kt")
    assert tiles.panels[0].axes == ("j", "k")
    assert tiles.panels[0].left_out == ("i",)
    assert any("the others stay at" in note for note in tiles.notes)


def test_time_tiles_are_outlines() -> None:
    (one,) = page(JACOBI).compiled
    (tiles,) = [t for group in one.program.groups if (t := tiles_of(one.program, group)) is not None]
    assert tiles.panels[0].axes == ("t", "i")
    assert any(len(frame.own) > 4 for panel in tiles.panels for frame in panel.frames.values())
    ET.fromstring(tile_picture(tiles))


def test_pictures_are_xml(tmp_path: Path) -> None:
    result = compiled(FIGURE, tmp_path, tile_sizes=(2, 2), max_recompute=1000.0)
    tiles = shapes(FIGURE, tmp_path, tile_sizes=(2, 2), max_recompute=1000.0)
    for index in tiles.panels[0].frames:
        ET.fromstring(tile_picture(tiles, index))
    ET.fromstring(graph_svg(result))
    for snapshot in result.passes:
        ET.fromstring(tree_svg(snapshot))


def test_a_large_graph_has_a_node_for_a_nest() -> None:
    (one,) = page(CAMERA).compiled
    units = units_of(one.program)
    assert len(units) == 32
    assert sorted(name for unit in units for name in unit.names) == sorted(one.program.scop.statements)
    names = {(units[e.source].label, units[e.sink].label): e.arrays for e in edges_of(one.program, units)}
    assert names["S7", "S9"] == ("gv_r",)
    ET.fromstring(graph_svg(one))


def test_the_picture_of_the_docs_is_that_of_a_run(golden: Callable[[Path, str], None]) -> None:
    (one,) = page(CONV).compiled
    (group,) = one.program.groups
    tiles = tiles_of(one.program, group)
    assert tiles is not None
    golden(ROOT / "docs" / "pictures" / "conv-tiles.svg", tile_picture(tiles))


def test_overlapped_time_tiles_share_what_they_run_twice(tmp_path: Path) -> None:
    """A trapezoid: each step needs a cell more on both sides than the next one."""
    tiles = shapes(STENCIL, tmp_path, time_tile=("overlapped", (8, 64)))
    (panel,) = [panel for panel in tiles.panels if panel.names[0] == "S0"]
    assert panel.axes == ("t", "i")
    own = panel.frames[tiles.middle].own
    first, last = min(own[::2]), max(own[::2])
    widths = [
        max(x for y, x in zip(own[::2], own[1::2], strict=True) if y == row)
        - min(x for y, x in zip(own[::2], own[1::2], strict=True) if y == row)
        for row in (first, last)
    ]
    assert widths[0] > widths[1]


def test_what_a_pass_left_is_shown_once() -> None:
    (one,) = page(CAMERA).compiled
    trees = {s.name: s.tree for s in stages_of(stages(one), "x") if s.tree is not None}
    for name, tree in trees.items():
        nodes = list(below(tree))
        if name in ("initial", "final"):
            assert len(nodes) == tree.count
            assert all(node.like is None for node in nodes)
        for node in nodes:
            if node.like is not None:
                assert node.like.id
                assert node.head.startswith(node.like.head[:LONG])
                assert node.count == node.like.count
                assert not node.children
    assert any(node.like for tree in trees.values() for node in below(tree))
    named = [node.id for tree in trees.values() for node in below(tree) if node.id]
    assert len(named) == len(set(named)) > 0


def below(node: TreeNode) -> list[TreeNode]:
    return [node, *(other for child in node.children for other in below(child))]
