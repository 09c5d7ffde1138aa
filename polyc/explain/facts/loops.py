"""The loop nests as the user wrote them: where they are in the file, and which loop carries which dependence."""

from __future__ import annotations

from collections.abc import Iterator

from polyc.analysis.witness import carried, crossing
from polyc.explain.facts.nests import tuple_names
from polyc.model import relations as r
from polyc.model.program import Compiled, Program
from polyc.model.tree import Band, Extension, Leaf, Mark, Member, Node, Sequence
from polyc.model.witness import Finder, Witness
from polyc.poly import names as names_of
from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop of the user's."""

    name: str
    line: int
    """0 where it is not known."""
    depth: int
    """Loops of the nest around it."""
    statements: frozenset[str]
    """That it runs."""
    carries: Finder
    """Finds a dependence that it carries, on memory that all threads share."""
    private: Finder
    """The same, on arrays of which each thread may have a copy too."""
    turned: Finder
    """Finds a dependence that goes backward in this loop, inside of the loops around: it cannot become one of them."""


@dataclass(frozen=True, slots=True)
class Written:
    """A nest in the order that was written, or a statement that stands in no loop."""

    first_line: int
    last_line: int
    """Of its last statement or loop; closing braces may follow."""
    statements: tuple[str, ...]
    loops: tuple[Loop, ...]
    """Outermost first, in source order; () for a statement in no loop."""

    @property
    def lines(self) -> str:
        """`line 5`, or `lines 5-9`."""
        one = self.first_line == self.last_line
        return f"line {self.first_line}" if one else f"lines {self.first_line}-{self.last_line}"

    def shows(self, code: str) -> Witness | None:
        """What shows a reason of the report: a dependence that keeps two loops in their order, or that the nest
        carries."""
        if code == "no-band":
            return next((found for loop in self.loops if loop.depth and (found := loop.turned())), None)
        if code in ("carried-dependence", "vector-only"):
            return self.loops[0].carries() or self.loops[0].private()
        return None


def written(compiled: Compiled) -> list[Written]:
    """Nests and single statements of a region, in source order; those that were inlined as well."""
    program = compiled.initial
    found: list[Written] = []

    def descend(node: Node, names: set[str]) -> None:
        match node:
            case Leaf():
                found.extend(_place(program, (name,), ()) for name in program.scop.statements if name in names)
            case Band():
                known = tuple(name for name in program.scop.statements if name in names)
                if known:
                    found.append(_place(program, known, tuple(_loops(program, node, ()))))
            case Mark() | Extension():
                descend(node.child, names)
            case Sequence():
                for step in node.children:
                    descend(step.child, names & tuple_names(r.sets_of(step.filter)))

    descend(program.scop.tree.child, set(program.scop.statements))
    return sorted(found, key=lambda one: one.first_line)


def nest_at(compiled: Compiled, line: int) -> Written | None:
    """The nest that a line of the file belongs to: the last that begins there or above, in the region."""
    scop = compiled.initial.scop
    if not scop.span.line <= line <= scop.end_line:
        return None
    above = [one for one in written(compiled) if one.first_line <= line]
    return above[-1] if above and above[-1].loops else None


def _place(program: Program, names: tuple[str, ...], loops: tuple[Loop, ...]) -> Written:
    lines = [program.scop.statements[name].span.line for name in names] + [loop.line for loop in loops if loop.line]
    return Written(min(lines), max(lines), names, loops)


def _loops(program: Program, node: Node, outer: tuple[Member, ...]) -> Iterator[Loop]:
    """The loops of a subtree, each with what finds the dependences that it carries."""
    match node:
        case Band(members=members):
            for position, member in enumerate(members):
                above = outer + members[:position]
                yield Loop(
                    member.name,
                    member.line,
                    len(above),
                    frozenset(names_of(member.schedule.domain())),
                    carried(program, above, member, private=False),
                    carried(program, above, member),
                    crossing(program, above[:-1], member),
                )
            yield from _loops(program, node.child, outer + members)
        case Sequence(children=steps):
            for step in steps:
                yield from _loops(program, step.child, outer)
        case Mark() | Extension():
            yield from _loops(program, node.child, outer)
        case Leaf():
            return
