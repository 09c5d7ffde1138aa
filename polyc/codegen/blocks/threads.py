"""Regions to which nothing but threads was given: run as they were written where too little is done for these.

An `if` clause that does not hold still calls the loop's own function through the run-time library, about 0.2 us, and
hides the loop from the C compiler's other work: a row of a thousand elements takes half of that.

rewrite:  #pragma omp parallel for if (n > 24000)
          for (...) S;
          ->
          if (polyc_threads(n > 24000)) { #pragma omp parallel for
            for (...) S; } else { for (...) S; }
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from polyc.analysis.expressions.promoted import WHOLE
from polyc.analysis.expressions.selects import is_both
from polyc.analysis.loop_facts import is_as_written, only_parts_loops
from polyc.codegen.loops.exprs import ExprPrinter, build_for, expression
from polyc.codegen.loops.loops import UNROLLED
from polyc.codegen.text.macros import IN_VECTORS, MANY, MAX, MIN, SEVERAL, THREADS
from polyc.machine import load_cpu
from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.scop import AccessKind, Array
from polyc.model.tree import Band, Member, Node, Role, walk
from polyc.poly import box_extents, constant_of, names
from polyc.records import replace

Body = tuple[c.Stmt, ...]
PART = 16
"""Of the work that pays for threads, what pays for the beginning and the end of other loops than were written."""
NARROW = 512
"""Bytes of a row: taken from each row by itself, fewer of them come at half the speed of the whole row."""
CACHED = 2
"""Times the last cache, up to which one thread gains nothing by strips of rows: what whole rows meet again comes from
there, and their loops are longer (a triangular system, backwards: 0.6 of the time as written at 5 MB, 2.0 at 32 MB)."""


def asked_of_threads(program: Program, body: Body) -> tuple[Body, list[c.Expr]]:
    """The printed loops, without `if` clauses where they would ask the same again, and the conditions.

    With several parallel loops, the region runs where one of them is worth its threads. One thread runs what was
    written, but for loops of which the C compiler is told that they may run in vectors, and where they were changed. A
    region that was changed for the good of one thread, too, runs from a part of that work on.
    """
    if not _is_asked(program) or not (all(map(_in_threads, body)) or _is_parted(program)):
        return body, []
    helped = any(map(_is_helped, body))
    started = [n.worth for item in body for n in c.walk(item) if isinstance(n, c.For | c.ExprStmt) and _is_parallel(n)]
    asked = [worth for worth in dict.fromkeys(started) if worth is not None]
    every = asked if None not in started else []
    enough: list[c.Expr] = []
    if asked and None not in started:
        if is_for_one_thread(program) or helped:
            asked = [_part(worth) for worth in asked]
        elif len(asked) == 1:
            body = tuple(c.rewrite(item, _without) for item in body)
        enough.append(c.Call(THREADS, (reduce(lambda one, two: c.Binary("||", one, two), _weakest(asked)),)))
    in_vectors = any(isinstance(node, c.For) and _is_vector(node) for item in body for node in c.walk(item))
    asked_anyway = program.scop.search is not None  # how many threads a search needs (`ranges.py`)
    alike = not (in_vectors or helped) and _is_for_threads(program) and is_as_written(program)
    if started and not asked_anyway and (alike or _is_tiled_for_threads(program)):
        enough.append(c.Call(SEVERAL, ()))
    elif started and not asked_anyway and (width := _width_of_strips(program)):
        wanted: c.Expr = c.Call(MANY if width < NARROW else SEVERAL, ())
        if every:  # with one tile, or less to do, they start no threads, however many there are
            wanted = c.Binary("&&", reduce(lambda one, two: c.Binary("||", one, two), every), wanted)
        wanted = wanted if width < NARROW else _or_large(wanted, program)
        enough.append(wanted if isinstance(wanted, c.Call) else c.Call(THREADS, (wanted,)))
    return body, enough


def _weakest(asked: list[c.Expr]) -> list[c.Expr]:
    """The conditions without those that others follow from: `n > 2000` for `n > 2000 || n > 16250`."""
    found: dict[c.Expr, c.Expr] = {}
    for worth in asked:
        limit, of = _limit(worth), worth.left if isinstance(worth, c.Binary) else worth
        known = _limit(found.get(of, worth))
        if limit is None or known is None:
            found[worth] = worth
        elif limit <= known:
            found[of] = worth
    return list(found.values())


def _limit(worth: c.Expr) -> int | None:
    """24000 of `n > 24000`."""
    match worth:
        case c.Binary(op=">", right=c.Literal(text=text)) if text.isdigit():
            return int(text)
    return None


def _part(worth: c.Expr) -> c.Expr:
    """A condition that holds for a part of the work: `n > 750` for `n > 12000`."""
    if isinstance(worth, c.Binary) and worth.op == "&&":  # several tiles are for threads alone
        return _part(worth.right)
    limit = _limit(worth)
    if limit is None or not isinstance(worth, c.Binary):
        return worth
    return replace(worth, right=c.Literal(str(limit // PART)))


def _is_parallel(node: c.For | c.ExprStmt) -> bool:
    return any(pragma.startswith("omp parallel") for pragma in node.pragmas)


def _is_narrowed(node: c.Node) -> bool:
    """Whether conditions on a loop's counter, `if (x + dx < 0) continue;`, are bounds of the loop."""
    bounds = (node.init, node.condition) if isinstance(node, c.For) else ()
    calls = (n.function for bound in bounds if bound is not None for n in c.walk(bound) if isinstance(n, c.Call))
    return not {MIN, MAX}.isdisjoint(calls)


