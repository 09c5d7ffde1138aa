"""Iterated stencils: the hyperplanes along which steps of a sequential loop can be tiled together with its space."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Leaf, Member, Node, partial_schedule, restrict, walk
from polyc.nests.nest import chain
from polyc.poly import among, in_name, least_of, maps, names, out_name, sets, value_on
from polyc.records import dataclass, replace

STEEPEST = 4
"""Cells that a tile may move in one iteration of the time loop: values come from no farther."""


@dataclass(frozen=True, slots=True, eq=False)
class Hyperplane:
    """`{ S[t, i] -> [sign * x + slope * t + shift(S)] }`, where x is a subscript of what S writes."""

    schedule: isl.UnionPwAff
    dimension: int
    """Which subscript x is, of those that spread in space."""
    sign: int
    slope: int
    shift: int
    """The largest of the statements'."""


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A loop whose iterations compute cells of arrays from those that earlier ones left."""

    instances: isl.UnionSet
    node: Band
    """The loop and what is in it, in the order in which it was written."""
    dependences: isl.UnionMap
    cells: dict[str, isl.PwMultiAff]
    """For each statement the cell that an instance writes, without the array's name."""
    subscripts: int
    """Of such a cell."""
    space: tuple[int, ...]
    """Those that take several values in one iteration of the loop."""
    known: isl.Set
    """What the parameters are."""

    @property
    def rank(self) -> int:
        return len(self.space)

    @property
    def time(self) -> Member:
        return self.node.members[0]

    @property
    def has_inner_loops(self) -> bool:
        """Whether there are loops below those that all instances share."""
        node: Node = self.node
        while isinstance(node, Band):
            node = node.child
        return any(isinstance(below, Band) for below in walk(node))

    @property
    def is_chained(self) -> bool:
        """Whether a step is a recurrence: iterations of the loops that all its instances share wait for each other."""
        within = self.same_step
        return not within.is_subset(within_iteration(within, chain(self.node)))

    @property
    def waits(self) -> bool:
        """Whether the iterations of the innermost of these loops wait for each other, so that a core has one at a time
        to compute."""
        loops = chain(self.node)
        inside = within_iteration(self.same_step, loops[:-1])
        return not inside.is_subset(within_iteration(inside, loops))

    @property
    def writes_own_cells(self) -> bool:
        """Whether each step writes cells of its own: no step finds in a cache what the one before wrote there."""
        return self.rank < self.subscripts

    @property
    def same_step(self) -> isl.UnionMap:
        """The dependences within one iteration of the loop."""
        return self.dependences.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(self.time.schedule))


@dataclass(frozen=True, slots=True)
class NotSteps:
    """Why a nest is no iterated stencil; "" where nobody would take it for one."""

    reason: str


def time_steps(program: Program, instances: isl.UnionSet) -> Steps | NotSteps:
    """The sequential outer loop of what runs of some instances, as it was written.

    requires: no other order mixes these instances with others
    """
    node = restrict(program.scop.tree.child, instances)
    if not isinstance(node, Band) or len(node.members) > 1 or isinstance(node.child, Leaf):
        return NotSteps("")
    every = _held(program, instances, chain(node))
    time = isl.MultiUnionPwAff.from_union_pw_aff(node.members[0].schedule)
    if every.is_empty() or every.subtract(every.eq_at_multi_union_pw_aff(time)).is_empty():
        return NotSteps("")
    written = _written_cells(program, instances)
    cells = _iterations(chain(node), instances) if isinstance(written, str) else written
    if cells is None:
        return NotSteps(str(written))
    (count,) = {cell.dim(isl.dim_type.out) for cell in cells.values()}
    space = tuple(
        d for d in range(count) if any(_spreads(node.members[0], cell.get_pw_aff(d)) for cell in cells.values())
    )
    if not space:
        return NotSteps("")
    steps = Steps(instances, node, every, cells, count, space, program.scop.known)
    return NotSteps(written) if isinstance(written, str) and either_way(steps, 0) is None else steps


def _held(program: Program, instances: isl.UnionSet, loops: tuple[Member, ...]) -> isl.UnionMap:
    """The dependences between some instances that an order of tiles has to keep: those of private arrays whose values
    stay within an iteration are gone where each tile has its own. Such values are held the other way round as well, so
    that both ends are in one tile."""
    found, scop = program.dependences, program.scop
    private = [found.flow_by_array[name] for name in scop.privatizable if name in found.flow_by_array]
    stays = all(
        flow.is_subset(within_iteration(flow, loops)) for flow in (among(pairs, instances) for pairs in private)
    )
    every = reduce(isl.UnionMap.union, (f.reverse() for f in private), found.flow.union(found.false))
    return among(every if stays else found.all, instances).intersect_params(scop.known)


