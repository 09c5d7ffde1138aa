"""Linearised arrays: the same bits as the original, where their rows are apart and where they overlap."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import InputOptions, Options
from tests.differential.toolbox import ROUNDING, WARNINGS, assert_verified, compiled_file, run

HARRIS = """
void stages(int R, int C, int S, const float *img, float *out, float *Ix, float *Sxx)
{
#pragma scop
    for (int i = 1; i < R - 1; i++)
        for (int j = 1; j < C - 1; j++)
            Ix[i * S + j] = (img[(i - 1) * S + j - 1] * -0.1f + img[(i - 1) * S + j + 1] * 0.1f)
                            + (img[i * S + j - 1] * -0.2f + img[i * S + j + 1] * 0.2f);
    for (int i = 2; i < R - 2; i++)
        for (int j = 2; j < C - 2; j++)
            Sxx[i * S + j] = Ix[(i - 1) * S + j - 1] + Ix[(i - 1) * S + j] + Ix[(i + 1) * S + j + 1];
    for (int i = 2; i < R - 2; i++)
        for (int j = 2; j < C - 2; j++)
            out[i * S + j] = Sxx[i * S + j] * 0.5f - Ix[i * S + j];
#pragma endscop
}
"""
PLANES = """
void stages(int R, int C, int S, const float *img, float *out, float *Ix, float *Sxx)
{
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < R / 4; i++)
            for (int j = 0; j < C / 4; j++)
                Ix[((long)i * (S / 4) + j) * 3 + c] = img[c * R + i * 2 + j];
    for (int i = 0; i < R / 4; i++)
        for (int j = 0; j < C / 4; j++)
            out[i * (S / 4) + j] = Ix[(i * (S / 4) + j) * 3] + Ix[(i * (S / 4) + j) * 3 + 1]
                                   * Ix[(i * (S / 4) + j) * 3 + 2] + Sxx[j * (R / 4) + R / 4 - 1 - i];
#pragma endscop
}
"""
STRIDES = """
void stages(int R, int C, int S, const float *img, float *out, float *Ix, float *Sxx)
{
    const int P = R * S / 2 + 3;
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < R / 4; i++)
            for (int j = 0; j < C; j++)
                Ix[c * P + i * S + j] = img[c * P + (i + 1) * S + j] + Sxx[c * P + i * S + j];
    for (int c = 0; c < 3; c++)
        for (int i = 1; i < R / 4; i++)
            for (int j = 1; j < C; j++)
                out[c * P + i * S + j] = Ix[c * P + (i - 1) * S + j - 1] + Ix[c * P + i * S + j] * 0.5f;
#pragma endscop
}
"""
NUMBERS = """
void stages(int R, int C, int S, const float *img, float *out, float *Ix, float *Sxx)
{
#pragma scop
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C; j++)
                Ix[c * 2999 + i * 60 + j] = img[c * 3000 + (i + 1) * 73 + j] + img[c * 3000 + i * 73 + j];
    for (int c = 0; c < 2; c++)
        for (int i = 1; i < R; i++)
            for (int j = 1; j < C; j++)
                out[c * 2499 + i * 59 + j] = Ix[c * 2999 + (i - 1) * 60 + j - 1]
                                             + Ix[c * 2999 + i * 60 + C - 1 - j] * 0.5f + Sxx[i * 73 + j + S];
#pragma endscop
}
"""
STAGES = {"harris": HARRIS, "planes": PLANES, "strides": STRIDES, "numbers": NUMBERS}
MAIN = """
#include <stdio.h>
#include <stdlib.h>

static void one(int R, int C, int S)
{
    enum { N = 20000 };
    static float img[N], out[N], Ix[N], Sxx[N];
    for (int k = 0; k < N; k++) {
        img[k] = (float)(k * 7 % 255) / 255.0f;
        out[k] = Ix[k] = Sxx[k] = (float)(k % 3);
    }
    stages(R, C, S, img + 300, out + 300, Ix + 300, Sxx + 300);
    for (int k = 0; k < N; k++)
        printf("%a %a %a\\n", (double)out[k], (double)Ix[k], (double)Sxx[k]);
}

int main(int argc, char **argv)
{
    (void)argc;
    one(atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
    return 0;
}
"""
SIZES = [
    (40, 60, 60),
    (40, 59, 59),
    (40, 60, 73),
    (40, 60, 59),
    (40, 60, 58),
    (40, 60, 31),
    (40, 60, 0),
    (12, 9, -20),
    (1, 3, 5),
]
"""With rows apart, rows that share their ends, and rows that run into each other."""


@pytest.mark.parametrize("tiles", ["auto", (5, 7)])
@pytest.mark.parametrize("name", STAGES)
def test_both_branches(name: str, tiles: str | tuple[int, ...], tmp_path: Path) -> None:
    source = tmp_path / "flat.c"
    source.write_text(STAGES[name] + MAIN)
    _, regions, text = compiled_file(source, InputOptions(), Options(tile_sizes=tiles))
    assert_verified(regions)
    codes = {told.code for region in regions for told in (*region.program.scop.notes, *region.program.remarks)}
    assert {"delinearised", "assumed"} <= codes
    assert "text-not-checked" not in codes
    made = tmp_path / "flat.polyc.c"
    made.write_text(text)
    flags = (
        *WARNINGS,
        "-Wno-unknown-pragmas",
        "-O1",
        ROUNDING,
        "-fopenmp",
        "-fsanitize=undefined",
        "-fno-sanitize-recover",
    )
    for file in (source, made):
        run("gcc", *flags, file, "-o", file.with_suffix(".out"))
    for sizes in SIZES:
        words = [str(size) for size in sizes]
        assert run(made.with_suffix(".out"), *words) == run(source.with_suffix(".out"), *words), sizes
