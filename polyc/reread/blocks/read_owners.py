"""Cells with owners, read again: the printed block updates each cell as the loop does that stands for it.

The text that the frontend reads has the plain loop. What is printed for it is compared here, without the code that made
it.

math: let the loop run blocks k of iterations, in order, and A[f] be what its updates touch. Shown is that
        (1) where the block asks for parts, cells[k] has the least and the greatest f of block k, `first` and `last`
            those of all, if there are any, and size > 0 parts' cells [first + p size, first + (p + 1) size) are
            disjoint, and all;
        (2) part p runs each block that has such an f, in order, as it is where the block has no others, and else with
            `if (from <= f && f < to)` at each update, and nothing else is left out;
        (3) f is the same number wherever its iteration computes it, and A is touched by updates A[f] alone;
        (4) else the block runs the loop.
      So the updates of each cell run in one part, all and in their order. That what an iteration does besides is its
      own, the checks of the tree and of the text show, for which the loop is parallel but for A.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyc.analysis.expressions.reader import FLOORD, MAX, MIN
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.reread.blocks.taken import Other, loops_out, taken_out

NOTE = c.Note("owners")
LEAST, GREATEST = c.Literal("(-0x7fffffffffffffffL - 1)"), c.Literal("0x7fffffffffffffffL")
ZERO, ONE, TWO = c.Literal("0"), c.Literal("1"), c.Literal("2")
PARALLEL = ("omp parallel for",)


def owner_faults(_: Program, plain: tuple[c.Stmt, ...], printed: tuple[c.Stmt, ...]) -> list[Fault]:
    """Blocks that do something else than their loops; and what differs beside them."""
    first, loops = loops_out(plain, lambda loop: bool(loop.owned))
    second, blocks = taken_out(printed, lambda node: isinstance(node, c.Block) and node.body[:1] == (NOTE,))
    if first != second or len(loops) != len(blocks):
        return [Fault("text", "what stands beside loops with owners is another text", "")]
    try:
        for one, other in zip(loops, blocks, strict=True):
            _Comparison(c.unlabelled(one), c.unlabelled(other)).compare()
    except Other as reason:
        return [Fault("text", f"what is printed for the owners of cells is not the loop: {reason}", "")]
    return []


class _Comparison:
    def __init__(self, loop: c.For, block: c.Stmt) -> None:
        assert isinstance(block, c.Block)
        self.loop = replace(loop, owned="", owned_if=None)
        self.array, self.block = loop.owned, block
        match loop:
            case c.For(
                init=c.Decl(name=name, init=start),
                condition=c.Binary(op="<", left=c.Name(name=compared), right=end),
                step=c.Assign(op="+=", target=c.Name(name=stepped), value=c.Literal(text=step)),
            ) if start is not None and name == compared == stepped and step.isdigit() and int(step) > 0:
                self.start, self.end, self.step = start, end, c.Literal(step)
                begin = c.Name(name) if start == ZERO else c.Binary("-", c.Name(name), start)
                self.number = c.Binary("/", begin, self.step)
            case _:
                raise Other("it does not go from block to block")

    def compare(self) -> None:
        self.bodies()
        match self.block.body:
            case (
                c.Note(),
                c.Decl(type="long", name=cells, extents=extents, heap=True, init=None),
                c.Decl(type="long", name=parts),
                c.Decl(type="long", name=first),
                c.Decl(type="long", name=last),
                c.Decl(type="long", name=size),
                c.ExprStmt(expr=c.Assign(op="+=", target=c.Name(name=counted), value=c.Literal(text="1"))) as count,
                c.If(otherwise=None) as asked,
                c.If() as run,
            ) if all(isinstance(item, c.Decl) and item.init == ZERO for item in self.block.body[2:6]):
                pass
            case _:
                raise Other("the block has another form")
        self.parts, self.first, self.last, self.size = map(c.Name, (parts, first, last, size))
        self.low, self.high = (c.ArrayRef(cells, (self.number, k)) for k in (ZERO, ONE))
        length = self.end if self.start == ZERO else c.Binary("-", self.end, self.start)
        blocks = c.Binary("+", c.Binary("/", c.Call(MAX, (length, ZERO)), self.step), ONE)
        _is(extents == (blocks, TWO), "the table has another size")
        (pragma,) = count.pragmas or ("",)
        threads = pragma.startswith("omp parallel") and pragma.endswith(f" reduction(+: {parts})")
        _is(threads and counted == parts, "threads are not counted")
        several = c.Binary("&&", c.Binary(">", self.parts, ONE), c.Binary("<", self.start, self.end))
        _is(asked.condition == several, "parts are asked for where there are none")
        self.asked(c.items(asked.then))
        _is(run.condition == c.Binary(">", self.size, ZERO), "parts run that have no size")
        _is(run.otherwise is not None and c.items(run.otherwise) == (self.loop,), "the loop is not the other case")
        self.shared(c.items(run.then))

    def bodies(self) -> None:
        """(3), and names of the block's own."""
        own = {n.name for n in c.walk(self.block) if isinstance(n, c.Decl)}
        own -= {n.name for n in c.walk(self.loop) if isinstance(n, c.Decl)}
        used = {
            n.name if isinstance(n, c.Name) else n.array
            for n in c.walk(self.loop)
            if isinstance(n, c.Name | c.ArrayRef)
        }
        names = [n.name for n in self.block.body if isinstance(n, c.Decl)]
        _is(not own & used and len(set(names)) == len(names), "its variables hide others")
        _is(
            not any(isinstance(n, c.ArrayRef) for e in (self.start, self.end) for n in c.walk(e)), "data bound the loop"
        )
        updates = [n for n in c.walk(self.loop.body) if self.place(n) is not None]
        inside = {id(n) for update in updates for n in c.walk(update)}
        touched = [n for n in c.walk(self.loop.body) if isinstance(n, c.ArrayRef) and n.array == self.array]
        _is(bool(updates) and all(id(n) in inside for n in touched), "the array is used otherwise")
        declared = {n.name for n in c.walk(self.loop.body) if isinstance(n, c.Decl)}
        changed = {name for n in c.walk(self.loop.body) if (name := _assigned(n))} - declared
        _is(changed <= {self.array}, "an iteration that runs twice writes more")
        for update in updates:
            place = self.place(update)
            assert place is not None
            _is(all(_keeps(n, changed) for n in c.walk(place)), "a cell's place may change")

    def place(self, node: c.Node) -> c.Expr | None:
        """f of an update `A[f] op= e`; None for all that is none."""
        match node:
            case c.ExprStmt(expr=c.Assign(target=c.ArrayRef(array=array, subscripts=(place,)))):
                pass
            case c.ExprStmt(
                expr=c.Postfix(op="++" | "--", operand=c.ArrayRef(array=array, subscripts=(place,)))
                | c.Unary(op="++" | "--", operand=c.ArrayRef(array=array, subscripts=(place,)))
            ):
                pass
            case _:
                return None
        cells = [n for n in c.walk(node) if isinstance(n, c.ArrayRef) and n.array == self.array]
        return place if array == self.array and all(n.subscripts == (place,) for n in cells) else None

    def blockwise(self, node: c.Stmt, pragmas: tuple[str, ...] = ()) -> tuple[c.Stmt, ...]:
        """What a loop over the blocks runs."""
        _is(isinstance(node, c.For), "a loop over the blocks is missing")
        assert isinstance(node, c.For)
        _is(node == replace(self.loop, body=node.body, pragmas=pragmas), "blocks are run in another order")
        return c.items(node.body)

    def asked(self, items: tuple[c.Stmt, ...]) -> None:
        """(1)."""
        _is(len(items) >= 5, "parts are not asked for")
        match self.blockwise(items[0], PARALLEL):
            case (
                c.Decl(type="long", name=low, init=start),
                c.Decl(type="long", name=high, init=end),
                *seen,
                to_low,
                to_high,
            ) if (start, end) == (GREATEST, LEAST):
                _is(
                    (to_low, to_high) == (_set(self.low, c.Name(low)), _set(self.high, c.Name(high))), "others are kept"
                )
                self.seen(c.Block(tuple(seen)), c.Name(low), c.Name(high))
            case _:
                raise Other("the cells of a block are looked up otherwise")
        _is(items[1:3] == (_set(self.first, GREATEST), _set(self.last, LEAST)), "all blocks together have others")
        found = (
            _set(self.first, c.Call(MIN, (self.first, self.low))),
            _set(self.last, c.Call(MAX, (self.last, self.high))),
        )
        _is(self.blockwise(items[3]) == found, "all blocks together have others")
        share = c.Binary("+", c.Binary("/", c.Binary("-", self.last, self.first), self.parts), ONE)
        some = c.Binary("<=", self.first, self.last)
        _is(items[4] == c.If(some, _set(self.size, share)), "parts have another size")
        rest = [node for item in items[5:] for node in c.walk(item)]
        own = {node.name for node in rest if isinstance(node, c.Decl)}
        for node in rest:  # whether parts are worth it: nothing but to take none
            harmless = node == c.Assign("=", self.size, ZERO) or not _assigned(node) or _assigned(node) in own
            calls = isinstance(node, c.Call) and node.function not in (MIN, MAX, FLOORD)
            _is(harmless and not calls and not isinstance(node, c.While | c.Jump), "more is done than to ask")

    def seen(self, body: c.Stmt, low: c.Name, high: c.Name) -> None:
        """Whether a block's body looks up all places that the loop's updates have."""

        def update(node: c.Node) -> c.Node | None:
            match node:
                case c.Block(body=(c.Decl(type="const long", name=at, init=place), *found)) if place is not None:
                    there = c.Name(at)
                    if found == [_set(low, c.Call(MIN, (low, there))), _set(high, c.Call(MAX, (high, there)))]:
                        return c.ExprStmt(place)
            return None

        kept = {name for n in c.walk(body) if (name := _assigned(n))} - {low.name, high.name}
        kept |= {n.name for n in c.walk(body) if isinstance(n, c.Decl)}
        wanted = [p for n in c.walk(self.loop.body) if (p := self.place(n)) is not None]
        computed = {name for n in c.walk(self.loop.body) if (name := _assigned(n))}
        for place in (*wanted, *(n for n in c.walk(body) if isinstance(n, c.Assign))):
            names = {n.array for n in c.walk(place) if isinstance(n, c.ArrayRef)}
            _is(names & computed <= kept, "a place is looked up before it is computed")

        def skeleton(node: c.Node) -> c.Node | None:
            place = self.place(node)
            if place is not None:
                return c.ExprStmt(place)
            match node:
                case c.For():
                    return replace(node, body=c.rewrite(node.body, skeleton))
                case c.Block(body=items):
                    return c.Block(tuple(i for i in (c.rewrite(i, skeleton) for i in items) if not _is_empty(i)))
                case c.Note():
                    return c.Empty()
                case c.Decl(name=name) if name not in kept:
                    return c.Empty()
                case c.ExprStmt() if _assigned(node.expr) not in kept:
                    return c.Empty()
            return None

        _is(_flat(c.rewrite(body, update)) == _flat(c.rewrite(self.loop.body, skeleton)), "other cells are looked up")

    def shared(self, items: tuple[c.Stmt, ...]) -> None:
        """(2)."""
        match items:
            case (
                c.For(
                    init=c.Decl(type="long", name=part, init=c.Literal(text="0")),
                    condition=c.Binary(op="<", left=c.Name(name=compared), right=parts),
                    step=c.Postfix(op="++", operand=c.Name(name=stepped)),
                    body=c.Block(
                        body=(
                            c.Decl(type="const long", name=low, init=start),
                            c.Decl(type="const long", name=high, init=end),
                            blocks,
                        )
                    ),
                    pragmas=pragmas,
                ),
            ) if part == compared == stepped and parts == self.parts and pragmas == PARALLEL:
                pass
            case _:
                raise Other("the parts run otherwise")
        a, b = c.Name(low), c.Name(high)
        begins = c.Binary("+", self.first, c.Binary("*", c.Name(part), self.size))
        _is((start, end) == (begins, c.Binary("+", a, self.size)), "parts have other cells")
        inside = c.Binary("&&", c.Binary("<=", a, self.low), c.Binary("<", self.high, b))
        meets = c.Binary("&&", c.Binary("<=", a, self.high), c.Binary("<", self.low, b))
        match self.blockwise(blocks):
            case (c.If(condition=one, then=whole, otherwise=c.Block(body=(c.If(otherwise=None) as rest,))),):
                _is((one, rest.condition) == (inside, meets), "parts run other blocks")
                _is(c.items(whole) == c.items(self.loop.body), "a part runs another body")
                _is(c.items(self.asking(rest.then, a, b)) == c.items(self.asked_for()), "a part updates other cells")
            case _:
                raise Other("the parts run blocks otherwise")

    def at(self, place: c.Expr) -> Callable[[c.Node], c.Node | None]:
        """Puts another place into references to the array."""

        def change(node: c.Node) -> c.Node | None:
            ours = isinstance(node, c.ArrayRef) and node.array == self.array
            return replace(node, subscripts=(place,)) if ours else None  # type: ignore[arg-type]

        return change

    def asked_for(self) -> c.Stmt:
        """The loop's body, with a note at each update."""
        return c.rewrite(self.loop.body, lambda node: None if self.place(node) is None else c.Block((NOTE, node)))  # type: ignore[arg-type]

    def asking(self, body: c.Stmt, low: c.Name, high: c.Name) -> c.Stmt:
        """The body with a note at each update that is made of the part's own cells only."""

        def change(node: c.Node) -> c.Node | None:
            match node:
                case c.Block(body=(c.Decl(type="const long", name=at, init=place), c.If(otherwise=None) as own)):
                    there = c.Name(at)
                    asked = c.Binary("&&", c.Binary("<=", low, there), c.Binary("<", there, high))
                    if own.condition == asked and place is not None and self.place(own.then) == there:
                        return c.Block((NOTE, c.rewrite(own.then, self.at(place))))
            return None

        return c.rewrite(body, change)


