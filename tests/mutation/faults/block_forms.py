"""Faults of what is printed in the place of loops: lookups, owners, streaming stores, flat arrays, the heap, macros."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polyc.codegen.blocks.lookup_block as lookups
import polyc.codegen.blocks.owner_block as owners
import polyc.codegen.blocks.stream_block as nontemporal
import polyc.codegen.blocks.vectors as vectors
import polyc.codegen.render as render
import polyc.codegen.text.flat_arrays as flat_arrays
import polyc.codegen.text.printer as printer
import polyc.codegen.text.tidy as tidy
from polyc.analysis.expressions.linear import Linear, linear
from polyc.codegen.text.macros import FLOORD, MACROS, MAX, MIN
from polyc.model import ctree as c
from tests.mutation.install import Install, adding_to, always, patched
from tests.mutation.runner import Fault, Patch

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

Change = Callable[[c.Node], c.Node | None]


def answered(target: Any, name: str, change: Change) -> Install:
    """What a function answers, each node of it changed."""
    return patched(target, name, lambda original: lambda *arguments: c.rewrite(original(*arguments), change))


def literal(old: str, new: str) -> Change:
    return lambda node: c.Literal(new) if node == c.Literal(old) else None


# --- lookups ---------------------------------------------------------------------------------------------------------


def argument(place: int, change: Callable[[c.Expr], c.Expr]) -> Change:
    """An argument of each lookup."""

    def at(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Call) and node.function.startswith(lookups.LOOKUP):
            return replace(node, arguments=tuple(change(a) if k == place else a for k, a in enumerate(node.arguments)))
        return None

    return at


def next_row(node: c.Expr) -> c.Expr:
    assert isinstance(node, c.Unary)
    assert isinstance(node.operand, c.ArrayRef)
    *outer, row, last = node.operand.subscripts
    moved = replace(node.operand, subscripts=(*outer, c.Binary("+", row, c.Literal("1")), last))
    return replace(node, operand=moved)


def next_element(node: c.Expr) -> c.Expr:
    assert isinstance(node, c.Unary)
    assert isinstance(node.operand, c.ArrayRef)
    *outer, last = node.operand.subscripts
    return replace(node, operand=replace(node.operand, subscripts=(*outer, c.Binary("+", last, c.Literal("1")))))


def one_more(node: c.Expr) -> c.Expr:
    return c.Binary("+", node, c.Literal("1"))


def one_less(node: c.Expr) -> c.Expr:
    return c.Binary("-", node, c.Literal("1"))


def without_last(node: c.Node) -> c.Node | None:
    """The last lookup of each group lost."""
    match node:
        case c.Block(body=items) if len(items) > 1 and any(
            isinstance(n, c.Call) and n.function.startswith(lookups.LOOKUP) for n in c.walk(items[-1])
        ):
            return replace(node, body=items[:-1])
    return None


def first_group(original: Any) -> Any:
    """The rows of the first group stand for all of them."""

    def of_group(self: Any, row: c.ArrayRef, _first: c.Expr) -> Any:
        return original(self, row, c.Literal("0"))

    return of_group


def same_place(original: Any) -> Any:
    """All lookups of a table go to one place."""

    def subscripts(self: Any, _place: int, last: c.Expr) -> Any:
        return original(self, 0, last)

    return subscripts


def fewer_groups(node: c.Node) -> c.Node | None:
    match node:
        case c.For(condition=c.Binary(op="<", right=c.Literal(text=end)) as condition) if end.isdigit():
            return replace(node, condition=replace(condition, right=c.Literal(str(int(end) - 1))))
    return None


def from_other_index(original: Any) -> Any:
    """A scalar that is an index is read from the iteration before."""

    def from_index(self: Any, node: c.ExprStmt, value: c.Expr | None) -> c.ExprStmt:
        found: c.ExprStmt = original(self, node, value)
        if found is node:
            return node
        assert isinstance(found.expr, c.Assign)
        assert isinstance(found.expr.value, c.ArrayRef)
        other = replace(found.expr.value, subscripts=(c.Literal("0"),))
        return replace(found, expr=replace(found.expr, value=other))

    return from_index


def macro(name: str, old: str, new: str) -> Install:
    """A function that prints macros answers another text."""
    return patched(vectors, name, lambda original: lambda *arguments: original(*arguments).replace(old, new))


GROUPS = "groups"
for name_, what_, install_ in (
    ("the next row", "of each table", answered(lookups._Loop, GROUPS, argument(0, next_row))),
    ("from the next element", "of each row", answered(lookups._Loop, GROUPS, argument(0, next_element))),
    ("rows shorter", "by an element", answered(lookups._Loop, GROUPS, argument(1, one_less))),
    ("rows longer", "by an element", answered(lookups._Loop, GROUPS, argument(1, one_more))),
    ("the next index", "", answered(lookups._Loop, GROUPS, argument(2, one_more))),
    ("a lookup lost", "the last one of a group", answered(lookups._Loop, GROUPS, without_last)),
    ("a group lost", "the last one", answered(lookups._Loop, GROUPS, fewer_groups)),
    ("the first group's rows", "in all groups", patched(lookups._Loop, "of_group", first_group)),
    ("all in one place", "the first", patched(lookups._Table, "subscripts", same_place)),
    ("the first iteration's index", "in all of them", patched(lookups._Loop, "from_index", from_other_index)),
    ("elements loaded wrong", "the macro, without gcc", macro("_lookup", "(row)[(k)[", "(row)[1 + (k)[")),
    ("permutations wrong", "the macro, of gcc", macro("_lookup", "__builtin_shuffle(", "-__builtin_shuffle(")),
    ("rows fit one vector", "the macro, of gcc", macro("_lookup", " & (", " & 0 & (")),
):
    add("blocks", f"lookups: {name_}", what_, install_, "looked_up", "not_looked_up")


# --- owners ----------------------------------------------------------------------------------------------------------


def no_lookups(original: Any) -> Any:
    """What blocks update is not asked: their least and greatest cells stay."""
    del original
    return lambda _self: c.Block(())


def first_cell(original: Any) -> Any:
    def bound(self: Any, _position: int) -> Any:
        return original(self, 0)

    return bound


def one_block_less(original: Any) -> Any:
    def blocks(self: Any) -> Any:
        found = original(self)
        return found.left  # without the one for a block that is not whole

    return blocks


def no_else(node: c.Node) -> c.Node | None:
    match node:
        case c.If(otherwise=c.Block()):
            return replace(node, otherwise=None)
    return None


def pragma_lost(node: c.Node) -> c.Node | None:
    """Parts one after the other: slower."""
    return replace(node, pragmas=()) if isinstance(node, c.For) and node.pragmas else None


for name_, what_, install_ in (
    ("nothing looked up", "of the cells", patched(owners._Owners, "looked_up", no_lookups)),
    ("the lowest cell twice", "for the highest", patched(owners._Owners, "bound", first_cell)),
    ("a block less", "in the table", patched(owners._Owners, "blocks", one_block_less)),
    ("no other branch", "of any condition", answered(owners._Owners, "printed", no_else)),
    ("in order", "no pragma", answered(owners._Owners, "printed", pragma_lost)),
    ("not shared", "one part has all", answered(owners._Owners, "shared", literal("1", "0"))),
):
    add("blocks", f"owners: {name_}", what_, install_, "scattered")


# --- streaming stores ------------------------------------------------------------------------------------------------


def rows(change: Callable[[Any], Any]) -> Install:
    """What is called for a row, where the row is another one. change: the row"""
    return patched(nontemporal._Loop, "call", lambda o: lambda self, row, start, end: o(self, change(row), start, end))


def next_line(row: Any) -> Any:
    if not row.places:
        return row
    *outer, last = row.places
    return replace(row, places=(*outer, c.Binary("+", last, c.Literal("1"))))


def from_zero(row: Any) -> Any:
    return replace(row, constants=[0 for _ in row.constants])


def ending(change: Callable[[c.Expr], c.Expr]) -> Install:
    return patched(nontemporal._Loop, "call", lambda o: lambda self, row, start, end: o(self, row, start, change(end)))


def beginning(change: Callable[[c.Expr], c.Expr]) -> Install:
    return patched(nontemporal._Loop, "call", lambda o: lambda self, row, start, end: o(self, row, change(start), end))


def moved(by: int) -> Callable[[c.Expr], c.Expr]:
    return lambda node: linear(node).plus(Linear((), by)).expr()


def elements(node: c.Node) -> c.Node | None:
    """Bytes of elements of another type."""
    return c.SizeOf("char") if isinstance(node, c.SizeOf) else None


def rows_swapped(original: Any) -> Any:
    def call(self: Any, row: Any, start: c.Expr, end: c.Expr) -> Any:
        others = [one for one in self.rows if one is not row]
        return original(self, replace(row, name=others[0].name) if others else row, start, end)

    return call


def without_last_call(original: Any) -> Any:
    def rowwise(self: Any, start: c.Expr, end: c.Expr, count: int) -> Any:
        yield from list(original(self, start, end, count))[:-1]

    return rowwise


def calls_first(original: Any) -> Any:
    """Rows go to memory before they are computed."""

    def rowwise(self: Any, start: c.Expr, end: c.Expr, count: int) -> Any:
        found = list(original(self, start, end, count))
        loop = next(k for k, item in enumerate(found) if isinstance(item, c.For))
        yield from (*found[:loop], *found[loop + 1 :], found[loop])

    return rowwise


def fences(change: Callable[[c.Stmt], c.Stmt]) -> Install:
    """Where stores past the caches end, printed otherwise."""

    def make(original: Any) -> Any:
        def fenced(item: c.Stmt) -> Any:
            yield from (change(one) for one in original(item))

        return fenced

    return patched(nontemporal, "_fenced", make)


def is_fence(item: c.Stmt) -> bool:
    return item == c.ExprStmt(c.Call(nontemporal.FENCE, ()))


def fence_first(node: c.Stmt) -> c.Stmt:
    def change(inner: c.Node) -> c.Node | None:
        match inner:
            case c.Block(body=(*items, last)) if is_fence(last):
                return replace(inner, body=(last, *items))
        return None

    return c.rewrite(node, change)


def streaming(old: str, new: str) -> Install:
    """Another text of the macro."""
    return lambda patch: patch.setattr(render, "STREAMING", render.STREAMING.replace(old, new))


for name_, what_, install_ in (
    ("to the next row", "", rows(next_line)),
    ("without the offset", "of the row's first element", rows(from_zero)),
    ("ends late", "by an iteration", ending(moved(1))),
    ("begins late", "by an iteration", beginning(moved(1))),
    ("other bytes", "of an element", answered(nontemporal._Loop, "call", elements)),
    ("rows swapped", "of two arrays", patched(nontemporal._Loop, "call", rows_swapped)),
    ("a row not stored", "the last one", patched(nontemporal._Loop, "rowwise", without_last_call)),
    ("stored first", "before they are computed", patched(nontemporal._Loop, "rowwise", calls_first)),
    ("fences first", "in each iteration", fences(fence_first)),
    ("a fence that waits for nothing", "the macro", streaming("__builtin_ia32_sfence()", "((void)0)")),
    ("a line short", "the macro", streaming("polyc_k + 64 <= polyc_n", "polyc_k + 64 < polyc_n - 64")),
    ("lines twice as far", "the macro", streaming("polyc_k += 64", "polyc_k += 128")),
    ("the rest lost", "the macro", streaming("(unsigned long)(polyc_n - polyc_k)", "0")),
    ("half of the bytes", "the macro, without SSE", streaming("? (bytes) : 0", "? (bytes) / 2 : 0")),
):
    add("blocks", f"nontemporal: {name_}", what_, install_, "past_caches")


# --- arrays of one dimension -----------------------------------------------------------------------------------------


def subscripts(change: Callable[[tuple[c.Expr, ...]], tuple[c.Expr, ...]]) -> Install:
    return patched(flat_arrays, "linear", lambda o: lambda array, own, sizes: o(array, change(own), sizes))


def last_extent(original: Any) -> Any:
    """Each row as long as the array has rows."""
    return lambda array, own, sizes: original(
        replace(array, extents_c=(array.extents_c[0], *array.extents_c[:-1]), strides_c=()), own, sizes
    )


def term_lost(original: Any) -> Any:
    return lambda index, subscript: index if index != flat_arrays.ZERO else original(index, subscript)


def wider_rows(original: Any) -> Any:
    return lambda one, other: original(one, c.Binary("+", other, c.Literal("1")))


for name_, what_, install_ in (
    ("rows as columns", "the subscripts turned", subscripts(lambda own: tuple(reversed(own)))),
    ("rows of another array", "of as many elements as there are rows", patched(flat_arrays, "linear", last_extent)),
    ("a term lost", "all but the first", patched(flat_arrays, "joined", term_lost)),
    ("the first term lost", "the row", subscripts(lambda own: (flat_arrays.ZERO, *own[1:]))),
    ("rows longer", "by an element", patched(flat_arrays, "product", wider_rows)),
    ("the next element", "", subscripts(lambda own: (*own[:-1], c.Binary("+", own[-1], c.Literal("1"))))),
    ("signs lost", "- as +", patched(flat_arrays, "joined", lambda o: lambda i, s: o(i, plus_only(s)))),
):
    add("blocks", f"flat: {name_}", what_, install_, "pieces")
add(
    "blocks",
    "flat: rows from 0",
    "where they begin at 1",
    patched(flat_arrays, "linear", lambda o: lambda array, own, sizes: o(replace(array, origins=()), own, sizes)),
    "from_one",
)


def plus_only(node: c.Expr) -> c.Expr:
    return replace(node, op="+") if isinstance(node, c.Binary) and node.op == "-" else node


# --- the heap --------------------------------------------------------------------------------------------------------


def allocations(change: Callable[[str], str]) -> Install:
    return patched(render, "allocation", lambda original: lambda node, condition: change(original(node, condition)))


def allocated(change: Callable[[c.Decl], c.Decl]) -> Install:
    return patched(render, "allocation", lambda original: lambda node, condition: original(change(node), condition))


def shorter(node: c.Decl) -> c.Decl:
    return replace(node, extents=(c.Literal("1"), *node.extents[1:]))


def narrower(node: c.Decl) -> c.Decl:
    return replace(node, extents=(*node.extents[:-1], c.Literal("1")))


def regions(change: Callable[[str], str]) -> Install:
    """The whole text changed."""

    def make(original: Any) -> Any:
        def text(*arguments: Any) -> Any:
            found = original(*arguments)
            return replace(found, text=change(found.text))

        return text

    return patched(render, "_region_text", make)


def without_line(word: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        lines = text.split("\n")
        found = [number for number, line in enumerate(lines) if word in line]
        return "\n".join(line for number, line in enumerate(lines) if number not in found[-1:])

    return change


def to_the_front(text: str) -> str:
    """Memory is free before it is used."""
    lines = text.split("\n")
    found = [line for line in lines if "__builtin_free" in line]
    rest = [line for line in lines if "__builtin_free" not in line]
    place = max((number for number, line in enumerate(rest) if "__builtin_malloc" in line), default=0)
    return "\n".join([*rest[: place + 1], *found, *rest[place + 1 :]]) if found else text


def released_twice(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(same for line in lines for same in (line, *([line] if "__builtin_free" in line else [])))


for name_, what_, install_ in (
    ("a row", "where all of them are needed", allocated(shorter)),
    ("shorter rows", "of an element", allocated(narrower)),
    ("a byte for each element", "", allocations(lambda t: t.replace("sizeof(", "sizeof(char) + 0 * sizeof("))),
    ("never there", "", allocations(lambda t: t.replace("__builtin_malloc(", "(void *)(0 * "))),
    ("not released", "", regions(without_line("__builtin_free"))),
    ("released at once", "", regions(to_the_front)),
    ("released twice", "", regions(released_twice)),
    ("used without being there", "no condition", patched(render, "conjunction", lambda _o: lambda _conditions: None)),
    ("not on the heap", "declared nowhere", always(render, "without_heap", ((), []))),
):
    add("blocks", f"heap: {name_}", what_, install_, "scattered")


# --- what all of them use --------------------------------------------------------------------------------------------


def meaning(name: str, old: str, new: str) -> Install:
    """Another text of a macro."""

    def install(patch: Patch) -> None:
        patch.setitem(MACROS, name, MACROS[name].replace(old, new))

    return install


def comparison(original: Any) -> Any:
    """`n >= i + 1` printed as `i <= n`."""

    def change(node: c.Node) -> c.Node | None:
        found = original(node)
        return replace(found, op="<=") if isinstance(found, c.Binary) and found.op == "<" else found

    return change


def constants_lost(original: Any) -> Any:
    def total(op: str, left: c.Expr, right: c.Expr) -> c.Expr:
        return left if isinstance(right, c.Literal) else original(op, left, right)  # type: ignore[no-any-return]

    return total


def associating(original: Any) -> Any:
    """`a - (b - c)` without its parentheses."""

    def binary(expr: c.Binary) -> tuple[str, int]:
        if expr.op not in ("-", "/", "%"):
            return original(expr)  # type: ignore[no-any-return]
        level = printer._BINARY[expr.op]
        return f"{printer._operand(expr.left, expr.op)} {expr.op} {printer._at_least(expr.right, level)}", level

    return binary


def level(op: str, precedence: int) -> Install:
    return lambda patch: patch.setitem(printer._BINARY, op, precedence)


def elses_hang(_original: Any) -> Any:
    """A branch in a branch without braces: its `else` belongs to another `if`."""

    def needs_none(node: c.Stmt) -> bool:
        return isinstance(node, c.If | c.For | c.ExprStmt | c.Empty | c.Jump)

    return needs_none


EVERYWHERE = ("conv_relu", "triangular", "two_products", "branches", "pieces", "bounded", "strips")
for name_, what_, install_ in (
    ("the least as the greatest", "the macro", meaning(MIN, "<", ">")),
    ("the greatest as the least", "the macro", meaning(MAX, ">", "<")),
    ("divisions that truncate", "the macro", meaning(FLOORD, "(d) - 1", "(d) - (d)")),
    ("sides without parentheses", "the macro", meaning(MIN, "((a) < (b) ? (a) : (b))", "a < b ? a : b")),
    ("equal as less", "in simplified conditions", patched(tidy, "_simpler", comparison)),
    ("constants lost", "in simplified sums", patched(tidy, "_sum", constants_lost)),
    ("- and / to the right", "without parentheses", patched(printer, "_binary", associating)),
    ("% binds as +", "", level("%", 12)),
    ("+ binds as *", "", level("+", 13)),
    ("else to another if", "no braces", patched(printer, "_needs_no_braces", elses_hang)),
):
    add("blocks", f"text: {name_}", what_, install_, *EVERYWHERE)
