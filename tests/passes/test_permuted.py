"""Lookups in short rows that lie in vector registers: the tree, the text, the values, and the checks of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.codegen.render import render_region
from polyc.model import ctree as c
from polyc.model.printed import Rendered
from polyc.model.program import Options
from polyc.model.tree import Band, Domain, Lookups, Member, Node, rewrite
from polyc.model.tree_text import render_tree
from polyc.pipeline import compile_region
from polyc.reread.blocks.read_lookups import lookup_faults
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.programs import after, region_in, region_of

FILES = sorted((Path(__file__).parent / "permuted").glob("*.c"))
FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed"}
SIZES = (1, 8, 63, 64, 127, 130, 200)


def options(machine: str = "x86-64-v3", target: str = "openmp") -> Options:
    return Options(machine=machine, target=target)


def of(file: Path, target: str = "openmp") -> Options:
    """Tables of bytes ask for vectors of 64 bytes."""
    return options("x86-64-v4" if file.stem == "curve" else "x86-64-v3", target)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_tree(file: Path, golden: Callable[[Path, str], None]) -> None:
    """The tree after the pass, with what it says, and the text."""
    result = compile_region(region_in(file), of(file))
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert "looked-up" in codes
    assert not codes & FAILURES
    trees = {s.name: render_tree(s.tree) for s in result.passes}
    said = [r.message for r in result.program.remarks if r.stage == "lookups"]
    golden(file.with_suffix(".golden"), "\n".join([trees["lookups"], *said, result.text, ""]))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
@pytest.mark.parametrize("target", ["openmp", "c"])
def test_values(file: Path, target: str) -> None:
    """Bit by bit, with strips that are whole, with parts of them, and with rows that are too long or too short."""
    region = region_in(file)
    result = compile_region(region, of(file, target))
    assert "looked-up" in {remark.code for remark in result.program.remarks}
    assert check(region, result, sizes=SIZES) == []


@pytest.mark.parametrize("levels", [7, 8, 12, 16, 17, 32, 33])
def test_rows_of_any_length(levels: int) -> None:
    """Both branches of the condition that two vectors hold a row."""
    region = region_in(Path(__file__).parent / "permuted" / "levels.c")
    result = compile_region(region, options())
    assert "polyc_lookup_float8" in result.text
    assert check(region, result, sizes=(levels,)) == []


LEFT_ALONE = {
    "long rows": ("float t[n][40]", "t[i][in[i][j] & 31]", "does not fit two vectors"),
    "another row each time": ("float t[n][12]", "t[j][in[i][j] & 7]", "do not share a row"),
    "a row for four": ("float t[n][12]", "t[j / 4][in[i][j] & 7]", "do not share a row"),
    "an argument of one dimension, which is a pointer": (
        "float t[12]",
        "t[in[i][j] & 7]",
        "not known how many elements",
    ),
    "doubles": ("double t[n][12]", "t[i][in[i][j] & 7]", "do not have 4 bytes"),
    "bytes": ("unsigned char t[n][128]", "t[i][in[i][j] & 7]", "asks for vectors of 64 bytes"),
    "under a condition": ("float t[n][12]", "in[i][j] > 3 ? t[i][in[i][j] & 7] : 0.0f", "under a condition"),
    "a lookup of a lookup": ("int t[n][12]", "t[i][t[i][in[i][j] & 7] & 7]", "by a subscript"),
}


@pytest.mark.parametrize("condition", ["j % 3 != 1", "j < 40 || j > 42", "j < 40 || j > 42 || i > 7"])
def test_strips_in_which_iterations_are_left_out(condition: str, tmp_path: Path) -> None:
    """isl puts a condition into such a strip, where its first and its last iteration run."""
    text = f"""
void f(int n, const unsigned char in[n][200], float t[n][12], float out[n][200])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 200; j++)
            if ({condition})
                out[i][j] = t[i][in[i][j] & 7];
#pragma endscop
}}
"""
    region = region_of(text, tmp_path)
    result = compile_region(region, options())
    assert "not-printed" not in {remark.code for remark in result.program.remarks}
    assert check(region, result, sizes=(9,)) == []


def test_a_loop_of_which_a_statement_runs_in_a_part(tmp_path: Path) -> None:
    """Loops along one row that run up to different ends are one loop with conditions (20281310:1301)."""
    text = """
void f(int k, int n, int m, float y[restrict k][k][900], float t[restrict k][8], unsigned char w[restrict 900])
{
#pragma scop
    for (int i = 0; i < k; i++)
        for (int j = 0; j < i + 1; j++) {
            for (int x = 0; x < m; x++)
                y[i][j][x] += y[i][j][x] - t[i][w[x] & 7];
            for (int x = 0; x < n + 1; x++)
                y[i][j][x] -= y[i][j][x] * 1.7f;
        }
#pragma endscop
}
"""
    said = {r.code: r.message for r in compile_region(region_of(text, tmp_path), options()).program.remarks}
    assert "not-printed" not in said
    assert "run in a part of the iterations" in said["not-looked-up"]


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_other_lookups_stay(name: str, tmp_path: Path) -> None:
    table, value, why = LEFT_ALONE[name]
    text = f"""
