"""Give the loops of a schedule the user's names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import islpy as isl

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.relations import affs_of, pw_affs_of
from polyc.model.scop import Scop
from polyc.model.tree import Band, Domain, Member, Node, rewrite


def name_members(tree: Domain, scop: Scop) -> Domain:
    """Name each band member after the loop whose variable it runs over, `t_i` where it runs over a combination."""

    def change(node: Node) -> Node:
        if not isinstance(node, Band):
            return node
        return replace(node, members=tuple(replace(m, name=_name(m, scop)) for m in node.members))

    return Domain(tree.domain, rewrite(tree.child, change))


def _name(member: Member, scop: Scop) -> str:
    """The name by the statement with the most loops that the member moves along."""
    best: tuple[str, ...] = ()
    candidates: list[tuple[str, ...]] = []
    for name, piece in pw_affs_of(member.schedule).items():
        statement = scop.statements.get(name)
        if statement is None:
            continue
        moved = tuple(
            loop
            for position, loop in enumerate(statement.loops)
            if piece.involves_dims(isl.dim_type.in_, position, 1) and _moves(piece, position)
        )
        if moved:
            candidates.append(moved)
    if not candidates:
        return "c"
    best = min(candidates, key=lambda c: (len(c), c))
    return "_".join(best[-2:]) if len(best) > 1 else best[0]


def _moves(piece: isl.PwAff, position: int) -> bool:
    """Whether the value itself, not only its domain, depends on the dimension."""
    return any(aff.involves_dims(isl.dim_type.in_, position, 1) for aff in affs_of(piece))


def fresh_buffer(program: Program, wish: str, others: Iterable[str] = ()) -> str:
    """The same for a buffer of a program: nothing of the region, no array and no other buffer has the name, nor have
    `others`."""
    buffers = {name for key, buffer in program.buffers.items() for name in (key, buffer.name)}
    return fresh(wish, program.scop.used_names | buffers | set(program.scop.arrays) | set(others))


def fresh(wish: str, taken: frozenset[str] | set[str]) -> str:
    """The wish, or the wish with the first number that makes it free; a word of it, where it is `s->x`."""
    wish = c.as_word(wish)
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}{number}", number + 1
    return name
