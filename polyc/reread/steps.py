"""What is done to the printed loops as C, from their notes to the file: each step leaves the values as they are.

A step is held against the statements that it started from, without the code that made it. Lookups, owners, streaming
stores and the types of loops' variables have readers of their own; here are vectors, arrays that have one dimension in
C, and declarations with values.
math: vectors: a loop of L lanes over statements `A[…][f + x] op= e` is a vector operation each: an operand is a vector
      of the elements from f on, where its last subscript is f + x and no other one has x, or a scalar without x.
      flat arrays: `a[p]` stands for `a[s0]…[sk]` where p = sum of s_d * stride_d as polynomials.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import cast

from polyc.analysis.expressions.facts import mentions
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import Array, Scop
from polyc.records import dataclass, fields, replace
from polyc.reread.blocks.read_endings import ending_faults
from polyc.reread.blocks.read_lookups import lookup_faults
from polyc.reread.blocks.read_owners import owner_faults
from polyc.reread.blocks.read_streams import row_faults
from polyc.reread.counters import counter_faults
from polyc.reread.literal import Form, form_of
from polyc.reread.loaded import without_loaded, without_steady
from polyc.reread.parts import Refused
from polyc.reread.polynomial import Polynomial, plus, polynomial, times

Body = tuple[c.Stmt, ...]
FENCE = "polyc_fence"
SIMD = "omp simd"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its name, and the statements before and after it."""

    name: str
    before: Body
    after: Body


class _Other(Exception):
    """How the statements differ."""


def step_faults(program: Program, steps: tuple[Step, ...], vectors: Mapping[str, tuple[str, int, int]]) -> list[Fault]:
    """Where a step is not known to leave the values as they are.

    vectors: name of a vector type -> its element type, lanes, bytes of an element
    """
    for one, following in pairwise(steps):
        if one.after != following.before:
            return [Fault("text", f"{following.name} starts from other statements than {one.name} left", "")]
    return [fault for step in steps if step.before != step.after for fault in _faults(program, step, vectors)]


def _faults(program: Program, step: Step, vectors: Mapping[str, tuple[str, int, int]]) -> list[Fault]:
    checks: dict[str, Callable[[], list[Fault]]] = {
        "lookups": lambda: lookup_faults(program, step.before, step.after),
        "owners": lambda: owner_faults(program, step.before, step.after),
        "nontemporal": lambda: row_faults(program, step.before, step.after),
        "notes": lambda: _note_faults(step),
        "vectors": lambda: _pairs(step, _Vectors(program, vectors).same),
        "heap": lambda: _heap_faults(step),
        "counters": lambda: counter_faults(program.scop, step.before, step.after),
        "downward": lambda: _pairs(_unlabelled(step), _same_turned),
        "first values": lambda: _pairs(_unlabelled(step), _same_values),
        "endings": lambda: ending_faults(program, step.before, step.after),
        "steady": lambda: _steady_faults(program, step),
        "loaded": lambda: _loaded_faults(program, step),
        "members": lambda: _member_faults(program.scop, step),
        "flat": lambda: _pairs(step, _Flat({a.printed_name: a for a in program.scop.arrays.values() if a.flat}).same),
    }
    if step.name not in checks:
        return [Fault("text", f"nobody knows what {step.name} does", "")]
    return checks[step.name]()


def _pairs(step: Step, same: Callable[[c.Node, c.Node], None]) -> list[Fault]:
    try:
        if len(step.before) != len(step.after):
            raise _Other("it has other statements")
        for one, other in zip(step.before, step.after, strict=True):
            same(one, other)
    except _Other as how:
        return [Fault("text", f"{step.name}: {how}", "")]
    return []


def _note_faults(step: Step) -> list[Fault]:
    """Without notes, and without the braces of a block before a fence."""

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block):
            return None
        items = tuple(item for item in node.body if not isinstance(item, c.Note | c.Comment | c.Empty))
        if len(items) == 2 and isinstance(items[0], c.Block):
            last = items[1]
            if isinstance(last, c.ExprStmt) and last.expr == c.Call(FENCE, ()):
                return c.rewrite(c.Block((*items[0].body, last)), change)
        return None

    wanted = form_of(tuple(c.rewrite(item, change) for item in step.before))
    return [] if wanted == form_of(step.after) else [Fault("text", "statements were lost with their notes", "")]


