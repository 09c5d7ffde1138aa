"""What the other checks take for granted of a program, and what nobody may change.

A tree says less than the C text that is printed of it: where a buffer is declared, what its name hides, what a copy
does. The dataflow of `dataflow.py` is that of the text only if these agree with what `expand.py` makes of them:
  - the region is the one that the frontend read, and more may be assumed of its sizes, never less;
  - statements are the user's, or move one cell, or only ask for the line of one;
  - no instance runs twice in one place, and none runs that the region does not have;
  - every loop around an instance has a value for it: one without has no place in the order that the checks compare;
  - loops over time tiles, whose bounds the tree gives, leave out no tile;
  - each buffer has one declaration, at its depth, and every name means what is declared around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import islpy as isl

from polyc.analysis.expand import Expanded, buffer_of
from polyc.analysis.rows import with_rows
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Buffer, Program
from polyc.model.scop import AccessKind, Scop, Statement
from polyc.model.tree import Band, Extension, Mark, partial_schedule, walk
from polyc.poly import at_sizes, empty_set


def scop_faults(scop: Scop, original: Scop) -> list[Fault]:
    """What a pass changed of the region itself."""
    if scop is original:
        return []
    faults = [
        Fault("region", f"a pass changed the region's {what}", "")
        for what, same in (
            ("statements", scop.statements is original.statements),
            ("order", scop.tree is original.tree),
            ("arrays", scop.arrays is original.arrays),
            ("live-out arrays", scop.live_out == original.live_out),
            ("unset arrays", scop.unset == original.unset),
            ("parameters", scop.parameters is original.parameters),
            ("ties", scop.ties is original.ties),
            ("context", scop.context is original.context),
        )
        if not same
    ]
    lost = scop.assumed.intersect(original.context).subtract(original.assumed)
    if not lost.is_empty():
        faults.append(Fault("region", "a pass forgot what the region's guard has to ask", str(lost.sample_point())))
    return faults


def form_faults(program: Program, now: Expanded) -> list[Fault]:
    """Everything in which the program is not what the other checks take it for."""
    return [
        *_statement_faults(program),
        *_tile_faults(program),
        *instance_faults(program, now),
        *_loop_faults(program, now),
        *_declaration_faults(program, now),
        *_name_faults(program, now),
    ]


# --- statements ------------------------------------------------------------------------------------------------------


def _statement_faults(program: Program) -> list[Fault]:
    """Statements are the region's own; all others are copies of one cell."""
    faults: list[Fault] = []
    for name, statement in program.statements.items():
        own = program.scop.statements.get(name)
        if own is not None and (name in program.copies or not (statement is own or asks_ahead(own, statement))):
            faults.append(Fault("form", f"the statement {name} is not the region's", statement.text))
        elif own is None and not (name in program.copies and _moves_one_cell(statement)) and not prefetched(statement):
            faults.append(Fault("form", f"the statement {name} is no copy", statement.text))
    return faults


def prefetched(statement: Statement) -> str:
    """The array of which a statement only asks for the line of a cell, `__builtin_prefetch(&A[x], 1)`; "" else."""
    match statement.body:
        case c.ExprStmt(
            expr=c.Call(function=c.PREFETCH, arguments=(c.Unary(op="&", operand=c.ArrayRef() as cell), c.Literal()))
        ) if cell.subscripts == tuple(c.Name(loop) for loop in statement.loops) and not statement.accesses:
            return cell.array
        case _:
            return ""


def asks_ahead(own: Statement, now: Statement) -> bool:
    """Whether a statement is the region's, but for requests for lines of arrays in its blocks: these compute nothing.

    Their address is that of an element that is named by variables which the statement reads, and a number.
    """
    if any(getattr(now, f.name) is not getattr(own, f.name) for f in fields(own) if f.name != "body"):
        return False
    read = {_variable(n) for n in c.walk(own.body)}
    extra = [s for s in c.walk(now.body) if c.is_request(s)]
    same = c.rewrite(now.body, _without_requests) == c.rewrite(own.body, _without_requests)
    return same and all(_computes_nothing(s, read) for s in extra)


def _without_requests(node: c.Node) -> c.Node | None:
    """A block without requests, and no block where that leaves one statement."""
    if not isinstance(node, c.Block):
        return None
    items = tuple(c.rewrite(item, _without_requests) for item in node.body if not c.is_request(item))
    return items[0] if len(items) == 1 else c.Block(items)


def _variable(node: c.Node) -> tuple[str, str] | None:
    """What tells a variable, with the label of the reference, from others; None for what is none."""
    match node:
        case c.Name(name=name):
            return name, ""
        case c.ArrayRef(array=array, subscripts=(), ref=ref):
            return array, ref
        case _:
            return None


