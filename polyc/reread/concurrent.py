"""Loops of the text that run at once are loops that the program's tree lets run at once.

math: a loop of the text with a pragma, or that is printed as operations on vectors, has for all parts below it the
      value of one band member m that the tree marks so; one with a pragma may have another value of m in each of its
      iterations instead. What stands before m on their paths is the same, and has one value for given values of the
      loops around. So two of its iterations are two of m's (`verify/order/races.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce

import islpy as isl

from polyc.analysis.expressions.facts import mentions
from polyc.analysis.expressions.reader import Value, agree, agree_plainly, piecewise, substitution
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import Array
from polyc.model.tree import Member, Step
from polyc.poly import constant_of
from polyc.reread.instances import Image
from polyc.reread.parts import Loop

_CLAUSE = re.compile(r"reduction\((\S+): (\w+(?:\[:\d+\])*)\)")
PARALLEL = "omp parallel for"
_COPIED = re.compile(r" firstprivate\(([\w, ]+)\)")
_COLLAPSE = re.compile(r" collapse\((\d+)\)")
_UNROLL = "GCC unroll"
_ATOMIC = "omp atomic"


def concurrency_faults(program: Program, loops: Sequence[Loop], images: Sequence[Image]) -> list[Fault]:
    """Loops that are marked and may not be."""
    by_part = {id(image.part): image for image in images}
    found: list[Fault] = []
    inside: set[int] = set()
    for loop in loops:
        together = collapsed(loop.node)
        if together is None:
            message = f"the loop {loop.name} of the text shares its threads with what is no loop directly inside of it"
            return [Fault("race", message, "")]
        inside |= {id(node) for node in together}
    for loop in loops:
        node = loop.node
        marked = [p for p in node.pragmas if not p.startswith(_UNROLL)]
        marked += [PARALLEL] if id(node) in inside else []
        if not (marked or node.lanes or node.owned or node.lookups or node.until):
            continue
        below = [by_part[id(part)] for part in loop.parts]
        member, position = _member(loop, below)
        if member is None and not (node.lanes or node.owned or node.lookups):
            member, position = _member_by_values(loop, below)
        if member is None:
            shown = marked[0] if marked else "until" if node.until else "vector"
            found.append(Fault("race", f"the loop {loop.name} of the text, '{shown}', is no loop of the program", ""))
            continue
        message = _wrong(program, node, marked, member) or _mixed(below, position, loop.depth)
        if message:
            found.append(Fault("race", f"the loop {loop.name} of the text {message}", ""))
    return found


def collapsed(node: c.For) -> list[c.For] | None:
    """The loops inside of one that are dealt out with it; None where they are not all that is inside of each other, or
    where the outer ones decide how long they are."""
    counts = [int(found[1]) for pragma in node.pragmas if (found := _COLLAPSE.search(pragma)) is not None]
    together = [node]
    while counts and len(together) < counts[0]:
        body = together[-1].body
        inner = body.body[0] if isinstance(body, c.Block) and len(body.body) == 1 else body
        outer = {name for one in together for name in _counters(one)}
        heads = [inner.init, inner.condition, inner.step] if isinstance(inner, c.For) else []
        if not isinstance(inner, c.For) or any(outer & mentions(head) for head in heads if head is not None):
            return None
        if inner.pragmas or inner.lanes or inner.owned or inner.lookups or inner.nontemporal or inner.until:
            return None
        together.append(inner)
    return together[1:]


def _counters(node: c.For) -> set[str]:
    return {node.init.name} if isinstance(node.init, c.Decl) else set() if node.init is None else mentions(node.init)


def _member(loop: Loop, below: list[Image]) -> tuple[Member | None, int]:
    """The band member whose value the loop is, for all parts below it, and its step."""
    found: tuple[Member | None, int] = None, -1
    for image in below:
        mine: tuple[Member | None, int] = None, -1
        for position, (column, step) in enumerate(zip(image.columns, image.run.path.steps, strict=True)):
            is_loop = isinstance(column, isl.Aff) and agree_plainly(column, image.reader.loop(loop.depth))
            if isinstance(step, Member) and is_loop:
                mine = step, position
                break
        if mine[0] is None or (found[0] is not None and (mine[0] is not found[0] or mine[1] != found[1])):
            return None, -1
        found = mine
    return found


def _member_by_values(loop: Loop, below: list[Image]) -> tuple[Member | None, int]:
    """A member with one value in each iteration of a loop and another one in each other: of a loop over 6 and 10 isl
    makes one over 3 and 5.

    math: with o the loops around and l the loop, { (o, l) -> (o, value of the member) } over all parts below is a
          function, and one-to-one
    """
    for position, step in enumerate(below[0].run.path.steps if below else ()):
        steps = [image.run.path.steps[position : position + 1] for image in below]
        if not isinstance(step, Member) or any(not one or one[0] is not step for one in steps):
            continue
        values = [_by_outer_loops(image, position, loop.depth + 1) for image in below]
        parts = [
            _valued(_iterations(image, loop.depth + 1), value)
            for image, value in zip(below, values, strict=True)
            if value is not None
        ]
        every = reduce(isl.Map.union, parts) if len(parts) == len(below) else None
        if every is not None and every.is_single_valued() and every.is_injective():
            return step, position
    return None, -1


def _valued(iterations: isl.Set, value: Value) -> isl.Map:
    """`{ (o, l) -> (o, value) }`, in some iterations of the loops."""
    around = iterations.dim(isl.dim_type.set) - 1
    same = iterations.identity().project_out(isl.dim_type.out, around, 1)
    return same.flat_range_product(isl.Map.from_pw_aff(piecewise(value)))


def _mixed(below: list[Image], position: int, depth: int) -> str:
    """What is wrong with the steps before the member; "" for nothing."""
    for image in below:
        for k in range(position):
            a, b = image.run.path.steps[k], below[0].run.path.steps[k]
            if isinstance(a, Step) and isinstance(b, Step):
                if a.index != b.index:
                    return "runs several nests of the program at once"
                continue
            one, two = _by_outer_loops(image, k, depth), _by_outer_loops(below[0], k, depth)
            if one is None or two is None:
                return "stands outside of a loop that is around it in the program"
            if a is not b or not _agree_below(one, two, image, below[0], depth):
                return "stands below other loops than in the program"
    return ""


def _agree_below(one: Value, two: Value, image: Image, other: Image, depth: int) -> bool:
    """Whether two values are equal in all iterations of the outermost loops that come to both parts."""
    if agree_plainly(one, two):
        return True
    return agree(one, two, _iterations(image, depth).intersect(_iterations(other, depth))) is None


def _by_outer_loops(image: Image, step: int, depth: int) -> Value | None:
    """The value of a step by the outermost loops of the text alone; None where these do not decide it."""
    value = image.columns[step]
    assert not isinstance(value, int)
    inner = value.dim(isl.dim_type.in_) - depth
    if not value.involves_dims(isl.dim_type.in_, depth, inner):
        return value.drop_dims(isl.dim_type.in_, depth, inner)
    relation = substitution(image.reader, [value]).relation().intersect_domain(image.domain)
    relation = relation.project_out(isl.dim_type.in_, depth, inner)
    return isl.PwMultiAff.from_map(relation).get_pw_aff(0) if relation.is_single_valued() else None


def _iterations(image: Image, depth: int) -> isl.Set:
    """The iterations of the outermost loops of the text that come to a part."""
    return image.domain.project_out(isl.dim_type.set, depth, image.domain.dim(isl.dim_type.set) - depth)


def _wrong(program: Program, node: c.For, marked: list[str], member: Member) -> str:
    """In what a loop differs from its member; "" for nothing."""
    arrays = program.scop.arrays
    said = {pair for pragma in marked for pair in _CLAUSE.findall(pragma)}
    allowed = {(operator, section(arrays[array])) for operator, array in member.reductions}
    if node.until and (not member.until or program.buffers[member.until].name != node.until):
        return "ends by other flags than in the program"
    if node.owned:
        names = {arrays[array].printed_name for _, array in member.owned}
        return "" if node.owned in names and not marked else "has other owners than in the program"
    if member.owned and marked:
        return "runs at once, and updates cells that have owners"
    for pragma in marked:
        if pragma.startswith(PARALLEL):
            if not member.parallel or (pragma.startswith(f"{PARALLEL} simd") and not member.vector):
                return "is parallel, and carries dependences in the program"
            copied = {name for names in _COPIED.findall(pragma) for name in names.split(", ")}
            if copied - _never_set(program):
                return "has copies of what may have elements, or change"
        elif pragma.startswith("omp simd"):
            if not member.vector:
                return "is a vector loop, and carries dependences in the program"
        else:
            return f"has a pragma that nobody knows, '{pragma}'"
    if (node.lanes or node.lookups) and not member.vector:
        return "is a vector loop, and carries dependences in the program"
    if node.lanes and node.lanes != member.lanes:
        return "has other lanes than in the program"
    if node.lookups and (member.lookups is None or member.lookups.width != node.lookups):
        return "looks up other rows than in the program"
    if marked and said != allowed:
        return "reduces into other arrays than in the program"
    if any(pragma.startswith("omp parallel") for pragma in marked):
        for _, array in member.atomics:
            if not _is_atomic(arrays[array].printed_name, node.body):
                return f"updates {arrays[array].printed_name} without care"
    return ""


def _never_set(program: Program) -> set[str]:
    """The sizes, and the pointers that lead to arrays: no region changes them."""
    sizes = {one.expr.name for one in program.scop.parameters if isinstance(one.expr, c.Name)}
    return sizes | {array.printed_name for array in program.scop.arrays.values() if array.is_pointer}


def _is_atomic(name: str, body: c.Stmt) -> bool:
    """Whether all uses of an array in a loop's body are atomic updates."""
    uses = [n for n in c.walk(body) if isinstance(n, c.ArrayRef) and n.array == name]
    updates = [n for n in c.walk(body) if isinstance(n, c.ExprStmt) and _ATOMIC in n.pragmas]
    inside = {id(n) for item in updates for n in c.walk(item)}
    return all(id(n) in inside for n in uses)


def section(array: Array) -> str:
    """All of an array, as a clause of OpenMP names it: `s`, `h[:256]`."""
    extents = "".join(f"[:{constant_of(extent)}]" for extent in array.extents if extent is not None)
    return array.printed_name + extents
