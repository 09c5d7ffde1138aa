"""Harris corners: the gradients' rows slide down a strip of a tile, and windows are summed where they are used."""

from __future__ import annotations

from typing import Any

import halide as hl

from .program import VECTOR, Program, image


def program(rows: int, cols: int) -> Program:
    x, y, yi = hl.Var("x"), hl.Var("y"), hl.Var("yi")
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
        out.split(y, y, yi, 32, guarded).parallel(y).vectorize(x, VECTOR, guarded)
        ix.store_at(out, y).compute_at(out, yi).vectorize(x, VECTOR)
        iy.store_at(out, y).compute_at(out, yi).vectorize(x, VECTOR).compute_with(ix, x)

    return Program((source,), out, (cols, rows), schedule)


def window(func: Any, x: Any, y: Any) -> Any:
    """The sum over 3 x 3, row by row."""
    total = func[x, y]
    for j in range(1, 9):
        total += func[x + j % 3, y + j // 3]
    return total