def _written_cells(program: Program, instances: isl.UnionSet) -> dict[str, isl.PwMultiAff] | str:
    """The cell that an instance of each statement writes, or why there is none; a statement that sets a temporary has
    that of another one with the same loops."""
    cells: dict[str, isl.PwMultiAff] = {}
    for name in names(instances):
        written = [a for a in program.statements[name].accesses if a.kind is not AccessKind.READ]
        cell = _cell(written)
        if cell is None or program.statements[name].opaque:
            return f"{name} does not write one cell of an array"
        cells[name] = cell
    most = max(cell.dim(isl.dim_type.out) for cell in cells.values())
    whole = {name: cell for name, cell in cells.items() if cell.dim(isl.dim_type.out) == most}
    for name in cells.keys() - whole.keys():
        partner = next((one for one in whole if _runs_with(program.statements[name], program.statements[one])), None)
        if partner is None or cells[name].dim(isl.dim_type.out):
            return "its statements write arrays of different dimensions"
        same = isl.Map.from_pw_multi_aff(whole[partner]).set_tuple_name(isl.dim_type.in_, name)
        cells[name] = isl.PwMultiAff.from_map(same)
    return cells


def _runs_with(one: Statement, other: Statement) -> bool:
    """Whether a statement has the loops of another one, and no instance that it would not have in its place."""
    alike = one.loops == other.loops
    return alike and one.domain.set_tuple_name(other.domain.get_tuple_name()).is_subset(other.domain)


def _iterations(loops: tuple[Member, ...], instances: isl.UnionSet) -> dict[str, isl.PwMultiAff] | None:
    """Iterations of the loops that all instances share in the place of cells: `{ S[i, j] -> [i, j] }`."""
    if len(loops) < 2:
        return None
    times = partial_schedule(loops)
    found = isl.UnionMap.from_multi_union_pw_aff(times).intersect_domain(instances)
    return {in_name(piece): isl.PwMultiAff.from_map(piece) for piece in maps(found)}


def _spreads(time: Member, subscript: isl.PwAff) -> bool:
    """Whether a subscript takes several values in one iteration of the loop."""
    when = isl.Map.from_pw_aff(value_on(time.schedule, subscript.get_space().domain()))
    return (
        not when.intersect_domain(subscript.domain())
        .reverse()
        .apply_range(isl.Map.from_pw_aff(subscript))
        .is_single_valued()
    )


def _cell(written: list[Access]) -> isl.PwMultiAff | None:
    if len(written) != 1 or not written[0].exact or written[0].kind is not AccessKind.WRITE:
        return None
    return isl.PwMultiAff.from_map(written[0].relation.reset_tuple_id(isl.dim_type.out))


def where_all_run(steps: Steps) -> isl.Set:
    """`[n] -> { : … }`: sizes at which each statement has instances."""
    every = steps.known
    for piece in sets(steps.instances):
        every = every.intersect(piece.params())
    return every


def hyperplane(steps: Steps, dimension: int, sign: int = 1) -> Hyperplane | None:
    """The flattest hyperplane along one subscript that no dependence crosses backwards, or None.

    math:   phi(y) - phi(x) >= 0 for all dependences x -> y. For a slope a this is a system of differences in the
            shifts: b(S') >= b(S) - min(sign * dx + a * dt), solved by longest paths.
    source: the condition of Feautrier's and Pluto's schedules (Bondhugula et al., PLDI 2008), where the part in space
            is known: it is the cell that is written
    """
    pairs = [(in_name(m), out_name(m), _distances(steps, m, dimension)) for m in maps(steps.dependences)]
    for slope in range(STEEPEST + 1):
        edges = [(source, target, _least(distances, sign, slope)) for source, target, distances in pairs]
        known = [(source, target, -least) for source, target, least in edges if least is not None]
        shifts = _longest_paths(list(steps.cells), known) if len(known) == len(edges) else None
        if shifts is not None:
            return Hyperplane(
                _schedule(steps, dimension, sign, slope, shifts), dimension, sign, slope, max(shifts.values())
            )
    return None


def either_way(steps: Steps, dimension: int) -> Hyperplane | None:
    """The flattest hyperplane along a subscript, or against it where there is none, as in sweeps that go down."""
    return hyperplane(steps, dimension) or hyperplane(steps, dimension, -1)


def stays_in_cells(steps: Steps) -> bool:
    """Whether no dependence leads from one cell to another along any subscript that tiles could be made of."""
    every = [[hyperplane(steps, dimension, sign) for sign in (1, -1)] for dimension in range(steps.rank)]
    planes = [plane for pair in every if None not in pair for plane in pair if plane is not None]
    return bool(planes) and not any(plane.slope or plane.shift for plane in planes)


