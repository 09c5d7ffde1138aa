"""Unsharp mask: in tiles, four rows of the blur along y at a time; all else in the loop of the result."""

from __future__ import annotations

import halide as hl

from .program import VECTOR, Program, image

WEIGHT, THRESHOLD = 3.0, 0.001


def program(rows: int, cols: int) -> Program:
    x, y, c, xo, xi, yi, yy = (hl.Var(name) for name in ("x", "y", "c", "xo", "xi", "yi", "yy"))
    f32 = hl.f32
    source = image(hl.Float(32), "source", cols + 4, rows + 4, 3)
    down, blur, sharp, out = hl.Func("down"), hl.Func("blur"), hl.Func("sharp"), hl.Func("out")
    down[x, y, c] = (
        source[x, y, c]
        + f32(4.0) * source[x, y + 1, c]
        + f32(6.0) * source[x, y + 2, c]
        + f32(4.0) * source[x, y + 3, c]
        + source[x, y + 4, c]
    ) * f32(0.0625)
    blur[x, y, c] = (
        down[x, y, c]
        + f32(4.0) * down[x + 1, y, c]
        + f32(6.0) * down[x + 2, y, c]
        + f32(4.0) * down[x + 3, y, c]
        + down[x + 4, y, c]
    ) * f32(0.0625)
    here = source[x + 2, y + 2, c]
    sharp[x, y, c] = f32(1.0 + WEIGHT) * here - f32(WEIGHT) * blur[x, y, c]
    out[x, y, c] = hl.select(hl.abs(here - blur[x, y, c]) < f32(THRESHOLD), here, sharp[x, y, c])

    def schedule() -> None:
        guarded = hl.TailStrategy.GuardWithIf
        height = 64 if rows % 64 == 0 else 4
        out.tile(x, y, xo, y, xi, yi, 512, height, guarded).split(yi, yi, yy, 4).reorder(yy, xi, yi, xo, y, c)
        out.parallel(y).parallel(c).vectorize(xi, VECTOR, guarded).unroll(yy)
        down.compute_at(out, yi).vectorize(x, VECTOR).reorder(y, x, c).unroll(y)

    return Program((source,), out, (cols, rows, 3), schedule)
