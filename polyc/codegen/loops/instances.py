"""Statement instances: a statement's body for the iterators of the AST."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, partial

import islpy as isl

from polyc.analysis.expand import in_places, shift
from polyc.analysis.expressions.promoted import (
    EXTREMA,
    FLAG,
    NARROW,
    ROOTS,
    ROUNDED,
    VECTOR_EXTREMA,
    WHOLE,
    as_call,
    branch_of,
    is_int,
    is_of_constants,
    number_bytes,
    number_in,
    value_of_call,
)
from polyc.analysis.expressions.reader import agree, truth
from polyc.analysis.expressions.selects import has_choices
from polyc.analysis.expressions.straight import ABSOLUTE
from polyc.analysis.readable import adds_in_order, choices_of, makes_vectors, masked
from polyc.codegen.loops.exprs import ExprPrinter, condition, expression
from polyc.codegen.loops.iterations import Visit, iterations_of, tiles_of
from polyc.codegen.loops.written import as_written, in_loops
from polyc.codegen.text.tidy import simpler
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.model.program import Buffer, Hoist, Program
from polyc.model.scop import Access, AccessKind, Array, CType, Statement, Value
from polyc.model.tree import Domain, Member, Role, partial_schedule
from polyc.nests.strides import has_uneven_loops
from polyc.poly import at_sizes, constant_of, everywhere, names, pinned, set_name, sets
from polyc.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Scope:
    """Where we are in the AST: names of the loops above, members by depth, marks."""

    iterators: dict[str, c.Expr] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    members: dict[str, Member] = field(default_factory=dict)
    """isl's iterator name -> the member it runs."""
    buffers: tuple[Buffer, ...] = ()
    hoisted: frozenset[str] = frozenset()
    """Marks of declarations that stand at the top of the loop body already."""
    alone: bool = False
    """In a kernel: a single thread runs what is here."""
    iterations: tuple[frozenset[int], ...] = ()
    """What is printed in one iteration of the AST belongs to these of the tree's loops: the visits of each."""
    beside: tuple[tuple[int, tuple[Visit, ...]], ...] = ()
    """For each mark above: the number of band members above it, and what is printed below it."""
    waiting: tuple[str, ...] = ()
    """In a kernel: iterators of mapped loops that were entered and not printed yet."""
    parts: dict[str, str] = field(default_factory=dict)
    """In a kernel: arrays of which a thread combines a part of its own, and the variable that has it."""


