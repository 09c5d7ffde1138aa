"""Camera pipeline: sums of sixteen bits where C's ints end in a short, which is the same modulo 2^16.

C's (a + b + 1) / 2 of values that are not negative is the rounding mean, and a result below zero is cut to zero, so
that it makes no difference how the division by 256 rounds it.
"""

from __future__ import annotations

from typing import Any

import halide as hl

from .program import VECTOR, Program, image

BLACK, WHITE, TEMPERATURE, CONTRAST, GAMMA = 25, 1023, 3700.0, 50.0, 2.0


def program(rows: int, cols: int) -> Program:
    x, y, c, i, yo, yi = (hl.Var(name) for name in ("x", "y", "c", "i", "yo", "yi"))
    raw = image(hl.UInt(16), "raw", cols + 32, rows + 48)
    warm, cold = image(hl.Float(32), "warm", 4, 3), image(hl.Float(32), "cold", 4, 3)
    clean = hl.Func("clean")
    near = [raw[x + dx, y + dy] for dx, dy in ((10, 20), (14, 20), (12, 18), (12, 22))]
    most = hl.max(hl.max(near[0], near[1]), hl.max(near[2], near[3]))
    least = hl.min(hl.min(near[0], near[1]), hl.min(near[2], near[3]))
    clean[x, y] = hl.i16(hl.min(hl.max(raw[x + 12, y + 20], least), most))
    places = four_places(clean, x, y)
    greens = greens_between(places, x, y)
    planes = [whole(parts, x, y) for parts in colours(places, greens, x, y)]
    matrix, curve = colour_matrix(warm, cold, x, y), contrast_curve(i)
    corrected, out = hl.Func("corrected"), hl.Func("out")
    sums = [
        hl.i32(matrix[3, c])
        + hl.i32(matrix[0, c]) * hl.i32(planes[0][x, y])
        + hl.i32(matrix[1, c]) * hl.i32(planes[1][x, y])
        + hl.i32(matrix[2, c]) * hl.i32(planes[2][x, y])
    ]
    corrected[x, y, c] = hl.i16(sums[0] / 256)
    out[x, y, c] = curve[hl.i32(hl.clamp(corrected[x, y, c], hl.i16(0), hl.i16(WHITE)))]

    def schedule() -> None:
        guarded, wide = hl.TailStrategy.GuardWithIf, 2 * VECTOR
        xi = hl.Var("xi")
        matrix.compute_root()
        curve.compute_root().vectorize(i, VECTOR)
        out.bound(c, 0, 3).reorder(c, x, y).unroll(c)
        out.split(y, yo, yi, 32, guarded).parallel(yo).align_bounds(y, 2)
        out.split(yi, y, yi, 2).split(x, x, xi, 2 * wide, guarded).reorder(xi, c, x, yi, y, yo).vectorize(xi)
        clean.store_at(out, yo).compute_at(out, y).vectorize(x, wide)
        for func in (*places, *greens):
            func.store_at(out, yo).compute_at(out, y).vectorize(x, wide)
        for func in planes:
            func.compute_at(out, y).vectorize(x, 2 * wide).align_bounds(y, 2).unroll(y, 2)

    return Program((raw, warm, cold), out, (cols, rows, 3), schedule)


def mean(a: Any, b: Any) -> Any:
    return hl.rounding_halving_add(a, b)


def func(name: str, x: Any, y: Any, value: Any) -> Any:
    made = hl.Func(name)
    made[x, y] = value
    return made


def four_places(clean: Any, x: Any, y: Any) -> list[Any]:
    """gr, r, b, gb."""
    where = (("gr", 0, 0), ("r", 1, 0), ("b", 0, 1), ("gb", 1, 1))
    return [func(name, x, y, clean[2 * x + dx, 2 * y + dy]) for name, dx, dy in where]


def greens_between(places: list[Any], x: Any, y: Any) -> list[Any]:
    """Green at red and at blue, along the smaller step."""
    gr, _, _, gb = places
    pairs = (
        ("g_r", gb[x + 1, y], gb[x + 1, y + 1], gr[x + 1, y + 1], gr[x + 2, y + 1]),
        ("g_b", gr[x + 1, y + 1], gr[x + 1, y + 2], gb[x, y + 1], gb[x + 1, y + 1]),
    )
    return [func(name, x, y, smaller(a, b, mean(a, b), p, q, mean(p, q))) for name, a, b, p, q in pairs]


