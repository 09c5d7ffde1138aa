"""Local Laplacian filter: the levels are stored, what lies between two of them is made in strips of rows.

The pictures of full size and their differences are never stored: they are a look-up in the curve, in rows that slide
for the first shrinking. Of a level's differences, only the two that the brightness chooses are made.
"""

from __future__ import annotations

from typing import Any

import halide as hl

from .program import VECTOR, Program, image

LEVELS, K, STEPS = 8, 8, 256
TINY = 0.01


def program(rows: int, cols: int) -> Program:
    x, y, c, k, i, yo = (hl.Var(name) for name in ("x", "y", "c", "k", "i", "yo"))
    f32, i32 = hl.f32, hl.i32

    def func(name: str, value: Any, *more: Any) -> Any:
        made = hl.Func(name)
        made[(x, y, *more)] = value
        return made

    def shrink(name: str, above: Any, n: int, *more: Any) -> tuple[Any, Any]:
        """The levels n of height and n + 1 of width, and n + 1."""
        w, h = cols >> n, rows >> n
        sx = func(
            f"{name}x{n}",
            (
                above[(hl.max(2 * x - 1, 0), y, *more)]
                + f32(3.0) * (above[(2 * x, y, *more)] + above[(2 * x + 1, y, *more)])
                + above[(hl.min(2 * x + 2, w - 1), y, *more)]
            )
            * f32(0.125),
            *more,
        )
        sy = func(
            f"{name}{n + 1}",
            (
                sx[(x, hl.max(2 * y - 1, 0), *more)]
                + f32(3.0) * (sx[(x, 2 * y, *more)] + sx[(x, 2 * y + 1, *more)])
                + sx[(x, hl.min(2 * y + 2, h - 1), *more)]
            )
            * f32(0.125),
            *more,
        )
        return sx, sy

    def stretch(name: str, below: Any, n: int, *more: Any) -> tuple[Any, Any]:
        """The levels n + 1 of height and n of width, and n."""
        w, h = cols >> (n + 1), rows >> (n + 1)
        left, right = below[(hl.max(x / 2 - 1, 0), y, *more)], below[(hl.min(x / 2 + 1, w - 1), y, *more)]
        here = below[(x / 2, y, *more)]
        tx = func(
            f"{name}x{n}",
            hl.select(x % 2 == 0, f32(0.25) * left + f32(0.75) * here, f32(0.75) * here + f32(0.25) * right),
            *more,
        )
        up, down = tx[(x, hl.max(y / 2 - 1, 0), *more)], tx[(x, hl.min(y / 2 + 1, h - 1), *more)]
        here = tx[(x, y / 2, *more)]
        ty = func(
            f"{name}y{n}",
            hl.select(y % 2 == 0, f32(0.25) * up + f32(0.75) * here, f32(0.75) * here + f32(0.25) * down),
            *more,
        )
        return tx, ty

    source = image(hl.UInt(16), "source", cols, rows, 3)
    light = func("light", hl.f32(source[x, y, c]) * f32(1.0 / 65535.0), c)
    gray = func("gray", f32(0.299) * light[x, y, 0] + f32(0.587) * light[x, y, 1] + f32(0.114) * light[x, y, 2])
    curve = hl.Func("curve")
    at = hl.f32(i - (K - 1) * STEPS) / f32(STEPS)
    curve[i] = f32(1.0 / (K - 1)) * at * hl.exp(f32(-0.5) * at * at)
    place = hl.clamp(i32(gray[x, y] * f32((K - 1) * STEPS)), 0, (K - 1) * STEPS)
    g = [func("g0", gray[x, y] + curve[place - STEPS * k + (K - 1) * STEPS], k)]
    gx, inner, innerx = [], [gray], []
    for n in range(LEVELS - 1):
        sx, sy = shrink("g", g[n], n, k)
        gx.append(sx)
        g.append(sy)
        sx, sy = shrink("i", inner[n], n)
        innerx.append(sx)
        inner.append(sy)

    def choose(n: int, of: Any) -> Any:
        by = inner[n][x, y] * f32(K - 1)
        lower = hl.clamp(i32(by), 0, K - 2)
        t = by - f32(lower)
        return func(f"c{n}", (f32(1.0) - t) * of[x, y, lower] + t * of[x, y, lower + 1])

    chosen = choose(LEVELS - 1, g[LEVELS - 1])
    outs, outx, wide = [chosen], [], []
    for n in reversed(range(LEVELS - 1)):
        lx, ly = stretch("l", g[n + 1], n, k)
        wide.append(lx)
        level = choose(n, func(f"l{n}", g[n][x, y, k] - ly[x, y, k], k))
        ox, oy = stretch("o", outs[-1], n)
        outx.append(ox)
        outs.append(func(f"out{n}", level[x, y] + oy[x, y]))
    tiny = f32(TINY)
    colour = func("colour", outs[-1][x, y] * (light[x, y, c] + tiny) / (gray[x, y] + tiny), c)
    out = func("result", hl.u16(hl.clamp(colour[x, y, c], f32(0.0), f32(1.0)) * f32(65535.0)), c)

    def schedule() -> None:
        guarded = hl.TailStrategy.GuardWithIf
        curve.compute_root().vectorize(i, VECTOR)
        gray.compute_root().split(y, yo, y, 32, guarded).parallel(yo).vectorize(x, VECTOR, guarded)
        for n in range(1, LEVELS):
            up = outs[LEVELS - 1 - n]
            levels = [(g[n], gx[n - 1]), (inner[n], innerx[n - 1])]
            for made, between in levels:
                made.compute_root()
                if cols >> n >= VECTOR:
                    made.vectorize(x, VECTOR, guarded)
                    if rows >> n >= 32:
                        made.split(y, yo, y, 16, guarded).parallel(yo)
                        between.store_at(made, yo).compute_at(made, y).vectorize(x, VECTOR)
            g[n].parallel(k)
            if n == 1 and rows >= 64:
                g[0].clone_in(gx[0]).store_at(g[1], yo).compute_at(g[1], y).vectorize(x, VECTOR)
            up.compute_root()
            if cols >> n >= VECTOR:
                up.vectorize(x, VECTOR, guarded)
                if rows >> n >= 32 and n < LEVELS - 1:
                    up.split(y, yo, y, 16, guarded).parallel(yo)
                    outx[LEVELS - 2 - n].store_at(up, yo).compute_at(up, y).vectorize(x, VECTOR)
        out.bound(c, 0, 3).split(y, yo, y, 32, guarded).reorder(x, c, y, yo).vectorize(x, VECTOR, guarded)
        out.parallel(yo)
        outx[-1].store_at(out, yo).compute_at(out, y).vectorize(x, VECTOR)
        outs[-1].compute_at(out, y).vectorize(x, VECTOR)

    return Program((source,), out, (cols, rows, 3), schedule)