class InstancePrinter:
    """Prints a statement's body for the iterators of the AST."""

    def __init__(
        self,
        program: Program,
        statement: Statement,
        visit: Visit,
        schedule: isl.Map,
        exprs: ExprPrinter,
        scope: Scope,
    ) -> None:
        self.program = program
        self.statement = statement
        self.visit = visit
        self.schedule = schedule
        self.exprs = exprs
        self.buffers = scope.buffers
        self.members = scope.members
        self.parts = scope.parts
        self.beside = scope.beside
        self.to_instance = schedule.reverse()
        self.accesses: dict[str, Access] = {a.ref: self._printed(a) for a in statement.accesses if a.ref}
        self.instance: tuple[c.Expr, ...] = ()
        self.outer: dict[int, isl.Map] = {}
        """What `_outer` found."""
        self.depth_found = 0
        """So many members had values that only what is beside the instance decided."""
        self.corners: dict[str, list[isl.AstExpr]] = {}
        """What `_corner` found."""
        self.tiles: dict[int, isl.MultiAff | None] = {}
        """What `_tile` found."""
        self.ran: isl.Set | None = None
        """What `_ran` found."""
        self.function: isl.MultiAff | None = None
        """The instance as expressions of the AST's iterators, without divisions; None where there are none."""
        self.loops = self._loops()
        self.spelled: dict[c.Expr, str] = {}
        """What was printed for values that have names in the user's text."""

    def _printed(self, access: Access) -> Access:
        """The access with its function outside of the domain too, where it runs there: isl simplifies what it prints
        for where it is defined."""
        kind = self.program.padded.get(self.statement.name, "guarded")
        if kind == "guarded" or (kind == "zero" and access.kind is AccessKind.READ) or not access.exact:
            return access
        wider = everywhere(access.relation)
        return access if wider is None else replace(access, relation=wider)

    def body(self) -> c.Stmt:
        body = self.statement.body
        for hoist in self.program.hoisted:
            body = self._filled(body, hoist) if self._fills(hoist) else self._without(body, hoist)
        return c.rewrite(self._whole(self._selected(self._masked(body))), self._change)

    def _selected(self, body: c.Stmt) -> c.Stmt:
        """The statement with both branches of its choices computed, in a loop that compilers may make vectors of."""
        if (
            self.program.options.gpu
            or not has_choices(body)
            or self.program.scop.own_functions & (ABSOLUTE | ROOTS.keys())
        ):
            return body
        member = self._innermost()
        if member is None or not makes_vectors(self.program, member):
            return body
        members = list(self.members.values())
        if has_uneven_loops(member, members[: members.index(member)], self.program):
            return body
        found = choices_of(self.program, self.statement, self._ran(), lambda node: self._buffer(node) is not None)
        return found.taken(body)

    def _is_in_vectors(self) -> bool:
        """Whether compilers may make vectors of the innermost loop that is no short one."""
        member = self._innermost()
        return member is not None and makes_vectors(self.program, member)

    def _adds_in_order(self) -> bool:
        """Whether compilers may compute several terms of a sum at once, and add them one after the other."""
        member = self._innermost()
        around = tuple(m for m in self.members.values() if m is not member)
        return member is not None and adds_in_order(self.program, member, around)

    def _innermost(self) -> Member | None:
        around = (m for m in reversed(self.members.values()) if m.role not in (Role.UNROLLED, Role.WRITTEN_OUT))
        return next(around, None)

    def _looks_up(self) -> bool:
        """Whether values say which elements the innermost loop touches: many compilers load these one by one, and
        compute the values so as well."""
        member = self._innermost()
        ran = [self.program.statements[set_name(one)] for one in sets(member.schedule.domain())] if member else []
        return not all(access.exact for statement in ran for access in statement.accesses)

    def _whole(self, body: c.Stmt) -> c.Stmt:
        """`p = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v)` with the choice as a whole: gcc converts each of its branches
        by itself, and jumps then where it would have found a minimum and a maximum. And `fmax`, `sqrt` and reads of a
        `bool` as macros, since these keep loops from vectors."""
        statement, arrays = self.statement, self.program.scop.arrays
        if self.program.options.gpu:
            return body
        own = self.program.scop.own_functions
        types = dict(zip(statement.loops, statement.loop_types, strict=True))

        def is_whole(choice: c.Ternary) -> bool:
            return is_int(choice, arrays, types) and not is_of_constants(choice) and not is_narrow(choice)

        def is_narrow(choice: c.Expr) -> bool:
            """Whether it is one of some elements of few bytes, which are converted to no wider type and back."""
            if isinstance(choice, c.Ternary):
                return is_narrow(choice.then) and is_narrow(choice.otherwise)
            return isinstance(choice, c.ArrayRef) and 0 < arrays[choice.array].element.size_bytes < 4

        written = {access.ref for access in statement.accesses if access.kind is not AccessKind.READ}

        def roots() -> bool:
            return not self.program.scop.reads_errno and (self._is_in_vectors() or self._adds_in_order())

        def change(node: c.Node) -> c.Node | None:
            match node:
                case c.Call(function=name, arguments=(_, _) as both) if name in EXTREMA and name not in own:
                    macros = VECTOR_EXTREMA if self._is_in_vectors() else EXTREMA
                    return replace(node, function=macros[name], arguments=tuple(c.rewrite(a, change) for a in both))
                case c.Call(function=name, arguments=(one,)) if name in ROOTS and name not in own and roots():
                    return replace(node, function=ROOTS[name], arguments=(c.rewrite(one, change),))
                case c.Call(function=name, arguments=(one,)) if (
                    name in ROUNDED and name not in own and self._is_in_vectors() and not self._looks_up()
                ):
                    return replace(node, function=ROUNDED[name], arguments=(c.rewrite(one, change),))
                case c.ArrayRef(array=array, ref=ref) if (
                    arrays[array].rank
                    and arrays[array].element.text == "_Bool"
                    and ref not in written
                    and self._is_in_vectors()
                ):
                    return c.Call(FLAG, (node,))
                case c.Cast(type=text, operand=c.Ternary() as choice) if text in NARROW and is_whole(choice):
                    return replace(node, operand=c.Call(WHOLE, (c.rewrite(choice, change),)))
                case c.Assign(op="=", target=c.ArrayRef(array=array), value=c.Ternary() as choice):
                    element = arrays[array].element
                    if element.kind == "int" and 0 < element.size_bytes < 4 and is_whole(choice):
                        return replace(node, value=c.Call(WHOLE, (c.rewrite(choice, change),)))
            return None

        return c.rewrite(body, change)

    def _masked(self, body: c.Stmt) -> c.Stmt:
        """`at = x > m ? i : at` as `at += (x > m) * ((unsigned)i - at)`, where each iteration of a vector loop has a
        place: gcc stores the former below a branch, which is mispredicted wherever one of a vector is chosen. Without a
        sign, no difference overflows."""
        match body:
            case c.If():
                return masked(self.program, replace(self.statement, body=body))
            case c.ExprStmt(
                expr=c.Assign(
                    op="=",
                    target=c.ArrayRef() as place,
                    value=c.Ternary(condition=c.Binary(op=op) as test, then=value, otherwise=c.ArrayRef() as kept),
                )
            ) if op in c.COMPARISONS and (kept.array, kept.subscripts) == (place.array, place.subscripts):
                element = self.program.scop.arrays[place.array].element
                buffer, extremum = (
                    self._buffer(place),
                    c.unlabelled(value) in map(c.unlabelled, (test.left, test.right)),
                )
                if element.kind == "int" and not extremum and buffer is not None and buffer.places is not None:
                    if element.size_bytes in (4, 8):
                        value = c.Cast("unsigned" if element.size_bytes == 4 else "unsigned long long", value)
                    change = c.Binary("*", test, c.Binary("-", value, kept))
                    return replace(body, expr=c.Assign("+=", place, change))
        return body

    def _fills(self, hoist: Hoist) -> bool:
        """Whether this copies into a panel of values of an expression."""
        name = self.statement.name
        mine = {ref for statement, ref in self.program.buffers[hoist.buffer].accesses if statement == name}
        return name in self.program.copies and bool(mine)

    def _filled(self, body: c.Stmt, hoist: Hoist) -> c.Stmt:
        """A copy that stores the expression of the cell."""
        assert isinstance(body, c.ExprStmt)
        assert isinstance(body.expr, c.Assign)
        cell = body.expr.value

        def change(node: c.Node) -> c.Node | None:
            return cell if isinstance(node, c.ArrayRef) and node.ref == hoist.ref else None

        return replace(body, expr=replace(body.expr, value=c.rewrite(hoist.value, change)))

    def _without(self, body: c.Stmt, hoist: Hoist) -> c.Stmt:
        """A statement that has the panel's cell in the place of the expression, where it reads the panel."""
        if self.statement.name != hoist.statement:
            return body
        (cell,) = (n for n in c.walk(hoist.value) if isinstance(n, c.ArrayRef) and n.ref == hoist.ref)
        buffer = self._buffer(cell)
        if buffer is None or buffer.key != hoist.buffer:
            return body
        return c.rewrite(body, lambda node: cell if node == hoist.value else None)

    def inside_domain(self, body: c.Stmt) -> c.Stmt:
        """The body, where a tile runs instances outside of the statement's domain: under a condition, or with zero for
        what a copy would read there."""
        kind = self.program.padded.get(self.statement.name, "free")
        if kind == "free":
            return body
        inside = self._condition()
        if inside is None:
            return body
        if kind == "guarded":
            return c.If(inside, block_of((body,)))
        assert isinstance(body, c.ExprStmt)
        assert isinstance(body.expr, c.Assign)
        (stored,) = (a for a in self.statement.accesses if a.kind is not AccessKind.READ)
        element, zero = self.program.scop.arrays[stored.array].element, c.Literal("0")
        nothing = c.Cast(element.text, c.InitList((zero,))) if element.kind == "struct" else zero
        return replace(body, expr=replace(body.expr, value=c.Ternary(inside, body.expr.value, nothing)))

    def _condition(self) -> c.Expr | None:
        """When the instance is one of its domain; None where it always is."""
        here = at_sizes(self.to_instance, self.program.scop.known)
        inside = here.intersect_range(self.statement.domain).domain()
        if here.domain().is_subset(inside):
            return None
        return simpler(self.exprs.convert(condition(self.visit.build, inside.gist(here.domain()))))

    def note(self, kind: str) -> c.Note:
        """The place `at` which the statement's text starts, or its `end`; the first has the instance."""
        if kind != "at":
            return c.Note(kind, self.statement.name)
        name = self.statement.name
        if name not in self.program.scop.statements and name not in self.program.copies:
            # It fetches something ahead: nothing that it does says in which tile.
            away = (at for at in self.members if at not in self.exprs.iterators)
            left_out = [_depth(at) for at in away if name not in names(self.members[at].schedule.domain())]
            with suppress(InternalError):
                self._outer(max(left_out, default=-1) + 1)
        loops = tuple((self.members[at], self._claimed(at)) for at in sorted(self.members, key=_depth))
        return c.Note(kind, name, self.instance, loops)

    def _claimed(self, iterator: str) -> c.Expr | None:
        """The value of a band member: the loop's variable, or where isl left the loop out and the instance does not
        say which value it had, what was found for it."""
        if iterator in self.exprs.iterators or _depth(iterator) >= self.depth_found:
            return self.exprs.iterators.get(iterator)
        values = isl.PwMultiAff.from_map(self._outer(self.depth_found)).get_pw_aff(_depth(iterator))
        return self.exprs.convert(expression(self.visit.build, values))

    def _loops(self) -> dict[str, c.Expr]:
        """What each loop variable of the statement is, in the AST's iterators."""
        instance = isl.PwMultiAff.from_map(self.to_instance)
        self.function = _plain(instance)
        found: dict[str, c.Expr] = {}
        if self.function is not None:
            values = self._printed_values(self.function)
        else:
            pieces = (instance.get_pw_aff(k) for k in range(len(self.statement.loops)))
            values = [expression(self.visit.build, piece) for piece in pieces]
        for name, type_, printed in zip(self.statement.loops, self.statement.loop_types, values, strict=True):
            value = self.exprs.convert(printed)
            self.instance = (*self.instance, value)
            found[name] = _typed(value, type_)
        for item in self.statement.values:
            value = self._value(item)
            self.instance = (*self.instance, value)
            found[item.name] = _typed(value, item.type)
        return found

    def named_constants(self, name: Callable[[str], str]) -> Iterator[c.Decl]:
        """Variables for loops of one iteration that the statement compares with something: gcc says of `0 > n` with an
        unsigned n that it is always false."""
        types = dict(zip(self.statement.loops, self.statement.loop_types, strict=True))
        for loop, type_ in types.items():
            value = self.loops[loop]
            number = value.operand if isinstance(value, c.Cast) else value
            others = [_compared(n, loop) for n in c.walk(self.statement.body)] if isinstance(number, c.Literal) else []
            if any(o is not None and (not type_.signed or self._may_be_unsigned(o)) for o in others):
                chosen = name(loop)
                self.loops[loop] = c.Name(chosen)
                yield c.Decl(f"const {type_.text}", chosen, (), number)

    def _may_be_unsigned(self, value: c.Expr) -> bool:
        scop = self.program.scop
        unsigned = {p.name for p in scop.parameters if not p.type.signed}
        for node in c.walk(value):
            match node:
                case c.Name(name=name) if name in unsigned:
                    return True
                case c.ArrayRef(array=array) if array in scop.arrays and not scop.arrays[array].element.signed:
                    return True
                case c.Cast(type=text) if "unsigned" in text or text == "size_t":
                    return True
        return False

    def _value(self, item: Value) -> c.Expr:
        here = self.to_instance.apply_range(item.relation)
        if at_sizes(here, self.program.scop.known).is_empty():
            return c.Literal("0")  # nothing here evaluates it
        value = isl.PwMultiAff.from_map(here).get_pw_aff(0)
        return self.exprs.convert(expression(self.visit.build, value))

    def _change(self, node: c.Node) -> c.Node | None:
        if isinstance(node, c.Name) and node.name in self.loops:
            return self.loops[node.name]
        if isinstance(node, c.ArrayRef):
            return self._reference(node)
        if isinstance(node, c.Binary) and self._is_even(node):
            return c.of_equals(node.op)
        if isinstance(node, c.Ternary) and (holds := self._truth(node.condition)) is not None:
            branch = branch_of(self.program.scop, self.statement, node, holds)
            return None if branch is None else c.rewrite(branch, self._change)
        if isinstance(node, c.Ternary) and self.program.scop.spelled and node in self.program.scop.spelled:
            return self._spelled(node)
        return None

    def _called(self, node: c.Node) -> c.Call | None:
        """A choice that data decide, as the call that it was written as: of functions that are optimised by themselves
        gcc makes fewer jumps, and computes what stays the same once."""
        if not isinstance(node, c.Ternary) or self.program.options.gpu:
            return None
        scop, types = self.program.scop, dict(zip(self.statement.loops, self.statement.loop_types, strict=True))
        call = as_call(node, scop.expressions)
        if call is None or not any(isinstance(one, c.ArrayRef) for one in c.walk(call)):
            return None
        return None if value_of_call(call, scop.expressions, scop.arrays, types) is None else call

    def _spelled(self, node: c.Ternary) -> c.Expr | None:
        """A value that has a name in the user's text, in its type."""
        found = in_loops(node, self._plain, self._types)
        size = number_bytes(self.program.scop, self.statement, node)
        if found is None or not size:
            return None
        self.spelled[found] = self.program.scop.spelled[node]
        return c.Cast("int" if size == 4 else "long", found)

    def _truth(self, condition: c.Expr) -> bool | None:
        """Whether a condition on loop variables holds in all instances here, or in none."""
        nodes = list(c.walk(condition))
        if any(isinstance(n, c.ArrayRef) for n in nodes) or not any(
            isinstance(n, c.Name) and n.name in self.loops for n in nodes
        ):
            return None
        # A hull is asked, since instances may be of many pieces, and all it takes to miss one is another comparison.
        domain = isl.Set.from_basic_set(self._ran().simple_hull())
        return truth(condition, partial(number_in, self.program.scop, self.statement), domain)

    def _is_even(self, node: c.Binary) -> bool:
        """Whether both sides of a comparison of loop variables have one value here: gcc warns of `n - 1 < n - 1`."""
        names = {n.name for n in c.walk(node) if isinstance(n, c.Name)}
        if node.op not in c.COMPARISONS or not self.loops.keys() & names:
            return False
        if (loops := c.compared_names(node)) is not None and self.loops.keys() >= {*loops}:
            return self.loops[loops[0]] == self.loops[loops[1]]
        one, other = (number_in(self.program.scop, self.statement, side) for side in (node.left, node.right))
        if one is None or other is None:
            return False
        return agree(one, other, self._ran()) is None

    def reference(self, node: c.ArrayRef) -> c.Expr:
        """One reference of the statement."""
        return self._reference(node)

    def _reference(self, node: c.ArrayRef) -> c.Expr:
        array = self.program.scop.arrays[node.array]
        access = self.accesses.get(node.ref)
        buffer = self._buffer(node)
        name = array.printed_name if buffer is None else buffer.name
        if access is not None and access.exact and len(node.subscripts) == array.rank:
            if buffer is not None and buffer.is_single:
                return self.cell(array, buffer, name, (), node.ref)
            place = self._place(buffer, access)
            if array.rank == 0 and (buffer is None or buffer.places is None):
                return self.cell(array, buffer, name, (), node.ref)
            divided = buffer is not None and buffer.corner is not None and _has_divisions(buffer.corner)
            planes = buffer is not None and _in_planes(buffer)
            moved = buffer if buffer is not None and buffer.corner is not None and not divided and not planes else None
            index = self._stepped(access, moved) if place is None else None
            if index is None:
                relation = self.to_instance.apply_range(access.relation if place is None else place)
                if moved is not None:
                    relation = self._outer(moved.depth).range_product(relation).apply_range(shift(moved))
                if at_sizes(relation, self.program.scop.known).is_empty():
                    # Under a condition that never holds here. isl has no expression for it, C asks for one.
                    none = (c.Literal("0"),) * relation.dim(isl.dim_type.out)
                    return self.cell(array, buffer, name, none, node.ref)
                index = self._index(relation)
            subscripts = tuple(self.exprs.convert(subscript) for subscript in index)
            if buffer is None:
                pairs = zip(node.subscripts, subscripts, strict=True)
                subscripts = tuple(self._as_written(one, other) for one, other in pairs)
            if buffer is not None and divided:
                subscripts = self.exprs.differences(index, self._corner(buffer))
            if buffer is not None and planes:
                own = zip(buffer.extents, subscripts, strict=True)
                subscripts = tuple(c.Literal("0") if constant_of(extent) == 1 else s for extent, s in own)
            return self.cell(array, buffer, name, _around(buffer, subscripts), node.ref)
        written = tuple(c.rewrite(c.rewrite(s, self._called), self._change) for s in node.subscripts)
        if buffer is not None and buffer.corner is not None:
            if access is None or not access.loose or len(written) != array.rank:
                raise InternalError(f"an access to {array.c_name} that is not affine goes to a buffer")
            if buffer.is_single:
                return self.cell(array, buffer, name, (), node.ref)
            written = _around(buffer, self._partly(access, buffer, written))
        return self.cell(array, buffer, name, written, node.ref)

    def _as_written(self, written: c.Expr, printed: c.Expr) -> c.Expr:
        """A subscript, as it was written if that is shorter."""
        found, names = as_written(written, printed, self._plain, self._types, self.program.scop.spelled)
        self.spelled |= names
        return found

    @property
    def _plain(self) -> dict[str, c.Expr]:
        """What each loop variable of the statement is, in 64 bits."""
        return {name: one.operand if isinstance(one, c.Cast) else one for name, one in self.loops.items()}

    @property
    def _types(self) -> dict[str, CType]:
        """The types of loop variables and sizes."""
        types = dict(zip(self.statement.loops, self.statement.loop_types, strict=True))
        return types | {p.name: p.type for p in self.program.scop.parameters if p.expr == c.Name(p.name)}

    def _partly(self, access: Access, buffer: Buffer, written: tuple[c.Expr, ...]) -> tuple[c.Expr, ...]:
        """The subscripts in a buffer of an access of which some depend on data: these stay as they were written.

        Such a subscript may be anything, so that the buffer has its whole dimension, from 0.
        """
        certain = replace(access, relation=pinned(access.relation, access.loose))
        place = self._place(buffer, certain)
        relation = self.to_instance.apply_range(certain.relation if place is None else place)
        if at_sizes(relation, self.program.scop.known).is_empty():
            written += (c.Literal("0"),) * (relation.dim(isl.dim_type.out) - len(written))
            return tuple(s if d in access.loose else c.Literal("0") for d, s in enumerate(written))
        relation = self._outer(buffer.depth).range_product(relation).apply_range(shift(buffer))
        found = [self.exprs.convert(subscript) for subscript in self._index(relation)]
        for d in access.loose:
            if found[d] != c.Literal("0"):
                raise InternalError("a dimension in which an access depends on data is not in a buffer as a whole")
            found[d] = written[d]
        return tuple(found)

    def _index(self, relation: isl.Map) -> list[isl.AstExpr]:
        """The subscripts of the element as expressions of the AST's iterators."""
        element, build = isl.PwMultiAff.from_map(relation), self.visit.build
        if element.n_piece() != 1:
            access = build.access_from_pw_multi_aff(element)
            return [access.op_get_arg(k) for k in range(1, access.op_get_n_arg())]
        # What is evaluated here is defined here: isl would take most of its time to find that out.
        return self._printed_values(_only_piece(element))

    def _stepped(self, access: Access, buffer: Buffer | None) -> list[isl.AstExpr] | None:
        """`_index` of an access, in a buffer if there is one, by expressions alone: relations take isl longer.

        None where that is not all: the access is one of some instances only. Where it goes to in several pieces, each
        subscript has those of its own: of a clamped row and a clamped column, each asks about its own loop.

        The instance and the tile have no divisions then: there are several ways to write what comes of these.
        """
        pieces = _pieces_of(access, self.statement) if self.function is not None else ()
        if len(pieces) > 1:
            ran = self._ran()
            pieces = tuple(piece for piece in pieces if not piece[0].intersect(ran).is_empty())
        if not pieces:
            return None
        assert self.function is not None
        corner: isl.MultiAff | None = None
        if buffer is not None:
            tile = self._tile(buffer.depth)
            if tile is None:
                return None
            assert buffer.corner is not None
            corner = buffer.corner.pullback_multi_aff(tile)
        if len(pieces) > 1:
            values = [self._here(value) for value in _by_subscript(pieces, self.statement)]
            if corner is not None:
                values = [value.sub(isl.PwAff.from_aff(corner.get_aff(k))) for k, value in enumerate(values)]
            return [expression(self.visit.build, value) for value in values]
        cell = pieces[0][1].pullback_multi_aff(self.function)
        return self._printed_values(cell if corner is None else cell.sub(corner))

    def _here(self, value: isl.PwAff) -> isl.PwAff:
        """A value of the instance in the AST's iterators, as one expression where one holds for all that runs here."""
        assert self.function is not None
        found = value.pullback_multi_aff(self.function)
        if found.n_piece() == 1:
            return found
        joined = isl.PwMultiAff.from_map(isl.Map.from_pw_aff(found).intersect_domain(self.to_instance.domain()))
        return joined.get_pw_aff(0) if joined.n_piece() == 1 else found

    def _ran(self) -> isl.Set:
        """The instances that this text runs."""
        if self.ran is None:
            self.ran = at_sizes(self.to_instance, self.program.scop.known).range()
        return self.ran

    def _tile(self, depth: int) -> isl.MultiAff | None:
        """What `_outer` says, as expressions without divisions; None where there are none."""
        if depth not in self.tiles:
            self.tiles[depth] = _plain(isl.PwMultiAff.from_map(self._outer(depth)))
        return self.tiles[depth]

    def _printed_values(self, values: isl.MultiAff) -> list[isl.AstExpr]:
        found = (values.get_aff(k) for k in range(values.dim(isl.dim_type.out)))
        return [expression(self.visit.build, isl.PwAff.from_aff(value)) for value in found]

    def _corner(self, buffer: Buffer) -> list[isl.AstExpr]:
        """The subscripts of the element that a buffer begins with, for buffers whose subscripts are printed as those of
        an element less these: of `i / 2` and `it / 2` together isl would make one division, `(i + it) / 2 - it`."""
        assert buffer.corner is not None
        if buffer.key not in self.corners:
            tile = self._tile(buffer.depth)
            if tile is None:
                lowest = self._outer(buffer.depth).apply_range(isl.Map.from_multi_aff(buffer.corner))
                self.corners[buffer.key] = self._index(lowest)
            else:
                self.corners[buffer.key] = self._printed_values(buffer.corner.pullback_multi_aff(tile))
        return self.corners[buffer.key]

    def cell(self, array: Array, buffer: Buffer | None, name: str, subscripts: tuple[c.Expr, ...], ref: str) -> c.Expr:
        """How an element of the array, or of the buffer that stands for it, is spelled."""
        if buffer is not None and buffer.order and subscripts:
            subscripts = tuple(subscripts[d] for d in buffer.order)
        return c.ArrayRef(name, subscripts, ref)

    def _place(self, buffer: Buffer | None, access: Access) -> isl.Map | None:
        """`{ S[i] -> t[x, v] }` for what has a place for each iteration of a loop."""
        if buffer is None or buffer.places is None:
            return None
        return in_places(buffer, self.statement.name, access.relation)

    def _buffer(self, node: c.ArrayRef) -> Buffer | None:
        for buffer in reversed(self.buffers):
            if buffer.array == node.array and (self.statement.name, node.ref) in buffer.accesses:
                return buffer
            if buffer.array == node.array and buffer.storage == "private":
                return buffer
        return None

    def _outer(self, depth: int) -> isl.Map:
        if depth not in self.outer:
            self.outer[depth] = self._band_values(depth)
        return self.outer[depth]

    def _band_values(self, depth: int) -> isl.Map:
        """The AST's iterators -> the values of the first `depth` band members.

        isl leaves a loop with one value (a tile that covers its whole dimension) out of the build's schedule, so that
        a position there is no position in the tree. Loops are found by their names, and a value that is left out is
        what the band's schedule allows at the others, for this instance.
        """
        kept = self.visit.kept(depth)
        first = self.visit.outer_loops(len(kept))
        if len(kept) == depth:
            return first
        tiles = _values_reached(self.program.tree, tuple(self.members[f"c{k}_"] for k in range(depth)))
        found = first.apply_range(_without_positions(tiles, kept, depth))
        if self.statement.name in self.program.copies and not first.domain().is_subset(found.domain()):
            # it also runs in tiles that compute nothing, in which the loops that are left out have the same values
            tiles = tiles.union(self._tiles(depth).range().intersect(_with_values(tiles, kept)))
            found = first.apply_range(_without_positions(tiles, kept, depth))
        found = found.coalesce()  # whether it has one value isl asks of each pair of pieces
        if not found.is_single_valued():
            runs_in = self._tiles(depth)
            found = found.intersect(self.to_instance.apply_range(runs_in)).coalesce()
        if not found.is_single_valued():
            here = first.reverse().apply_range(self.to_instance)
            found = found.intersect(first.apply_range(_tiles_of_all(here, runs_in))).coalesce()
        if not found.is_single_valued():
            found = self._as_beside(found, first, depth)
        if not found.is_single_valued():
            raise InternalError("isl left out a loop that has several values")
        return found

    def _as_beside(self, found: isl.Map, first: isl.Map, depth: int) -> isl.Map:
        """Those of the values that other statements below the same mark run for: they run in the same iteration."""
        above = [self.members[f"c{k}_"] for k in range(depth)]
        for visit in (visit for count, visits in self.beside if count == depth for visit in visits):
            if (theirs := iterations_of(self.program, [visit], above)) is not None:
                fewer = found.intersect(first.apply_range(theirs))
                found = fewer.union(found.subtract_domain(fewer.domain())).coalesce()
                if found.is_single_valued():
                    self.depth_found = max(self.depth_found, depth)
                    break
        return found

    def _tiles(self, depth: int) -> isl.Map:
        """`{ S[i] -> [o] }`: for which values of the first `depth` band members above this text an instance runs."""
        above = [self.members[f"c{k}_"] for k in range(depth)]
        return tiles_of(self.program, self.to_instance.range(), above)


