"""Predicates: branches on data around loops, and loops that data end, as loops of which each iteration asks a flag.

What data decide is no domain of the polyhedral model, so that a branch with loops in it, or a loop with a `break`, is
one statement, and nothing inside of it is seen. With a flag it is loops again, and they run for neighbouring iterations
of a loop around at once (`passes/loops/spread.py`), as a vector processor masks them:

rewrite:  if (m[i]) for (k = 0; k < n; k++) x[k][i] = e;
          -> int m_on = m[i] != 0; for (k = 0; k < n; k++) if (m_on) x[k][i] = e;
          for (k = 0; k < n; k++) { if (c) break; s; }
          -> int on = 1; for (k = 0; k < n; k++) if (on) { if (c) on = 0; else s; }
          k = 0; while (c && k < n) { s; k++; }  ->  for (k = 0; k < n; k++) { if (!c) break; s; }, and that as above
requires: the heads of the loops depend on nothing that the branch or the loop writes
ensures:  each statement runs with the values that it had, or does nothing; a flag that is zero stays so until the loop
          ends, and nothing in the loop has any effect then (`For.until`); elements that are there in any case, and that
          only loops inside tell, are loaded in any case: no vector has a mask for one element
source:   control and exit predicates (Benabderrahmane, Pouchet, Cohen, Bastoul: The Polyhedral Model Is More Widely
          Applicable Than You Think, CC 2010)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from polyc.analysis.expressions.facts import constant, has_jump, induction, mentions, step_of, writes
from polyc.analysis.expressions.straight import changes_nothing
from polyc.errors import Span
from polyc.frontend.c.convert import ends_with
from polyc.frontend.c.effects import Effect
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, field, replace

ZERO, ONE = c.Literal("0"), c.Literal("1")
TRUTH = c.COMPARISONS | {"&&", "||"}
"""Operators of which the value is 0 or 1."""


class Kept(Exception):
    """Something has no form with a flag."""


def with_predicates(body: c.Block, scope: Scope, places: Collection[Span], effects: Callable[[str], Effect]) -> c.Block:
    """The region with flags for the branches and loops that begin at some places, and call nothing that has effects."""

    written = frozenset(writes(body))

    def acts(call: c.Call) -> bool:
        found = effects(call.function)
        return found.anything or found.ordered or found.written is None or bool(found.written)

    def flagged(node: c.Stmt) -> c.Stmt:
        if not isinstance(node, c.If | c.For) or node.span not in places:
            return c.rewrite(node, change)
        if any(isinstance(part, c.Call) and acts(part) for part in c.walk(node)):
            return node
        try:
            return c.Block(tuple(Predicates(scope, frozenset(writes(node)), written).item(node, None)), node.span)
        except Kept:
            return node

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Block(body=items):
                return replace(node, body=tuple(map(flagged, with_counting_loops(items, places))))
            case c.If() | c.For() if node.span in places:
                return flagged(node)
        return None

    return c.rewrite(body, change) if places else body


def with_counting_loops(items: tuple[c.Stmt, ...], places: Collection[Span]) -> list[c.Stmt]:
    """The statements of a block with `k = 0; while (c && k < n) { s; k++; }` as a for loop that a `break` ends."""
    found: list[c.Stmt] = []
    for item in items:
        counting = None
        if isinstance(item, c.While) and item.span in places and not item.do_first:
            counting = _counting(item, found)
        elif isinstance(item, c.For) and item.span in places and item.condition is not None:
            counting = _ended_inside(item)
        found.append(item if counting is None else counting)
    return found


def _counting(loop: c.While, before: list[c.Stmt]) -> c.For | None:
    """A while loop that counts as a for loop, from the value that the statements before it leave in its counter."""
    items = c.items(loop.body)
    match items[-1] if items else None:
        case c.ExprStmt(expr=c.Postfix(operand=c.Name(name=key)) | c.Assign(target=c.Name(name=key)) as step):
            pass
        case c.ExprStmt(expr=c.Unary(op="++", operand=c.Name(name=key)) as step):
            pass
        case _:
            return None
    rest = items[:-1]
    if step_of(step, key) is None or key in {name for item in rest for name in writes(item)}:
        return None
    if any(isinstance(n, c.Jump) and n.kind == "continue" for item in rest for n in c.walk(item)):
        return None
    for item in reversed(before):
        match item:
            case c.Decl(name=name, init=start, extents=()) if name == key and start is not None:
                pass
            case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=name), value=start)) if name == key:
                pass
            case _ if key in writes(item) or not isinstance(item, c.Decl | c.ExprStmt):
                return None
            case _:
                continue
        if not isinstance(start, c.Literal):
            return None
        found = c.For(c.Assign("=", c.Name(key), start), loop.condition, step, c.Block(rest), span=loop.span)
        return _ended_inside(found) or found
    return None


def _ended_inside(loop: c.For) -> c.For | None:
    """A for loop with what data say of its condition as a `break` in its body; None where they say nothing."""
    head = induction(loop)
    if head is None or loop.condition is None:
        return None
    terms = c.conjuncts(loop.condition)
    counted = [term for term in terms if _bounds(term, head.key)]
    data = [term for term in terms if term not in counted]
    if len(counted) != 1 or not data or not all(map(changes_nothing, data)):
        return None
    leave = c.If(c.Unary("!", c.conjunction(data)), c.Block((c.Jump("break", loop.span),)), None, loop.span)
    return replace(loop, condition=counted[0], body=c.Block((leave, *c.items(loop.body))))


def _bounds(term: c.Expr, key: str) -> bool:
    """Whether a condition compares a counter with what is no data, by its text."""
    match term:
        case c.Binary(op="<" | "<=" | ">" | ">=" | "!=", left=left, right=right):
            other = right if left == c.Name(key) else left if right == c.Name(key) else None
            return other is not None and all(isinstance(n, c.Name | c.Literal | c.Binary) for n in c.walk(other))
    return False


@dataclass(slots=True)
class Predicates:
    """The rewriting of one branch or loop."""

    scope: Scope
    written: frozenset[str]
    """What the statement changes: no loop's head may depend on it."""
    outside: frozenset[str] = frozenset()
    """What the region writes."""
    flags: list[str] = field(default_factory=list)
    counters: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The variables of the loops around, as far as these are in the statement, with their least and greatest values."""

    def item(self, node: c.Stmt, guard: c.Expr | None) -> Iterator[c.Stmt]:
        """A statement with loops in it, where a flag is set, or in any case. Raises Kept."""
        match node:
            case c.Block(body=items):
                yield c.Block(tuple(self.block(items, guard)), node.span)
            case c.If():
                yield from self.branch(node, guard)
            case c.For():
                yield from self.loop(node, guard)
            case _:
                raise Kept

    def branch(self, node: c.If, guard: c.Expr | None) -> Iterator[c.Stmt]:
        if not changes_nothing(node.condition):
            raise Kept
        taken = self.flag("taken", _both(guard, _truth(node.condition)), node.span)
        yield taken
        name = c.Name(taken.name)
        yield from self.block(c.items(node.then), name)
        if node.otherwise is not None:
            other = self.flag("other", _both(guard, c.Unary("!", name)), getattr(node.otherwise, "span", None))
            yield other
            yield from self.block(c.items(node.otherwise), c.Name(other.name))

    def block(self, items: tuple[c.Stmt, ...], guard: c.Expr | None, ends: str = "") -> Iterator[c.Stmt]:
        """The statements of a block: what has no loops in one branch, each loop with a branch in its body.

        ends: the flag of the loop that a `break` ends
        """
        run: list[c.Stmt] = []
        for position, item in enumerate(items):
            rest = items[position + 1 :]
            if isinstance(item, c.Decl) and item.extents:
                if item.init is not None or any(constant(extent) is None for extent in item.extents):
                    raise Kept
                yield item
            elif c.has_loops(item) and not self.is_one(item):
                yield from self.guarded(run, guard, ends)
                run = []
                if ends and has_jump(item):
                    raise Kept
                yield from self.item(item, guard)
            else:
                if isinstance(item, c.Decl) and any(
                    item.name in mentions(other) for other in _behind_run(rest, self.is_one)
                ):
                    yield c.Decl(_plain_type(item.type), item.name, (), None, item.span)
                    if item.init is None:
                        continue
                    item = c.ExprStmt(c.Assign("=", c.Name(item.name), item.init, item.span), item.span)
                run.append(item)
        yield from self.guarded(run, guard, ends)

    def is_one(self, item: c.Stmt) -> bool:
        """Whether something with loops stays one statement, since data bound them."""
        loops = [node for node in c.walk(item) if isinstance(node, c.For | c.While)]
        return any(isinstance(loop, c.While) or not self.is_counted(loop) for loop in loops)

    def is_counted(self, loop: c.For) -> bool:
        """Whether a loop's head depends on nothing that data decide, as far as its text tells."""
        head = induction(loop)
        if head is None or loop.condition is None:
            return False
        parts = (head.start, loop.condition)
        asked = {name for part in parts for name in mentions(part)} - {head.key}
        plain = (isinstance(n, c.Name | c.Literal | c.Binary | c.Cast | c.Unary) for p in parts for n in c.walk(p))
        outer = self.written & asked
        return all(plain) and all(self.counts(key) for key in outer) and head.key not in writes(loop.body)

    def counts(self, key: str) -> bool:
        """Whether a variable is the counter of a loop."""
        symbol = self.scope.symbols.get(key)
        return symbol is not None and symbol.is_loop

    def guarded(self, run: list[c.Stmt], guard: c.Expr | None, ends: str) -> Iterator[c.Stmt]:
        """Statements without loops in one branch."""
        if not run:
            return
        span = next((item.span for item in run if getattr(item, "span", None) is not None), None)
        loaded: dict[c.Expr, c.Decl] = {}
        if guard is not None:
            run = [c.rewrite(item, lambda node: self.loaded(node, loaded)) for item in run]
            yield from loaded.values()
        body = tuple(self.until(tuple(run), ends)) if ends else tuple(run)
        if guard is None:
            yield from body
        else:
            yield c.If(
                guard, body[0] if len(body) == 1 and isinstance(body[0], c.ExprStmt) else c.Block(body), None, span
            )

    def loaded(self, node: c.Node, found: dict[c.Expr, c.Decl]) -> c.Node | None:
        """The variable for an element that is there in any case, and that no loop around the statement moves."""
        match node:
            case c.Assign(target=c.Subscript() as target):
                return replace(node, target=self.inner(target, found), value=self.inside_of(node.value, found))
            case c.Subscript() if (symbol := self.table(node)) is not None:
                if node not in found:
                    own = self.scope.number(f"{c.as_word(symbol.c_name)}_here", symbol.shape.element.text)
                    found[node] = c.Decl(symbol.shape.element.text, own.key, (), node, node.span)
                return c.Name(found[node].name, node.span)
        return None

    def inside_of(self, node: c.Expr, found: dict[c.Expr, c.Decl]) -> c.Expr:
        return c.rewrite(node, lambda part: self.loaded(part, found))

    def inner(self, target: c.Expr, found: dict[c.Expr, c.Decl]) -> c.Expr:
        """What is stored to, with variables in its subscripts."""
        if not isinstance(target, c.Subscript):
            return target
        return replace(target, base=self.inner(target.base, found), index=self.inside_of(target.index, found))

    def table(self, node: c.Subscript) -> Symbol | None:
        """The array of a reference to a number in it, with subscripts inside of its constant sizes, by the text of the
        loops in the statement; None for others."""
        indices: list[c.Expr] = []
        base: c.Expr = node
        while isinstance(base, c.Subscript):
            indices.insert(0, base.index)
            base = base.base
        symbol = self.scope.symbols.get(base.name) if isinstance(base, c.Name) else None
        if symbol is None or symbol.key in self.outside or symbol.volatile or len(symbol.shape.dims) != len(indices):
            return None
        if symbol.shape.element.kind not in ("int", "float") or symbol.storage is Storage.ARGUMENT:
            return None
        for dim, index in zip(symbol.shape.dims, indices, strict=True):
            values = self.values(index)
            if dim.pointer or dim.size is None or values is None or not 0 <= values[0] <= values[1] < dim.size:
                return None
        names = {part.name for index in indices for part in c.walk(index) if isinstance(part, c.Name)}
        return symbol if names & self.counters.keys() else None

    def values(self, index: c.Expr) -> tuple[int, int] | None:
        """The least and the greatest value of a subscript of loops' variables; None where they are not known."""
        number = constant(index)
        if number is not None:
            return number, number
        match index:
            case c.Name(name=name):
                return self.counters.get(name)
            case c.Binary(op="+" | "-" as op, left=left, right=right):
                one, other = self.values(left), self.values(right)
                if one is None or other is None:
                    return None
                return (one[0] + other[0], one[1] + other[1]) if op == "+" else (one[0] - other[1], one[1] - other[0])
        return None

    def until(self, items: tuple[c.Stmt, ...], ends: str) -> Iterator[c.Stmt]:
        """Statements of which a `break` leaves out the rest, by a flag that it sets to zero."""
        for position, item in enumerate(items):
            if not has_jump(item):
                yield item
                continue
            rest = tuple(self.until(items[position + 1 :], ends))
            if isinstance(item, c.Jump):
                if item.kind != "break":
                    raise Kept
                yield c.ExprStmt(c.Assign("=", c.Name(ends), ZERO), item.span)
                return
            if not isinstance(item, c.If | c.Block):
                raise Kept
            if isinstance(item, c.If) and ends_with(item, "break"):
                then = c.Block(tuple(self.until(c.items(item.then), ends)))
                yield replace(item, then=then, otherwise=c.Block(rest) if rest else None)
                return
            yield self.inside(item, ends)
            if rest:
                yield c.If(c.Name(ends), c.Block(rest), None, getattr(items[position + 1], "span", None))
            return

    def inside(self, item: c.If | c.Block, ends: str) -> c.Stmt:
        """A branch or block that ends a loop somewhere inside."""
        if isinstance(item, c.Block):
            return replace(item, body=tuple(self.until(item.body, ends)))
        other = item.otherwise
        return replace(
            item,
            then=c.Block(tuple(self.until(c.items(item.then), ends))),
            otherwise=None if other is None else c.Block(tuple(self.until(c.items(other), ends))),
        )

    def loop(self, node: c.For, guard: c.Expr | None) -> Iterator[c.Stmt]:
        """A loop whose iterations ask a flag: that of what is around it, or one of its own where it has a `break`."""
        head = induction(node)
        if head is None or not self.is_counted(node):
            raise Kept
        items = c.items(node.body)
        ends = ""
        if has_jump(node.body):
            flag = self.flag("on", ONE if guard is None else guard, node.span)
            ends = flag.name
            yield flag
            guard = c.Name(ends)
        if not head.declared:
            key = head.key
            counter = self.counter(key)
            count: c.Stmt = c.ExprStmt(c.Assign("=", c.Name(key), head.start, node.span), node.span)
            yield count if guard is None or ends else c.If(guard, count, None, node.span)
            after = c.Assign("=", c.Name(key), c.Binary("+", c.Name(counter), c.Literal(str(head.step))))
            items = (*(c.renamed(item, {key: counter}) for item in items), c.ExprStmt(after, node.span))
            node = replace(c.renamed(replace(node, body=c.Block(())), {key: counter}))
            assert isinstance(node.init, c.Assign)
            type_ = self.scope.symbols[counter].shape.element.text
            node = replace(node, init=c.Decl(type_, counter, (), node.init.value, node.span))
        name = guard.name if isinstance(guard, c.Name) else ""
        range_ = _range_of(node)
        if range_ is not None:
            self.counters[range_[0]] = range_[1]
        yield replace(node, body=c.Block(tuple(self.block(items, guard, ends))), until=name)

    def flag(self, wish: str, value: c.Expr, span: Span | None) -> c.Decl:
        """The declaration of a new flag."""
        key = self.scope.number(wish, "int").key
        self.flags.append(key)
        return c.Decl("int", key, (), value, span)

    def counter(self, key: str) -> str:
        """The key of a new loop variable of the type of another one."""
        symbol = self.scope.like(self.scope.symbols[key], self.scope.symbols[key].c_name)
        symbol.is_loop = True
        return symbol.key