void f(int n, const unsigned char in[n][n], {table}, float out[n][n])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = {value};
#pragma endscop
}}
"""
    region = region_of(text, tmp_path)
    result = compile_region(region, options())
    said = {r.code: r.message for r in result.program.remarks}
    assert "looked-up" not in said
    assert why in said["not-looked-up"]
    assert check(region, result, sizes=(9, 130)) == []


def test_machines_without_permutations() -> None:
    result = compile_region(region_in(FILES[0]), options("aarch64"))
    said = {r.code: r.message for r in result.program.remarks}
    assert "has no vectors of 32 bytes" in said["not-looked-up"]


# --- the checks can fail ---------------------------------------------------------------------------------------------


def changed(tree: Domain, change: Callable[[Lookups], Lookups]) -> Domain:
    def member(one: Member) -> Member:
        return one if one.lookups is None else replace(one, lookups=change(one.lookups))

    def node(one: Node) -> Node:
        return replace(one, members=tuple(map(member, one.members))) if isinstance(one, Band) else one

    return replace(tree, child=rewrite(tree.child, node))


def test_rows_that_change_in_a_group_are_seen() -> None:
    """Groups of 16, where 8 iterations share a row."""
    program = after(region_in(Path(__file__).parent / "permuted" / "slice.c"), "privatize", machine="x86-64-v3")
    assert faults_of(program) == []
    wrong = replace(program, tree=changed(program.tree, lambda one: replace(one, width=16)))
    assert any("several rows" in fault.message for fault in faults_of(wrong))


def test_references_that_are_no_lookups_are_seen() -> None:
    program = after(region_in(Path(__file__).parent / "permuted" / "tone.c"), "privatize", machine="x86-64-v3")
    plain = {(s.name, a.ref) for s in program.statements.values() for a in s.accesses if a.ref and not a.loose}
    wrong = replace(program, tree=changed(program.tree, lambda one: replace(one, references=frozenset(plain))))
    assert any(fault.kind == "form" for fault in faults_of(wrong))


def rendered(file: str, machine: str = "x86-64-v3") -> tuple[Rendered, Callable[[tuple[c.Stmt, ...]], list[str]]]:
    """A text, and what is wrong with another one in its place."""
    region = region_in(Path(__file__).parent / "permuted" / file)
    program = after(region, "privatize", machine=machine)
    made = render_region(program, region, True)
    plain = next(before for name, before, _ in made.steps if name == "lookups")
    return made, lambda printed: [f.message for f in lookup_faults(program, plain, printed)]


def number(old: str, new: str, nth: int = 0) -> Callable[[c.Node], c.Node | None]:
    """The n-th literal of this text becomes another one."""
    seen = 0

    def change(node: c.Node) -> c.Node | None:
        nonlocal seen
        if node == c.Literal(old):
            seen += 1
            return c.Literal(new) if seen == nth + 1 else None
        return None

    return change


def swapped(node: c.Node) -> c.Node | None:
    """The index of the next element is that of the one before."""
    if isinstance(node, c.Binary) and node.op == "+" and node.left == c.Name("k"):
        return replace(node, op="-")
    return None


def one_less(node: c.Node) -> c.Node | None:
    """A strip whose first iteration is lost."""
    if isinstance(node, c.For) and isinstance(node.init, c.Decl) and node.init.name == "r":
        return replace(node, init=replace(node.init, init=c.Literal("1")))
    return None


BREAKS: dict[str, Callable[[c.Node], c.Node | None]] = {
    "the index of another element": swapped,
    "a strip without its first iteration": one_less,
    "rows of another length": number("12", "13"),
    "half of the groups": lambda n: c.Literal("4") if n == c.Literal("8") else None,
    "all groups at one place": lambda n: (
        c.Literal("0") if isinstance(n, c.Binary) and n.op == "*" and n.right == c.Name("h") else None
    ),
    "another plane": lambda n: (
        replace(n, subscripts=(c.Literal("0"), *n.subscripts[1:]))
        if isinstance(n, c.ArrayRef) and n.array == "grid" and n.subscripts[0] == c.Literal("1")
        else None
    ),
    "another row of what was found": lambda n: (
        replace(n, subscripts=(c.Literal("1"), n.subscripts[1]))
        if isinstance(n, c.ArrayRef) and n.array == "grid_at" and n.subscripts[1] == c.Name("r")
        else None
    ),
    "another factor": lambda n: c.Literal("9.0f") if n == c.Literal("10.0f") else None,
    "no lookups": lambda n: (
        c.Empty() if isinstance(n, c.For) and n.init == c.Decl("long", "h", (), c.Literal("0")) else None
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_broken_text_is_seen(name: str) -> None:
    made, faults = rendered("slice.c")
    printed = next(after for name, _, after in made.steps if name == "lookups")
    assert faults(printed) == []
    broken = tuple(c.rewrite(item, BREAKS[name]) for item in printed)
    assert broken != printed
    assert faults(broken)


def test_a_condition_that_is_too_weak_is_seen() -> None:
    made, faults = rendered("levels.c")
    printed = next(after for name, _, after in made.steps if name == "lookups")
    assert faults(printed) == []

    def weaker(node: c.Node) -> c.Node | None:
        return replace(node, op="<") if isinstance(node, c.Binary) and node.op == "<=" else None

    assert faults(tuple(c.rewrite(item, weaker) for item in printed))


# --- tables of bytes -------------------------------------------------------------------------------------------------


def test_bytes_by_permutations_and_by_loads() -> None:
    """Both forms of the macro: whether this machine has the instruction is asked by the C compiler."""
    region = region_in(Path(__file__).parent / "permuted" / "curve.c")
    result = compile_region(region, of(Path("curve.c")))
    assert check(region, result, sizes=(3, 130)) == []
    loads = replace(result, text=result.text.replace("__AVX512VBMI__", "POLYC_NO_SUCH_MACHINE"))
    assert loads.text != result.text
    assert check(region, loads, sizes=(3, 130)) == []


BYTES_LEFT_ALONE = {
    "a table that is not made here": ("", "in[i][j] & 127", "not known whether t has 128 elements"),
    "an index without bounds": ("for (int i = 0; i < 512; i++) t[i] = 1;", "in[i][j]", "an unknown number of bytes"),
    "a table that may be shorter": (
        "for (int i = 0; i < 100; i++) t[i] = 1;",
        "(in[i][j] > 0 ? in[i][j] : 0) < 90 ? (in[i][j] > 0 ? in[i][j] : 0) : 90",
        "not known whether t has 128 elements",
    ),
    "a table that is too long": (
        "for (int i = 0; i < 5000; i++) t[i] = 1;",
        "(in[i][j] > 0 ? in[i][j] : 0) < 4000 ? (in[i][j] > 0 ? in[i][j] : 0) : 4000",
        "does not fit 16 vectors",
    ),
}


@pytest.mark.parametrize("name", BYTES_LEFT_ALONE)
def test_other_tables_of_bytes_stay(name: str, tmp_path: Path) -> None:
    made, index, why = BYTES_LEFT_ALONE[name]
    text = f"""
