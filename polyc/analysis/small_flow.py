"""The dependences of a region at small sizes, found by running its accesses one by one, and compared with isl's.

Only plain numbers decide here who wrote a cell last: isl lists the points of sets, and says when an instance runs.
That is done where isl has been wrong, for relations with existentially quantified variables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

import islpy as isl

from polyc.analysis.order import order_of
from polyc.model.program import Dependences
from polyc.model.scop import AccessKind, Scop
from polyc.poly import box_volume, has_remainders, in_name, maps, out_name
from polyc.records import dataclass, field

Point: TypeAlias = tuple[str, tuple[int, ...]]
"""An instance or a cell: the name of its tuple, and its values."""
Pair: TypeAlias = tuple[Point, Point]

SIZES = (7, 4)
"""The first parameter's values, the next one has one less: not all are even, and the two are not equal. The first that
the region may have, and that is small enough, is taken."""
MOST_ACCESSES = 1000
"""Those of all instances together; to list them, and the dependences, takes some 20 ms."""
LARGEST_BOXES = 3 * MOST_ACCESSES
"""The same, where the smallest boxes around a statement's instances count: what is triangular is less."""


class WrongFlow(isl.Error):
    """isl's dependences are not those that the region has at some size."""


@dataclass(slots=True)
class Cell:
    """A cell while the region runs."""

    written: bool = False
    """Whether something must have written it."""
    writers: list[Point] = field(default_factory=list)
    """Those that may have written its value: the last that must have, and what may have since."""
    readers: list[Point] = field(default_factory=list)
    """Since it was written last."""


@dataclass(slots=True)
class Observed:
    """What a region does at one size."""

    flow: dict[str, set[Pair]] = field(default_factory=lambda: defaultdict(set))
    """`writer -> reader`, by array."""
    false: dict[str, set[Pair]] = field(default_factory=lambda: defaultdict(set))
    """Anti and output dependences up to the write before, by array."""
    live_in: set[Pair] = field(default_factory=set)
    """`reader -> cell`, of cells that may have no writer."""
    last: dict[str, set[Pair]] = field(default_factory=lambda: defaultdict(set))
    """`writer -> cell` at the end, by array."""


def check_at_small_sizes(scop: Scop, found: Dependences) -> None:
    """Raise WrongFlow where running the region's accesses shows other dependences. Regions without remainders and
    large ones are not run."""
    accesses = [access.relation for statement in scop.statements.values() for access in statement.accesses]
    if not any(has_remainders(isl.UnionMap.from_map(relation)) for relation in accesses):
        return
    for size in SIZES:
        sizes = sizes_near(scop, size)
        if sizes is None or not is_small(scop, sizes):
            continue
        touched = touches(scop, sizes)
        if sum(map(len, touched.values())) > MOST_ACCESSES:
            continue
        wrong = differences(scop, found, observed(touched, times(scop, sizes)), sizes)
        if wrong:
            raise WrongFlow(f"{wrong[0]}, where the region has {sizes}")
        return


def sizes_near(scop: Scop, size: int) -> isl.Set | None:
    """`[n, m] -> { : n = size and m = size - 1 }`; sizes that the region may have, or None."""
    space = scop.known.get_space().align_params(scop.domain.get_space().params())
    for statement in scop.statements.values():  # a value in a subscript alone is a parameter, too
        for access in statement.accesses:
            space = space.align_params(access.relation.get_space().params())
    chosen = isl.Set.universe(space)
    for position in range(space.dim(isl.dim_type.param)):
        chosen = chosen.fix_val(isl.dim_type.param, position, isl.Val.int_from_si(space.get_ctx(), size - position % 2))
    return None if chosen.intersect_params(scop.known).is_empty() else chosen


def is_small(scop: Scop, sizes: isl.Set) -> bool:
    """Whether all accesses can be listed, as far as the boxes around them tell."""
    total = 0.0
    for statement in scop.statements.values():
        instances = box_volume(statement.domain.intersect_params(sizes))
        for access in statement.accesses:
            total += instances if access.exact else box_volume(access.relation.intersect_params(sizes).wrap().flatten())
            if total > LARGEST_BOXES:
                return False
    return True


