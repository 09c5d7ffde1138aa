"""Linearised references: which shape makes `a[i * (C + 2) + j]` the element `a[i][j]`.

A shape is a row of strides, the last 1. A subscript is divided by them one after the other. What is left for a
dimension but the outermost has to lie between 0 and its extent, which is how many strides of the dimension fit into the
one before it: then no two places of the shape are one place in memory, and the flat array is one with several
dimensions.

source: Grosser, Ramanujam, Pouchet, Sadayappan, Pop: Optimistic Delinearization of Parametrically Sized Arrays (ICS
2015). There the strides are guessed from the products of sizes in all terms; here they are the factors of what varies,
so that `i * (C + 2)` has the stride C + 2 at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import inf
from typing import TypeVar

import islpy as isl

from polyc.analysis.expressions.facts import constant
from polyc.analysis.expressions.ranges import bounds_of
from polyc.errors import Span
from polyc.frontend.c.ctype import INT, UNSIGNED, promote
from polyc.frontend.c.state import POINT, Env, FlatShape, Region, limits, number, restore, saved
from polyc.frontend.c.symbols import FEW_BYTES, Symbol
from polyc.frontend.sets.accesses import union
from polyc.frontend.sets.affine import Affine, outside, positive_quotient
from polyc.frontend.sets.atoms import Atoms
from polyc.frontend.sets.multiples import assume_products, parts_of, products_of, with_parts
from polyc.frontend.sets.polynomial import ONE, Poly, added, divided, is_number, multiplied
from polyc.frontend.sets.strides import LONG, number_strides, strides_of
from polyc.frontend.sets.wanted import wanted
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.poly import greatest_of, least_of, project
from polyc.records import dataclass, field, replace

T = TypeVar("T")
FEW = 4096
"""Assumptions that hold for no size above this one are not made, but where rows have fewer elements."""


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """The shape of a flat array."""

    strides: tuple[Poly, ...]
    """From the outermost dimension to the innermost, whose stride is 1."""
    shape: FlatShape
    sizes: tuple[Poly, ...]
    """The extents as polynomials."""

    @property
    def begins(self) -> tuple[int, ...]:
        """The first subscript of each dimension, as it is written."""
        return (0, *self.shape.origins) if self.shape.origins else (0,) * self.rank

    @property
    def extents(self) -> tuple[c.Expr, ...]:
        return self.shape.extents

    @property
    def constant(self) -> bool:
        """Whether all strides are numbers: subscripts are affine as they are."""
        return all(is_number(stride) for stride in self.strides)

    @property
    def few(self) -> int:
        """What is assumed has to hold for sizes up to this one at least."""
        return min([FEW, *(size[()] for size in self.sizes if is_number(size))])

    @property
    def rank(self) -> int:
        return len(self.strides)

    def most(self, atoms: Atoms) -> c.Expr | None:
        """How many rows there are up to the last element that 32 bits can tell; None where a row's length is no
        product."""
        if len(self.strides[0]) != 1:
            return None
        ((monomial, value),) = self.strides[0].items()
        if value <= 0:
            return None
        most: c.Expr = c.Literal(str(limits(UNSIGNED)[1] // value))
        for atom in monomial:
            most = positive_quotient(most, atoms.exprs[atom])
        return most

    def pieces(self, poly: Poly) -> list[Poly]:
        """The subscript of each dimension, from 0 on."""
        found: list[Poly] = []
        for stride in self.strides[:-1]:
            quotient, poly = divided(poly, stride)
            found.append(quotient)
        return [added(one, ONE, -begin) for one, begin in zip([*found, poly], self.begins, strict=True)]


def is_linearised(region: Region, body: c.Block, atoms: Atoms) -> bool:
    """Whether a subscript has a product of a variable and a size, or of one and a number that may be a row's length."""
    indices = dict.fromkeys(index for _, index in flat_references(region, body))
    polys = [atoms.polynomial(index) for index in indices]
    factors = (atoms.factors(poly) for poly in polys)
    if any(variable and not is_number(factor) for found in factors for variable, factor in found.items()):
        return True
    return bool(number_strides(polys, atoms))