def _heap_faults(step: Step) -> list[Fault]:
    """Arrays on the heap are declared before the statements (`literal.py`), others stay where they are."""
    on_heap = [n for item in step.before for n in c.walk(item) if isinstance(n, c.Decl) and n.heap]
    if any(isinstance(n, c.Decl) and n.heap for item in step.after for n in c.walk(item)):
        return [Fault("text", "an array stays on the stack", "")]
    if len({node.name for node in on_heap}) < len(on_heap):
        return [Fault("text", "two arrays on the heap have one name", "")]

    def without(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Block) and any(item in on_heap for item in node.body):
            return c.Block(tuple(c.rewrite(item, without) for item in node.body if item not in on_heap))
        return None

    def opened(items: Body) -> Body:
        return tuple(inner for item in items for inner in (item.body if isinstance(item, c.Block) else (item,)))

    wanted = opened(tuple(c.rewrite(item, without) for item in step.before if item not in on_heap))
    same = form_of(wanted) == form_of(opened(step.after))
    return [] if same else [Fault("text", "statements were lost with arrays on the heap", "")]


def _inside(one: c.Node, other: c.Node, same: Callable[[c.Node, c.Node], None]) -> None:
    """Compare two nodes of one kind, their children by `same`. Raises _Other."""
    if type(one) is not type(other):
        raise _Other("it has another statement")
    for field in fields(one):
        if field.name in ("span", "runs"):
            continue
        _field(getattr(one, field.name), getattr(other, field.name), same)


def _field(one: object, other: object, same: Callable[[c.Node, c.Node], None]) -> None:
    if isinstance(one, tuple) and isinstance(other, tuple):
        if len(one) != len(other):
            raise _Other("it has other statements")
        for a, b in zip(one, other, strict=True):
            _field(a, b, same)
    elif one is None or other is None or isinstance(one, str | bool | int):
        if one != other:
            raise _Other("it has another expression")
    else:
        same(cast(c.Node, one), cast(c.Node, other))


# --- loops that run down


def _same_turned(one: c.Node, other: c.Node) -> None:
    """A loop that counts down from the negative of where it started to that of where it ended, with the negative of its
    variable in its body. Raises _Other."""
    if isinstance(one, c.For) and isinstance(other, c.For) and one.step != other.step:
        one = _mirrored(one, other)
    if not (_is_counting(one) and _is_counting(other) and polynomial(one) == polynomial(other)):  # type: ignore[arg-type]
        _inside(one, other, _same_turned)


def _is_counting(node: c.Node) -> bool:
    """Whether an expression has nothing but whole numbers: loops' variables, sizes and constants."""
    kinds = c.Name | c.Literal | c.Cast | c.Unary | c.Binary
    return isinstance(node, kinds) and all(isinstance(part, kinds) for part in c.walk(node))


def _mirrored(one: c.For, other: c.For) -> c.For:
    """The loop in the head of another one, which counts the other way. Raises _Other."""
    match one, other:
        case (
            c.For(
                init=c.Decl(name=name, init=start) as init,
                condition=c.Binary(op="<" | "<=" as op, left=c.Name(name=compared), right=end),
                step=c.Postfix(op="++", operand=c.Name(name=counted)),
            ),
            c.For(
                init=c.Decl(init=first),
                condition=c.Binary(op=">" | ">=" as turned, left=c.Name(name=asked), right=last),
                step=c.Postfix(op="--", operand=c.Name(name=stepped)),
            ),
        ) if {compared, counted, asked, stepped} == {name} and turned == op.replace("<", ">"):
            pass
        case _:
            raise _Other("a loop has another head")
    for before, after in ((start, first), (end, last)):
        if before is None or after is None or not _is_negative(before, after):
            raise _Other("a loop that counts down starts or ends elsewhere")
    if any(isinstance(node, c.Decl) and node.name == name for node in c.walk(one.body)):
        raise _Other("a loop that counts down has a variable of its name inside")
    variable = c.Unary("-", c.Name(name))
    body = c.rewrite(one.body, lambda node: variable if node == c.Name(name) else None)
    body = c.rewrite(body, lambda node: _added(node, variable))
    body = c.rewrite(body, lambda node: variable.operand if node == c.Unary("-", variable) else None)
    return replace(one, init=replace(init, init=first), condition=other.condition, step=other.step, body=body)


def _added(node: c.Node, less: c.Unary) -> c.Node | None:
    """`a + x` for `a - -x`, which says the same below remainders, too: `(1 - -x) % 7`."""
    match node:
        case c.Binary(op="-", left=c.Literal() as first, right=right) if right == less:
            return c.Binary("+", less.operand, first)
        case c.Binary(op="-", left=first, right=right) if right == less:
            return c.Binary("+", c.rewrite(first, lambda inner: _added(inner, less)), less.operand)
    return None


