"""Functions of one expression: put in the place of their calls, as C would compute them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polyc.codegen.text.printer import expression
from polyc.model import ctree as c
from polyc.model.scop import Scop

from .conftest import Modeller

Relations = Callable[[Scop, str], list[str]]
IDX = "static inline int idx(int y, int x, int w) { return y * w + x; }"
HEAD = "int h, int w, long l, unsigned u, short s, float *a, float *b, double *d, int *k, float m[h][w], byte *g"


def program(body: str, functions: str, before: str = "", arguments: str = HEAD) -> str:
    types = "typedef unsigned long size_t; typedef unsigned char byte;"
    loops = "  for (int i = 0; i < h; i++)\n    for (int j = 0; j < w; j++)\n"
    region = f"#pragma scop\n{loops}      {body}\n#pragma endscop\n"
    return f"{types}\n{functions}\nvoid f({arguments})\n{{\n{before}\n{region}}}\n"


def value(found: Scop, name: str = "S0") -> str:
    """What a statement assigns, as C."""
    body = found.statements[name].body
    assert isinstance(body, c.ExprStmt)
    assert isinstance(body.expr, c.Assign)
    return expression(body.expr.value)


CLAMPS = [
    "{ return x < lo ? lo : x > hi ? hi : x; }",
    "{ return (x < lo) ? lo : ((x > hi) ? hi : x); }",
    "{ if (x < lo) return lo; if (x > hi) return hi; return x; }",
    "{ if (x < lo) return lo; else if (x > hi) return hi; else return x; }",
    "{ if (x < lo) x = lo; if (x > hi) x = hi; return x; }",
    "{ int r = x; if (r < lo) { r = lo; } else if (r > hi) r = hi; return r; }",
    "{ const int low = x < lo ? lo : x; return low > hi ? hi : low; }",
]


@pytest.mark.parametrize("body", CLAMPS)
def test_a_clamp_is_affine(body: str, scop: Modeller, same: Callable[[object, str], None]) -> None:
    text = program("m[i][j] = a[clamp(j - 2, 0, w - 1)];", f"static inline int clamp(int x, int lo, int hi) {body}")
    found = scop(text)
    (read,) = [access for access in found.statements["S0"].accesses if access.array == "a"]
    wanted = (
        "[h, w] -> { S0[i, j] -> a[x] : 0 <= i < h and 0 <= j < w and ((j < 2 and x = 0) or (j >= 2 and x = j - 2)) }"
    )
    assert read.exact
    assert read.relation.is_equal(type(read.relation)(wanted))
    assert not found.notes


@pytest.mark.parametrize(
    ("functions", "subscript"),
    [
        (IDX, "idx(i, j, w)"),
        (IDX, "idx(i, 0, w) + j"),
        ("static inline size_t idx(size_t y, size_t x, size_t w) { return y * w + x; }", "idx(i, j, w)"),
        ("static long idx(long y, long x, long w) { long r = y; r *= w; r += x; return r; }", "idx(i, j, w)"),
        (f"{IDX} static int at(int y, int x, int w) {{ return idx(y, x, w); }}", "at(i, j, w)"),
        ("static int row(int y, int w) { return y * w; }", "row(i, w) + j"),
    ],
)
def test_linearised_subscripts(functions: str, subscript: str, scop: Modeller, relations: Relations) -> None:
    found = scop(program(f"b[{subscript}] = 1;", functions))
    assert relations(found, "S0") == ["write { S0[i, j] -> b[i, j] }"]
    assert [note.code for note in found.notes] == ["delinearised"]
    assert found.assumed.plain_is_universe()


def test_a_constant_of_the_file(scop: Modeller, relations: Relations) -> None:
    functions = "enum { PAD = 2 }; static const int W = 640; static int at(int y, int x) { return (y + PAD) * W + x; }"
    found = scop(program("b[at(i, j)] = 0;", functions))
    assert relations(found, "S0") == ["write { S0[i, j] -> b[2 + i, j] }"]
    hidden = scop(program("b[at(i, j)] = 0;", functions, "int W = h;"))
    assert not hidden.statements["S0"].accesses[-1].exact


def test_an_element_behind_a_pointer(scop: Modeller, relations: Relations) -> None:
    functions = f"{IDX} static inline float at(const float *p, int w, int y, int x) {{ return p[idx(y, x, w)]; }}"
    found = scop(program("b[idx(i, j, w)] = at(a, w, i, j) + at(m[i], w, 0, j);", functions))
    assert relations(found, "S0") == [
        "read { S0[i, j] -> a[i, j] }",
        "read { S0[i, j] -> m[i, j] }",
        "write { S0[i, j] -> b[i, j] }",
    ]


@pytest.mark.parametrize(
    ("function", "call", "expected"),
    [
        ("float sq(float x) { return x * x; }", "sq(a[j])", "a[j] * a[j]"),
        ("float sq(float x) { return x * x; }", "sq(d[j])", "(float)d[j] * (float)d[j]"),
        ("double sq(float x) { return x * x; }", "sq(a[j])", "(double)(a[j] * a[j])"),
        ("int sq(float x) { return x * x; }", "sq(a[j])", "(int)(a[j] * a[j])"),
        ("float sq(float x) { return x * x; }", "sq(a[j] - b[j])", "sq(a[j] - b[j])"),
        ("float sq(float x) { return x * x; }", "sq(k[j]++)", "sq(k[j]++)"),
        ("float sq(float x) { return x * x; }", "sq(a[j] - 1)", "(a[j] - 1) * (a[j] - 1)"),
        ("float half(float x) { return 0.5f * x; }", "half(a[j] - b[j])", "0.5f * (a[j] - b[j])"),
        ("float half(float x) { return 0.5 * x; }", "half(a[j])", "(float)(0.5 * a[j])"),
        ("float one(float x) { return 1; }", "one(a[j])", "(float)1"),
        ("byte low(int x) { return x; }", "low(k[j])", "(unsigned char)k[j]"),
        ("byte least(int x, int y) { return x < y ? x : y; }", "least(g[j], 0)", "(unsigned char)(0 ? (int)g[j] : 0)"),
        ("int least(int x, int y) { return x < y ? x : y + 1; }", "least(k[j], k[j])", "0 ? k[j] : k[j] + 1"),
        ("int no(float x, float y) { return x < y; }", "no(a[j], a[j])", "a[j] < a[j]"),
        ("int no(int x) { return x != 256; }", "no(g[j])", "1"),
        ("int no(int x) { return x >= 255; }", "no(g[j])", "(int)g[j] >= 255"),
        ("int no(int x) { return x < -1; }", "no(g[j])", "0"),
        ("int no(int x) { return x < -1; }", "no(k[j])", "k[j] < -1"),
        ("int no(int x) { return x < -1; }", "no(u & 3)", "(int)(u & 3) < -1"),
        ("int no(unsigned x) { return x < -1; }", "no(g[j])", "(unsigned int)g[j] < -1"),
        ("int no(int x) { return 3 < x; }", "no(a[j] > 0.25)", "0"),
        ("int no(int x) { return x >= -2; }", "no(!k[j])", "1"),
        ("int no(int x) { return x == 1; }", "no(a[j] > 0.25)", "(a[j] > 0.25) == 1"),
        ("byte low(byte x) { return x / 2; }", "low(k[j])", "(unsigned char)((unsigned char)k[j] / 2)"),
        ("int sum(short x, short y) { return x + y; }", "sum(s, k[j])", "s + (short)k[j]"),
        ("int no(int x) { return !x; }", "no(k[j])", "!k[j]"),
        ("float max(float x, float y) { return x > y ? x : y; }", "max(a[j], 0)", "a[j] > (float)0 ? a[j] : (float)0"),
        ("float abso(float x) { return fabsf(x); } float fabsf(float);", "abso(a[j])", "fabsf(a[j])"),
        ("int up(int x) { return x + 1; } enum e { A } v; ", "up(v - 1)", "(int)(v - 1) + 1"),
        ("int up(int x) { return x + 1; } struct { unsigned w : 3, v; } y;", "up(y.w - y.v)", "(int)(y.w - y.v) + 1"),
        ("float pick(const float *p, int x) { return p[x]; }", "pick(a, k[j])", "a[k[j]]"),
        ("float pick(const float *p, int x) { return p[x]; }", "pick(a + j, 1)", "pick(a + j, 1)"),
        ("float pick(const float *p, int x) { return p[x]; }", "pick((float *)d, 1)", "pick((float *)d, 1)"),
    ],
)
def test_values_are_those_of_the_call(function: str, call: str, expected: str, scop: Modeller) -> None:
    assert value(scop(program(f"m[i][j] = {call};", f"static {function}"))) == expected


STRUCTS = """
typedef struct { float *t; float top; int n; } table;
typedef struct { int k; table t, many[2]; } tables;
static float at(table q, float x) { float y = q.t[2 * q.n]; return x > q.top ? 1.f : y * x; }
"""


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("p.t", "a[j] > p.t.top ? 1.f : (float)p_t_t[2 * p.t.n] * a[j]"),
        ("o->t", "a[j] > o[0].t.top ? 1.f : (float)o_t_t[2 * o[0].t.n] * a[j]"),
        ("*l", "a[j] > l[0].top ? 1.f : (float)l_t[2 * l->n] * a[j]"),
        ("l[1]", "a[j] > l[1].top ? 1.f : (float)l_1_t[2 * l[1].n] * a[j]"),
        ("o->many[0]", "at(o[0].many[0], a[j])"),
    ],
)
def test_structs_are_given_by_their_places(argument: str, expected: str, scop: Modeller) -> None:
    head = "int h, int w, float *a, float m[h][w], tables p, tables *o, table *l"
    assert value(scop(program(f"m[i][j] = at({argument}, a[j]);", STRUCTS, arguments=head))) == expected


BRANCHES = " ".join(f"if (x > {k}) {{ int y{k} = x; x = y{k}; }}" for k in range(30))


@pytest.mark.parametrize(
    "functions",
    [
        "int calls; int at(int x) { while (x > 9) return 0; calls++; return x; }",
        "volatile int shift; int at(int x) { return x + shift; }",
        "int table[4]; int at(int x) { while (x > 9) return 0; return *table + x; }",
        "int at(int x) { return x > 0 ? at(x - 1) : 0; }",
        "int at(int x) { static int k = 1; return x + k; }",
        "int at(int x) { int r; if (x) r = 1; return r + x; }",
        "int at(int x) { { int x = 1; return x; } }",
        "int at(int x) { while (x > 9) x--; return x; }",
        "int at(volatile int x) { return x; }",
        "int at(int x, ...) { return x; }",
        "__attribute__((weak)) int at(int x) { return x; }",
        "int other(int); int at(int x) { return other(x); }",
        "int at(int x) { return x++; }",
        "enum { K = 3 }; int at(int x) { { int K = 1; x += K; } return x + K; }",
        "enum e { A, B }; int at(enum e x) { return x; }",
        "typedef enum { A, B } e; int at(int x) { e y = x; return y; }",
        "int at(int x) {"
        + "if (x > 1) { int y%d = x; x = y%d; }" * 30 % tuple(k // 2 for k in range(60))
        + "return x; }",
    ],
)
def test_what_is_no_expression(functions: str, scop: Modeller) -> None:
    found = scop(program("m[i][j] = a[at(j)];", functions))
    assert "at(" in value(found)
    assert not found.statements["S0"].accesses[0].exact


def test_conditions_and_bounds(scop: Modeller, same: Callable[[object, str], None]) -> None:
    functions = (
        "static inline int inside(int y, int x, int h, int w) { return y >= 0 && y < h && x >= 0 && x < w; }\n"
        "static inline int least(int a, int b) { return a < b ? a : b; }"
    )
    body = "for (int q = 0; q < least(j, 4); q++) if (inside(i - 1, j + q, h, w)) m[i][j] = a[q];"
    found = scop(program(body, functions))
    wanted = "[h, w] -> { S0[i, j, q] : 1 <= i < h and 0 <= q < 4 and q < j and j + q < w }"
    same(found.statements["S0"].domain, wanted)


def test_a_local_variable_of_the_same_name(scop: Modeller) -> None:
    """`x` of the function is not `x` of the caller."""
    functions = "static inline int at(int x, int j) { return x - j; }"
    found = scop(program("m[i][j] = a[at(j, x)];", functions, "int x = w / 2;"))
    (read,) = [access for access in found.statements["S0"].accesses if access.array == "a"]
    wanted = "[h, w, x] -> { S0[i, j] -> a[j - x] : 0 <= i < h and 0 <= j < w }"
    assert read.relation.is_equal(type(read.relation)(wanted))


@pytest.mark.parametrize(
    ("body", "cell"),
    [
        ("{ int k = i * w + j; b[k] = 1; }", "[i, j]"),
        ("{ const long k = (long)i * w + j; b[k] = 1; }", "[i, j]"),
        ("{ int row = i * w; int k = row + j; b[k] = 1; }", "[i, j]"),
        ("{ int k = i * w; for (int q = 0; q < w; q++) b[k + q] = 1; }", "[i, q]"),
        ("{ int k = (i + 1) * (w + 2) + j; b[k] = b[k - w - 2]; }", "[1 + i, j]"),
        ("{ int k = i * w + j; k++; b[k] = 1; }", "[i, j]"),
        ("{ unsigned k = i * u + j; b[k] = 1; }", "[i, j]"),
    ],
)
def test_named_subscripts(body: str, cell: str, scop: Modeller, relations: Relations) -> None:
    found = scop(program(body, ""))
    assert list(found.statements) == ["S0"]
    assert all(access.exact for access in found.statements["S0"].accesses)
    assert relations(found, "S0")[-1].endswith(f" -> b{cell} }}")
    assert found.arrays["b"].rank == 2


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("{ int q = i; int k = q * w + j; q *= 3; b[k] = q; }", ""),
        ("{ int k = e * w; for (e = 0; e < 3; e++) b[k + e] = 1; }", "int e = 2;"),
        ("for (e = 0; e < 9; e++) { int k = e * w; for (e = 2; e < 9; e++) b[k + e] = 1; }", "int e;"),
        ("for (int e = 0; e < 9; e++) { int k = e * w; e++; b[k + j] = 1; }", ""),
        ("{ unsigned short k = i * u + j; b[k] = 1; }", ""),
        ("{ short k = i * w + j; b[k] = 1; }", ""),
    ],
)
def test_names_that_stay(body: str, before: str, scop: Modeller) -> None:
    """What they are made of changes while they are used, or their type cuts something off."""
    found = scop(program(body, "", before))
    assert found.arrays["b"].rank == 1


def test_a_name_in_a_statement_that_is_kept_whole(scop: Modeller) -> None:
    found = scop(program("while (b[i * w + j] > 1) { int k = i * w + j; a[k] += 1; b[k] /= 2; }", ""))
    names = {node.name for node in c.walk(found.statements["S0"].body) if isinstance(node, c.Decl)}
    assert not names


def test_a_function_that_a_variable_calls_once_is_called_once(scop: Modeller) -> None:
    """In the place of its call, the expression would call it for each mention of the variable."""
    text = "static int bin(float x) { int k = (int)(logf(x) * 8); return k < 0 ? 0 : k >= 40 ? 39 : k; }"
    text = "float logf(float);\n" + text
    found = scop(program("if (a[j] > 1) m[i][j] = b[bin(a[j])];", text))
    calls = [
        n for s in found.statements.values() for n in c.walk(s.body) if isinstance(n, c.Call) and n.function == "logf"
    ]
    assert len(calls) == 1
