"""From a region's C tree to statements with domains and accesses, in their original order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import islpy as isl

from polyc.analysis.expressions.facts import constant, has_jump
from polyc.analysis.expressions.straight import changes_nothing
from polyc.errors import InternalError, Span
from polyc.frontend.c.convert import ends_with, without_jump
from polyc.frontend.c.functions import ENDS, has_no_effect
from polyc.frontend.c.state import CTX, EVERYTHING, Env, Region, along, lifted_set, number
from polyc.frontend.memory.reaching import note_reads
from polyc.frontend.sets.accesses import READ, WRITE, Collector, Raw
from polyc.frontend.sets.affine import Affine, is_scattered
from polyc.frontend.sets.choice import as_choice, as_choices, as_exchange
from polyc.frontend.sets.exits import exit_value, substituted
from polyc.frontend.sets.loops import Loop, NotAffine, analyse, overflowing
from polyc.frontend.sets.opaque import Opaque
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.poly import has_remainders
from polyc.records import dataclass, field, replace

MOST_PIECES = 4
"""Of the iterations of a loop that a `break` ends: with more, questions about them take long."""


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A statement that is not finished."""

    env: Env
    accesses: tuple[Raw, ...]
    body: c.Stmt
    span: Span | None
    opaque: bool
    text: str | None = None
    exit_of: str = ""
    """The loop variable whose final value this statement writes."""
    value_of: str = ""
    """The variable of the region that this statement gives its only value, an affine one."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopItem:
    """A loop in the original order."""

    key: str
    step: int
    items: tuple[Item, ...]
    line: int = 0
    until: str = ""
    """As of `c.For`."""


Item: TypeAlias = Draft | LoopItem


@dataclass(slots=True)
class Extractor:
    """Walks a region; what it cannot model exactly becomes one opaque statement."""

    region: Region
    needed: frozenset[str]
    """Loop variables whose values are read outside of their loops."""
    fresh: frozenset[str] = frozenset()
    """Variables and arrays whose declaration without a value is a statement, which writes all of it."""
    given: set[str] = field(default_factory=set)
    """Scalars that an assignment in what came before gives a value."""
    rows: dict[str, tuple[c.Decl, tuple[str, ...], int]] = field(default_factory=dict)
    """Arrays that a loop's body declares without a value: with the loops around, and how often it mentions them."""
    affine: Affine = field(init=False)

    def __post_init__(self) -> None:
        self.affine = Affine(self.region)

    def block(self, statements: tuple[c.Stmt, ...], env: Env) -> list[Item]:
        found: list[Item] = []
        for position, statement in enumerate(statements):
            if isinstance(statement, c.Decl) and statement.extents and statement.init is None:
                count = sum(_mentions(item, statement.name) for item in statements[position + 1 :])
                self.rows[statement.name] = statement, env.dims, count
            items, env = self.statement(statement, env)
            found += items
        return found

    def statement(self, node: c.Stmt, env: Env) -> tuple[list[Item], Env]:
        """The items of a statement, and the env with what its declaration made known."""
        if env.domain.is_empty():
            return [], env
        match node:
            case c.Block(body=body):
                return self.block(body, env), env
            case c.For():
                return self.for_loop(node, env), env
            case c.If():
                return self.branch(node, env), env
            case c.While():
                self.region.note("while-loop", "this loop is kept whole as one statement", node.span)
                self.note_on_data(node, env)
                return self.opaque(node, env), env
            case c.Decl():
                return self.declaration(node, env)
            case c.ExprStmt():
                return self.expression(node, env), env
        return [], env

    def for_loop(self, node: c.For, env: Env) -> list[Item]:
        before, whole = self.region.assumed, node
        if has_jump(node.body):
            node = replace(node, body=without_jump(node.body, "break"))
        try:
            loop = analyse(self.region, node, env)
            inside = replace(env, domain=loop.domain.coalesce(), dims=(*env.dims, loop.head.key))
            if node is not whole:
                inside = self.until_break(whole, loop, inside)
        except NotAffine as reason:
            self.region.assumed = before
            span = (reason.node.span if reason.node is not None else None) or node.span
            self.region.note(reason.code, f"{reason}: it is kept whole as one statement", span)
            self.note_on_data(whole, env)
            return self.opaque(whole, env)
        self.region.overflows[node.span] = lambda: overflowing(self.region, node, loop, env)
        note_reads(self.region, loop.head.start, env)
        if node.condition is not None:
            note_reads(self.region, node.condition, env)
        key = loop.head.key
        items = tuple(self.statement(node.body, inside)[0])
        line = node.span.line if node.span else 0
        found: list[Item] = [LoopItem(key, loop.head.step, items, line, node.until)] if items else []
        if key in self.needed and not loop.head.declared:
            found.append(self.final_value(node, loop, env))
        return found

    def note_on_data(self, node: c.If | c.For | c.While, env: Env) -> None:
        """Note a loop that data decide on, or a branch with loops, in another loop: flags may do (`predicates.py`)."""
        if env.dims and node.span is not None and c.has_loops(node):
            self.region.on_data.add(node.span)

    def until_break(self, node: c.For, loop: Loop, inside: Env) -> Env:
        """The iterations of a loop down to the first one that a `break` ends. Raises NotAffine.

        math: with B the iterations that come to a `break` if all before them run on: those without a smaller one in B
        """
        stops = self.stops(node.body, inside)
        key = loop.head.key
        if key in self.needed and not loop.head.declared:
            raise NotAffine("jump-in-loop", "a break in a loop whose variable is read after it")
        if stops.is_empty():
            return inside
        own = along(stops, key)
        later = isl.Map.lex_lt if loop.head.step > 0 else isl.Map.lex_gt
        behind = lifted_set(own.apply(later(own.get_space())), (key,))
        left = inside.within(behind.complement())
        if left.domain.n_basic_set() > MOST_PIECES:
            raise NotAffine("jump-in-loop", "a break that leaves iterations of too many forms")
        return left

    def stops(self, body: c.Stmt | None, env: Env) -> isl.Set:
        """B, of what is left of a loop's body. Raises NotAffine."""
        found = EVERYTHING.complement()
        items = body.body if isinstance(body, c.Block) else () if body is None else (body,)
        for position, item in enumerate(items):
            last = position + 1 == len(items) and has_jump(item)
            if isinstance(item, c.If) and (last or ends_with(item, "break")):
                holds = self.affine.condition(item.condition, env)
                if holds is None:
                    raise NotAffine("jump-in-loop", "a break whose condition is not affine", item.condition)
                then, other = env.within(holds), env.within(holds.complement())
                if ends_with(item, "break"):
                    found, env = found.union(then.domain), other
                else:
                    found = found.union(self.stops(item.then, then)).union(self.stops(item.otherwise, other))
            elif isinstance(item, c.Decl):
                env = self.statement(item, env)[1]
        return found

    def branch(self, node: c.If, env: Env) -> list[Item]:
        before = self.region.assumed
        holds = self.affine.condition(node.condition, env)
        if holds is None or is_scattered(holds):
            self.region.assumed = before
            parted = self.parted(node, env)
            if parted is not None:
                return self.branch(parted, env)
            chosen = self.choice(node, env)
            if chosen is not None:
                return chosen
            why = "depends on data" if holds is None else "holds in too many pieces of the iterations to follow them"
            message = f"this condition {why}: its statement is kept whole"
            self.region.note("non-affine-condition", message, node.condition.span or node.span)
            self.note_on_data(node, env)
            return self.opaque(node, env)
        note_reads(self.region, node.condition, env)
        if has_remainders(holds) and self.chooses(node):
            return self.opaque(node, env)
        if ends_program(node.then) and self.region.holds(holds, env):
            return [] if node.otherwise is None else self.statement(node.otherwise, env)[0]
        found = self.statement(node.then, env.within(holds))[0]
        if node.otherwise is not None:
            found += self.statement(node.otherwise, env.within(holds.complement()))[0]
        return found

    def chooses(self, node: c.Stmt) -> bool:
        """Whether branches do nothing but give scalars a value, as by the parity of a row and a column.

        Such a choice stays one statement: no loop gets shorter where it is cut by remainders, and compilers make
        vectors of choices, not of loops that are cut.
        """
        match node:
            case c.Block(body=items):
                return all(map(self.chooses, items))
            case c.If(then=then, otherwise=otherwise):
                return self.chooses(then) and (otherwise is None or self.chooses(otherwise))
            case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=name), value=value)):
                symbol = self.region.symbol(name)
                local = symbol is not None and symbol.storage in (Storage.REGION, Storage.LOCAL)
                return local and changes_nothing(value)
        return False

    def parted(self, node: c.If, env: Env) -> c.If | None:
        """The statement with what is affine of its condition around the rest of it.

        rewrite:  if (x + k >= 0 && x + k < n && a[x + k] < m) S  ->  if (x + k >= 0 && x + k < n) if (a[x + k] < m) S
        requires: no `else`; the terms before data are asked are moved, or all, if none of them has an effect; none of
                  these leaves a hole, but around loops, beside which one more condition is nothing
        """
        match node.condition:
            case c.Unary(op="!", operand=denied):  # `if (x == k || a[x] < m) continue; S`
                terms: list[c.Expr] = [c.Unary("!", term) for term in c.disjuncts(denied)]
            case _:
                terms = c.conjuncts(node.condition)
        if node.otherwise is not None or len(terms) < 2:
            return None
        before = self.region.assumed
        found = (self.affine.condition(term, env) for term in terms)
        known = [holds is not None and not is_scattered(holds) for holds in found]
        self.region.assumed = before
        if not all(map(changes_nothing, terms)) or any(isinstance(n, c.Call) for n in c.walk(node.condition)):
            known = [all(known[: k + 1]) for k in range(len(terms))]
        outer = [term for term, one in zip(terms, known, strict=True) if one]
        inner = [term for term, one in zip(terms, known, strict=True) if not one]
        loops = c.has_loops(node.then)
        if not outer or not inner or (not loops and self.is_hole(c.conjunction(outer), env)):
            return None
        return replace(node, condition=c.conjunction(outer), then=replace(node, condition=c.conjunction(inner)))

    def is_hole(self, condition: c.Expr, env: Env) -> bool:
        """Whether a condition leaves out iterations in the middle, as `j != i`: beside what data decide it is one more
        comparison, where a loop with a hole has a branch, and no vectors."""
        before = self.region.assumed
        holds = self.affine.condition(condition, env)
        self.region.assumed = before
        whole = env.domain
        return holds is not None and env.within(holds).domain.coalesce().n_basic_set() > max(1, whole.n_basic_set())

    def choice(self, node: c.If, env: Env) -> list[Item] | None:
        """A maximum or minimum that is written as a condition, or two elements that are put in order, as ordinary
        statements where all of it is affine."""
        region = self.region
        chosen = as_choice(node, region) or as_choices(node, region, self.given) or as_exchange(node, region)
        if chosen is None:
            return None
        notes, self.region.notes = self.region.notes, list(self.region.notes)
        assumed = self.region.assumed
        items = self.statement(chosen, env)[0]
        if all(isinstance(item, Draft) and not item.opaque for item in items):
            return items
        self.region.notes, self.region.assumed = notes, assumed
        return None

    def expression(self, node: c.ExprStmt, env: Env) -> list[Item]:
        match node.expr:
            case c.Assign(op="=", target=target, value=value) if target == value and has_no_effect(value):
                return []  # it has that value
        collector = Collector(self.region, env)
        note_reads(self.region, node.expr, env)
        body = c.ExprStmt(collector.read(node.expr, env), node.span)
        if isinstance(node.expr, c.Assign) and isinstance(node.expr.target, c.Name):
            self.given.add(node.expr.target.name)
        accesses = tuple(collector.accesses)
        return [Draft(env, accesses, body, node.span, collector.inexact)] if has_writes(accesses) else []

    def declaration(self, node: c.Decl, env: Env) -> tuple[list[Item], Env]:
        """`double t = e;` is the assignment `t = e;` of a variable that codegen declares."""
        self.declared_size(node, env)
        if node.init is None:
            return self.declared_anew(node, env), env
        symbol = self.region.symbol(node.name)
        items = self.expression(c.ExprStmt(self.initialisation(node), node.span), env)
        self.region.declared[node.name] = env.dims
        if symbol is None or not symbol.is_integer or node.name not in self.region.settled:
            return items, env
        if node.name in self.region.named:
            items = [replace(item, value_of=node.name) if isinstance(item, Draft) else item for item in items]
        value = self.affine.value(node.init, env)
        known = self.affine.converted(value, symbol.shape.element, env) if value is not None else None
        if known is None:
            return items, env
        given = [replace(item, value_of=node.name) if isinstance(item, Draft) else item for item in items]
        return given, replace(env, values={**env.values, node.name: known})

    def declared_anew(self, node: c.Decl, env: Env) -> list[Item]:
        """A declaration without a value in a loop: what other iterations left there is nobody's (C17, 6.2.4)."""
        symbol, cells = self.region.symbol(node.name), self.cells_of(node.name)
        if symbol is None or symbol.static or not env.dims or cells is None:
            return []
        self.region.unset.add(node.name)
        if node.name not in self.fresh:
            return []
        nowhere = isl.Set.universe(isl.Space.set_alloc(CTX, 0, 0))
        every = tuple(range(len(symbol.shape.dims)))
        written = Raw("new", node.name, WRITE, isl.Map.from_domain_and_range(nowhere, cells), False, every)
        return [Draft(env, (written,), c.Block(()), node.span, True, f"{symbol.c_name} is declared")]

    def cells_of(self, key: str) -> isl.Set | None:
        """`{ A[x] }`: the elements of an array of constant size."""
        symbol = self.region.symbol(key)
        sizes = [] if symbol is None else [None if dim.pointer else dim.size for dim in symbol.shape.dims]
        found = isl.Set.universe(isl.Space.set_alloc(CTX, 0, len(sizes))).set_tuple_name(key)
        for position, size in enumerate(sizes):
            if size is None:
                return None
            found = found.lower_bound_val(isl.dim_type.set, position, isl.Val.zero(CTX))
            found = found.upper_bound_val(isl.dim_type.set, position, isl.Val.int_from_si(CTX, size - 1))
        return found

    def clipped(self, raw: Raw) -> Raw:
        """What a statement may touch of an array that is declared for an iteration: there is no more of it."""
        cells = self.cells_of(raw.array) if raw.array in self.fresh and not raw.exact else None
        return raw if cells is None else replace(raw, relation=raw.relation.intersect_range(cells))

    def initialisation(self, node: c.Decl) -> c.Expr:
        """A declaration's initialiser as assignments: `double w[2] = {1, 2};` -> `w[0] = 1, w[1] = 2`."""
        symbol = self.region.symbol(node.name)
        of_structs = symbol is not None and symbol.shape.element.kind == "struct"
        sizes = [dim.size for dim in symbol.shape.dims if not dim.pointer] if symbol is not None else []
        whole = isinstance(node.init, c.InitList) and not node.extents
        target = c.Name(node.name, node.span)
        items = list(element_values(target, sizes, node.init, node.type if of_structs or whole else ""))
        return items[0] if len(items) == 1 else c.Comma(tuple(items), node.span)

    def declared_size(self, node: c.Decl, env: Env) -> None:
        """A variable length array has a positive size where it is declared; elsewhere that is assumed, since codegen
        may declare it where it runs in any case."""
        always = not env.dims and env.domain.plain_is_universe()
        for size in node.extents:
            extent = self.affine.observed(size, Env())
            if extent is None:
                continue
            positive = extent.gt_set(number(0))
            if always:
                self.region.context = self.region.context.intersect(positive)
            elif not self.region.context.is_subset(positive):
                self.region.assumed = self.region.assumed.intersect(positive)

    def opaque(self, node: c.Stmt, env: Env) -> list[Item]:
        """A statement that is kept whole; nothing where it writes nothing."""
        opaque = Opaque(self.region, env, self.needed)
        body = opaque.model(self.with_rows(node, env))
        accesses = tuple(self.clipped(raw) for raw in opaque.collector.accesses)
        return [Draft(env, accesses, body, node.span, True)] if has_writes(accesses) else []

    def with_rows(self, node: c.Stmt, env: Env) -> c.Stmt:
        """A statement with the arrays that the iteration around it declares for it alone: `{ double r[4]; if … }`."""
        mine: list[c.Stmt] = []
        for key, (decl, dims, count) in self.rows.items():
            symbol = self.region.symbol(key)
            fixed = symbol is not None and not symbol.static and all(constant(e) is not None for e in decl.extents)
            if fixed and dims and dims == env.dims and _mentions(node, key) == count > 0:
                mine.append(decl)
        return c.Block((*mine, node), node.span) if mine else node

    def final_value(self, node: c.For, loop: Loop, env: Env) -> Draft:
        """The statement after a loop that gives its variable the value that it has there."""
        symbol = self.region.scope.symbols[loop.head.key]
        collector = Collector(self.region, env)
        value = exit_value(self.region, node, loop, env)
        start = collector.read(value if value is not None else loop.head.start, env)
        target = collector.reference(c.Name(symbol.key, node.span), env, (WRITE,))
        body: c.Stmt = c.ExprStmt(c.Assign("=", target, start, node.span), node.span)
        if value is None:
            collector.internal = frozenset({symbol.key})
            condition, step = (
                None if part is None else substituted(collector.read(part, env), {symbol.key: target})
                for part in (node.condition, node.step)
            )
            body = c.For(c.Assign("=", target, start), condition, step, c.Block(()), span=node.span)
        text = f"{symbol.c_name} after its loop"
        return Draft(env, tuple(collector.accesses), body, node.span, False, text, symbol.key)


