"""Whole numbers that a GPU's threads add into cells that data choose."""

from __future__ import annotations

from dataclasses import replace

from polyc.analysis.expressions.reductions import scatter_of
from polyc.analysis.expressions.updates import sums_wrap
from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Extension, Mark, Node, Sequence, walk
from polyc.nests.wishes import sequential
from polyc.passes.loops.reductions import Races, carried_beside, without_not_parallel
from polyc.poly import names

STAGE = "gpu-scatters"
ADDED_BYTES = 4
"""Of the whole numbers that all devices add to at once."""


def mark_gpu_scatters(program: Program, races: Races) -> Program:
    """Let threads share loops that carry nothing but sums of whole numbers into cells that depend on data.

    rewrite:  for i h[b[i]]++  ->  for i on threads atomicAdd(&h[b[i]], 1)
    tree:     band[-] -> the same with its loops parallel, and the arrays that threads update one at a time
    requires: whole numbers, which wrap, so that the order of the sums changes no bit; of 4 bytes
    ensures:  the race check accepts each loop: what it carries is these sums alone
    source:   as on CPUs (`passes/scatter/scatters.py`)
    """
    marker = _Marker(program, races)
    child = marker.at(program.tree.child)
    return replace(marker.program, tree=Domain(program.tree.domain, child)) if marker.pairs else program


class _Marker:
    def __init__(self, program: Program, races: Races) -> None:
        self.program = program
        self.races = races
        self.pairs = {name: pair for name in program.statements if (pair := self.scattered(name)) is not None}

    def scattered(self, name: str) -> tuple[str, str] | None:
        """(operator, array) of a statement that threads may run at once."""
        arrays = self.program.scop.arrays
        found = scatter_of(self.program.statements[name], arrays)
        if found is None or found[0] != "+" or not sums_wrap(*found, arrays):
            return None
        return found if arrays[found[1]].element.size_bytes == ADDED_BYTES else None

    def at(self, node: Node) -> Node:
        match node:
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child)) for s in steps))
            case Band() if any(m.coincident for n in walk(node) if isinstance(n, Band) for m in n.members):
                return node if node.coincident_prefix else replace(node, child=self.at(node.child))
            case Band():
                return self.marked(node)
            case Mark(kind="reduce"):
                return node
            case Mark() | Extension():
                return replace(node, child=self.at(node.child))
            case _:
                return node

    def marked(self, band: Band) -> Node:
        """The nest with as many of its loops shared by threads as only add up; inner ones where none is."""
        below = names(band.members[0].schedule.domain())
        pairs = tuple(sorted({self.pairs[name] for name in below if name in self.pairs}))
        if not pairs or set(below) & sequential(self.program):
            return band
        chain, child = band.members, band.child
        while isinstance(child, Band):
            chain, child = chain + child.members, child.child
        shared = tuple(replace(m, coincident=True, parallel=True, atomics=pairs) for m in chain)
        nest = Band(shared, True, child)
        first = replace(band, members=(shared[0], *band.members[1:]), permutable=False)
        for made in (nest, first) if len(chain) > 1 else (first,):
            if not self.is_race(band, made):
                told = ", ".join(self.program.scop.arrays[array].c_name for _, array in pairs)
                loops = ", ".join(m.name for m in made.members if m.parallel)
                message = (
                    f"threads share the loop {loops}: updates of {told} are atomic, and their order changes no bit"
                )
                self.program = without_not_parallel(self.program, below).remark("scatter", STAGE, message, tuple(below))
                plain = tuple(replace(m, parallel=False) for m in made.members)
                return replace(made, members=plain)
        return band

    def is_race(self, band: Band, made: Band) -> bool:
        return carried_beside(self.program, self.races, band, made) is not None