def _assigned(node: c.Node) -> str:
    """The variable that an expression changes, or the array."""
    match node:
        case c.Assign(target=target) | c.Postfix(operand=target) | c.Unary(op="++" | "--", operand=target):
            return (
                target.array if isinstance(target, c.ArrayRef) else target.name if isinstance(target, c.Name) else "?"
            )
    return ""


def _keeps(node: c.Node, changed: set[str]) -> bool:
    """Whether a part of an expression does nothing, and reads nothing that changes."""
    match node:
        case c.ArrayRef(array=array):
            return array not in changed
        case c.Unary(op=op):
            return op in ("-", "+", "~", "!")
    return isinstance(node, c.Name | c.Literal | c.Binary | c.Ternary | c.Cast)


def _flat(item: c.Stmt) -> c.Stmt:
    """Without blocks around single statements, and in blocks."""

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block):
            return None
        items: list[c.Stmt] = []
        for one in (c.rewrite(i, change) for i in node.body):
            items += one.body if isinstance(one, c.Block) else () if _is_empty(one) else (one,)
        return items[0] if len(items) == 1 else c.Block(tuple(items))

    return c.rewrite(item, change)


def _is_empty(item: c.Stmt) -> bool:
    match item:
        case c.Empty() | c.Note():
            return True
        case c.Block(body=body):
            return all(map(_is_empty, body))
        case c.If(then=then, otherwise=otherwise):
            return _is_empty(then) and (otherwise is None or _is_empty(otherwise))
    return False


def _set(target: c.Expr, value: c.Expr) -> c.ExprStmt:
    return c.ExprStmt(c.Assign("=", target, value))


def _is(right: bool, why: str) -> None:
    if not right:
        raise Other(why)
