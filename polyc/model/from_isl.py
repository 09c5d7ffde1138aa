"""isl's schedule trees as polyc's."""

from __future__ import annotations

import islpy as isl

from polyc.model.tree import LEAF, Band, Domain, Filter, Member, Node, Sequence
from polyc.poly import kind_of


def from_isl(schedule: isl.Schedule) -> Domain:
    """isl's tree as ours. Member names are filled in later (`nests/naming.py`)."""

    def convert(node: isl.ScheduleNode) -> Node:
        kind = kind_of(node)
        if kind == "leaf":
            return LEAF
        if kind == "band":
            partial = node.band_get_partial_schedule()
            members = tuple(
                Member(partial.get_union_pw_aff(k), bool(node.band_member_get_coincident(k)))
                for k in range(node.band_n_member())
            )
            child = convert(node.child(0))
            if not members:
                return child
            return Band(members, bool(node.band_get_permutable()), child)
        if kind in ("sequence", "set"):
            steps = []
            for k in range(node.n_children()):
                inner = node.child(k)
                steps.append(Filter(inner.filter_get_filter(), convert(inner.child(0))))
            return Sequence(tuple(steps))
        if kind == "filter":
            return convert(node.child(0))
        if kind in ("context", "guard", "mark"):
            return convert(node.child(0))
        raise AssertionError(f"isl's scheduler made a node of type {kind}")

    return Domain(schedule.get_domain(), convert(schedule.get_root().child(0)))
