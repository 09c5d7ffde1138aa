"""Edits that break a schedule tree, its buffers or its scop: each takes a program and answers a broken one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.scop import AccessKind, Statement
from polyc.model.tree import Band, Domain, Extension, Filter, Mark, Member, Node, Role, Sequence, rewrite
from polyc.poly import maps, set_name, sets, union_of

Edit = Callable[[Program], Program]
Change = Callable[[Node], Node | None]
"""The node changed, or None where the edit does not apply to it."""


def nth(change: Change, position: int = 0) -> Edit:
    """Apply a change to one node: the first that it applies to, counted bottom-up, or a later one."""

    def edit(program: Program) -> Program:
        seen = 0

        def visit(node: Node) -> Node:
            nonlocal seen
            changed = change(node)
            if changed is None:
                return node
            seen += 1
            return changed if seen == position + 1 else node

        return with_child(program, rewrite(program.tree.child, visit))

    return edit


def everywhere(change: Change) -> Edit:
    def edit(program: Program) -> Program:
        return with_child(program, rewrite(program.tree.child, lambda node: change(node) or node))

    return edit


def with_child(program: Program, child: Node) -> Program:
    return replace(program, tree=Domain(program.tree.domain, child))


# --- sequences -------------------------------------------------------------------------------------------------------


def reversed_steps(node: Node) -> Node | None:
    return Sequence(tuple(reversed(node.children))) if isinstance(node, Sequence) else None


def swapped_last_steps(node: Node) -> Node | None:
    if not isinstance(node, Sequence) or len(node.children) < 3:
        return None
    *rest, a, b = node.children
    return Sequence((*rest, b, a))


def first_step_dropped(node: Node) -> Node | None:
    return Sequence(node.children[1:]) if isinstance(node, Sequence) else None


def last_step_dropped(node: Node) -> Node | None:
    return Sequence(node.children[:-1]) if isinstance(node, Sequence) else None


def first_step_twice(node: Node) -> Node | None:
    return Sequence((node.children[0], *node.children)) if isinstance(node, Sequence) else None


def first_step_again_at_the_end(node: Node) -> Node | None:
    return Sequence((*node.children, node.children[0])) if isinstance(node, Sequence) else None


def filter_loses_a_row(node: Node) -> Node | None:
    """The last step runs no instance whose first dimension is 5."""
    if not isinstance(node, Sequence):
        return None
    last = node.children[-1]
    return Sequence((*node.children[:-1], Filter(without(last.filter, 5), last.child)))


def without(instances: isl.UnionSet, value: int) -> isl.UnionSet:
    kept = isl.UnionSet.empty(instances.get_space())
    for piece in sets(instances):
        if piece.dim(isl.dim_type.set) > 0:
            at = isl.Val.int_from_si(piece.get_ctx(), value)
            piece = piece.subtract(piece.fix_val(isl.dim_type.set, 0, at))
        kept = kept.union(isl.UnionSet.from_set(piece))
    return kept


# --- bands -----------------------------------------------------------------------------------------------------------


def band_edit(change: Callable[[Band], Band | None], role: Role | None = None) -> Change:
    def at(node: Node) -> Node | None:
        if not isinstance(node, Band) or (role is not None and node.members[0].role is not role):
            return None
        return change(node)

    return at


def _last(band: Band, member: Member) -> Band:
    return replace(band, members=(*band.members[:-1], member))


def reversed_last(band: Band) -> Band | None:
    return _last(band, replace(band.members[-1], schedule=band.members[-1].schedule.neg()))


def reversed_first(band: Band) -> Band | None:
    first = band.members[0]
    return replace(band, members=(replace(first, schedule=first.schedule.neg()), *band.members[1:]))


def swapped_members(band: Band) -> Band | None:
    return replace(band, members=tuple(reversed(band.members))) if len(band.members) > 1 else None


def lost_last(band: Band) -> Band | None:
    return replace(band, members=band.members[:-1]) if len(band.members) > 1 else None


def shifted_statement(band: Band) -> Band | None:
    """The first statement of several runs one iteration later than it should."""
    member = band.members[-1]
    pieces = sets(member.schedule.domain())
    if len(pieces) < 2:
        return None
    return _last(band, replace(member, schedule=_moved(member.schedule, {set_name(pieces[0])}, 1)))


def delayed_statement(band: Band) -> Band | None:
    """The first statement of several runs one iteration later in the outermost loop."""
    member = band.members[0]
    pieces = sets(member.schedule.domain())
    if len(pieces) < 2:
        return None
    moved = replace(member, schedule=_moved(member.schedule, {set_name(pieces[0])}, 7))
    return replace(band, members=(moved, *band.members[1:]))


def _moved(schedule: isl.UnionPwAff, names: set[str], distance: int) -> isl.UnionPwAff:
    pieces = schedule.get_pw_aff_list()
    found: isl.UnionPwAff | None = None
    for k in range(pieces.n_pw_aff()):
        piece = pieces.get_at(k)
        if set_name(piece.domain()) in names:
            shift = isl.PwAff.val_on_domain(piece.domain(), isl.Val.int_from_si(piece.get_ctx(), distance))
            piece = piece.add(shift)
        one = isl.UnionPwAff.from_pw_aff(piece)
        found = one if found is None else found.union_add(one)
    assert found is not None
    return found


def strip_of_all_at_once(band: Band) -> Band | None:
    """The last loop in the wrong order: even iterations first."""
    member = band.members[-1]
    pieces = member.schedule.get_pw_aff_list()
    found: isl.UnionPwAff | None = None
    for k in range(pieces.n_pw_aff()):
        piece = pieces.get_at(k)
        mod = piece.mod_val(isl.Val.int_from_si(piece.get_ctx(), 2))
        one = isl.UnionPwAff.from_pw_aff(mod.scale_val(isl.Val.int_from_si(piece.get_ctx(), 100000)).add(piece))
        found = one if found is None else found.union_add(one)
    assert found is not None
    return _last(band, replace(member, schedule=found))


def all_coincident(band: Band) -> Band | None:
    return replace(band, members=tuple(replace(m, coincident=True) for m in band.members))


def all_permutable(band: Band) -> Band | None:
    return replace(band, permutable=True)


def parallel_last(band: Band) -> Band | None:
    return _last(band, replace(band.members[-1], parallel=True))


def parallel_first(band: Band) -> Band | None:
    return replace(band, members=(replace(band.members[0], parallel=True), *band.members[1:]))


def shared(member: Member) -> Member:
    return replace(member, parallel=True)


def vector_last(band: Band) -> Band | None:
    return _last(band, replace(band.members[-1], vector=True, parallel=False))


def tiles_backwards(band: Band) -> Band | None:
    return reversed_first(band)


def tile_corner_moved(band: Band) -> Band | None:
    """A tile's corner is one further than its first iteration."""
    first = band.members[0]
    names = {set_name(p) for p in sets(first.schedule.domain())}
    return replace(band, members=(replace(first, schedule=_moved(first.schedule, names, 1)), *band.members[1:]))


