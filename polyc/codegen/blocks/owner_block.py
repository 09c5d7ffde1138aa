"""Scatters in parallel by the owners of cells: what a run looks up first, and who runs which iterations.

    for (eb = 0; eb < n; eb += 1024) for (e = eb; e < min(n, eb + 1024); e++) net[head[e]] += w[e];

is what the tree says, and what the check of the text reads. It is printed as

    long parts = 0, first, last, size = 0;
    #pragma omp parallel reduction(+: parts)
    parts += 1;
    if (parts > 1 && n > 0) {
      #pragma omp parallel for
      for (eb …) { low, high = the least and the greatest head[e] of the block; cells[eb / 1024] = low, high; }
      first, last = the least low, the greatest high;
      if (first <= last) size = (last - first) / parts + 1;
      met = how many pairs of a block and a part there are with a cell of the one between low and high of the other;
      if (4 * met > 3 * parts * blocks) size = 0;
    }
    if (size > 0)
      #pragma omp parallel for
      for (part = 0; part < parts; part++) {
        from = first + part * size, to = from + size;
        for (eb …)
          if (from <= cells[eb / 1024][0] && cells[eb / 1024][1] < to) for (e …) net[head[e]] += w[e];
          else if (from <= cells[eb / 1024][1] && cells[eb / 1024][0] < to)
            for (e …) { at = head[e]; if (from <= at && at < to) net[at] += w[e]; }
      }
    else for (eb …) for (e …) net[head[e]] += w[e];

`reread/blocks/read_owners.py` shows that both are the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeGuard

from polyc.codegen.loops.loops import taken_names
from polyc.codegen.loops.naming import Namer
from polyc.codegen.text.macros import MAX, MIN
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.model.program import Program

NOTE = c.Note("owners")
LEAST, GREATEST = "(-0x7fffffffffffffffL - 1)", "0x7fffffffffffffffL"
ZERO, ONE = c.Literal("0"), c.Literal("1")


def with_owners(body: Iterable[c.Stmt], program: Program) -> tuple[c.Stmt, ...]:
    """The statements, notes and all, with such loops as owners run them."""
    items = tuple(body)
    if not any(isinstance(n, c.For) and n.owned for item in items for n in c.walk(item)):
        return items
    declared = {n.name for item in items for n in c.walk(item) if isinstance(n, c.Decl)}
    namer = Namer(taken_names(program) | declared)

    def change(node: c.Node) -> c.Node | None:
        return _Owners(node, namer).printed() if isinstance(node, c.For) and node.owned else None

    return tuple(c.rewrite(item, change) for item in items)


class _Owners:
    """One loop over blocks of iterations, and the names around it."""

    def __init__(self, loop: c.For, namer: Namer) -> None:
        self.loop = replace(loop, owned="", owned_if=None)
        self.array, self.worth = loop.owned, loop.owned_if
        match loop:
            case c.For(
                init=c.Decl(name=name, init=start),
                condition=c.Binary(op="<", right=end),
                step=c.Assign(op="+=", value=c.Literal() as step),
            ) if start is not None:
                self.counter, self.start, self.end, self.step = c.Name(name), start, end, step
            case _:
                raise InternalError("a loop whose iterations have owners goes in another form")
        names = ("parts", "first", "last", "size", "met", "part", "from", "to", "low", "high", "at", "cells")
        self.name = {wish: c.Name(namer.take(wish)) for wish in names}

    def printed(self) -> c.Stmt:
        parts, size = self.name["parts"], self.name["size"]
        start = f"omp parallel reduction(+: {parts.name})"
        count = c.ExprStmt(c.Assign("+=", parts, ONE), pragmas=(start,), worth=self.worth)
        several = c.Binary("&&", c.Binary(">", parts, ONE), c.Binary("<", self.start, self.end))
        declared = (_long(self.name[one], ZERO) for one in ("parts", "first", "last", "size"))
        table = c.Decl("long", self.name["cells"].name, (self.blocks(), c.Literal("2")), heap=True)
        shared = c.If(c.Binary(">", size, ZERO), c.Block((self.shared(),)), c.Block((self.loop,)))
        return c.Block((NOTE, table, *declared, count, c.If(several, c.Block(tuple(self.inspected()))), shared))

    def blocks(self) -> c.Expr:
        """How many there are, and one more where the last one is whole."""
        length = self.end if self.start == ZERO else c.Binary("-", self.end, self.start)
        return c.Binary("+", c.Binary("/", c.Call(MAX, (length, ZERO)), self.step), ONE)

    def bound(self, position: int) -> c.ArrayRef:
        """The lowest (0) or the highest (1) cell of the block."""
        index = self.counter if self.start == ZERO else c.Binary("-", self.counter, self.start)
        return c.ArrayRef(self.name["cells"].name, (c.Binary("/", index, self.step), c.Literal(str(position))))

    def blockwise(self, *body: c.Stmt, pragma: str = "") -> c.For:
        return replace(self.loop, body=c.Block(body), pragmas=(pragma,) if pragma else (), runs=())

    def inspected(self) -> Iterable[c.Stmt]:
        """Finds out what blocks update, and whether parts of the cells are worth it."""
        low, high, first, last = (self.name[one] for one in ("low", "high", "first", "last"))
        parts, size, met = self.name["parts"], self.name["size"], self.name["met"]
        yield self.blockwise(
            _long(low, c.Literal(GREATEST)),
            _long(high, c.Literal(LEAST)),
            *c.items(self.looked_up()),
            _set(self.bound(0), low),
            _set(self.bound(1), high),
            pragma="omp parallel for",
        )
        yield _set(first, c.Literal(GREATEST))
        yield _set(last, c.Literal(LEAST))
        least = _set(first, c.Call(MIN, (first, self.bound(0))))
        yield self.blockwise(least, _set(last, c.Call(MAX, (last, self.bound(1)))))
        share = c.Binary("+", c.Binary("/", c.Binary("-", last, first), parts), ONE)
        yield c.If(c.Binary("<=", first, last), _set(size, share))  # else there are no cells
        yield _long(met, ZERO)
        highest, lowest = (c.Binary("/", c.Binary("-", self.bound(k), first), size) for k in (1, 0))
        parts_met = c.Binary("+", c.Binary("-", highest, lowest), ONE)
        has_cells = c.Binary("<=", self.bound(0), self.bound(1))
        yield self.blockwise(c.If(has_cells, c.ExprStmt(c.Assign("+=", met, parts_met))))
        most = c.Binary("*", c.Binary("*", c.Literal("3"), parts), self.blocks())
        yield c.If(c.Binary(">", c.Binary("*", c.Literal("4"), met), most), c.Block((_set(size, ZERO),)))

    def shared(self) -> c.For:
        part, low, high = (self.name[one] for one in ("part", "from", "to"))
        size = self.name["size"]
        start = c.Binary("+", self.name["first"], c.Binary("*", part, size))
        inside = c.Binary("&&", c.Binary("<=", low, self.bound(0)), c.Binary("<", self.bound(1), high))
        meets = c.Binary("&&", c.Binary("<=", low, self.bound(1)), c.Binary("<", self.bound(0), high))
        some = c.If(meets, c.Block(tuple(c.items(self.masked()))))
        every = c.If(inside, c.Block(tuple(c.items(self.loop.body))), c.Block((some,)))
        return c.For(
            _long(part, ZERO),
            c.Binary("<", part, self.name["parts"]),
            c.Postfix("++", part),
            c.Block((_long(low, start, True), _long(high, c.Binary("+", low, size), True), self.blockwise(every))),
            ("omp parallel for",),
        )

    def masked(self) -> c.Stmt:
        """The body, which updates the part's own cells only."""
        at = self.name["at"]
        own = c.Binary("&&", c.Binary("<=", self.name["from"], at), c.Binary("<", at, self.name["to"]))

        def change(node: c.Node) -> c.Node | None:
            place = updated(node, self.array)
            if place is None:
                return None
            there = c.rewrite(node, lambda n: replace(n, subscripts=(at,)) if is_cell(n, self.array) else None)
            return c.Block((_long(at, place, True), c.If(own, there)))  # type: ignore[arg-type]

        return c.rewrite(self.loop.body, change)

    def looked_up(self) -> c.Stmt:
        """The body, which only asks for the cells."""
        at, low, high = (self.name[one] for one in ("at", "low", "high"))
        places = [p for n in c.walk(self.loop.body) if (p := updated(n, self.array)) is not None]
        needed = needed_for(self.loop.body, places)

        def change(node: c.Node) -> c.Node | None:
            place = updated(node, self.array)
            if place is not None:
                found = _set(low, c.Call(MIN, (low, at))), _set(high, c.Call(MAX, (high, at)))
                return c.Block((_long(at, place, True), *found))
            match node:
                case c.For():
                    return replace(node, body=c.rewrite(node.body, change))
                case c.Block(body=items):
                    changed = (c.rewrite(item, change) for item in items)
                    return c.Block(tuple(item for item in changed if not _is_nothing(item)))
                case c.Decl(name=name) | c.ExprStmt(expr=c.Assign(target=c.ArrayRef(array=name, subscripts=()))):
                    return None if name in needed else c.Empty()
                case c.ExprStmt() | c.Note():
                    return c.Empty()
            return None

        return c.rewrite(self.loop.body, change)


