"""Strides of accesses along a loop: consecutive, gathered or far apart, and what a vector loop gains from them."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import lru_cache, reduce
from math import inf, prod

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.analysis.expressions.facts import is_linear, mentions
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.relations import affs_of, pw_affs_of
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Extension, Mark, Member, Node, Sequence, walk
from polyc.poly import among, greatest_of, least_of, multi_affs_of, set_name, sets
from polyc.records import dataclass

GATHERED = 3
"""No loop is better for it than another."""
SHUFFLED = 4
"""How many elements lie apart, at most, of what is loaded as whole vectors and shuffled."""
FAR = 1000
"""Elements between neighbours of which each has a line of its own."""
LINE = 64
"""Bytes of a line of the caches."""
GAPS = 16
"""Elements between neighbours up to which all that lies between them may be loaded as well."""
UNROLLED = 32
"""Iterations up to which inner loops with constant bounds are left to be unrolled."""


@dataclass(frozen=True, slots=True)
class Strides:
    """How the accesses below move when one loop makes a step."""

    consecutive: int
    still: int
    far: int

    @property
    def gain(self) -> float:
        return 2.0 * self.consecutive + 0.5 * self.still - 3.0 * self.far


def axes_of(members: tuple[Member, ...], program: Program) -> tuple[int, ...]:
    """Positions of one or two parallel loops for threads along x and y: the one that runs along consecutive memory,
    and another one along which some array is consecutive, or else the innermost of the others."""
    found = [strides_of(member, program) for member in members]
    first = max(range(len(members)), key=lambda k: (found[k].gain, k))
    others = sorted((k for k in range(len(members)) if k != first), key=lambda k: (found[k].consecutive > 0, k))
    return (first, *others[-1:])


def is_told_inside(member: Member, program: Program) -> bool:
    """Whether loops inside of a loop say which of its iterations runs, `for g for c in 16 * g … 16 * g + 15`: inside of
    these it has one iteration."""
    for statement, position in statements_below(member, program):
        size = len(statement.loops)
        if position == size - 1:
            continue
        told = isl.Map.from_range(statement.domain).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, position)
        told = told.move_dims(isl.dim_type.in_, position, isl.dim_type.out, 1, size - position - 1)
        if told.is_single_valued():
            return True
    return False


def unrolled_below(band: Band, program: Program) -> bool:
    """Whether the loops below have so few constant iterations that the C compiler unrolls them.

    A 3 x 3 window stays inside: its sum then lives in a register, while each pass over a row would load and store it.
    """
    sizes = usual_sizes(program)
    return band.members[-1].coincident and iterations_below(band.child, program, sizes) <= UNROLLED


def has_uneven_loops(member: Member, around: list[Member], program: Program) -> bool:
    """Whether a loop inside of another one begins or ends where the outer one says, for given loops around both: C
    compilers make no vectors of the outer one.

    math: { (o, m, l) } of their values is not all that { (o, m) } and { (o, l) } allow
    """
    bands = [node for node in walk(program.tree.child) if isinstance(node, Band)]
    below = (node for band in bands if member in band.members for node in walk(band.child))
    for inner in (m for node in below if isinstance(node, Band) for m in node.members):
        both = [isl.UnionMap.from_union_pw_aff(m.schedule) for m in (*around, member, inner)]
        ran = reduce(isl.UnionMap.flat_range_product, both).intersect_domain(program.scop.domain).range()
        if ran.is_empty():
            continue  # a producer's, in a tile
        values = isl.Set.from_union_set(ran).intersect_params(program.scop.known)
        depth = len(around)
        either = (values.eliminate(isl.dim_type.set, depth + k, 1) for k in (0, 1))
        if not reduce(isl.Set.intersect, either).is_subset(values):
            return True
    return False


def iterations_below(node: Node, program: Program, sizes: isl.Set | None = None) -> int:
    """How many iterations the innermost loops of a subtree have in one of the loops around, if these are few."""
    match node:
        case Band(members=members, child=child):
            counts = [iterations(m, program, sizes) for m in members]
            return prod(UNROLLED + 1 if n is None else n for n in counts) * iterations_below(child, program, sizes)
        case Sequence(children=steps):
            return max(
                1,
                sum(
                    iterations_below(s.child, program, sizes)
                    for s in steps
                    if any(isinstance(n, Band) for n in walk(s.child))
                ),
            )
        case Mark(child=child) | Extension(child=child):
            return iterations_below(child, program, sizes)
        case _:
            return 1


def usual_sizes(program: Program) -> isl.Set:
    """The sizes that all calls of a file have: the text has a version for them (`Scop.always`)."""
    scop = program.scop
    sizes = scop.known.align_params(scop.domain.get_space())
    for one in scop.always:
        place = sizes.find_dim_by_name(isl.dim_type.param, one.name)
        if place >= 0 and any(p.name == one.name and p.expr == c.Name(one.name) for p in scop.parameters):
            value = isl.Val.int_from_si(sizes.get_ctx(), one.value)
            sizes = sizes.fix_val(isl.dim_type.param, place, value)
    return sizes


def usual_value(extent: isl.PwAff, program: Program) -> int | None:
    """What an extent is at the sizes that all calls of a file have; None where they leave it open."""
    found = extent.intersect_params(usual_sizes(program))
    low, high = found.min_val(), found.max_val()
    return int(low.to_python()) if low.is_int() and low.eq(high) else None


def iterations(member: Member, program: Program, sizes: isl.Set | None = None) -> int | None:
    """The number of iterations of a loop whose bounds are constants, at some sizes."""
    found = bounds_of(member, program, sizes)
    return None if found is None else found[1] - found[0] + 1


def most_iterations(member: Member, program: Program) -> int | None:
    """The most iterations that a loop has, whatever the sizes: two from `max(0, v)` to `min(n - 1, v + 1)`."""
    ran = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(program.scop.domain).range()
    if ran.is_empty():
        return 0
    values = isl.Set.from_union_set(ran).intersect_params(program.scop.known)
    if not values.is_bounded():
        return None
    width = values.dim_max(0).sub(values.dim_min(0)).max_val()
    return int(width.to_python()) + 1 if width.is_int() else None


def bounds_of(member: Member, program: Program, sizes: isl.Set | None = None) -> tuple[int, int] | None:
    """The first and the last value of a loop whose bounds are constants, at some sizes; (0, -1) where it never runs."""
    values = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(program.scop.domain).range()
    if sizes is not None:
        values = values.intersect_params(sizes)
    if values.is_empty():
        return 0, -1
    one = isl.Set.from_union_set(values)
    low, high = least_of(one, 0), greatest_of(one, 0)
    if not (low.is_int() and high.is_int()):
        return None
    if not (_is_one_number(one.dim_min(0)) and _is_one_number(one.dim_max(0))):
        return None  # it depends on parameters, which arrays bound
    return int(low.to_python()), int(high.to_python())


def _is_one_number(value: isl.PwAff) -> bool:
    """Whether a value is the same at all sizes: `1 - n` where n is 12, too."""
    if value.coalesce().is_cst():
        return True
    low, high = value.min_val(), value.max_val()
    return bool(low.is_int() and high.is_int() and low.eq(high))


def private_across(band: Band, program: Program) -> bool:
    """Whether a private array carries a value between two statements or inner iterations below the band."""
    below = {set_name(s) for s in sets(band.members[0].schedule.domain())}
    for array in program.scop.privatizable:
        for name in below:
            if any(a.array == array for a in program.statements[name].accesses):
                return True
    return False


def private_between(band: Band, program: Program) -> bool:
    """Whether a private array carries a value between two iterations of a band's loops."""
    domain = band.members[0].schedule.domain()
    for array in program.scop.privatizable:
        flow = program.dependences.flow_by_array.get(array)
        inside = None if flow is None else among(flow, domain)
        if inside is not None and not inside.is_subset(within_iteration(inside, band.members)):
            return True
    return False


