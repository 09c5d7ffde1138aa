"""Unsharp mask: rows of the blur along y, slid down a strip; all else in the loop of the result."""

from __future__ import annotations

import halide as hl

from .program import VECTOR, Program, image

WEIGHT, THRESHOLD = 3.0, 0.001


def program(rows: int, cols: int) -> Program:
    x, y, c, yi = hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.Var("yi")
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
        out.split(y, y, yi, 32, hl.TailStrategy.GuardWithIf).vectorize(x, VECTOR, hl.TailStrategy.GuardWithIf)
        out.parallel(y).parallel(c)
        down.compute_at(out, yi).vectorize(x, VECTOR)

    return Program((source,), out, (cols, rows, 3), schedule)