def _range_of(loop: c.For) -> tuple[str, tuple[int, int]] | None:
    """The variable of a loop with constant bounds, and its least and greatest value in the loop's body."""
    head = induction(loop)
    match loop.condition:
        case c.Binary(op="<" | "<=" | ">" | ">=" as op, left=c.Name(name=name), right=end) if head is not None:
            start, last = constant(head.start), constant(end)
            if name == head.key and start is not None and last is not None:
                last += {"<": -1, "<=": 0, ">": 1, ">=": 0}[op]
                return name, (min(start, last), max(start, last))
    return None


def _plain_type(text: str) -> str:
    return " ".join(word for word in text.split() if word != "const")


def _truth(condition: c.Expr) -> c.Expr:
    """A condition as 0 or 1."""
    match condition:
        case c.Binary(op=op) if op in TRUTH:
            return condition
        case c.Unary(op="!"):
            return condition
    return c.Binary("!=", condition, ZERO)


def _both(one: c.Expr | None, other: c.Expr) -> c.Expr:
    return other if one is None else c.Binary("&&", one, other)


def _behind_run(rest: tuple[c.Stmt, ...], is_one: Callable[[c.Stmt], bool]) -> tuple[c.Stmt, ...]:
    """What stands behind the statements without loops that follow each other: it does not see their variables."""
    for position, item in enumerate(rest):
        if c.has_loops(item) and not is_one(item):
            return rest[position:]
    return ()
