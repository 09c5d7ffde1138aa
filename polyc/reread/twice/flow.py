"""What the text does to memory, and in which order: (4) and (5) of `compare.py`."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

import islpy as isl

from polyc.analysis.order import Run, order_map
from polyc.flow import Accesses
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind, Storage
from polyc.model.tree import LEAF, Mark, Path
from polyc.poly import empty_map, out_name
from polyc.reread.twice.local_arrays import window_of
from polyc.reread.twice.program import NotComparable
from polyc.reread.twice.text import Local, Part, Text, members
from polyc.verify.dataflow import dataflow_faults, is_panel
from polyc.verify.expand import Expanded
from polyc.verify.fault import Fault
from polyc.verify.races import carried_by


def flow_faults(text: Text, arrays: Container[str] | None = None) -> list[Fault]:
    """(4), of all arrays or of some, and (5)."""
    expanded, program = _expanded(text), _text_program(text)
    return dataflow_faults(program, expanded, arrays) + _race_faults(text, program, expanded)


def _expanded(text: Text) -> Expanded:
    """The text's instances with the region's accesses, a local array's cells apart for each of its lives."""
    itself = declared_again(text)
    start = empty_map(text.program.scop.domain)
    by_kind = dict.fromkeys(AccessKind, start)
    contraction = start
    per_run: list[tuple[Run, tuple[tuple[Access, isl.Map], ...]]] = []
    for part in text.parts:
        contraction = contraction.union(isl.UnionMap.from_map(part.to_instance))
        one: list[tuple[Access, isl.Map]] = []
        inside: list[tuple[Local, str]] = []
        for access in part.statement.accesses:
            relation = part.cells(access)
            local = _storage(text, part, access)
            if local is not None and local.array.name not in itself:
                inside.append((local, access.array))
                name = isl.Id.read_from_str(relation.get_ctx(), _cells(local, access.array))
                relation = part.run.in_tile(relation, local.depth).flatten_range()
                relation = relation.set_tuple_id(isl.dim_type.out, name)
            by_kind[access.kind] = by_kind[access.kind].union(isl.UnionMap.from_map(relation))
            one.append((access, relation))
        path = _marked(part.run.path, inside)
        run = replace(part.run, statement=part.statement.name, contraction=part.to_instance, path=path)
        per_run.append((run, tuple(one)))
    accesses = Accesses(by_kind[AccessKind.READ], by_kind[AccessKind.WRITE], by_kind[AccessKind.MAY_WRITE])
    found = [run for run, _ in per_run]
    return Expanded(tuple(found), order_map(found), accesses, contraction, tuple(per_run))


def declared_again(text: Text) -> set[str]:
    """Local arrays that are the region's own: declared once, around everything, as the model has it.

    What such an array holds at first, nobody wrote; the model calls it the array's value from before the region.
    """
    users: dict[str, set[str]] = {}
    for reference in (reference for part in text.parts for reference in part.references):
        users.setdefault(reference.then.array, set()).add(reference.now.array)
    return {
        key
        for name, keys in users.items()
        for key in keys
        if len(keys) == 1
        and key in text.locals
        and text.locals[key].depth == 0
        and text.program.scop.arrays[name].storage is Storage.REGION
    }


def _storage(text: Text, part: Part, access: Access) -> Local | None:
    """The local array that the text uses for an access."""
    by_ref = {r.now.array for r in part.references if access.ref and r.then.ref == access.ref}
    by_name = {r.now.array for r in part.references if r.then.array == access.array}
    used = by_ref or by_name
    if len(used) > 1:
        raise NotComparable(f"{part.statement.name} uses several arrays for {access.array}")
    return text.locals.get(next(iter(used), ""))


def _text_program(text: Text) -> Program:
    buffers = {}
    panels = [b for b in text.program.buffers.values() if is_panel(text.program, b)]
    ordered = {b.name: b.order for b in panels}
    for part in text.parts:
        for reference in part.references:
            local, array = text.local_of(reference.now), reference.then.array
            if local is not None:
                key, name = _cells(local, array), local.array.c_name
                window = window_of(text, local, array)
                buffers[key] = Buffer(
                    key,
                    name,
                    array,
                    None,
                    local.depth,
                    (),
                    "private",
                    frozenset(),
                    order=ordered.get(name, ()),
                    window=None if window is None else window.window,
                )
    return replace(text.program, buffers=buffers)


def _race_faults(text: Text, program: Program, expanded: Expanded) -> list[Fault]:
    """(5). Elements of what a loop's body declares are those of one iteration: their names have its number."""
    found: list[Fault] = []
    for kind, note, reduced in text.loops:
        member = members(note)[-1]
        position = note.path.steps.index(member)
        names = {text.scop.arrays[name].c_name for name in reduced}
        skipped = {name for name, array in text.program.scop.arrays.items() if array.c_name in names}
        own = {key for key, buffer in program.buffers.items() if buffer.depth >= len(members(note))}
        below_it = [
            (run, [(a, m) for a, m in accesses if a.array not in skipped and out_name(m) not in own])
            for run, accesses in expanded.per_run
            if len(run.path.steps) > position and run.path.steps[position] is member
        ]
        for array, witness in carried_by(below_it, position, text.program.scop):
            message = f"the {kind} loop of the text carries a dependence on {array}"
            found.append(Fault("race", message, witness))
    return found


def _marked(path: Path, inside: list[tuple[Local, str]]) -> Path:
    """The path with a mark for each local array in whose block it ends, as the tree has where buffers are declared."""
    for local, array in inside:
        above = len(local.run.path.steps) - 1
        path = replace(
            path,
            marks=(*path.marks, Mark("allocate", LEAF, names=(_cells(local, array),))),
            mark_depths=(*path.mark_depths, local.depth),
            mark_steps=(*path.mark_steps, above),
        )
    return path


def _cells(local: Local, array: str) -> str:
    """What the elements of a local array are called while it stands for an array of the region."""
    return f"{local.array.name}_text_{array}"
