"""Buffers of exactly the size that a tile needs: corners with divisions, and chains of images of several sizes."""

from __future__ import annotations

import re
from pathlib import Path

import islpy as isl
import pytest

from polyc.model.program import Compiled, Options
from polyc.nests.boxes import Box, bounding_box
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

EVERY = isl.Set("{ : }")
TILES = "0 <= t < 2560 and t mod 64 = 0"


def box(relation: str) -> Box:
    found = bounding_box(isl.Map(relation), EVERY, EVERY)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("cells", "corner", "extent"),
    [
        ("t - 1 <= x <= t + 64", "t - 1", 66),
        ("t - 1 <= 2x <= t + 64", "floor(t/2)", 33),  # what a tile reads of what is stretched
        ("2t - 1 <= x <= 2t + 128", "2t - 1", 130),  # what it reads of what is shrunk
        ("t - 3 <= 2x <= t + 66", "floor(t/2) - 1", 35),
        ("t - 3 <= 4x <= t + 66", "floor(t/4)", 17),
        ("x <= 1279 and t - 1 <= 2x <= t + 64 and x >= 0", "floor(t/2)", 33),
        ("exists (y : t - 1 <= 2y <= t + 64 and y - 1 <= 2x <= y)", "floor(t/4)", 17),
        ("t <= 2x and x <= 1279", "floor(t/2)", 1280),
        ("2x = t", "floor(t/2)", 1),
        ("t <= 3x <= t + 5", "floor((t + 2)/3)", 2),  # tiles that three does not divide
    ],
)
def test_the_corner_that_leaves_least(cells: str, corner: str, extent: int) -> None:
    found = box(f"{{ [t] -> A[x] : {TILES} and {cells} }}")
    expected = isl.MultiAff(f"{{ [t] -> A[({corner})] }}")
    there = isl.Set(f"{{ [t] : {TILES} }}")
    assert (
        isl.Map.from_multi_aff(found.corner)
        .intersect_domain(there)
        .is_equal(isl.Map.from_multi_aff(expected).intersect_domain(there))
    )
    assert found.constant_extents() == (extent,)


MACROS = """
#define LEFT(i) (2 * (i) - 1 > 0 ? 2 * (i) - 1 : 0)
#define NEXT(i, n) (((i) + 1) / 2 < (n) - 1 ? ((i) + 1) / 2 : (n) - 1)
#define STAGE(n, statement) for (int i = 0; i < (n); i++) for (int j = 0; j < (n); j++) statement;
"""


def chain(arguments: str, arrays: str, *stages: str) -> str:
    body = "\n".join(stages)
    return f"{MACROS}void f({arguments})\n{{\n    float {arrays};\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


SMOOTH = "s[i][j] = in[i][j] * 0.25f + in[i][j > 0 ? j - 1 : 0] * 0.5f"
CHAINS = {
    "down": chain(
        "int n, float in[2 * n][2 * n], float out[n][n]",
        "s[2 * n][2 * n]",
        f"STAGE(2 * n, {SMOOTH})",
        "STAGE(n, out[i][j] = s[2 * i][LEFT(j)] + s[2 * i][2 * j] + s[2 * i + 1][2 * j] + s[2 * i + 1][2 * j + 1])",
    ),
    "up": chain(
        "int n, float in[n][n], float out[2 * n][2 * n]",
        "s[n][n]",
        f"STAGE(n, {SMOOTH})",
        "STAGE(2 * n, out[i][j] = s[i / 2][j / 2] + s[NEXT(i, n)][NEXT(j, n)])",
    ),
    "down and up": chain(
        "int n, float in[2 * n][2 * n], float out[2 * n][2 * n]",
        "s[2 * n][2 * n], d[n][n]",
        f"STAGE(2 * n, {SMOOTH})",
        "STAGE(n, d[i][j] = s[LEFT(i)][2 * j] + 2.0f * s[2 * i][2 * j] + s[2 * i + 1][2 * j + 1])",
        "STAGE(2 * n, out[i][j] = in[i][j] - d[i / 2][NEXT(j, n)])",
    ),
    "pyramid": chain(
        "int n, float in[4 * n][4 * n], float out[4 * n][4 * n]",
        "d1[2 * n][2 * n], d2[n][n], u1[2 * n][2 * n], f1[2 * n][2 * n]",
        "STAGE(2 * n, d1[i][j] = in[LEFT(i)][2 * j] + in[2 * i][2 * j + 1])",
        "STAGE(n, d2[i][j] = d1[LEFT(i)][2 * j] + d1[2 * i][2 * j + 1])",
        "STAGE(2 * n, u1[i][j] = d2[i / 2][j / 2] + d2[NEXT(i, n)][NEXT(j, n)])",
        "STAGE(2 * n, f1[i][j] = d1[i][j] - u1[i][j] * 0.5f)",
        "STAGE(4 * n, out[i][j] = f1[i / 2][j / 2] + f1[i / 2][NEXT(j, 2 * n)])",
    ),
}


def tile_bytes(result: Compiled) -> int:
    """What the buffers of the region take."""
    total = 0
    for buffer in result.program.buffers.values():
        if buffer.storage == "tile":
            size = result.program.scop.arrays[buffer.array].element.size_bytes
            for extent in buffer.extents:
                size *= int(extent.max_val().to_python())
            total += size
    return total


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_images_in_tiles(name: str, tmp_path: Path) -> None:
    """Everything in one group, whose buffers are as large as its tiles; the same bits at sizes below and above them."""
    region = region_of(CHAINS[name], tmp_path)
    result = compile_region(region, Options(tile_sizes=(16, 64), max_recompute=1e6))
    assert result.verified
    codes = {r.code for r in result.program.remarks}
    assert not codes & {"verification-failed", "budget", "text-not-checked"}
    assert len(result.program.groups) == 1
    assert tile_bytes(result) < 32 * 1024
    assert check(region, result, sizes=(1, 2, 5, 33, 100)) == []


def test_the_corner_is_printed_as_people_write_it(tmp_path: Path) -> None:
    result = compile_region(region_of(CHAINS["up"], tmp_path), Options(tile_sizes=(16, 64), max_recompute=1e6))
    assert "float s_tile[9][33];" in result.text
    assert re.search(r"s_tile\[i - it / 2\]\[j - jt / 2\] = ", result.text)


def test_a_buffer_that_is_large_enough_for_all_sizes_is_no_guess(tmp_path: Path) -> None:
    """Tiles as wide as the sample's rows: an image that is wider runs in them as well."""
    text = """
void two(int n, int m, const float in[n][m + 4], float out[n][m], float a[n][m + 2])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m + 2; j++)
            a[i][j] = in[i][j] + in[i][j + 1] + in[i][j + 2];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = a[i][j] * a[i][j + 1] * a[i][j + 2];
#pragma endscop
}
"""
    printed = compile_region(region_of(text, tmp_path), Options(tile_sizes=(8, 2048), max_recompute=1e6)).text
    assert "a_tile[8][2050]" in printed
    assert "m <=" not in printed
