"""The text of each statement is the program's: its expressions, the loops' values in them, and the places it touches.

math: let t be an instance of the text, g(t) = (o, i) the program's, and P the place that the program gives to an access
      of an instance: the array's element, or in a buffer that stands for it the element less the corner of tile o,
      modulo its length where the buffer is circular, in the order in which it is stored. Shown is that
        (1) the text of t is the statement's, with each loop variable replaced by an expression that is i, in its type,
        (2) each reference that is affine has the subscripts P(o, i), and goes to the variable that keeps them,
        (3) others are the statement's own, but for subscripts that are affine, and in a buffer less its corner,
        (4) what runs outside of a statement's domain is left out by a condition, stores zero, or runs, as the program
            has it.
"""

from __future__ import annotations

from typing import cast

import islpy as isl

from polyc.analysis.expand import buffer_for
from polyc.analysis.expressions.promoted import (
    EXTREMA,
    FLAG,
    ROOTS,
    ROUNDED,
    SIGNED,
    VECTOR_EXTREMA,
    WHOLE,
    as_call,
    branch_of,
    is_int,
    number_bytes,
    number_in,
    value_of_call,
)
from polyc.analysis.expressions.reader import NotAffine, Substitution, Value, agree, piecewise, substitution, truth
from polyc.analysis.expressions.selects import SELECTS, WHOLE_SELECT, is_conditional
from polyc.analysis.readable import choices_of, masked
from polyc.model import ctree as c
from polyc.model.program import Buffer, Hoist, Program
from polyc.model.scop import Access, Array, CType, Statement, Storage
from polyc.poly import at_sizes, constant_of, function_of, in_name, maps, pinned
from polyc.records import dataclass, field, fields, replace
from polyc.reread.instances import Image
from polyc.reread.parts import Declared, NotComparable, Refused


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A reference of the text to a buffer."""

    image: Image
    buffer: Buffer
    declared: Declared


@dataclass(slots=True, eq=False)
class Bodies:
    """The comparison of all statements' texts. Raises NotComparable, Refused."""

    program: Program
    uses: list[Use] = field(default_factory=list)
    """References to buffers, for `storage.py`."""
    _functions: dict[Access, isl.MultiAff | isl.PwMultiAff] = field(default_factory=dict)

    def compare(self, image: Image) -> None:
        """(1) to (4) of one part; narrows its domain where it has a condition of its own."""
        statement = self.program.statements[image.run.statement]
        expected = statement.body
        for hoist in self.program.hoisted:
            expected = _with_hoist(self.program, image, expected, hoist)
        found: tuple[c.Stmt, ...] = tuple(
            item for item in image.part.items if not isinstance(item, c.Comment | c.Empty | c.Note)
        )
        kind = self.program.padded.get(statement.name, "")
        if kind == "guarded" and len(found) == 1 and isinstance(found[0], c.If) and not isinstance(expected, c.If):
            found = self.inside(image, found[0])
        body = _Body(self, image, statement)
        if kind == "zero":
            found = body.zeroed(found)
        if isinstance(expected, c.If) and not any(isinstance(item, c.If) for item in found):
            expected = masked(self.program, replace(statement, body=expected))
        forms = [expected]
        if _is_taken(found, expected):
            ran = body.decided().relation().intersect_domain(at_sizes(image.domain, self.program.scop.known)).range()
            taken = choices_of(self.program, statement, ran, body.is_kept).taken(expected)
            # Without a word of its own, it may also be a choice that is decided there.
            forms = [taken] if _has_selects(found) else [expected, taken]
        present = tuple(inner for item in found for inner in _flat(item))
        forms = [form for form in forms if len(_flat(form)) == len(present)]
        if not forms:
            raise Refused(f"the text of {statement.name} has other statements", statement.text)
        body.start()
        before = list(self.uses)
        for form in forms:
            self.uses[:] = before
            if all(body.same(then, now) for then, now in zip(_flat(form), present, strict=True)):
                break
        else:
            raise Refused(f"the text of {statement.name} is another one", statement.text)
        body.check_values()

    def inside(self, image: Image, item: c.If) -> tuple[c.Stmt, ...]:
        """What stands below the condition that leaves out what is not of the domain."""
        if item.otherwise is not None:
            raise Refused(f"the condition of {image.run.statement} has another branch")
        try:
            image.domain = image.domain.intersect(image.reader.condition(item.condition))
        except NotAffine as what:
            raise NotComparable(f"the condition of {image.run.statement} is not affine ({what})") from None
        return item.then.body if isinstance(item.then, c.Block) else (item.then,)

    def function(self, access: Access) -> isl.MultiAff | isl.PwMultiAff:
        """`{ S[i] -> A[x] }`: one expression with no regard to where it is defined, or pieces."""
        if access not in self._functions:
            relation = pinned(access.relation, access.loose) if access.loose else access.relation
            single = function_of(relation)
            self._functions[access] = isl.PwMultiAff.from_map(relation) if single is None else single
        return self._functions[access]


