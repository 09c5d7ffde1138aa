"""Loops whose results no cache holds: into a row first, and the row past the caches.

    for (long j = 0; j < 2048; j++) out[i][j] = f(in[i][j]);

is what the tree says, and what the check of the text reads. It is printed as

    float out_row[2048];
    for (long j = 0; j < 2048; j++) out_row[j] = f(in[i][j]);
    polyc_stream(&out[i][0], &out_row[0], 2048 * sizeof(float));

A plain store reads the line that it changes; a whole line that is stored past the caches is not read. A row takes no
more than a part of the first level: longer loops run in parts. `read_streams.py` shows that both are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from polyc.analysis.expressions.linear import Linear, linear, with_value
from polyc.codegen.loops.loops import LINE_BYTES, taken_names
from polyc.codegen.loops.naming import Namer
from polyc.codegen.text.macros import MIN
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import CType
from polyc.model.tree import Band, walk
from polyc.records import dataclass, field, replace

STREAM, FENCE = "polyc_stream", "polyc_fence"
PARALLEL = "omp parallel for"
ROW_BYTES = 16384
"""Of all rows of a loop, that they are kept whole up to: a third of a first level."""
PART_BYTES = 8192
"""Of those of a part of a longer loop."""
STREAMING = f"""/* Writes a row to memory without reading its lines of 64 bytes into a cache first. */
#if (defined(__GNUC__) || defined(__clang__)) && defined(__SSE2__) \\
    && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define {STREAM}(to, from, bytes) __extension__({{ \\
    typedef float polyc_line __attribute__((vector_size(polyc_bytes), may_alias)); \\
    char *polyc_to = (char *)(to); const char *polyc_from = (const char *)(from); \\
    long polyc_n = (long)(bytes), polyc_k = (long)(-(unsigned long)polyc_to % 64); \\
    if (polyc_n > 0) {{ \\
      if (polyc_k > polyc_n) polyc_k = polyc_n; \\
      __builtin_memcpy(polyc_to, polyc_from, (unsigned long)polyc_k); \\
      for (; polyc_k + 64 <= polyc_n; polyc_k += 64) \\
        for (int polyc_l = 0; polyc_l < 64; polyc_l += polyc_bytes) {{ \\
          polyc_line polyc_v; \\
          __builtin_memcpy(&polyc_v, polyc_from + polyc_k + polyc_l, polyc_bytes); \\
          polyc_put(polyc_to + polyc_k + polyc_l, polyc_v); \\
        }} \\
      __builtin_memcpy(polyc_to + polyc_k, polyc_from + polyc_k, (unsigned long)(polyc_n - polyc_k)); \\
    }} \\
  }})
#define {FENCE}() __builtin_ia32_sfence()
#ifdef __AVX512F__
#define polyc_bytes 64
#define polyc_put(to, line) __builtin_ia32_movntps512((float *)(to), line)
#elif defined(__AVX__)
#define polyc_bytes 32
#define polyc_put(to, line) __builtin_ia32_movntps256((float *)(to), line)
#else
#define polyc_bytes 16
#define polyc_put(to, line) __builtin_ia32_movntps((float *)(to), line)
#endif
#ifdef __clang__
#undef polyc_put
#define polyc_put(to, line) __builtin_nontemporal_store(line, (polyc_line *)(to))
#endif
#else
#define {STREAM}(to, from, bytes) __builtin_memcpy(to, from, (long)(bytes) > 0 ? (bytes) : 0)
#define {FENCE}() ((void)0)
#endif"""
"""A copy of some bytes, none where the number is negative: whole lines past the caches where the compiler has that."""


class _Plain(Exception):
    """A loop stays as it is: its stores are no rows."""


def with_rows(body: Iterable[c.Stmt], program: Program) -> tuple[c.Stmt, ...]:
    """The statements, notes and all, with rows that are stored past the caches."""
    items = tuple(body)
    bands = [node for node in walk(program.tree.child) if isinstance(node, Band)]
    if not any(member.past_caches for band in bands for member in band.members):
        return items
    nodes = [n for item in items for n in c.walk(item)]
    wide = frozenset(n.init.name for n in nodes if isinstance(n, c.For) and isinstance(n.init, c.Decl))
    namer = Namer(taken_names(program) | {n.name for n in nodes if isinstance(n, c.Decl)})
    types = {a.printed_name: a.element for a in program.scop.arrays.values()}

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.For) or not node.nontemporal:
            return None
        plain = replace(node, nontemporal=(), large=None)
        try:
            block = _Loop(node, types, namer, wide).printed()
        except _Plain:
            return plain
        return block if node.large is None else c.Block((c.Note("nontemporal"), c.If(node.large, block, plain)))

    return tuple(item for one in items for item in _fenced(c.rewrite(one, change)))


def streams(node: c.Node) -> bool:
    """Whether rows are stored past the caches in it."""
    return any(isinstance(n, c.Call) and n.function == STREAM for n in c.walk(node))