def makes_no_vectors(instances: isl.UnionSet, program: Program) -> bool:
    """Whether statements compute with complex numbers: compilers make no vectors of their products, which look for NaN
    (C99, Annex G), so that a sum of them is best off in registers, as it was written."""
    accesses = (a for s in sets(instances) for a in program.statements[set_name(s)].accesses)
    return any(program.scop.arrays[a.array].element.kind == "other" for a in accesses)


def gain_of(member: Member, program: Program) -> float:
    """How well the accesses below like the loop innermost, or on neighbouring threads: the more, the better."""
    return strides_of(member, program).gain


def in_rows(member: Member, program: Program) -> bool:
    """Whether the loop makes vectors of what is stored, though what is loaded lies some elements apart in its rows.

    Images of half the size read every second element: compilers load whole vectors, and shuffle them.
    """
    seen = False
    for name, piece in pw_affs_of(member.schedule).items():
        statement, position = program.statements.get(name), dimension_of(piece)
        if statement is None or position is None:
            return False
        for access in statement.accesses:
            if access.loose or not access.exact or not _stays_in_row(access, position):
                return False
            stored = access.kind is not AccessKind.READ
            if stored and step_of(access, position, last_stored(program, statement.name, access)) != 1:
                return False
            seen = seen or stored
    return seen


