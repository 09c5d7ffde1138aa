"""The order in which the text runs instances is one that the program's tree allows.

math: let x be an instance of the text before y, in the order of its loops and blocks, and let them touch one place, one
      of them by writing. With s(x) and s(y) the steps of the tree's paths to both (values of band members, positions in
      sequences), and k the first step in which these differ,
        s(x)_k < s(y)_k, or step k is a member whose loop is parallel or a vector: it carries no dependence
      (`verify/order/races.py`).
      Most pairs of parts need no set: where the band values of both are the loops around them, in their order, and the
      steps at which they part are in order too. Others are looked at as relations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import islpy as isl

from polyc.analysis.expressions.reader import Value, agree_plainly, substitution
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Member, Step
from polyc.poly import at_sizes, everywhere
from polyc.records import dataclass
from polyc.reread.instances import Image


@dataclass(frozen=True, slots=True, eq=False)
class _Timed:
    """What is asked of a part with each other one."""

    image: Image
    number: int
    straight: tuple[int, ...]
    """For each loop of the text the step whose value it is, -1 where that is not so."""
    reads: frozenset[str]
    writes: frozenset[str]


def order_faults(program: Program, images: Sequence[Image]) -> list[Fault]:
    """Pairs of parts that may run in an order that the tree does not allow."""
    timed = [_timed(program, image, number) for number, image in enumerate(images)]
    found = (_pair(program, one, other) for one, other in _sharing(timed))
    return [fault for fault in found if fault is not None]


def is_free(step: Step | Member) -> bool:
    """Whether the tree's loop carries no dependence."""
    return isinstance(step, Member) and (step.parallel or step.vector) and not step.owned


def _sharing(timed: list[_Timed]) -> Iterator[tuple[_Timed, _Timed]]:
    """Pairs of parts of which one writes what the other touches; each part with itself if it writes."""
    writers: dict[str, list[_Timed]] = {}
    users: dict[str, list[_Timed]] = {}
    for one in timed:
        for array in one.writes:
            writers.setdefault(array, []).append(one)
        for array in one.writes | one.reads:
            users.setdefault(array, []).append(one)
    seen: set[tuple[int, int]] = set()
    for array, mine in writers.items():
        for writer in mine:
            for user in users[array]:
                key = min(writer.number, user.number), max(writer.number, user.number)
                if key not in seen:
                    seen.add(key)
                    yield (writer, user) if writer.number <= user.number else (user, writer)


def _timed(program: Program, image: Image, number: int) -> _Timed:
    accesses = program.statements[image.run.statement].accesses
    reads = frozenset(a.array for a in accesses if a.kind is AccessKind.READ)
    writes = frozenset(a.array for a in accesses if a.kind is not AccessKind.READ)
    straight = tuple(_step_of(image, depth) for depth in range(len(image.part.place.loops)))
    return _Timed(image, number, straight, reads, writes)


def _step_of(image: Image, depth: int) -> int:
    """The step of the path whose value grows with a loop of the text, and with it alone beside those outside of it."""
    for position, (column, step) in enumerate(zip(image.columns, image.run.path.steps, strict=True)):
        if isinstance(step, Step) or not isinstance(column, isl.Aff):
            continue
        if agree_plainly(column, image.reader.loop(depth)) or _grows(column, depth):
            return position
    return -1


def _grows(column: isl.Aff, depth: int) -> bool:
    if column.dim(isl.dim_type.div) or not column.get_coefficient_val(isl.dim_type.in_, depth).is_pos():
        return False
    later = range(depth + 1, column.dim(isl.dim_type.in_))
    return all(column.get_coefficient_val(isl.dim_type.in_, d).is_zero() for d in later)