def touches(scop: Scop, sizes: isl.Set) -> dict[Point, list[tuple[AccessKind, Point]]]:
    """What each instance accesses."""
    found: dict[Point, list[tuple[AccessKind, Point]]] = defaultdict(list)
    for statement in scop.statements.values():
        for access in statement.accesses:
            for instance, cell in pairs([access.relation], sizes):
                found[instance].append((access.kind, cell))
    return found


def times(scop: Scop, sizes: isl.Set) -> dict[Point, tuple[int, ...]]:
    return {instance: time for instance, (_, time) in pairs(maps(order_of(scop.tree)), sizes)}


def observed(touched: dict[Point, list[tuple[AccessKind, Point]]], when: dict[Point, tuple[int, ...]]) -> Observed:
    """Run the accesses in their order: an instance reads first, and then writes."""
    cells: dict[Point, Cell] = defaultdict(Cell)
    found = Observed()
    for instance in sorted(touched, key=when.__getitem__):
        accesses = set(touched[instance])
        for cell in [cell for kind, cell in accesses if kind is AccessKind.READ]:
            found.flow[cell[0]].update((writer, instance) for writer in cells[cell].writers)
            if not cells[cell].written:
                found.live_in.add((instance, cell))
        written = {cell: kind for kind, cell in sorted(accesses, key=_must_last) if kind is not AccessKind.READ}
        for cell in written:
            found.false[cell[0]].update((other, instance) for other in cells[cell].writers + cells[cell].readers)
        for cell in [cell for kind, cell in accesses if kind is AccessKind.READ]:
            cells[cell].readers.append(instance)
        for cell, kind in written.items():
            if kind is AccessKind.WRITE:
                cells[cell] = Cell(True, [instance])
            else:
                cells[cell].writers.append(instance)
    for point, state in cells.items():
        found.last[point[0]].update((writer, point) for writer in state.writers)
    return found


def _must_last(access: tuple[AccessKind, Point]) -> bool:
    return access[0] is AccessKind.WRITE


def differences(scop: Scop, found: Dependences, seen: Observed, sizes: isl.Set) -> list[str]:
    """Where isl's dependences are others than those that were seen. An order that nobody needs is none."""
    told = []
    for array, relation in found.flow_by_array.items():
        told += _unequal(f"the values read from {array}", seen.flow[array], set(pairs(maps(relation), sizes)))
    told += _unequal("the first reads", seen.live_in, set(pairs(maps(found.live_in), sizes)))
    last = {pair for array in found.flow_by_array if array in scop.live_out for pair in seen.last[array]}
    told += _unequal("the last writers", last, set(pairs(maps(found.last_writer), sizes)))
    lasting = set(pairs(maps(found.lasting_false), sizes))
    for array in found.flow_by_array.keys() - scop.privatizable:  # of the others all pairs count, without a maximum
        if missing := seen.false[array] - lasting:
            told.append(f"the order of what overwrites {array} is without {_shown(missing)}")
    return told


def _unequal(what: str, seen: set[Pair], isl_found: set[Pair]) -> list[str]:
    if seen - isl_found:
        return [f"{what} are without {_shown(seen - isl_found)}"]
    return [f"{what} have {_shown(isl_found - seen)}"] if isl_found - seen else []


def _shown(pairs: set[Pair]) -> str:
    one, other = min(pairs)
    return f"{one[0]}{list(one[1])} -> {other[0]}{list(other[1])}"


def pairs(relations: Iterable[isl.Map], sizes: isl.Set) -> list[Pair]:
    """All pairs of some relations at one size."""
    found: list[Pair] = []
    for relation in relations:
        one, other, count = in_name(relation), out_name(relation), relation.dim(isl.dim_type.in_)
        points = listed(relation.intersect_params(sizes).wrap().flatten())
        found += [((one, point[:count]), (other, point[count:])) for point in points]
    return found


def listed(inside: isl.Set) -> list[tuple[int, ...]]:
    """All points of a set whose parameters are fixed."""
    found: list[tuple[int, ...]] = []
    failures: list[Exception] = []
    dims = range(inside.dim(isl.dim_type.set))

    def add(point: isl.Point) -> None:
        # isl would go on without what an exception leaves out: its budget may end here.
        try:
            found.append(tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in dims))
        except Exception as error:
            failures.append(error)

    inside.foreach_point(add)
    if failures:
        raise failures[0]
    return found
