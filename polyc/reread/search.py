"""What is run before a region to find out which elements it touches sees all that the region touches of some arrays.

requires: the loops of the search are loops of the region, with the same bounds, steps and conditions, in the same
          order; what they read nobody writes, or they assign it as the region does
shown:    at each reference to one of the arrays the search has kept its subscript, in an iteration of the same number
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import product

from polyc.analysis.expressions.facts import (
    Induction,
    assigned_scalars,
    at_start,
    base_key,
    has_jump,
    indices,
    induction,
    is_linear,
    is_plain,
    is_read_first,
    last_value,
    lvalues,
    mentions,
    with_value,
)
from polyc.analysis.expressions.rounding import may_round_otherwise, with_numbers
from polyc.frontend.c.first_use import Use, first_use, is_set_first
from polyc.frontend.c.functions import PURE
from polyc.model import ctree as c
from polyc.model.scop import Search
from polyc.records import dataclass, field, replace

_CLAUSES = re.compile(r"omp parallel for reduction\(min: ([\w, ]+)\) reduction\(max: ([\w, ]+)\)")
_MOST, _LEAST = c.Literal("9223372036854775807L"), c.Binary("-", c.Literal("-9223372036854775807L"), c.Literal("1"))


class Unseen(Exception):
    """What the search does not see, or does otherwise than the region."""


def behind_search(
    search: Search,
    statements: tuple[c.Stmt, ...],
    floats: Set[str],
    wholes: Iterable[c.Expr],
    types: Mapping[str, Set[str]],
) -> tuple[c.Stmt, ...]:
    """What follows the search among some statements that begin with it. Raises Unseen where it misses something.

    floats: the names of variables and arrays that may be such; wholes: whole numbers that do not change
    types:  those of the region's counters
    """
    declared = [c.Decl("long", name, (), value) for both in search.ends.values() for name, value in _begins(both)]
    count = len(declared)
    if list(statements[:count]) != declared:
        raise Unseen("its ends do not begin with nothing seen")
    walk = _Walk(search, types)
    loops = statements[count : count + len(search.loops)]
    parts = [item for loop in loops for item in c.walk(loop)]
    counters = {id(item.init) for item in parts if isinstance(item, c.For)}
    walk.own = {item.name for item in parts if isinstance(item, c.Decl) and id(item) not in counters}
    if walk.covered(c.Block(search.source), list(loops), 0) != len(loops):
        raise Unseen("it does something that the region does not")
    declares = [item for s in search.source for item in c.walk(s) if isinstance(item, c.Decl)]
    own = {item.name for item in declares if "float" in item.type or "double" in item.type}
    if may_round_otherwise(with_numbers(loops, wholes), floats | own):
        raise Unseen("a value of it may be rounded otherwise")
    for loop in loops:
        walk.alone(loop)
        walk.scoped(loop, set(walk.ends))
    return statements[count + len(loops) :]


def _begins(both: tuple[str, str]) -> Iterator[tuple[str, c.Expr]]:
    yield both[0], _MOST
    yield both[1], _LEAST


@dataclass(slots=True)
class _Walk:
    search: Search
    types: Mapping[str, Set[str]]
    own: set[str] = field(default_factory=set)
    """The variables that the search declares, but those that its loops count in."""
    depth: int = 0
    """Loops around."""
    values: list[c.Expr] = field(default_factory=list)
    """In the place of counters around: these have values, as the heads of their loops were evaluated."""
    fresh: list[c.Stmt] = field(default_factory=list)
    """What was kept in this block, or ahead of the branch that it is, since something was assigned."""
    ends: frozenset[str] = field(init=False)
    """The variables in which it keeps the first and the last elements."""
    written: set[str] = field(init=False)
    """What the region assigns, and the arrays that it writes."""

    def __post_init__(self) -> None:
        self.ends = frozenset(name for both in self.search.ends.values() for name in both)
        source = c.Block(self.search.source)
        declared = {item.name for item in c.walk(source) if isinstance(item, c.Decl)}
        self.written = declared | {key for target in lvalues(source) if (key := base_key(target)) is not None}

    def concerns(self, node: c.Node) -> bool:
        declared = {item.name for item in c.walk(node) if isinstance(item, c.Decl)}
        heads = {head.key for item in c.walk(node) if isinstance(item, c.For) and (head := induction(item)) is not None}
        changed = (assigned_scalars(node) | declared) - heads
        return bool(mentions(node) & set(self.search.ends) or changed & self.own)

    def covered(self, node: c.Stmt | None, found: list[c.Stmt], at: int, free: bool = False) -> int:
        """Where the search goes on behind what it has of a statement of the region, from a position on.

        free: it runs whether the region's statement does or not
        """
        match node:
            case c.Block(body=items):
                for item in items:
                    at = self.covered(item, found, at, free)
                return at
            case c.For():
                return self.loop(node, found, at, free)
            case c.If(condition=condition, then=then, otherwise=otherwise):
                at = self.seen(condition, found, at, free)
                other = found[at] if at < len(found) else None
                touches = self.concerns(replace(node, condition=c.Literal("1")))
                if touches and isinstance(other, c.If) and other.condition == condition:
                    self.read(condition)
                    before = [] if assigned_scalars(condition) else list(self.fresh)
                    for branch, there in ((then, other.then), (otherwise, other.otherwise)):
                        inside = list(c.items(there))
                        self.fresh = list(before)
                        if self.covered(branch, inside, 0, free) != len(inside):
                            raise Unseen("a branch of it does something that the region does not")
                    self.fresh.clear()
                    return at + 1
                return self.covered(otherwise, found, self.covered(then, found, at, True), True)
            case c.ExprStmt(expr=expr):
                at = self.seen(expr, found, at, free)
                if not assigned_scalars(expr) & self.own:
                    return at
                if not (isinstance(expr, c.Assign) and isinstance(expr.target, c.Name)):
                    raise Unseen("a variable that it needs changes inside of an expression")
                return self.same(c.ExprStmt(expr), expr.value, found, at, free)
            case c.Decl(init=init, name=name):
                at = at if init is None else self.seen(init, found, at, free)
                return at if name not in self.own else self.same(node, init, found, at, free)
            case c.While():
                if self.concerns(node):
                    raise Unseen("a while loop touches what it looks for")
        return at

    def same(self, wanted: c.Stmt, value: c.Expr | None, found: list[c.Stmt], at: int, free: bool) -> int:
        if free or at >= len(found) or found[at] != wanted:
            raise Unseen("it does not assign what the region assigns")
        if value is not None:
            self.read(value)
        self.fresh.clear()
        return at + 1

    def loop(self, node: c.For, found: list[c.Stmt], at: int, free: bool) -> int:
        head = induction(node)
        parts = [part for part in (head.start if head is not None else node.init, node.condition) if part is not None]
        for part in parts:
            at = self.seen(part, found, at, free) if not isinstance(part, c.Decl) else at
        if not self.concerns(node.body):
            return at
        other = found[at] if at < len(found) else None
        theirs = induction(other) if isinstance(other, c.For) else None
        if head is None or free:
            raise Unseen("it has not all loops")
        if isinstance(other, c.If) and node.condition is not None:
            return self.once(node, head, node.condition, other, at)
        if theirs is None or not isinstance(other, c.For):
            raise Unseen("it has not all loops")
        if (head.key, head.start, head.step) != (theirs.key, theirs.start, theirs.step) or not theirs.declared:
            raise Unseen("one of its loops runs otherwise")
        if other.condition != node.condition or head.key in assigned_scalars(node.body):
            raise Unseen("one of its loops runs otherwise")
        if has_jump(node.body):
            raise Unseen("a loop of the region may end early")
        inside = list(c.items(other.body))
        while inside and isinstance(inside[0], c.Decl) and inside[0].init is None and not self.declares(inside[0]):
            inside.pop(0)
        self.depth += 1
        for part in parts:
            self.read(part)
        self.fresh.clear()
        end = self.covered(node.body, inside, 0)
        self.fresh.clear()
        self.depth -= 1
        if end != len(inside):
            raise Unseen("a loop of it does something that the region does not")
        return at + 1

    def once(self, node: c.For, head: Induction, condition: c.Expr, other: c.If, at: int) -> int:
        """One iteration in the place of a loop of which all iterations touch the same, or the first and the last one of
        a loop in whose counter all elements are linear."""
        inside = list(c.items(other.then))
        if other.condition != at_start(condition, head) or other.otherwise is not None:
            raise Unseen("it does not see what a loop touches")
        if has_jump(node.body):
            raise Unseen("a loop of the region may end early")
        if not all(isinstance(item, c.ExprStmt | c.If | c.For | c.Decl) for item in inside):
            raise Unseen("it does not see what the iterations of a loop touch")
        self.read(other.condition)
        last = last_value(condition, head)
        alike = head.key not in mentions(other.then) and self.keeps_nothing(other.then)
        pairs: list[tuple[c.Expr, ...]] = [(c.Name(head.key),)] if alike else []
        if last is not None and self.only_notes(inside) and self.is_linear(node.body, head.key):
            self.read(last)
            pairs += product(*(self.counted(node, head.key, other.then, end) for end in (head.start, last)))
        body = c.rewrite(node.body, lambda item: _unasked(item, head.key))
        self.depth += 1
        for ends in pairs:
            self.values += ends
            try:
                self.whole([with_value(body, head.key, end) for end in ends], inside)
            except Unseen:
                if ends is pairs[-1]:
                    raise
            else:
                self.depth -= 1
                return at + 1
            finally:
                del self.values[-len(ends) :]
        raise Unseen("it does not see what the iterations of a loop touch")

    def keeps_nothing(self, there: c.Stmt) -> bool:
        """Whether no iteration of a loop leaves to the next one a value that decides what that one touches."""
        inside = {item.name for item in c.walk(there) if isinstance(item, c.Decl)}
        heads = {head.key for n in c.walk(there) if isinstance(n, c.For) and (head := induction(n)) is not None}
        return assigned_scalars(there) <= self.ends | inside | heads

    def only_notes(self, items: Iterable[c.Stmt]) -> bool:
        """Whether some statements only keep subscripts, below conditions or not: a variable with a value of each
        iteration need not be linear in the counter."""
        return all(
            self.only_notes((*c.items(item.then), *c.items(item.otherwise)))
            if isinstance(item, c.If)
            else isinstance(item, c.ExprStmt) and assigned_scalars(item) <= self.ends
            for item in items
        )

    def whole(self, bodies: list[c.Stmt], inside: list[c.Stmt]) -> None:
        """What the search has of some bodies one after the other, and nothing else. Raises Unseen."""
        self.fresh.clear()
        at = 0
        for body in bodies:
            at = self.covered(body, inside, at)
        self.fresh.clear()
        if at != len(inside):
            raise Unseen("a loop of it does something that the region does not")

    def is_linear(self, body: c.Stmt, key: str) -> bool:
        """Whether all elements that a loop's body touches are linear in its counter, wherever it touches any."""
        for node in c.walk(body):
            match node:
                case c.For(init=init, condition=asked) if self.concerns(node.body):
                    if any(key in mentions(part) for part in (init, asked) if part is not None):
                        return False
                case c.Subscript() | c.Member() | c.Unary() if base_key(node) in self.search.ends:
                    if not all(is_linear(index, key) for index in list(indices(node))[:1]):
                        return False
        return True

    def counted(self, node: c.For, key: str, there: c.Stmt, value: c.Expr) -> list[c.Expr]:
        """A value of a loop's counter, as it is, and with the counter's type."""
        own = {node.init.type} if isinstance(node.init, c.Decl) else self.types.get(key, frozenset())
        found = {n.type for n in c.walk(there) if isinstance(n, c.Cast) and n.operand == value} & own
        return [value, *(c.Cast(one, value) for one in sorted(found))]

    def declares(self, item: c.Decl) -> bool:
        """Whether the region itself declares a variable where the search does."""
        return any(isinstance(n, c.Decl) and n.name == item.name for s in self.search.source for n in c.walk(s))

    def seen(self, expr: c.Expr, found: list[c.Stmt], at: int, free: bool) -> int:
        """Step over what keeps the subscripts of an expression's references."""
        waiting: list[c.Stmt] = []
        for name, index, certain in self.references(expr, not free):
            kept = [
                c.ExprStmt(c.Assign("=", c.Name(end), c.Call(keeps, (c.Name(end), c.Cast("long", index)))))
                for end, keeps in zip(self.search.ends[name], ("polyc_min", "polyc_max"), strict=True)
            ]
            again = all(one in self.fresh for one in kept)  # it was there, and stands again below a condition on it
            plain = is_plain(c.rewrite(index, lambda n: c.Literal("0") if n in self.values else None))
            if not (certain or again or plain):
                raise Unseen("it may read a subscript that the region does not read")
            if assigned_scalars(expr) & mentions(index) and not is_read_first(expr):
                raise Unseen("a subscript changes in the expression that uses it")
            self.read(index)
            waiting += kept
        waiting = [one for one in waiting if one not in self.fresh]
        while at < len(found) and (found[at] in waiting or found[at] in self.fresh):  # some of them twice
            self.fresh.append(found[at])
            waiting = [one for one in waiting if one != found[at]]
            at += 1
        if waiting:
            raise Unseen("it does not look at all references")
        return at

    def references(self, node: c.Node, certain: bool) -> Iterator[tuple[str, c.Expr, bool]]:
        """The references in an expression: the array, its outermost subscript, and whether it is there for sure."""
        match node:
            case c.Subscript() | c.Member() | c.Unary() | c.Name() if base_key(node) in self.search.ends:
                subscripts = list(indices(node))
                if not subscripts:
                    raise Unseen("a pointer to what it looks for is used as a value")
                name = base_key(node)
                assert name is not None
                yield name, subscripts[0], certain
                for subscript in subscripts:
                    yield from self.references(subscript, certain)
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                yield from self.references(condition, certain)
                yield from self.references(then, False)
                yield from self.references(otherwise, False)
            case c.Binary(op="&&" | "||", left=left, right=right):
                yield from self.references(left, certain)
                yield from self.references(right, False)
            case _:
                for child in c.children(node):
                    yield from self.references(child, certain)

    def read(self, expr: c.Node) -> None:
        """What the search evaluates calls nothing that may do something."""
        for node in c.walk(expr):
            if isinstance(node, c.Call) and node.function not in PURE:
                raise Unseen("it calls a function")

    def alone(self, loop: c.Stmt, known: Set[str] = frozenset()) -> None:
        """The iterations of the outermost loops share nothing but the ends that they keep; and `known` variables, which
        branches around them declare, where one thread runs them. What is run outside of loops sets no others."""
        if any(not isinstance(target, c.Name) for target in lvalues(loop)):
            raise Unseen("it writes to memory")
        match loop:
            case c.If(condition=condition, then=then, otherwise=otherwise):
                self.alone(c.ExprStmt(condition), known)
                for items in (c.items(then), c.items(otherwise)):
                    begun = set(known)
                    for part in items:
                        self.alone(part, begun)
                        if isinstance(part, c.Decl) and part.init is not None:
                            begun.add(part.name)
            case c.ExprStmt(expr=expr) | c.Decl(init=expr) if expr is not None:
                if assigned_scalars(expr) - self.ends - known:
                    raise Unseen("it assigns what is not its own")
            case c.For(body=body, pragmas=pragmas):
                ends = assigned_scalars(body) & self.ends
                inside = {item.name for item in c.walk(body) if isinstance(item, c.Decl)}
                if assigned_scalars(body) - ends - inside - (set() if pragmas else known):
                    raise Unseen("its iterations share a variable")
                items = c.items(body)
                first = [n.name for n in items if isinstance(n, c.Decl) and n.init is None]
                rest = c.Block(tuple(n for n in items if not (isinstance(n, c.Decl) and n.name in first)))
                if any(first_use(rest, name) is Use.READ for name in first) or not is_set_first((body,)):
                    raise Unseen("a variable of it is read before it has a value")
                self.clauses(pragmas, ends)
                if any(isinstance(n, c.For) and n.pragmas for n in c.walk(body)):
                    raise Unseen("an inner loop of it has a pragma")

    def scoped(self, node: c.Node, known: Set[str]) -> None:
        """What the region writes, the search has in variables that are declared where it uses them.

        known: those that are declared around
        """
        match node:
            case c.Name(name=name) if name in self.written - known:
                raise Unseen(f"it uses '{name}', which the region writes")
            case c.Block() | c.For():
                known = set(known)
                for child in c.children(node):
                    self.scoped(child, known)
                    if isinstance(child, c.Decl):
                        known.add(child.name)
            case _:
                for child in c.children(node):
                    self.scoped(child, known)

    def clauses(self, pragmas: tuple[str, ...], ends: set[str]) -> None:
        if not pragmas:
            return
        match = _CLAUSES.fullmatch(pragmas[0]) if len(pragmas) == 1 else None
        named = [set(names.split(", ")) for names in match.groups()] if match is not None else []
        wanted = [{both[k] for both in self.search.ends.values()} & ends for k in (0, 1)]
        if named != wanted:
            raise Unseen("its threads do not combine what they have seen")


def _unasked(node: c.Node, key: str) -> c.Node | None:
    """A branch that is taken in some iterations, as one whose condition no text asks: what it touches counts always, as
    does what the condition touches."""
    if not isinstance(node, c.If) or key not in mentions(node.condition):
        return None
    then, other = (part and c.rewrite(part, lambda item: _unasked(item, key)) for part in (node.then, node.otherwise))
    assert then is not None
    return replace(node, condition=c.Binary(",", node.condition, c.Literal("")), then=then, otherwise=other)


__all__ = ["Unseen", "behind_search"]
