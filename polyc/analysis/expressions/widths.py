"""In how many bits C computes the whole numbers of a printed text, and whether these hold their values.

math: let D be the instances of a place, with what is known of the sizes. An expression e fits where no instance of D
      has a value of e outside of -2^31 … 2^31 - 1. Intervals say it for most expressions; isl for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polyc.analysis.expressions.reader import FLOORD, MAX, MIN, NotAffine, Reader, parameter_space, piecewise
from polyc.model import ctree as c
from polyc.model.scop import AccessKind, CType, Scop, Storage
from polyc.poly import coalesced, constant_of, greatest_of, least_of
from polyc.records import dataclass, field, replace

INT, LONG = 32, 64
"""Bits of the types that whole numbers are computed in. Narrower ones become an int in each sum."""
LOW, HIGH = -(2**31), 2**31 - 1
Range = tuple[int, int]
"""The least and the largest value."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A place of the text: the loops and conditions around it."""

    reader: Reader
    parameters: Mapping[c.Expr, int]
    """What is printed for a size -> the bits of its type; 0 where that is unsigned and no part of an int."""
    bits: Mapping[str, int] = field(default_factory=dict)
    """Of the variables of loops, and of constants that stand in the text."""
    ranges: Mapping[str, Range] = field(default_factory=dict)
    """Some bounds of variables and sizes."""
    around: Place | None = None
    """The place of the loop or condition that this one is in."""
    inside: c.For | c.Expr | None = None
    """That loop or condition; None for the outermost place."""
    known: list[isl.Set] = field(default_factory=list)
    """`[n] -> { [x0, x1, …] }`, the instances of the place, where that was asked for."""
    answers: dict[c.Expr, bool] = field(default_factory=dict)
    """What `fits` found."""

    # --- types

    def literal(self, node: c.Literal) -> int:
        """The bits of a constant; 0 for one that is no signed whole number."""
        digits = node.text.removeprefix("-").rstrip("lL")
        if not digits.isdigit() or int(digits) > 2**63 - 1:
            return 0
        return LONG if node.text[-1] in "lL" or int(digits) > HIGH else INT

    def leaf(self, node: c.Expr) -> int:
        """The bits of a variable, size or constant; 0 for anything else."""
        if isinstance(node, c.Name) and node.name in self.bits:
            return self.bits[node.name]
        if isinstance(node, c.Literal):
            return self.literal(node)
        # The hash of an expression takes as long as it is: a product of 450 factors is asked about for each of them.
        if any(type(size) is type(node) for size in self.parameters):
            return self.parameters.get(node, 0)
        return 0

    # --- places inside

    def constant(self, name: str, value: c.Expr, bits: int) -> Place:
        """With the declaration of a constant."""
        reader = replace(self.reader, names={**self.reader.names, name: value})
        whole = {**self.bits, name: bits}
        found = self.interval(value)
        ranges = {**self.ranges, name: found} if found is not None else self.ranges
        return replace(self, reader=reader, bits=whole, ranges=ranges, answers={})

    def beside(self, loop: c.For) -> Place:
        """In a loop of which no more is known than its variable, of 64 bits where it is a `long`."""
        if not (isinstance(loop.init, c.Decl) and loop.init.type == "long" and not loop.init.extents):
            return self
        name = loop.init.name
        ranges = {k: v for k, v in self.ranges.items() if k != name}
        return replace(self, bits={**self.bits, name: LONG}, ranges=ranges, answers={})

    def under(self, condition: c.Expr) -> Place:
        """Where a condition holds."""
        return replace(self, around=self, inside=condition, known=[], answers={})

    def below(self, loop: c.For, bits: int) -> Place:
        """In a loop, whose variable has a type of so many bits."""
        name, start, step = head(loop)
        depth = self.reader.space.dim(isl.dim_type.set)
        space = self.reader.space.params().add_unnamed_tuple_ui(depth + 1)
        reader = Reader(self.reader.parameters, {**self.reader.names, name: depth}, space)
        first, last = self.interval(start), self._last(loop.condition, name)
        ranges = {k: v for k, v in self.ranges.items() if k != name}
        if bits == INT:
            ranges[name] = (
                max(first[0], LOW) if first else LOW,
                HIGH - step if last is None else min(last, HIGH - step),
            )
        elif first is not None and last is not None:
            ranges[name] = (first[0], last)
        return Place(reader, self.parameters, {**self.bits, name: bits}, ranges, self, loop)

    # --- values

    def fits(self, expr: c.Expr) -> bool:
        """Whether an int holds an expression's value at each instance of the place."""
        found = self.interval(expr)
        if found is not None and found[0] >= LOW and found[1] <= HIGH:
            return True
        if expr not in self.answers:
            self.answers[expr] = self._stays(expr, LOW, HIGH, self.domain())
        return self.answers[expr]

    def counts(self, loop: c.For) -> bool:
        """Whether an int holds what a loop counts, with the value at which it ends."""
        name, start, step = head(loop)
        if not self.fits(start):
            return False
        last = self._last(loop.condition, name)
        if last is not None and last + step <= HIGH:
            return True
        inner = self.below(loop, LONG)
        try:
            return inner._stays(c.Name(name), LOW, HIGH - step, inner._values())
        except NotAffine:
            return False

    def domain(self) -> isl.Set:
        """`[n] -> { [x0, x1, …] }`: the instances of the place, or more where a bound is not affine."""
        if not self.known:
            assert self.around is not None
            outer = self.around.domain()
            try:
                if isinstance(self.inside, c.For):
                    found = self._values()
                else:
                    assert self.inside is not None
                    found = outer.intersect(self.reader.condition(self.inside))
            except NotAffine:
                more = self.reader.space.dim(isl.dim_type.set) - outer.dim(isl.dim_type.set)
                found = outer.add_dims(isl.dim_type.set, more)
            self.known.append(found)
        return self.known[0]

    def _values(self) -> isl.Set:
        """`domain` in a loop. Raises NotAffine."""
        assert isinstance(self.inside, c.For)
        assert self.around is not None
        assert self.inside.condition is not None
        name, start, step = head(self.inside)
        around = self.around.domain().add_dims(isl.dim_type.set, 1)
        itself = c.Name(name)
        domain = around.intersect(self.reader.condition(c.Binary(">=", itself, start)))
        domain = domain.intersect(self.reader.condition(self.inside.condition))
        if step != 1:
            rest = self.reader.value(c.Binary("-", itself, start))
            by = isl.Val.int_from_si(domain.get_ctx(), step)
            domain = domain.intersect(piecewise(rest.mod_val(by)).zero_set())
        return domain

    def _stays(self, expr: c.Expr, low: int, high: int, domain: isl.Set) -> bool:
        try:
            value = self.reader.value(expr)
        except NotAffine:
            return False
        least, most = self.reader.constant(low), self.reader.constant(high)
        if isinstance(value, isl.Aff):
            outside = value.gt_set(most).union(value.lt_set(least))
        else:
            outside = value.gt_set(piecewise(most)).union(value.lt_set(piecewise(least)))
        return bool(domain.intersect(outside).is_empty())

    # --- bounds without isl

    def interval(self, expr: c.Expr) -> Range | None:
        """Bounds of an expression's value; None where none are known."""
        if isinstance(expr, c.Name) and expr.name in self.ranges:
            return self.ranges[expr.name]
        if isinstance(expr, c.Name) and expr.name in self.bits:
            return None
        name = self.reader.parameters.get(expr)
        if name is not None:
            return self.ranges.get(f" {name}")
        match expr:
            case c.Literal() if self.literal(expr):
                value = int(expr.text.rstrip("lL"))
                return value, value
            case c.Cast(type="int" | "long", operand=operand):
                return self.interval(operand)
            case c.Unary(op="-", operand=operand):
                found = self.interval(operand)
                return None if found is None else (-found[1], -found[0])
            case c.Binary(op="+" | "-" | "*" | "/" | "%" as op, left=left, right=right):
                one, two = self.interval(left), self.interval(right)
                return None if one is None or two is None else _combined(op, one, two)
            case c.Call(function=function, arguments=(first, second)) if function in (MIN, MAX):
                return _extreme(function, self.interval(first), self.interval(second))
            case c.Call(function=function, arguments=(first, second)) if function == FLOORD:
                one, two = self.interval(first), self.interval(second)
                if one is None or two is None or two[0] != two[1] or two[0] <= 0:
                    return None
                return one[0] // two[0], one[1] // two[0]
        return None

    def _last(self, condition: c.Expr | None, name: str) -> int | None:
        """A bound of what a loop's variable is below a condition."""
        match condition:
            case c.Binary(op="&&", left=left, right=right):
                found = [last for last in (self._last(left, name), self._last(right, name)) if last is not None]
                return min(found, default=None)
            case c.Binary(op="<" | "<=" as op, left=c.Name(name=compared), right=end) if compared == name:
                bound = self._at_most(end)
                return None if bound is None else bound - (op == "<")
        return None

    def _at_most(self, expr: c.Expr) -> int | None:
        """A value that an expression is never above: that of one argument, of a minimum."""
        if isinstance(expr, c.Call) and expr.function == MIN:
            found = [most for most in map(self._at_most, expr.arguments) if most is not None]
            return min(found, default=None)
        both = self.interval(expr)
        return None if both is None else both[1]