def _fenced(item: c.Stmt) -> Iterator[c.Stmt]:
    """A statement of the region with fences, so that whoever comes after a thread's iterations sees what it stored.

    Stores past the caches are seen in no order; the end of a parallel loop does not wait for them.
    """
    fence = c.ExprStmt(c.Call(FENCE, ()))

    def is_parallel(node: c.Node) -> bool:
        return isinstance(node, c.For) and any(p.startswith(PARALLEL) for p in node.pragmas)

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.For) or not is_parallel(node) or not streams(node):
            return None
        return replace(node, body=c.Block((node.body, fence)))  # `without_braces` opens it

    yield c.rewrite(item, change)
    if streams(c.rewrite(item, lambda node: c.Empty() if is_parallel(node) else None)):  # by the thread that is left
        yield fence


def without_braces(items: Iterable[c.Stmt]) -> tuple[c.Stmt, ...]:
    """The statements, of which none is a note, without a block of its own before a fence."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Block(body=(c.Block(body=inside), c.ExprStmt(expr=c.Call(function=function)) as fence)) if (
                function == FENCE
            ):
                return c.rewrite(c.Block((*inside, fence)), change)
        return None

    return tuple(c.rewrite(item, change) for item in items)


@dataclass(slots=True)
class _Row:
    """One element of each iteration of the loop, or several neighbours."""

    array: str
    element: CType
    places: tuple[c.Expr, ...]
    """The subscripts but the last one."""
    last: Linear
    """The last one, without its constant."""
    loops: tuple[c.For, ...]
    """Loops of a few iterations around the store."""
    constants: list[int] = field(default_factory=list)
    name: str = ""

    @property
    def step(self) -> int:
        return len(self.constants)

    @property
    def copies(self) -> int:
        return prod(_count(loop) for loop in self.loops)


@dataclass(slots=True)
class _Loop:
    loop: c.For
    types: dict[str, CType]
    namer: Namer
    wide: frozenset[str]
    rows: list[_Row] = field(default_factory=list)
    stores: dict[int, tuple[_Row, int]] = field(default_factory=dict)
    """Of the store's target: its row, and its constant."""

    @property
    def counter(self) -> str:
        assert isinstance(self.loop.init, c.Decl)
        return self.loop.init.name

    def printed(self) -> c.Block:
        """The block that stands for the loop. Raises _Plain."""
        loop = self.loop
        match loop:
            case c.For(
                init=c.Decl(name=name, init=c.Literal() | c.Name() | c.Binary() | c.Call() as start),
                condition=c.Binary(op="<", left=c.Name(name=compared), right=end),
                step=c.Postfix(op="++"),
            ) if name == compared:
                pass
            case _:
                raise _Plain
        self.collect(loop.body, ())
        self.check()
        bytes_each = sum(row.element.size_bytes * row.step * row.copies for row in self.rows)
        bound = at_most(start, end)
        for row in self.rows:
            row.name = self.namer.take(f"{c.as_word(row.array)}_row")
        if bound is not None and bound * bytes_each <= ROW_BYTES:
            return c.Block((c.Note("nontemporal"), *self.rowwise(start, end, bound)))
        part = max(LINE_BYTES, PART_BYTES // bytes_each // LINE_BYTES * LINE_BYTES)
        first, stop = self.namer.take(f"{self.counter}p"), self.namer.take(f"{self.counter}e")
        size = c.Literal(str(part))
        until = c.Call(MIN, (end, c.Binary("+", c.Name(first), size)))
        inside = (c.Decl("const long", stop, (), until), *self.rowwise(c.Name(first), c.Name(stop), part))
        around = c.For(
            c.Decl("long", first, (), start),
            c.Binary("<", c.Name(first), end),
            c.Assign("+=", c.Name(first), size),
            c.Block(inside),
        )
        return c.Block((c.Note("nontemporal"), around))

    def collect(self, node: c.Stmt, loops: tuple[c.For, ...]) -> None:
        """The rows that the body stores in each iteration."""
        match node:
            case c.Block(body=items):
                for item in items:
                    self.collect(item, loops)
            case c.For() if _count(node):
                self.collect(node.body, (*loops, node))
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=array) as target)):
                if array in self.loop.nontemporal and target.subscripts:
                    self.add(target, loops)

    def add(self, target: c.ArrayRef, loops: tuple[c.For, ...]) -> None:
        *places, end = target.subscripts
        last = linear(end)
        constant, last = last.constant, replace(last, constant=0)
        for row in self.rows:
            if (row.array, row.places, row.loops) == (target.array, (*places,), loops) and row.last.is_same(last):
                break
        else:
            row = _Row(target.array, self.types[target.array], (*places,), last, loops)
            self.rows.append(row)
        row.constants.append(constant)
        self.stores[id(target)] = row, constant

    def check(self) -> None:
        """Whether all that the loop does with the arrays are these stores, and each row is one of its elements, without
        holes. Raises _Plain."""
        own = {n.name for n in c.walk(self.loop.body) if isinstance(n, c.Decl)}
        references = [n for n in c.walk(self.loop.body) if isinstance(n, c.ArrayRef)]
        if any(n.array in self.loop.nontemporal and id(n) not in self.stores for n in references) or not self.rows:
            raise _Plain
        if any(isinstance(n, c.Name) and n.name in self.loop.nontemporal for n in c.walk(self.loop.body)):
            raise _Plain
        for row in self.rows:
            counters = {_counter(loop) for loop in row.loops}
            named = {n.name for place in row.places for n in c.walk(place) if isinstance(n, c.Name)}
            named |= {n.array for place in row.places for n in c.walk(place) if isinstance(n, c.ArrayRef)}
            inner = {n.name for term, _ in row.last.terms for n in c.walk(term) if isinstance(n, c.Name)}
            if self.counter in named or (named - counters) & own or inner & own:
                raise _Plain
            rest = Linear(tuple(pair for pair in row.last.terms if pair[0] != c.Name(self.counter)), 0)
            if rest.mentions(self.counter) or row.last.factor(self.counter) != row.step or not row.element.size_bytes:
                raise _Plain
            least = min(row.constants)
            if sorted(row.constants) != list(range(least, least + row.step)):
                raise _Plain
        for number, row in enumerate(self.rows):
            for other in self.rows[:number]:
                if row.array == other.array and not apart(row.places, other.places):
                    raise _Plain

    def rowwise(self, start: c.Expr, end: c.Expr, count: int) -> Iterator[c.Stmt]:
        """The loop from start to end, at most `count` iterations, with its rows around it."""
        for row in self.rows:
            pad = LINE_BYTES // row.element.size_bytes if row.loops else 0
            extents = (*(_count(loop) for loop in row.loops), count * row.step + pad)
            literals = tuple(c.Literal(str(extent)) for extent in extents)
            yield c.Decl(row.element.text, row.name, literals, aligned=LINE_BYTES)
        assert isinstance(self.loop.init, c.Decl)
        assert isinstance(self.loop.condition, c.Binary)
        from_here = linear(c.Name(self.counter)).plus(linear(start), -1)

        def change(node: c.Node) -> c.Node | None:
            if id(node) not in self.stores:
                return None
            row, constant = self.stores[id(node)]
            place = Linear((), constant - min(row.constants)).plus(from_here, row.step)
            return c.ArrayRef(row.name, (*self.counters(row), place.expr(self.wide | {_name(start)})))

        yield replace(
            self.loop,
            init=replace(self.loop.init, init=start),
            condition=replace(self.loop.condition, right=end),
            body=c.rewrite(self.loop.body, change),
            nontemporal=(),
            large=None,
        )
        for row in self.rows:
            yield self.call(row, start, end)

    def counters(self, row: _Row) -> tuple[c.Expr, ...]:
        return tuple(c.Name(_counter(loop)) for loop in row.loops)

    def call(self, row: _Row, start: c.Expr, end: c.Expr) -> c.Stmt:
        least = Linear(row.last.terms, min(row.constants))
        first = linear(with_value(least.expr(self.wide), self.counter, start))
        to = c.ArrayRef(row.array, (*row.places, first.expr(self.wide | {_name(start)})))
        found = c.ArrayRef(row.name, (*self.counters(row), c.Literal("0")))
        length = linear(end).plus(linear(start), -1)
        elements = Linear((), 0).plus(length, row.step).expr(self.wide | {_name(start), _name(end)})
        size = c.Binary("*", elements, c.SizeOf(row.element.text))
        call: c.Stmt = c.ExprStmt(c.Call(STREAM, (c.Unary("&", to), c.Unary("&", found), size)))
        for loop in reversed(row.loops):
            call = replace(loop, body=call, pragmas=())
        return call