@lru_cache(maxsize=100)
def _values_reached(tree: Domain, members: tuple[Member, ...]) -> isl.Set:
    """`{ [o] }`: the values of band members over all instances of a tree."""
    values = isl.UnionMap.from_multi_union_pw_aff(partial_schedule(members))
    return isl.Set.from_union_set(values.intersect_domain(tree.domain).range()).coalesce()


def _without_positions(tiles: isl.Set, kept: list[int], depth: int) -> isl.Map:
    """`{ [k] -> [o] }`: the tiles that have such values at the positions that are kept."""
    whole = isl.Map.identity(tiles.get_space().map_from_set()).intersect_domain(tiles)
    for k in reversed(range(depth)):
        if k not in kept:
            whole = whole.project_out(isl.dim_type.in_, k, 1)
    return whole


def _with_values(tiles: isl.Set, kept: list[int]) -> isl.Set:
    """What has, at each position that is not kept, one of the values that the tiles have there."""
    depth = tiles.dim(isl.dim_type.set)
    found = isl.Set.universe(tiles.get_space())
    for k in set(range(depth)) - set(kept):
        there = tiles.eliminate(isl.dim_type.set, 0, k).eliminate(isl.dim_type.set, k + 1, depth - k - 1)
        found = found.intersect(there)
    return found