def updated(node: c.Node, array: str) -> c.Expr | None:
    """Of a statement that updates a cell of the array, which one."""
    if not isinstance(node, c.ExprStmt) or c.is_request(node):
        return None
    return next((n.subscripts[0] for n in c.walk(node) if is_cell(n, array)), None)


def is_cell(node: c.Node, array: str) -> TypeGuard[c.ArrayRef]:
    return isinstance(node, c.ArrayRef) and node.array == array


def needed_for(body: c.Stmt, places: list[c.Expr]) -> set[str]:
    """The scalars that places are computed from, whatever assigns them in the body."""
    needed: set[str] = set()
    waiting: list[c.Node] = [*places]
    while waiting:
        for node in c.walk(waiting.pop()):
            name = node.array if isinstance(node, c.ArrayRef) and not node.subscripts else ""
            if name and name not in needed:
                needed.add(name)
                for found in c.walk(body):
                    match found:
                        case c.Assign(target=c.ArrayRef(array=own)) if own == name:
                            waiting.append(found)
                        case c.Decl(name=own, init=init) if own == name and init is not None:
                            waiting.append(init)
    return needed


def _is_nothing(item: c.Stmt) -> bool:
    match item:
        case c.Empty():
            return True
        case c.Block(body=body):
            return all(_is_nothing(one) for one in body)
        case c.If(then=then, otherwise=otherwise):
            return _is_nothing(then) and (otherwise is None or _is_nothing(otherwise))
    return False


def _long(name: c.Name, value: c.Expr, constant: bool = False) -> c.Decl:
    return c.Decl("const long" if constant else "long", name.name, (), value)


def _set(target: c.Expr, value: c.Expr) -> c.ExprStmt:
    return c.ExprStmt(c.Assign("=", target, value))