def head(loop: c.For) -> tuple[str, c.Expr, int]:
    """The variable of a printed loop, where it starts, and its step."""
    assert isinstance(loop.init, c.Decl)
    assert loop.init.init is not None
    match loop.step:
        case c.Assign(value=c.Literal(text=text)):
            return loop.init.name, loop.init.init, int(text)
    return loop.init.name, loop.init.init, 1


def is_counted(node: c.For) -> bool:
    """Whether a loop has the form of the loops that are printed: `for (long x = start; …; x += step)`."""
    match node.init, node.step:
        case (
            c.Decl(type="long" | "int", name=name, extents=(), init=start),
            c.Postfix(op="++", operand=c.Name(name=counted)),
        ):
            return start is not None and name == counted and node.condition is not None
        case (
            c.Decl(type="long" | "int", name=name, extents=(), init=start),
            c.Assign(op="+=", target=c.Name(name=counted), value=c.Literal(text=text)),
        ):
            return start is not None and name == counted and node.condition is not None and text.isdigit()
    return False


def is_fraction(node: c.Expr) -> bool:
    """Whether an expression is `1.0`, or a product that begins with it: all its factors become fractions."""
    if isinstance(node, c.Binary) and node.op == "*":
        return is_fraction(node.left)
    return node == c.Literal("1.0")


