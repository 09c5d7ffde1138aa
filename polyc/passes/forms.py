"""The line of a pass in the pipeline, and the cheap check of form after it.

What a tree computes is shown once, of the last one (`polyc/verify`). Here it is only asked whether a tree is one: the
pass that broke it is named at once. Counts and names alone, and no operation of isl beyond them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

from polyc.model.program import Options, Pass, Program
from polyc.model.tree import Band, Domain, Extension, Leaf, Mark, Node, Role, Sequence, walk
from polyc.poly import names
from polyc.records import dataclass


class Form(Enum):
    """What a pass needs of a program, or promises of it."""

    AS_WRITTEN = "the tree is the region's own"
    NO_TILES = "no loop goes over tiles"
    NO_THREADS = "no loop is marked as parallel"
    DECLARED = "each buffer of a tile is declared once on every path"

    def holds(self, program: Program) -> bool:
        """Whether a program has it."""
        if self is Form.AS_WRITTEN:
            return program.tree is program.scop.tree
        if self is Form.DECLARED:
            return not list(_twice(program.tree.child, frozenset()))
        members = [m for node in walk(program.tree.child) if isinstance(node, Band) for m in node.members]
        if self is Form.NO_TILES:
            return all(m.role is not Role.TILE for m in members)
        return not any(m.parallel for m in members)


def always(_: Options) -> bool:
    """A pass that no option turns off."""
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A pass in its place."""

    name: str
    """In the pipeline, in `explain --pass`, and as the stage of its remarks."""
    run: Pass
    options: tuple[str, ...] = ()
    """The fields of Options that it reads itself, beside the target's."""
    when: Callable[[Options], bool] = always
    """Whether there is anything for it to do; it is listed, and runs as nothing, where not."""
    keeps: tuple[Form, ...] = ()
    """What it needs, and promises as well."""
    needs: tuple[Form, ...] = ()
    promises: tuple[Form, ...] = ()


class Broken(Exception):
    """A pass whose program has no form, or that was given one without what it needs."""


def unchanged(program: Program) -> Program:
    """The pass that does nothing."""
    return program


def checked(step: Step, options: Options) -> Pass:
    """The pass with the check of form before and after it; the pass that does nothing where options turn it off."""
    if not step.when(options):
        return unchanged

    def run(program: Program) -> Program:
        """Raises Broken."""
        lacks = next((form.value for form in (*step.keeps, *step.needs) if not form.holds(program)), "")
        if lacks:
            raise Broken(f"it needs that {lacks}")
        after = step.run(program)
        wrong = broken(step, program, after)
        if wrong:
            raise Broken(wrong)
        return after

    return run


def broken(step: Step, before: Program, after: Program) -> str:
    """What is wrong with the form of a program that a pass changed; empty if nothing is."""
    if after.tree is before.tree and after.buffers is before.buffers:
        return ""
    wrong = next(_malformed(after), "")
    lost = [form.value for form in (*step.keeps, *step.promises) if not form.holds(after)]
    return wrong or (f"it promised that {lost[0]}" if lost else "")


def _malformed(program: Program) -> Iterator[str]:
    """Everything in which a program has no form."""
    known = program.statements.keys()
    yield from (f"{name} is copied, and no statement" for name in program.copies - known)
    yield from (f"{name} is padded, and no statement" for name in program.padded.keys() - known)
    for key, buffer in program.buffers.items():
        if buffer.key != key:
            yield f"the buffer {key} is called {buffer.key}"
    yield from _of_node(program, program.tree)


def _of_node(program: Program, root: Domain) -> Iterator[str]:
    """The same of the nodes of a tree."""
    known = program.statements.keys()
    yield from (f"the tree runs {name}, which is no statement" for name in set(names(root.domain)) - known)
    for node in walk(root.child):
        match node:
            case Band(members=()):
                yield "a band has no loops"
            case Band(members=members):
                empty = [m.name for m in members if m.role is Role.TILE and m.size < 1]
                yield from (f"the tile loop {name} has no size" for name in empty)
            case Sequence(children=()):
                yield "a sequence has no steps"
            case Extension(relation=relation):
                added = set(names(relation.range())) - known
                yield from (f"an extension runs {name}, which is no statement" for name in added)
            case Mark(kind="allocate", names=declared):
                missing = set(declared) - program.buffers.keys()
                yield from (f"{name} is declared, and no buffer" for name in sorted(missing))


def _twice(node: Node, above: frozenset[str]) -> Iterator[str]:
    """Buffers that are declared on one path more than once."""
    match node:
        case Leaf():
            return
        case Sequence(children=steps):
            for step in steps:
                yield from _twice(step.child, above)
        case Mark(kind="allocate", names=declared, child=child):
            yield from above & set(declared)
            yield from _twice(child, above | set(declared))
        case Band(child=child) | Mark(child=child) | Extension(child=child):
            yield from _twice(child, above)