def _pair(program: Program, one: _Timed, two: _Timed) -> Fault | None:
    """Whether all of the first part's instances that come before ones of the second may do so, and the other way."""
    shared = _shared_loops(one.image, two.image)
    if one.number != two.number and _in_order(one, two, shared):
        return None
    if one.number == two.number and _is_straight(one, len(one.straight), len(one.image.columns)):
        return None
    witness = _turned(program, one.image, two.image, shared)
    if witness is None:
        return None
    names = one.image.run.statement, two.image.run.statement
    return Fault("text", f"the text runs {names[0]} and {names[1]} in another order than the program", witness)


def _shared_loops(one: Image, two: Image) -> int:
    """How many loops of the text stand around both."""
    count = 0
    for a, b in zip(one.part.place.loops, two.part.place.loops, strict=False):
        if a is not b:
            break
        count += 1
    return count


def _comes_first(one: Image, two: Image) -> bool:
    """Whether the first part stands before the second where their ways part."""
    for a, b in zip(one.part.place.way, two.part.place.way, strict=False):
        if a is not b and a != b:
            assert isinstance(a, int)
            assert isinstance(b, int)
            return a < b
    return False


def _in_order(one: _Timed, two: _Timed, shared: int) -> bool:
    """The same for two parts, by their expressions alone; False says nothing.

    They agree in the values of the loops that they share, or those decide; then in steps that are the same for both,
    until one that puts the first part before the second.
    """
    if not _comes_first(one.image, two.image):
        return False
    steps = zip(one.image.run.path.steps, two.image.run.path.steps, strict=False)
    for position, (a, b) in enumerate(steps):
        mine, other = one.image.columns[position], two.image.columns[position]
        if isinstance(a, Step) and isinstance(b, Step):
            if a.index != b.index:
                return a.index < b.index and _is_straight(one, shared, position)
            continue
        if a is not b:
            return False
        if is_free(a) and position not in one.straight[:shared]:
            continue  # where they differ nothing else is asked
        if _is_equal(mine, other, shared):
            continue
        if _is_less(mine, other):
            return _is_straight(one, shared, position)
        return False
    return False


def _is_equal(one: int | Value, two: int | Value, shared: int) -> bool:
    """Whether both are one expression in the loops that both parts have."""
    if not isinstance(one, isl.Aff) or not isinstance(two, isl.Aff):
        return False
    if any(v.involves_dims(isl.dim_type.in_, shared, v.dim(isl.dim_type.in_) - shared) for v in (one, two)):
        return False
    mine, other = (v.drop_dims(isl.dim_type.in_, shared, v.dim(isl.dim_type.in_) - shared) for v in (one, two))
    return agree_plainly(mine, other)


def _is_less(one: int | Value, two: int | Value) -> bool:
    if not isinstance(one, isl.Aff) or not isinstance(two, isl.Aff) or not (one.is_cst() and two.is_cst()):
        return False
    return bool(one.get_constant_val().lt(two.get_constant_val()))


def _is_straight(one: _Timed, loops: int, steps: int) -> bool:
    """Whether of two instances that differ in the outermost `loops` of the text, the earlier one comes first by the
    first `steps` steps of the tree, too, or may be later.

    math: let p(d) be the step whose value is loop d. Then p is defined for all d, steps that are no loop's have one
          value for given values of the loops whose steps come before them, and p grows, but for loops whose steps are
          free: such a step p(d) only has to come before p(e) where loop d is outside of loop e.
    """
    positions = one.straight[:loops]
    path = one.image.run.path.steps
    if any(p < 0 or p >= steps for p in positions) or len(set(positions)) < len(positions):
        return False
    bound = [p for p in positions if not is_free(path[p])]
    if bound != sorted(bound):
        return False
    for d, p in enumerate(positions):
        if is_free(path[p]) and any(q < p for q in positions[d + 1 :] if not is_free(path[q])):
            return False
    last = max(positions, default=-1)
    for k in range(last):
        column = one.image.columns[k]
        if k in positions or isinstance(column, int) or is_free(path[k]):
            continue
        inside = [d for d, p in enumerate(positions) if p > k or is_free(path[p])]
        if not isinstance(column, isl.Aff):
            return False
        outer = len(one.straight) - loops
        if outer and column.involves_dims(isl.dim_type.in_, loops, outer):
            return False
        if any(column.involves_dims(isl.dim_type.in_, d, 1) for d in inside):
            return False
    return True


