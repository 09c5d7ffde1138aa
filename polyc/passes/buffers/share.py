"""Give buffers of one tile that are never in use at once the same place."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import islpy as isl

from polyc.cost.storage import Life, Place, places_for
from polyc.model.program import Buffer, Program
from polyc.model.tree import Domain, Extension, Leaf, Mark, Node, Sequence
from polyc.nests.naming import fresh
from polyc.nests.nest import statements_below
from polyc.poly import constant_of

STAGE = "share"


def share_buffers(program: Program) -> Program:
    """Let the buffers of a tile follow each other in the same memory, where one is done before the next one begins.

    rewrite:  float A_tile[34][66], B_tile[34][64], C_tile[32][64];  A_tile = …; B_tile = … A_tile; C_tile = … B_tile;
              -> float tile[34][66], B_tile[34][64];                   tile = …; B_tile = … tile; tile = … B_tile;
    tree:     mark(allocate A, B, C) - sequence(…), with one name and one size for A and C
    math:     the steps of the sequence right below the declaration that touch A all come before those that touch C
    requires: final loops: what a tile computes for one iteration is a variable already (`contract.py`)
    ensures:  `verify/places/shared.py` shows that no value is overwritten before it is read
    """
    return _Sharing(program).shared()


class _Sharing:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.told: list[str] = []

    def shared(self) -> Program:
        child = self.below(self.program.tree.child)
        return replace(self.program, tree=Domain(self.program.tree.domain, child))

    def below(self, node: Node) -> Node:
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(step, child=self.below(step.child)) for step in steps))
            case Mark(kind="group"):
                outside, self.told = self.told, []
                child = self.below(node.child)
                text, self.told = "\n".join([node.text, *self.told]), outside
                return replace(node, child=child, text=text)
            case Mark(kind="allocate"):
                self.declared(node)
        return replace(node, child=self.below(node.child))

    def declared(self, mark: Mark) -> None:
        """Places for the buffers that one mark declares."""
        lives = self.lives(mark)
        places = [place for place in places_for(lives) if len(place.lives) > 1]
        for place in places:
            self.give(place)
        if not places:
            return
        before = sum(life.element_bytes * prod(life.extents) for life in lives)
        after = sum(place.size_bytes for place in places_for(lives))
        users = {name for life in lives for name, _ in self.program.buffers[life.key].accesses}
        self.program = self.program.remark(
            "storage-shared",
            STAGE,
            f"the buffers of a tile take {after} bytes, since not all are in use at once, instead of {before}",
            tuple(sorted(users - self.program.copies)),
            bytes=after,
            apart_bytes=before,
            places=[[self.program.buffers[life.key].array for life in place.lives] for place in places],
        )

    def give(self, place: Place) -> None:
        """One name and one size for the buffers of a place."""
        program = self.program
        taken = program.scop.used_names | {b.name for b in program.buffers.values()} | set(program.scop.arrays)
        name = fresh("tile", taken | set(program.buffers))
        params = program.scop.context.get_space().params()
        extents = tuple(
            isl.PwAff.val_on_domain(isl.Set.universe(params), isl.Val.int_from_si(params.get_ctx(), e))
            for e in place.extents
        )
        keys = [life.key for life in place.lives]
        changed = {key: replace(program.buffers[key], name=name, extents=extents) for key in keys}
        self.program = replace(program, buffers=program.buffers | changed)
        arrays = [program.scop.arrays[program.buffers[key].array].c_name for key in keys]
        self.told.append(f"{name} is for {', then '.join(arrays)}")

    def lives(self, mark: Mark) -> list[Life]:
        """The buffers that may share a place, with the steps that touch them."""
        body = mark.child
        while isinstance(body, Mark | Extension):
            body = body.child
        if not isinstance(body, Sequence):
            return []
        steps = [statements_below(step) for step in body.children]
        found = []
        for key in mark.names:
            buffer = self.program.buffers[key]
            extents = _sizes(buffer)
            users = {name for name, _ in buffer.accesses}
            using = [k for k, names in enumerate(steps) if names & users]
            if extents is None or not using or not self.plain(buffer):
                continue
            element = self.program.scop.arrays[buffer.array].element
            kind = element.text, buffer.order, buffer.pad
            found.append(Life(key, kind, element.size_bytes or 8, extents, using[0], using[-1]))
        return found

    def plain(self, buffer: Buffer) -> bool:
        """Whether it is an array of the tile that holds what its users write; panels are made otherwise."""
        panel = bool(buffer.order) and any(name in self.program.copies for name, _ in buffer.accesses)
        hoisted = any(hoist.buffer == buffer.key for hoist in self.program.hoisted)
        return buffer.storage == "tile" and not (panel or hoisted or buffer.registers or buffer.places)


def _sizes(buffer: Buffer) -> tuple[int, ...] | None:
    """Of an array with more than one element; None where parameters decide."""
    sizes = [constant_of(extent) for extent in buffer.extents]
    known = tuple(size for size in sizes if size is not None)
    return known if len(known) == len(sizes) and prod(known) > 1 else None
