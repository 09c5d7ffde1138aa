"""Edits that break contractions in registers: places of cells, panels, borders, and what is copied ahead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from polyc.model.program import Buffer, Program
from polyc.model.tree import THREAD_AXES, Band, Domain, Extension, Mark, Member, Node, Role, Sequence, rewrite
from polyc.poly import names, sets
from tests.mutation.edits import Change, Edit, everywhere
from tests.mutation.gpu_edits import members_edit


def is_register(member: Member) -> bool:
    return member.role is Role.REGISTER and member.digit is not None


def register_edit(change: Callable[[Member], Member]) -> Change:
    """Change the loops over a thread's registers."""
    return members_edit(lambda m: change(m) if is_register(m) else None)


def stored_at_once(change: Callable[[Member], Member]) -> Change:
    """Change the loops whose iterations are stored at once."""
    return members_edit(lambda m: change(m) if is_register(m) and m.vector else None)


def shifted_by_one(member: Member) -> Member:
    """Each vector begins one place further on."""
    one = isl.Val.one(member.schedule.get_ctx())
    pieces = [member.schedule.get_pw_aff_list().get_at(k) for k in range(member.schedule.get_pw_aff_list().n_pw_aff())]
    schedule: isl.UnionPwAff | None = None
    for piece in pieces:
        lanes = isl.Val.int_from_si(piece.get_ctx(), member.lanes)
        moved = isl.UnionPwAff.from_pw_aff(piece.add_constant_val(one).mod_val(lanes))
        schedule = moved if schedule is None else schedule.union_add(moved)
    assert schedule is not None
    return replace(member, schedule=schedule)


def digit_turned(member: Member) -> Member:
    """Rows are counted as columns."""
    assert member.digit is not None
    return replace(member, digit=(1 - member.digit[0], member.digit[1]))


def digit_weighs(weight: int) -> Callable[[Member], Member]:
    def change(member: Member) -> Member:
        assert member.digit is not None
        return replace(member, digit=(member.digit[0], weight))

    return change


def last_step_only(change: Change) -> Change:
    """Change the last step of a sequence that has register loops."""

    def at(node: Node) -> Node | None:
        if not isinstance(node, Sequence):
            return None
        *rest, last = node.children
        changed = rewrite(last.child, lambda n: change(n) or n)
        return Sequence((*rest, replace(last, child=changed))) if changed is not last.child else None

    return at


def threads_turned(node: Node) -> Node | None:
    """x and y change places."""
    turned = dict(zip(THREAD_AXES, reversed(THREAD_AXES), strict=True))
    return members_edit(lambda m: replace(m, mapped=turned[m.mapped]) if m.mapped in turned else None)(node)


def panel_loop(change: Callable[[Member], Member]) -> Change:
    """Change the loop over panels."""
    return members_edit(lambda m: change(m) if m.role is Role.TILE and not m.coincident and not m.mapped else None)


def panel_step(size: int) -> Change:
    """Panels of another depth than the copies have."""

    def change(member: Member) -> Member:
        pieces = member.schedule.get_pw_aff_list()
        found: isl.UnionPwAff | None = None
        for k in range(pieces.n_pw_aff()):
            piece = pieces.get_at(k)
            value = isl.Val.int_from_si(piece.get_ctx(), size)
            one = isl.UnionPwAff.from_pw_aff(piece.scale_down_val(value).floor().scale_val(value))
            found = one if found is None else found.union_add(one)
        assert found is not None
        return replace(member, schedule=found, size=size)

    return panel_loop(change)


def threads_mark(*sizes: int) -> Change:
    """Blocks of another shape than the registers are dealt out to."""
    return lambda node: replace(node, sizes=sizes) if isinstance(node, Mark) and node.kind == "threads" else None


def buffers_where(test: Callable[[Buffer], bool], change: Callable[[Buffer], Buffer]) -> Edit:
    def edit(program: Program) -> Program:
        changed = {key: change(b) if test(b) else b for key, b in program.buffers.items()}
        return replace(program, buffers=changed)

    return edit


def of_registers(change: Callable[[Buffer], Buffer]) -> Edit:
    return buffers_where(lambda b: b.storage == "register", change)


def of_panels(change: Callable[[Buffer], Buffer]) -> Edit:
    return buffers_where(lambda b: bool(b.order), change)


def fewer_registers(buffer: Buffer) -> Buffer:
    first, *rest = buffer.registers
    return replace(buffer, registers=(first - 1, *rest))


def padding(change: Callable[[str, str], str | None]) -> Edit:
    """Say something else of what lies outside of the domains: (statement, kind) -> kind, or None for no word of it."""

    def edit(program: Program) -> Program:
        changed = {name: change(name, kind) for name, kind in program.padded.items()}
        return replace(program, padded={n: k for n, k in changed.items() if k is not None})

    return edit


def kind_as(old: str, new: str | None) -> Edit:
    return padding(lambda _name, kind: new if kind == old else kind)


def copies_lost(start: str) -> Edit:
    """What copies some cells is not run: neither a step nor the extension has it."""

    def edit(program: Program) -> Program:
        gone = {n for n in program.copies if n.startswith(start)}

        def change(node: Node) -> Node:
            match node:
                case Sequence(children=steps):
                    kept = tuple(s for s in steps if not set(names(s.filter)) <= gone)
                    return Sequence(kept) if kept else node
                case _:
                    return node

        return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))

    return edit


def extension_of(start: str, change: Callable[[isl.Map], isl.Map]) -> Edit:
    """Other instances of copies (by the start of their names), or of producers that run for panels."""

    def at(node: Node) -> Node | None:
        if not isinstance(node, Extension):
            return None
        found = isl.UnionMap.empty(node.relation.get_space())
        pieces = node.relation.get_map_list()
        for k in range(pieces.n_map()):
            piece = pieces.get_at(k)
            wanted = str(piece.get_tuple_name(isl.dim_type.out)).startswith(start)
            found = found.union(isl.UnionMap.from_map(change(piece) if wanted else piece))
        return replace(node, relation=found)

    return everywhere(at)


def domain_grown(dimension: int) -> Edit:
    """The tree runs all of a statement's loop and 40 iterations more, which is past the end of its sum."""

    def edit(program: Program) -> Program:
        wider = program.tree.domain
        for piece in sets(program.tree.domain):
            if piece.dim(isl.dim_type.set) > dimension:
                text = ", ".join(f"i{k}" for k in range(piece.dim(isl.dim_type.set)))
                moved = ", ".join(
                    f"i{k} + 40" if k == dimension else f"i{k}" for k in range(piece.dim(isl.dim_type.set))
                )
                shift = isl.Map.read_from_str(piece.get_ctx(), f"{{ [{text}] -> [{moved}] }}")
                more = piece.reset_tuple_id().apply(shift).set_tuple_id(piece.get_tuple_id())
                wider = wider.union(isl.UnionSet.from_set(more))
        return replace(program, tree=Domain(wider, program.tree.child))

    return edit


def panel_above_its_loop(node: Node) -> Node | None:
    """The panels are declared around the loop that fills them."""
    match node:
        case Band(members=(member,), child=Mark(kind="allocate") as mark) if member.role is Role.TILE:
            return replace(mark, child=replace(node, child=mark.child))
        case _:
            return None