def _is_negative(before: c.Expr, after: c.Expr) -> bool:
    """Whether a bound is the negative of another, in a form that overflows no more than that does: a constant, or
    `n - k` for `k - n` with k >= 0."""
    if plus(polynomial(before), polynomial(after)):
        return False
    match before:
        case c.Literal() | c.Unary(op="-", operand=c.Literal() | c.Name()):
            return True
        case c.Binary(op="-", left=c.Literal(text=text), right=c.Name()):
            return text.rstrip("lL").isdigit()
    return False


# --- first values


def _unlabelled(step: Step) -> Step:
    """The step on two blocks, without the labels that tell references apart."""
    before, after = (c.unlabelled(c.Block(items)) for items in (step.before, step.after))
    return replace(step, before=(before,), after=(after,))


def _same_values(one: c.Node, other: c.Node) -> None:
    """Raises _Other."""
    if isinstance(one, c.Block) and isinstance(other, c.Block):
        _same_block(one.body, other.body)
    else:
        _inside(one, other, _same_values)


def _same_block(before: Body, after: Body) -> None:
    """Two blocks, of which the second declares variables where they get a value: with declarations and values apart,
    both have the same ones, and no statement in front of a declaration mentions its variable. Raises _Other."""
    (then, started), (now, declared) = _apart(before), _apart(after)
    zeros = [c.ExprStmt(_zero(item.name)) for item in after if isinstance(item, c.Decl) and item.init == c.Literal("0")]
    if sorted(map(repr, started)) != sorted(map(repr, declared)):
        raise _Other("other variables are declared")
    waiting = list(then)
    for other in now:
        if other in zeros and not (waiting and form_of(waiting[:1]) == form_of((other,))):
            continue  # a variable without a value begins as 0
        if not waiting:
            raise _Other("it has other statements")
        _same_values(waiting.pop(0), other)
    if waiting:
        raise _Other("it has other statements")


def _opened(item: c.Stmt) -> Body:
    if isinstance(item, c.Block) and not any(isinstance(inner, c.Decl) for inner in item.body):
        return tuple(part for inner in item.body for part in _opened(inner))
    return (item,)


def _zero(name: str) -> c.Expr:
    return c.Assign("=", c.ArrayRef(name), c.Literal("0"))


def _apart(items: Body) -> tuple[list[c.Stmt], list[Form]]:
    """The statements of a block, and of blocks in it that declare nothing, without the declarations of variables, and
    these. Raises _Other."""
    kept: list[c.Stmt] = []
    declared: list[Form] = []
    for item in (inner for one in items for inner in _opened(one)):
        if not isinstance(item, c.Decl) or item.extents or item.heap or "const" in item.type.split():
            kept.append(item)
            continue
        mentioned = {n.array for other in kept for n in c.walk(other) if isinstance(n, c.ArrayRef)}
        if item.name in mentioned | {name for other in kept for name in mentions(other)}:
            raise _Other(f"{item.name} is declared behind what mentions it")
        declared.append(form_of((replace(item, init=None),)))
        if item.init is not None:
            kept.append(c.ExprStmt(c.Assign("=", c.ArrayRef(item.name), item.init)))
    return kept, declared


# --- what is read before the loops


def _loaded_faults(program: Program, step: Step) -> list[Fault]:
    """New variables with the values of pointers and sizes that the region does not write, in the places of these."""
    taken = program.scop.used_names | {word for item in step.before for n in c.walk(item) for word in _words_of(n)}
    try:
        found = without_loaded(program.scop, step.after, max(len(step.after) - len(step.before), 0), taken)
    except Refused as refused:
        return [refused.fault]
    same = form_of(found) == form_of(step.before)
    return [] if same else [Fault("text", "statements were lost with what is read before the loops", "")]


def _steady_faults(program: Program, step: Step) -> list[Fault]:
    """New constants before loops, in the places of elements that stay as they are."""
    taken = program.scop.used_names | {word for item in step.before for n in c.walk(item) for word in _words_of(n)}
    try:
        found = without_steady(program.scop, step.before, step.after, set(taken))
    except Refused as refused:
        return [refused.fault]
    same = form_of(found) == form_of(step.before)
    return [] if same else [Fault("text", "statements were lost with what is read before a loop", "")]


def _words_of(node: c.Node) -> list[str]:
    """The names that a node has itself."""
    match node:
        case c.Name(name=name) | c.ArrayRef(array=name) | c.Decl(name=name) | c.Call(function=name):
            return [name, *c.identifiers(name)]
    return []