def find_forms(region: Region, body: c.Block, atoms: Atoms, whole: bool = False) -> dict[str, Form]:
    """The shapes of the flat arrays of a region, by key; `whole`: as in `strides_of`."""
    references: dict[str, list[Poly]] = {}
    for symbol, index in flat_references(region, body):
        references.setdefault(symbol.key, []).append(atoms.polynomial(index))
    found: dict[str, Form] = {}
    for key, polys in references.items():
        symbol = region.scope.symbols[key]
        strides = strides_of(polys, atoms, whole)
        if strides is not None and all(is_number(stride) for stride in strides) and is_small(symbol):
            continue  # a thread may have it for itself
        form = None if strides is None else checked(strides, region, atoms)
        if form is not None:
            found[key] = form
    return found


def flat_references(region: Region, body: c.Block) -> Iterator[tuple[Symbol, c.Expr]]:
    """The subscripts of arrays that have one."""
    for node in c.walk(body):
        match node:
            case c.Subscript(base=c.Name(name=name), index=index):
                pass
            case c.Unary(op="*", operand=c.Binary(op="+", left=c.Name(name=name), right=index)):
                pass
            case _:
                continue
        symbol = region.symbol(name)
        if symbol is not None and symbol.rank == 1 and symbol.storage is not Storage.REGION:
            yield symbol, index


def is_small(symbol: Symbol) -> bool:
    """Whether each thread could have a copy of an array."""
    own = symbol.storage is Storage.LOCAL and not symbol.is_pointer
    return own and 0 < symbol.shape.size_bytes <= FEW_BYTES


def checked(strides: tuple[Poly, ...], region: Region, atoms: Atoms) -> Form | None:
    """The shape with these strides, if its extents are affine.

    Where a stride is no multiple of the next one, as many of these as fit into it are a row.
    """
    sizes: list[Poly] = []
    whole = True
    for wide, narrow in pairwise(strides):
        size, rest = divided(wide, narrow)
        whole = whole and not rest
        sizes.append(size if not rest else quotient(wide, narrow, atoms))
    extents = tuple(atoms.expression(size) for size in sizes)
    steps = () if whole else tuple(atoms.expression(stride) for stride in strides[:-1])
    before, region.strict = region.strict, True
    affine = [Affine(region).observed(expr, Env()) for expr in (*extents, *steps)]
    region.strict = before
    if any(expr is None for expr in affine):
        return None
    return Form(strides, FlatShape(extents, steps), tuple(sizes))