def outermost(scop: Scop) -> Place:
    """The place of a region's text: its sizes, with what their types and the region's own loops say of them."""
    space = parameter_space(scop).add_unnamed_tuple_ui(0)
    sizes = {p.expr: _bits(p.type) for p in scop.parameters}
    known = sizes_that_fit(scop)
    ranges: dict[str, Range] = {}
    for parameter in scop.parameters:
        found = _bounds(known, parameter.name)
        if found is not None:
            ranges[f" {parameter.name}"] = found
    reader = Reader({p.expr: p.name for p in scop.parameters}, {}, space)
    everywhere = isl.Set.universe(space).intersect_params(known)
    return Place(reader, sizes, ranges=ranges, known=[everywhere])


def sizes_that_fit(scop: Scop) -> isl.Set:
    """`[n] -> { : … }`: the known sizes at which all parameters are of their types, no `int` overflows in the heads of
    the region's loops, and what it writes lies in the arrays whose sizes are constants.

    math: where an instance writes A[x], 0 <= x < extent holds: a C program that writes outside of its arrays has no
          meaning. An argument `double A[10][10]` is a pointer to rows: how many, nobody knows.
    """
    space = parameter_space(scop)
    found = scop.known if scop.defined is None else scop.known.intersect(scop.defined)
    found = found.align_params(space)
    local = isl.LocalSpace.from_space(space)
    for parameter in scop.parameters:
        kind = parameter.type
        if 0 < kind.size_bytes < 8 and kind.kind == "int":
            position = space.find_dim_by_name(isl.dim_type.param, parameter.name)
            value = isl.Aff.var_on_domain(local, isl.dim_type.param, position)
            low, high = _limits(kind)
            of_type = value.ge_set(_number(local, low)).intersect(value.le_set(_number(local, high)))
            found = found.intersect(of_type.params())
    for statement in scop.statements.values():
        for access in statement.accesses:
            array = scop.arrays[access.array]
            if access.kind is not AccessKind.WRITE or not access.exact or array.flat:
                continue
            known_rows = array.storage in (Storage.GLOBAL, Storage.LOCAL)
            for position, extent in enumerate(array.extents):
                length = None if extent is None or (position == 0 and not known_rows) else constant_of(extent)
                if length is not None:
                    found = found.subtract(_outside(access.relation.range(), position, 0, length - 1))
    return coalesced(found)


def _outside(domain: isl.Set, position: int, low: int, high: int) -> isl.Set:
    """`[n] -> { : … }`: where a dimension has a value that is not between two bounds."""
    local = isl.LocalSpace.from_space(domain.get_space())
    value = isl.Aff.var_on_domain(local, isl.dim_type.set, position)
    outside = value.lt_set(_number(local, low)).union(value.gt_set(_number(local, high)))
    return domain.intersect(outside).params()


def _bounds(known: isl.Set, name: str) -> Range | None:
    """The least and the largest value of a size; None where one of them is not known."""
    position = known.find_dim_by_name(isl.dim_type.param, name)
    if position < 0 or known.is_empty():
        return None
    whole = isl.Set.from_params(known)
    values = whole.move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1).project_out_all_params()
    least, most = least_of(values, 0), greatest_of(values, 0)
    return (least.to_python(), most.to_python()) if least.is_int() and most.is_int() else None


def _combined(op: str, one: Range, two: Range) -> Range | None:
    """Bounds of a sum, difference, product, or quotient by a positive number."""
    match op:
        case "+":
            return one[0] + two[0], one[1] + two[1]
        case "-":
            return one[0] - two[1], one[1] - two[0]
        case "*":
            products = [a * b for a in one for b in two]
            return min(products), max(products)
    if two[0] != two[1] or two[0] <= 0:
        return None
    if op == "/":
        return -(-one[0] // two[0]) if one[0] < 0 else one[0] // two[0], max(one[1] // two[0], 0)
    return (0 if one[0] >= 0 else 1 - two[0]), two[0] - 1


def _extreme(function: str, one: Range | None, two: Range | None) -> Range | None:
    if one is None or two is None:
        return None
    chosen = min if function == MIN else max
    return chosen(one[0], two[0]), chosen(one[1], two[1])


def _bits(kind: CType) -> int:
    if kind.kind != "int" or (not kind.signed and kind.size_bytes >= 4):
        return 0
    return LONG if kind.size_bytes >= 8 else INT


def _limits(kind: CType) -> Range:
    bits = 8 * kind.size_bytes
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind.signed else (0, (1 << bits) - 1)


def _number(local: isl.LocalSpace, value: int) -> isl.Aff:
    return isl.Aff.val_on_domain(local, isl.Val.int_from_si(local.get_ctx(), value))