def _depth(iterator: str) -> int:
    """The depth of the loop of one of isl's iterators, `c12_`."""
    return int(iterator[1:-1])


def _only_piece(function: isl.PwMultiAff) -> isl.MultiAff:
    pieces: list[isl.MultiAff] = []
    function.foreach_piece(lambda _, piece: pieces.append(piece))
    return pieces[0]


def _plain(function: isl.PwMultiAff) -> isl.MultiAff | None:
    """A function of one piece, without divisions."""
    found = _only_piece(function) if function.n_piece() == 1 else None
    return None if found is None or _has_divisions(found) else found


@lru_cache(maxsize=10_000)
def _pieces_of(access: Access, statement: Statement) -> tuple[tuple[isl.Set, isl.MultiAff], ...]:
    """An access of all instances of a statement as expressions for parts of them; () where it is one of some only.
    Kept, since a statement stands in several places of the text."""
    if not statement.domain.is_subset(access.relation.domain()):
        return ()
    pieces: list[tuple[isl.Set, isl.MultiAff]] = []
    isl.PwMultiAff.from_map(access.relation).foreach_piece(lambda domain, piece: pieces.append((domain, piece)))
    return tuple(pieces)


def _by_subscript(pieces: tuple[tuple[isl.Set, isl.MultiAff], ...], statement: Statement) -> list[isl.PwAff]:
    """Each subscript of an access in as few pieces as it has: where two pieces differ in the other subscripts only, it
    has one."""
    found: list[isl.PwAff] = []
    for k in range(pieces[0][1].dim(isl.dim_type.out)):
        parts = [isl.PwAff.alloc(domain, multi.get_aff(k)) for domain, multi in pieces]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.union_add(part)
        found.append(whole.coalesce().gist(statement.domain))
    return found


