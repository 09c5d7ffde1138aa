"""Expressions as text: as many parentheses as C needs and people expect, and no other place that writes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import polyc.codegen
from polyc.codegen.text.macros import FLOORD, MIN
from polyc.codegen.text.printer import allocation, broken, conjunction, expression, statement
from polyc.model import ctree as c

A, B, C, N = (c.Name(name) for name in "abcn")
OR = c.Binary("||", c.Binary("<=", A, N), c.Binary("<=", B, c.Literal("0")))
CODEGEN = Path(polyc.codegen.__file__).parent


def test_lengths_that_begin_with_a_star() -> None:
    """pycparser, which reads what is printed, takes `[*` for a length that is not given."""
    rows = c.Decl("double", "t", (c.Binary("+", c.Name("*n"), c.Literal("1")), c.Name("m")))
    assert statement(rows) == ["double t[(*n + 1)][m];"]
    assert expression(c.ArrayRef("t", (c.Name("*n"),))) == "t[*n]"


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (c.Binary("&&", OR, C), "(a <= n || b <= 0) && c"),
        (c.Binary("&&", C, OR), "c && (a <= n || b <= 0)"),
        (c.Binary("||", c.Binary("&&", A, B), C), "(a && b) || c"),
        (c.Binary("&&", c.Binary("&&", A, B), C), "a && b && c"),
        (c.Binary("&&", A, c.Binary("&&", B, C)), "a && (b && c)"),
        (c.Binary("&&", c.Ternary(A, B, C), N), "(a ? b : c) && n"),
        (c.Ternary(c.Binary("||", A, B), c.Call("f", (c.Comma((A, B)),)), C), "a || b ? f((a, b)) : c"),
        (c.Binary("-", A, c.Binary("+", B, C)), "a - (b + c)"),
        (c.Unary("!", c.Binary("<", A, B)), "!(a < b)"),
        (c.Cast("long", c.Binary("*", A, B)), "(long)(a * b)"),
    ],
)
def test_parentheses(expr: c.Expr, text: str) -> None:
    assert expression(expr) == text


def test_no_condition_is_none() -> None:
    assert conjunction([]) is None
    assert conjunction([OR]) is OR


def test_a_long_conjunction_has_a_line_for_each_part() -> None:
    parts = [c.Call("f", (c.Name("x" * 50),)), OR, c.Binary("&&", A, B), c.Call("g", (c.Name("y" * 50),))]
    whole = conjunction(parts)
    assert whole is not None
    inner = "\n      && ".join([f"f({'x' * 50})", "(a <= n || b <= 0)", "(a && b)", f"g({'y' * 50})"])
    assert broken(whole, 10) == inner
    assert " ".join(broken(whole, 10).split()) == expression(whole)
    declared = allocation(c.Decl("double", "t", (N, c.Binary("+", N, A)), heap=True), whole)
    assert declared == f"double (*t)[n + a] = {inner} ? __builtin_malloc(sizeof(double[n][n + a])) : 0;"
    empty = c.Decl("int", "t", (N, c.Binary("-", N, A), c.Literal("4")), heap=True, may_be_empty=True)
    assert allocation(empty, None) == "int (*t)[polyc_max(n - a, 1)][4] = __builtin_malloc(sizeof(int[n][n - a][4]));"


def test_clauses_of_pragmas_are_expressions() -> None:
    loop = c.For(None, None, None, c.Empty(), ("omp parallel for schedule(dynamic)",), worth=c.Binary("&&", OR, C))
    assert statement(loop)[1] == "#pragma omp parallel for if ((a <= n || b <= 0) && c) schedule(dynamic)"
    count = c.ExprStmt(c.Postfix("++", A), pragmas=("omp parallel reduction(+: a)",), worth=c.Binary(">", N, B))
    assert statement(count)[1] == "#pragma omp parallel if (n > b) reduction(+: a)"


def test_nothing_else_writes_expressions() -> None:
    """Strings do not know precedence: conditions that are joined lose the parentheses of their parts."""
    files = [file for file in sorted(CODEGEN.rglob("*.py")) if file != CODEGEN / "text" / "printer.py"]
    assert len(files) > 20
    found = [f"{file.name}:{line}" for file in files for line in joined_in(ast.parse(file.read_text()))]
    assert not found


def joined_in(tree: ast.Module) -> Iterator[int]:
    """Lines with a text that is put together of printed expressions, or has operators of conditions in it and is no
    definition of a macro."""
    texts = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr() | ast.BinOp(op=ast.Add() | ast.Mod()):
                inner = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
            case ast.Call(func=ast.Attribute(attr="join" | "format" | "replace" | "removeprefix")):
                inner = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
            case _:
                inner = []
        if "#define" not in ast.unparse(node) and any(_prints(call) for call in inner):
            yield node.lineno
    for node in _outermost(tree):
        text = ast.unparse(node)
        if (
            id(node) not in texts
            and "#if " not in text
            and "#define" not in text
            and (" && " in text or " || " in text)
        ):
            yield node.lineno


def _prints(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in {"expression", "broken"}


def _outermost(node: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Texts, those in the holes of others left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr) or (isinstance(child, ast.Constant) and isinstance(child.value, str)):
            yield child
        else:
            yield from _outermost(child)


@pytest.mark.parametrize(
    "text",
    [
        'guard = " && ".join(conditions)',
        'clause = f"if ({expression(worth)})"',
        'sum = expression(a) + " + 1"',
        'start = expression(c.Unary("&", base)).removeprefix("&*")',
        'both = a + " || " + b',
    ],
)
def test_a_joined_text_is_found(text: str) -> None:
    assert set(joined_in(ast.parse(text))) == {1}


@pytest.mark.parametrize(
    ("end", "plain"),
    [("n", True), ("polyc_min(n, it + 64)", True), ("polyc_floord(n, 4)", False), ("it + 8", False)],
)
def test_loops_of_which_clang_makes_vectors(end: str, plain: bool) -> None:
    """Where it cannot, it would say so: it finds no number of iterations up to a rounded quotient."""
    start = c.Decl("long", "i", (), c.Name("it"))
    name, four = c.Name("i"), c.Literal("4")
    ends: dict[str, c.Expr] = {
        "n": c.Name("n"),
        "it + 8": c.Binary("+", c.Name("it"), c.Literal("8")),
        "polyc_min(n, it + 64)": c.Call(MIN, (c.Name("n"), c.Binary("+", c.Name("it"), c.Literal("64")))),
        "polyc_floord(n, 4)": c.Call(FLOORD, (c.Name("n"), four)),
    }
    body = c.ExprStmt(c.Assign("=", c.ArrayRef("a", (name,)), c.ArrayRef("b", (name,))))
    loop = c.For(start, c.Binary("<", name, ends[end]), c.Postfix("++", name), body, pragmas=("omp simd",))
    assert statement(loop)[0] == ("polyc_plain_simd" if plain else "polyc_simd")


@pytest.mark.parametrize(("end", "macro"), [(c.Literal("4"), "polyc_simd"), (c.Name("n"), "polyc_outer_simd")])
def test_vector_loops_around_others(end: c.Expr, macro: str) -> None:
    """clang makes no vectors of a loop with a loop in it, unless it writes that one out before."""
    i, j = c.Name("i"), c.Name("j")
    body = c.ExprStmt(c.Assign("+=", c.ArrayRef("a", (i,)), c.ArrayRef("b", (j, i))))
    inner = c.For(c.Decl("int", "j", init=c.Literal("0")), c.Binary("<", j, end), c.Postfix("++", j), body)
    start = c.Decl("int", "i", init=c.Literal("0"))
    loop = c.For(start, c.Binary("<", i, c.Name("m")), c.Postfix("++", i), inner, pragmas=("omp simd",))
    assert statement(loop)[0] == macro
