"""Strips of iterations that data end: loops in which a flag says for each iteration whether there is anything left."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import Ending
from polyc.model.tree import Band, Domain, Extension, Mark, Member, Node, Sequence, walk
from polyc.poly import names, sets, value_on

STAGE = "endings"


def end_loops(program: Program) -> Program:
    """Mark the loops in strips that a flag ends (`codegen/blocks/ending_block.py` prints them).

    rewrite:  for k for x in strip if (on_of[x]) S  ->  the same, but for the member k with `until` = on_of
    requires: each iteration of the strip has a flag of its own (storage `spread`), and the loop runs nothing but what
              its flag guards, for all iterations that share the flag
    """
    for ending in program.scop.endings:
        keys = [key for key, b in program.buffers.items() if b.array == ending.flag and b.storage == "spread"]
        for key in keys:
            child, found = _marked(program, program.tree.child, ending, key)
            if found:
                program = replace(program, tree=Domain(program.tree.domain, child))
                message = "the iterations of a strip run together while most of them go on, by flags of their own"
                program = program.remark("ended", STAGE, message, tuple(sorted(ending.statements)))
    return program


def has_endings(program: Program) -> bool:
    """Whether each flag of a region ends a loop."""
    members = (member for band in walk(program.tree.child) if isinstance(band, Band) for member in band.members)
    found = {program.buffers[member.until].array for member in members if member.until}
    return {ending.flag for ending in program.scop.endings} <= found


def _marked(program: Program, node: Node, ending: Ending, key: str) -> tuple[Node, bool]:
    """A node with the outermost loops that a flag ends marked, and whether there are some."""
    match node:
        case Band(members=members) if any(member.until == key for member in members):
            return node, False  # loops inside of it end with it
        case Band(members=members, child=child):
            for position, member in enumerate(members):
                below = set(names(member.schedule.domain()))
                if below <= ending.statements and not member.until and not _is_decided(member, ending.depth):
                    marked = replace(member, until=key)
                    return replace(node, members=(*members[:position], marked, *members[position + 1 :])), True
            inside, found = _marked(program, child, ending, key)
            return (replace(node, child=inside) if found else node), found
        case Sequence(children=steps):
            every = [_marked(program, step.child, ending, key) for step in steps]
            if not any(found for _, found in every):
                return node, False
            return Sequence(tuple(replace(s, child=n) for s, (n, _) in zip(steps, every, strict=True))), True
        case Mark(child=child) | Extension(child=child):
            inside, found = _marked(program, child, ending, key)
            return (replace(node, child=inside) if found else node), found
    return node, False


def _is_decided(member: Member, depth: int) -> bool:
    """Whether a loop's value is the same for all instances that share a flag: it is a loop around that of the flag."""
    for piece in sets(member.schedule.domain()):
        value = value_on(member.schedule, piece.get_space())
        if value.involves_dims(isl.dim_type.in_, depth, value.dim(isl.dim_type.in_) - depth):
            return False
    return True
