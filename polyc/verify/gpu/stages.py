"""Double buffering: the copies of one iteration run beside what uses those of the iteration before.

The tree says `for (kt) { copy; use }`, and this is what the other checks see. What is printed copies a panel one
iteration earlier, into another place than the one that is in use (`codegen/gpu/device/stages.py`). Both do the same if
math:   (1) the loop runs panels' copies first, each a step of its own, and what uses them in a last step, behind a
            barrier: then the copies of one iteration touch nothing of the other steps;
        (2) nothing in the loop writes an array that a copy reads: then it reads the same an iteration earlier;
        (3) the panels are declared right inside the loop: nothing of them lives from one iteration to the next, so that
            an iteration may have places of its own, and two places are enough, since
        (4) the block's threads meet at the start of each iteration: what is copied during iteration t goes to the place
            that iteration t - 1 used, and nobody is there any more.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyc.analysis.expand import Expanded
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import Band, Extension, Mark, Node, Sequence, walk
from polyc.poly import names, out_name


def stage_faults(program: Program, now: Expanded) -> Iterator[Fault]:
    for node in walk(program.tree.child):
        if isinstance(node, Band) and any(m.stages > 1 for m in node.members):
            yield from _loop_faults(program, now, node)


def _loop_faults(program: Program, now: Expanded, band: Band) -> Iterator[Fault]:
    loop = band.members[-1]
    if len(band.members) != 1 or loop.stages != 2 or not loop.barrier:
        yield Fault("stages", f"the loop {loop.name} over panels has no barrier of its own", "")
        return
    found = _panels(band.child)
    if found is None:
        yield Fault("stages", f"the loop {loop.name} does not copy panels first", "")
        return
    panels, copies = found
    buffers = [program.buffers[name] for name in panels]
    if not all(b.storage == "tile" and _only_filled_by(program, b.accesses, copies) for b in buffers):
        yield Fault("stages", f"the panels of the loop {loop.name} are not only copied", "")
    sources = {a.array for name in copies for a in program.statements[name].accesses if a.kind is AccessKind.READ}
    for run, accesses in now.per_run:
        if not any(step is loop for step in run.path.steps):
            continue
        for access, relation in accesses:
            if access.kind is AccessKind.READ or access.array not in sources:
                continue
            if out_name(relation) not in panels:
                yield Fault("stages", f"{run.statement} writes {access.array}, which is copied ahead", "")


def _panels(node: Node) -> tuple[set[str], set[str]] | None:
    """The panels and their copies, where a loop's body has the form of (1) and (3)."""
    match node:
        case Mark(kind="allocate", names=panels, child=Extension(relation=relation, child=Sequence(children=steps))):
            copies = set(names(relation.range()))
            first = [set(names(s.filter)) for s in steps[:-1]]
            apart = all(len(one) == 1 and one <= copies for one in first) and set().union(*first) == copies
            barriers = [s.barrier for s in steps]
            if apart and barriers == [False] * len(first) + [True] and not copies & set(names(steps[-1].filter)):
                return set(panels), copies
    return None


def _only_filled_by(program: Program, accesses: frozenset[tuple[str, str]], copies: set[str]) -> bool:
    """Whether nobody but the copies writes a panel."""
    for name, ref in accesses:
        written = [a for a in program.statements[name].accesses if a.ref == ref and a.kind is not AccessKind.READ]
        if written and name not in copies:
            return False
    return True
