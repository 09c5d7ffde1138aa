"""Variables of loops are `int`s where the user's are and that is enough; the check refuses them elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.analysis.expressions.widths import sizes_that_fit
from polyc.frontend import read
from polyc.model import ctree as c
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.reread.test_text_is_program import Printed, messages, printed

Change = Callable[[c.Node], c.Node | None]


def region(head: str, *lines: str) -> str:
    return "\n".join([f"void f({head})", "{", "#pragma scop", *lines, "#pragma endscop", "}", ""])


ROW = region("int n, const float *restrict x, float *restrict y", "for (int i = 0; i < n; i++)", "y[i] = x[i] * i;")
INCLUDED = region("int n, float *restrict y", "for (int i = n; i >= 0; i--)", "y[i] = 0;",
                  "for (int i = 0; i <= n; i++)", "y[i] = y[i] * i + n - i;")  # fmt: skip
FROM_SHORT = region("short n, float *restrict y", "for (int i = 0; i <= n; i++)", "y[i] = y[i] * i;")
TWO_SIZES = region("int n, int m, float y[n][m], const float *restrict x", "for (int i = 0; i < n; i++)",
                   "for (int j = 0; j < m; j++)", "y[i][j] = x[i + j];")  # fmt: skip
FLAT = region("int n, int m, float *restrict y", "for (int i = 0; i < n; i++)", "for (int j = 0; j < m; j++)",
              "y[i * m + j] += i;")  # fmt: skip
LONG_SIZE = region("long n, float *restrict y", "for (int i = 0; i < n; i++)", "y[i] = y[i] * 2;")
LONG_LOOP = region("int n, float *restrict y", "for (long i = 0; i < n; i++)", "y[i] = y[i] * i;")
UNSIGNED_SIZE = region("unsigned n, float *restrict y", "for (int i = 0; i < n; i++)", "y[i] = y[i] * i;")
INNER = region("int n, const float *restrict x, float *restrict y", "for (int i = 1; i < n - 1; i++)",
               "y[i] = x[i - 1] + x[i + 1];")  # fmt: skip
PERHAPS = region("int n, int m, float *restrict y", "if (m > 0)", "for (int i = 1; i < n - 1; i++)", "y[i] = 0;")
STEPS = region("int n, float *restrict y", "for (int i = 0; i < n; i += 7)", "y[i] = y[i] * i;")
EVEN = region("int n, float *restrict y", "for (int i = 0; i < n; i++)", "if (i % 2 == 0)", "y[i] = y[i] * i;")
NARROWED = region("long n, float *restrict y", "for (long i = 0; i < n; i++)", "y[i] = y[i] * (int)i;")
RING = region("int n, float y[n][8], const float x[n][8]", "for (int i = 0; i < n; i++)", "for (int j = 0; j < 8; j++)",
              "y[i][j] = x[i == 0 ? n - 1 : i - 1][j];")  # fmt: skip
LONG_RING = RING.replace("int n", "long n").replace("int i", "long i")
BACK = region("int n, float *restrict y", "for (int i = n; i > 0; i -= 3)", "y[i] = y[i] * i;")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (ROW, ["for (int i = 0; i < n; i++)", "y[i] = x[i] * i;"]),
        (INCLUDED, ["for (int i = 0; i < n + 1; i++) {", "y[i] = 0;", "y[i] = y[i] * i + n - i;"]),
        (INNER, ["for (int i = 1; i < n - 1; i++)", "y[i] = x[i - 1] + x[i + 1];"]),
        (FROM_SHORT, ["for (int i = 0; i < n + 1; i++)", "y[i] = y[i] * i;"]),
        (TWO_SIZES, ["for (int j = 0; j < m; j++)", "y[i][j] = x[(long)i + j];"]),
        (FLAT, ["for (int i = 0; i < n; i++)", "y[(long)i * m + j] += i;"]),
        # Between bounds in 64 bits a loop of 64 bits is what compilers understand best.
        (LONG_SIZE, ["for (long i = 0; i < n; i++)"]),
        (LONG_LOOP, ["for (long i = 0; i < n; i++)", "y[i] = y[i] * i;"]),
        (UNSIGNED_SIZE, ["for (long i = 0; i < (long)n; i++)", "y[i] = y[i] * (int)i;"]),
        (STEPS, ["for (int i = 0; i < n; i += 7)", "y[i] = y[i] * i;"]),
        (RING, ["const int i2 = i == 0 ? n - 1 : i - 1;", "y[i][j] = x[i2][j];"]),
        (LONG_RING, ["const long i2 = i == 0 ? n - 1 : i - 1;", "y[i][j] = x[i2][j];"]),
        # The user's loop goes on in steps of one: nothing says that it could take one of two at its end.
        (EVEN, ["for (long i = 0; i < n; i += 2)", "y[i] = y[i] * (int)i;"]),
    ],
)  # fmt: skip
def test_types(text: str, lines: list[str], tmp_path: Path) -> None:
    found = printed(text, tmp_path, target="c")
    present = [line.strip() for line in found[2].text.split("\n")]
    assert [line for line in lines if line not in present] == [], found[2].text
    assert messages(found) == []


def test_tiles_of_sizes_that_are_known(tmp_path: Path) -> None:
    """A tile loop may count past an `int`'s end, unless something is known of its own."""
    head, *loops = (
        "int n, float y[n][n], const float x[n][n]",
        "for (int i = 0; i < n; i++)",
        "for (int j = 0; j < n; j++)",
    )
    found = {}
    for assume in ((), ("n <= 100000",)):
        (tmp_path / "t.c").write_text(region(head, *loops, "y[i][j] = x[j][i];"))
        (one,) = read(str(tmp_path / "t.c"), InputOptions(assume=assume)).regions
        found[assume] = compile_region(one, Options(tile_sizes=(32, 32))).text
    assert "for (long it = 0; it < n; it += 32)" in found[()]
    assert "for (int it = 0; it < n; it += 32)" in found["n <= 100000",]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (ROW, "[n] -> { : -2147483648 <= n <= 2147483647 }"),
        (FROM_SHORT, "[n] -> { : -32768 <= n <= 32767 }"),
        (LONG_SIZE, "[n] -> { : n <= 2147483647 }"),
        (STEPS, "[n] -> { : -2147483648 <= n <= 2147483646 }"),  # a multiple of 7: no loop goes to its next one
        (INNER, "[n] -> { : -2147483647 <= n <= 2147483647 }"),
        (PERHAPS, "[n, m] -> { : -2147483648 <= n, m <= 2147483647 and (m <= 0 or n > -2147483648) }"),
        (BACK, "[n] -> { : -2147483648 <= n <= 2147483647 }"),
    ],
)
def test_no_loop_overflows(text: str, wanted: str, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(text)
    (one,) = read(str(tmp_path / "t.c"), InputOptions()).regions
    found = sizes_that_fit(one.scop)
    assert found.is_equal(isl.Set(wanted)), found


# --- what the check refuses


def typed(kind: str) -> Change:
    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Decl(type="long" | "int", name="i" | "j" | "it" | "jt") if node.init is not None:
                return replace(node, type=kind)
        return None

    return change


def constant_int(node: c.Node) -> c.Node | None:
    return replace(node, type="const int") if isinstance(node, c.Decl) and node.type == "const long" else None


def constant_long(node: c.Node) -> c.Node | None:
    return replace(node, type="const long") if isinstance(node, c.Decl) and node.type == "const int" else None


def uncast(node: c.Node) -> c.Node | None:
    return node.operand if isinstance(node, c.Cast) else None


def short(node: c.Node) -> c.Node | None:
    return c.Literal(node.text.rstrip("L")) if isinstance(node, c.Literal) and node.text.endswith("L") else None


def other_name(node: c.Node) -> c.Node | None:
    match node:
        case c.ArrayRef(subscripts=subscripts) if subscripts:
            return replace(node, subscripts=(*subscripts[:-1], c.Literal("0")))
    return None


def started_late(node: c.Node) -> c.Node | None:
    match node:
        case c.Decl(type="int", init=c.Literal()):
            return replace(node, init=c.Literal("1"))
    return None


def counts_in_twos(node: c.Node) -> c.Node | None:
    match node:
        case c.For(step=c.Postfix(operand=name)):
            return replace(node, step=c.Assign("+=", name, c.Literal("2")))
    return None


@pytest.mark.parametrize(
    ("text", "change", "message"),
    [
        (LONG_SIZE, typed("int"), ""),
        (EVEN, typed("int"), "counters: an int may not hold what i counts"),
        (UNSIGNED_SIZE, typed("int"), ""),
        (LONG_RING, constant_int, "counters: i2 is declared otherwise"),
        (RING, constant_long, ""),
        (TWO_SIZES, uncast, "counters: a sum may leave the range of an int"),
        (FLAT, uncast, "counters: a sum may leave the range of an int"),
        (NARROWED, uncast, "counters: a cast to int is lost"),
        (ROW, typed("unsigned"), "counters: i is declared otherwise"),
        (ROW, typed("long"), "counters: an expression has another type"),
        (ROW, other_name, "counters: a value of i"),
        (ROW, started_late, "counters: a constant became another one"),
        (ROW, counts_in_twos, "counters: the loop i counts otherwise"),
    ],
)
def test_what_is_refused(text: str, change: Change, message: str, tmp_path: Path) -> None:
    """ "": a text that computes the same, as the user's own `int` may not overflow."""
    found = printed(text, tmp_path, target="c")
    program, region_, rendered = found
    number = [step[0] for step in rendered.steps].index("counters")
    others, (name, before, after) = rendered.steps[:number], rendered.steps[number]
    wrong = tuple(c.rewrite(item, change) for item in after)
    assert wrong != after
    changed: Printed = (
        program,
        region_,
        replace(rendered, steps=(*others, (name, before, wrong)), text=""),
    )
    answer = messages(changed)
    assert (answer[:1] == []) if not message else answer and answer[0].startswith(message), answer
