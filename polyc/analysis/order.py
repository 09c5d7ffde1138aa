"""The order in which a schedule tree runs its instances, as relations.

A statement that an extension node runs has one instance for each pair of tile and statement instance: the wrapped
`[t0[o0, o1] -> S[i, j]]`. Everything here gives such expanded instances, so that dataflow can be computed on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce

import islpy as isl

from polyc.model.relations import affs_of
from polyc.model.tree import Domain, Member, Path, Step, paths
from polyc.poly import coalesced, in_name, maps, set_name, sets, subscript, value_on
from polyc.records import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One statement at one leaf of the tree."""

    statement: str
    path: Path
    instances: isl.Set
    """`{ S[i] }`, or `{ [tN[o] -> S[i]] }` below extension node N: two nodes may run one instance in equal tiles."""
    contraction: isl.Map
    """`instances -> S[i]`: forgets the tile."""
    columns: tuple[isl.Map, ...]
    """`instance -> [v]` for each step of the path, outermost first.

    They say nothing of which instances run, wherever that can be left out: isl would repeat it for each step of an
    order, and the variables that it needs (a tile in which there is some even i) with it.
    """
    _known: dict[tuple[str, int], isl.Map] = field(default_factory=dict, init=False, repr=False)
    """Products of columns: each access at a leaf asks for the same."""

    def order(self, length: int) -> isl.Map:
        """`instances -> [v0, …]`, padded with zeros to `length`."""
        return _product(self.instances, [*self.columns, *self._zeros(length - len(self.columns))])

    def prefix(self, depth: int) -> isl.Map:
        """`instances -> [v0, …]`: the values of the first `depth` band members (no sequence positions)."""
        return self._once(("prefix", depth), lambda: _product(self.instances, self._values(depth)))

    def in_tile(self, relation: isl.Map, depth: int) -> isl.Map:
        """`x -> [[v0, …] -> y]` for a relation `x -> y` of instances: `prefix`, and what it gives."""
        around = self._once(("tile", depth), lambda: _product(self._every, self._values(depth)))
        return around.range_product(relation)

    def beside(self, relation: isl.Map, position: int) -> isl.Map:
        """`x -> [[v0, …] -> y]` for a relation `x -> y` of instances: the first `position` steps of the path,
        sequence positions included, and what it gives."""
        first = self._once(("steps", position), lambda: _product(self._every, list(self.columns[:position])))
        return first.range_product(relation)

    def _once(self, key: tuple[str, int], product: Callable[[], isl.Map]) -> isl.Map:
        if key not in self._known:
            self._known[key] = product()
        return self._known[key]

    def _values(self, depth: int) -> list[isl.Map]:
        steps = zip(self.columns, self.path.steps, strict=True)
        return [column for column, step in steps if isinstance(step, Member)][:depth]

    @property
    def _every(self) -> isl.Set:
        return isl.Set.universe(self.instances.get_space())

    def _zeros(self, count: int) -> list[isl.Map]:
        return [constant_column(self._every)] * count


@lru_cache(maxsize=8)
def runs(tree: Domain) -> tuple[Run, ...]:
    """Every (leaf, statement) pair of the tree, in the order of the leaves. Kept: several checks look at one tree."""
    found: list[Run] = []
    numbers: dict[int, int] = {}
    """Of extension nodes, by the identity of their relations, which the tree keeps."""
    iterations: dict[tuple[int, ...], isl.Set] = {}
    """Above extension nodes, by the identity of all that decides them."""
    leaves = paths(tree)
    for path in leaves:
        number = numbers.setdefault(id(path.extension), len(numbers))
        above: isl.Set | None = None
        if path.extension is not None:
            members = [step for step in path.steps if isinstance(step, Member)][: path.depth_of_extension]
            key = (id(path.reaching), id(path.tiles), *map(id, members))
            if key not in iterations:
                iterations[key] = _iterations(path, members)
            above = iterations[key]
        for piece in sets(path.instances):
            run = _plain_run(path, _irredundant(piece)) if above is None else _extended_run(path, piece, number, above)
            if run is not None:
                found.append(run)
    return tuple(found)


def order_length(found: Sequence[Run]) -> int:
    return max((len(run.columns) for run in found), default=0)


def order_map(found: Sequence[Run]) -> isl.UnionMap:
    """`{ instance -> [v0, …] }`, all of one length, to be compared lexicographically."""
    length = order_length(found)
    union = isl.UnionMap.empty(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))
    for run in found:
        union = union.union(isl.UnionMap.from_map(run.order(length)))
    return union


@lru_cache(maxsize=8)
def order_of(tree: Domain) -> isl.UnionMap:
    """`order_map` of all that a tree runs, kept: a region's original order is asked for with each of its arrays."""
    return order_map(runs(tree))