def _compared(node: c.Node, name: str) -> c.Expr | None:
    """What a name is compared with, if it is no number."""
    match node:
        case c.Binary(op="<" | "<=" | ">" | ">=", left=left, right=right):
            one, two = (left, right) if left == c.Name(name) else (right, left)
            return two if one == c.Name(name) and not isinstance(two, c.Literal) else None
        case _:
            return None


def _typed(value: c.Expr, ctype: CType) -> c.Expr:
    """A loop variable's value, in the type that it has in the user's text: with an unsigned operand, or in a call, that
    type decides the value."""
    if ctype.signed and (ctype.size_bytes == 8 or (isinstance(value, c.Literal) and ctype.size_bytes == 4)):
        return value
    return c.Cast(ctype.text, value)


def _tiles_of_all(here: isl.Map, runs_in: isl.Map) -> isl.Map:
    """`{ [c] -> [o] }`: the tiles that run all instances which one text runs, for loops that are left in the AST.

    here: `{ [c] -> S[i] }`, the text's instances; runs_in: `{ S[i] -> [o] }`, the tiles that run each of them
    """
    some = here.apply_range(runs_in)
    lacking = here.range_product(some).subtract_range(runs_in.wrap())
    return some.subtract(lacking.range_factor_range())


def _around(buffer: Buffer | None, subscripts: tuple[c.Expr, ...]) -> tuple[c.Expr, ...]:
    """The subscripts in a buffer that may be circular in one dimension; they are never negative there."""
    if buffer is None or buffer.window is None or not subscripts:
        return subscripts
    d = buffer.window
    rows = c.Literal(str(constant_of(buffer.extents[d])))
    return (*subscripts[:d], c.Binary("%", _less_last(subscripts[d]), rows), *subscripts[d + 1 :])