def _distances(steps: Steps, dependence: isl.Map, dimension: int) -> isl.Set:
    """`{ [dt, dx] }` of a dependence."""
    source, target = (_place(steps, name, dimension) for name in (in_name(dependence), out_name(dependence)))
    return dependence.apply_domain(source).apply_range(target).deltas()


def far_values(steps: Steps) -> Iterator[isl.UnionMap]:
    """The dependences that no hyperplane follows: farther than it may lean, or sideways within one step."""
    lean = f"{STEEPEST}u - {STEEPEST}t"
    far = f"{{ [t, x] -> [u, y] : y - x > {lean} or x - y > {lean} }}"
    for piece in maps(steps.dependences):
        for dimension in range(steps.rank):
            source, target = (_place(steps, name, dimension) for name in (in_name(piece), out_name(piece)))
            leaning = source.apply_range(isl.Map.read_from_str(piece.get_ctx(), far)).apply_range(target.reverse())
            yield isl.UnionMap.from_map(piece.intersect(leaning))


def _place(steps: Steps, statement: str, dimension: int) -> isl.Map:
    """`{ S[t, i] -> [t, x] }`."""
    cell = steps.cells[statement].get_pw_aff(steps.space[dimension])
    time = value_on(steps.time.schedule, cell.get_space().domain())
    return isl.Map.from_pw_aff(time).flat_range_product(isl.Map.from_pw_aff(cell))


def _least(distances: isl.Set, sign: int, slope: int) -> int | None:
    """The least `sign * dx + slope * dt`, or None."""
    local = isl.LocalSpace.from_space(distances.get_space())
    dt, dx = (isl.Aff.var_on_domain(local, isl.dim_type.set, k) for k in (0, 1))
    found = least_of(distances, _scaled(dx, sign).add(_scaled(dt, slope)))
    return int(found.to_python()) if found.is_int() else None


def _scaled(value: isl.Aff, factor: int) -> isl.Aff:
    return value.scale_val(isl.Val.int_from_si(value.get_ctx(), factor))


def _longest_paths(nodes: list[str], edges: list[tuple[str, str, int]]) -> dict[str, int] | None:
    """The least values of 0 or more with `value[target] >= value[source] + weight`, or None."""
    value = dict.fromkeys(nodes, 0)
    for _ in range(len(nodes) + 1):
        changed = False
        for source, target, weight in edges:
            if value[source] + weight > value[target]:
                value[target], changed = value[source] + weight, True
        if not changed:
            return value
    return None


def _schedule(steps: Steps, dimension: int, sign: int, slope: int, shifts: dict[str, int]) -> isl.UnionPwAff:
    found: isl.UnionPwAff | None = None
    for name, cell in steps.cells.items():
        place = cell.get_pw_aff(steps.space[dimension])
        context = place.get_ctx()
        time = value_on(steps.time.schedule, place.get_space().domain())
        value = place.scale_val(isl.Val.int_from_si(context, sign))
        value = value.add(time.scale_val(isl.Val.int_from_si(context, slope)))
        shift = isl.PwAff.val_on_domain(isl.Set.universe(value.get_space().domain()), isl.Val(shifts[name], context))
        one = isl.UnionPwAff.from_pw_aff(value.add(shift))
        found = one if found is None else found.union_add(one)
    assert found is not None
    return found.intersect_domain(steps.instances)


def overlapped_planes(program: Program, steps: Steps) -> list[tuple[Hyperplane, Hyperplane]] | str:
    """For each dimension how far values travel to either side, or why there are no overlapped tiles.

    Only flow counts: a tile has cells of its own, and what it leaves out never overwrites what it reads.
    """
    if steps.writes_own_cells:
        return "its steps write cells of their own, which no tile has to copy"
    inside = among(program.dependences.flow, steps.instances)
    flow = replace(steps, dependences=inside.intersect_params(steps.known))
    found: list[tuple[Hyperplane, Hyperplane]] = []
    for d in range(steps.rank):
        right, left = hyperplane(flow, d), hyperplane(flow, d, -1)
        if right is None or left is None:
            return "a step reads values from so far, or in such an order within a step, that no halo has them"
        found.append((right, left))
    for name in names(steps.instances):
        for access in program.statements[name].accesses:
            if access.array in written_by(program, steps) and not access.exact:
                return f"an access of {name} is not affine"
    return found


def written_by(program: Program, steps: Steps) -> set[str]:
    """The arrays that the steps write."""
    every = [a for name in names(steps.instances) for a in program.statements[name].accesses]
    return {a.array for a in every if a.kind is not AccessKind.READ}
