"""Which nests are streams of sums: `y[i] += f(A[i][j], x[j])`, in which nothing but the sum itself is met again."""

from __future__ import annotations

from enum import Enum

import islpy as isl

from polyc.machine import Cpu, load_cpu
from polyc.model.program import Options, Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Member, Node, Role, Sequence
from polyc.nests.contractions import contraction_of, extent_of
from polyc.nests.nest import NOWHERE, Outer, chain_to_leaf
from polyc.nests.strides import UNROLLED, dimension_of, last_stored, step_of, strides_of
from polyc.nests.tiling import moves, shared_among
from polyc.poly import affine_of, names, value_on
from polyc.records import dataclass

LINE_BYTES = 64
LONG_WINDOW = 40
"""Iterations from which on a window is no shorter sum than others: C compilers do not write it out."""
ROWS, COLUMNS = 64, 512
"""Iterations of the outer loop that a thread takes at a time: rows of long sums, and neighbours in memory."""


class Form(Enum):
    """Which of the loops is repeated in registers."""

    ROWS = "rows"
    """`y[i] += A[i][j] * x[j]`: several i at once, each with its own sum in a register."""
    COLUMNS = "columns"
    """`y[i] += A[j][i] * x[j]`: a vector of i, and several j for each of its loads and stores."""


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """One statement that adds into cells of one array, in a nest of a coincident loop and of loops that sum up.

    math: W is the cell that is written. The loop p is coincident and moves W, no loop of the chain does: each cell adds
          up its values in the order of the chain, whatever the other cells do meanwhile
    """

    statement: str
    array: str
    form: Form
    chain: tuple[Member, ...]
    """The loops that sum up, outermost first."""
    result: tuple[Access, ...]
    """Reads and writes of the cell that it adds into."""


@dataclass(frozen=True, slots=True, eq=False)
class SumNest:
    """`for outer for p { steps }` in which some steps are sums over loops of their own."""

    outer: tuple[Member, ...]
    along: Member
    """The coincident loop p."""
    sums: dict[str, Sum]


def streams(options: Options) -> bool:
    """Whether polyc chooses tiles by itself: a user's sizes stay what they are."""
    return not options.gpu and options.tile_sizes == "auto" and options.fuse == "basteln"


def sum_nest(program: Program, band: Band, outer: Outer | None = NOWHERE) -> SumNest | None:
    """The sums that a band runs, if it is a nest of them and no contraction.

    outer: the loops above. A sum may read cells of its own array that no iteration of the band writes while they stay
           what they are; None: whatever it reads there, since the band is still to be cut
    """
    prefix = band.coincident_prefix
    if not prefix or any(m.role in (Role.TILE, Role.REGISTER) for m in band.members):
        return None
    if contraction_of(program, band) is not None:
        return None
    around, along, inner = band.members[: prefix - 1], band.members[prefix - 1], band.members[prefix:]
    found: dict[str, Sum] = {}
    for name, chain in _steps(band, inner):
        one = _sum_of(program, name, around, along, chain, outer)
        if one is not None:
            found[name] = one
    return SumNest(around, along, found) if found else None


def sums_in_vectors(program: Program, inner: Member) -> bool:
    """Whether C compilers make vectors of a loop that sums up: of whole numbers, in any order, along a row."""
    arrays, strides = program.scop.arrays, strides_of(inner, program)
    statements = [program.statements[name] for name in names(inner.schedule.domain())]
    written = [arrays[a.array] for s in statements for a in s.accesses if a.kind is not AccessKind.READ]
    if not inner.coincident and any(a.rank and a.name in program.scop.privatizable for a in written):
        return False  # no sum: what one iteration leaves in a private array is read by the next ones
    return strides.consecutive > 0 and not strides.far and all(a.element.kind == "int" for a in written)


def chains(machine: Cpu) -> int:
    """How many sums have to run at once, so that none waits for its last addition: a power of two.

    Eight at least: a machine that has few units for its widest vectors still runs several scalar additions in a cycle.
    """
    least = machine.fma_latency_cycles * machine.fma_per_cycle
    count = 8
    while count < least and count < 16:
        count *= 2
    return count


def tile_of_sums(program: Program, nest: SumNest, blocked: bool = False) -> int:
    """How many iterations of its coincident loop a thread takes at a time.

    blocked: the values that it adds up come from a cache, so that short rows of them are as good as long ones
    """
    machine = load_cpu(program.options.machine)
    size, least = ROWS, chains(machine)
    if any(s.form is Form.COLUMNS for s in nest.sums.values()):
        size, least = COLUMNS // 4 if blocked else COLUMNS, ROWS
    extents = [extent_of(program, nest.along, name) for name in nest.sums]
    return shared_among(machine, size, least, max((e for e in extents if e is not None), default=None))


