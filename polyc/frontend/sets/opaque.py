"""Statements whose control depends on data: kept whole, with what they may access over-approximated."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.facts import assigned_scalars, has_jump, induction
from polyc.frontend.c.ctype import INT, literal_of, promote
from polyc.frontend.c.first_use import Use, first_use
from polyc.frontend.c.state import Env, Region, limits, variable
from polyc.frontend.sets.accesses import MAY, READ, WRITE, Collector, Raw
from polyc.frontend.sets.affine import Affine, is_scattered
from polyc.frontend.sets.loops import NotAffine, analyse
from polyc.model import ctree as c
from polyc.records import dataclass, field, replace


@dataclass(slots=True)
class Opaque:
    """Models one statement. Loops inside it that are affine still bound what is accessed."""

    region: Region
    env: Env
    needed: frozenset[str]
    collector: Collector = field(init=False)
    affine: Affine = field(init=False)

    def __post_init__(self) -> None:
        self.affine = Affine(self.region)
        self.collector = Collector(self.region, self.env)

    def model(self, node: c.Stmt) -> c.Stmt:
        """The statement's body; the accesses are in `collector`. Nothing is assumed for the sake of precision but that
        subscripts of flat arrays stay in their rows, whether they are reached or not: without rows, all is lost."""
        declared = {item.name for item in c.walk(node) if isinstance(item, c.Decl)}
        hidden = self.hidden_variables(node, declared)
        self.collector.internal = frozenset(declared | set(hidden))
        notes, strict = self.region.notes, self.region.strict
        self.region.notes, self.region.strict, self.region.in_opaque = [], True, not strict
        body = self.without_unread(self.statement(self.with_numbers(node), self.env))
        self.region.notes, self.region.strict, self.region.in_opaque = notes, strict, False
        body = self.without_covered_reads(node, body)
        if not hidden:
            return body
        symbols = [self.region.scope.symbols[key] for key in hidden]
        own = tuple(c.Decl(s.shape.element.text, s.key) for s in symbols)
        return c.Block((*own, body), node.span)

    def without_unread(self, body: c.Stmt) -> c.Stmt:
        """The statement without names of subscripts that are written out everywhere (`Region.named`)."""
        read = {item.name for item in c.walk(body) if isinstance(item, c.Name)}
        unread = self.region.named - read

        def dropped(node: c.Node) -> c.Node | None:
            if not isinstance(node, c.Block):
                return None
            kept = [item for item in node.body if not (isinstance(item, c.Decl) and item.name in unread)]
            return replace(node, body=tuple(c.rewrite(item, dropped) for item in kept))

        return c.rewrite(body, dropped) if unread else body

    def with_numbers(self, node: c.Stmt) -> c.Stmt:
        """The statement with numbers for the names of constants: so it tells by itself how far its loops go."""

        def number(item: c.Node) -> c.Node | None:
            if not isinstance(item, c.Name):
                return None
            symbol = self.region.symbol(item.name)
            type_ = INT if symbol is None else promote(symbol.shape.element)
            names = self.region.scope.types.constants
            value = names.get(item.name) if symbol is None else self.region.fixed(symbol.key)
            return None if value is None or value == limits(type_)[0] < 0 else literal_of(value, type_)

        return c.rewrite(node, number)

    def hidden_variables(self, node: c.Stmt, declared: set[str]) -> list[str]:
        """Loop variables from outside whose values nobody else needs: the statement gets its own."""
        heads = [induction(item) for item in c.walk(node) if isinstance(item, c.For)]
        keys = {h.key for h in heads if h is not None and not h.declared} - declared - self.needed - self.region.hidden
        return sorted(key for key in keys if self.region.symbol(key) is not None)

    def without_covered_reads(self, node: c.Stmt, body: c.Stmt) -> c.Stmt:
        """A scalar that the statement always assigns before it reads it is not read from outside: these reads have the
        label of an assignment, whose place is theirs."""
        accesses = self.collector.accesses
        scalars = {a.array for a in accesses if self.region.scope.symbols[a.array].rank == 0}
        covered = {key for key in scalars - self.region.hidden if first_use(node, key) is not Use.READ}
        dropped = {a.ref for a in accesses if a.array in covered and a.kind is READ}
        self.collector.accesses = [a for a in accesses if a.ref not in dropped]
        written = {a.array: a.ref for a in self.collector.accesses if a.array in covered}

        def labelled(item: c.Node) -> c.Node | None:
            if isinstance(item, c.ArrayRef) and item.ref in dropped:
                return replace(item, ref=written.get(item.array, item.ref))
            return None

        return c.rewrite(body, labelled) if dropped else body

    def statement(self, node: c.Stmt, env: Env) -> c.Stmt:
        match node:
            case c.Block(body=items):
                return replace(node, body=tuple(self.statement(item, env) for item in items))
            case c.ExprStmt(expr=expr):
                found = self.collector.read(expr, env)
                return c.Empty() if isinstance(found, c.Literal) else replace(node, expr=found)  # what was asserted
            case c.Decl(init=init):
                return node if init is None else replace(node, init=self.collector.read(init, env))
            case c.If():
                return self.branch(node, env)
            case c.While(condition=condition, body=body):
                test = self.collector.read(condition, env)
                return replace(node, condition=test, body=self.uncertain(body, env))
            case c.For():
                return self.for_loop(node, env)
        return node

    def uncertain(self, node: c.Stmt, env: Env) -> c.Stmt:
        before = self.collector.certain
        self.collector.certain = False
        found = self.statement(node, env)
        self.collector.certain = before
        return found

    def branch(self, node: c.If, env: Env) -> c.Stmt:
        test = self.collector.read(node.condition, env)
        holds = self.affine.condition(node.condition, env)
        holds = None if holds is None or is_scattered(holds) else holds
        visit = self.statement if holds is not None else self.uncertain
        then = visit(node.then, env.within(holds) if holds is not None else env)
        otherwise = node.otherwise
        if otherwise is not None:
            otherwise = visit(otherwise, env.within(holds.complement()) if holds is not None else env)
        found = replace(node, condition=test, then=then, otherwise=otherwise)
        if self.collector.certain:
            self.promise(found)
        return found

    def promise(self, node: c.If) -> None:
        """The cells that either branch stores to are written, whatever the condition is."""
        raws = {raw.ref: raw for raw in self.collector.accesses if raw.kind is MAY and raw.exact}
        sure = {ref for refs in _stored(node, raws).values() for ref in refs}
        accesses = self.collector.accesses
        self.collector.accesses = [replace(a, kind=WRITE) if a.kind is MAY and a.ref in sure else a for a in accesses]

    def for_loop(self, node: c.For, env: Env) -> c.Stmt:
        head = induction(node)
        if head is None or head.key not in self.collector.internal or head.key in env.variables:
            return self.plain_loop(node, env)
        node = replace(node, condition=self.spelled(node.condition, env))
        jumps = has_jump(node.body)  # with them, it has some of the iterations that it has without
        try:
            domain, exact = analyse(self.region, _without_jumps(node) if jumps else node, env).domain, not jumps
        except NotAffine:
            domain, exact = self.loose_domain(node, env), False
        inside = replace(env, domain=domain, inner=(*env.inner, head.key))
        free = replace(env, inner=(*env.inner, head.key), domain=env.domain)
        init = self.head_part(node.init, env)
        condition = self.collector.read(node.condition, free) if node.condition is not None else None
        step = self.collector.read(node.step, free) if node.step is not None else None
        body = self.statement(node.body, inside) if exact else self.uncertain(node.body, inside)
        return replace(node, init=init, condition=condition, step=step, body=body)

    def spelled(self, condition: c.Expr | None, env: Env) -> c.Expr | None:
        """A condition with sizes in the places of other names of theirs, `int w = in->w;`: so it tells by itself how
        far a loop goes."""

        def size(node: c.Node) -> c.Node | None:
            symbol = self.region.symbol(node.name) if isinstance(node, c.Name) else None
            if symbol is None or symbol.key not in self.region.named:
                return None
            meant = self.region.values[symbol.key]
            value = self.affine.value(meant, env) if isinstance(meant, c.Name | c.Member) else None
            kept = isinstance(meant, c.Member) or (isinstance(meant, c.Name) and meant.name not in self.region.written)
            return meant if kept and value is not None and value[1] == symbol.shape.element else None

        return None if condition is None else c.rewrite(condition, size)

    def head_part(self, init: c.Decl | c.Expr | None, env: Env) -> c.Decl | c.Expr | None:
        if init is None:
            return None
        if isinstance(init, c.Decl):
            return init if init.init is None else replace(init, init=self.collector.read(init.init, env))
        return self.collector.read(init, env)

    def loose_domain(self, node: c.For, env: Env) -> isl.Set:
        """What is certain of a loop's variable whose loop is not affine: where it starts, at most."""
        head = induction(node)
        if head is None or head.key in assigned_scalars(node.body) | self.region.hidden:
            return env.domain
        start = self.affine.observed(head.start, env)
        symbol = self.region.symbol(head.key)
        if start is None or symbol is None or not symbol.shape.element.signed:
            return env.domain
        value = variable(head.key)
        return env.domain.intersect(value.ge_set(start) if head.step > 0 else value.le_set(start))

    def plain_loop(self, node: c.For, env: Env) -> c.Stmt:
        """A loop of another form, or one whose variable is needed outside: all of it is ordinary code."""
        init = self.head_part(node.init, env)
        condition = self.collector.read(node.condition, env) if node.condition is not None else None
        body = self.uncertain(node.body, env)
        before = self.collector.certain
        self.collector.certain = False
        step = self.collector.read(node.step, env) if node.step is not None else None
        self.collector.certain = before
        return replace(node, init=init, condition=condition, step=step, body=body)


def _without_jumps(node: c.For) -> c.For:
    return c.rewrite(node, lambda item: c.Empty() if isinstance(item, c.Jump) else None)


def _stored(node: c.Stmt, raws: dict[str, Raw]) -> dict[tuple[str, str], set[str]]:
    """The cells that a statement stores to on each way through it, with the references that do so.

    raws: the accesses that may write one cell
    """
    if any(isinstance(item, c.Jump) for item in c.walk(node)):
        return {}
    match node:
        case c.Block(body=items):
            found: dict[tuple[str, str], set[str]] = {}
            for item in items:
                for cell, refs in _stored(item, raws).items():
                    found.setdefault(cell, set()).update(refs)
            return found
        case c.If(then=then, otherwise=otherwise) if otherwise is not None:
            one, other = _stored(then, raws), _stored(otherwise, raws)
            return {cell: one[cell] | other[cell] for cell in one.keys() & other.keys()}
        case c.ExprStmt(expr=c.Assign(target=c.ArrayRef(ref=ref))) if ref in raws:
            return {(raws[ref].array, str(raws[ref].relation)): {ref}}
        case _:
            return {}
