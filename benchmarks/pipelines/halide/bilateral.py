"""Bilateral grid: a row of cells after the other, then each blur, then the pixels."""

from __future__ import annotations

from typing import Any

import halide as hl

from .program import VECTOR, Program, image

CELL, LEVELS = 8, 10


def program(rows: int, cols: int) -> Program:
    x, y, z, c, yo, yi = (hl.Var(name) for name in ("x", "y", "z", "c", "yo", "yi"))
    f32, i32 = hl.f32, hl.i32
    source = image(hl.Float(32), "source", cols, rows)
    grid, blurz, blury, blurx, slices, out = (
        hl.Func(name) for name in ("grid", "blurz", "blury", "blurx", "slices", "out")
    )
    # A cell's pixels: where the cell lies over the edge of the image, those inside. Cell 2 is the first one.
    r = hl.RDom([(0, CELL), (0, CELL)])
    px, py = (x - 2) * CELL - CELL // 2 + r[0], (y - 2) * CELL - CELL // 2 + r[1]
    r.where((px >= 0) & (px < cols) & (py >= 0) & (py < rows))
    pixel = source[hl.clamp(px, 0, cols - 1), hl.clamp(py, 0, rows - 1)]
    level = hl.clamp(i32(pixel * f32(LEVELS) + f32(0.5)), 0, LEVELS)
    grid[z, x, y, c] = f32(0.0)
    grid[level + 2, x, y, c] += hl.mux(c, [pixel, f32(1.0)])
    blurz[z, x, y, c] = five([grid[z + j, x, y, c] for j in range(5)])
    blury[z, x, y, c] = five([blurz[z, x, y + j, c] for j in range(5)])
    blurx[z, x, y, c] = five([blury[z, x + j, y, c] for j in range(5)])
    bright = source[x, y] * f32(LEVELS)
    zi = hl.clamp(i32(bright), 0, LEVELS)
    v, u, t = bright - f32(zi), f32(y % CELL) / f32(CELL), f32(x % CELL) / f32(CELL)
    one = f32(1.0)

    def plane(dz: int) -> Any:
        def row(dy: int) -> Any:
            at = [blurx[zi + dz, x / CELL + dx, y / CELL + dy, c] for dx in (0, 1)]
            return (one - t) * at[0] + t * at[1]

        return (one - u) * row(0) + u * row(1)

    slices[x, y, c] = (one - v) * plane(0) + v * plane(1)
    out[x, y] = slices[x, y, 0] / slices[x, y, 1]

    def schedule() -> None:
        guarded = hl.TailStrategy.GuardWithIf
        out.split(y, yo, yi, 2 * CELL, guarded).parallel(yo).vectorize(x, VECTOR, guarded)
        grid.bound(c, 0, 2).compute_at(blurz, y).reorder_storage(z, c, x, y).vectorize(z, LEVELS + 4)
        grid.update().reorder(c, r[0], r[1], x, y).unroll(c).unroll(r[0])
        for func in (blurz, blury, blurx):
            func.compute_root().bound(c, 0, 2).reorder_storage(z, c, x, y).reorder(z, c, x, y)
            func.bound(z, 0, LEVELS + 2).vectorize(z, LEVELS + 2).unroll(c).parallel(y, 4)

    return Program((source,), out, (cols, rows), schedule)


def five(a: list[Any]) -> Any:
    return a[0] + hl.f32(4.0) * a[1] + hl.f32(6.0) * a[2] + hl.f32(4.0) * a[3] + a[4]