def tile_of_another_size(band: Band) -> Band | None:
    """Tiles are as large as said in the first dimension, but their loop makes other steps."""
    first = band.members[0]
    size = isl.Val.int_from_si(first.schedule.get_ctx(), first.size + 1)
    return replace(
        band,
        members=(
            replace(first, schedule=first.schedule.scale_down_val(size).floor().scale_val(size)),
            *band.members[1:],
        ),
    )


def tile_loop_dropped(band: Band) -> Band | None:
    return replace(band, members=band.members[1:]) if len(band.members) > 1 else None


# --- extensions ------------------------------------------------------------------------------------------------------


def extension_edit(change: Callable[[isl.Map], isl.Map], which: int | None = None) -> Change:
    """Change one map of an extension (None: all of them)."""

    def at(node: Node) -> Node | None:
        if not isinstance(node, Extension):
            return None
        pieces = maps(node.relation)
        changed = [change(m) if which is None or k == which else m for k, m in enumerate(pieces)]
        return replace(node, relation=union_of(changed, isl.UnionMap.empty(node.relation.get_space())))

    return at


def range_shift(dimension: int, distance: int) -> Callable[[isl.Map], isl.Map]:
    """The tile's instances one further in a dimension, where they exist."""

    def change(relation: isl.Map) -> isl.Map:
        if relation.dim(isl.dim_type.out) <= dimension:
            return relation
        space = relation.get_space().range()
        shift = isl.MultiAff.identity_on_domain_space(space)
        one = shift.get_at(dimension).add_constant_val(isl.Val.int_from_si(relation.get_ctx(), distance))
        moved = relation.apply_range(isl.Map.from_multi_aff(shift.set_at(dimension, one)))
        return moved.intersect_range(relation.range())

    return change


