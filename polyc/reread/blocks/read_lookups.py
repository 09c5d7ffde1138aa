"""Lookups by permutations, read again: the printed block computes what the loop does that stands for it.

The text that the frontend reads has plain loops. What is printed for those with lookups is undone here, without the
code that made it: a reference `t_at[…][r]` is replaced by the element that the vectors were made of.

math: let the loop have iterations 0 <= r < N, and the block an array K with K[r] = e(r) for all of them, and vectors
        A[c, w h .. w h + w - 1] = permute(T[f(w h, c)], K[w h .. w h + w - 1] + b)   for 0 <= h < N / w.
      Then A[c, r] = T[f(w floor(r / w), c)][K[r] + b] = T[f(r, c)][e(r) + b], since the rows of a group are the same
      (`verify/region/table_rows.py`). Shown is that
        (1) with this in its place, the block's last loop is the loop, subscripts of T with the values of scalars,
        (2) nothing that e and T read is written in the loop, be it by a call, and no call in e writes,
        (3) the permutation is given the number of elements of a row, which two vectors hold: a constant, or asked for;
            in rows of bytes, of which an index is e(r) mod 128 and e(r) / 128, that of the tree.
"""

from __future__ import annotations

from polyc.analysis.expressions.tables import row_extent
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Array, Statement
from polyc.model.tree import Band, walk
from polyc.poly import constant_of
from polyc.records import dataclass, field, replace
from polyc.reread.blocks.taken import Other, loops_out, taken_out, without_notes

PREFIX = "polyc_lookup"
BYTE = "unsigned char"
PART = 128
"""Elements of two vectors of bytes: an index is one in a part, and the part's number."""


def lookup_faults(program: Program, plain: tuple[c.Stmt, ...], printed: tuple[c.Stmt, ...]) -> list[Fault]:
    """Blocks that compute something else than their loops; and what differs beside them."""
    first, loops = loops_out(plain, lambda loop: bool(loop.lookups))
    second, blocks = taken_out(
        printed, lambda node: _is_block(node) or (isinstance(node, c.For) and bool(node.lookups))
    )
    if first != second or len(loops) != len(blocks):
        return [Fault("text", "what stands beside lookups is another text", "")]
    try:
        for one, other in zip(loops, blocks, strict=True):
            if one != other:
                _compare(program, one, other)
    except Other as reason:
        return [Fault("text", f"what is printed for lookups is not the loop: {reason}", "")]
    return []


def _is_block(node: c.Node) -> bool:
    return isinstance(node, c.Block) and bool(node.body) and node.body[0] == c.Note("lookups")


def _compare(program: Program, loop: c.For, block: c.Stmt) -> None:
    conditions: set[c.Expr] = set()
    inner = without_notes(block)
    if len(inner) == 1 and isinstance(inner[0], c.If):
        choice = inner[0]
        if choice.otherwise is None or _bare(replace(loop, lookups=0)) != _bare(choice.otherwise):
            raise Other("where rows are too long, another loop runs")
        conditions = set(c.conjuncts(choice.condition))
        inner = without_notes(choice.then)
    members = [m for n in walk(program.tree.child) if isinstance(n, Band) for m in n.members if m.lookups is not None]
    rows = {array: count for m in members if m.lookups is not None for array, count in m.lookups.rows}
    _Block(program, loop, conditions, rows).compare(inner)


@dataclass(frozen=True, slots=True)
class _Found:
    """What one place of an array for lookups has: for all iterations, and all of the loops around."""

    loops: tuple[tuple[str, c.Node, c.Node], ...]
    """Counter, condition and step of each."""
    element: c.ArrayRef
    """In the loop's counter: `T[f(r, c)][e(r) + b]`."""