def smaller(a: Any, b: Any, one: Any, p: Any, q: Any, other: Any) -> Any:
    return hl.select(hl.absd(a, b) < hl.absd(p, q), one, other)


def colours(places: list[Any], greens: list[Any], x: Any, y: Any) -> list[tuple[Any, Any, Any, Any]]:
    """Red, green and blue at the four places, those of an even row first."""
    gr, r, b, gb = places
    g_r, g_b = greens

    def along(p: Any, q: Any, here: Any, u: Any, v: Any) -> Any:
        return mean(p, q) + here - mean(u, v)

    at_gr, at_gb, green_r, green_b = gr[x + 2, y + 2], gb[x + 2, y + 2], g_r[x + 1, y + 1], g_b[x + 1, y + 1]
    r_gr = along(r[x + 1, y + 2], r[x + 2, y + 2], at_gr, g_r[x, y + 1], green_r)
    b_gr = along(b[x + 2, y + 1], b[x + 2, y + 2], at_gr, g_b[x + 1, y], green_b)
    r_gb = along(r[x + 2, y + 2], r[x + 2, y + 3], at_gb, green_r, g_r[x + 1, y + 2])
    b_gb = along(b[x + 2, y + 2], b[x + 3, y + 2], at_gb, green_b, g_b[x + 2, y + 1])
    falling, rising = (r[x + 2, y + 2], r[x + 1, y + 3]), (r[x + 1, y + 2], r[x + 2, y + 3])
    rp_b = along(*falling, green_b, green_r, g_r[x, y + 2])
    rn_b = along(*rising, green_b, g_r[x, y + 1], g_r[x + 1, y + 2])
    r_b = smaller(*falling, rp_b, *rising, rn_b)
    falling, rising = (b[x + 3, y + 1], b[x + 2, y + 2]), (b[x + 2, y + 1], b[x + 3, y + 2])
    bp_r = along(*falling, green_r, g_b[x + 2, y], green_b)
    bn_r = along(*rising, green_r, g_b[x + 1, y], g_b[x + 2, y + 1])
    b_r = smaller(*falling, bp_r, *rising, bn_r)
    return [(r_gr, r[x + 2, y + 2], r_b, r_gb), (at_gr, green_r, green_b, at_gb), (b_gr, b_r, b[x + 2, y + 2], b_gb)]


def whole(parts: tuple[Any, Any, Any, Any], x: Any, y: Any) -> Any:
    """The image of twice the size from its four places."""
    four = [func(f"part{n}", x, y, part) for n, part in enumerate(parts)]
    at = [part[x / 2, y / 2] for part in four]
    return func("plane", x, y, hl.select(y % 2 == 0, hl.select(x % 2 == 0, at[0], at[1]),
                                         hl.select(x % 2 == 0, at[2], at[3])))  # fmt: skip


def colour_matrix(warm: Any, cold: Any, x: Any, y: Any) -> Any:
    f32 = hl.f32
    one = f32(1.0)
    to_warm = one / f32(TEMPERATURE) - one / f32(7000.0)
    to_cold = one / f32(3200.0) - one / f32(TEMPERATURE)
    all_of_it = one / f32(3200.0) - one / f32(7000.0)
    value = (warm[x, y] * to_warm + cold[x, y] * to_cold) / all_of_it * f32(256.0)
    return func("matrix", x, y, hl.i16(value))


def contrast_curve(i: Any) -> Any:
    """The table of contrast, gamma and eight bits."""
    f32 = hl.f32
    at = hl.clamp(hl.f32(i - BLACK) / f32(WHITE - BLACK), f32(0.0), f32(1.0))
    g = hl.pow(at, f32(1.0 / GAMMA))
    s = f32(2.0) - hl.pow(f32(2.0), f32(CONTRAST / 100.0))
    one = f32(1.0)
    z = hl.select(g > f32(0.5), one - (s * (one - g) * (one - g) + (one - s) * (one - g)), s * g * g + (one - s) * g)
    curve = hl.Func("curve")
    curve[i] = hl.u8(hl.clamp(z, f32(0.0), one) * f32(255.0) + f32(0.5))
    return curve