# --- as relations


def _turned(program: Program, one: Image, two: Image, shared: int) -> str | None:
    """Two instances of which the text runs first what the tree runs later; None where there are none."""
    known = program.scop.known
    pairs = [(one, two)] if one is two else [(one, two), (two, one)]
    for first, second in pairs:
        before = _before(first, second, shared)
        if before is None:
            continue
        for later in _later(first, second):
            # The sizes have pieces of their own: of most pairs nothing is left without them.
            wrong = before.intersect(later)
            wrong = wrong.intersect_domain(first.domain.coalesce()).intersect_range(second.domain.coalesce())
            if wrong.is_empty() or (wrong := at_sizes(wrong, known)).is_empty():
                continue
            for together in _at_one_place(program, first, second):
                found = wrong.intersect(together)
                if not found.is_empty():
                    return str(found.sample())
    return None


def _at_one_place(program: Program, first: Image, second: Image) -> Iterator[isl.Map]:
    """`{ x -> y }`: x and y touch one element of an array, one of them by writing. Copies of it in buffers of different
    tiles count as one."""
    touched: list[list[tuple[Access, isl.Map]]] = []
    for image in (first, second):
        statement = program.statements[image.run.statement]
        instances = substitution(image.reader, image.instance[: len(statement.loops)], statement.domain.get_space())
        relation = instances.relation()
        touched.append([(a, relation.apply_range(_everywhere(program, a, statement.name))) for a in statement.accesses])
    for (one, cells), (two, others) in product(*touched):
        if one.array == two.array and (one.kind is not AccessKind.READ or two.kind is not AccessKind.READ):
            yield cells.apply_range(others.reverse())


def _everywhere(program: Program, access: Access, statement: str) -> isl.Map:
    """The access, also outside of the domain of a statement that runs there."""
    return access.relation if statement not in program.padded else everywhere(access.relation) or access.relation


def _before(first: Image, second: Image, shared: int) -> isl.Map | None:
    """`{ x -> y }`: x of the first part comes before y of the second, in the text."""
    a, b = first.reader.space, second.reader.space
    pairs = isl.Map.universe(a.map_from_domain_and_range(b))
    found: isl.Map | None = None
    for depth in range(shared):
        one = pairs.order_lt(isl.dim_type.in_, depth, isl.dim_type.out, depth)
        found = one if found is None else found.union(one)
        pairs = pairs.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth)
    if first is not second and _comes_first(first, second):
        found = pairs if found is None else found.union(pairs)
    return found


def _later(first: Image, second: Image) -> Iterator[isl.Map]:
    """`{ x -> y }`: x is later than y in the tree, by a loop or a sequence that orders them."""
    equal = isl.Map.universe(first.reader.space.map_from_domain_and_range(second.reader.space))
    for position, (a, b) in enumerate(zip(first.run.path.steps, second.run.path.steps, strict=False)):
        mine, other = first.columns[position], second.columns[position]
        if isinstance(a, Step) and isinstance(b, Step):
            if a.index != b.index:
                if a.index > b.index:
                    yield equal
                return
            continue
        assert not isinstance(mine, int)
        assert not isinstance(other, int)
        x, y = substitution(first.reader, [mine]).relation(), substitution(second.reader, [other]).relation()
        values = x.get_space().range()
        if not is_free(a):
            yield equal.intersect(x.apply_range(isl.Map.lex_gt(values)).apply_range(y.reverse()))
        equal = equal.intersect(x.apply_range(y.reverse()))
    if first is not second:
        yield equal  # at once, and yet one after the other