def _mentions(node: c.Stmt, key: str) -> int:
    return sum(isinstance(item, c.Name) and item.name == key for item in c.walk(node))


def ends_program(node: c.Stmt) -> bool:
    """Whether a statement does nothing but end the program, and tell so before."""
    items = node.body if isinstance(node, c.Block) else (node,)
    calls = [item.expr for item in items if isinstance(item, c.ExprStmt) and isinstance(item.expr, c.Call)]
    return len(calls) == len(items) > 0 and calls[-1].function in ENDS


def has_writes(accesses: tuple[Raw, ...]) -> bool:
    return any(access.kind is not READ for access in accesses)


def element_values(target: c.Expr, sizes: Sequence[int | None], value: c.Expr | None, kind: str) -> Iterator[c.Expr]:
    """One assignment an element; what the list leaves out is zero, of each member of a struct. Raises InternalError.

    sizes: of the array's dimensions, of which each is known where C has initialisers; kind: the type of the elements,
    where a list may be for a whole one; "" where it may not
    """
    if not sizes:
        value = value or (c.InitList((c.Literal("0"),)) if kind else c.Literal("0"))
        if isinstance(value, c.InitList) and kind:
            value = c.Cast(kind, value, value.span)
        yield c.Assign("=", target, value, target.span)
        return
    if sizes[0] is None:
        raise InternalError("an array with an initialiser has no size")
    items = value.items if isinstance(value, c.InitList) else ()
    for position in range(sizes[0]):
        inner = c.Subscript(target, c.Literal(str(position)), target.span)
        yield from element_values(inner, sizes[1:], items[position] if position < len(items) else None, kind)
