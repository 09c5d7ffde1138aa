"""Makes a failing case smaller while it fails in the same way: fewer nests and runs, plainer parts and options.

Every tree of the model is a program without overflow, so that any part may be replaced by a plainer one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from polyc.model.program import InputOptions, Options
from tests.fuzz.case import Case
from tests.fuzz.draw import cleaned
from tests.fuzz.model import (
    Array,
    Assert,
    Assign,
    Call,
    Choose,
    Clamp,
    Data,
    Declare,
    Extreme,
    If,
    Index,
    Item,
    Let,
    Linear,
    Logic,
    Loop,
    Number,
    Op,
    Position,
    Product,
    Program,
    Quasi,
    Read,
    Repeat,
    Run,
    Stop,
    Temporary,
    Ternary,
    Total,
    Update,
    Wrap,
    transform,
)

VALUES = (Op, Call, Choose, Position, Read, Temporary)
ITEMS = (Assign, Declare, Update, Assert, Let, Loop, If, Stop, Repeat)


def minimised(case: Case, fails: Callable[[Case], bool], limit_seconds: float = 120) -> Case:
    """The smallest case found within the time that still fails."""
    end = time.monotonic() + limit_seconds
    progress = True
    while progress:
        progress = False
        for smaller in variants(case):
            if time.monotonic() > end:
                return case
            if fails(smaller):
                case, progress = smaller, True
                break
    return case


def variants(case: Case) -> Iterator[Case]:
    """Cases with one thing less, the largest things first."""
    program = case.program
    count = len(program.nests)
    for size in sorted({count // 2, count // 4, 1} - {0}, reverse=True):
        for start in range(0, count, size):
            nests = program.nests[:start] + program.nests[start + size :]
            if nests:
                yield with_program(case, replace(program, nests=nests, split=0))
    if program.split:
        yield with_program(case, replace(program, split=0))
    if program.detected and not any(run.placed for run in program.runs):
        marked = with_program(case, replace(program, detected=False))
        yield replace(marked, inputs=replace(case.inputs, detect=False))
    for run in range(len(program.runs)):
        if len(program.runs) > 1:
            yield with_program(case, replace(program, runs=program.runs[:run] + program.runs[run + 1 :]))
        for smaller in plainer_runs(program.runs[run]):
            runs = (*program.runs[:run], smaller, *program.runs[run + 1 :])
            yield with_program(case, replace(program, runs=runs))
    yield from plainer_options(case)
    if program.live_out is not None:
        yield with_program(case, replace(program, live_out=None))
    for nests in smaller_tuples(program.nests, top=True):
        yield with_program(case, replace(program, nests=nests))
    for number, array in enumerate(program.arrays):
        for plainer in plainer_arrays(array):
            arrays = (*program.arrays[:number], plainer, *program.arrays[number + 1 :])
            yield with_program(case, replace(program, arrays=arrays))
    for simpler in (
        replace(program, counter="int"),
        replace(program, counters_after=False),
        replace(program, made=False),
        replace(program, called=False),
        replace(program, walked=False),
        replace(program, rows=False),
        replace(program, views=False),
        replace(program, packed=False),
        replace(program, transfers=False),
        replace(program, included=False),
        replace(program, worded=False),
        replace(program, by_option=False),
        replace(program, macro=True),
    ):
        if simpler != program:
            yield with_program(case, simpler)
    if any(type_ != "int" for _, type_ in program.types):
        yield with_program(case, replace(program, types=tuple((name, "int") for name, _ in program.types)))


def plainer_runs(run: Run) -> Iterator[Run]:
    for number in range(len(run.placed)):
        yield replace(run, placed=run.placed[:number] + run.placed[number + 1 :])
    if run.calls > 1:
        yield replace(run, calls=1)
    if run.starved:
        yield replace(run, starved=False)


def with_program(case: Case, program: Program) -> Case:
    return replace(case, program=cleaned(program))


def plainer_options(case: Case) -> Iterator[Case]:
    """One option at a time as it is by default."""
    for f in fields(Options):
        default = getattr(Options(), f.name)
        if getattr(case.options, f.name) != default:
            yield replace(case, options=replace(case.options, **{f.name: default}))
    if case.inputs != InputOptions(detect=case.inputs.detect):
        yield replace(case, inputs=InputOptions(detect=case.inputs.detect))
    sizes = case.options.tile_sizes
    if isinstance(sizes, tuple) and len(sizes) > 1:
        yield replace(case, options=replace(case.options, tile_sizes=sizes[:1]))


def plainer_arrays(array: Array) -> Iterator[Array]:
    if array.type != "double" and not array.index:
        yield replace(array, type="double")
    if array.kind != "argument" and array.rank != 0:
        yield replace(array, kind="argument", read_after=False)
    if array.pair:
        yield replace(array, pair=False)
    if array.flat:
        yield replace(array, flat=False)
    if array.narrow:
        yield replace(array, narrow=False)
    if array.pointer:
        yield replace(array, pointer=False)
    if array.read_after:
        yield replace(array, read_after=False)
    if any(array.parameters):
        yield replace(array, parameters=("",) * array.rank)


def smaller_tuples(items: tuple[Any, ...], top: bool = False) -> Iterator[tuple[Any, ...]]:
    """The tuple with one element removed, replaced by what is in it, or made smaller."""
    for number, item in enumerate(items):
        before, after = items[:number], items[number + 1 :]
        if isinstance(item, ITEMS) and len(items) > 1 and not top:
            yield before + after
        if isinstance(item, If):
            yield before + item.then + after
            if item.otherwise:
                yield before + item.otherwise + after
                yield (*before, replace(item, otherwise=()), *after)
        if isinstance(item, Let) and (inside := substituted(item)) is not None:
            yield before + inside + after
        for smaller in smaller_nodes(item):
            yield (*before, smaller, *after)


def substituted(let: Let) -> tuple[Item, ...] | None:
    """What an index temporary is for, with its value in its place; None where that is multiplied."""
    possible = True

    def change(node: Any) -> Any:
        nonlocal possible
        factor = dict(node.terms).get(let.name) if isinstance(node, Linear) else None
        if factor is None:
            return node
        possible = possible and factor == 1
        rest = replace(node, terms=tuple(term for term in node.terms if term[0] != let.name))
        return let.index if rest == Linear() else summed(let.index, rest)

    body: tuple[Item, ...] = transform(let.body, change)
    return body if possible else None


def summed(index: Index, rest: Linear) -> Index:
    if not isinstance(index, Linear):
        return Total(index, rest)
    terms = dict(index.terms)
    for name, factor in rest.terms:
        terms[name] = terms.get(name, 0) + factor
    return Linear(tuple((n, f) for n, f in terms.items() if f), index.constant + rest.constant)


def smaller_nodes(node: Any) -> Iterator[Any]:
    """What may stand in the place of a node, then the node with smaller parts."""
    match node:
        case Op() | Logic() | Extreme() | Total():
            yield node.left
            yield node.right
        case Product():
            yield node.left
        case Ternary():
            yield node.then
            yield node.otherwise
        case Clamp() | Wrap():
            yield node.inner
        case Call():
            yield from node.args
        case Choose():
            yield node.then
            yield node.otherwise
        case Quasi() | Data():
            yield node.inner
        case Position() | Temporary() | Read():
            yield Number(0)
        case Linear():
            if node.constant:
                yield replace(node, constant=0)
                if abs(node.constant) > 1:
                    yield replace(node, constant=int(node.constant / 2))
            for number in range(len(node.terms)):
                yield replace(node, terms=node.terms[:number] + node.terms[number + 1 :])
        case Loop():
            if node.step != 1:
                yield replace(node, step=1)
            if node.form != "<" or node.outside:
                yield replace(node, form="<", outside=False)
        case If():
            if node.form:
                yield replace(node, form="", name="")
        case Assign() | Update():
            if node.op != "=":
                yield replace(node, op="=")
        case _:
            pass
    if not is_dataclass(node):
        return
    whole: Any = node
    for f in fields(node):
        part = getattr(node, f.name)
        if isinstance(part, tuple) and part and is_dataclass(part[0]):
            for smaller in smaller_tuples(part):
                yield replace(whole, **{f.name: smaller})
        elif is_dataclass(part):
            for smaller in smaller_nodes(part):
                yield replace(whole, **{f.name: smaller})
