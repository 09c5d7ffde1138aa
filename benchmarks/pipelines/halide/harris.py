"""Harris corners: the gradients of four rows slide down a tile, and four rows of windows share what they read."""

from __future__ import annotations

from typing import Any

import halide as hl

from .program import VECTOR, Program, image


def program(rows: int, cols: int) -> Program:
    x, y, xo, xi, yi, yy = (hl.Var(name) for name in ("x", "y", "xo", "xi", "yi", "yy"))
    f32 = hl.f32
    source = image(hl.Float(32), "source", cols + 4, rows + 4)
    names = ("Ix", "Iy", "Ixx", "Iyy", "Ixy", "Sxx", "Syy", "Sxy", "det", "trace", "out")
    ix, iy, ixx, iyy, ixy, sxx, syy, sxy, det, trace, out = (hl.Func(name) for name in names)
    ix[x, y] = (
        source[x + 2, y]
        - source[x, y]
        + f32(2.0) * (source[x + 2, y + 1] - source[x, y + 1])
        + source[x + 2, y + 2]
        - source[x, y + 2]
    ) * f32(1.0 / 12.0)
    iy[x, y] = (
        source[x, y + 2]
        - source[x, y]
        + f32(2.0) * (source[x + 1, y + 2] - source[x + 1, y])
        + source[x + 2, y + 2]
        - source[x + 2, y]
    ) * f32(1.0 / 12.0)
    ixx[x, y] = ix[x, y] * ix[x, y]
    iyy[x, y] = iy[x, y] * iy[x, y]
    ixy[x, y] = ix[x, y] * iy[x, y]
    sxx[x, y], syy[x, y], sxy[x, y] = (window(func, x, y) for func in (ixx, iyy, ixy))
    det[x, y] = sxx[x, y] * syy[x, y] - sxy[x, y] * sxy[x, y]
    trace[x, y] = sxx[x, y] + syy[x, y]
    out[x, y] = det[x, y] - f32(0.04) * trace[x, y] * trace[x, y]

    def schedule() -> None:
        guarded = hl.TailStrategy.GuardWithIf
        # Slides by a constant number of rows only where no strip is cut off.
        height = 64 if rows % 64 == 0 else 4
        out.tile(x, y, xo, y, xi, yi, 640, height, guarded).split(yi, yi, yy, 4).reorder(yy, xi, yi, xo, y)
        out.parallel(y).vectorize(xi, VECTOR, guarded).unroll(yy)
        ix.store_at(out, xo).compute_at(out, yi).vectorize(x, VECTOR).reorder(y, x).unroll(y)
        iy.store_at(out, xo).compute_at(out, yi).vectorize(x, VECTOR).reorder(y, x).unroll(y).compute_with(ix, x)

    return Program((source,), out, (cols, rows), schedule)


def window(func: Any, x: Any, y: Any) -> Any:
    """The sum over 3 x 3, row by row."""
    total = func[x, y]
    for j in range(1, 9):
        total += func[x + j % 3, y + j // 3]
    return total
