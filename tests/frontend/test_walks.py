"""Pointers into arrays, induction variables, and functions of a few statements: what they come to, and what stays."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from polyc.codegen import render_file
from polyc.errors import UserError
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.model.scop import Scop
from polyc.pipeline import compile_region
from tests.programs import run_alike

from .conftest import Modeller, Reader

Relations = Callable[[Scop, str], list[str]]
HEAD = "int n, int m, float *x, float *y, int *v, float (*g)[20], unsigned u, unsigned long z"
TYPES = "typedef struct { float a, b; } pair; typedef struct { int w, h; } image; static float G[30][20];\n"


def program(body: str, before: str = "", after: str = "", functions: str = "") -> str:
    region = f"#pragma scop\n{body}\n#pragma endscop\n"
    return f"{TYPES}{functions}\nint f({HEAD}, pair *p, image s)\n{{\n{before}\n{region}{after}\nreturn 0;\n}}\n"


LOOP = "for (int i = 0; i < n; i++) "
NEST = f"{LOOP}for (int j = 0; j < m; j++) "


@pytest.mark.parametrize(
    ("body", "before", "accesses"),
    [
        (f"{LOOP}{{ float *r = x + 3; r[i] = *(y + i); }}", "", ["y -> i", "x -> i + 3"]),
        (f"{LOOP}{{ float *r = &x[2 * i], *q = r + 1; *q = r[0]; }}", "", ["x -> 2i", "x -> 2i + 1"]),
        (f"{LOOP}{{ float *r; r = x + i; *r = 1; r = y + i; *r = 2; }}", "", ["x -> i", "y -> i"]),
        (f"{LOOP}{{ float *r = g[i]; for (int j = 0; j < 20; j++) r[j] = 0; }}", "", ["g -> i, j"]),
        (f"{LOOP}{{ float (*r)[20] = &g[i]; for (int j = 0; j < 20; j++) r[1][j] = 0; }}", "", ["g -> i + 1, j"]),
        (f"{LOOP}{{ pair *q = p + i; q->a = 0; (*q).b = 1; }}", "", ["p -> i"] * 4),
        (f"{LOOP}a[i] = q[i];", "float *q = x + n, *a = q + n; x[0] = 1;", ["q -> i", "q -> n + i"]),
        (f"{LOOP}a[i] = q[i] + x[i];", "float *q = x + n, *a = q + n;", ["x -> n + i", "x -> i", "x -> 2n + i"]),
        (f"{LOOP}*x++ = *y++;", "", ["y -> i", "x -> i"]),
        (f"{LOOP}{{ *++x = y[1]; y += 2; }}", "", ["y -> 2i + 1", "x -> i + 1"]),
        ("for (int i = n; i > 0; i--) *x++ = i;", "", ["x -> -i + n"]),
        (f"{LOOP}{{ x[k] = y[i]; k += 2; }}", "int k = 1;", ["y -> i", "x -> 2i + 1"]),
        (f"{LOOP}{{ x[k] = 0; k -= 2; x[k] = 0; }}", "int k = n;", ["x -> -2i + k", "x -> -2i + k - 2"]),
        ("for (int i = 0, j = n; i < n; i++, j--) x[i] = y[j];", "", ["y -> -i + n", "x -> i"]),
        (f"{LOOP}v[i] = 1; for (int i = 0, j = n; i < n; i++, j--) x[j] = 0;", "", ["v -> i", "x -> -i + n"]),
        ("for (i = 0, j = 3; i < n; i++, j += 2) x[j] = 0;", "int i, j;", ["x -> 2i + 3"]),
        ("while (n--) *x++ = 1;", "", ["x -> i"]),
        ("while (k < n) { x[k] = 1; k++; }", "int k = 0;", ["x -> k"]),
        ("for (; k < n; ) { x[k] = 1; k += 2; }", "int k = 0;", ["x -> k"]),
        (f"{LOOP}for (int j = 0; j < 20; j++) x[k++] = 0;", "int k = 0;", ["x -> i, j"]),
        (f"{LOOP}{{ for (int j = 0; j < 5; j++) k++; x[k] = 0; }}", "int k = 0;", ["x -> 5i + 5"]),
        ("for (float *q = x; q < x + n; q++) *q = 0;", "", ["x -> k"]),
        ("for (float *q = x + 2; q <= x + n; q += 2) q[1] = 0;", "", ["x -> k + 3"]),
        ("for (float *q = x + n - 1; q >= x; q--) *q = 0;", "", ["x -> k + n - 1"]),
        ("for (float *q = x; q < end; q++) *q = q - x;", "float *end = x + n;", ["x -> k"]),
        ("for (float *q = x; q < x + n; q++) { int i = q - x; x[i + 1] = 0; }", "", ["x -> k + 1"]),
        ("for (float *q = x; q != end; ++q) *q = *y++;", "float *end = &x[n];", ["y -> k", "x -> k"]),
        ("while (q < end) *q++ = 0;", "float *q = x, *end = q + n;", ["q -> k"]),
        ("for (; p < end; p++) p->a = p->b;", "const pair *end = p + n;", ["p -> k"] * 3),
        (f"{LOOP}x[i] = half[i];", "float *half = x + 20;", ["x -> i + 20", "x -> i"]),
        (f"{LOOP}for (float *q = g[i]; q < g[i] + 20; q++) *q = 0;", "", ["g -> i, k"]),
    ],
)
def test_they_are_followed(body: str, before: str, accesses: list[str], scop: Modeller) -> None:
    found = scop(program(body, before))
    told = []
    for name, statement in found.statements.items():
        assert not statement.opaque
        for access in statement.accesses:
            if found.arrays[access.array].rank:
                assert access.exact
                wanted = accesses[len(told)]
                array, _, cell = wanted.partition(" -> ")
                loops = [key.partition("_")[0] for key in statement.loops]
                sizes = ", ".join({"n", "m", "k"} - set(loops))
                relation = type(access.relation)(f"[{sizes}] -> {{ {name}[{', '.join(loops)}] -> {array}[{cell}] }}")
                assert access.relation.is_subset(relation), access.relation
                told.append(wanted)
    assert told == accesses


def test_rows_are_those_of_the_array(scop: Modeller, relations: Relations) -> None:
    body = f"{LOOP}{{ float *r = x + i * m; const float *q = y + m * i; for (int j = 0; j < m; j++) r[j] = q[j]; }}"
    found = scop(program(body))
    assert relations(found, "S0") == ["read { S0[i, j] -> y[i, j] }", "write { S0[i, j] -> x[i, j] }"]
    found = scop(program(f"{NEST}{{ x[k] = y[k]; k++; }}", "int k = 0;"))
    assert relations(found, "S0") == ["read { S0[i, j] -> y[i, j] }", "write { S0[i, j] -> x[i, j] }"]


@pytest.mark.parametrize(
    "body",
    [
        f"{LOOP}if (v[i]) *x++ = 1;",
        f"{LOOP}{{ if (v[i]) continue; v[i] = 2; *x++ = 1; }}",
        f"{LOOP}{{ double *r = (double *)x; r[i] = 1; }}",
        f"{LOOP}{{ float *r = x; float **q = &r; *q[0] = 1; }}",
        f"{LOOP}{{ float *r = x + i; if (r > y) r[0] = 1; }}",
    ],
)
def test_what_is_refused(body: str, scop: Modeller) -> None:
    with pytest.raises(UserError):
        scop(program(body))


@pytest.mark.parametrize(
    "body",
    [
        f"{LOOP}{{ float *r = x + i; if (v[i] > 2) r += 2; *r = 1; }}",
        f"{LOOP}{{ float *r = x + v[i]; v[i] = 1; r[0] = 1; }}",
        "for (float *r = x; r < x + n; r++) { *r = 0; n--; }",
        "for (float *r = x; r < x + n; r++) if (*r) r++; else *r = 1;",
    ],
)
def test_what_has_an_offset_that_varies(body: str, scop: Modeller) -> None:
    found = scop(program(body))
    assert "r" not in found.arrays
    assert not all(access.exact for s in found.statements.values() for access in s.accesses if access.array == "x")


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("for (float *q = x; q < end; q++) *q = 0;", "float *end = x + n; n++;"),
        ("for (float *q = x; q < end; q++) *q = 0;", "float *end = x + n; x++;"),
        ("for (float *q = x; q < end; q++) *q = 0;", "float *end = x + n; if (m) end = y;"),
        ("for (float *q = x; q < end; q++) *q = 0;", "float *end = x; { int n = 3; end = x + n; }"),
        ("for (float *q = x; q < end; q++) *q = 0;", "float *end = x + n; int *at = &n; *at = 2;"),
        ("for (float *q = x; q < end; q++) *q = 0;", "float *end = x + v[0];"),
        ("for (float *q = x; q < y; q++) *q = 0;", ""),
    ],
)
def test_ends_that_nobody_knows(body: str, before: str, scop: Modeller) -> None:
    with pytest.raises(UserError):
        scop(program(body, before))


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        (f"{LOOP}{{ x[k] = 0; k += 2; }}", "int k = v[0];", "return k;"),
        (f"{LOOP}{{ x[k] = 0; if (v[i]) k++; }}", "int k = 0;", ""),
        (f"{LOOP}{{ x[k] = 0; k += v[i]; }}", "int k = 0;", ""),
        (f"{LOOP}{{ x[k] = 0; k += 2; }}", "int k = 0; int *at = &k;", ""),
        (f"{LOOP}{{ x[k] = 0; k += 1; }}", "short k = 0;", ""),
        ("while (k < n) { x[k] = 1; if (v[k]) break; k++; }", "int k = 0;", ""),
        ("while (k < n) { x[k] = 1; n--; k++; }", "int k = 0;", ""),
        ("while (k < n) { x[k] = 1; k += v[0]; }", "int k = 0;", ""),
    ],
)
def test_what_stays(body: str, before: str, after: str, scop: Modeller) -> None:
    found = scop(program(body, before, after))
    assert any(not access.exact for s in found.statements.values() for access in s.accesses)


@pytest.mark.parametrize(
    ("end", "added", "followed"), [("m", "v[i]", False), ("m", "i / n", False), ("3", "v[i]", True)]
)
def test_what_only_iterations_read(end: str, added: str, followed: bool, scop: Modeller) -> None:
    """Behind a loop that may run none, nothing of it is asked for."""
    found = scop(program(f"{LOOP}{{ int k = 4; for (int j = 0; j < {end}; j++) k += {added}; x[i] = k; }}"))
    assert ("k" not in found.arrays) == followed


def test_what_somebody_reads_later(scop: Modeller) -> None:
    found = scop(program(f"{LOOP}{{ x[k] = 0; k += 2; }}", "int k = 1;", "return k;"))
    assert "k" in found.live_out
    assert [one.opening for one in found.walked] == ["int k = 1;"]


FUNCTIONS = """
static float get(const float *d, image m, int i, int j) { return d[i * m.w + j]; }
static float at(int i, int j) { return G[i][j]; }
static float width(const float *d, const image *m, int i, int j) { if (j >= m->w) return 0; return d[i * m->w + j]; }
static void set(float *d, image m, int i, int j, float e) { d[i * m.w + j] = e; }
static void put(int i, int j, float e) { G[i][j] = e; }
static void axpy(int k, float a, const float *p, float *q) { for (int i = 0; i < k; i++) q[i] += a * p[i]; }
static void copy(float *to, const float *from, int k) { while (k--) *to++ = *from++; }
static float more(float *to, int i) { to[i] += 1; return to[i] * 2; }
static void twice(float *to, int i) { more(to, i); more(to, i); }
float *kept; static void keep(float *to) { kept = to; }
static void one_of(float *to, int i) { if (i > 3) return; to[i] = 1; }
static void last_of(float *to, int i) { while (i > 3) { if (to[i] > 1) return; i--; } to[i] = 1; }
"""


@pytest.mark.parametrize(
    ("body", "accesses"),
    [
        (f"{NEST}x[i * s.w + j] = get(y, s, i, j);", ["read y", "write x"]),
        ("for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) x[i * 20 + j] = at(i, j);", ["read G", "write x"]),
        (f"{NEST}x[i * s.w + j] = width(y, &s, i, j);", ["read y", "write x"]),
        (f"{LOOP}one_of(x, i);", ["write x"]),
        (f"{NEST}set(x, s, i, j, y[i]);", ["read y", "write x"]),
        (f"{LOOP}for (int j = 0; j < 20; j++) put(i, j, y[j]);", ["read y", "write G"]),
        (f"{LOOP}axpy(m, 2, y, x + i * m);", ["read y", "read x", "write x"]),
        (f"{LOOP}copy(x + i * 20, y + i * 20, 20);", ["read y", "write x"]),
        (f"{LOOP}y[i] = more(x, i);", ["read x", "write x", "read x", "write y"]),
        (f"{LOOP}twice(x, i);", ["read x", "write x", "read x", "write x"]),
    ],
)
def test_functions_are_followed(body: str, accesses: list[str], scop: Modeller) -> None:
    found = scop(program(body, functions=FUNCTIONS))
    told = [a for s in found.statements.values() for a in s.accesses if found.arrays[a.array].rank]
    assert [f"{a.kind.value} {a.array}" for a in told] == accesses
    assert all(a.exact for a in told)


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (f"{LOOP}keep(x + i);", "side-effects"),
        (f"{LOOP}last_of(x, i);", ""),
        (f"{LOOP}set(x, s, i, v[i]++, 1);", ""),
        (f"{LOOP}x[i] = v[i] && more(y, i);", ""),
        (f"{LOOP}x[i] += more(x, i);", ""),
        (f"{LOOP}y[i] = more(x, i) + x[i];", ""),
        (f"{LOOP}y[i] = more(x, i) - more(x, i + 1);", ""),
    ],
)
def test_functions_that_are_called(body: str, note: str, scop: Modeller) -> None:
    found = scop(program(body, functions=FUNCTIONS))
    assert any(access.kind.value == "may-write" for s in found.statements.values() for access in s.accesses)
    assert note in {one.code for one in found.notes} | {""}


def test_a_name_that_means_something_else_where_it_is_called(scop: Modeller) -> None:
    for before in ("float G = 1;", "float (*G)[20] = g;"):
        found = scop(program("for (int i = 0; i < 20; i++) x[i] = at(i, i);", before, functions=FUNCTIONS))
        assert [note.code for note in found.notes] == ["side-effects"]


def test_a_function_that_only_regions_call(read_text: Reader) -> None:
    functions = "static void set(float *d, int i) { d[i] = 1; }"
    text = f"{functions}\nvoid f(int n, float *x)\n{{\n{LOOP}set(x, i);\n}}\n"
    source = read_text(text + text.replace(functions, "").replace("f(", "g("), detect=True)
    assert [region.scop.orphan_functions for region in source.regions] == [(), ("set",)]


SUITE = """
#include <stdio.h>
#include <stddef.h>
static float G[40][50];
typedef struct { int w, h; } image;
static float get(const float *d, image k, int i, int j) { return j < 0 || j >= k.w ? 0 : d[i * k.w + j]; }
static float at(int i, int j) { return G[i][j]; }
static void axpy(int k, float a, const float *p, float *q) { for (int l = 0; l < k; l++) *q++ += a * *p++; }
static float next(float *to, int i) { to[i] += 1; return to[i] * 2; }
BODIES
static float x[9000], y[9000];
static int v[9000];
int main(void)
{
    int sizes[][2] = { {0, 0}, {1, 1}, {5, 6}, {7, 3}, {30, 41}, {64, 33}, {12, 0} };
    for (int s = 0; s < 7; s++) {
        for (int i = 0; i < 9000; i++) { x[i] = i % 13; y[i] = i * 7 % 11 - 3; v[i] = i % 5; }
CALLS
        for (int i = 0; i < 9000; i++) if (x[i] != i % 13 || v[i] != i % 5) printf("%d %a %d\\n", i, x[i], v[i]);
    }
    return 0;
}
"""
BODIES = [
    "int k = 5; FOR { x[k] = y[i] + k; k += 2; } v[0] = k;",
    "unsigned k = 4000000000u; FOR { v[i] = (int)(k % 7u); k += 100000000u; }",
    "int k = 0; FOR { for (int j = 0; j < m; j += 2) { x[k % 9000] = y[j]; k += 3; } v[i] = k; }",
    "float *p = x, *q = y; while (m > 0) { *p++ = *q; q += 2; m -= 3; }",
    "int i = 0; while (i != m) { x[i] = y[i]; ++i; } v[1] = i;",
    "float *p = x; for (int i = 0; i < n; i++, p += m) { float *q = p; for (int j = 0; j < m; j++) *q++ += y[j]; }",
    "int k = 0; for (int i = n; i > 0; i -= 3) { x[k] = y[i]; k++; } v[0] = k;",
    "for (int i = 0, j = 0, k = m; i < n; i++, j += 2, k--) { x[j] = y[i]; v[i] = k; }",
    "float *p = x; int c = 0; FOR { float *r = p; p = r + 1; *r = y[i]; c++; } v[0] = c;",
    "size_t k = 0; for (size_t i = 0; i < (size_t)n; i++) { x[k] = y[i]; k += 2; } v[0] = (int)k;",
    "int w = n; float *p = x; for (; w >= 4; w -= 4, p += 4) { p[0] = 1; p[3] = y[w]; }\\n while (w-- > 0) *p++ = 5;",
    "FOR { const int o = i * m; float *p = x + o, *q = y + (o - i); for (int j = 0; j < m; j++) p[j] = q[j]; }",
    "int k = -5; FOR { v[i] = k / 2 + k % 3; k++; }",
    "image s = {m, n}; FOR for (int j = 0; j < m; j++) x[i * m + j] = get(y, s, i, j + 1);",
    "FOR for (int j = 0; j < 20; j++) x[i * 20 + j] = at(j, i % 50);",
    "FOR axpy(m, y[i], y + 5, x + i * m);",
    "FOR v[i] = (int)next(x, 2 * i);",
    "int i, j; for (i = 0, j = n - 1; i < j; i++, j--) { x[i] = y[j]; v[j] = i; }",
    "int i, j; for (i = 0, j = m; i < n && j > 1; i += 2, --j) x[i + j] = y[j];",
    "int i = m & 3; v[0] = 2; for (; i != m; i += 4) { x[i] = y[i]; x[i + 1] = y[i + 2]; }",
    "unsigned i = (unsigned)m & 3; unsigned to = (unsigned)m; for (; i != to; i += 4) x[i] = y[i] * 2;",
    "for (int i = 3 * n, k = 0; i != 0; i -= 3) { x[i] = y[k]; k += 2; }",
]


@pytest.mark.slow
def test_programs_print_the_same(tmp_path: Path) -> None:
    """What gcc makes of the loops as they were written, and of those that polyc prints."""
    loop = "for (int i = 0; i < n; i++)"
    parameters = "int n, int m, float *restrict x, float *restrict y, int *restrict v"
    texts = [body.replace("FOR", loop).replace("\\n", "\n") for body in BODIES]
    bodies = "\n".join(
        f"void f{k}({parameters})\n{{\n" + text.replace("; ", ";\n", text.split(loop)[0].split("while")[0].count("; "))
        for k, text in enumerate(texts)
    )
    bodies = bodies.replace("\nvoid f", "\n}\nvoid f") + "\n}\n"
    calls = "\n".join(f"        f{k}(sizes[s][0], sizes[s][1], x + 100, y + 300, v + 10);" for k in range(len(texts)))
    file = tmp_path / "t.c"
    file.write_text(SUITE.replace("BODIES", bodies).replace("CALLS", calls))
    source = read(str(file), InputOptions(detect=True))
    done = [compile_region(region, Options()) for region in source.regions]
    assert len(done) >= 14
    for region, compiled in zip(source.regions, done, strict=True):
        assert compiled.certificate.checked, compiled.certificate
        if region.scop.function != "main":  # that one takes too many iterations
            assert compiled.certificate.run == "agrees", region.scop.span
    printed = tmp_path / "printed.c"
    printed.write_text(render_file(source, done))
    outputs = set()
    for text, flags in [(file, ["-O2"]), (printed, ["-O2", "-fopenmp"]), (printed, ["-g", "-fopenmp", *SANITIZERS])]:
        out = tmp_path / "out"
        subprocess.run(["gcc", "-w", "-ffp-contract=off", *flags, text, "-o", out], check=True)
        for threads in ("1", "2"):
            environment = {**os.environ, "OMP_NUM_THREADS": threads, "ASAN_OPTIONS": "detect_leaks=0"}
            outputs.add(subprocess.run([out], check=True, capture_output=True, text=True, env=environment).stdout)
    assert len(outputs) == 1


SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


MEMBERS = """#include <stdio.h>
struct atom { double f[3], u[6], m[3][3]; };
struct cell { struct atom at[4]; };
static struct atom at[50];
static struct cell cs[12];
static double out[50];
static void add(double *f, const double *u, double s) { for (int k = 0; k < 3; k++) f[k] += s * u[k]; }
static void steps(int n, struct atom *s)
{
#pragma scop
    for (int a = 0; a < n; a++) {
        const double *const u = at[a].u;
        struct atom *p = &at[a];
        double *f = p->f, (*m)[3] = p->m, *end = p->u + 6;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                m[i][j] += m[j][i] * 0.5 + u[i + j];
        f[0] += u[3];
        for (double *q = p->u; q < end; q++)
            *q *= 2;
        add(at[a].f, &at[a].u[1], 0.5);
    }
    for (int a = 0; a < n; a++) {
        const double *u = s->u;
        s->f[1] += u[2];
        out[a] += u[a % 6] + s->f[1];
    }
    for (int c = 0; c < 12; c++)
        for (int j = 0; j < 4; j++) {
            double *f = &cs[c].at[j].f[1];
            f[-1] += 2;
            cs[c].at[j].f[0] *= 2;
            f[1] += f[-1];
        }
#pragma endscop
}
int main(void)
{
    for (int a = 0; a < 50; a++)
        for (int k = 0; k < 6; k++)
            at[a].u[k] = a * 0.25 + k, at[a].m[k % 3][k / 3] = a - k;
    for (int c = 0; c < 12; c++)
        for (int j = 0; j < 4; j++)
            cs[c].at[j] = at[c + j];
    steps(50, &at[3]);
    const double *all[3] = {(const double *)at, (const double *)cs, out};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < (k < 2 ? 48 * 18 : 50); i++)
            printf("%.17g\\n", all[k][i]);
}
"""


def test_pointers_to_arrays_in_structs(tmp_path: Path) -> None:
    path = tmp_path / "members.c"
    path.write_text(MEMBERS)
    source = read(str(path), InputOptions())
    found = [compile_region(region, Options()) for region in source.regions]
    assert all(one.verified for one in found)
    run_alike(MEMBERS, render_file(source, found), tmp_path)


def test_a_pointer_that_a_struct_holds_is_refused(scop: Modeller) -> None:
    """It cannot be declared before the region: it depends on `i`."""
    text = program(f"{LOOP}{{ float *r = q[i].far; x[i] = r[0]; }}", functions="struct far { float *far; };")
    with pytest.raises(UserError) as error:
        scop(text.replace("pair *p", "struct far *q"))
    assert [one.hint for one in error.value.diagnostics] == ["use the array itself"]
