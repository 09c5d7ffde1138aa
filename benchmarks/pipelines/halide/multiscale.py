"""Multiscale interpolation: one array a level and direction; what lies between two levels is made in strips of rows."""

from __future__ import annotations

from typing import Any

import halide as hl

from .program import VECTOR, Program, image

LEVELS = 10


def program(rows: int, cols: int) -> Program:
    x, y, c, yo, yi = (hl.Var(name) for name in ("x", "y", "c", "yo", "yi"))
    f32 = hl.f32

    def func(name: str, value: Any) -> Any:
        made = hl.Func(name)
        made[x, y, c] = value
        return made

    source = image(hl.Float(32), "source", cols, rows, 4)
    clean = func("clean", hl.clamp(source[x, y, c], f32(0.0), f32(1.0)))
    down = [func("d0", hl.select(c < 3, clean[x, y, c] * clean[x, y, 3], clean[x, y, 3]))]
    shrunk = []
    for n in range(LEVELS - 1):
        above = down[n]
        sx = func(
            f"s{n}",
            (above[hl.max(2 * x - 1, 0), y, c] + f32(2.0) * above[2 * x, y, c] + above[2 * x + 1, y, c]) * f32(0.25),
        )
        shrunk.append(sx)
        down.append(
            func(
                f"d{n + 1}",
                (sx[x, hl.max(2 * y - 1, 0), c] + f32(2.0) * sx[x, 2 * y, c] + sx[x, 2 * y + 1, c]) * f32(0.25),
            )
        )
    filled, stretched = [down[LEVELS - 1]], []
    for n in reversed(range(LEVELS - 1)):
        w, h, below = cols >> (n + 1), rows >> (n + 1), filled[-1]
        tx = func(f"t{n}", (below[x / 2, y, c] + below[hl.min((x + 1) / 2, w - 1), y, c]) * f32(0.5))
        ty = func(f"u{n}", (tx[x, y / 2, c] + tx[x, hl.min((y + 1) / 2, h - 1), c]) * f32(0.5))
        stretched.append(tx)
        filled.append(func(f"f{n}", down[n][x, y, c] + (f32(1.0) - down[n][x, y, 3]) * ty[x, y, c]))
    out = func("out", filled[-1][x, y, c] / filled[-1][x, y, 3])

    def schedule() -> None:
        guarded = hl.TailStrategy.GuardWithIf
        for n in range(1, LEVELS):
            large = rows >> n >= 64
            down[n].compute_root().bound(c, 0, 4)
            up = filled[LEVELS - 1 - n]
            if n < LEVELS - 1:
                up.compute_root().bound(c, 0, 4)
            if cols >> n < VECTOR:
                continue
            down[n].vectorize(x, VECTOR, guarded)
            if n < LEVELS - 1:
                up.vectorize(x, VECTOR, guarded)
            if not large:
                continue
            strips(down[n], 16)
            shrunk[n - 1].store_at(down[n], yo).compute_at(down[n], y).vectorize(x, VECTOR)
            if n < LEVELS - 1:
                strips(up, 16)
                stretched[LEVELS - 2 - n].store_at(up, yo).compute_at(up, y).vectorize(x, VECTOR)
        out.bound(c, 0, 3).split(y, yo, y, 32, guarded).split(y, y, yi, 2).reorder(x, c, yi, y, yo)
        out.vectorize(x, VECTOR, guarded).parallel(yo).unroll(yi)
        stretched[-1].store_at(out, yo).compute_at(out, y).vectorize(x, VECTOR)
        filled[-1].compute_at(out, yi).vectorize(x, VECTOR).bound(c, 0, 4)

    def strips(made: Any, height: int) -> None:
        made.split(y, yo, y, height, hl.TailStrategy.GuardWithIf).reorder(x, c, y, yo).parallel(yo)

    return Program((source,), out, (cols, rows, 3), schedule)