@dataclass(slots=True)
class _Block:
    program: Program
    loop: c.For
    conditions: set[c.Expr]
    rows: dict[str, int]
    """Elements of the rows of tables of bytes."""
    counter: str = ""
    count: int = 0
    sizes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Of the arrays that the block declares."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Their types."""
    lows: dict[str, c.Expr] = field(default_factory=dict)
    """K -> e(r), for an array that has e(r) mod 128."""
    highs: dict[str, c.Expr] = field(default_factory=dict)
    """K -> e(r), for an array that has e(r) / 128."""
    indices: dict[str, c.Expr] = field(default_factory=dict)
    """K -> e(r)."""
    vectors: dict[str, str] = field(default_factory=dict)
    """A vector of indices -> K."""
    found: dict[tuple[str, tuple[c.Expr, ...]], _Found] = field(default_factory=dict)
    """An array for lookups with its subscripts, the loops' counters as they are where it is filled."""
    tables: set[str] = field(default_factory=set)
    values: dict[str, c.Expr] = field(default_factory=dict)
    """Of scalars, at one place of the loop."""
    types: dict[str, str] = field(default_factory=dict)

    def compare(self, items: list[c.Stmt]) -> None:
        self.counter, self.count = _range(self.loop)
        *before, last = items
        if self.count % self.loop.lookups:
            raise Other("the strip has a part of a group")
        for item in before:
            match item:
                case c.Decl(name=name, extents=extents, init=None) if extents:
                    self.sizes[name] = tuple(_number(e) for e in extents)
                    self.kinds[name] = item.type
                case c.For():
                    self.filled(item)
                case _:
                    raise Other("it begins with something else")
        if not isinstance(last, c.For) or _range(last) != (self.counter, self.count) or last.step != self.loop.step:
            raise Other("the last loop has other iterations")
        self.types = {d.name: d.type for d in c.walk(self.loop.body) if isinstance(d, c.Decl) and not d.extents}
        self.same(self.loop.body, last.body, ())
        self.untouched()

    # --- what the block fills

    def filled(self, loop: c.For) -> None:
        counter, count = _range(loop)
        body = without_notes(loop.body)
        stores = [item for item in body if isinstance(item, c.ExprStmt)]
        if len(stores) != len(body) or not body:
            if count * self.loop.lookups != self.count:
                raise Other("there are more or fewer groups")
            for item in body:
                self.group(item, counter, ())
            return
        if (counter, count) != (self.counter, self.count):
            raise Other("indices are of other iterations")
        match [item.expr for item in stores]:
            case [c.Assign(op="=", target=c.ArrayRef() as target, value=value)]:
                self.own(target, "int")
                self.indices[target.array] = value
            case [
                c.Assign(
                    op="=",
                    target=c.ArrayRef() as low,
                    value=c.Binary(op="&", left=value, right=c.Literal(text=mask)),
                ),
                c.Assign(op="=", target=c.ArrayRef() as high, value=part),
            ] if mask == str(PART - 1) and part == c.Binary("/", value, c.Literal(str(PART))):
                self.own(low, BYTE)
                self.lows[low.array] = value
                self.own(high, BYTE)
                self.highs[high.array] = value
            case _:
                raise Other("indices are computed in another way")

    def own(self, target: c.ArrayRef, kind: str) -> None:
        """An array of indices, of which nothing was stored before."""
        name = target.array
        if target.subscripts != (c.Name(self.counter),) or self.sizes.get(name) != (self.count,):
            raise Other("indices have no place of their own")
        if self.kinds[name] != kind or name in self.indices.keys() | self.lows.keys() | self.highs.keys():
            raise Other("indices have no place of their own")

    def group(self, item: c.Stmt, counter: str, loops: tuple[tuple[str, c.Node, c.Node], ...]) -> None:
        width = self.loop.lookups
        first = c.Binary("*", c.Literal(str(width)), c.Name(counter))
        match item:
            case c.Block(body=body):
                for inner in body:
                    self.group(inner, counter, loops)
            case c.Decl(name=name, init=c.Call(function=vector, arguments=(c.ArrayRef(array=k, subscripts=(start,)),))):
                elements = "int" if k in self.indices else "unsigned_char" if k in self.lows | self.highs else "?"
                if vector != f"polyc_{elements}{width}" or item.type != vector or start != first:
                    raise Other("a vector has other indices")
                if name in self.vectors:
                    raise Other("two vectors have one name")
                self.vectors[name] = k
            case c.For(body=body):
                inner_counter, _ = _range(item)
                assert item.condition is not None
                assert item.step is not None
                self.group(body, counter, (*loops, (inner_counter, item.condition, item.step)))
            case c.ExprStmt(
                expr=c.Assign(
                    op="=",
                    target=c.Call(function=vector, arguments=(c.ArrayRef(array=name, subscripts=(*places, start)),)),
                    value=c.Call(function=function, arguments=(c.Unary(op="&", operand=c.ArrayRef() as row), *given)),
                )
            ):
                if start != first or (name, (*places,)) in self.found:
                    raise Other("a lookup has another place")
                index = self.index_of(row.array, vector, function, given)
                self.permuted(name, (*places,), row, index, first, counter, loops)
            case _:
                raise Other("a group has something else")

    def index_of(self, table: str, vector: str, function: str, given: list[c.Expr]) -> c.Expr:
        """The index that a permutation is given, if it is one in rows of the table's length."""
        array = next((a for a in self.program.scop.arrays.values() if a.printed_name == table), None)
        width = self.loop.lookups
        if array is None or vector != f"polyc_{array.element.text.replace(' ', '_')}{width}":
            raise Other("a vector has other elements")
        element = vector.removeprefix("polyc_")
        match given:
            case [c.Name(name=low), c.Name(name=high)] if array.element.size_bytes == 1:
                count = self.rows.get(array.name)
                if function != f"{PREFIX}{count}_{element}":
                    raise Other(f"a row of {table} is not what vectors hold")
                one, other = self.vectors.get(low, ""), self.vectors.get(high, "")
                if one not in self.lows or self.lows[one] != self.highs.get(other):
                    raise Other("a vector has other indices")
                return self.lows[one]
            case [size, k] if function == f"{PREFIX}_{element}" and array.element.size_bytes == 4:
                if not self.fits(array, size):
                    raise Other(f"a row of {table} is not what two vectors hold")
                match k:
                    case c.Binary(op="+", left=c.Name(name=used), right=c.Literal() as added):
                        return c.Binary("+", self.index(used), added)
                    case c.Name(name=used):
                        return self.index(used)
        raise Other("a vector has other indices")

    def fits(self, array: Array, size: c.Expr) -> bool:
        """Whether two vectors hold a row of so many elements."""
        extent, width = row_extent(array), self.loop.lookups
        known = None if extent is None else constant_of(extent)
        if known is not None:
            return size == c.Literal(str(known)) and width <= known <= 2 * width
        if extent is None:
            return False
        asked = {c.Binary(op, size, c.Literal(str(bound))) for op, bound in ((">=", width), ("<=", 2 * width))}
        return size == array.extents_c[-1] and asked <= self.conditions

    def permuted(
        self,
        name: str,
        places: tuple[c.Expr, ...],
        row: c.ArrayRef,
        index: c.Expr,
        first: c.Expr,
        counter: str,
        loops: tuple[tuple[str, c.Node, c.Node], ...],
    ) -> None:
        """A lookup is what its place in an array has from here on."""
        if row.subscripts[-1] != c.Literal("0"):
            raise Other(f"a row of {row.array} begins elsewhere")
        fixed = [p for p in places if not isinstance(p, c.Literal)]
        if fixed != [c.Name(around) for around, _, _ in loops] or self.sizes.get(name, (0,))[-1] != self.count:
            raise Other("a lookup has another place")

        def moved(node: c.Node) -> c.Node | None:
            return c.Name(self.counter) if node == first else None

        rows = tuple(c.rewrite(s, moved) for s in row.subscripts[:-1])
        if any(isinstance(n, c.Name) and n.name == counter for s in rows for n in c.walk(s)):
            raise Other("a row is not that of its group")
        self.tables.add(row.array)
        self.found[name, places] = _Found(loops, c.ArrayRef(row.array, (*rows, index)))

    def index(self, vector: str) -> c.Expr:
        if self.vectors.get(vector) not in self.indices:
            raise Other("a vector has other indices")
        return self.indices[self.vectors[vector]]

    # --- its last loop, beside the loop

    def same(self, then: c.Stmt, now: c.Stmt, loops: tuple[tuple[str, c.Node, c.Node], ...]) -> None:
        match then, now:
            case c.Block(), c.Block() if len(one := _done(then)) == len(two := _done(now)):
                for a, b in zip(one, two, strict=True):
                    self.same(a, b, loops)
            case c.For(), c.For():
                counter, _ = _range(then)
                if _bare(replace(then, body=c.Empty())) != _bare(replace(now, body=c.Empty())):
                    raise Other("an inner loop is another one")
                assert then.condition is not None
                assert then.step is not None
                self.forget(then.body)
                self.same(then.body, now.body, (*loops, (counter, then.condition, then.step)))
                self.forget(then.body)
            case c.ExprStmt(expr=c.Assign(op=op, target=target, value=value)), c.ExprStmt(expr=c.Assign()):
                assert isinstance(now.expr, c.Assign)
                if (op, _bare(target)) != (now.expr.op, _bare(now.expr.target)):
                    raise Other("another element is written")
                if not self.is_index(target, value, now.expr.value) and self.settled(_bare(value)) != self.undone(
                    _bare(now.expr.value), loops
                ):
                    raise Other("another value is computed")
                if isinstance(target, c.ArrayRef) and not target.subscripts:
                    self.values.pop(target.array, None)
                    kind = self.types.get(target.array)
                    if kind is not None and op == "=":
                        self.values[target.array] = self.cast(kind, self.resolved(_bare(value)))
            case c.Decl(init=None) | c.Note() | c.Comment() | c.Empty(), _ if _bare(then) == _bare(now):
                if isinstance(then, c.Decl):
                    self.values.pop(then.name, None)
            case _:
                raise Other("it has another statement")

    def is_index(self, target: c.Expr, value: c.Expr, now: c.Expr) -> bool:
        """Whether a scalar that has the value of an index is read from the indices."""
        if not (isinstance(now, c.ArrayRef) and isinstance(target, c.ArrayRef) and now.array in self.indices):
            return False
        kind = self.types.get(target.array)
        if target.subscripts or kind is None or now.subscripts != (c.Name(self.counter),):
            return False
        return self.cast(kind, self.resolved(_bare(value))) == _bare(self.indices[now.array])

    def forget(self, body: c.Stmt) -> None:
        """Scalars that a loop's body sets may be anything in an iteration, and after the loop."""
        changed = {_array(n.target) for n in c.walk(body) if isinstance(n, c.Assign)}
        changed |= {n.name for n in c.walk(body) if isinstance(n, c.Decl)}
        self.values = {name: value for name, value in self.values.items() if name not in changed}

    def cast(self, kind: str, value: c.Expr) -> c.Expr:
        return value if isinstance(value, c.Cast) and value.type == kind else c.Cast(kind, value)

    def resolved(self, expr: c.Expr) -> c.Expr:
        """With the values of scalars."""

        def change(node: c.Node) -> c.Node | None:
            return self.values.get(node.array) if isinstance(node, c.ArrayRef) and not node.subscripts else None

        return c.rewrite(expr, change)

    def settled(self, expr: c.Expr) -> c.Expr:
        """With indices of tables in terms of what there was before the iteration."""

        def change(node: c.Node) -> c.Node | None:
            if isinstance(node, c.ArrayRef) and node.array in self.tables:
                return replace(node, subscripts=tuple(self.resolved(s) for s in node.subscripts))
            return None

        return c.rewrite(expr, change)

    def undone(self, expr: c.Expr, loops: tuple[tuple[str, c.Node, c.Node], ...]) -> c.Expr:
        """With elements of tables in the place of what was looked up."""

        def change(node: c.Node) -> c.Node | None:
            if not isinstance(node, c.ArrayRef):
                return None
            if node.array in self.tables:
                return replace(node, subscripts=tuple(self.resolved(s) for s in node.subscripts))
            if node.array not in self.sizes:
                return None
            *places, last = node.subscripts
            found = self.found.get((node.array, (*places,)))
            if found is None or last != c.Name(self.counter) or found.loops != loops:
                raise Other("something is read that was not looked up")
            return _bare(found.element)

        return c.rewrite(expr, change)

    def untouched(self) -> None:
        """(2), and that the block's arrays are its own."""
        nodes = list(c.walk(self.loop.body))
        own = {n.name for n in nodes if isinstance(n, c.Decl)}
        written = {_array(n.target) for n in nodes if isinstance(n, c.Assign)}
        if any(isinstance(n, c.Postfix) and not _counts(n) for n in nodes):
            raise Other("the loop has more than assignments")
        computed = [*self.indices.values(), *self.lows.values()]
        if self.calls_write(nodes) and any(isinstance(n, c.Call) for e in computed for n in c.walk(e)):
            raise Other("indices are computed by calls that do more")
        written |= self.written_with_calls(nodes)
        read = {n.array for e in computed for n in c.walk(e) if isinstance(n, c.ArrayRef)}
        inner = {n.init.name for n in nodes if isinstance(n, c.For) and isinstance(n.init, c.Decl)}
        names = {n.name for e in computed for n in c.walk(e) if isinstance(n, c.Name)}
        if (read | self.tables) & (written | own) or names & inner:
            raise Other("what is looked up is computed on the way")
        used = {n.array for n in nodes if isinstance(n, c.ArrayRef)} | own | set(self.program.scop.arrays)
        if used & set(self.sizes):
            raise Other("an array of it has the name of another one")

    def calling(self, nodes: list[c.Node]) -> list[Statement]:
        """The loop's statements that call functions."""
        found = (self.program.statements[n.name] for n in nodes if isinstance(n, c.Note) and n.kind == "at")
        return [s for s in found if any(isinstance(n, c.Call) for n in c.walk(s.body))]

    def written_with_calls(self, nodes: list[c.Node]) -> set[str]:
        """What these may write: no assignment has to say so of what a call does."""
        arrays = {a.array for s in self.calling(nodes) for a in s.accesses if a.kind is not AccessKind.READ}
        kept = {buffer.name for buffer in self.program.buffers.values() if buffer.array in arrays}
        return {self.program.scop.arrays[array].printed_name for array in arrays} | kept

    def calls_write(self, nodes: list[c.Node]) -> bool:
        """Whether one of them may write something that it does not assign to."""
        for statement in self.calling(nodes):
            targets = [n.target for n in c.walk(statement.body) if isinstance(n, c.Assign)]
            refs = {target.ref for target in targets if isinstance(target, c.ArrayRef)}
            if any(a.kind is not AccessKind.READ and a.ref not in refs for a in statement.accesses):
                return True
        return False


