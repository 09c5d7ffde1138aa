"""Tile loops in another order: where tiles along the outermost one read the same, it goes innermost."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.cost import cpu_sizes
from polyc.cost.cpu_model import TileModel
from polyc.cost.tile_loops import innermost
from polyc.model.program import Compiled, Options
from polyc.model.tree import Band, Mark, walk
from polyc.pipeline import compile_region
from polyc.runtime.check import check as differences
from tests.programs import region_of

SMALLER = """
void f(float in[ROWS + 2][COLS + 2], float curve[PLANES][COLS + 2], float out[PLANES][ROWS / 2][COLS / 2])
{
    float a[PLANES][ROWS + 2][COLS + 2], b[PLANES][ROWS + 2][COLS / 2];
#pragma scop
    for (int k = 0; k < PLANES; k++)
        for (int i = 0; i < ROWS + 2; i++)
            for (int j = 0; j < COLS + 2; j++)
                a[k][i][j] = in[OF] + 0.5f * curve[k][j];
    for (int k = 0; k < PLANES; k++)
        for (int i = 0; i < ROWS + 2; i++)
            for (int j = 0; j < COLS / 2; j++)
                b[k][i][j] = a[k][i][2 * j] + 3.0f * (a[k][i][2 * j + 1] + a[k][i][2 * j + 2]) + a[k][i][2 * j + 3];
    for (int k = 0; k < PLANES; k++)
        for (int i = 0; i < ROWS / 2; i++)
            for (int j = 0; j < COLS / 2; j++)
                out[k][i][j] = b[k][2 * i][j] + 3.0f * (b[k][2 * i + 1][j] + b[k][2 * i + 2][j]) + b[k][2 * i + 3][j];
#pragma endscop
}
"""


def text_of(rows: int, columns: int, planes: int, of: str = "i][j") -> str:
    sizes = f"#define ROWS {rows}\n#define COLS {columns}\n#define PLANES {planes}\n#define OF {of}\n"
    return sizes + (
        SMALLER
        if of == "i][j"
        else SMALLER.replace("float in[ROWS + 2][COLS + 2]", "float in[PLANES][ROWS + 2][COLS + 2]")
    )


def compiled(folder: Path, rows: int, columns: int, planes: int = 8, of: str = "i][j") -> Compiled:
    result = compile_region(region_of(text_of(rows, columns, planes, of), folder), Options(machine="x86-64-v4"))
    assert result.verified
    assert "text-not-checked" not in {r.code for r in result.program.remarks}
    return result


def tile_loops(result: Compiled) -> list[list[str]]:
    marks = (node for node in walk(result.program.tree.child) if isinstance(node, Mark) and node.kind == "group")
    return [[m.name for m in mark.child.members] for mark in marks if isinstance(mark.child, Band)]


@pytest.mark.parametrize(
    ("rows", "of", "tile", "expected"),
    [
        (4096, "i][j", (1, 4, 256), 0),  # 67 MB, which each of eight planes would read from memory
        (4096, "i][j", (8, 4, 256), None),  # all planes are in one tile
        (4096, "i][j", (1, 512, 256), None),  # too few parts of the next loop, too large for the second level
        (4096, "k][i][j", (1, 4, 256), None),  # pictures of their own
        (256, "i][j", (1, 4, 256), None),  # the caches hold it
    ],
)
def test_planes_of_one_large_picture_go_innermost(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    of: str,
    tile: tuple[int, ...],
    expected: int | None,
) -> None:
    models: list[TileModel] = []
    monkeypatch.setattr(cpu_sizes, "innermost", lambda model, best: models.append(model))
    compiled(tmp_path, rows, rows, of=of)
    group = max(models, key=lambda model: len(model.nests))
    assert innermost(group, group.predicted(tile)) == expected


@pytest.mark.parametrize(("rows", "columns", "planes"), [(256, 256, 8), (300, 262, 8), (130, 520, 8)])
def test_values_are_those_that_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, columns: int, planes: int
) -> None:
    monkeypatch.setattr(cpu_sizes, "innermost", lambda model, best: 0)
    result = compiled(tmp_path, rows, columns, planes)
    assert tile_loops(result)[0][-1] == "k"
    assert differences(region_of(text_of(rows, columns, planes), tmp_path), result, sizes=(1,)) == []
