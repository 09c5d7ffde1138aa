"""Faults of what tensor cores are given to do: fragments, lanes, and what lies beyond the end of a sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polyc.passes.products.fragment_loads as fragments
import polyc.passes.products.fragment_nest as fragment_nest
from polyc.model.fragments import HALF
from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Mark, Member, Node, rewrite
from tests.mutation.install import adding_to, always, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def members(change: Callable[[Member], Member], inside: bool = False) -> Callable[[Program], Program]:
    """Change the members of all bands, or of those right below a mark `mma`."""

    def all_of(band: Band) -> Band:
        return replace(band, members=tuple(map(change, band.members)))

    def at(node: Node) -> Node:
        match node:
            case Mark(kind="mma", child=Band() as band) if inside:
                return replace(node, child=all_of(band))
            case Band() if not inside:
                return all_of(node)
            case _:
                return node

    return lambda p: replace(p, tree=Domain(p.tree.domain, rewrite(p.tree.child, at)))


def marks(change: Callable[[Mark], Node]) -> Callable[[Program], Program]:
    def at(node: Node) -> Node:
        return change(node) if isinstance(node, Mark) and node.kind == "mma" else node

    return lambda p: replace(p, tree=Domain(p.tree.domain, rewrite(p.tree.child, at)))


def padded(old: str, new: str) -> Callable[[Program], Program]:
    return lambda p: replace(p, padded={name: new if kind == old else kind for name, kind in p.padded.items()})


def axes(names: dict[str, str]) -> Callable[[Member], Member]:
    return lambda m: replace(m, mapped=names.get(m.mapped, m.mapped))


def turned(member: Member) -> Member:
    return member if member.digit is None else replace(member, digit=(1 - member.digit[0], member.digit[1]))


for name_, what_, edit_ in (
    ("lanes turned", "g and t", members(axes({"lane.y": "lane.x", "lane.x": "lane.y"}))),
    ("warps turned", "rows and columns", members(axes({"warp.y": "warp.x", "warp.x": "warp.y"}))),
    ("warps and lanes mixed up", "", members(axes({"warp.y": "lane.y", "lane.y": "warp.y"}))),
    ("lanes on threads", "", members(axes({"lane.x": "thread.x", "lane.y": "thread.y"}))),
    ("digits of the sums turned", "rows and columns", members(turned, True)),
    ("factors exchanged", "", marks(lambda m: replace(m, names=(m.names[0], m.names[2], m.names[1])))),
    ("one factor twice", "", marks(lambda m: replace(m, names=(m.names[0], m.names[1], m.names[1])))),
    ("another fragment", "half", marks(lambda m: replace(m, text=HALF.name, sizes=HALF.sizes))),
    ("copies that bring no zeros", "", padded("zero", "guarded")),
    ("products beyond the end are free", "", padded("neutral", "free")),
    ("products beyond the end are left out", "", padded("neutral", "guarded")),
    ("each point its own products", "no mark", marks(lambda m: m.child)),
):
    add("tensor-cores", name_, what_, after_pass("registers", edit_))
add(
    "tensor-cores",
    "triangles on tensor cores",
    "what lies beside them is not zero",
    together(always(fragments, "_same_length", True), always(fragment_nest.FragmentNest, "check_zero", None)),
)
