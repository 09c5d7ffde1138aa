"""Loops that flags end: what is left of an iteration of the strip does nothing, and the others do not see it.

math: let a member m of the tree ask for the flags of a buffer, which are those of a variable f, one for each P, the
      values of the first d loops around the statements as they were written. Shown is of the instances below, and of
      all that ask for the same flags beside each other, as one piece of code is printed for them (`read_endings.py`):
        (a) a statement S[P, i] has no effect where f is zero: all of it stands behind `if (f)`, or behind another flag
            that is set anew in each iteration, to f or to less; or it sets variables that only statements of that loop
            read, in the same P,
        (b) two of them, below the same values of the steps above, that touch one cell, one of them writing it, have
            the same P, but for what is declared in the innermost loop: so they may run P by P,
        (c) what is written to f is 0 or 1, so that the sum of all flags is 0 where all of them are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polyc.analysis.expand import Expanded, buffer_of
from polyc.analysis.order import Run
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Ending, Statement
from polyc.model.tree import Member, Step
from polyc.poly import maps
from polyc.records import dataclass
from polyc.verify.order.races import touching

TRUTH = c.COMPARISONS | {"&&", "||"}
KIND = "ending"


@dataclass(frozen=True, slots=True, eq=False)
class _Below:
    """A leaf below a loop that flags end."""

    run: Run
    accesses: tuple[tuple[Access, isl.Map], ...]
    position: int
    """Steps of the path that are the same for all that ask for the flags beside each other."""
    member: Member


def ended_faults(program: Program, now: Expanded) -> list[Fault]:
    """Loops that flags end, and in which something is left to do."""
    found: dict[str, list[_Below]] = {}
    for run, accesses in now.per_run:
        steps = run.path.steps
        for position, step in enumerate(steps):
            if isinstance(step, Member) and step.until:
                above = position - 1 if position and isinstance(steps[position - 1], Step) else position
                found.setdefault(step.until, []).append(_Below(run, tuple(accesses), above, step))
    return [fault for key, below in found.items() for fault in _faults(program, key, below)]


def _faults(program: Program, key: str, below: Sequence[_Below]) -> Iterator[Fault]:
    buffer = program.buffers.get(key)
    if buffer is None:
        yield Fault(KIND, f"a loop ends by the flags {key}, which is no buffer", "")
        return
    depths = set[int]()
    for one in below:
        name = one.run.statement
        ending = _ending(program, buffer.array, [b.run.statement for b in below if b.member is one.member])
        if ending is None:
            yield Fault(KIND, f"{name} stands in a loop that ends by {buffer.array}, and in none as written", "")
            return
        depths.add(ending.depth)
        if not _rests(program, program.statements[name], ending):
            yield Fault(KIND, f"{name} has an effect where {buffer.array} is zero", "")
    if len(depths) != 1:
        yield Fault(KIND, f"loops that end by {buffer.array} stand in different loops", "")
        return
    for statement in program.statements.values():
        if any(a.array == buffer.array and a.kind is not AccessKind.READ for a in statement.accesses):
            yield from _other_values(program, statement, buffer.array)
    yield from _mixed(program, below, *depths)


def _ending(program: Program, flag: str, statements: Sequence[str]) -> Ending | None:
    """The loop as it was written that has all of some statements, and ends by a flag."""
    fits = (e for e in program.scop.endings if e.flag == flag and e.statements >= set(statements))
    return min(fits, key=lambda ending: len(ending.statements), default=None)


def _rests(program: Program, statement: Statement, ending: Ending) -> bool:
    """(a)."""
    guards = {ending.flag, *(other.flag for other in program.scop.endings if _follows(program, other.flag, ending))}
    if _is_guarded(statement.body, guards):
        return True
    written = {a.array for a in statement.accesses if a.kind is not AccessKind.READ}
    if not written <= program.scop.privatizable - {ending.flag}:
        return False
    own = isl.UnionSet.from_set(statement.domain)
    for array in written:
        flow = program.dependences.flow_by_array.get(array)
        if flow is None:
            continue
        for piece in maps(flow.intersect_domain(own)):
            reader = piece.get_tuple_name(isl.dim_type.out)
            if reader not in ending.statements or not piece.is_subset(_same_place(piece, ending.depth)):
                return False
    return True


def _follows(program: Program, flag: str, ending: Ending) -> bool:
    """Whether another flag is zero in each iteration that begins with the loop's own at zero: it is set anew in each,
    to that one or to less."""
    if flag == ending.flag:
        return True
    for statement in program.statements.values():
        if any(a.array == flag and a.kind is not AccessKind.READ for a in statement.accesses) and not all(
            _is_less(node.value, ending.flag)
            for node in c.walk(statement.body)
            if isinstance(node, c.Assign) and isinstance(node.target, c.ArrayRef) and node.target.array == flag
        ):
            return False
    flow = program.dependences.flow_by_array.get(flag)
    for piece in maps(flow) if flow is not None else ():
        names = {piece.get_tuple_name(isl.dim_type.in_), piece.get_tuple_name(isl.dim_type.out)}
        if not names <= ending.statements or not piece.is_subset(_same_place(piece, ending.depth + 1)):
            return False
    return True


def _is_less(value: c.Expr, flag: str) -> bool:
    """Whether a value is zero where a flag is."""
    match value:
        case c.Literal(text=text):
            return text == "0"
        case c.ArrayRef(array=array):
            return array == flag
        case c.Binary(op="&&", left=left, right=right):
            return _is_less(left, flag) or _is_less(right, flag)
    return False


def _is_guarded(body: c.Stmt, flags: set[str]) -> bool:
    """Whether a statement does nothing where some flags are zero."""
    match body:
        case c.If(condition=c.ArrayRef(array=array), otherwise=None):
            return array in flags
        case c.Block(body=items):
            return bool(items) and all(_is_guarded(item, flags) for item in items)
        case c.ExprStmt(
            expr=c.Assign(op="=", target=target, value=c.Ternary(condition=c.ArrayRef(array=array), otherwise=other))
        ):
            return array in flags and c.unlabelled(target) == c.unlabelled(other)
    return False


def _same_place(piece: isl.Map, depth: int) -> isl.Map:
    """`{ S[P, i] -> T[P, j] }`."""
    found = isl.Map.universe(piece.get_space())
    for d in range(depth):
        found = found.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    return found


def _other_values(program: Program, statement: Statement, flag: str) -> Iterator[Fault]:
    """(c)."""
    if not _sets_truth(program, statement, flag, frozenset({flag})):
        yield Fault(KIND, f"{statement.name} writes to {flag} something else than 0 or 1", "")


def _sets_truth(program: Program, statement: Statement, flag: str, asked: frozenset[str]) -> bool:
    """Whether a statement gives a variable 0 or 1. asked: others of which that is known, or asked already"""
    for node in c.walk(statement.body):
        match node:
            case c.Assign(op=op, target=c.ArrayRef(array=array), value=value) if array == flag:
                right = op == "=" and _is_truth(program, value, asked)
            case c.Postfix(operand=c.ArrayRef(array=array)) if array == flag:
                right = False
            case c.Unary(op="++" | "--" | "&", operand=c.ArrayRef(array=array)) if array == flag:
                right = False
            case _:
                right = True
        if not right:
            return False
    return True


def _is_truth(program: Program, value: c.Expr, asked: frozenset[str]) -> bool:
    match value:
        case c.Literal(text=text):
            return text in ("0", "1")
        case c.Binary(op=op):
            return op in TRUTH
        case c.Unary(op="!"):
            return True
        case c.ArrayRef(array=array):
            own = array in program.scop.privatizable and not program.scop.arrays[array].rank
            return array in asked or (
                own
                and all(
                    _sets_truth(program, statement, array, asked | {array})
                    for statement in program.statements.values()
                    if any(a.array == array and a.kind is not AccessKind.READ for a in statement.accesses)
                )
            )
    return False


def _mixed(program: Program, below: Sequence[_Below], depth: int) -> Iterator[Fault]:
    """(b)."""
    position = min(one.position for one in below)
    shared = [(one.run, [(a, m) for a, m in one.accesses if not _is_inside(program, one.run, a)]) for one in below]
    arrays = {a.array for _, accesses in shared for a, _ in accesses if a.kind is not AccessKind.READ}
    for array in sorted(arrays):
        for pair in maps(touching(shared, array, position, program.scop).intersect_params(program.scop.known)):
            if not pair.is_subset(_same_place(pair, depth)):
                name = program.scop.arrays[array].c_name if array in program.scop.arrays else array
                yield Fault(KIND, f"iterations of a strip that flags end share {name}", str(pair.sample()))
                break


def _is_inside(program: Program, run: Run, access: Access) -> bool:
    """Whether an access goes to what is declared in the innermost loop."""
    buffer = buffer_of(program, run, access)
    loops = sum(isinstance(step, Member) for step in run.path.steps)
    return buffer is not None and buffer.depth >= loops