def _counts(node: c.Node) -> bool:
    return isinstance(node, c.Postfix) and node.op == "++" and isinstance(node.operand, c.Name)


def _array(target: c.Expr) -> str:
    return target.array if isinstance(target, c.ArrayRef) else ""


def _range(loop: c.For) -> tuple[str, int]:
    """The counter of a loop that runs from 0, and its number of iterations."""
    match loop:
        case c.For(
            init=c.Decl(name=name, init=c.Literal(text="0")),
            condition=c.Binary(op="<", left=c.Name(name=compared), right=c.Literal(text=end)),
            step=c.Postfix(op="++", operand=c.Name(name=moved)),
        ) if name == compared == moved and end.isdigit():
            return name, int(end)
    raise Other("a loop does not count from 0")


def _number(expr: c.Expr) -> int:
    if isinstance(expr, c.Literal) and expr.text.isdigit():
        return int(expr.text)
    raise Other("an array has a size that is not known")


def _bare(node: c.N) -> c.N:
    """The tree without the labels of references, and without pragmas."""

    def change(part: c.Node) -> c.Node | None:
        if isinstance(part, c.For) and part.pragmas:
            return c.rewrite(replace(part, pragmas=()), change)
        return None

    return c.rewrite(c.unlabelled(node), change)


def _done(block: c.Block) -> list[c.Stmt]:
    """The statements of a block, but for `(void)x`, for compilers that warn of what is only written."""

    def is_idle(item: c.Stmt) -> bool:
        match item:
            case c.ExprStmt(expr=c.Cast("void", c.Name())):
                return True
        return False

    return [item for item in block.body if not is_idle(item)]


__all__ = ["lookup_faults"]
