"""The text check: each way in which a text may differ from its program is seen, by itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.codegen import render_region
from polyc.codegen.text.printer import expression
from polyc.frontend import read
from polyc.model import ctree as c
from polyc.model.printed import Rendered
from polyc.model.program import InputOptions, Options, Program
from polyc.model.scop import Region
from polyc.model.tree import Extension, walk
from polyc.pipeline import compile_region
from polyc.reread import text_faults

TILED = """
void f(int n, float A[n][n], float B[n][n], float T[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      T[i][j] = A[i][j] * 2.0f;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      B[i][j] = T[i - 1][j] + T[i + 1][j] + T[i][j - 1] + T[i][j + 1];
#pragma endscop
}
"""
PRODUCT = """
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
STRIDED = """
void f(int n, int m, double a[n + 1], double c[m + 2], double b[m + 1])
{
#pragma scop
    for (int i = 0; i < m; i += 2)
        for (int j = 0; j < n; j += 2)
            for (int k = j / 2; k < m + j && k < 40; k += 3)
                c[i] = a[j] + k;
    for (int x = 0; x < m - 4; x++)
        b[x] = c[x + 3];
#pragma endscop
}
"""
SPARSE = """
void f(float a[24][23], const float b[restrict 24][23])
{
#pragma scop
    for (int i = 1; i < 12; i += 3)
        for (int j = i; j < 12; j++)
            if (2 * i >= 12)
                a[j][2 * i] = a[j + 2][i + 1] - b[j + 1][i + 1];
#pragma endscop
}
"""
APART = """
void f(int k, int n, double x[][18], double y[][18])
{
    for (int i = 0; i < k; i++)
        for (int j = 0; j < n; j++)
            y[i][j] = x[i][j] + 1;
}
"""
FLAT = """
void f(int n, int m, double *restrict a, const double *restrict b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] = b[i * m + j] * 2;
#pragma endscop
}
"""
DIAGONALS = """
void f(int n, int m, double d[n + 1][40][40], double b[n + 1], double c[n][8])
{
#pragma scop
    for (int i = 0; i < n + 1; i++)
        for (int j = 0; j < 40; j++)
            for (int l = 0; l < 40; l++)
                d[i][j][l] = 2.0 * b[i];
    for (int i = 2; i < n; i++)
        for (int j = 3; j < 5; j++)
            for (int k = 0; k < m; k++)
                c[i][j] += d[i + 1][j + k][k];
#pragma endscop
}
"""
"""The columns 3 and 4 are a tile each, and no buffer holds the diagonals that these compute."""
Printed = tuple[Program, Region, Rendered]
Change = Callable[[c.Node], c.Node | None]


def printed(text: str, folder: Path, **options: object) -> Printed:
    """A region, the program that is printed, and its text with all that it was made from."""
    file = folder / "t.c"
    file.write_text(text)
    (region,) = read(str(file), InputOptions(detect="pragma" not in text)).regions
    program = compile_region(region, replace(Options(), **options)).program  # type: ignore[arg-type]
    return program, region, render_region(program, region, True)


def messages(found: Printed, rendered: Rendered | None = None) -> list[str]:
    program, region, right = found
    return [fault.message for fault in text_faults(program, region, rendered or right)]


def rewritten(found: Printed, change: Change, once: bool = True) -> Rendered:
    """The text as if codegen had made the same mistake in all that it hands on; `once`: at the first place only."""
    rendered, done = found[2], False

    def first(node: c.Node) -> c.Node | None:
        nonlocal done
        if done and once:
            return None
        answer = change(node)
        done = done or answer is not None
        return answer

    body = tuple(c.rewrite(item, first) for item in rendered.body)
    assert body != rendered.body
    return replace(rendered, body=body, steps=(("notes", body, rendered.steps[-1][2]),))


@pytest.fixture(scope="module")
def tiled(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    return printed(TILED, tmp_path_factory.mktemp("tiled"), tile_sizes=(8, 16), max_recompute=1e6)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    return printed(PRODUCT, tmp_path_factory.mktemp("product"))


def test_right_texts(tiled: Printed, product: Printed, tmp_path: Path) -> None:
    assert "T_tile" in tiled[2].text
    assert product[0].padded
    for found in (tiled, product, printed(APART, tmp_path), printed(FLAT, tmp_path)):
        assert messages(found) == []


def test_tiles_with_producers_count_as_the_tree_does(tmp_path: Path) -> None:
    found = printed(DIAGONALS, tmp_path, tile_sizes=(4, 2), max_recompute=100.0, inline=False)
    assert any(isinstance(node, Extension) for node in walk(found[0].tree.child))
    assert not found[0].options.spaced
    assert messages(found) == []


def bound_less(node: c.Node) -> c.Node | None:
    match node:
        case c.For(condition=c.Binary(op="<", right=right) as condition):
            return replace(node, condition=replace(condition, right=c.Binary("-", right, c.Literal("1"))))
    return None


def start_more(node: c.Node) -> c.Node | None:
    match node:
        case c.For(init=c.Decl(init=start) as init) if start is not None:
            return replace(node, init=replace(init, init=c.Binary("+", start, c.Literal("1"))))
    return None


def test_lost_iterations(tiled: Printed, product: Printed) -> None:
    for found in (tiled, product):
        for change in (bound_less, start_more):
            assert messages(found, rewritten(found, change))


@pytest.mark.parametrize("fuse", ["smart", "max"])
def test_lost_iterations_of_steps_in_tiles(fuse: str, tmp_path: Path) -> None:
    """What is compared with the values of the loops, since isl would need 26 s without them."""
    found = printed(STRIDED, tmp_path, fuse=fuse)
    assert not [r for r in found[0].remarks if r.code == "text-not-checked"]

    def innermost(node: c.Node) -> c.Node | None:
        return bound_less(node) if isinstance(node, c.For) and not isinstance(node.body, c.For) else None

    lost = messages(found, rewritten(found, innermost))
    assert lost
    assert all(message.startswith("the text leaves out") for message in lost)


def further(array: str) -> Change:
    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.ArrayRef) and node.array == array:
            last = c.Binary("+", node.subscripts[-1], c.Literal("1"))
            return replace(node, subscripts=(*node.subscripts[:-1], last))
        return None

    return change


@pytest.mark.parametrize("array", ["A", "B", "T_tile"])
def test_another_element(array: str, tiled: Printed) -> None:
    assert re.search("the text of S[01] is another one", messages(tiled, rewritten(tiled, further(array)))[0])


def test_another_operation(tiled: Printed, product: Printed) -> None:
    def change(node: c.Node) -> c.Node | None:
        is_update = isinstance(node, c.Assign) and node.op == "+=" and isinstance(node.target, c.ArrayRef)
        return replace(node, op="-=") if is_update and isinstance(node, c.Assign) else None

    def minus(node: c.Node) -> c.Node | None:
        is_sum = isinstance(node, c.Binary) and node.op == "+" and isinstance(node.right, c.ArrayRef)
        return replace(node, op="-") if is_sum and isinstance(node, c.Binary) else None

    assert "is another one" in messages(product, rewritten(product, change))[0]
    assert "is another one" in messages(tiled, rewritten(tiled, minus))[0]


def test_a_buffer_too_small(tiled: Printed) -> None:
    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Decl) and node.name == "T_tile":
            return replace(node, extents=(c.Literal("9"), *node.extents[1:]))
        return None

    assert messages(tiled, rewritten(tiled, change)) == ["T_tile is too small"]


