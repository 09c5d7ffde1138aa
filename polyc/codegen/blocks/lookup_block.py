"""Loops with lookups in short rows: first all indices, then all lookups as permutations of vectors, then the rest.

    for (r = 0; r < 64; r++) { z = f(x + r); out[x + r] = t[(x + r) / 8][z] - t[(x + r) / 8][z + 1]; }

is what the tree says, and what the check of the text reads. It is printed as

    int t_k[64]; float t_at[2][64];
    for (r = 0; r < 64; r++) t_k[r] = f(x + r);
    for (h = 0; h < 8; h++) {
      polyc_int8 k = polyc_int8(t_k[8 * h]);
      polyc_float8(t_at[0][8 * h]) = polyc_lookup_float8(&t[(x + 8 * h) / 8][0], 12, k);
      polyc_float8(t_at[1][8 * h]) = polyc_lookup_float8(&t[(x + 8 * h) / 8][0], 12, k + 1);
    }
    for (r = 0; r < 64; r++) { z = t_k[r]; out[x + r] = t_at[0][r] - t_at[1][r]; }

whose first and last loops C compilers make vectors of. `reread/blocks/read_lookups.py` shows that both are the same.
"""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from polyc.analysis.expressions.straight import Scalars
from polyc.codegen.blocks.vectors import SIMD, VectorTypes
from polyc.codegen.loops.loops import calls_function, mentioned, taken_names
from polyc.codegen.loops.naming import Namer
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Array
from polyc.model.tree import Band, walk
from polyc.poly import constant_of
from polyc.records import dataclass, field, replace

LOOKUP = "polyc_lookup"
"""What the macros are called, before the number of elements of a row of bytes, and their vector type."""
INDEX_OF_BYTES = "unsigned char"
PART = 128
"""Elements of two vectors of bytes."""


def with_lookups(body: Iterable[c.Stmt], program: Program, types: VectorTypes) -> tuple[c.Stmt, ...]:
    """The statements, notes and all, with permutations of vectors in loops that look things up."""
    members = [m for n in walk(program.tree.child) if isinstance(n, Band) for m in n.members if m.lookups is not None]
    items = tuple(body)
    if not members:
        return items
    wanted = frozenset(pair for m in members if m.lookups is not None for pair in m.lookups.references)
    rows = {array: count for m in members if m.lookups is not None for array, count in m.lookups.rows}
    taken = {n.name for item in items for n in c.walk(item) if isinstance(n, c.Decl)}
    namer = Namer(taken_names(program) | taken)

    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.For) and node.lookups:
            return _Loop(program, node, wanted, namer, types, rows).printed()
        return None

    return tuple(c.rewrite(item, change) for item in items)


@dataclass(frozen=True, slots=True)
class _Table:
    """What one table gives below the same inner loops: an array with a place for each lookup and iteration."""

    name: str
    array: Array
    loops: tuple[c.For, ...]
    """Between the loop and the lookups."""
    found: list[tuple[c.ArrayRef, str, c.Expr | None]] = field(default_factory=list)
    """The row, as its first element; the array of its indices; what is added to these."""

    def place(self, row: c.ArrayRef, indices: str, added: c.Expr | None) -> int:
        if (row, indices, added) not in self.found:
            self.found.append((row, indices, added))
        return self.found.index((row, indices, added))

    def subscripts(self, place: int, last: c.Expr) -> tuple[c.Expr, ...]:
        return (*(c.Name(_counter(loop)) for loop in self.loops), c.Literal(str(place)), last)