@dataclass(slots=True, eq=False)
class _Body:
    """The comparison of one part."""

    whole: Bodies
    image: Image
    statement: Statement
    types: dict[str, CType] = field(init=False)
    positions: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        statement = self.statement
        named = [
            *zip(statement.loops, statement.loop_types, strict=True),
            *((v.name, v.type) for v in statement.values),
        ]
        self.types = dict(named)
        self.positions = {name: k for k, (name, _) in enumerate(named)}

    @property
    def program(self) -> Program:
        return self.whole.program

    def start(self) -> None:
        if len(self.image.instance) != len(self.positions):
            raise Refused(f"the text of {self.statement.name} has another number of loops")

    # --- (1)

    def stands_for(self, macro: str, function: str) -> bool:
        """Whether a macro has the values of a function; that of a root is for files that never name errno."""
        if macro in (EXTREMA.get(function), VECTOR_EXTREMA.get(function), ROUNDED.get(function)):
            return True
        return macro == ROOTS.get(function) and not self.program.scop.reads_errno

    def same(self, then: c.Node, now: c.Node) -> bool:
        """Whether a piece of the text is what the program's statement has there."""
        if isinstance(then, c.Name) and then.name in self.positions:
            return self.same_loop(then.name, now)
        if isinstance(then, c.ArrayRef):
            if isinstance(now, c.Call) and now.function == FLAG:
                is_flag = self.program.scop.arrays[then.array].element.text == "_Bool"
                return is_flag and self.same_reference(then, now.arguments[0])
            return self.same_reference(then, now)
        if isinstance(then, c.Ternary) and isinstance(now, c.Call) and now.function == WHOLE:
            types = {name: kind for name, kind in self.types.items() if name in self.statement.loops}
            return is_int(then, self.program.scop.arrays, types) and self.same(then, now.arguments[0])
        if isinstance(then, c.Ternary) and isinstance(now, c.Call) and now.function in self.program.scop.expressions:
            return self.same_call(then, now)
        if isinstance(then, c.Call) and isinstance(now, c.Call) and self.stands_for(now.function, then.function):
            now = replace(now, function=then.function)
        if isinstance(then, c.Binary) and isinstance(now, c.Literal):
            return now == c.of_equals(then.op) and self.is_even(then)
        if isinstance(then, c.Ternary) and (chosen := self.branch(then, now)) is not None:
            return self.same(chosen, now)
        if isinstance(then, c.Ternary) and isinstance(now, c.Cast):
            return self.same_number(then, now)
        if isinstance(then, c.Ternary) and isinstance(now, c.Name):  # a constant of a loop around
            value, declared = self.number(then), self.image.reader.names.get(now.name)
            if value is None and isinstance(declared, c.Ternary):
                return self.same(then, declared)
            return value is not None and self.agrees(value, now)
        if type(then) is not type(now):
            return False
        if isinstance(then, c.Assign) and isinstance(now, c.Assign) and (then.op, now.op) == ("=", "+="):
            now = self.unmasked(then, now)
        if isinstance(then, c.Block) and isinstance(now, c.Block):
            mine, other = _flat(then), _flat(now)
            return len(mine) == len(other) and all(self.same(a, b) for a, b in zip(mine, other, strict=True))
        for one in fields(then):
            if one.name in ("span", "ref", "pragmas", "runs"):
                continue
            if not self.same_field(getattr(then, one.name), getattr(now, one.name)):
                return False
        return True

    def same_call(self, then: c.Ternary, now: c.Call) -> bool:
        """Whether a call computes the expression that the statement has in its place."""
        scop = self.program.scop
        types = {name: kind for name, kind in self.types.items() if name in self.statement.loops}
        call = as_call(then, {now.function: scop.expressions[now.function]})
        if call is None or value_of_call(call, scop.expressions, scop.arrays, types) is None:
            return False
        return self.same_field(call.arguments, now.arguments)

    def is_kept(self, node: c.ArrayRef) -> bool:
        """Whether an element is read from a buffer, which has room for all that may be read."""
        return buffer_for(self.program, self.image.run, node.array, node.ref) is not None

    def unmasked(self, then: c.Assign, now: c.Assign) -> c.Assign:
        """`at += (x > m) * ((unsigned)i - at)` as `at = x > m ? i : at`, which is the same of whole numbers without a
        sign, and of those that fit into an int: a comparison is 0 or 1."""
        match then.target, now:
            case (
                c.ArrayRef(array=array),
                c.Assign(
                    target=c.ArrayRef() as place,
                    value=c.Binary(
                        op="*",
                        left=c.Binary(op=op) as test,
                        right=c.Binary(op="-", left=value, right=c.ArrayRef() as kept),
                    ),
                ),
            ) if op in c.COMPARISONS and (place.array, place.subscripts) == (kept.array, kept.subscripts):
                element = self.program.scop.arrays[array].element
                wide = {4: "unsigned", 8: "unsigned long long"}.get(element.size_bytes)
                if wide is not None and isinstance(value, c.Cast) and value.type == wide:
                    value, wide = value.operand, None
                if element.kind == "int" and wide is None:
                    return c.Assign("=", place, c.Ternary(test, value, kept))
        return now

    def same_field(self, then: object, now: object) -> bool:
        if isinstance(then, tuple) and isinstance(now, tuple):
            return len(then) == len(now) and all(self.same_field(a, b) for a, b in zip(then, now, strict=True))
        if then is None or now is None or isinstance(then, str | bool | int):
            return then == now
        if isinstance(then, c.Block) != isinstance(now, c.Block):
            then, now = _single(then), _single(now)
        return self.same(cast(c.Node, then), cast(c.Node, now))

    def branch(self, then: c.Ternary, now: c.Node) -> c.Expr | None:
        """The branch of a choice that the text has in its place, since its condition holds in all instances here, or in
        none."""
        if isinstance(now, c.Ternary) and self.same(then.condition, now.condition):
            return None
        holds = truth(then.condition, self.number, at_sizes(self.image.domain, self.program.scop.known))
        return None if holds is None else branch_of(self.program.scop, self.statement, then, holds)

    def is_even(self, node: c.Binary) -> bool:
        """Whether both sides of a comparison have one value in all instances of the text."""
        if node.op not in c.COMPARISONS:
            return False
        one, other = self.number(node.left), self.number(node.right)
        if one is None or other is None:
            return False
        return agree(one, other, at_sizes(self.image.domain, self.program.scop.known)) is None

    def number(self, expr: c.Expr) -> Value | None:
        """The value of an expression of the statement's loops and of sizes, at this place; None where C may compute
        another one than that of the numbers."""
        if isinstance(expr, c.Name) and expr.name in self.positions:
            return self.image.instance[self.positions[expr.name]]
        value = number_in(self.program.scop, self.statement, expr)
        return None if value is None else self.decided().of(value)

    def same_number(self, then: c.Expr, now: c.Cast) -> bool:
        """Whether the text has the value of an expression of loops and sizes in another form, in its type."""
        value = self.number(then)
        size = SIGNED.get(now.type)
        return (
            value is not None
            and size == number_bytes(self.program.scop, self.statement, then)
            and (self.agrees(value, now.operand))
        )

    def same_loop(self, name: str, now: c.Node) -> bool:
        """Whether an expression is the value of one of the statement's loops, in its type."""
        kind, position = self.types[name], self.positions[name]
        value = now
        if isinstance(now, c.Cast) and now.type == kind.text:
            value = now.operand
        elif isinstance(now, c.Name) and isinstance(self.image.reader.names.get(now.name), c.Literal):
            pass  # a constant of the loop's type, declared beside the statement
        elif not (kind.signed and (kind.size_bytes == 8 or (isinstance(now, c.Literal) and kind.size_bytes == 4))):
            return False
        return not isinstance(value, c.Stmt) and self.agrees(self.image.instance[position], value)

    def agrees(self, wanted: Value, now: c.Expr, inside: isl.Set | None = None) -> bool:
        """Whether an expression of the text has a value in all instances, or in those `inside` of a set."""
        try:
            found = self.image.reader.value(now)
        except NotAffine:
            return False
        domain = self.image.domain if inside is None else self.image.domain.intersect(inside)
        return agree(wanted, found, at_sizes(domain, self.program.scop.known)) is None

    def check_values(self) -> None:
        """The values of inlined producers' loops are those of the program, in the instances that need one."""
        statement, image = self.statement, self.image
        decided = self.decided()
        for item, found in zip(statement.values, image.instance[len(statement.loops) :], strict=True):
            wanted = decided.of(isl.PwMultiAff.from_map(item.relation).get_pw_aff(0))
            inside = decided.relation().intersect_range(item.relation.domain()).domain()
            differ = agree(wanted, found, at_sizes(image.domain.intersect(inside), self.program.scop.known))
            if differ is not None:
                message = f"a producer in {statement.name} is computed for another iteration"
                raise Refused(message, str(differ.sample_point()))

    # --- (4)

    def zeroed(self, found: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
        """A copy with the value that it stores inside of its domain: outside of it, it stores zero."""
        domain = self.inside_domain()
        outside = at_sizes(self.image.domain, self.program.scop.known).subtract(domain)
        match found:
            case [c.ExprStmt(expr=c.Assign(value=c.Ternary(otherwise=other)))] if (
                other == c.Literal("0") and outside.is_empty() and _stores_a_choice(self.statement.body)
            ):
                return found  # the condition is the statement's own
            case [
                c.ExprStmt(expr=c.Assign(value=c.Ternary(condition=condition, then=then, otherwise=other)) as store)
            ] if other == c.Literal("0"):
                try:
                    inside = self.image.reader.condition(condition)
                except NotAffine:
                    return found
                here = at_sizes(self.image.domain, self.program.scop.known)
                wrong = here.intersect(inside).subtract(domain).union(here.intersect(domain).subtract(inside))
                if not wrong.is_empty():
                    raise Refused(f"{self.statement.name} stores zero elsewhere", str(wrong.sample_point()))
                item = found[0]
                assert isinstance(item, c.ExprStmt)
                return (replace(item, expr=replace(store, value=then)),)
        if not outside.is_empty():
            raise Refused(f"{self.statement.name} stores no zero outside", str(outside.sample_point()))
        return found

    def inside_domain(self) -> isl.Set:
        """`{ [x] }`: where the instance is one of the statement's domain."""
        return self.decided().relation().intersect_range(self.statement.domain).domain()

    def decided(self) -> Substitution:
        """The statement's loops at this place."""
        space = self.image.run.contraction.get_space().range()
        return substitution(self.image.reader, self.image.instance[: len(self.statement.loops)], space)

    # --- (2) and (3)

    def same_reference(self, then: c.ArrayRef, now: c.Node) -> bool:
        """Whether a reference of the text goes where the program's does."""
        array = self.program.scop.arrays[then.array]
        buffer = buffer_for(self.program, self.image.run, then.array, then.ref)
        if not isinstance(now, c.ArrayRef):
            return False
        if not self.same_variable(array, buffer, now):
            return False
        access = self.access(then)
        if access is None and buffer is None and self.has_place(then.array):
            return False  # what the statement has written there is not in the array
        exact = access is not None and access.exact and len(then.subscripts) == array.rank
        if buffer is not None and buffer.is_single:
            return not now.subscripts
        if access is not None and exact:
            return self.at_place(access, buffer, now)
        if buffer is None or buffer.corner is None:
            return len(then.subscripts) == len(now.subscripts) and self.same_field(then.subscripts, now.subscripts)
        if access is None or not access.loose or len(then.subscripts) != array.rank:
            raise NotComparable(f"an access to {array.c_name} that is not affine goes to a buffer")
        return self.at_loose_place(access, buffer, then, now)

    def has_place(self, array: str) -> bool:
        """Whether other references of the statement to an array go to a buffer."""
        refs = (a.ref for a in self.statement.accesses if a.array == array)
        return any(buffer_for(self.program, self.image.run, array, ref) is not None for ref in refs)

    def access(self, then: c.ArrayRef) -> Access | None:
        found = [a for a in self.statement.accesses if then.ref and a.ref == then.ref]
        return found[-1] if found else None

    def same_variable(self, array: Array, buffer: Buffer | None, now: c.ArrayRef) -> bool:
        """Whether the text's variable is the buffer, or the array, and not another one of its name."""
        there = self.image.part.place.stores.get(now.array)
        if buffer is not None:
            if now.array != buffer.name or there is None:
                return False
            self.whole.uses.append(Use(self.image, buffer, there))
            return True
        if array.storage is Storage.REGION:
            return now.array == array.name and (there is None or not there.place.loops)
        return now.array == array.c_name and there is None

    def wanted(self, access: Access, buffer: Buffer | None) -> list[Value]:
        """The subscripts of the place, in the order of the array's dimensions."""
        decided = self.decided()
        function = self.whole.function(access)
        found = [decided.of(_piece(function, k)) for k in range(function.dim(isl.dim_type.out))]
        if buffer is not None and buffer.places is not None:
            mine = [m for m in maps(buffer.places) if in_name(m) == self.statement.name]
            if not mine:
                raise Refused(f"{self.statement.name} has no place in {buffer.name}")
            found.append(decided.of(_piece(isl.PwMultiAff.from_map(mine[0]), 0)))
        if buffer is None or buffer.corner is None:
            return found
        corner = self.corner(buffer)
        return [_less(value, least) for value, least in zip(found, corner, strict=True)]

    def corner(self, buffer: Buffer) -> list[Value]:
        """The element of the array that the buffer begins with, in this tile."""
        assert buffer.corner is not None
        tile = self.image.loops[: buffer.depth]
        decided = substitution(self.image.reader, tile, buffer.corner.get_space().domain())
        return [decided.of(_piece(buffer.corner, k)) for k in range(buffer.corner.dim(isl.dim_type.out))]

    def at_place(self, access: Access, buffer: Buffer | None, now: c.ArrayRef) -> bool:
        wanted = self.wanted(access, buffer)
        if buffer is not None and buffer.window is not None and wanted:
            wanted[buffer.window] = _around(wanted[buffer.window], buffer)
        if buffer is not None and buffer.order and wanted:
            wanted = [wanted[d] for d in buffer.order]
        if len(wanted) != len(now.subscripts):
            return False
        pairs = list(zip(wanted, now.subscripts, strict=True))
        if all(self.agrees(value, subscript) for value, subscript in pairs):
            return True
        if self.program.padded.get(self.statement.name, "guarded") != "guarded":
            return False
        # Below a condition: where that does not hold, nobody evaluates the subscripts.
        evaluated = self.decided().relation().intersect_range(access.relation.domain()).domain()
        return all(self.agrees(value, subscript, evaluated) for value, subscript in pairs)

    def at_loose_place(self, access: Access, buffer: Buffer, then: c.ArrayRef, now: c.ArrayRef) -> bool:
        """Subscripts that data decide are the statement's own, in a dimension that the buffer has as a whole."""
        wanted = self.wanted(access, buffer)
        if len(wanted) != len(now.subscripts):
            return False
        order = buffer.order or tuple(range(len(wanted)))
        zero = self.image.reader.constant(0)
        for d, subscript in zip(order, now.subscripts, strict=True):
            if d in access.loose:
                corner = self.corner(buffer)[d]
                whole = agree(corner, zero, at_sizes(self.image.domain, self.program.scop.known)) is None
                if not (whole and self.same(then.subscripts[d], subscript)):
                    return False
            elif not self.agrees(_around(wanted[d], buffer) if d == buffer.window else wanted[d], subscript):
                return False
        return True


def _around(value: Value, buffer: Buffer) -> Value:
    """The place in a circular buffer."""
    assert buffer.window is not None
    length = constant_of(buffer.extents[buffer.window])
    if length is None:
        raise NotComparable(f"the length of {buffer.name} is not known")
    return value.mod_val(isl.Val(length, value.get_ctx()))


def _less(value: Value, least: Value) -> Value:
    if isinstance(value, isl.Aff) and isinstance(least, isl.Aff):
        return value.sub(least)
    return piecewise(value).sub(piecewise(least))


def _piece(function: isl.MultiAff | isl.PwMultiAff, position: int) -> isl.PwAff:
    if isinstance(function, isl.PwMultiAff):
        return function.get_pw_aff(position)
    return isl.PwAff.from_aff(function.get_at(position))


def _with_hoist(program: Program, image: Image, body: c.Stmt, hoist: Hoist) -> c.Stmt:
    """The statement with an expression computed where a panel is filled: there it is stored, and read in its place."""
    name = image.run.statement
    mine = {ref for statement, ref in program.buffers[hoist.buffer].accesses if statement == name}
    if name in program.copies:
        if not mine:
            return body
        assert isinstance(body, c.ExprStmt)
        assert isinstance(body.expr, c.Assign)
        cell = body.expr.value

        def stored(node: c.Node) -> c.Node | None:
            return cell if isinstance(node, c.ArrayRef) and node.ref == hoist.ref else None

        return replace(body, expr=replace(body.expr, value=c.rewrite(hoist.value, stored)))
    if name != hoist.statement:
        return body
    cells = [n for n in c.walk(hoist.value) if isinstance(n, c.ArrayRef) and n.ref == hoist.ref]
    used = None if len(cells) != 1 else buffer_for(program, image.run, cells[0].array, cells[0].ref)
    if used is None or used.key != hoist.buffer:
        return body
    return c.rewrite(body, lambda node: cells[0] if node == hoist.value else None)


def _flat(node: c.Stmt) -> tuple[c.Stmt, ...]:
    """The statements of blocks that declare nothing, one by one."""
    if isinstance(node, c.Block):
        if any(isinstance(item, c.Decl) for item in node.body):
            return tuple(item for item in node.body if not isinstance(item, c.Comment | c.Empty | c.Note))
        return tuple(inner for item in node.body for inner in _flat(item))
    return () if isinstance(node, c.Comment | c.Empty | c.Note) else (node,)


def _is_taken(found: tuple[c.Stmt, ...], expected: c.Stmt) -> bool:
    """Whether a text may compute what C would compute in one case only."""
    present = [node for item in found for node in c.walk(item)]
    return _has_selects(found) or sum(map(is_conditional, present)) < sum(map(is_conditional, c.walk(expected)))


def _has_selects(found: tuple[c.Stmt, ...]) -> bool:
    words = (*SELECTS.values(), WHOLE_SELECT)
    return any(isinstance(n, c.Call) and n.function in words for item in found for n in c.walk(item))


def _stores_a_choice(body: c.Stmt) -> bool:
    """Whether a statement stores one of two values."""
    match body:
        case c.ExprStmt(expr=c.Assign(value=c.Ternary())):
            return True
    return False


def _single(node: object) -> object:
    while isinstance(node, c.Block) and len(_flat(node)) == 1:
        (node,) = _flat(node)
    return node