def at_most(start: c.Expr, end: c.Expr) -> int | None:
    """How many iterations there are at most from start to end, if that is known: minima are less than their parts."""
    if isinstance(end, c.Call) and end.function == MIN:
        found = [n for n in (at_most(start, argument) for argument in end.arguments) if n is not None]
        return min(found, default=None)
    length = linear(end).plus(linear(start), -1)
    return None if length.terms else max(length.constant, 0)


def apart(one: tuple[c.Expr, ...], other: tuple[c.Expr, ...]) -> bool:
    """Whether elements with these subscripts before the last one are never the same: two differ by a constant."""
    differences = [linear(a).plus(linear(b), -1) for a, b in zip(one, other, strict=True)]
    return any(not d.terms and d.constant for d in differences)


def _name(expr: c.Expr) -> str:
    return expr.name if isinstance(expr, c.Name) else ""


def _counter(loop: c.For) -> str:
    assert isinstance(loop.init, c.Decl)
    return loop.init.name


def _count(loop: c.For) -> int:
    """The iterations of a loop from 0 to a few; 0 for others."""
    match loop:
        case c.For(
            init=c.Decl(name=name, init=c.Literal(text="0")),
            condition=c.Binary(op="<", left=c.Name(name=compared), right=c.Literal(text=end)),
            step=c.Postfix(op="++"),
        ) if name == compared and end.isdigit():
            return int(end)
    return 0