def _irredundant(instances: isl.Set) -> isl.Set:
    """The instances without pieces that lie in another one, as borders of tiles do: `coalesce` does not see it."""
    pieces = instances.get_basic_set_list()
    kept = [pieces.get_at(k) for k in range(pieces.n_basic_set())]
    if len(kept) < 2:
        return instances
    for piece in kept[:]:
        if any(other is not piece and piece.is_subset(other) for other in kept):
            kept = [other for other in kept if other is not piece]
    return reduce(isl.Set.union, map(isl.Set.from_basic_set, kept)) if len(kept) < pieces.n_basic_set() else instances


def _plain_run(path: Path, piece: isl.Set) -> Run:
    columns = tuple(_column(step, piece) for step in path.steps)
    return Run(set_name(piece), path, piece, isl.Map.identity(_map_space(piece)).intersect_domain(piece), columns)


def _extended_run(path: Path, piece: isl.Set, number: int, above: isl.Set) -> Run | None:
    """above: the iterations around the extension node."""
    assert path.extension is not None
    relation = next((m for m in maps(path.extension) if _out_is(m, piece)), None)
    if relation is None:
        return _plain_run(path, piece)
    relation = coalesced(relation.intersect_range(piece).intersect_domain(above))
    relation = relation.set_tuple_id(isl.dim_type.in_, isl.Id.read_from_str(relation.get_ctx(), f"t{number}"))
    instances = relation.wrap()
    every = isl.Map.universe(relation.get_space())
    to_tile, to_statement = every.domain_map(), every.range_map()
    columns: list[isl.Map] = []
    depth = 0
    for step in path.steps:
        if isinstance(step, Step):
            columns.append(constant_column(every.wrap(), step.index))
            continue
        if depth < path.depth_of_extension:
            columns.append(subscript(to_tile, depth))
        else:
            columns.append(to_statement.apply_range(_column(step, piece)))
        depth += 1
    return Run(set_name(piece), path, instances, relation.range_map(), tuple(columns))


def _iterations(path: Path, members: list[Member]) -> isl.Set:
    """`{ [v0, …] }`: the iterations of the bands above an extension node, as the instances that reach it make them."""
    if path.tiles is not None:
        return path.tiles
    assert path.reaching is not None
    found: isl.Set | None = None
    for piece in sets(path.reaching):
        if any(value_on(m.schedule, piece.get_space()).domain().is_empty() for m in members):
            continue
        values = _product(piece, [_column(member, piece) for member in members]).range()
        found = values if found is None else found.union(values)
    if found is None:
        return isl.Set.empty(path.reaching.get_space().params().add_unnamed_tuple_ui(len(members)))
    return coalesced(found)


def _out_is(relation: isl.Map, piece: isl.Set) -> bool:
    return str(relation.get_tuple_name(isl.dim_type.out)) == set_name(piece)


def _map_space(piece: isl.Set) -> isl.Space:
    return piece.get_space().map_from_set()


def _column(step: Step | Member, piece: isl.Set) -> isl.Map:
    """`S[i] -> [v]`; what runs of the piece is its domain, or lies in it."""
    if isinstance(step, Step):
        return constant_column(isl.Set.universe(piece.get_space()), step.index)
    value = value_on(step.schedule, piece.get_space())
    if value.n_piece() == 1 and (_is_everywhere(value) or piece.is_subset(value.domain())):
        return _everywhere(value)
    return isl.Map.from_pw_aff(value).intersect_domain(piece)


def _is_everywhere(value: isl.PwAff) -> bool:
    return bool(value.domain().plain_is_universe())


def _everywhere(value: isl.PwAff) -> isl.Map:
    """The only expression of a function, wherever it is defined."""
    return isl.Map.from_aff(affs_of(value)[0])


def constant_column(instances: isl.Set, value: int = 0) -> isl.Map:
    """`instances -> [value]`."""
    aff = isl.PwAff.val_on_domain(instances, isl.Val.int_from_si(instances.get_ctx(), value))
    return isl.Map.from_pw_aff(aff)


def _product(instances: isl.Set, columns: list[isl.Map]) -> isl.Map:
    if not columns:
        space = instances.get_space().params().add_unnamed_tuple_ui(0)
        return isl.Map.from_domain_and_range(instances, isl.Set.universe(space))
    result = columns[0]
    for column in columns[1:]:
        result = result.flat_range_product(column)
    return result.intersect_domain(instances)


__all__ = ["Run", "in_name", "order_length", "order_map", "order_of", "runs"]


def parting(one: Path, two: Path) -> int | None:
    """The position of the sequence at which two paths part; None where they are one path."""
    for position, (a, b) in enumerate(zip(one.steps, two.steps, strict=False)):
        if isinstance(a, Step) and isinstance(b, Step):
            if a.index != b.index:
                return position
        elif a is not b:
            return None
    return None