def subscript_of(access: Access, position: int) -> int | None:
    """The only subscript that moves with a dimension of the statement, by one element a step; None if there is none."""
    moved = {(d, abs(step.to_python()) if step.is_int() else 0) for d, _, step in _moved(access, position)}
    ((subscript, step),) = moved if len(moved) == 1 else ((0, 0),)
    return subscript if step == 1 else None


def _stays_in_row(access: Access, position: int) -> bool:
    """Whether a dimension of the statement moves an access in its last subscript only, by a few elements."""
    return distance(access, position) <= SHUFFLED


def distance(access: Access, position: int) -> int:
    """How many elements lie between those that neighbours along a dimension of a statement access; FAR where that is no
    row of the array's, or not known."""
    if access.loose or not access.exact:
        return FAR
    most = 0
    for d, rank, step in _moved(access, position):
        if d != rank - 1:
            return FAR
        most = max(most, abs(step.to_python()) if step.is_int() else 1)
    return most


def _moved(access: Access, position: int) -> Iterator[tuple[int, int, isl.Val]]:
    """Each subscript that moves with a dimension of the statement: its place, how many there are, its coefficient."""
    for multi in _functions(access):
        rank = multi.dim(isl.dim_type.out)
        for d in range(rank):
            value = multi.get_aff(d)
            if value.involves_dims(isl.dim_type.in_, position, 1):
                yield d, rank, value.get_coefficient_val(isl.dim_type.in_, position)


def subscript_from_right(member: Member, program: Program) -> float:
    """In which subscript of what the statements below write the loop stands, on the average: 0 for the last one."""
    found = [
        rank - 1 - d
        for statement, position in statements_below(member, program)
        for access in statement.accesses
        if access.exact and access.kind is not AccessKind.READ
        for d, rank, _ in _moved(access, position)
    ]
    return sum(found) / len(found) if found else 0.0


def strides_of(member: Member, program: Program, spread: Set[str] = frozenset()) -> Strides:
    """How the accesses of the statements below move with a loop; on a CPU, of those in the most loops alone.

    What runs before and after a sum would outvote it otherwise, though it runs once for all its steps.

    spread: private arrays of which each iteration of the loop has its own, beside its neighbours'
    """
    consecutive = still = far = 0
    for statement, position in _deepest(statements_below(member, program), program):
        for access in statement.accesses:
            if access.kind is AccessKind.READ and any(
                other.ref == access.ref and other.kind is not AccessKind.READ for other in statement.accesses
            ):
                continue
            step = step_of(access, position, last_stored(program, statement.name, access))
            step = 2 if step == 1 and _is_wide(access, program) else step
            step = 1 if access.array in spread else step
            consecutive += step == 1
            still += step == 0
            far += step == 2 or (step == GATHERED and _has_rows(statement, access, position))
    return Strides(consecutive, still, far)


