"""Strips of which all iterations run, with loops of constant length."""

from __future__ import annotations

import islpy as isl

from polyc.model.program import Program
from polyc.model.tree import Band, Filter, Leaf, Mark, Member, Node, Role, Sequence, restrict, sequence_of
from polyc.nests.nest import values
from polyc.nests.strides import dimension_of
from polyc.nests.tiling import neighbour, tile_members
from polyc.poly import affine_of, empty_set, sets, value_on
from polyc.records import dataclass, replace

MOST_PIECES = 4
"""Of what is left over of a strip: more of them would be as many loops."""


@dataclass(frozen=True, slots=True)
class Strips:
    """The strips of a loop, whose scalars compilers keep in registers where their loops have constant length."""

    program: Program
    around: tuple[Member, ...]
    """The loops around it."""
    member: Member
    size: int

    def apart(self, strip: Node, plain: Node) -> Node:
        """A strip where all of its iterations run, and the iterations of the others by themselves.

        rewrite:  for i in it by 8 S  ->  if (it + 8 <= n) for 8 i S; else for i in it..n S
        math: with V = { [o, v] } the values of the loops, whole are those with [o, size floor(v / size)] and
              [o, size floor(v / size) + size - 1] in V
        ensures: each strip is in one of both, and its iterations need nothing of each other
        """
        instances = self.member.schedule.domain().intersect(self.program.scop.domain)
        when = values((*self.around, self.member), instances)
        ran = isl.Set.from_union_set(when.range()).coalesce()
        if ran.n_basic_set() != 1:
            return strip
        place = isl.MultiAff.identity(ran.get_space().map_from_set())
        own = place.get_at(len(self.around))
        by = isl.Val.int_from_si(own.get_ctx(), self.size)
        first = own.scale_down_val(by).floor().scale_val(by)
        last = first.add_constant_val(isl.Val.int_from_si(own.get_ctx(), self.size - 1))
        inside = ran
        for corner in (first, last):
            inside = inside.intersect(ran.preimage_multi_aff(place.set_aff(len(self.around), corner)))
        whole = instances.intersect(isl.UnionSet.from_set(inside).apply(when.reverse())).coalesce()
        if whole.is_empty():
            return strip
        rest = instances.subtract(whole).coalesce()
        return sequence_of([(whole, self.squared(restrict(strip, whole))), (rest, restrict(plain, rest))])

    def squared(self, node: Node) -> Node:
        """A whole strip with its loops around all of its iterations apart from those around some: of triangles, and of
        sums that leave out their own row.

        rewrite:  for j for i in it..it + 8, i >= j S
                  -> for j <= it for 8 i S; for j > it for i in j..it + 8 S
        """
        match node:
            case Mark():
                return replace(node, child=self.squared(node.child))
            case Sequence(children=steps):
                return Sequence(tuple(Filter(s.filter, self.squared(s.child)) for s in steps))
            case Band(members=chain, child=Band(members=(point,), child=Leaf())) if (
                point.role is Role.POINT and point.name == self.member.name
            ):
                parts = self.parts(chain, point)
                return node if parts is None else sequence_of([(part, restrict(node, part)) for part in parts])
            case _:
                return node

    def parts(self, chain: tuple[Member, ...], point: Member) -> list[isl.UnionSet] | None:
        """The instances of some loops around a strip: those of its whole rows before the others, the others, and those
        behind them; None where they are no such parts."""
        ran = point.schedule.domain().intersect(self.program.scop.domain)
        whole = empty_set(ran)
        for piece in sets(ran):
            value = value_on(point.schedule, piece.get_space())
            if dimension_of(value) is None or affine_of(value) is None:
                return None
            inside = piece
            for place in range(self.size):
                there = neighbour(point, self.size, place, piece.get_space())
                inside = inside.intersect(there.intersect_range(piece).domain())
            whole = whole.union(isl.UnionSet.from_set(inside.coalesce()))
        rest = ran.subtract(whole).coalesce()
        if whole.is_empty() or rest.is_empty():
            return None
        (tile,) = tile_members((point,), (self.size,))
        same = values((*self.around, tile), ran)
        order = values(chain, ran)
        later = order.lex_lt_union_map(order).intersect(same.apply_range(same.reverse()))
        before = later.intersect_domain(whole).intersect_range(rest).domain()
        behind = later.intersect_domain(rest).intersect_range(whole).range()
        if not before.is_disjoint(behind):
            return None
        parts = [before.coalesce(), rest, whole.subtract(before).coalesce()]
        return parts if sum(map(_pieces, parts)) <= MOST_PIECES else None


def _pieces(instances: isl.UnionSet) -> int:
    return max((piece.n_basic_set() for piece in sets(instances)), default=0)