def test_a_buffer_that_outlives_its_tile(tiled: Printed) -> None:
    taken: list[c.Stmt] = []

    def without(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Block) and any(isinstance(i, c.Decl) and i.name == "T_tile" for i in node.body):
            taken.extend(i for i in node.body if isinstance(i, c.Decl) and i.name == "T_tile")
            return replace(node, body=tuple(i for i in node.body if i not in taken))
        return None

    rendered = rewritten(tiled, without)
    moved = replace(rendered, body=(*taken, *rendered.body), steps=())
    assert any("outlives" in m or "declared" in m for m in messages(tiled, moved))


def test_steps_in_another_order(tiled: Printed) -> None:
    """The producer's loops behind the consumer's, in each tile."""

    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Block) and any(isinstance(i, c.Decl) and i.name == "T_tile" for i in node.body):
            first = next(k for k, i in enumerate(node.body) if isinstance(i, c.For | c.Block | c.If))
            return replace(node, body=(*node.body[:first], *reversed(node.body[first:])))
        return None

    assert "in another order than the program" in messages(tiled, rewritten(tiled, change))[0]


def test_a_loop_that_is_not_parallel(product: Printed) -> None:
    """The loop of the sum with the pragma of another one."""
    outer = {p for n in product[2].body for m in c.walk(n) if isinstance(m, c.For) for p in m.pragmas}
    pragma = next(p for p in outer if p.startswith("omp parallel for"))

    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.For) and isinstance(node.init, c.Decl) and node.init.name.startswith("k"):
            return replace(node, pragmas=(pragma,))
        return None

    assert any("carries dependences" in m or "is no loop" in m for m in messages(product, rewritten(product, change)))


def test_a_loop_with_smaller_steps_than_its_member(tmp_path: Path) -> None:
    """Of the tiles that begin at 6 and 10, isl makes a loop over 3 and 5; of two of its iterations, not one."""
    found = printed(SPARSE, tmp_path, tile_sizes=(2,), fuse="max", threads="always")
    text = found[2].text
    assert "for (int it = 3; it < 6; it += 2)" in text
    assert messages(found) == []

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.For(init=c.Decl(name="it")):
                return replace(node, pragmas=(), body=c.rewrite(node.body, change))
            case c.For(init=c.Decl(name="j")):
                return replace(node, pragmas=("omp parallel for",))
        return None

    assert messages(found, rewritten(found, change, False)) == [
        "the loop j of the text is parallel, and carries dependences in the program"
    ]