# --- vectors


@dataclass(frozen=True, slots=True)
class _Vectors:
    program: Program
    types: Mapping[str, tuple[str, int, int]]

    def same(self, one: c.Node, other: c.Node) -> None:
        """Raises _Other."""
        if not (isinstance(one, c.For) and one.lanes):
            _inside(one, other, self.same)
            return
        if isinstance(other, c.For):
            if other.pragmas not in ((), (SIMD,)):
                raise _Other("a vector loop has another pragma")
            _inside(replace(one, lanes=0, pragmas=()), replace(other, pragmas=()), self.same)
            return
        match one.init, one.condition, one.step:
            case (
                c.Decl(name=lane, init=c.Literal(text="0")),
                c.Binary(op="<", left=c.Name(name=compared), right=c.Literal(text=end)),
                c.Postfix(op="++", operand=c.Name(name=counted)),
            ) if lane == compared == counted and end == str(one.lanes):
                pass
            case _:
                raise _Other("a vector has other lanes than its loop")
        if not isinstance(other, c.Block):
            raise _Other("a vector loop became another statement")
        then, now = _statements(one.body), _statements(other)
        if len(then) != len(now):
            raise _Other("a vector loop has other statements")
        for a, b in zip(then, now, strict=True):
            self.operation(a, b, lane, one.lanes)

    def operation(self, one: c.Stmt, other: c.Stmt, lane: str, lanes: int) -> None:
        """One statement for all lanes. Raises _Other."""
        match one, other:
            case c.ExprStmt(expr=c.Assign(op=op, target=c.ArrayRef() as target, value=value)), c.ExprStmt(
                expr=c.Assign(op=same, target=place, value=result)
            ) if op == same and op in ("=", "+=", "-=", "*=", "/="):
                element = self.element(target.array)
                if not self.operand(target, place, lane, lanes, element):
                    raise _Other("a vector is stored in one element")
                vector = self.operand(value, result, lane, lanes, element)
                if op == "=" and not vector:
                    raise _Other("a vector is stored from one element")
            case _:
                raise _Other("an operation that vectors do not have")

    def element(self, name: str) -> str:
        arrays = self.program.scop.arrays
        found = [a.element.text for a in arrays.values() if name in (a.c_name, a.name)]
        found += [arrays[b.array].element.text for b in self.program.buffers.values() if b.name == name]
        if len(set(found)) != 1:
            raise _Other(f"the type of {name} is not known")
        return found[0]

    def bytes_of(self, name: str) -> int:
        """Of an element: a vector of larger ones would have more lanes than its type says."""
        arrays = self.program.scop.arrays
        found = {a.element.size_bytes for a in arrays.values() if name in (a.c_name, a.name)}
        found |= {arrays[b.array].element.size_bytes for b in self.program.buffers.values() if b.name == name}
        return found.pop() if len(found) == 1 else 0

    def operand(self, one: c.Expr, other: c.Expr, lane: str, lanes: int, element: str) -> bool:
        """Whether an operand is a vector. Raises _Other where it is not the loop's."""
        match one, other:
            case c.ArrayRef(array=array), c.Call(function=kind, arguments=(c.ArrayRef() as first,)):
                self.first(one, first, lane)
                known = self.types.get(kind)
                if known != (element, lanes, self.bytes_of(array)) or self.element(array) != element:
                    raise _Other("a vector is of another type")
                return True
            case c.ArrayRef(array=array), c.ArrayRef():
                if one != other or lane in mentions(one) or self.element(array) != element:
                    raise _Other("one element stands for all lanes")
                return False
            case c.Binary(op=op, left=left, right=right), c.Binary(op=same, left=first, right=second) if (
                op == same and op in ("+", "-", "*", "/")
            ):
                vector = self.operand(left, first, lane, lanes, element)
                return self.operand(right, second, lane, lanes, element) or vector
            case c.Unary(op="-", operand=operand), c.Unary(op="-", operand=result):
                return self.operand(operand, result, lane, lanes, element)
            case c.Literal(text=text), c.Literal() if one == other:
                suffix = {"double": r"[\d.eE+-]+", "float": r"[\d.eE+-]+[fF]"}.get(element, "(?!)")
                if re.fullmatch(suffix, text) and not text.isdigit():
                    return False
        raise _Other("an operand of a vector is another one")

    def first(self, one: c.ArrayRef, first: c.ArrayRef, lane: str) -> None:
        """The element of the first lane. Raises _Other."""
        *outer, last = one.subscripts
        *beside, start = first.subscripts
        moved = plus(polynomial(last), times(polynomial(start), {(): -1}))
        alone: Polynomial = {((("name", lane)),): 1}
        if one.array != first.array or outer != beside or moved != alone:
            raise _Other("a vector has other elements than the loop")
        if any(lane in mentions(subscript) for subscript in (*outer, start)):
            raise _Other("neighbours are no neighbours in memory")


