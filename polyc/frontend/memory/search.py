"""Which elements a region touches where the data choose them: its own loops find out before it runs.

Of `x[col[j]]` no size says how far it reaches, so that nobody can tell whether it overlaps what the region writes. A
copy of the loops with nothing in it but what its subscripts depend on keeps the first and the last element of each such
array:

rewrite:  for (i = 0; i < n; i++)
            for (j = row[i]; j < row[i + 1]; j++) y[i] += v[j] * x[col[j]];
          ->
          for (int i = 0; i < n; i++)
            for (int j = row[i]; j < row[i + 1]; j++) {
              x_first = min(x_first, col[j]); x_last = max(x_last, col[j]); ...
            }
requires: what it reads the region reads as well, in the same iterations, and does not write by the same name
math:     up to the first write of the region that hits what it reads, it touches what the search has seen; so if no
          piece of memory that is written overlaps another one, there is no such write
source:   inspectors: Saltz, Mirchandaney, Crowley, Run-Time Parallelization and Scheduling of Loops (IEEE ToC 1991)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polyc.analysis.expressions.facts import (
    Induction,
    assigned_scalars,
    at_start,
    base_key,
    constant,
    has_jump,
    indices,
    induction,
    is_linear,
    is_plain,
    is_read_first,
    last_value,
    mentions,
    with_value,
)
from polyc.analysis.expressions.rounding import computes, may_round_otherwise, with_numbers
from polyc.frontend.c.first_use import Use, first_use, is_set_first
from polyc.frontend.c.functions import PURE
from polyc.frontend.c.references import resolve
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Symbol
from polyc.model import ctree as c
from polyc.model.scop import FIRST, LAST, Search, Storage
from polyc.records import dataclass, field, replace

MOST_NOTES = 16
"""Elements that are kept at each end of a loop."""
WHOLE_BYTES = 8
"""Of whole numbers without a sign that no index in memory wraps around."""


class NotFound(Exception):
    """Why it cannot be found out, in words that follow "which elements are touched depends on data, and"."""


def search(region: Region, body: c.Block, keys: Iterable[str], taken: frozenset[str], fast: bool = False) -> Search:
    """The loops that find out what a region touches of some arrays. Raises NotFound.

    body: the region as it is modelled; keys: the arrays; taken: names that mean something where the region stands
    fast: whether the C compiler may compute floats in another way at each place (`-ffast-math`)
    """
    ends: dict[str, tuple[str, str]] = {}
    for key in keys:
        name = c.as_word(region.scope.symbols[key].c_name)
        while {f"{name}_first", f"{name}_last"} & taken:
            name += "_"
        ends[key] = f"{name}_first", f"{name}_last"
        taken |= set(ends[key])
    needed: set[str] = set()
    while True:
        slicer = _Slicer(region, ends, set(needed))
        found = [part for item in body.body for part in slicer.statement(item)]
        if slicer.needed == needed:
            break
        needed = slicer.needed
    floats = {symbol.c_name for symbol in region.scope.symbols.values() if symbol.shape.element.kind != "int"}
    wholes = [one.expr for one in region.parameters.values() if one.type.kind == "int"]
    asked = with_numbers(map(region.in_c, found), wholes)
    if may_round_otherwise(asked, floats) or (fast and computes(asked, floats)):
        raise NotFound("how a floating value is rounded decides it, which may differ from loop to loop")
    loops = tuple(slicer.outermost(item) for item in found)
    names = {region.scope.symbols[key].c_name: both for key, both in ends.items()}

    def declared(node: c.Node) -> c.Node | None:
        symbol = region.scope.symbols[node.name] if isinstance(node, c.Decl) else None
        if not isinstance(node, c.Decl) or symbol is None or symbol.storage is Storage.REGION:
            return None
        return replace(node, name=symbol.c_name)

    copies = tuple(c.rewrite(region.in_c(loop), declared) for loop in loops)
    return Search(copies, tuple(map(region.in_c, body.body)), names)


@dataclass(slots=True)
class _Slicer:
    region: Region
    ends: dict[str, tuple[str, str]]
    """Of each array that is searched for: the variables with its first and its last element."""
    needed: set[str]
    """Variables that the region assigns and that subscripts, bounds or conditions depend on."""
    counters: set[str] = field(default_factory=set)
    """The variables of the loops around."""

    # --- statements

    def statement(self, node: c.Stmt | None) -> list[c.Stmt]:
        """What is left of a statement; nothing in most cases."""
        match node:
            case c.Block(body=items):
                return without_repeated([part for item in items for part in self.statement(item)])
            case c.For():
                return self.loop(node)
            case c.If():
                return self.branch(node)
            case c.ExprStmt(expr=expr):
                return [*self.seen(expr), *self.assignment(node, expr)]
            case c.Decl(init=init):
                seen = [] if init is None else self.seen(init)
                if node.name not in self.needed:
                    return seen
                if init is not None:
                    self.depends_on(init)
                return [*seen, replace(node, span=None)]
            case c.While():
                if self.concerns(node):
                    raise NotFound("a loop whose condition depends on data touches them")
                return []
        return []

    def concerns(self, node: c.Node) -> bool:
        """Whether a statement touches an array that is searched for, or assigns what subscripts depend on."""
        declared = {item.name for item in c.walk(node) if isinstance(item, c.Decl)}
        return bool((mentions(node) & set(self.ends)) | ((assigned_scalars(node) | declared) & self.needed))

    def loop(self, node: c.For) -> list[c.Stmt]:
        head = induction(node)
        if not self.concerns(node):
            return []
        if head is None or head.key in assigned_scalars(node.body):
            raise NotFound("a loop around them counts in a way that polyc does not follow")
        if has_jump(node.body):
            raise NotFound("a break or continue decides what is touched")
        parts = [part for part in (head.start, node.condition) if part is not None]
        seen = [one for part in parts for one in self.seen(part)]
        changed = assigned_scalars(node.body) | {head.key}
        if any(mentions(part) & set(self.ends) and mentions(part) & changed for part in self.references(parts)):
            raise NotFound("a loop asks them whether it goes on")
        if head.key in self.needed:
            raise NotFound(f"the value that a loop leaves in '{head.key}' decides it")
        self.counters.add(head.key)
        inner = without_repeated(self.statement(node.body))
        for part in parts if inner else []:
            self.depends_on(part)
        self.counters.discard(head.key)
        if not inner:
            return seen
        symbol = self.region.scope.symbols[head.key]
        start = c.Decl(symbol.shape.element.text, head.key, (), head.start)
        body = inner[0] if len(inner) == 1 else c.Block(tuple(inner))
        if node.condition is not None:
            begins, touched = at_start(node.condition, head), self.at_ends(node.condition, head, inner)
            if touched is not None and not self.is_idle(begins):
                return [*seen, c.If(begins, touched[0] if len(touched) == 1 else c.Block(tuple(touched)))]
        return [*seen, c.For(start, node.condition, node.step, body)]

    def at_ends(self, condition: c.Expr, head: Induction, inner: list[c.Stmt]) -> list[c.Stmt] | None:
        """What the first and the last iteration of a loop touch, where the others touch nothing before or behind that.

        math: what is linear in a counter is least and greatest at its ends
        """
        if not any(head.key in mentions(item) for item in inner) and self.is_alone(inner):
            return inner  # one iteration touches what all of them do
        kept = kept_in(inner)
        if not kept:
            return None
        last = last_value(condition, head)
        tests = [node.condition for item in inner for node in c.walk(item) if isinstance(node, c.If)]
        if last is None or len(kept) > MOST_NOTES or any(head.key in mentions(test) for test in tests):
            return None
        if not all(is_linear(index, head.key) and self.is_exact(index) for index in kept):
            return None
        counter = self.region.scope.symbols[head.key]
        ends = (self.as_counted(counter, value) for value in (head.start, last))
        return without_repeated([with_value(item, head.key, value) for value in ends for item in inner])

    def is_alone(self, inner: list[c.Stmt]) -> bool:
        """Whether statements set no variable but those that they declare."""
        declared = {item.name for item in inner if isinstance(item, c.Decl)}
        return all((assigned_scalars(item) & self.needed) <= declared for item in inner)

    def as_counted(self, counter: Symbol, value: c.Expr) -> c.Expr:
        """A value of a counter with the counter's type, in which an index is computed."""
        own = counter.shape.element.text
        found = [self.region.scope.symbols.get(name) for name in mentions(value)]
        alike = all(isinstance(n, c.Name | c.Literal | c.Binary) for n in c.walk(value))
        if alike and all(s is not None and not s.rank and s.shape.element.text == own for s in found):
            return value
        return c.Cast(own, value)

    def is_exact(self, index: c.Expr) -> bool:
        """Whether an index is computed as numbers are: 32 bits without a sign may wrap around on the way."""
        found = (self.region.scope.symbols.get(name) for name in mentions(index))
        elements = [one.shape.element for one in found if one is not None]
        return all(e.kind == "int" and (e.signed or (e.size_bytes or 0) >= WHOLE_BYTES) for e in elements)

    def is_idle(self, condition: c.Expr) -> bool:
        """Whether a condition asks if an unsigned number is at least 0: compilers warn of that."""
        match condition:
            case c.Binary(op="<=", left=low, right=value) | c.Binary(op=">=", left=value, right=low) if (
                constant(low) == 0
            ):
                found = (self.region.scope.symbols.get(name) for name in mentions(value))
                return any(s is not None and s.is_integer and not s.shape.element.signed for s in found)
        return False

    def branch(self, node: c.If) -> list[c.Stmt]:
        """Both branches under their condition, or what they touch by names alone, whichever is taken; not what the
        condition has touched already."""
        seen = self.seen(node.condition)
        then, other = (
            without_repeated([*seen, *self.statement(side)])[len(seen) :] for side in (node.then, node.otherwise)
        )
        if not then and not other:
            return seen
        if all(is_free(item) for item in (*then, *other)):
            return [*seen, *then, *other]
        self.depends_on(node.condition)
        return [*seen, c.If(node.condition, c.Block(tuple(then)), c.Block(tuple(other)) if other else None)]

    def assignment(self, node: c.ExprStmt, expr: c.Expr) -> list[c.Stmt]:
        changed = assigned_scalars(node) & self.needed
        if not changed:
            return []
        if not (isinstance(expr, c.Assign) and isinstance(expr.target, c.Name)) or assigned_scalars(expr.value):
            raise NotFound(f"'{sorted(changed)[0]}' changes inside of an expression")
        self.depends_on(expr.value)
        return [c.ExprStmt(expr)]

    # --- expressions

    def seen(self, expr: c.Expr) -> list[c.Stmt]:
        """What an expression touches of the arrays, as statements that keep its first and its last element."""
        found: list[c.Stmt] = []
        for one, certain in self.touched(expr, True):
            reference = resolve(self.region.scope, one)
            if reference is None or not reference.subscripts:
                raise NotFound("one of them is a pointer that is used as a value")
            index = reference.subscripts[0]
            if assigned_scalars(expr) & mentions(index) and not is_read_first(expr):
                raise NotFound("a subscript changes in the expression that uses it")
            if not certain and not is_plain(index):
                raise NotFound("a condition inside of an expression decides whether a subscript is read")
            self.depends_on(index)
            first, last = self.ends[reference.symbol.key]
            place = c.Cast("long", index)
            for name, macro in ((first, FIRST), (last, LAST)):
                found.append(c.ExprStmt(c.Assign("=", c.Name(name), c.Call(macro, (c.Name(name), place)))))
        return list(dict.fromkeys(found))

    def touched(self, expr: c.Node, certain: bool) -> Iterator[tuple[c.Expr, bool]]:
        """The references to the arrays in an expression, and whether each is evaluated for sure."""
        if isinstance(expr, (c.Name, c.Subscript, c.Member, c.Unary)) and base_key(expr) in self.ends:
            yield expr, certain
            for index in indices(expr):
                yield from self.touched(index, certain)
            return
        match expr:
            case c.Ternary(condition=condition, then=then, otherwise=otherwise):
                yield from self.touched(condition, certain)
                for part in (then, otherwise):
                    yield from self.touched(part, False)
            case c.Binary(op="&&" | "||", left=left, right=right):
                yield from self.touched(left, certain)
                yield from self.touched(right, False)
            case _:
                for child in c.children(expr):
                    yield from self.touched(child, certain)

    def references(self, parts: list[c.Expr]) -> list[c.Expr]:
        return [one for part in parts for one, _ in self.touched(part, True)]

    def depends_on(self, expr: c.Expr) -> None:
        """Take what an expression reads along. Raises NotFound where the region may change it on the way."""
        for node in c.walk(expr):
            if isinstance(node, c.Call) and node.function not in PURE:
                raise NotFound(f"what '{node.function}' returns decides it")
            if not isinstance(node, c.Name) or node.name in self.counters:
                continue
            symbol = self.region.scope.symbols.get(node.name)
            if symbol is None or (symbol.key not in self.region.written and symbol.storage is not Storage.REGION):
                continue
            if symbol.rank or symbol.shape.node is not None:
                raise NotFound(f"'{symbol.c_name}' decides it, which the region writes")
            self.needed.add(symbol.key)

    # --- the loops as a whole

    def outermost(self, node: c.Stmt, around: frozenset[str] = frozenset()) -> c.Stmt:
        """A top statement whose outermost loops run in parallel, with variables of their own.

        around: the variables that branches around it declare; a loop that changes one runs in one thread
        """
        match node:
            case c.For():
                return self.parallel(node, around)
            case c.If(then=then, otherwise=otherwise):
                return replace(
                    node,
                    then=self.outermost(then, around),
                    otherwise=None if otherwise is None else self.outermost(otherwise, around),
                )
            case c.Block(body=items):
                around |= {item.name for item in items if isinstance(item, c.Decl)}
                return c.Block(tuple(self.outermost(item, around) for item in items))
        if (assigned_scalars(node) | ({node.name} if isinstance(node, c.Decl) else set())) & self.needed - around:
            raise NotFound("a variable that is set before the loops decides it")
        return node

    def parallel(self, node: c.For, around: frozenset[str]) -> c.For:
        declared = {item.name for item in c.walk(node) if isinstance(item, c.Decl)} | around
        kept = {name for both in self.ends.values() for name in both}
        used = (mentions(node) & self.needed) - declared
        if used - assigned_scalars(node):
            raise NotFound("a variable that is set before the loops decides it")
        own = sorted(used)
        body = node.body.body if isinstance(node.body, c.Block) else (node.body,)
        if any(first_use(c.Block(body), key) is Use.READ for key in own) or not is_set_first(body):
            raise NotFound("a variable that one iteration leaves to the next decides it")
        types = {key: self.region.scope.symbols[key].shape.element.text for key in own}
        inner = c.Block((*(c.Decl(types[key], key) for key in own), *body)) if own else node.body
        found = [name for name in sorted(kept) if name in assigned_scalars(node)]
        clauses = [
            f"reduction({word}: {', '.join(names)})"
            for word, names in (
                ("min", [n for n in found if any(n == first for first, _ in self.ends.values())]),
                ("max", [n for n in found if any(n == last for _, last in self.ends.values())]),
            )
            if names
        ]
        head = induction(node)
        canonical = (
            head is not None
            and isinstance(node.condition, c.Binary)
            and node.condition.op in ("<", "<=", ">", ">=")
            and node.condition.left == c.Name(head.key)
            and head.key not in mentions(node.condition.right)  # as of two counters that approach each other
            and not assigned_scalars(node) & around
        )
        pragmas = (" ".join(["omp parallel for", *clauses]),) if canonical and clauses else ()
        return replace(node, body=inner, pragmas=pragmas)