BYTES = """
void f(int n, int m, const unsigned char *in, unsigned char *out)
{
    unsigned char turned[256];
    turned[0] = 255;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i * m + j] = turned[in[i * m + j]];
#pragma endscop
    out[0] = turned[1];
}
"""


@pytest.mark.parametrize("names", ["in, out", "n, m", "turned", "in, turned", "at"])
def test_copies_for_each_thread(names: str, tmp_path: Path) -> None:
    """Of pointers and sizes that nobody changes; a copy of an array has other elements than it had, or none."""
    found = printed(BYTES, tmp_path, threads="always")
    assert "#pragma omp parallel for firstprivate(in, out, m)\n" in found[2].text
    assert messages(found) == []

    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.For) and any("firstprivate" in pragma for pragma in node.pragmas):
            return replace(node, pragmas=(f"omp parallel for firstprivate({names})",))
        return None

    wrong = "the loop i of the text has copies of what may have elements, or change"
    assert (wrong in messages(found, rewritten(found, change))) == (names not in ("in, out", "n, m"))


GATHERED = """
void f(int n, int m, const float *x, const float *table, float *y, float step)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float t = x[i] / step;
        int k = (int)t;
        if (k < 0) k = 0;
        if (k > m - 1) k = m - 1;
        y[i] = table[k] * t;
    }
#pragma endscop
}
"""
IN_VECTORS = "#pragma omp parallel for simd\n#elif defined(__GNUC__) && !defined(__clang__)\n#pragma GCC ivdep\n"


def test_threads_and_vectors_for_one_loop(tmp_path: Path) -> None:
    """Where it reads at places that data choose, and divides; not for what is looked up alone."""
    found = printed(GATHERED, tmp_path, threads="always")
    assert IN_VECTORS in found[2].text
    assert messages(found) == []
    plain = re.sub(r" +if .*\n", "", GATHERED.replace("x[i] / step", "x[i]"))
    alone = printed(plain, tmp_path, threads="always")
    assert "simd" not in alone[2].text
    asked = printed(GATHERED, tmp_path)
    assert "polyc_threads(n > " in asked[2].text
    assert IN_VECTORS in asked[2].text
    assert messages(asked) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#pragma GCC ivdep", "#pragma GCC unroll 4"),
        ("for simd\n", "for\n"),
        ("#pragma omp parallel for simd\n", "#pragma omp parallel for simd schedule(static)\n"),
    ],
)
def test_other_pragmas_than_these(old: str, new: str, tmp_path: Path) -> None:
    found = printed(GATHERED, tmp_path, threads="always")
    assert messages(found, with_text(found, old, new))


def test_vectors_of_a_loop_that_is_none_of_vectors(tmp_path: Path) -> None:
    """Cells that each thread updates with care are not updated so in vectors."""
    found = printed(BYTES, tmp_path, threads="always")

    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.For) and any("firstprivate" in pragma for pragma in node.pragmas):
            return replace(node, pragmas=("omp parallel for simd firstprivate(in, out, m)",))
        return None

    wrong = "the loop i of the text is parallel, and carries dependences in the program"
    assert wrong in messages(found, rewritten(found, change))


def test_no_copies_of_what_pointers_lead_to(tmp_path: Path) -> None:
    """A clause names variables: `*m` is none."""
    text = """
void f(const int *m, int n, int k, int a[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < *m; j++)
            a[i][j] = k + i;
#pragma endscop
}
"""
    found = printed(text, tmp_path, threads="always")
    (line,) = (line for line in found[2].text.splitlines() if "omp parallel" in line)
    assert "*" not in line
    assert messages(found) == []


def test_the_border_of_padded_tiles(product: Printed) -> None:
    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Ternary) and node.otherwise == c.Literal("0"):
            return replace(node, otherwise=c.Literal("1"))
        return None

    assert messages(product, rewritten(product, change))


# --- characters ------------------------------------------------------------------------------------------------------


def with_text(found: Printed, old: str, new: str) -> Rendered:
    assert old in found[2].text
    return replace(found[2], text=found[2].text.replace(old, new, 1))


def test_a_lost_parenthesis(tmp_path: Path) -> None:
    found = printed(APART, tmp_path, threads="always")
    text = found[2].text
    condition = text[text.index("if (") :]
    assert "||" in condition.split(") {")[0]
    broken = re.sub(r"if \(\((.*?)\)(\s*&& polyc_apart)", r"if (\1\2", text, count=1, flags=re.DOTALL)
    assert broken != text
    assert messages(found, replace(found[2], text=broken)) == ["C reads the printed text as another program"]