def range_shrunk(dimension: int, at_end: bool) -> Callable[[isl.Map], isl.Map]:
    """The tile's instances without the first or last of a dimension."""

    def change(relation: isl.Map) -> isl.Map:
        if relation.dim(isl.dim_type.out) <= dimension:
            return relation
        one = relation.project_out(isl.dim_type.out, dimension + 1, relation.dim(isl.dim_type.out) - dimension - 1)
        one = one.project_out(isl.dim_type.out, 0, dimension)
        value = one.lexmax_pw_multi_aff() if at_end else one.lexmin_pw_multi_aff()
        extreme = isl.Map.from_pw_multi_aff(value)
        for _ in range(dimension):
            extreme = extreme.insert_dims(isl.dim_type.out, 0, 1)
        extreme = extreme.add_dims(isl.dim_type.out, relation.dim(isl.dim_type.out) - dimension - 1)
        return relation.subtract(extreme.set_tuple_id(isl.dim_type.out, relation.get_tuple_id(isl.dim_type.out)))

    return change


def range_grown(dimension: int, distance: int) -> Callable[[isl.Map], isl.Map]:
    moved = range_shift(dimension, distance)
    return lambda relation: relation.union(moved(relation))


def other_tile(distance: int) -> Callable[[isl.Map], isl.Map]:
    """What the neighbour tile needs."""

    def change(relation: isl.Map) -> isl.Map:
        space = relation.get_space().domain()
        shift = isl.MultiAff.identity_on_domain_space(space)
        last = space.dim(isl.dim_type.set) - 1
        one = shift.get_at(last).add_constant_val(isl.Val.int_from_si(relation.get_ctx(), distance))
        return isl.Map.from_multi_aff(shift.set_at(last, one)).apply_range(relation)

    return change


def extension_dropped(node: Node) -> Node | None:
    return node.child if isinstance(node, Extension) else None


def extension_piece_dropped(node: Node) -> Node | None:
    if not isinstance(node, Extension):
        return None
    pieces = maps(node.relation)
    return replace(node, relation=union_of(pieces[1:], isl.UnionMap.empty(node.relation.get_space())))


def extension_only_first_tile(relation: isl.Map) -> isl.Map:
    """Only the tile at 0 runs the producer: the others would find its values in the buffer, were it kept."""
    return relation.fix_val(isl.dim_type.in_, 0, isl.Val.zero(relation.get_ctx()))


def extension_adds_outputs(program: Program) -> Program:
    """The extension also adds the output's instances, which the tiles run anyway."""

    def change(node: Node) -> Node | None:
        if not isinstance(node, Extension) or not isinstance(node.child, Sequence):
            return None
        own = node.child.children[-1].filter
        pieces = maps(node.relation)
        tiles = pieces[0].domain()
        for piece in pieces[1:]:
            tiles = tiles.union(piece.domain())
        more = [isl.Map.from_domain_and_range(tiles, s).intersect_params(program.scop.context) for s in sets(own)]
        return replace(node, relation=union_of(more, node.relation))

    return nth(change)(program)


# --- marks and buffers -----------------------------------------------------------------------------------------------


def allocation_dropped(node: Node) -> Node | None:
    return node.child if isinstance(node, Mark) and node.kind == "allocate" else None


def allocation_above_the_band(node: Node) -> Node | None:
    """Declared outside of the loops that it belongs to."""
    if isinstance(node, Band) and isinstance(node.child, Mark) and node.child.kind == "allocate":
        mark = node.child
        return replace(mark, child=replace(node, child=mark.child))
    return None


def allocation_below_the_next_band(node: Node) -> Node | None:
    """Declared anew in each iteration of the loops inside."""
    if isinstance(node, Mark) and node.kind == "allocate":
        return _pushed(node.child, node)
    return None


def _pushed(node: Node, mark: Mark) -> Node | None:
    match node:
        case Band():
            return replace(node, child=replace(mark, child=node.child))
        case Sequence(children=steps):
            return Sequence(tuple(replace(s, child=_pushed(s.child, mark) or s.child) for s in steps))
        case Extension():
            below = _pushed(node.child, mark)
            return None if below is None else replace(node, child=below)
        case _:
            return None