def _computes_nothing(request: c.Node, read: set[tuple[str, str] | None]) -> bool:
    """Whether a request's address is `(integer)&A[x]… + number`, with variables of `read` and numbers as subscripts."""
    match request:
        case c.ExprStmt(
            expr=c.Call(arguments=(c.Cast(operand=c.Binary(op="+", left=c.Cast(operand=place), right=c.Literal())),))
        ):
            pass
        case _:
            return False
    match place:
        case c.Unary(op="&", operand=c.ArrayRef(subscripts=subscripts)):
            return all(isinstance(s, c.Literal) or (_variable(s) or "") in read for s in subscripts)
        case _:
            return False


def _moves_one_cell(statement: Statement) -> bool:
    """`A[x] = A[x]`, with one side in a buffer."""
    if len(statement.accesses) != 2:
        return False
    read, write = statement.accesses
    if (read.kind, write.kind) != (AccessKind.READ, AccessKind.WRITE) or not (read.exact and write.exact):
        return False
    if read.array != write.array or not read.relation.is_equal(write.relation):
        return False
    if not (read.relation.is_single_valued() and read.relation.is_injective()):
        return False
    match statement.body:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef() as target, value=c.ArrayRef() as value)):
            return (target.array, target.ref) == (write.array, write.ref) and (
                (value.array, value.ref) == (read.array, read.ref) and read.ref != write.ref
            )
        case _:
            return False


# --- instances -------------------------------------------------------------------------------------------------------


def instance_faults(program: Program, now: Expanded) -> list[Fault]:
    """Instances that run twice in one iteration of all loops around, or that the region does not have."""
    faults: list[Fault] = []
    seen = empty_set(program.scop.domain)
    known = program.scop.known
    for run in now.runs:
        if run.path.nested:
            faults.append(Fault("form", f"{run.statement} is added inside of what was added", ""))
        instances = isl.UnionSet.from_set(run.instances)
        twice = seen.intersect(instances)
        if not twice.is_empty():
            faults.append(Fault("form", f"{run.statement} runs twice in one place", str(twice.sample_point())))
        seen = seen.union(instances)
        # `instance -> S[i]`, kept as pairs: without the tiles, it is their projection that takes isl long.
        runs_of = isl.UnionMap.from_map(at_sizes(run.contraction, known))
        if run.statement in program.copies:
            access = program.statements[run.statement].accesses[0]
            touched = runs_of.apply_range(isl.UnionMap.from_map(access.relation))
            faults += _foreign_cells(program, run.statement, access.array, touched)
            continue
        fetched = prefetched(program.statements[run.statement])
        if fetched and run.statement not in program.scop.statements:
            called = isl.Id.read_from_str(known.get_ctx(), fetched)
            named = run.contraction.set_tuple_id(isl.dim_type.out, called).intersect_params(known)
            faults += _foreign_cells(program, run.statement, fetched, isl.UnionMap.from_map(named))
            continue
        more = runs_of.subtract_range(program.scop.domain)
        if not more.is_empty():
            message = f"{run.statement} runs where the region does not run it"
            faults.append(Fault("form", message, str(more.range().sample_point())))
    return faults


def _loop_faults(program: Program, now: Expanded) -> Iterator[Fault]:
    """Loops without a value for some of the instances in them: isl would refuse to print these, which is no proof."""
    for run in now.runs:
        here = at_sizes(run.instances, program.scop.known)
        if any(not here.is_subset(column.domain()) for column in run.columns):
            yield Fault("form", f"a loop around {run.statement} has no value for some of its instances", "")


def _foreign_cells(program: Program, name: str, array: str, touched: isl.UnionMap) -> list[Fault]:
    """Cells that a copy touches, or a prefetch names, in a row of which no statement touches one: the array may be
    smaller."""
    for statement in program.scop.statements.values():
        for access in statement.accesses:
            if access.array == array:
                there = with_rows(program.scop.arrays[array], access.relation.range())
                touched = touched.subtract_range(isl.UnionSet.from_set(there))
    if touched.is_empty():
        return []
    return [Fault("form", f"{name} copies cells that the region does not touch", str(touched.range().sample_point()))]