def _is_helped(item: c.Stmt) -> bool:
    """Whether C compilers do more with a text, though its loops are in their order: with choices in vector loops, and
    with loops whose conditions became bounds, but for short ones, which they write out where these are constant."""
    loops = [node for node in c.walk(item) if isinstance(node, c.For)]
    short = [loop for loop in loops if loop.pragmas == (UNROLLED,)]
    inside = [inner for loop in loops for inner in c.walk(loop.body) if isinstance(inner, c.For)]
    if any(_is_narrowed(inner) and inner.pragmas != (UNROLLED,) for inner in inside):
        return True
    scalar = any(map(_is_narrowed, short))
    calls = {node.function for node in c.walk(item) if isinstance(node, c.Call)}
    return not scalar and (not calls.isdisjoint((WHOLE, *IN_VECTORS)) or any(map(is_both, c.walk(item))))


def _is_vector(node: c.For) -> bool:
    return any("simd" in pragma for pragma in node.pragmas)


def _without(node: c.Node) -> c.Node | None:
    if isinstance(node, c.For) and node.worth is not None and _is_parallel(node):
        return replace(node, worth=None, body=c.rewrite(node.body, _without))
    return None


def _in_threads(item: c.Node) -> bool:
    """Whether each nest of a statement has a parallel loop: others may have loops that changed places, to the good of
    one thread."""
    if not isinstance(item, c.For):
        return all(map(_in_threads, c.children(item)))
    inside = [node for node in c.walk(item.body) if isinstance(node, c.For)]
    return _is_parallel(item) or not inside or (any(map(_is_parallel, inside)) and _in_threads(item.body))


def _is_asked(program: Program) -> bool:
    """Whether the loops as they were written are to run where there is little to do. Who marked a region wants it as it
    became, but for loops to which nothing else was given, and for strips by which one thread gains nothing."""
    options = program.options
    if options.target != "openmp" or options.threads != "auto":
        return False
    plain = _is_for_threads(program) and is_as_written(program)
    return program.scop.unmarked or plain or _width_of_strips(program) > 0


def _is_parted(program: Program) -> bool:
    """Whether loops were parted for the sake of threads in some of them: one thread gains nothing by the others."""
    return program.scop.unmarked and _is_for_threads(program) and only_parts_loops(program)


def is_for_one_thread(program: Program) -> bool:
    """Whether the loops were changed, which one thread may gain by as well."""
    return not (_is_for_threads(program) or is_as_written(program))


