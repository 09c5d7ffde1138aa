"""Arrays of structs in kernels: the same layout, members as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from tests.gpu.test_kernels import assert_same
from tests.programs import compiled, region_of

TYPES = """
typedef struct { unsigned char r, g, b, a; } px;
typedef struct { unsigned char r, g, b; } rgb;
struct four { float x, y, z, w; };
typedef struct { double x, y, z; } vec3;
typedef struct { vec3 pos, vel; double m; int tag[3]; struct { short k; } in[2]; } body;
typedef struct { short a; char b; long c; float d; } mixed;
struct size { int n; float k; };
static inline vec3 less(vec3 a, vec3 b) { vec3 r = {0}; r.x = a.x - b.x; r.z = a.y * b.z; return r; }
static vec3 more(vec3 a, int by) { if (by) { vec3 r = {by, a.y, 1.5f}; return r; } return a; }
"""
PROGRAMS = {
    "blend": (
        "int n, const px *s, px *o",
        "for (int i = 0; i < n; i++) { int a = s[i].a; o[i].r = s[i].r * a / 255; o[i].g = s[i].g * a; o[i].a = a; }",
    ),
    "image": (
        "int h, int w, const rgb in[h][w], rgb out[h][w], float gain[2]",
        "for (int y = 1; y < h - 1; y++) for (int x = 1; x < w - 1; x++) { "
        "out[y][x].r = (in[y][x - 1].r + in[y][x + 1].r) / 2; out[y][x].b = in[y - 1][x].b * gain[0]; }",
    ),
    "forces": (
        "int n, double dt, body *b",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { "
        "double dx = b[j].pos.x - b[i].pos.x; b[i].vel.x += b[j].m * dx / (dx * dx + 0.01) * dt; } "
        "for (int i = 0; i < n; i++) { b[i].pos.x += b[i].vel.x * dt; b[i].tag[1] += 1; }",
    ),
    "whole": (
        "int n, const int *at, const mixed *p, mixed *o",
        "for (int i = 0; i < n; i++) { mixed t = p[at[i]]; t.c = t.a + 1; o[i] = t; }",
    ),
    "rows": (
        "int n, int m, struct four *p, const struct four *w",
        "for (int i = 0; i < n; i++) { p[i].w = 0; for (int j = 0; j < m; j++) p[i].w += w[i * m + j].x * p[j].y; }",
    ),
    "odd_rows": (
        "int n, int m, double *p, const vec3 *w",
        "for (int i = 0; i < n; i++) { p[i] = 0; for (int j = 0; j < m; j++) p[i] += w[i * m + j].x; }",
    ),
    "functions": (
        "int n, const vec3 *p, const struct four *q, vec3 *o",
        "for (int i = 0; i < n; i++) { vec3 d = {p[i].x - q[i].x, q[i].y, 2}; o[i] = more(less(p[i], d), q[i].z > 1); "
        "}",
    ),
    "lists": (
        "int n, int m, const float *restrict x, struct size *restrict o",
        "for (int i = 0; i < n; i++) { struct size t[3] = {{-1, 2.5f}, {i, x[i]}}; for (int j = 0; j < m; j++) "
        "if (x[i * m + j] > t[j % 3].k) t[j % 3].k = x[i * m + j]; o[i] = t[0]; o[i].n += t[1].n + t[2].n; }",
    ),
    "scalar": (
        "const struct size *s, struct four *p",
        "for (int i = 0; i < s->n; i++) { struct four t = {0}; t.x = s->k; p[i] = t; }",
    ),
}


def text(name: str) -> str:
    head, body = PROGRAMS[name]
    return f"{TYPES}void {name}({head})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_values(name: str, tmp_path: Path) -> None:
    assert_same(region_of(text(name), tmp_path), Options(target="cuda"), (1, 40))


@pytest.mark.parametrize("name", ["forces", "whole", "functions", "lists"])
def test_the_same_values_by_opencl(name: str, tmp_path: Path) -> None:
    assert_same(region_of(text(name), tmp_path), Options(target="opencl"), (17,))


@pytest.mark.parametrize(
    ("struct", "copied"),
    [
        ("struct { float x, y, z; }", "polyc_fetch_pieces<float>(&a_panel"),
        ("struct { double x, y, z; }", "polyc_fetch_pieces<float2>(&a_panel"),
        ("struct { struct { short k; } s; short x, y, z; }", "polyc_fetch(&a_panel"),
        ("struct { short x, y, z; }", ": (f_4_el){0}"),
        ("struct { unsigned char x, y, z; }", ": (f_4_el){0}"),
    ],
)
def test_panels_are_copied_in_pieces_that_a_device_has(struct: str, copied: str, tmp_path: Path) -> None:
    """Asynchronous copies have 4, 8 or 16 bytes: nvcc makes a trap of others, without a word."""
    source = (
        f"typedef {struct} el;\nvoid f(int n, const el a[n][n], const el b[n][n], float y[n][n])\n{{\n"
        "#pragma scop\nfor (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { float s = 0; "
        "for (int k = 0; k < n; k++) s += a[i][k].x * b[j][k].x + a[i][k].y * b[j][k].z; y[i][j] = s; }\n"
        "#pragma endscop\n}\n"
    )
    assert copied in compiled(source, tmp_path, target="cuda").device[0]
    assert_same(region_of(source, tmp_path), Options(target="cuda"), (17,))
    if "char" in struct:
        assert_same(region_of(source, tmp_path), Options(target="opencl"), (17,))


def test_the_definitions(tmp_path: Path) -> None:
    """What a definition needs stands before it; elements of 4 bytes are aligned, and what lies in others is not."""
    found = {
        name: compiled(text(name), tmp_path, target="cuda").device[0].split("\n\n")[0] for name in ("blend", "forces")
    }
    bytes_ = "unsigned char r; unsigned char g; unsigned char b; unsigned char a;"
    assert found["blend"].endswith(f"typedef struct __align__(4) {{ {bytes_} }} blend_13_px;")
    assert found["forces"].splitlines()[1:] == [
        "typedef struct { double x; double y; double z; } forces_13_vec3;",
        "typedef struct { forces_13_vec3 pos; forces_13_vec3 vel; double m; int tag[3]; struct { short k; } in[2]; } "
        "forces_13_body;",
    ]


def test_members_are_apart(tmp_path: Path) -> None:
    result = compiled(text("forces"), tmp_path, target="cuda")
    assert result.device[0].count("__global__") == 2
    assert "__launch_bounds__(1," not in result.device[0]


@pytest.mark.parametrize(
    ("struct", "why"),
    [
        ("struct s { float v; struct s *next; }", "the pointer next"),
        ("struct s { float v; int k : 3; }", "a union, a bit-field, or a member without a name or a size"),
        ("struct s { union { int a; float b; } u; float v; }", "a union"),
        ("struct __attribute__((packed)) s { char c; float v; }", "a layout of its own"),
        ("#pragma pack(1)\nstruct s { char c; float v; }", "a layout of its own"),
    ],
)
def test_structs_that_no_kernel_has(struct: str, why: str, tmp_path: Path) -> None:
    head = f"{struct};\nvoid f(int n, struct s *p)\n{{\n#pragma scop\n"
    result = compiled(f"{head}for (int i = 0; i < n; i++) p[i].v *= 2;\n#pragma endscop\n}}\n", tmp_path, target="cuda")
    assert not result.device
    assert result.program.remarks[-1].message.endswith(f"no counterpart on a GPU: they have {why}")
