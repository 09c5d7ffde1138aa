"""Fragments in kernels: what each lane of a warp loads of the operands, and the instruction that multiplies them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import islpy as isl

from polyc.codegen.loops.instances import InstancePrinter, Scope, block_of
from polyc.codegen.loops.iterations import Visit
from polyc.codegen.text.printer import UNROLL
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.model.fragments import FRAGMENTS, HALF, Fragment, factors
from polyc.model.tasks import TaskMapping
from polyc.model.tree import WARP_AXES, Mark, Member
from polyc.poly import kind_of, maps
from polyc.records import dataclass, replace

if TYPE_CHECKING:
    from polyc.codegen.gpu.printer import KernelPrinter

MMA = {"tf32": "polyc_mma_tf32", "half": "polyc_mma_half"}
LOADED = {"tf32": "polyc_tf32", "half": "polyc_two_halves"}
"""What makes a register of an operand of what a lane loads, by the fragment's name."""
PART = "unsigned"
"""The type of a register with what a lane has of an operand."""


def fragments(printer: KernelPrinter, mark: Mark, inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
    """What a warp does in one iteration of the loops above the mark.

    rewrite:  for f, h, f', r, k { C_sum[2 * f + h][2 * f' + r] += A[..] * B[..]; }
              -> unsigned a[..][4], b[..][2];
                 for f { a[f][0] = polyc_tf32(A[..]); … }
                 for f' { b[f'][0] = polyc_tf32(B[..]); … }
                 for f, f' { polyc_mma_tf32(C_sum[2 * f][2 * f'], …, a[f], b[f']); }
    requires: what `verify/gpu/fragment_faults.py` shows
    Raises InternalError where isl made other loops of it.
    """
    return (c.Block(tuple(_Warp(printer, mark, inner, scope).statements())),)


@dataclass(frozen=True, slots=True)
class _Loop:
    iterator: str
    member: Member
    length: int


class _Warp:
    """One mark, while it is printed."""

    def __init__(self, printer: KernelPrinter, mark: Mark, inner: isl.AstNode, scope: Scope) -> None:
        self.printer = printer
        self.fragment: Fragment = FRAGMENTS[mark.text]
        self.refs = mark.names[1:]
        self.loops, self.visit, self.scope = _loops(printer, inner, scope)
        self.names: list[c.Name | c.Literal] = []
        names = self.scope.names
        for d in range(2):
            if (loop := self.counting(d)) is None:
                self.names.append(c.Literal("0"))
                continue
            name = printer.namer.fresh(loop.member.name, names)
            names |= {name}
            self.names.append(c.Name(name))
        (self.schedule,) = maps(self.visit.schedule)
        statement = str(self.schedule.get_tuple_name(isl.dim_type.in_))
        self.statement = printer.program.statements[statement]
        wanted = {r.ref: r for r in factors(self.statement.body) or ()}
        self.operands = tuple(wanted[ref] for ref in self.refs)
        parts: list[str] = []
        for operand in self.operands:
            array = printer.program.scop.arrays[operand.array].c_name
            parts.append(printer.namer.fresh(f"{array}_part", names | set(parts)))
        self.parts = tuple(parts)

    # --- which loop is which ---------------------------------------------------------------------------------------

    def counting(self, dimension: int) -> _Loop | None:
        """The loop over a warp's fragments along a dimension of the sums; None where it has one."""
        found = [x for x in self.loops if x.member.digit is not None and x.member.digit[0] == dimension]
        return next((x for x in found if x.member.digit is not None and x.member.digit[1] > 1), None)

    def own(self, dimension: int) -> _Loop:
        """The loop over the rows or columns of a fragment that one lane has."""
        return next(x for x in self.loops if x.member.digit == (dimension, 1))

    @property
    def inside(self) -> _Loop:
        """The loop over the products of a fragment."""
        return next(x for x in self.loops if x.member.digit is None)

    def lane(self, axis: str) -> str:
        return next(i for i, m in self.scope.members.items() if m.mapped == axis and i in self.scope.iterators)

    # --- what is printed -------------------------------------------------------------------------------------------

    def statements(self) -> Iterator[c.Stmt]:
        layouts = (self.fragment.rows, self.fragment.columns)
        for d, layout in enumerate(layouts):
            loop = self.counting(d)
            sizes = (loop.length if loop is not None else 1, layout.repeats // self.fragment.packed)
            yield c.Decl(PART, self.parts[d], tuple(c.Literal(str(s)) for s in sizes))
        for d, layout in enumerate(layouts):
            yield self.over((d,), tuple(self.loads(d, layout)))
        body = self.statement.body
        assert isinstance(body, c.ExprStmt)
        assert isinstance(body.expr, c.Assign)
        assert isinstance(body.expr.target, c.ArrayRef)
        sums = [self.cell(body.expr.target, (h, r), {}) for h, r in product(range(2), repeat=2)]
        parts = (c.ArrayRef(part, (name,)) for part, name in zip(self.parts, self.names, strict=True))
        multiply = c.Call(MMA[self.fragment.name], (*sums, *parts))
        yield self.over((0, 1), (c.ExprStmt(multiply, self.statement.span),))

    def over(self, dimensions: tuple[int, ...], body: tuple[c.Stmt, ...]) -> c.Stmt:
        """Statements for all of a warp's fragments along some dimensions."""
        found = block_of(body)
        for d in reversed(dimensions):
            loop, name = self.counting(d), self.names[d]
            if loop is None or not isinstance(name, c.Name):
                continue
            condition = c.Binary("<", name, c.Literal(str(loop.length)))
            first = c.Decl("int", name.name, (), c.Literal("0"))
            found = c.For(first, condition, c.Postfix("++", name), found, (UNROLL,))
        return found

    def loads(self, dimension: int, layout: TaskMapping) -> Iterator[c.Stmt]:
        """What a lane has of an operand, register by register."""
        digits = product(*(product(*map(range, p.sizes)) for p in layout.parts if not p.spatial))
        repeated = [k for k, p in enumerate(layout.parts) if not p.spatial]
        (spread,) = [k for k, p in enumerate(layout.parts) if p.spatial]
        elements: list[c.Expr] = []
        for chosen in digits:
            half = sum(one[0] * layout.register_weight(k, 0) for k, one in zip(repeated, chosen, strict=True))
            k = sum(one[1] * layout.weight(part, 1) for part, one in zip(repeated, chosen, strict=True))
            elements.append(self.element(dimension, half, k, layout.weight(spread, 1)))
        for register in range(len(elements) // self.fragment.packed):
            place = (self.names[dimension], c.Literal(str(register)))
            loaded = elements[register * self.fragment.packed :][: self.fragment.packed]
            if self.fragment is HALF:
                loaded = [c.Unary("&", one) for one in loaded]  # the bits in memory, not the float that they stand for
            value = c.Call(LOADED[self.fragment.name], tuple(loaded))
            yield c.ExprStmt(c.Assign("=", c.ArrayRef(self.parts[dimension], place), value))

    def element(self, dimension: int, half: int, k: int, step: int) -> c.Expr:
        """The element that lane (g, t) has in row or column g, of the rows from `half` on, at k + step t."""
        space = self.visit.build.get_schedule_space()
        g, t = (self.aff(space, self.lane(axis)) for axis in WARP_AXES[2:])
        context = space.get_ctx()
        two = isl.Val.int_from_si(context, 2)
        along = t.scale_val(isl.Val.int_from_si(context, step)).add_constant_val(isl.Val.int_from_si(context, k))
        changed = {self.inside.iterator: along}
        if dimension == 1:
            # In the sums' layout a column is 2 t + r, in the operand's it is g.
            changed |= {self.lane(WARP_AXES[3]): g.scale_down_val(two).floor(), self.own(1).iterator: g.mod_val(two)}
        return self.cell(self.operands[dimension], (half, 0), changed)

    def aff(self, space: isl.Space, iterator: str) -> isl.Aff:
        return isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, _position(space, iterator))

    def cell(self, reference: c.ArrayRef, halves: tuple[int, int], changed: dict[str, isl.Aff]) -> c.Expr:
        """A reference of the statement, in one of the fragments' (rows, columns) that a lane has; `changed`: values of
        iterators that are not those of the loops."""
        space = self.visit.build.get_schedule_space()
        moved = isl.MultiAff.identity(space.map_from_set())
        zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
        values = {self.inside.iterator: zero}
        iterators: dict[str, c.Expr] = {**self.scope.iterators, self.inside.iterator: c.Literal("0")}
        for d, half in enumerate(halves):
            number = isl.Val.int_from_si(space.get_ctx(), half)
            values[self.own(d).iterator] = zero.add_constant_val(number)
            iterators[self.own(d).iterator] = c.Literal(str(half))
            if (loop := self.counting(d)) is not None:
                iterators[loop.iterator] = self.names[d]
        for iterator, value in (values | changed).items():
            moved = moved.set_aff(_position(space, iterator), value)
        scope = replace(self.scope, iterators=iterators)
        printer = self.instance(scope)
        printer.to_instance = isl.Map.from_multi_aff(moved).apply_range(self.schedule.reverse())
        printer.function = None
        return printer.reference(reference)

    def instance(self, scope: Scope) -> InstancePrinter:
        made = self.printer
        return made.instances(made.program, self.statement, self.visit, self.schedule, made.printer(scope), scope)


def _position(space: isl.Space, iterator: str) -> int:
    return int(space.find_dim_by_name(isl.dim_type.set, iterator))


def _loops(printer: KernelPrinter, node: isl.AstNode, scope: Scope) -> tuple[list[_Loop], Visit, Scope]:
    """The loops below a mark, the instance that they run, and the scope with the members of their band."""
    name = str(node.mark_get_id().get_name()) if kind_of(node) == "mark" else ""
    if name not in printer.annotated.bands:
        raise InternalError("a fragment has no band")
    band, depth = printer.annotated.bands[name]
    members = {f"c{depth + k}_": member for k, member in enumerate(band.members)}
    node, found = node.mark_get_node(), []
    while kind_of(node) == "for_":
        iterator = str(node.for_get_iterator().get_id().get_name())
        exprs = printer.printer(replace(scope, iterators=scope.iterators | {iterator: c.Name(iterator)}))
        if node.for_is_degenerate():
            raise InternalError(f"a loop of a fragment has one iteration: {iterator}")
        start, condition = exprs.convert(node.for_get_init()), printer.condition(node.for_get_cond(), exprs)
        match start, condition:
            case c.Literal(text="0"), c.Binary(op="<", left=c.Name(name=counted), right=c.Literal(text=length)) if (
                counted == iterator and node.for_get_inc().get_val().is_one() and iterator in members
            ):
                found.append(_Loop(iterator, members[iterator], int(length)))
            case _:
                raise InternalError(f"a loop of a fragment has no constant length: {iterator}")
        node = node.for_get_body()
    if kind_of(node) != "user" or len(found) != len(members):
        raise InternalError("isl made other loops of a fragment")
    visit = printer.visits[int(str(node.get_annotation().get_name())[1:])]
    return found, visit, replace(scope, members=scope.members | members)