def _has_rows(statement: Statement, access: Access, position: int) -> bool:
    """Whether a dimension of the statement tells the row of a flat array in which data choose, `x[i * 28 + f[t]]`."""
    loop = c.Name(statement.loops[position])
    found = (n for n in c.walk(statement.body) if isinstance(n, c.ArrayRef) and n.ref == access.ref)
    nodes = [list(c.walk(subscript)) for reference in found for subscript in reference.subscripts]
    return any(
        any(isinstance(n, c.ArrayRef) for n in every)
        and any(isinstance(n, c.Binary) and n.op == "*" and loop in (n.left, n.right) for n in every)
        for every in nodes
    )


def goes_along(member: Member, program: Program) -> bool:
    """Whether each step of a loop leads to the next elements or to the same ones, in all that it runs through."""
    seen = False
    for statement, position in statements_below(member, program):
        for access in statement.accesses:
            step = step_of(access, position, last_stored(program, statement.name, access))
            if step not in (0, 1) or (step == 1 and _is_wide(access, program)):
                return False
            seen = seen or step == 1
    return seen


def goes_far(member: Member, program: Program) -> bool:
    """Whether each step of a loop leads to other lines of the cache, and nothing along one.

    Vectors of such elements are put together one by one. Where the distance is a power of two, gcc is even known to
    load all that lies between them, once it is told to make vectors.
    """
    far = False
    inside = (one for one in statements_below(member, program) if one[0].name not in program.copies)
    for statement, position in _deepest(inside, program):
        for access in statement.accesses:
            if leads_far(statement, access, position):
                far = True
                continue
            if _is_wide(access, program):
                far = far or distance(access, position) > 0
                continue
            apart = distance(access, position)
            if step_of(access, position, last_stored(program, statement.name, access)) == 1 or 0 < apart <= SHUFFLED:
                return False
            far = far or apart > SHUFFLED
    return far


def leads_far(statement: Statement, access: Access, position: int) -> bool:
    """Whether an expression in a loop's counter says where an access leads, and to no neighbours, `a[i * (i + 1) / 2 +
    j]` along i. Where data lead to is known to nobody."""
    own = statement.loops[position]
    for node in c.walk(statement.body) if access.loose else ():
        if isinstance(node, c.ArrayRef) and node.ref == access.ref and node.subscripts:
            index = node.subscripts[-1]
            reads = any(own in mentions(n) for n in c.walk(index) if isinstance(n, c.ArrayRef))
            return own in mentions(index) and not reads and not is_linear(index, own)
    return False


def leaps(member: Member, program: Program) -> bool:
    """Whether an access moves by a power of two of elements that is known in advance, to another line, in each step of
    a loop.

    Where a pragma asks for vectors of such elements, gcc loads all that lies between them, and throws it away: with
    512 doubles between them a loop takes ten times as long. With its own model of costs it does not.
    """
    held = {one for buffer in program.buffers.values() for one in buffer.accesses}
    for statement, position in statements_below(member, program):
        for access in statement.accesses:
            if access.exact and not access.loose and (statement.name, access.ref) not in held:
                apart = _elements_apart(access, position, program)
                if apart > GAPS and apart & (apart - 1) == 0:
                    return True
    return False


def bytes_apart(member: Member, program: Program) -> list[float]:
    """How many bytes each access of the statements in the most loops moves by in a step of a loop; infinity where that
    is not known in advance."""
    found: list[float] = []
    for statement, position in _deepest(statements_below(member, program), program):
        for access in statement.accesses:
            elements = _elements_apart(access, position, program) if access.exact and not access.loose else 0
            stays = access.exact and not access.loose and not any(_moved(access, position))
            found.append(elements * program.scop.arrays[access.array].element.size_bytes or (0 if stays else inf))
    return found


def _elements_apart(access: Access, position: int, program: Program) -> int:
    """How many elements an access moves by along a dimension of the statement; 0 where that is not known in advance.
    Sizes that all calls have are known: the text has a version for them."""
    extents = program.scop.arrays[access.array].extents
    total, sizes = 0, usual_sizes(program)
    for d, rank, step in _moved(access, position):
        inner = [None if e is None else _number(e, sizes) for e in extents[d + 1 : rank]]
        if not step.is_int() or None in inner:
            return 0
        total += abs(step.to_python()) * prod(n for n in inner if n is not None)
    return total