def quotient(wide: Poly, narrow: Poly, atoms: Atoms) -> Poly:
    """How many strides of one kind fit into one of another: `S1 > 0 ? S2 / S1 : 0`."""
    if is_number(wide) and is_number(narrow):
        return {(): wide[()] // narrow[()]}
    above, below = atoms.expression(wide), atoms.expression(narrow)
    if is_number(narrow):
        return atoms.atom(c.Binary("/", above, below))
    return atoms.atom(positive_quotient(above, below))


def shaped_items(
    region: Region,
    body: c.Block,
    atoms: Atoms,
    span: Span,
    extract: Callable[[tuple[c.Stmt, ...]], list[T]],
) -> list[T]:
    """What `extract` makes of the region's statements, with the shapes of its flat arrays in `region.flat`.

    Sizes that are declared as products of others are taken for these where all subscripts fit then.
    """
    products = products_of(region)
    if products:
        before = saved(region)
        taken = Atoms(region, products=products)
        items, splitter = _shaped(region, body, taken, span, extract)
        if taken.used and splitter.forms and not splitter.whole:
            assume_products(region, {key: product for key, product in products.items() if key in taken.used})
            return items
        restore(region, before)
    return _shaped(region, body, atoms, span, extract)[0]


def _shaped(
    region: Region,
    body: c.Block,
    atoms: Atoms,
    span: Span,
    extract: Callable[[tuple[c.Stmt, ...]], list[T]],
) -> tuple[list[T], Splitter]:
    """The statements, and what divided their subscripts.

    Shapes are tried: one that none of an array's subscripts fits is dropped, and all is read again without it. So it
    is with parts of sizes, where something is unsure; and with what was assumed on the way, for references before it.
    """
    forms = find_forms(region, body, atoms)
    parts = parts_of(region) if forms else {}
    before = saved(region)
    widened: set[str] = set()
    narrow: dict[str, tuple[Form, int]] = {}
    """Arrays with longer rows, of which some subscripts left the shorter ones: these, and how many did."""
    while True:
        splitter = Splitter(region, atoms, forms, bool(parts))
        region.flat = {key: form.shape for key, form in forms.items()}
        region.divide = splitter.subscripts
        try:
            items = extract(body.body)
        except Unsure:
            items = []
        if moved := splitter.from_one():
            restore(region, before)
            forms, before = {**forms, **moved}, saved(region)
            continue
        lost = splitter.lost()
        back = {
            key: one for key, (one, left) in narrow.items() if key in lost or len(splitter.whole.get(key, ())) >= left
        }
        wider = (
            {}
            if parts or back
            else _wider(forms, find_forms(region, body, atoms, True), {*splitter.whole} - lost - widened)
        )
        if back or wider:
            restore(region, before)
            narrow = {key: one for key, one in narrow.items() if key not in back}
            narrow |= {key: (forms[key], len(splitter.whole[key])) for key in wider}
            widened |= set(wider)
            forms, before = {**forms, **back, **wider}, saved(region)
            continue
        later = splitter.guarded and bool(splitter.plain)
        if not (lost or later or (parts and splitter.unsure)):
            splitter.tell_shapes(span)
            return items, splitter
        known = region.assumed
        restore(region, before)
        if parts:
            body, parts = with_parts(body, region, parts), {}
            forms, before = find_forms(region, body, atoms), saved(region)
        elif lost:
            wider = _wider(forms, find_forms(region, body, atoms, True), lost - widened)
            widened |= set(wider)
            joined = {key: form for key in lost - set(wider) if (form := splitter.joined(key)) is not None}
            forms = {key: form for key, form in forms.items() if key not in lost} | wider | joined
            splitter.tell(lost - set(wider) - set(joined))
            before = saved(region)
        else:
            region.assumed = known


def _wider(forms: dict[str, Form], others: dict[str, Form], lost: set[str]) -> dict[str, Form]:
    """The shapes with longer rows of arrays whose subscripts leave the rows that were tried."""
    return {key: others[key] for key in sorted(lost) if key in others and others[key].strides != forms[key].strides}


class Unsure(Exception):
    """Something is not sure, and will be asked again with what is known of parts of sizes."""


@dataclass(slots=True)
class Splitter:
    """Divides subscripts, and sees to it that they stay in their rows."""

    region: Region
    atoms: Atoms
    forms: dict[str, Form]
    hasty: bool = False
    """Whether to stop, with `Unsure`, at the first subscript that is not certain to stay in its row."""
    split: Counter[str] = field(default_factory=Counter)
    """How many references of each array were divided."""
    whole: dict[str, list[c.Expr]] = field(default_factory=dict)
    """Subscripts of each array that were not."""
    plain: Counter[str] = field(default_factory=Counter)
    """How many of these are affine."""
    guarded: bool = False
    """Whether anything was assumed of the sizes."""
    asked: dict[str, list[tuple[list[Poly], Env]]] = field(default_factory=dict)
    """The subscripts of each array that were divided, and where they stand."""
    doubted: set[str] = field(default_factory=set)
    """Arrays with one that is not certain to stay in its row."""

    @property
    def unsure(self) -> bool:
        """Whether more might be known of sizes that are parts of others."""
        return self.guarded or bool(self.whole)

    def subscripts(self, key: str, index: c.Expr, env: Env, certain: bool) -> tuple[c.Expr | None, ...] | None:
        """The subscripts of a reference; None where they are not certain to stay in their rows, and in the place of an
        outermost one that is not affine and has no bounds. `certain`: each instance reaches it."""
        asked = len(self.region.wanted)
        poly = self.atoms.polynomial(index)
        found = self.divided(key, poly, env, certain, self.atoms.narrow[index])
        name = self.region.scope.symbols[key].c_name
        if self.hasty and (found is None or self.guarded):
            self.guarded = True
            raise Unsure
        if found is None:
            del self.region.wanted[asked:]
            self.whole.setdefault(key, []).append(index)
            if self.value(index, env) is not None:
                self.plain[key] += 1
            message = f"this subscript of '{name}' may leave {self.rows(key)}: any element may be accessed"
            self.region.note("non-affine-index", message, index.span)
            return None
        self.split[key] += 1
        first, *rest = (self.atoms.expression(piece) for piece in found)
        if (
            self.value(first, env) is None
            and None in bounds_of(first, self.region.value)
            and not all(self.region.around(first, env))
        ):
            message = f"this subscript of '{name}' is not affine: any row may be accessed"
            self.region.note("non-affine-index", message, index.span)
            return None, *rest
        return first, *rest

    def rows(self, key: str) -> str:
        """What the array is made of, in words."""
        sizes = [self.atoms.words(size) for size in self.forms[key].sizes]
        if len(sizes) == 1:
            return f"its row of {sizes[0]} elements"
        return f"its part of {' x '.join(f'({size})' if ' ' in size else size for size in sizes)} elements"

    def tell_shapes(self, span: Span) -> None:
        """Say what is read as what."""
        shapes = []
        for key, form in self.forms.items():
            inner = "".join(f"[{self.atoms.words(size)}]" for size in form.sizes)
            shapes.append(f"{self.region.scope.symbols[key].c_name}[]{inner}")
        if shapes:
            self.region.note("delinearised", f"flat arrays are read as {', '.join(sorted(shapes))}", span)

    def lost(self) -> set[str]:
        """Arrays of which no reference was divided, or fewer than are affine as they are, with one subscript. Where all
        are affine as they are, none may be left."""
        return {key for key in self.whole if self.forms[key].constant or self.split[key] <= self.plain[key]}

    def carried(self, form: Form, pieces: list[Poly], env: Env) -> list[Poly]:
        """The same place with one row more or less in each dimension, from the innermost on, where the subscript stays
        in its row then: of rows of constant lengths, -1 - 56 is none of -1 and -1, but the row before the last but one.
        """
        found = list(pieces)
        for position in reversed(range(1, form.rank)):
            size, extent = form.sizes[position - 1], form.extents[position - 1]
            if multiplied(size, form.strides[position]) != form.strides[position - 1]:
                continue
            for step in (0, 1, -1):
                moved = added(found[position], size, -step)
                if self.stays_below(moved, extent, env):
                    found[position], found[position - 1] = moved, added(found[position - 1], ONE, step)
                    break
        return found

    def joined(self, key: str) -> Form | None:
        """The shape of an array in which the dimension that subscripts leave most often is one with that around it, as
        channels `c` are where some loops go through groups of them, `16 * g + c`; None where a row would be left."""
        form = self.forms[key]
        left = Counter(
            position
            for pieces, env in self.asked[key]
            for position, (piece, extent) in enumerate(zip(pieces[1:], form.extents, strict=True))
            if not self.stays_below(piece, extent, env)
        )
        if form.rank < 3 or not left:
            return None
        position = left.most_common(1)[0][0]
        return checked(form.strides[:position] + form.strides[position + 1 :], self.region, self.atoms)

    def stays_below(self, piece: Poly, extent: c.Expr, env: Env) -> bool:
        """Whether a subscript is affine and stays in a row of a length."""
        value, size = self.value(self.atoms.expression(piece), env), self.value(extent, Env())
        return (
            value is not None
            and size is not None
            and self.never(value.lt_set(number(0)).union(value.ge_set(size)), env)
        )

    def tell(self, lost: set[str]) -> None:
        """Say why these stay as they are."""
        for key in sorted(lost):
            if self.forms[key].constant:
                continue  # its subscripts are affine with one dimension too
            name, index = self.region.scope.symbols[key].c_name, self.whole[key][0]
            message = f"'{name}' is no array with several dimensions: a subscript may leave {self.rows(key)}"
            self.region.note("not-delinearised", message, index.span)

    def divided(
        self, key: str, poly: Poly, env: Env, certain: bool, narrow: tuple[Poly, ...] = ()
    ) -> list[Poly] | None:
        form = self.forms[key]
        pieces = form.pieces(poly)
        self.asked.setdefault(key, []).append((pieces, env))
        if not all(self.is_below(part, poly, form, env) for part in narrow):
            return None
        wrong = self.outside(form, pieces, env, bool(narrow))
        loose = self.irregular(form, pieces, env) if wrong is not None else []
        if wrong is None or (loose and not (certain and self.ask(key, form, pieces, loose, env))):
            return None
        if self.never(wrong, env):
            return pieces
        self.doubted.add(key)
        others: list[tuple[list[Poly], isl.Set]] = []
        for other in (self.carried(form, pieces, env), *shifted(form, pieces)) if not loose else ():
            elsewhere = None if self.irregular(form, other, env) else self.outside(form, other, env, bool(narrow))
            if elsewhere is not None and self.never(elsewhere, env):
                return other
            others += [] if elsewhere is None else [(other, elsewhere)]
        # With strides that are numbers little is lost without a shape: a guard is worth it where rows are written.
        idle = form.constant and (form.few < LONG or key not in self.region.written)
        for one, where in [] if idle else [(pieces, wrong), *others]:
            diagonal = any(set(self.moving(a)) & set(self.moving(b)) for a, b in pairwise(one))
            plain = not any(self.moving(piece) for piece in one[:-1])  # `a[i + n]` says nothing of rows
            if not diagonal and not plain and self.assume(where, env, form.few):
                return one
        return None

    def from_one(self) -> dict[str, Form]:
        """The shapes of arrays whose rows begin at 1, as those of Fortran do: `c[i + j * m]` with 1 <= i <= m.

        math: with W(b) the sizes at which a subscript leaves the rows b, b + 1, …: W(1) is a proper part of W(0)
        """
        found: dict[str, Form] = {}
        for key in sorted(self.doubted):
            form = self.forms[key]
            if form.shape.origins:
                continue
            origins = tuple(
                int(self.begins_at_one(key, position, extent)) for position, extent in enumerate(form.extents, 1)
            )
            if any(origins):
                found[key] = replace(form, shape=replace(form.shape, origins=origins))
        return found

    def begins_at_one(self, key: str, position: int, extent: c.Expr) -> bool:
        size = self.value(extent, Env())
        wrong = [isl.Set.empty(POINT), isl.Set.empty(POINT)]
        for pieces, env in self.asked[key]:
            value = self.value(self.atoms.expression(pieces[position]), env)
            if value is None or size is None:
                return False
            known = env.domain.intersect(self.region.context).intersect(self.region.types(env))
            for begin in (0, 1):
                outside = value.lt_set(number(begin)).union(value.ge_set(size + number(begin)))
                wrong[begin] = wrong[begin].union(project(outside.intersect(known), env.variables))
        return bool(wrong[1].is_strict_subset(wrong[0]))

    def irregular(self, form: Form, pieces: list[Poly], env: Env) -> list[int]:
        """The positions of what is neither affine nor bounded by what it is made of."""
        exprs = [self.atoms.expression(piece) for piece in pieces]
        return [
            position
            for position, (expr, extent) in enumerate(zip(exprs[1:], form.extents, strict=True), 1)
            if self.value(expr, env) is None and self.above(expr, extent, env) is None
        ]

    def above(self, expr: c.Expr, extent: c.Expr, env: Env) -> isl.Set | None:
        """The sizes at which an expression of data may leave its row; None where nothing bounds it."""
        low, high = bounds_of(expr, self.region.value, self.region.element)
        size = self.value(extent, Env())
        if size is None:
            return None
        if low is not None and high is not None:
            return size.le_set(number(high))
        lows, highs = self.region.around(expr, env)
        if not lows or not highs:
            return None
        return union([*(one.lt_set(number(0)) for one in lows), *(one.ge_set(size) for one in highs)])

    def ask(self, key: str, form: Form, pieces: list[Poly], loose: list[int], env: Env) -> bool:
        """Note what the data have to be asked, if the region needs no more than that."""
        for position in loose:
            expr = self.atoms.expression(pieces[position])
            type_ = self.atoms.typed(expr)[1]
            one = wanted(self.region, key, position, expr, self.signed(form.extents[position - 1]), type_, env)
            if one is None:
                return False
            self.region.wanted.append(one)
        return self.region.inspect

    def signed(self, extent: c.Expr) -> c.Expr:
        """Convert the length of a row to a type with a sign: it is compared with an index that may be negative, and one
        less than 0 is -1."""
        type_ = self.atoms.typed(extent)[1]
        return extent if type_ is None or promote(type_).signed else c.Cast("long", extent)

    def moving(self, piece: Poly) -> set[tuple[int, ...]]:
        return {variable for variable in self.atoms.factors(piece) if variable}

    def value(self, expr: c.Expr, env: Env) -> isl.PwAff | None:
        before, self.region.strict = self.region.strict, True
        value = Affine(self.region).value(expr, env)
        self.region.strict = before
        return None if value is None else value[0]

    def is_below(self, part: Poly, poly: Poly, form: Form, env: Env) -> bool:
        """Whether a part of a subscript lies between 0 and the subscript, or in its type's range in any case."""
        if part == poly:
            return True
        value = self.value(self.atoms.expression(part), env)
        if value is not None and self.never(outside(value, UNSIGNED), env):
            return True
        return self.is_positive(part, form, env) and self.is_positive(added(poly, part, -1), form, env)

    def is_positive(self, poly: Poly, form: Form, env: Env) -> bool:
        """Whether no subscript that a place is divided into is negative."""
        values = [self.value(self.atoms.expression(piece), env) for piece in form.pieces(poly)]
        return all(value is not None and self.never(value.lt_set(number(0)), env) for value in values)

    def outside(self, form: Form, pieces: list[Poly], env: Env, narrow: bool) -> isl.Set | None:
        """Where the affine parts of a subscript leave their rows, and those that are bounded; None where rows are not
        affine. `narrow`: or where it reaches 2^32"""
        wrong: isl.Set | None = None
        if narrow:
            rows = form.most(self.atoms)
            row = self.value(self.atoms.expression(pieces[0]), env)
            most = Affine(self.region).observed(rows, Env()) if rows is not None else None
            if row is None or most is None:
                return None
            wrong = row.lt_set(number(0)).union(row.ge_set(most))
        for piece, extent in zip(pieces[1:], form.extents, strict=True):
            expr = self.atoms.expression(piece)
            value, size = self.value(expr, env), self.value(extent, Env())
            if size is None:
                return None
            if value is None:
                above = self.above(expr, extent, env)
                here = isl.Set.empty(POINT) if above is None else above
            else:
                here = value.lt_set(number(0)).union(value.ge_set(size))
            wrong = here if wrong is None else wrong.union(here)
        return wrong

    def never(self, wrong: isl.Set, env: Env) -> bool:
        before, self.region.strict = self.region.strict, True
        sure = self.region.holds(wrong, env)
        self.region.strict = before
        return sure

    def assume(self, wrong: isl.Set, env: Env, few: int) -> bool:
        """Assume of the sizes that these places are not reached. Not where that leaves small numbers only, or such as
        no memory has: such a subscript is no place in this shape.

        math: allowed = (sizes \\ bad).gist(sizes), for the sizes at which this place is reached at all
        """
        region = self.region
        if region.strict and not region.in_opaque:
            return False
        known = env.domain.intersect(region.context).intersect(region.types(env)).intersect(region.assumed)
        sizes = project(known, env.variables)
        left = sizes.subtract(project(wrong.intersect(known), env.variables)).coalesce()
        if left.is_empty() or any(is_rare(range_of(left, name), range_of(sizes, name), few) for name in names_of(left)):
            return False
        if self.as_called(left).is_empty() and not self.as_called(sizes).is_empty():
            return False
        region.assumed = region.assumed.intersect(left.gist(sizes)).coalesce()
        self.guarded = True
        return True

    def as_called(self, sizes: isl.Set) -> isl.Set:
        """The sizes among some that all calls of the file have, as far as these say."""
        for position, name in enumerate(names_of(sizes)):
            one = self.region.parameters.get(name)
            value = None if one is None else self.called(one.expr)
            if value is not None:
                sizes = sizes.fix_val(isl.dim_type.param, position, isl.Val.int_from_si(sizes.get_ctx(), value))
        return sizes

    def called(self, expr: c.Expr) -> int | None:
        """The value of a size, or of a product or quotient of some, in all calls of the file."""

        def passed(node: c.Node) -> c.Node | None:
            if not isinstance(node, c.Name):
                return None
            symbol = self.region.scope.symbols.get(node.name)
            value = self.region.called.get(node.name if symbol is None else symbol.c_name)
            return None if value is None else c.Literal(str(value))

        return constant(c.rewrite(expr, passed))


def names_of(domain: isl.Set) -> list[str]:
    return [domain.get_dim_name(isl.dim_type.param, k) or "" for k in range(domain.dim(isl.dim_type.param))]


def range_of(domain: isl.Set, name: str) -> tuple[float, float]:
    """The least and the greatest value of a parameter."""
    position = domain.find_dim_by_name(isl.dim_type.param, name)
    if position < 0:
        return -inf, inf
    line = domain.move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
    low, high = least_of(line, 0), greatest_of(line, 0)
    return int(low.to_python()) if low.is_int() else -inf, int(high.to_python()) if high.is_int() else inf


def is_rare(left: tuple[float, float], sizes: tuple[float, float], few: int) -> bool:
    """Whether a size is small, or larger than any memory, only since something is assumed of it."""
    return left[1] < min(few, sizes[1]) or left[0] > max(limits(INT)[1], sizes[0])


def shifted(form: Form, pieces: list[Poly]) -> Iterator[list[Poly]]:
    """The same place one row on or back: `C - 1 - j` of the next row is `-1 - j` of this one, divided by C."""
    for position, size in enumerate(form.sizes, 1):
        if multiplied(size, form.strides[position]) != form.strides[position - 1]:
            continue
        for step in (-1, 1):
            other = list(pieces)
            other[position - 1] = added(other[position - 1], ONE, step)
            other[position] = added(other[position], size, -step)
            yield other
