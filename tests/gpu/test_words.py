"""What of C kernels can say: names of types and constants, structs and lists inside of statements, functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.pipeline import compile_region
from tests.gpu.test_kernels import assert_same
from tests.programs import region_of

TYPES = r"""
#include <stdint.h>
typedef float real;
typedef real length;
typedef struct { real x, y, z; } vec3;
typedef struct ray { vec3 o, d; int hits; } ray;
typedef struct { real t; int i; } hit;
enum kind { MISS = -1, MOST = 3 };
static uint32_t hash(uint32_t x) { for (int i = 0; i < MOST; i++)
    { x ^= x >> 16; x *= UINT32_C(0x7feb352d); } return x; }
static int64_t steps(uint8_t a) { int64_t n = 0; while (a > 1) { a = a % 2 ? 3 * a + 1 : a / 2; n++; } return n; }
static inline vec3 axpy(length s, vec3 a, vec3 b) { return (vec3){s * a.x + b.x, s * a.y + b.y, 1}; }
static hit nearest(real a, real b) { hit h = {a, 0}; if (b < a) return (hit){b, MOST};
    for (int i = 0; i < 3; i++) h.t += 1; return h; }
void f(int n, int m, uint32_t *restrict g,
       const real len[n][m], vec3 p[n], long *restrict out, const uint8_t *restrict by)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        vec3 s = p[i];
        int where = MISS;
        for (int j = 0; j < m; j++) {
            if (len[i][j] < 0.2f)
                break;
            vec3 d = {s.x * len[i][j], j, s.z};
            hit h = nearest(d.x, (length)j);
            s = axpy(h.t, d, s);
            s.x += d.x;
            if (h.i == MOST) { where = h.i + MISS; vec3 z = {0}; s.z += z.x; }
        }
        p[i] = s;
        g[i] = hash(g[i]) + where;
        out[i] = steps(by[i]);
    }
#pragma endscop
}
"""
"""Functions with names of types, lists as values, and structs that only a statement or a function has."""
LISTS = """
typedef struct v3 { float x, y; } v3;
static v3 twice(struct v3 a) { struct v3 r = a; while (r.x > 1) r.x /= 2; return r; }
void f(int n, int m, struct v3 p[n], const float len[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            if (len[i][j] < 0.2f)
                break;
            float w[3] = {1, j, len[i][j]};
            v3 two[2] = {{j, 1}, {len[i][j], 3}};
            v3 t = twice(two[j % 2]);
            p[i].x += w[j % 3] + t.x;
        }
    }
#pragma endscop
}
"""
"""`struct v3` is `v3`; arrays and structs below a branch that data decide."""
ENUMERATORS = """
enum { N = 64, M = -3, B = 'a' + 1 };
static int wrap(int x) { while (x >= N) x -= N; return x - M; }
void f(int n, const int *restrict a, const float *restrict b, float *restrict y)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        y[i] = wrap(i);
        if (b[i] > M)
            y[i] += (a[i] + N) % N - M * B;
    }
#pragma endscop
}
"""
FUNCTIONS = """
#include <math.h>
#include <stdlib.h>
static int bits(unsigned x, float y) {
    int n = 0;
    while (x) { n += __builtin_popcount(x) + abs(-3); x /= 4; }
    return isnan(y) ? n : -n;
}
void f(int n, const float x[n], const double d[n], const unsigned u[n], float y[n], double z[n], long w[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] = isnan(x[i]) ? 0.0f : (float)lrintf(x[i]) + nearbyintf(x[i] * 3)
            + ldexpf(x[i], 3) + logbf(x[i]) + remainderf(x[i], 0.3f)
            + fmaf(x[i], x[i], 1) + signbit(x[i] - 100 * d[i]);
    for (int i = 0; i < n; i++)
        z[i] = isfinite(d[i] / x[i]) ? ilogb(d[i])
            + remainder(d[i], 0.7) + scalbn(d[i], -2) + __builtin_fabs(-d[i]) : -1;
    for (int i = 0; i < n; i++)
        w[i] = llrint(d[i] * 10) + lround(d[i] * 7) + llroundf(x[i] * 9)
            + __builtin_popcount(u[i] + 5) + __builtin_clz(u[i] + 1) + __builtin_popcountll(w[i])
            + bits(u[i], x[i]) + lrint(x[i] * 1e3) + ilogbf(x[i]);
#pragma endscop
}
"""
"""Functions of C's library and of gcc that CUDA and OpenCL have, under these names or others, with these bits."""
PROGRAMS = {"types": TYPES, "lists": LISTS, "enumerators": ENUMERATORS, "functions": FUNCTIONS}


@pytest.mark.parametrize("target", ["cuda", "opencl"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_kernel_says_it(name: str, target: str, tmp_path: Path) -> None:
    region, options = region_of(PROGRAMS[name], tmp_path), Options(target=target)
    assert compile_region(region, options).device
    assert_same(region, options, (17,))