def _number(size: isl.PwAff, sizes: isl.Set) -> int | None:
    """A size that is one number at certain sizes."""
    value = size.intersect_params(sizes)
    return value.min_val().to_python() if _is_one_number(value) else None


def _is_wide(access: Access, program: Program) -> bool:
    """Whether each element fills lines of the cache by itself: a struct that has arrays in it."""
    element = program.scop.arrays[access.array].element
    return element.kind == "struct" and not 0 < element.size_bytes <= LINE


def repeats(member: Member, program: Program) -> bool:
    """Whether vectors of a loop compute a call, or a quotient of two operands that change, again that is the same for
    all its iterations, `S[j] / s` of `o[d] += S[j] / s * v[j][d]`, as soon as the loop is not innermost, or is cut:
    compilers take what stays the same out of the innermost loop only."""
    every = (a for s in program.scop.statements.values() for a in s.accesses)
    written = {a.array for a in every if a.kind is not AccessKind.READ}
    below = [statement for statement, _ in statements_below(member, program)]
    own = {a.array for s in below for a in s.accesses if a.kind is not AccessKind.READ}

    def same(node: c.Node, loop: str, others: set[str]) -> bool:
        if isinstance(node, c.ArrayRef):
            return False
        if isinstance(node, c.Call) or (isinstance(node, c.Binary) and node.op == "/"):
            refs = [n for n in c.walk(node) if isinstance(n, c.ArrayRef)]
            change = [ref for ref in refs if mentions(ref) & others or ref.array in written]
            differs = loop in mentions(node) or any(ref.array in own for ref in refs)
            if not differs and len(change) > isinstance(node, c.Binary):
                return True
        return any(same(child, loop, others) for child in c.children(node))

    return any(
        same(statement.body, statement.loops[position], {*statement.loops})
        for statement, position in statements_below(member, program)
        if statement.name not in program.copies
    )


def statements_below(member: Member, program: Program) -> Iterator[tuple[Statement, int]]:
    """The statements that a loop runs through, and the dimension of theirs that it follows."""
    for name, piece in pw_affs_of(member.schedule).items():
        statement, position = program.statements.get(name), dimension_of(piece)
        if statement is not None and position is not None:
            yield statement, position


def _deepest(below: Iterator[tuple[Statement, int]], program: Program) -> list[tuple[Statement, int]]:
    found = list(below)
    most = 0 if program.options.gpu else max((len(statement.loops) for statement, _ in found), default=0)
    return [(statement, position) for statement, position in found if len(statement.loops) >= most]


def dimension_of(piece: isl.PwAff) -> int | None:
    """The statement's dimension that the schedule follows with coefficient 1, if it is just one."""
    if piece.n_piece() != 1:
        return None
    (aff,) = affs_of(piece)
    if aff.dim(isl.dim_type.div):
        return None  # a loop over cells or blocks
    moved = [d for d in range(aff.dim(isl.dim_type.in_)) if aff.involves_dims(isl.dim_type.in_, d, 1)]
    return moved[0] if len(moved) == 1 else None


def last_stored(program: Program, statement: str, access: Access) -> int | None:
    """The subscript along which neighbours lie together, where a buffer has them in another order."""
    for buffer in program.buffers.values():
        if buffer.order and (statement, access.ref) in buffer.accesses:
            return buffer.order[-1]
    return None


@lru_cache(maxsize=4096)
def _functions(access: Access) -> tuple[isl.MultiAff, ...]:
    """The pieces of an exact access: each loop around it asks for them."""
    return tuple(multi_affs_of(access.relation))


@lru_cache(maxsize=4096)
def step_of(access: Access, position: int, last: int | None = None) -> int:
    """0: the cell stays, 1: it moves to the next one in memory, 2: it moves further; GATHERED: as the data say.

    `last`: the subscript along which neighbours lie together, if that is not the last one.
    """
    if access.loose:
        return GATHERED
    if not access.exact:
        return 2
    worst = 0
    for d, rank, coefficient in _moved(access, position):
        if (
            d == (rank - 1 if last is None else last)
            and abs(coefficient.to_python() if coefficient.is_int() else 2) <= 1
        ):
            worst = max(worst, 1)
        else:
            worst = 2
    return worst
