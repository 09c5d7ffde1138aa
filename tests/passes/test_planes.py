"""Nests on a few planes of an image: an iteration has all planes of a pixel where one is read with the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Compiled
from polyc.runtime.check import check
from tests.programs import compiled, region_of


def joined(result: Compiled) -> set[tuple[str, ...]]:
    return {r.statements for r in result.program.remarks if r.code == "pretiling-fused"}


def right(text: str, folder: Path) -> Compiled:
    result = compiled(text, folder)
    assert result.verified
    assert check(region_of(text, folder), result, sizes=(1, 5, 19, 66)) == []
    return result


BLEND = """
void blend(int n, const float in[4][n][n], const float below[4][n][n], float out[3][n][n])
{
    float clean[4][n][n], filled[4][n][n];
#pragma polyc live-out(out)
#pragma scop
    for (int c = 0; c < 4; c++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                clean[c][y][x] = in[c][y][x] < 1.0f ? in[c][y][x] : 1.0f;
    for (int c = 0; c < 4; c++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                filled[c][y][x] = clean[c][y][x] + (2.0f - clean[3][y][x]) * below[c][y][x];
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                out[c][y][x] = filled[c][y][x] / (filled[3][y][x] + 3.0f);
#pragma endscop
}
"""


def test_planes_of_a_pixel_are_made_in_one_iteration(tmp_path: Path) -> None:
    result = right(BLEND, tmp_path)
    assert joined(result) == {("S0", "S1", "S2")}
    text = result.text
    assert "for (long c" not in text
    assert "filled_here[3][0][0] = " in text
    assert text.count("omp simd") == 1


def test_five_planes_keep_their_loop(tmp_path: Path) -> None:
    text = BLEND.replace("[4]", "[5]").replace("c < 4", "c < 5")
    assert not joined(right(text, tmp_path))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("clean[3][y][x]", "clean[3][n - 1 - y][x]"),  # another pixel's
        ("clean[3][y][x]", "clean[3][y][x > 0 ? x - 1 : 0]"),
    ],
)
def test_what_reads_other_pixels_stays_by_itself(old: str, new: str, tmp_path: Path) -> None:
    assert ("S0", "S1", "S2") not in joined(right(BLEND.replace(old, new), tmp_path))


def test_look_ups_stay_out_of_the_loop_of_all_planes(tmp_path: Path) -> None:
    text = BLEND.replace("float out", "const int at[n], float out").replace("below[c][y][x]", "below[c][y][at[x]]")
    result = compiled(text, tmp_path)
    assert result.verified
    assert not any("S1" in statements for statements in joined(result))


TWICE = """
float in[3][1536][1536], out[1536][1536], half[768][768];
void twice(void)
{
    static float light[3][1536][1536], gray[1536][1536], small[1536][768], wide[768][768];
#pragma polyc live-out(out, half)
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < 1536; y++)
            for (int x = 0; x < 1536; x++)
                light[c][y][x] = in[c][y][x] * 0.5f;
    for (int y = 0; y < 1536; y++)
        for (int x = 0; x < 1536; x++)
            gray[y][x] = 0.25f * light[0][y][x] + 0.5f * light[1][y][x] + 0.25f * light[2][y][x];
    for (int y = 0; y < 1536; y++)
        for (int x = 0; x < 768; x++)
            small[y][x] = gray[y][2 * x] + gray[y][2 * x + 1];
    for (int y = 0; y < 768; y++)
        for (int x = 0; x < 768; x++)
            half[y][x] = small[2 * y][x] + small[2 * y + 1][x];
    for (int y = 0; y < 768; y++)
        for (int x = 0; x < 768; x++)
            wide[y][x] = half[y][x] + (y > 0 ? 0.5f * wide[y - 1][x] : 0.0f);
    for (int y = 0; y < 1536; y++)
        for (int x = 0; x < 1536; x++)
            out[y][x] = gray[y][x] * light[1][y][x] * wide[y / 2][x / 2];
#pragma endscop
}
"""


def test_tiles_of_two_readers_that_make_a_nest_for_themselves_make_all_of_it(tmp_path: Path) -> None:
    """What a reader leaves for the other one once was what that one reads: without the planes that it is made of."""
    result = compiled(TWICE, tmp_path)
    assert result.verified
    assert "verification-failed" not in {r.code for r in result.program.remarks}
    assert check(region_of(TWICE, tmp_path), result) == []