def _less_last(sum_: c.Expr) -> c.Expr:
    """`i + r + 1 - it` for `i + r - it + 1`: C compilers see so that row 0 of r = 1 is row 1 of r = 0.

    Below a remainder they take no signed sum apart, and would load each element once for each row that reads it.
    """
    more: list[c.Expr] = []
    less: list[c.Expr] = []
    node = sum_
    while isinstance(node, c.Binary) and node.op in ("+", "-"):
        (more if node.op == "+" else less).append(node.right)
        node = node.left
    found: c.Expr = node
    more.reverse()
    for term in sorted(more, key=lambda term: isinstance(term, c.Literal)):
        found = c.Binary("+", found, term)
    for term in reversed(less):
        found = c.Binary("-", found, term)
    return found


def _has_divisions(values: isl.MultiAff) -> bool:
    return any(values.get_aff(d).dim(isl.dim_type.div) > 0 for d in range(values.dim(isl.dim_type.out)))


def _in_planes(buffer: Buffer) -> bool:
    """Whether a data tile has one element in each plane of its array, or in each of some: of these it has all."""
    if buffer.corner is None or buffer.places is not None or buffer.window is not None:
        return False
    whole = (buffer.corner.get_aff(d) for d in range(buffer.corner.dim(isl.dim_type.out)))
    ones = [constant_of(extent) == 1 for extent in buffer.extents]
    return any(ones) and all(one or aff.plain_is_zero() for one, aff in zip(ones, whole, strict=True))


def block_of(items: tuple[c.Stmt, ...]) -> c.Stmt:
    if len(items) == 1 and isinstance(items[0], c.Block):
        return items[0]
    return items[0] if len(items) == 1 else c.Block(items)