def test_another_branch(tmp_path: Path) -> None:
    found = printed(APART, tmp_path, threads="always")
    before, after = found[2].text.rsplit("+ 1;", 1)
    wrong = replace(found[2], text=f"{before}+ 2;{after}")
    assert messages(found, wrong) == ["the other branch of the condition is not the region as it was written"]


def test_a_guard_that_asks_less(tmp_path: Path) -> None:
    found = printed(APART, tmp_path, threads="always")
    needed = found[2].needed
    assert isinstance(needed, c.Binary)
    weak = replace(found[2], needed=needed.left, condition=needed.left)
    assert messages(found, weak) == ["the condition around the text does not ask whether two arrays overlap"]
    weak = replace(found[2], needed=needed.right, condition=needed.right)
    assert messages(found, weak) == ["the condition around the text is too weak"]


FOLLOWS = """struct size { int n; };
void f(int m, const struct size *s, double *a)
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < s->n; j++)
      a[i * s->n + j] = i;
}
"""


def test_a_guard_that_reads_too_early(tmp_path: Path) -> None:
    """Where m is 0, the region reads nothing of s."""
    found = printed(FOLLOWS, tmp_path, threads="always")
    needed = found[2].needed
    assert isinstance(needed, c.Binary)
    assert "m >= 1" in expression(needed.left)
    turned = replace(needed, left=needed.right, right=needed.left)
    early = replace(found[2], needed=turned, condition=turned)
    assert messages(found, early) == ["the condition around the text may read what is not there"]


def test_another_macro(tiled: Printed) -> None:
    wrong = with_text(tiled, "((a) < (b) ? (a) : (b))", "((a) > (b) ? (a) : (b))")
    assert messages(tiled, wrong) == ["a macro of the text stands for something else"]


def test_a_pragma_more(tiled: Printed) -> None:
    wrong = with_text(tiled, "  polyc_simd\n", "\n#pragma omp parallel for\n")
    assert messages(tiled, wrong) == ["C reads the printed text as another program"]


# --- steps -----------------------------------------------------------------------------------------------------------


def stepped(found: Printed, name: str, change: Change) -> Rendered:
    """The text after a step that went wrong at its first place."""
    done = False

    def first(node: c.Node) -> c.Node | None:
        nonlocal done
        answer = None if done else change(node)
        done = done or answer is not None
        return answer

    steps = []
    for step, before, after in found[2].steps:
        wrong = tuple(c.rewrite(item, first) for item in after) if step == name else after
        steps.append((step, before, wrong))
    assert done
    return replace(found[2], steps=tuple(steps[: [s[0] for s in steps].index(name) + 1]))


def test_vectors_of_other_elements(product: Printed) -> None:
    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Call) and node.function.startswith("polyc_double"):
            (first,) = node.arguments
            assert isinstance(first, c.ArrayRef)
            last = c.Binary("+", first.subscripts[-1], c.Literal("1"))
            return replace(node, arguments=(replace(first, subscripts=(*first.subscripts[:-1], last)),))
        return None

    assert messages(product, stepped(product, "vectors", change)) == [
        "vectors: a vector has other elements than the loop"
    ]


def test_flat_arrays_of_other_rows(tmp_path: Path) -> None:
    found = printed(FLAT, tmp_path)

    def change(node: c.Node) -> c.Node | None:
        return replace(node, op="+") if isinstance(node, c.Binary) and node.op == "*" else None

    assert messages(found, stepped(found, "flat", change))[0].startswith("flat: a subscript of ")


def test_macros_at_any_margin(tmp_path: Path) -> None:
    """A region that nobody marked stands at the margin of its loops, with the lines of its macros."""
    text = FLAT.replace("#pragma scop\n", "").replace("#pragma endscop\n", "")
    found = printed(text, tmp_path, stores="nontemporal", machine="x86-64-v3")
    assert "#define polyc_stream" in found[2].text
    assert messages(found) == []


def test_types_of_a_condition_are_read(tmp_path: Path) -> None:
    """Of the condition around the text, and of that of threads: no statement mentions them."""
    text = """#include <stdlib.h>
void f(int h, int w, const unsigned char *img, int *hist)
{
    for (const unsigned char *p = img; p < img + (size_t)h * w * 3; p += 3)
        hist[(p[0] >> 4) << 8 | (p[1] >> 4) << 4 | p[2] >> 4]++;
}
"""
    (tmp_path / "t.c").write_text(text)
    (region,) = read(str(tmp_path / "t.c"), InputOptions(detect=True)).regions
    found = compile_region(region, Options())
    assert found.verified
    assert "(size_t)" in found.text
    assert "text-not-checked" not in {remark.code for remark in found.program.remarks}