def allocation_into_each_step(node: Node) -> Node | None:
    """Every step of the tile has a buffer of its own."""
    if not (isinstance(node, Mark) and node.kind == "allocate"):
        return None

    def into(below: Node) -> Node | None:
        match below:
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=replace(node, child=s.child)) for s in steps))
            case Extension():
                inner = into(below.child)
                return None if inner is None else replace(below, child=inner)
            case _:
                return None

    return into(node.child)


def buffer_edit(change: Callable[[Buffer], Buffer | None], storage: str = "tile") -> Edit:
    """Change every buffer of a kind."""

    def edit(program: Program) -> Program:
        buffers = {k: (change(b) or b) if b.storage == storage else b for k, b in program.buffers.items()}
        return replace(program, buffers=buffers)

    return edit


def corner_moved(dimension: int, distance: int) -> Callable[[Buffer], Buffer | None]:
    def change(buffer: Buffer) -> Buffer | None:
        if buffer.corner is None or buffer.corner.dim(isl.dim_type.out) <= dimension:
            return None
        one = buffer.corner.get_at(dimension)
        moved = one.add_constant_val(isl.Val.int_from_si(one.get_ctx(), distance))
        return replace(buffer, corner=buffer.corner.set_at(dimension, moved))

    return change


def corner_of_everything(buffer: Buffer) -> Buffer | None:
    """All tiles would share the cells from 0 on."""
    if buffer.corner is None:
        return None
    corner = buffer.corner
    for k in range(corner.dim(isl.dim_type.out)):
        corner = corner.set_at(k, isl.Aff.zero_on_domain(isl.LocalSpace.from_space(corner.get_space().domain())))
    return replace(buffer, corner=corner)


def extent_changed(dimension: int, distance: int) -> Callable[[Buffer], Buffer | None]:
    def change(buffer: Buffer) -> Buffer | None:
        if len(buffer.extents) <= dimension:
            return None
        old = buffer.extents[dimension]
        more = isl.PwAff.val_on_domain(old.domain(), isl.Val.int_from_si(old.get_ctx(), distance))
        return replace(buffer, extents=(*buffer.extents[:dimension], old.add(more), *buffer.extents[dimension + 1 :]))

    return change


def extent_lost(buffer: Buffer) -> Buffer | None:
    return replace(buffer, extents=buffer.extents[:-1])


def depth_changed(distance: int) -> Callable[[Buffer], Buffer | None]:
    return lambda buffer: replace(buffer, depth=buffer.depth + distance)


def access_lost(position: int) -> Callable[[Buffer], Buffer | None]:
    """One access stays on the array itself."""

    def change(buffer: Buffer) -> Buffer | None:
        found = sorted(buffer.accesses)
        return replace(buffer, accesses=buffer.accesses - {found[position % len(found)]})

    return change


def named_like_another_array(program: Program) -> Program:
    """The buffer hides an array that its tile reads as well."""

    def change(buffer: Buffer) -> Buffer | None:
        users = {s for s, _ in buffer.accesses}
        others = sorted(
            program.scop.arrays[a.array].c_name
            for s in users
            for a in program.statements[s].accesses
            if a.array != buffer.array and program.scop.arrays[a.array].rank == len(buffer.extents)
        )
        return replace(buffer, name=others[0]) if others else None

    return buffer_edit(change)(program)


def buffers_share_a_name(program: Program) -> Program:
    tiles = [b for b in program.buffers.values() if b.storage == "tile"]
    if len(tiles) < 2:
        return program
    return buffer_edit(lambda b: replace(b, name=tiles[0].name))(program)


def corner_forgotten(program: Program) -> Program:
    """The buffer is used with the array's own subscripts."""
    return buffer_edit(lambda b: replace(b, corner=None))(program)


# --- statements, copies and the scop ---------------------------------------------------------------------------------


def statement_edit(change: Callable[[Statement], Statement | None], copies: bool) -> Edit:
    """Change every statement, or every copy."""

    def edit(program: Program) -> Program:
        statements = {
            n: (change(s) or s) if (n in program.copies) == copies else s for n, s in program.statements.items()
        }
        return replace(program, statements=statements)

    return edit