def _is_for_threads(program: Program) -> bool:
    """Whether nothing was done to the loops but that they were joined, parted or exchanged, and run in parallel."""
    if program.copies:
        return False
    arrays, buffers = program.scop.arrays, program.buffers.values()
    if not all(_is_whole(buffer, arrays[buffer.array]) for buffer in buffers):
        return False
    if any(arrays[buffer.array].rank for buffer in buffers) and not is_as_written(program):
        return False  # else an iteration has arrays of its own in the loops as they were written, too
    members = [m for node in walk(program.tree.child) if isinstance(node, Band) for m in node.members]
    return not any(
        m.role is not Role.LOOP or m.lanes or m.lookups or m.past_caches or m.owned or m.atomics for m in members
    )


def _is_tiled_for_threads(program: Program) -> bool:
    """Whether all that was done are skewed tiles by which one thread gains nothing (`cost/time_sizes.py`), and no rows
    run at once in them."""
    if any(r.code == "interleaved" for r in program.remarks):
        return False
    tiled = [r for r in program.remarks if r.code == "time-tiled"]
    done = {name for r in tiled for name in r.statements if r.data.get("only for threads")}
    return bool(done) and done >= program.scop.statements.keys()


def _width_of_strips(program: Program) -> int:
    """Bytes of the parts of rows that tiles take for the sake of threads, one row after the other, if all of them do: a
    thread fetches what lies apart. Of narrow ones at half the speed of whole rows, so that two threads gain nothing."""
    tiles = [
        (node, m) for node in _bands(program.tree.child) for m in node.members if m.role is Role.TILE and m.parallel
    ]
    widths = [_width(band, tile, program) if len(band.members) == 1 else 0 for band, tile in tiles]
    return max(widths) if widths and all(widths) else 0


def _width(band: Band, tile: Member, program: Program) -> int:
    """Bytes of a row in a tile, if all vector loops below go along the tile, and sequential ones stand around some of
    them; else 0."""
    below = list(_bands(band.child))
    innermost = [node.members[-1] for node in below if not any(_bands(node.child))]
    rows = [m for node in below for m in node.members if not (m.name == tile.name and m.vector)]
    arrays = (
        program.scop.arrays[a.array]
        for name in names(tile.schedule.domain())
        for a in program.statements[name].accesses
    )
    width = tile.size * max((array.element.size_bytes for array in arrays if array.rank), default=0)
    along = all(m.name == tile.name and m.vector for m in innermost)
    written = [program.scop.statements[n].loops for n in names(tile.schedule.domain()) if n in program.scop.statements]
    along &= all(loops[-1] == tile.name for loops in written)  # so that one thread takes whole rows
    return width if along and rows and all(m.role is not Role.REGISTER for m in rows) else 0


def _or_large(wanted: c.Expr, program: Program) -> c.Expr:
    """Whether a condition on threads holds, or the largest array that is written exceeds `CACHED`, if that is known."""
    scop = program.scop
    written = [a for s in scop.statements.values() for a in s.accesses if a.exact and a.kind is not AccessKind.READ]
    sizes = [box_extents(a.relation.range(), scop.known) for a in written]
    largest = max((one for one in sizes if one), key=len, default=[])
    if not largest or None in sizes:
        return wanted
    cache = load_cpu(program.options.machine).levels[-1].bytes
    element = max(scop.arrays[a.array].element.size_bytes for a in written)
    build, printer = build_for(scop, scop.context), ExprPrinter(scop.parameters, {})
    factors = [c.Literal("1.0"), *(printer.convert(expression(build, extent)) for extent in largest)]
    amount = reduce(lambda left, right: c.Binary("*", left, right), factors)
    large = c.Binary(">", amount, c.Literal(str(CACHED * cache // element)))
    return c.Binary("||", wanted, large)


def _bands(node: Node) -> Iterator[Band]:
    return (inner for inner in walk(node) if isinstance(inner, Band))


def _is_whole(buffer: Buffer, array: Array) -> bool:
    """Whether a buffer is no smaller than what it stands for."""
    if buffer.storage == "private":
        return True
    sizes = [None if extent is None else constant_of(extent) for extent in array.extents]
    return buffer.storage == "tile" and None not in sizes and [constant_of(one) for one in buffer.extents] == sizes


__all__ = ["asked_of_threads", "is_for_one_thread"]
