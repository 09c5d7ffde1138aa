"""Rows that are stored past the caches, read again: the printed block stores what the loop does that stands for it.

The text that the frontend reads has plain loops. What is printed for those with rows is undone here: a call of
`polyc_stream` is the loop of copies `A[p][f + k] = row[k]`, 0 <= k < n, that its bytes say.

math: let the loop store A[p][f(j)], and the block row[g(j)], for the same iterations start <= j < end, and then stream
      n elements of the row, from the first one on, to A[p][F]. The elements are the loop's if f(j) = F + g(j), and g is
      one-to-one from the iterations, and the stores of one, onto 0 .. n - 1. With g(j) = s (j - start) + c and all c
      from 0 to s - 1 that is so if n = s (end - start). Shown is that
        (1) but for what is stored, the block's loop is the loop, over all its iterations, in parts or not,
        (2) f = F + g, n = s (end - start), and the row has so many elements,
        (3) nothing else in the loop touches A; each store runs in each iteration; different rows are of different
            elements,
        (4) whoever comes after a parallel loop, or after the nest, sees what was stored: a fence ends each iteration of
            a parallel loop, or the nest.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyc.analysis.expressions.linear import Linear, linear, with_value
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.records import dataclass, field, replace
from polyc.reread.blocks.taken import Other, loops_out, without_notes

STREAM, FENCE, LEAST = "polyc_stream", "polyc_fence", "polyc_min"


def row_faults(program: Program, plain: tuple[c.Stmt, ...], printed: tuple[c.Stmt, ...]) -> list[Fault]:
    """Blocks that store something else than their loops; and what differs beside them."""
    left, loops = loops_out(plain, lambda loop: bool(loop.nontemporal))
    blocks: list[c.Stmt] = []
    try:
        _fences(printed)
        first = [_single(item) for item in left]
        second = [_single(_without_blocks(item, loops, blocks)) for item in printed if not _is_fence(item)]
        if first != second or len(loops) != len(blocks):
            raise Other("what stands beside it is another text")
        types = {a.printed_name: a.element.text for a in program.scop.arrays.values()}
        for one, other in zip(loops, blocks, strict=True):
            _compare(one, other, types)
    except Other as reason:
        return [Fault("text", f"what is printed for stores past the caches is not the loop: {reason}", "")]
    return []


def _without_blocks(item: c.Stmt, loops: list[c.For], blocks: list[c.Stmt]) -> c.Stmt:
    """A statement with nothing in the place of blocks, which are found in the order of the loops."""

    def change(node: c.Node) -> c.Node | None:
        if _is_block(node) or (len(blocks) < len(loops) and node == _plain(loops[len(blocks)])):
            blocks.append(node)  # type: ignore[arg-type]
            return c.Empty()
        if isinstance(node, c.Block) and any(_is_fence(inner) for inner in node.body):
            return c.rewrite(replace(node, body=tuple(i for i in node.body if not _is_fence(i))), change)
        return None

    return c.rewrite(item, change)


def _plain(loop: c.For) -> c.For:
    return replace(loop, nontemporal=(), large=None)


def _is_block(node: c.Node) -> bool:
    return isinstance(node, c.Block) and bool(node.body) and node.body[0] == c.Note("nontemporal")


def _is_fence(node: c.Node) -> bool:
    return node == c.ExprStmt(c.Call(FENCE, ()))


def _streams(node: c.Node) -> bool:
    return any(isinstance(n, c.Call) and n.function == STREAM for n in c.walk(node))


def _fences(items: tuple[c.Stmt, ...]) -> None:
    """(4). Raises Other."""
    for item, after in zip(items, (*items[1:], c.Empty()), strict=True):
        if not _streams(item):
            continue
        around = list(_parallel(item))
        inside = sum(_calls(loop) for loop in around)
        for loop in around:
            if not (isinstance(loop.body, c.Block) and loop.body.body and _is_fence(loop.body.body[-1])):
                raise Other("no fence ends the iterations of a parallel loop")
        if inside != _calls(item) and not _is_fence(after):
            raise Other("no fence ends a nest")


def _calls(node: c.Node) -> int:
    return sum(isinstance(n, c.Call) and n.function == STREAM for n in c.walk(node))


def _parallel(node: c.Node) -> Iterator[c.For]:
    """The outermost parallel loops that store past the caches."""
    if isinstance(node, c.For) and any(p.startswith("omp parallel") for p in node.pragmas):
        if _streams(node):
            yield node
        return
    for child in c.children(node):
        yield from _parallel(child)


def _single(node: c.N) -> c.N:
    """Without braces around a single statement."""

    def change(part: c.Node) -> c.Node | None:
        if isinstance(part, c.Block) and len(part.body) == 1 and not isinstance(part.body[0], c.Decl):
            return c.rewrite(part.body[0], change)
        return None

    return c.rewrite(node, change)


def _compare(loop: c.For, block: c.Stmt, types: dict[str, str]) -> None:
    if block == _plain(loop):
        return
    inner = without_notes(block)
    if loop.large is not None:
        match inner:
            case [c.If(condition=condition, then=then, otherwise=other)]:
                if condition != loop.large or other is None or _single(other) != _single(_plain(loop)):
                    raise Other("another loop runs where results are small")
                inner = without_notes(then)
            case _:
                raise Other("it does not ask for the sizes")
    _Block(loop, types).compare(inner)


@dataclass(slots=True)
class _Store:
    target: c.ArrayRef
    place: c.ArrayRef
    """In a row."""
    loops: tuple[c.For, ...]
    """Of a few iterations, between the loop and the store."""


@dataclass(slots=True)
class _Block:
    loop: c.For
    types: dict[str, str]
    rows: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """What the block declares: the extents of each row."""
    kinds: dict[str, str] = field(default_factory=dict)
    stores: dict[str, list[_Store]] = field(default_factory=dict)
    """For each row."""
    found: list[c.ArrayRef] = field(default_factory=list)
    """Where rows go."""

    def compare(self, items: list[c.Stmt]) -> None:
        counter, start, end = _range(self.loop)
        most: int | None = None
        if len(items) == 1 and isinstance(items[0], c.For) and items[0].init != self.loop.init:
            start, end, most, items = self.part(items[0], start, end)
        declared = [item for item in items if isinstance(item, c.Decl)]
        mine, *calls = items[len(declared) :]
        for item in declared:
            self.rows[item.name] = tuple(_number(extent) for extent in item.extents)
            self.kinds[item.name] = item.type
        names = {n.array for n in c.walk(self.loop) if isinstance(n, c.ArrayRef)} | _names(self.loop)
        if len(self.rows) != len(declared) or names & set(self.rows):
            raise Other("a row has the name of something else")
        if not isinstance(mine, c.For) or _range(mine) != (counter, start, end) or mine.step != self.loop.step:
            raise Other("it runs other iterations")
        if (mine.pragmas, mine.lanes, mine.lookups) != (self.loop.pragmas, self.loop.lanes, self.loop.lookups):
            raise Other("the loop is of another kind")
        self.same(self.loop.body, mine.body, ())
        stored = {id(s.target) for stores in self.stores.values() for s in stores}
        for node in c.walk(self.loop.body):
            if isinstance(node, c.ArrayRef) and node.array in self.loop.nontemporal and id(node) not in stored:
                raise Other(f"{node.array} is used beside its rows")
        if _names(self.loop) & set(self.loop.nontemporal):
            raise Other("an array is used as a whole")
        if len(calls) != len(self.rows) or set(self.stores) != set(self.rows):
            raise Other("a row is not stored, or twice")
        bound = _at_most(start, end) if most is None else most
        for call in calls:
            self.streamed(call, (), counter, start, end, bound)
        self.different()

    def part(self, around: c.For, start: c.Expr, end: c.Expr) -> tuple[c.Expr, c.Expr, int, list[c.Stmt]]:
        """Parts of a loop: their start and end, how many iterations they have at most, and what they run."""
        match around, without_notes(around.body):
            case (
                c.For(
                    init=c.Decl(name=first, init=begin),
                    condition=c.Binary(op="<", left=c.Name(name=compared), right=last),
                    step=c.Assign(op="+=", target=c.Name(name=moved), value=c.Literal() as size),
                ),
                [
                    c.Decl(
                        name=stop,
                        extents=(),
                        init=c.Call(function=least, arguments=(bound, c.Binary(op="+", left=c.Name(name=f), right=by))),
                    ),
                    *rest,
                ],
            ):
                alike = first == compared == moved == f and by == size and least == LEAST and first != stop
                fresh = not {first, stop} & (_names(self.loop) | {n.array for n in _references(self.loop)})
                if alike and fresh and (begin, last, bound) == (start, end, end) and _number(size) > 0:
                    return c.Name(first), c.Name(stop), _number(size), rest
        raise Other("its parts are not those of the loop")

    def same(self, then: c.Stmt, now: c.Stmt, loops: tuple[c.For, ...] | None) -> None:
        """(1); `loops`: those of a few iterations around, None where it is not sure that the statement runs."""
        match then, now:
            case c.Block(body=one), c.Block(body=two) if len(one) == len(two):
                for a, b in zip(one, two, strict=True):
                    self.same(a, b, loops)
            case c.For(), c.For() if replace(then, body=c.Empty()) == replace(now, body=c.Empty()):
                inner = (*loops, then) if loops is not None and _is_short(then) else None
                self.same(then.body, now.body, inner)
            case c.ExprStmt(expr=c.Assign() as one_), c.ExprStmt(expr=c.Assign() as two_) if one_ != two_:
                if loops is None or (one_.op, one_.value) != (two_.op, two_.value) or one_.op != "=":
                    raise Other("another value is computed, or not always")
                match one_.target, two_.target:
                    case c.ArrayRef() as target, c.ArrayRef() as place if (
                        target.array in self.loop.nontemporal and place.array in self.rows
                    ):
                        self.stores.setdefault(place.array, []).append(_Store(target, place, loops))
                    case _:
                        raise Other("another element is written")
            case _ if then == now:
                pass
            case _:
                raise Other("it has another statement")

    def streamed(
        self, call: c.Stmt, loops: tuple[c.For, ...], counter: str, start: c.Expr, end: c.Expr, bound: int | None
    ) -> None:
        """(2), for one call."""
        if isinstance(call, c.For):
            return self.streamed(call.body, (*loops, call), counter, start, end, bound)
        match call:
            case c.ExprStmt(
                expr=c.Call(
                    function=function,
                    arguments=(
                        c.Unary(op="&", operand=c.ArrayRef() as to),
                        c.Unary(op="&", operand=c.ArrayRef() as row),
                        c.Binary(op="*", left=elements, right=c.SizeOf(text=kind)),
                    ),
                )
            ) if function == STREAM and row.array in self.stores:
                pass
            case _:
                raise Other("a row is stored in another way")
        stores = self.stores.pop(row.array)
        if not kind == self.types.get(to.array) == self.kinds[row.array]:
            raise Other("elements have another size")
        counters = tuple(c.Name(_range(loop)[0]) for loop in loops)
        if row.subscripts != (*counters, c.Literal("0")):
            raise Other("a row does not begin with its first element")
        step = len(stores)
        first = Linear((), 0).plus(linear(end).plus(linear(start), -1), step)
        if not first.is_same(linear(elements)):
            raise Other("more or fewer elements are stored")
        extents = self.rows[row.array]
        sizes = tuple(_short(loop) for loop in loops)
        if bound is None or extents[:-1] != sizes or bound * step > extents[-1]:
            raise Other("a row is too short")
        constants = [self.constant(store, to, loops, counter, start, step) for store in stores]
        if sorted(constants) != list(range(step)):
            raise Other("a row has holes")
        self.found.append(to)
        return None

    def constant(
        self, store: _Store, to: c.ArrayRef, loops: tuple[c.For, ...], counter: str, start: c.Expr, step: int
    ) -> int:
        """f = F + g; the c of g."""
        plain = [replace(loop, body=c.Empty(), pragmas=()) for loop in store.loops]
        if plain != [replace(loop, body=c.Empty(), pragmas=()) for loop in loops]:
            raise Other("a row is stored by other loops than it was filled by")
        target, place = store.target, store.place
        if (target.array, target.subscripts[:-1]) != (to.array, to.subscripts[:-1]):
            raise Other("a row goes to another place")
        *before, last = place.subscripts
        if before != [c.Name(_range(loop)[0]) for loop in loops]:
            raise Other("a row is filled at another place")
        changed = {n.name for n in c.walk(self.loop.body) if isinstance(n, c.Decl)} - {_range(p)[0] for p in loops}
        inside = {counter} | changed
        names = [_names(s) | {n.array for n in _references(s)} for s in target.subscripts]
        if any(mentioned & inside for mentioned in names[:-1]) or names[-1] & {_range(p)[0] for p in loops}:
            raise Other("its elements are in several rows")
        here, where = linear(last), linear(target.subscripts[-1])
        if names[-1] & changed or here.factor(counter) != step or where.factor(counter) != step:
            raise Other("neighbours are no neighbours")
        begin = linear(with_value(last, counter, start))
        if begin.terms or begin.mentions(counter):
            raise Other("a row is filled from another place on")
        other = linear(to.subscripts[-1]).plus(here)
        at_start = linear(with_value(target.subscripts[-1], counter, start))
        if not other.is_same(where) or not linear(to.subscripts[-1]).plus(begin).is_same(at_start):
            raise Other("an element goes to another place")
        return begin.constant

    def different(self) -> None:
        """(3), of several rows."""
        for number, one in enumerate(self.found):
            for other in self.found[:number]:
                pairs = zip(one.subscripts[:-1], other.subscripts[:-1], strict=False)
                apart = [linear(a).plus(linear(b), -1) for a, b in pairs]
                if one.array == other.array and not any(not d.terms and d.constant for d in apart):
                    raise Other("two rows may be of the same elements")


def _range(loop: c.For) -> tuple[str, c.Expr, c.Expr]:
    """The counter of a loop, where it starts and ends."""
    match loop:
        case c.For(
            init=c.Decl(name=name, init=start),
            condition=c.Binary(op="<", left=c.Name(name=compared), right=end),
            step=c.Postfix(op="++", operand=c.Name(name=moved)),
        ) if name == compared == moved and start is not None:
            return name, start, end
    raise Other("a loop does not count up")


def _short(loop: c.For) -> int:
    """The iterations of a loop from 0 to a constant; 0 for others."""
    _, start, end = _range(loop)
    if start == c.Literal("0") and isinstance(end, c.Literal) and end.text.isdigit():
        return int(end.text)
    return 0


def _is_short(loop: c.For) -> bool:
    try:
        return _short(loop) > 0
    except Other:
        return False


def _at_most(start: c.Expr, end: c.Expr) -> int | None:
    if isinstance(end, c.Call) and end.function == LEAST:
        found = [n for n in (_at_most(start, argument) for argument in end.arguments) if n is not None]
        return min(found, default=None)
    length = linear(end).plus(linear(start), -1)
    return None if length.terms else max(length.constant, 0)


def _number(expr: c.Expr) -> int:
    if isinstance(expr, c.Literal) and expr.text.isdigit():
        return int(expr.text)
    raise Other("a row has a size that is not known")


def _names(node: c.Node) -> set[str]:
    declared = {n.name for n in c.walk(node) if isinstance(n, c.Decl)}
    return declared | {n.name for n in c.walk(node) if isinstance(n, c.Name)}


def _references(node: c.Node) -> list[c.ArrayRef]:
    return [n for n in c.walk(node) if isinstance(n, c.ArrayRef)]


__all__ = ["row_faults"]