def is_note(item: c.Stmt) -> bool:
    """Whether a statement only keeps an element."""
    match item:
        case c.ExprStmt(expr=c.Assign(value=c.Call(function=macro))):
            return macro in (FIRST, LAST)
    return False


def kept_in(items: Iterable[c.Stmt]) -> list[c.Expr] | None:
    """The elements that statements keep, some under conditions; None where they do anything else."""
    found: list[c.Expr] = []
    for item in items:
        match item:
            case c.If(then=then, otherwise=None) if (inner := kept_in(c.items(then))) is not None:
                found += inner
            case c.ExprStmt(expr=c.Assign(value=c.Call(function=macro, arguments=(_, c.Cast(operand=index))))) if (
                macro in (FIRST, LAST)
            ):
                found.append(index)
            case _:
                return None
    return found


def is_free(item: c.Stmt) -> bool:
    """Whether a statement only keeps an element that names alone decide: it may run whatever the data are."""
    match item:
        case c.ExprStmt(expr=c.Assign(value=c.Call(arguments=(_, c.Cast(operand=index))))):
            return is_note(item) and is_plain(index)
    return False


def without_repeated(items: list[c.Stmt]) -> list[c.Stmt]:
    """Statements, each element once that they keep with nothing but such statements in between."""
    found: list[c.Stmt] = []
    kept: set[c.Stmt] = set()
    for item in items:
        if not is_note(item):
            kept.clear()
        elif item in kept:
            continue
        else:
            kept.add(item)
        found.append(item)
    return found


__all__ = ["NotFound", "search"]