def _tile_faults(program: Program) -> list[Fault]:
    """Tiles with instances over which the printed loops would not run; and instances that a tile is to run instead of
    its own where none is printed to do so."""
    faults: list[Fault] = []
    alone = [n for n in walk(program.tree.child) if isinstance(n, Extension) and n.whole]
    for node in walk(program.tree.child):
        if isinstance(node, Mark) and node.kind == "tiles" and isinstance(node.child, Band):
            below = node.child.child
            while isinstance(below, Mark):
                below = below.child
            alone = [n for n in alone if n is not below]
    if alone:
        faults.append(Fault("form", "instances in the place of others, and no tiles around them", ""))
    for node in walk(program.tree.child):
        if not isinstance(node, Mark) or node.kind != "tiles":
            continue
        if node.region is None or not isinstance(node.child, Band):
            faults.append(Fault("form", "tiles without loops, or without a region for them", ""))
            continue
        values = isl.UnionMap.from_multi_union_pw_aff(partial_schedule(node.child.members))
        ran = values.intersect_domain(program.scop.domain).intersect_params(program.scop.known).range()
        left_out = ran.subtract(isl.UnionSet.from_set(node.region))
        if not left_out.is_empty():
            faults.append(Fault("form", "the loops over tiles leave one out", str(left_out.sample_point())))
    return faults


# --- buffers ---------------------------------------------------------------------------------------------------------


def _declaration_faults(program: Program, now: Expanded) -> list[Fault]:
    """Each buffer is declared once, at its depth, with all its dimensions."""
    faults: list[Fault] = []
    declared: set[str] = set()
    for node in walk(program.tree.child):
        if isinstance(node, Mark) and node.kind == "allocate":
            for name in node.names:
                if name in declared:
                    faults.append(Fault("form", f"{name} is declared twice", ""))
                declared.add(name)
    depths: set[tuple[str, int]] = set()
    for run in now.runs:
        for mark, depth in zip(run.path.marks, run.path.mark_depths, strict=True):
            if mark.kind == "allocate":
                depths |= {(name, depth) for name in mark.names}
    for name, depth in sorted(depths):
        buffer = program.buffers[name]
        rank = program.scop.arrays[buffer.array].rank
        if buffer.depth != depth:
            faults.append(Fault("form", f"{buffer.name} is declared inside {depth} loops, not {buffer.depth}", ""))
        if buffer.places is not None:
            rank += 1  # the place
            faults += _place_faults(program, buffer)
        if len(buffer.extents) != rank:
            faults.append(Fault("form", f"{buffer.name} has {len(buffer.extents)} dimensions, not {rank}", ""))
        if (buffer.corner is None) != (buffer.storage == "private"):
            faults.append(Fault("form", f"{buffer.name} has no corner", ""))
        if buffer.corner is not None and buffer.corner.dim(isl.dim_type.in_) != depth:
            faults.append(Fault("form", f"the corner of {buffer.name} is not that of its tile", ""))
    return faults


def _place_faults(program: Program, buffer: Buffer) -> list[Fault]:
    """A scalar or array with places has one for each instance that uses it."""
    assert buffer.places is not None
    users = {name for name, _ in buffer.accesses}
    whole = empty_set(program.scop.domain)
    for name in users:
        whole = whole.union(isl.UnionSet.from_set(program.statements[name].domain))
    if buffer.storage == "spread" and buffer.places.is_single_valued() and whole.is_subset(buffer.places.domain()):
        return []
    return [Fault("form", f"{buffer.name} has no place for some of what uses it, or several", "")]


def _name_faults(program: Program, now: Expanded) -> list[Fault]:
    """Accesses whose name in C means something else where they stand, hidden by a buffer of the same name."""
    faults: dict[str, Fault] = {}
    for run in now.runs:
        inner: dict[str, list[Buffer]] = {}
        for mark in run.path.marks:
            if mark.kind == "allocate":
                here: dict[str, list[Buffer]] = {}
                for name in mark.names:  # those of one name share a place: `shared.py`
                    here.setdefault(program.buffers[name].name, []).append(program.buffers[name])
                inner |= here
        if not inner:
            continue
        for access in program.statements[run.statement].accesses:
            meant = buffer_of(program, run, access)
            array = program.scop.arrays[access.array]
            own = array.printed_name
            name = own if meant is None else meant.name
            if (name in inner) if meant is None else all(buffer is not meant for buffer in inner.get(name, ())):
                message = f"{name} in {run.statement} is hidden by a buffer of the same name"
                faults[message] = Fault("form", message, "")
        parameters = {p.name for p in program.scop.parameters} & set(inner)
        for name in sorted(parameters):
            if any(buffer.storage != "private" for buffer in inner[name]):
                faults[name] = Fault("form", f"the parameter {name} is hidden by a buffer of the same name", "")
    return list(faults.values())


__all__ = ["form_faults", "instance_faults", "scop_faults"]
