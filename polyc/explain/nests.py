"""What became of each loop nest of a region: tiled, fused, parallel, and the remarks that say why not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from polyc.explain import relations as r
from polyc.model.program import Compiled, Group, Program, Remark
from polyc.model.scop import Scop
from polyc.model.tree import Band, Domain, Extension, Leaf, Mark, Member, Node, Role, Sequence, paths

REASONS = {
    "tiled": ("tile", "tiling", "tilable"),
    "fused": ("fuse", "fused", "fusion"),
    "parallel": ("parallel",),
}
"""Words of the codes of remarks that tell why a nest is not tiled, not fused, not parallel."""


@dataclass(frozen=True, slots=True)
class Nest:
    """An outermost loop of the original program with all that is in it."""

    line: int
    statements: tuple[str, ...]
    group: int | None
    """Position in `Program.groups`, if it is in one."""
    tiled: bool
    fused: bool
    """It shares a group with another nest."""
    parallel: bool
    remarks: tuple[Remark, ...]
    """Remarks about its statements."""

    def why_not(self, what: str) -> Remark | None:
        """The remark that tells why the nest is not `tiled`, `fused` or `parallel`; the last one counts."""
        words = REASONS[what]
        found = [m for m in self.remarks if any(word in m.code.split("-") for word in words)]
        refusals = [m for m in found if set(m.code.split("-")) & {"not", "no", "cannot"} or "un" in m.code[:2]]
        chosen = refusals or found
        return chosen[-1] if chosen else None


def nests(compiled: Compiled) -> list[Nest]:
    """The nests of a region in source order."""
    program = compiled.program
    scop = program.scop
    facts = loop_facts(program)
    together = [(line, names, group_of(names, program.groups)) for line, names in original_nests(scop)]
    answer: list[Nest] = []
    for line, names, group in together:
        shared = group is not None and sum(other == group for _, _, other in together) > 1
        tiled = any("tile" in facts.get(name, ()) for name in names)
        parallel = any("parallel" in facts.get(name, ()) for name in names)
        remarks = tuple(m for m in program.remarks if set(m.statements) & set(names))
        answer.append(Nest(line, names, group, tiled, shared, parallel, remarks))
    return answer


def original_nests(scop: Scop) -> list[tuple[int, tuple[str, ...]]]:
    """Line and statements of every outermost loop of the original order."""
    found: list[tuple[int, tuple[str, ...]]] = []

    def descend(node: Node, names: list[str]) -> None:
        match node:
            case Leaf():
                return
            case Band():
                known = [name for name in scop.statements if name in names]
                if known:
                    line = min(scop.statements[name].span.line for name in known)
                    found.append((line, tuple(known)))
            case Mark() | Extension():
                descend(node.child, names)
            case Sequence():
                for step in node.children:
                    inside = [r.tuple_name(s, r.SET) for s in r.sets_of(step.filter)]
                    descend(step.child, [name for name in inside if name in names])

    descend(scop.tree.child, list(scop.statements))
    return found


def group_of(names: Iterable[str], groups: tuple[Group, ...]) -> int | None:
    """The group that holds most of the statements."""
    wanted = set(names)
    counts = [len(wanted & {*group.statements, *group.fused}) for group in groups]
    return counts.index(max(counts)) if any(counts) else None


def loop_facts(program: Program) -> dict[str, set[str]]:
    """For each statement of the original: which of `tile` and `parallel` holds for a loop around it."""
    facts: dict[str, set[str]] = {}
    tree: Domain = program.tree
    for path in paths(tree):
        found: set[str] = set()
        for step in path.steps:
            if isinstance(step, Member):
                found |= {"tile"} if step.role is Role.TILE else set()
                found |= {"parallel"} if step.parallel else set()
        for piece in r.sets_of(path.instances):
            facts.setdefault(r.tuple_name(piece, r.SET), set()).update(found)
    return facts
