"""Places that do not move while a region runs: elements that are sizes, members that are arrays, pointers in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen.text.printer import expression
from polyc.errors import UserError
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.model.scop import AccessKind, Scop, Source
from polyc.pipeline import compile_region

TYPES = """struct atoms { double *f; int n; };
union both { int n; double d[9]; };
struct box {
  double x[1000], y[1000], *data, **rows;
  struct atoms *atoms, own, many[4];
  int n, dims[3], bits : 4;
  volatile int moving;
  union both u;
  double tail[];
};
static int g[3], table[8][8];
int total;
struct box all, *anywhere;
void unknown(void);
static void zero(double *v, int n) { if (n > 0) v[--n] = 0; }
static void count(struct box *s) { s->dims[0]++; }
"""
HEAD = "void f(int n, int k, struct box *s, struct box *t, struct box b, int *p, const int *q, double *a, double *z)"


def text(body: str, marked: bool = False) -> str:
    start, end = ("#pragma scop\n", "#pragma endscop\n") if marked else ("", "")
    return f"{TYPES}{HEAD}\n{{\n{start}  {body}\n{end}}}\n"


def source_of(body: str, folder: Path, marked: bool = False) -> Source:
    (folder / "t.c").write_text(text(body, marked))
    return read(str(folder / "t.c"), InputOptions(detect=not marked))


def scop_of(body: str, folder: Path, marked: bool = False) -> Scop:
    source = source_of(body, folder, marked)
    assert not source.left, source.left
    (region,) = source.regions
    return region.scop


def sizes(scop: Scop) -> set[str]:
    return {expression(parameter.expr) for parameter in scop.parameters}


def asked(scop: Scop) -> set[tuple[str, str]]:
    pairs = [[expression(memory.base) for memory in (pair.one, pair.two)] for pair in scop.apart]
    return {(min(pair), max(pair)) for pair in pairs}


BOUNDS = {
    "g[0]": {"g[0]"},
    "g[2] - 1": {"g[2]"},
    "table[2][1]": {"table[2][1]"},
    "table[k][1]": {"table[k][1]"},
    "table[g[1]][k + 1]": {"table[g[1]][k + 1]"},
    "*p": {"*p"},
    "*(p)": {"*p"},
    "q[1]": {"q[1]"},
    "s->n": {"s->n"},
    "(*s).n": {"s->n"},
    "s[0].n": {"s[0].n"},
    "b.n": {"b.n"},
    "b.dims[2]": {"b.dims[2]"},
    "s->dims[k]": {"s->dims[k]"},
    "s->atoms->n": {"s->atoms->n"},
    "s->own.n": {"s->own.n"},
    "s->many[3].n": {"s->many[3].n"},
    "total + all.dims[0]": {"total", "all.dims[0]"},
    "g[0] * q[1]": {"g[0] * q[1]"},
}


@pytest.mark.parametrize("bound", BOUNDS)
def test_sizes(bound: str, tmp_path: Path) -> None:
    scop = scop_of(f"for (int i = 0; i < {bound}; i++) a[i] = 2 * a[i];", tmp_path)
    assert BOUNDS[bound] <= sizes(scop)


ARRAYS = {
    "b.data[i] = b.x[i];": {"b.data", "b.x"},
    "s->x[i] = s->y[i] * 2;": {"s->x", "s->y"},
    "(*s).x[i] = s->own.f[i] + k;": {"s->x", "s->own.f"},
    "s->atoms->f[i] += s->data[i];": {"s->atoms->f", "s->data"},
    "all.x[i + k] = anywhere->y[i];": {"all.x", "anywhere->y"},
    "s->many[1].f[i] = s->many[k].f[i];": {"s->many[1].f", "s->many[k].f"},
    "s->tail[i] = s->rows[k][i];": {"s->tail", "s->rows[k]"},
    "s->atoms[i].n = i;": {"s->atoms"},
}


@pytest.mark.parametrize("body", ARRAYS)
def test_arrays(body: str, tmp_path: Path) -> None:
    scop = scop_of(f"for (int i = 0; i < n; i++) {body}", tmp_path)
    assert {array.c_name for array in scop.arrays.values() if array.rank} == ARRAYS[body]


PAIRS = {
    "g[0]; i++) all.x[i] = all.y[i];": set[tuple[str, str]](),
    "*p; i++) a[i] = 0;": {("*p", "a")},
    "g[0]; i++) a[i] = 0;": {("a", "g[0]")},
    "s->dims[1]; i++) s->x[i] = s->y[i];": set(),
    "n; i++) s->x[i] = t->x[i];": {("s->x", "t->x")},
    "n; i++) b.x[i] = b.data[i];": set(),
    "n; i++) b.data[i] = a[i];": {("a", "b.data")},
    "n; i++) a[i] = s->data[i];": {("a", "s->data"), ("*s", "a")},
    "n; i++) s->rows[k][i] = 0;": {("*s", "s->rows[k]"), ("s->rows[k]", "s->rows[k]")},
    "s->atoms->n; i++) a[i] = s->atoms->f[i];": {("*s", "a"), ("*s->atoms", "a"), ("a", "s->atoms->f")},
}


@pytest.mark.parametrize("body", PAIRS)
def test_what_is_asked(body: str, tmp_path: Path) -> None:
    assert asked(scop_of(f"for (int i = 0; i < {body}", tmp_path)) == PAIRS[body]


REFUSED = {
    "for (int i = 0; i < p[0]; i++) p[i + 1] = 2;": "not affine",
    "for (int i = 0; i < n; i++) s->u.d[i] = s->u.n;": "",
    "for (int i = 0; i < s->moving; i++) s->x[i] = 1;": "volatile",
    "for (int i = 0; i < n; i++) s->x[i] = s->moving;": "volatile",
    "for (int i = 0; i < n; i++) { s->data[i] = 1; s->data = a; }": "pointer",
    "for (int i = 0; i < n; i++) { s->data[i] = 1; *s = *t; }": "[pointer-member]",
    "for (int i = 0; i < n; i++) { s->data[i] = 1; s = t; }": "pointer",
    "for (int i = 0; i < n; i++) s[i].data[k] = 1;": "[pointer-member]",
    "for (int i = 0; i < n; i++) { unknown(); s->data[i] = 1; }": "side effects",
}


@pytest.mark.parametrize("body", REFUSED)
def test_places_that_may_move_stay(body: str, tmp_path: Path) -> None:
    source = source_of(body, tmp_path)
    if not source.left:
        (region,) = source.regions
        assert {array.c_name for array in region.scop.arrays.values() if array.rank} == {"s"}
    else:
        assert REFUSED[body] in source.left[0].message


def test_a_function_is_given_such_an_array(tmp_path: Path) -> None:
    calls = "zero(s->data + i, s->n); zero(s->y, 9);"
    scop = scop_of(f"for (int i = 0; i < n; i++) {{ {calls} s->x[i] = s->dims[0]; a[i] = s->y[i]; }}", tmp_path, True)
    assert {array.c_name for array in scop.arrays.values() if array.rank} == {"s->data", "s->x", "s->y", "a"}
    written = {a.array for s in scop.statements.values() for a in s.accesses if a.kind is not AccessKind.READ}
    assert written == {"s_data", "s_x", "s_y", "a"}


def test_loops_beside_what_uses_the_struct_as_a_whole(tmp_path: Path) -> None:
    source = source_of("count(s);\n for (int i = 0; i < n; i++) s->data[i] = a[i];\n count(s);", tmp_path)
    assert not source.left
    assert {one.c_name for one in source.regions[0].scop.arrays.values() if one.rank} == {"s->data", "a"}


def test_one_place_by_two_names_is_no_place_of_a_marked_region(tmp_path: Path) -> None:
    """Nobody asks there whether k is 1."""
    body = "for (int i = 0; i < n; i++) s->many[1].f[i] = s->many[k].f[i] + i;"
    with pytest.raises(UserError) as caught:
        source_of(body, tmp_path, marked=True)
    assert {one.code for one in caught.value.diagnostics} == {"pointer-member"}
    assert set(scop_of(body.replace("[k]", "[2]"), tmp_path, marked=True).arrays) == {"s_many_1_f", "s_many_2_f"}


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("double *y = s->data;", "s->data[i] = y[i + 1];"),
        ("struct box *y = s;", "s->x[i] = y->x[i + 1];"),
        ("struct box y = b;", "b.data[i] = y.data[i + 1];"),
    ],
)
def test_a_second_name_that_the_function_gives(before: str, body: str, tmp_path: Path) -> None:
    loop = f"for (int i = 0; i < n; i++) {body}"
    (tmp_path / "t.c").write_text(text(loop, marked=True).replace("#pragma scop", f"{before}\n#pragma scop"))
    with pytest.raises(UserError) as caught:
        read(str(tmp_path / "t.c"), InputOptions())
    assert {one.code for one in caught.value.diagnostics} == {"aliased-pointer"}
    asked_at_run_time = "struct" in before
    assert len(source_of(f"{before}\n {loop}", tmp_path).regions) == asked_at_run_time


READ_FIRST = {
    "for (int i = 0; i < n; i++) for (int j = 0; j < s->n; j++) a[i + j] = 0;": ["n >= 1"],
    "for (int i = 0; i < s->n; i++) for (int j = 0; j < q[0]; j++) a[i + j] = 0;": ["s->n >= 1"],
    "for (int i = 0; i < n; i++) a[i] = s->data[i];": ["n >= 1"],
    "for (int i = 0; i < s->n; i++) a[i] = s->data[i];": [],
    "for (int i = 0; i < b.n; i++) a[i] = b.data[i];": [],
}


@pytest.mark.parametrize("body", READ_FIRST)
def test_nothing_is_read_where_the_region_does_not(body: str, tmp_path: Path) -> None:
    (region,) = source_of(body, tmp_path).regions
    printed = " ".join(compile_region(region, Options()).text.split("if (", 1)[1].split(") {")[0].split())
    conditions = [part for part in printed.split(" && ") if not part.startswith(("polyc_apart", "polyc_several"))]
    assert conditions[: len(READ_FIRST[body])] == READ_FIRST[body]
    assert len(conditions) == len(READ_FIRST[body]) or "n" in conditions[-1]


INTERPOLATED = """void f(double ***u, double ***z, int i, int j, int d, int t, int e, int m)
{
    int k;
    for (k = d; k <= m - 1; k++)
        u[2*i-d-1][2*(j-1)-(e-1)][2*k-d-1] = u[2*i-d-1][2*(j-1)-(e-1)][2*k-d-1] + z[i-1][j-1][k-1];
    for (k = 1; k <= m - 1; k++)
        u[2*i-d-1][2*(j-1)-(e-1)][2*k-t-1] += 0.5*(z[i-1][j-1][k]+z[i-1][j-1][k-1]);
}
"""


def test_places_are_spelled_with_the_parentheses_that_c_needs() -> None:
    """The run at small sizes knows them in the user's text; the condition on two loops' sizes is printed."""
    (region,) = read("t.c", InputOptions(detect=True), text=INTERPOLATED).regions
    compiled = compile_region(region, Options())
    assert compiled.certificate is not None
    assert (compiled.certificate.text, compiled.certificate.run) == ("shown", "agrees")
    assert "u[2 * i - d - 1][2 * (j - 1) - (e - 1)] + " in compiled.text
    assert "m >= 2 || m >= d + 1L" in compiled.text


def test_a_number_behind_a_pointer_of_a_struct(tmp_path: Path) -> None:
    """`f->stats->nr` has the pointer `f->stats` before it, and not a struct of that name."""
    types = "struct stats { int nr; float eye[64][96]; };\nstruct fsk { int m; struct stats *stats; };\n"
    body = (
        "for (int i = 0; i < m; i++) for (int j = 0; j < 96; j++) f->stats->eye[i][j] /= 3;\n"
        "f->stats->nr = m;\n"
        "for (int i = 0; i < m; i++) for (int j = 0; j < 96; j++) f->stats->eye[i][j] += 1;\n"
    )
    file = tmp_path / "t.c"
    file.write_text(f"{types}void demod(struct fsk *f, int m)\n{{\n{body}}}\n")
    (region,) = read(str(file), InputOptions(detect=True)).regions
    found = compile_region(region, Options())
    assert "f->stats[0].nr = m;" in found.text
    assert "f->stats.nr" not in found.text
    assert "polyc_apart(f->stats, f->stats + 1, f, f + 1)" in found.text