def _statements(body: c.Stmt) -> list[c.Stmt]:
    items = body.body if isinstance(body, c.Block) else (body,)
    found: list[c.Stmt] = []
    for item in items:
        found += _statements(item) if isinstance(item, c.Block) else [item]
    return [item for item in found if not isinstance(item, c.Note | c.Comment | c.Empty)]


# --- members of structs


def _member_faults(scop: Scop, step: Step) -> list[Fault]:
    """`p[i].x` after the step is `p_x[i][0]` before it, and `p[i].v[k]` is `p_v[i][k]`."""
    parts = {(scop.arrays[a.root].printed_name, a.path): a for a in scop.arrays.values() if a.root}

    def back(node: c.Node) -> c.Node | None:
        base, indices, path = node, list[c.Expr](), list[str]()
        while isinstance(base, c.Subscript):
            indices, base = [base.index, *indices], base.base
        while isinstance(base, c.Member) and not base.arrow:
            path, base = [base.field, *path], base.base
        array = parts.get((base.array, tuple(path))) if isinstance(base, c.ArrayRef) and path else None
        if array is None or not isinstance(base, c.ArrayRef):
            return None
        extents = scop.arrays[array.root].members[array.path].extents
        if len(indices) != len(extents) or len(base.subscripts) + max(1, len(extents)) != array.rank:
            raise _Other(f"{array.c_name} has another number of subscripts")
        subscripts = tuple(c.rewrite(s, back) for s in (*base.subscripts, *(indices or [c.Literal("0")])))
        return replace(base, array=array.printed_name, subscripts=subscripts)

    try:
        found = tuple(c.rewrite(item, back) for item in step.after)
    except _Other as how:
        return [Fault("text", f"{step.name}: {how}", "")]
    return [] if found == step.before else [Fault("text", "a member of a struct is printed as another one", "")]


# --- flat arrays


@dataclass(frozen=True, slots=True)
class _Flat:
    arrays: Mapping[str, Array]

    def same(self, one: c.Node, other: c.Node) -> None:
        """Raises _Other."""
        if not isinstance(one, c.ArrayRef) or one.array not in self.arrays:
            _inside(one, other, self.same)
            return
        array = self.arrays[one.array]
        if not isinstance(other, c.ArrayRef) or other.array != one.array:
            raise _Other("it uses another array")
        if len(one.subscripts) != array.rank or array.rank < 2:
            _inside(one, other, self.same)
            return
        if len(other.subscripts) != 1 or self.element(one) != self.element(other):
            raise _Other(f"a subscript of {one.array} is another element")

    def element(self, node: c.ArrayRef) -> Polynomial:
        """Where an element lies, in elements, whichever way it is written."""
        subscripts = tuple(c.rewrite(subscript, self.named) for subscript in node.subscripts)
        return polynomial(subscripts[0]) if len(subscripts) == 1 else self.place(self.arrays[node.array], subscripts)

    def named(self, node: c.Node) -> c.Node | None:
        """A name for an element of a flat array that stands in a subscript."""
        if not isinstance(node, c.ArrayRef) or node.array not in self.arrays:
            return None
        if len(node.subscripts) not in (1, self.arrays[node.array].rank):
            return None
        return c.Name(f"{node.array} {sorted(self.element(node).items(), key=repr)}")

    def place(self, array: Array, subscripts: tuple[c.Expr, ...]) -> Polynomial:
        """Where an element lies, in elements."""
        strides = [polynomial(stride) for stride in array.strides_c]
        if not strides:
            strides = [{(): 1}]
            for extent in reversed(array.extents_c[1:]):
                if extent is None:
                    raise _Other(f"the rows of {array.c_name} have no length")
                strides.insert(0, times(strides[0], polynomial(extent)))
            strides.pop()
        found: Polynomial = {}
        one: Polynomial = {(): 1}
        for subscript, stride, begin in zip(subscripts, [*strides, one], array.begins, strict=True):
            found = plus(found, times(plus(polynomial(subscript), {(): begin} if begin else {}), stride))
        return found