void f(int n, const short in[n][n], unsigned char *t, unsigned char out[n][n])
{{
#pragma scop
    {made}
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = t[{index}];
#pragma endscop
}}
"""
    result = compile_region(region_of(text, tmp_path), options("x86-64-v4"))
    said = {r.code: r.message for r in result.program.remarks}
    assert "looked-up" not in said
    assert why in said["not-looked-up"]


def test_rows_of_bytes_that_are_too_short_are_seen() -> None:
    program = after(region_in(Path(__file__).parent / "permuted" / "curve.c"), "privatize", machine="x86-64-v4")
    assert faults_of(program) == []
    wrong = replace(program, tree=changed(program.tree, lambda one: replace(one, rows=(("curve", 256),))))
    assert any("may be 256 or more" in fault.message for fault in faults_of(wrong))
    wrong = replace(program, tree=changed(program.tree, lambda one: replace(one, rows=(("curve", 1024),))))
    assert any("may have less than 1024" in fault.message for fault in faults_of(wrong))


BYTE_BREAKS: dict[str, Callable[[c.Node], c.Node | None]] = {
    "another half of the index": number("127", "63"),
    "parts of another length": number("128", "64"),
    "a shorter row": lambda n: (
        replace(n, function=n.function.replace("512", "256")) if isinstance(n, c.Call) and "512" in n.function else None
    ),
    "part and place changed": lambda n: (
        replace(n, arguments=(n.arguments[0], n.arguments[2], n.arguments[1]))
        if isinstance(n, c.Call) and "512" in n.function
        else None
    ),
    "a row that begins elsewhere": lambda n: (
        replace(n, subscripts=(c.Literal("1"),))
        if isinstance(n, c.ArrayRef) and n == c.ArrayRef("curve", (c.Literal("0"),))
        else None
    ),
}


@pytest.mark.parametrize("name", BYTE_BREAKS)
def test_broken_text_of_bytes_is_seen(name: str) -> None:
    made, faults = rendered("curve.c", "x86-64-v4")
    printed = next(after for name, _, after in made.steps if name == "lookups")
    assert faults(printed) == []
    broken = tuple(c.rewrite(item, BYTE_BREAKS[name]) for item in printed)
    assert broken != printed
    assert faults(broken)
