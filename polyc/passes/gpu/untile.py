"""The nest of a group without its tiles, and steps of it whose loops are one."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polyc.model.program import Program
from polyc.model.tree import Band, Extension, Filter, Member, Node, Sequence
from polyc.nests.nest import united, values
from polyc.nests.points import points_of
from polyc.poly import among, empty_set


def without_tile(program: Program, tiles: Band, reaching: isl.UnionSet) -> tuple[Band, isl.UnionSet] | None:
    """The band of a tile's points with all that runs in the tile below it, and the instances that the tile added to
    those that reach it. None where these depend on the tile.

    tree:     band(tile: i) - extension(S0) - sequence(band(i) S0, band(i) - x) -> band(i) - sequence(S0, x)
    requires: that nothing is declared in the tile
    ensures:  no dependence leads from one iteration of the band to another; added instances run once
    """
    node = points_of(tiles)
    if isinstance(node, Band):
        return node, empty_set(program.scop.domain)
    if not isinstance(node, Extension) or not isinstance(node.child, Sequence):
        return None
    if not node.relation.reverse().is_single_valued():
        return None  # tiles overlap
    added = node.relation.range()
    everything = reaching.union(added)
    live = [step for step in node.child.children if not step.filter.intersect(everything).is_empty()]
    parts = [(step.filter, points_of(step.child)) for step in live]
    bands = [band for _, band in parts if isinstance(band, Band)]
    if len(bands) != len(parts):
        return None
    (count, *others) = {band.coincident_prefix for band in bands}
    if others or not count:
        return None
    steps: list[Filter] = []
    for (instances, _), band in zip(parts, bands, strict=True):
        steps += _below(band, count, instances)
    members = tuple(united([band.members[k] for band in bands], [f for f, _ in parts]) for k in range(count))
    if any(step.barrier for step in steps) or not _stay(program, members, everything):
        return None
    return Band(members, False, Sequence(tuple(steps))), added


def _below(band: Band, count: int, instances: isl.UnionSet) -> list[Filter]:
    """What one iteration of a band's first loops runs, as steps."""
    inner: Node = band.child if len(band.members) == count else replace(band, members=band.members[count:])
    if isinstance(inner, Sequence):
        return [replace(step, filter=step.filter.intersect(instances)) for step in inner.children]
    return [Filter(instances, inner)]


def at_once(one: Filter, two: Filter) -> Filter | None:
    """Two steps of one iteration of the loops around them as one step, where their loops have the same values; None for
    others. Whether their order permits it is left to the caller.

    rewrite:  for i A(i); for i B(i); -> for i { A(i); B(i); }
    """
    if not (isinstance(one.child, Band) and isinstance(two.child, Band)):
        return None
    first, last = joined(one.child), joined(two.child)
    if len(first.members) != len(last.members):
        return None
    filters = [one.filter, two.filter]
    ranges = [values(band.members, f).range() for band, f in zip((first, last), filters, strict=True)]
    if not ranges[0].is_equal(ranges[1]):
        return None
    pairs = zip(first.members, last.members, strict=True)
    members = tuple(united([a, b], filters) for a, b in pairs)
    steps = tuple(
        step
        for band, f in zip((first, last), filters, strict=True)
        for step in (band.child.children if isinstance(band.child, Sequence) else (Filter(f, band.child),))
    )
    return Filter(one.filter.union(two.filter), Band(members, False, Sequence(steps)))


def joined(band: Band) -> Band:
    """The band with the band right below it, and so on: one band of all their loops."""
    while isinstance(band.child, Band):
        band = Band((*band.members, *band.child.members), False, band.child.child)
    return band


def _stay(program: Program, members: tuple[Member, ...], instances: isl.UnionSet) -> bool:
    """Whether every dependence between these instances stays in one iteration of the members."""
    order = values(members, instances)
    inside = among(program.dependences.all, instances)
    return inside.is_subset(order.apply_range(order.reverse()))