@dataclass(slots=True)
class _Loop:
    program: Program
    loop: c.For
    wanted: frozenset[tuple[str, str]]
    namer: Namer
    types: VectorTypes
    rows: dict[str, int]
    """For tables of bytes: how many elements of a row are read."""
    tables: list[_Table] = field(default_factory=list)
    indices: dict[c.Expr, str] = field(default_factory=dict)
    """What indices are computed from -> the array that has their values."""
    parts: dict[str, str] = field(default_factory=dict)
    """For tables of bytes: the array of an index's last seven bits -> that of the others."""
    declared: dict[str, str] = field(default_factory=dict)
    """Type of the scalars that the body declares."""

    @property
    def count(self) -> int:
        """The loop's iterations, from 0 on; 0 where they are others."""
        match self.loop:
            case c.For(
                init=c.Decl(init=c.Literal(text="0"), name=name),
                condition=c.Binary(op="<", left=c.Name(name=compared), right=c.Literal(text=end)),
                step=c.Postfix(op="++"),
            ) if name == compared and end.isdigit():
                return int(end)
        return 0

    def printed(self) -> c.Stmt:
        """The loop, or what stands for it: a strip that is not whole stays as it is."""
        width = self.loop.lookups
        if not self.count or self.count % width:
            return self.loop
        scalars = [n for n in c.walk(self.loop.body) if isinstance(n, c.Decl) and not n.extents]
        self.declared = {d.name: d.type for d in scalars}
        used = self.body(self.loop.body, Scalars(self.declared.get), ())
        if not self.tables:
            raise InternalError("a loop has no lookups where it should")
        used = self.body(used, Scalars(self.declared.get), ())  # now that all indices are known
        used = self.without_warnings(used)
        group = self.namer.take("h")
        items: list[c.Stmt] = [c.Note("lookups")]
        kind = INDEX_OF_BYTES if self.parts else "int"
        names = [name for one in self.indices.values() for name in (one, *self.parts_of(one))]
        items += [c.Decl(kind, name, (c.Literal(str(self.count)),)) for name in names]
        for table in self.tables:
            extents = (*(_extent(loop) for loop in table.loops), len(table.found), self.count)
            literals = tuple(c.Literal(str(extent)) for extent in extents)
            items.append(c.Decl(table.array.element.text, table.name, literals))
        counter = c.Name(_counter(self.loop))
        for value, name in self.indices.items():
            stored: c.Stmt = c.ExprStmt(c.Assign("=", c.ArrayRef(name, (counter,)), value))
            for part in self.parts_of(name):
                low, high = c.Binary("&", value, c.Literal(str(PART - 1))), c.Binary("/", value, c.Literal(str(PART)))
                pairs = ((name, low), (part, high))
                stored = c.Block(tuple(c.ExprStmt(c.Assign("=", c.ArrayRef(n, (counter,)), v)) for n, v in pairs))
            items.append(replace(self.loop, body=stored, lookups=0, pragmas=self.simd(stored)))
        items.append(self.groups(group))
        items.append(replace(self.loop, body=used, lookups=0, pragmas=self.simd(used)))
        return self.guarded(c.Block(tuple(items)))

    def without_warnings(self, body: c.Stmt) -> c.Stmt:
        """The body, with `(void)x` for scalars that nothing but the subscripts of tables was computed from."""
        quiet = tuple(mentioned(sorted(self.declared), list(c.walk(body))))
        return c.Block((*c.items(body), *quiet)) if quiet else body

    def parts_of(self, name: str) -> tuple[str, ...]:
        return (self.parts[name],) if name in self.parts else ()

    def simd(self, body: c.Stmt) -> tuple[str, ...]:
        """The pragma of a loop; none where clang would say that it cannot honour it."""
        scalar = self.program.options.target != "openmp" or any(calls_function(n) for n in c.walk(body))
        return () if scalar else (SIMD,)

    def guarded(self, block: c.Block) -> c.Stmt:
        """The block under the condition that all rows fit two vectors, where their number of elements is not known."""
        conditions: dict[c.Expr, None] = {}
        width = self.loop.lookups
        for table in self.tables:
            if table.array.element.size_bytes > 1 and constant_of(self._extent(table.array)[0]) is None:
                size = self._extent(table.array)[1]
                conditions[c.Binary(">=", size, c.Literal(str(width)))] = None
                conditions[c.Binary("<=", size, c.Literal(str(2 * width)))] = None
        if not conditions:
            return block
        first, *rest = conditions
        every = first
        for other in rest:
            every = c.Binary("&&", every, other)
        return c.Block((c.Note("lookups"), c.If(every, block, replace(self.loop, lookups=0))))

    def _extent(self, array: Array) -> tuple[isl.PwAff, c.Expr]:
        """The elements of a row, as isl and as C have it."""
        extent, text = array.extents[-1], array.extents_c[-1]
        assert extent is not None
        assert text is not None
        return extent, text

    def body(self, node: c.Stmt, scalars: Scalars, loops: tuple[c.For, ...], statement: str = "") -> c.Stmt:
        """What the last loop runs."""
        match node:
            case c.Block(body=items):
                changed: list[c.Stmt] = []
                for item in items:
                    if isinstance(item, c.Note) and item.kind == "at":
                        statement = item.name
                    changed.append(self.body(item, scalars, loops, statement))
                return replace(node, body=tuple(changed))
            case c.For(body=inner):
                _extent(node)  # its iterations are counted from 0
                scalars.forget(inner)
                changed_body = self.body(inner, scalars, (*loops, node), statement)
                scalars.forget(inner)
                return replace(node, body=changed_body)
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=name, subscripts=()))) if (
                name in self.declared and not self.has_lookups(node, statement)
            ):
                scalars.run(node)
                return self.from_index(node, scalars.values.get(name))
            case c.ExprStmt():

                def change(part: c.Node) -> c.Node | None:
                    if isinstance(part, c.ArrayRef) and (statement, part.ref) in self.wanted:
                        return self.looked_up(part, scalars, loops)
                    return None

                found = c.rewrite(node, change)
                scalars.run(node)
                return found
            case c.If() | c.While() | c.Jump():
                raise InternalError("a loop with lookups has conditions")
            case _:
                scalars.run(node)
                return node

    def has_lookups(self, node: c.Stmt, statement: str) -> bool:
        return any(isinstance(n, c.ArrayRef) and (statement, n.ref) in self.wanted for n in c.walk(node))

    def from_index(self, node: c.ExprStmt, value: c.Expr | None) -> c.ExprStmt:
        """A scalar that is an index is read from the indices: where compilers contract `a * b + c`, another copy of the
        same expression may be another number."""
        if value is None or value not in self.indices or self.parts:
            return node
        assert isinstance(node.expr, c.Assign)
        read = c.ArrayRef(self.indices[value], (c.Name(_counter(self.loop)),))
        return replace(node, expr=replace(node.expr, value=read))

    def looked_up(self, reference: c.ArrayRef, scalars: Scalars, loops: tuple[c.For, ...]) -> c.ArrayRef:
        array = next((a for a in self.program.scop.arrays.values() if a.printed_name == reference.array), None)
        if array is None:
            raise InternalError(f"lookups go to {reference.array}, which is no array of the region")
        index: c.Expr = reference.subscripts[-1]
        added: c.Expr | None = None
        match index:
            case c.Binary(op="+", left=left, right=c.Literal() as right) if array.element.size_bytes > 1:
                index, added = left, right
        value = scalars.settled(index)
        if value not in self.indices:
            self.indices[value] = self.namer.take(f"{reference.array}_k")
            if array.element.size_bytes == 1:
                self.parts[self.indices[value]] = self.namer.take(f"{reference.array}_p")
        outer = map(scalars.settled, reference.subscripts[:-1])  # the block stands before what the iteration sets
        row = c.ArrayRef(reference.array, (*outer, c.Literal("0")))
        table = next((t for t in self.tables if t.array is array and t.loops == loops), None)
        if table is None:
            table = _Table(self.namer.take(f"{reference.array}_at"), array, loops)
            self.tables.append(table)
        place = table.place(row, self.indices[value], added)
        return c.ArrayRef(table.name, table.subscripts(place, c.Name(_counter(self.loop))))

    def groups(self, group: str) -> c.For:
        """The loop over groups of iterations with the same rows."""
        width = self.loop.lookups
        first: c.Expr = c.Binary("*", c.Literal(str(width)), c.Name(group))
        indices = self.types.name(INDEX_OF_BYTES, width, 1) if self.parts else self.types.name("int", width, 4)
        loaded: dict[str, str] = {}
        for number, name in enumerate(self.indices.values()):
            ending = str(number) if len(self.indices) > 1 else ""
            loaded[name] = self.namer.fresh(f"k{ending}")
            loaded |= {part: self.namer.fresh(f"p{ending}") for part in self.parts_of(name)}
        items: list[c.Stmt] = [
            c.Decl(indices, vector, (), c.Call(indices, (c.ArrayRef(name, (first,)),)))
            for name, vector in loaded.items()
        ]
        for table in self.tables:
            vector = self.types.name(table.array.element.text, width, table.array.element.size_bytes)
            single = table.array.element.size_bytes == 1
            if single:
                self.types.bytes.add((vector, self.rows[table.array.name]))
            else:
                self.types.lookups.add(vector)
            stores: list[c.Stmt] = []
            for place, (row, name, added) in enumerate(table.found):
                here = self.of_group(row, first)
                which: c.Expr = c.Name(loaded[name])
                if added is not None:
                    which = c.Binary("+", which, added)
                element = vector.removeprefix("polyc_")
                if single:
                    parts = tuple(c.Name(loaded[part]) for part in self.parts_of(name))
                    function = f"{LOOKUP}{self.rows[table.array.name]}_{element}"
                    value = c.Call(function, (c.Unary("&", here), which, *parts))
                else:
                    value = c.Call(f"{LOOKUP}_{element}", (c.Unary("&", here), self.size(table.array), which))
                target = c.Call(vector, (c.ArrayRef(table.name, table.subscripts(place, first)),))
                stores.append(c.ExprStmt(c.Assign("=", target, value)))
            inner: c.Stmt = c.Block(tuple(stores))
            for loop in reversed(table.loops):
                inner = replace(loop, body=inner)
            items += inner.body if isinstance(inner, c.Block) else (inner,)
        end = c.Literal(str(self.count // width))
        start = c.Decl("long", group, (), c.Literal("0"))
        condition = c.Binary("<", c.Name(group), end)
        return c.For(start, condition, c.Postfix("++", c.Name(group)), c.Block(tuple(items)))

    def of_group(self, row: c.ArrayRef, first: c.Expr) -> c.ArrayRef:
        """The row in a group's first iteration."""

        def change(node: c.Node) -> c.Node | None:
            return first if node == c.Name(_counter(self.loop)) else None

        return c.rewrite(row, change)

    def size(self, array: Array) -> c.Expr:
        """The elements of a row."""
        extent, text = self._extent(array)
        known = constant_of(extent)
        return text if known is None else c.Literal(str(known))


def _counter(loop: c.For) -> str:
    assert isinstance(loop.init, c.Decl)
    return loop.init.name


def _extent(loop: c.For) -> int:
    """The iterations of an inner loop, from 0 on."""
    match loop:
        case c.For(init=c.Decl(init=c.Literal(text="0")), condition=c.Binary(op="<", right=c.Literal(text=end))):
            return int(end)
    raise InternalError("an inner loop of one with lookups does not begin at 0")


__all__ = ["LOOKUP", "with_lookups"]