def value_plus_one(statement: Statement) -> Statement | None:
    match statement.body:
        case c.ExprStmt(expr=c.Assign() as assign):
            more = c.Binary("+", assign.value, c.Literal("1"))
            return replace(statement, body=replace(statement.body, expr=replace(assign, value=more)))
        case _:
            return None


def write_forgotten(statement: Statement) -> Statement | None:
    """The statement's writes are not in its accesses, although its text has them."""
    return replace(statement, accesses=tuple(a for a in statement.accesses if a.kind is AccessKind.READ))


def reads_forgotten(statement: Statement) -> Statement | None:
    kept = tuple(a for a in statement.accesses if a.kind is not AccessKind.READ)
    return replace(statement, accesses=kept)


def may_write_as_must(statement: Statement) -> Statement | None:
    return replace(
        statement,
        opaque=False,
        accesses=tuple(
            replace(a, kind=AccessKind.WRITE) if a.kind is AccessKind.MAY_WRITE else a for a in statement.accesses
        ),
    )


def copy_of_the_neighbour(statement: Statement) -> Statement | None:
    """The copy reads one cell and writes the one beside it."""
    read, write = statement.accesses
    space = read.relation.get_space().range()
    shift = isl.MultiAff.identity_on_domain_space(space)
    last = space.dim(isl.dim_type.set) - 1
    one = shift.get_at(last).add_constant_val(isl.Val.one(space.get_ctx()))
    relation = read.relation.apply_range(isl.Map.from_multi_aff(shift.set_at(last, one)))
    return replace(statement, accesses=(replace(read, relation=relation), write))


def copies_turned_round(statement: Statement) -> Statement | None:
    """Out of the buffer instead of into it."""
    read, write = statement.accesses
    match statement.body:
        case c.ExprStmt(expr=c.Assign(target=target, value=value) as assign):
            assert isinstance(target, c.ArrayRef)
            assert isinstance(value, c.ArrayRef)
            body = replace(statement.body, expr=replace(assign, target=value, value=target))
            return replace(statement, accesses=(replace(read, ref=write.ref), replace(write, ref=read.ref)), body=body)
        case _:
            return None


def everything_is_a_copy(program: Program) -> Program:
    """Statements that compute are taken for copies, which the check looks through."""
    return replace(program, copies=frozenset(program.statements))


def no_copy_is_known(program: Program) -> Program:
    return replace(program, copies=frozenset())


def nothing_assumed(program: Program) -> Program:
    """The guard of the region is forgotten."""
    assumed = isl.Set.universe(program.scop.assumed.get_space())
    return replace(program, scop=replace(program.scop, assumed=assumed))


def too_much_assumed(program: Program) -> Program:
    """Sizes that the original code would run: it still does, behind the guard."""
    names = [p.name for p in program.scop.parameters]
    if not names:
        return program
    more = isl.Set(f"[{names[0]}] -> {{ : {names[0]} >= 30 }}")
    return replace(program, scop=replace(program.scop, assumed=program.scop.assumed.intersect(more)))


def context_narrowed(program: Program) -> Program:
    """Sizes are taken for known that are not, and no guard is printed for them."""
    names = [p.name for p in program.scop.parameters]
    if not names:
        return program
    more = isl.Set(f"[{names[0]}] -> {{ : {names[0]} = 40 }}")
    return replace(program, scop=replace(program.scop, context=program.scop.context.intersect(more)))


def nothing_live_out(program: Program) -> Program:
    """Nothing is needed afterwards, and the last nest of the region is dropped."""
    scop = replace(program.scop, live_out=frozenset())
    last = sorted(program.scop.statements)[-1]
    gone = isl.UnionSet.from_set(program.scop.statements[last].domain)
    return restricted(replace(program, scop=scop), program.tree.domain.subtract(gone))


def restricted(program: Program, instances: isl.UnionSet) -> Program:
    from polyc.model.tree import restrict

    return replace(program, tree=Domain(instances, restrict(program.tree.child, instances)))


def domain_without_a_row(program: Program) -> Program:
    return restricted(program, without(program.tree.domain, 3))


def original_tree_replaced(program: Program) -> Program:
    """The original order becomes the new one, after the loops of it were turned round."""
    turned = nth(band_edit(reversed_last))(program)
    if turned.buffers:
        return program
    return replace(turned, scop=replace(turned.scop, tree=turned.tree))