def _steps(band: Band, inner: tuple[Member, ...]) -> list[tuple[str, tuple[Member, ...]]]:
    """Each statement below a band that is alone in its step, with the loops around it there."""
    if not isinstance(band.child, Sequence):
        own = names(isl.UnionMap.from_union_pw_aff(band.members[0].schedule).domain())
        chain = _chain(band.child)
        return [(own[0], inner + chain)] if len(own) == 1 and chain is not None else []
    if inner:
        return []
    found = []
    for step in band.child.children:
        own, chain = names(step.filter), _chain(step.child)
        if len(own) == 1 and chain:
            found.append((own[0], chain))
    return found


def _chain(node: Node) -> tuple[Member, ...] | None:
    found = chain_to_leaf(node)
    return None if found is None or any(m.role in (Role.TILE, Role.REGISTER) for m in found) else found


def _sum_of(
    program: Program,
    name: str,
    outer: tuple[Member, ...],
    along: Member,
    chain: tuple[Member, ...],
    above: Outer | None,
) -> Sum | None:
    statement = program.statements.get(name)
    if statement is None or not chain or name in program.copies or name in program.padded or statement.opaque:
        return None
    written = [a for a in statement.accesses if a.kind is not AccessKind.READ]
    if len(written) != 1 or written[0].kind is not AccessKind.WRITE or not all(a.exact for a in statement.accesses):
        return None
    (target,) = written
    same = [a for a in statement.accesses if a.array == target.array]
    result = tuple(a for a in same if a.relation.is_equal(target.relation))
    reads = [a for a in statement.accesses if a not in result and a.relation.dim(isl.dim_type.out)]
    if not target.relation.dim(isl.dim_type.out) or len(result) < 2 or not reads:
        return None
    if above is not None and len(result) < len(same) and not _keeps_to_itself(statement, target, along, above):
        return None
    if not moves(target.relation, along) or any(moves(target.relation, m) for m in chain):
        return None
    iterations = 1
    for member in chain:
        iterations *= extent_of(program, member, name) or UNROLLED + 1
    found = _form(program, statement, along, chain[-1], target, reads)
    if found is None or iterations <= UNROLLED:
        return None
    form, apart = found
    short = iterations < LONG_WINDOW or len(chain) > 1
    if not apart and short and not any(_meets_once(a, statement, (*outer, along, *chain)) for a in reads):
        return None  # a window, which tiles serve better
    return Sum(name, target.array, form, chain, result)


def _keeps_to_itself(statement: Statement, target: Access, along: Member, above: Outer) -> bool:
    """Whether a sum reads no cell that it writes, but each instance its own one by the references to it.

    math: for R the other references to the array: R . W^-1 is empty in each iteration of the loops above
    """
    own = along.schedule.domain()
    others = [a for a in statement.accesses if a.array == target.array and not a.relation.is_equal(target.relation)]
    written = isl.UnionMap.from_map(target.relation).intersect_domain(own).reverse()
    read = [isl.UnionMap.from_map(a.relation).intersect_domain(own) for a in others]
    return all(above.same_iteration(r.apply_range(written)).is_empty() for r in read)


def _meets_once(access: Access, statement: Statement, loops: tuple[Member, ...]) -> bool:
    """Whether each iteration of the nest reads another cell, for one of the loops around it."""
    space = statement.domain.get_space()
    own = {dimension_of(value_on(member.schedule, space)) for member in loops}
    around = isl.Map.identity(space.map_from_set()).reset_tuple_id(isl.dim_type.out)
    for d in reversed(range(space.dim(isl.dim_type.set))):
        if d in own:
            around = around.project_out(isl.dim_type.out, d, 1)
    return bool(access.relation.reset_tuple_id(isl.dim_type.out).flat_range_product(around).is_injective())


def _form(
    program: Program, statement: Statement, along: Member, inner: Member, target: Access, reads: list[Access]
) -> tuple[Form, bool] | None:
    """COLUMNS where neighbours along p are neighbours in memory, ROWS where those along the sum are, or nothing is;
    whether neighbours along p lie apart in memory, so that no vector holds several."""
    space = statement.domain.get_space()
    values = [value_on(m.schedule, space) for m in (along, inner)]
    p, s = (dimension_of(value) for value in values)
    if p is None or s is None or not all(_is_index(v, d) for v, d in zip(values, (p, s), strict=True)):
        return None
    across = [step_of(a, p, last_stored(program, statement.name, a)) for a in reads]
    if step_of(target, p) == 1 and max(across) == 1:
        return Form.COLUMNS, False
    apart = 1 not in (*across, step_of(target, p))
    if max(across) == 2 and (apart or all(step_of(a, s) <= 1 for a in reads)):
        return Form.ROWS, apart
    return None


def _is_index(value: isl.PwAff, position: int) -> bool:
    """Whether each iteration of a loop has the next index of the statement."""
    index = affine_of(value)
    return index is not None and index.get_coefficient_val(isl.dim_type.in_, position).abs().is_one()
