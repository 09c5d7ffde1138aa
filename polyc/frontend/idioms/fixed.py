"""Places that do not move while a region runs, as variables of their own: `g[0]`, `*n`, `l.out`, `s->x`, `s->atoms->f`.

rewrite:  i < g[0]           ->  i < g_0              a whole number that the region only reads
          *beta == 0.0       ->  beta_1 == 0.0        any number that a condition compares
          l.out[i * l.m]     ->  l_out[i * l.m]       what a pointer in memory leads to
          s->x[i]            ->  s_x[i]               an array in a struct
requires: what leads there is not written, nor shares its memory with what is, and not used as a whole; of a union only
          numbers; each other access by the same members is to an array of its own, too, or both only read

The C name of such a variable is the text that leads there, so that it is printed as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import base_name, writes
from polyc.frontend.c.ctype import MOVING, Dim, Shape, Types, member_of, shared_member
from polyc.frontend.c.references import links
from polyc.frontend.c.symbols import Fixed, Scope, Symbol
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, replace

MOST_ROUNDS = 4
"""How deep subscripts that are such places may be nested: `g[k[0]]`."""
_ZERO = c.Literal("0")
_SHARED = "union"
"""The field of all members of a union; no member has this name."""


Fields = set[tuple[str, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Stop:
    """Where a part of a reference leads."""

    shape: Shape
    text: str
    fixed: Fixed
    still: bool = True
    """All subscripts so far are invariant."""
    chosen: bool = False
    """One of them is no constant."""
    fields: tuple[str, ...] = ()
    by_member: bool = False
    """The last link is a member."""
    behind: bool = False
    """It is the struct that the pointer `text` leads to."""


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A reference of the region."""

    chain: tuple[c.Expr, ...]
    stops: tuple[Stop, ...]
    """Behind each of its links, from the name on; shorter where a link leads to what polyc cannot tell."""
    written: bool = False
    addressed: bool = False
    passed: bool = False
    """It is what a function is given."""
    record: bool = False
    """It is an element of an array, and a struct of numbers."""

    @property
    def last(self) -> Stop:
        return self.stops[-1]

    @property
    def whole(self) -> bool:
        """Whether more is used than a number, or polyc cannot tell what."""
        last = self.last
        if len(self.stops) <= len(self.chain) or self.addressed:
            return True
        if self.passed and last.still and last.by_member and last.shape.dims:
            return False
        return bool(last.shape.dims) or (last.shape.node is not None and not self.record)

    def cut(self, written: Fields, compared: frozenset[str]) -> int | None:
        """How many links lead to a place that does not move, and is an array or a whole number; None for no such.

        written: the members of all that the region writes
        compared: the texts of what conditions compare
        """
        sought = self.last.shape.element.kind == "int" or self.last.text in compared
        number = sought and not self.last.shape.dims and self.last.fields not in written
        if self.chain and number and self.last.still and (written or not self.is_size):
            return len(self.chain)
        for position in range(len(self.chain) - (not self.passed), 0, -1):
            stop = self.stops[position]
            if stop.still and stop.shape.dims and (stop.by_member or stop.shape.dims[0].pointer):
                return position
        return None

    @property
    def is_size(self) -> bool:
        """Whether it is `p->in.n` or `s.n`, which is a size by itself."""
        arrow = isinstance(self.chain[0], c.Unary) and len(self.chain) > 1
        members = [link for link in self.chain[arrow:] if isinstance(link, c.Member)]
        return len(members) == len(self.chain) - arrow and [link.arrow for link in members].count(True) == arrow


def with_fixed_places(body: c.Block, scope: Scope, apart: bool) -> c.Block:
    """The region with a variable for each such place. `apart`: somebody promises that names do not overlap."""
    for _ in range(MOST_ROUNDS):
        before, body = body, _Round(scope, apart, frozenset(writes(body))).run(body)
        if body is before:
            break
    return body


@dataclass(slots=True)
class _Round:
    """One look at all references."""

    scope: Scope
    apart: bool
    written: frozenset[str]
    compared: frozenset[str] = frozenset()
    """The texts of what conditions compare."""

    def run(self, body: c.Block) -> c.Block:
        sides = [side for item in c.walk(body) if isinstance(item, c.If) for side in comparands(item.condition)]
        self.compared = frozenset(use.last.text for side in sides for _, use in self.uses(side))
        uses: dict[str, list[Use]] = {}
        for root, use in self.uses(body):
            uses.setdefault(root, []).append(use)
        chosen = {root: found for root, those in uses.items() if (found := self.chosen(root, those))}

        def change(node: c.Node) -> c.Node | None:
            key, chain = reference(node)
            use = self.use(self.scope.symbols[key], chain) if key in chosen else None
            if use is None:  # `p->q->x` has the text of the pointer behind it as well
                return None
            stop = next((s for s in reversed(use.stops) if s.text in chosen[key] and not s.behind), None)
            if stop is None:
                return None
            found: c.Expr = c.Name(self.symbol(stop).key, getattr(node, "span", None))
            for link in chain[use.stops.index(stop) :]:
                match link:
                    case c.Subscript(index=index):
                        found = c.Subscript(found, c.rewrite(index, change), link.span)
                    case c.Member(field=field):
                        found = c.Member(found, field, False, link.span)
                    case _:
                        found = c.Subscript(found, _ZERO, found.span)
            return found

        return c.rewrite(body, change) if chosen else body

    # --- references

    def uses(self, node: c.Node, written: bool = False, addressed: bool = False) -> Iterator[tuple[str, Use]]:
        """All references below a node, and the variables that they begin with."""
        key, chain = reference(node)
        if key:
            symbol = self.scope.symbols.get(key)
            if symbol is not None:
                yield key, self.use(symbol, chain, written, addressed)
            for link in chain:
                if isinstance(link, c.Subscript):
                    yield from self.uses(link.index)
            return
        match node:
            case c.Assign(target=target, value=value):
                yield from self.uses(target, written=True)
                yield from self.uses(value)
            case c.Postfix(operand=target) | c.Unary(op="++" | "--", operand=target):
                yield from self.uses(target, written=True)
            case c.Unary(op="&", operand=inner):
                yield from self.uses(inner, addressed=True)
            case c.Call(arguments=arguments):
                for argument in arguments:
                    yield from self.argument(argument)
            case c.Decl(name=name, init=init) if init is not None and self.is_pointer(name):
                yield from self.argument(init)
            case _:
                for child in c.children(node):
                    yield from self.uses(child, written, addressed)

    def is_pointer(self, name: str) -> bool:
        """Whether a variable is a pointer, which stands for what it is given where it is declared (`walks.py`)."""
        symbol = self.scope.symbols.get(name)
        return symbol is not None and len(symbol.shape.dims) == 1 and symbol.shape.dims[0].pointer

    def argument(self, node: c.Expr) -> Iterator[tuple[str, Use]]:
        """What a function, or a pointer, is given: `s->x`, `(float *)s->data + n`, `&s->x[n]`."""
        match node:
            case c.Unary(op="&", operand=c.Subscript() as inner):
                place = reference(inner)
                for root, use in self.uses(inner):
                    yield root, replace(use, written=True) if (root, use.chain) == place else use
            case c.Cast(operand=inner):
                yield from self.argument(inner)
            case c.Binary(op="+" | "-", left=left, right=right):
                yield from self.argument(left)
                yield from self.uses(right)
            case _:
                place = reference(node)
                for root, use in self.uses(node):
                    own = use.chain == place[1] and root == place[0]
                    yield root, replace(use, passed=True, written=True) if own and use.last.shape.dims else use

    def use(self, symbol: Symbol, chain: tuple[c.Expr, ...], written: bool = False, addressed: bool = False) -> Use:
        """A reference, with where each part of it leads."""
        stops = [Stop(symbol.shape, symbol.c_name, symbol.fixed or Fixed(symbol.key, symbol.c_name))]
        if symbol.shape.is_function or symbol.storage is Storage.REGION or symbol.volatile:
            return Use(chain, tuple(stops), written, addressed)
        for position, link in enumerate(chain):
            found = self.following(symbol, stops[-1], link, chain[position + 1 : position + 2])
            if found is None:
                break
            stops.append(found)
        record = bool(chain) and isinstance(chain[-1], c.Subscript) and is_record(self.scope.types, stops[-1].shape)
        return Use(chain, tuple(stops), written, addressed, record=record)

    def following(self, symbol: Symbol, at: Stop, link: c.Expr, after: tuple[c.Expr, ...]) -> Stop | None:
        """Where a link leads from a place; None where polyc cannot tell."""
        if isinstance(link, c.Member):
            shape = None if at.shape.dims else member_of(self.scope.types, at.shape.node, link.field)
            fields = (*at.fields, link.field)
            if shape is None and not at.shape.dims:  # all that shares memory counts as one member
                shape, fields = shared_member(self.scope.types, at.shape.node, link.field), (*at.fields, _SHARED)
            if shape is None or shape.qualifiers & MOVING:
                return None
            fields = at.fields if at.fields[-1:] == (_SHARED,) else fields
            text = f"{at.text}{'->' if at.behind else '.'}{link.field}"
            return replace(at, shape=shape, text=text, fields=fields, by_member=True, behind=False)
        if not at.shape.dims:
            return None
        index = link.index if isinstance(link, c.Subscript) else _ZERO
        pointer = at.shape.dims[0].pointer or (at.text == symbol.c_name and symbol.storage is Storage.ARGUMENT)
        behind = pointer and not isinstance(link, c.Subscript) and isinstance(next(iter(after), None), c.Member)
        text = at.text if behind else f"{at.text}[{text_of(index, self.scope)}]"
        if not isinstance(link, c.Subscript) and not after and at.text == symbol.c_name:
            text = f"*{at.text}"
        fixed = self.element(symbol, at, index, text, pointer, behind)
        inner = replace(at.shape, dims=at.shape.dims[1:])
        still, chosen = at.still and self.is_invariant(index), at.chosen or not isinstance(index, c.Literal)
        return Stop(inner, text, fixed, still, chosen, at.fields, behind=behind)

    def element(self, symbol: Symbol, at: Stop, index: c.Expr, text: str, pointer: bool, behind: bool) -> Fixed:
        """How an element is reached."""
        value, size = literal_value(index.text) if isinstance(index, c.Literal) else None, at.shape.dims[0].size
        fixed = at.fixed
        if pointer:
            loaded = at.text != symbol.c_name or symbol.fixed is not None
            cells = (*fixed.cells, (at.text, fixed.inside, fixed.elsewhere)) if loaded else fixed.cells
            inside = f"*{text}" if behind else text
            return replace(fixed, inside=inside, elsewhere=True, cells=cells, follows=(*fixed.follows, text))
        inside = text if at.shape.node is not None and len(at.shape.dims) == 1 else fixed.inside
        fixed = replace(fixed, elsewhere=fixed.elsewhere or value is None, inside=inside)
        if value is None or size is None or value >= size:
            return replace(fixed, follows=(*fixed.follows, text))
        return fixed

    def is_invariant(self, index: c.Expr) -> bool:
        """Whether a subscript is made of constants and of whole numbers that the region does not write."""
        match index:
            case c.Literal(text=text):
                return literal_value(text) is not None
            case c.Name(name=name):
                symbol = self.scope.symbols.get(name)
                if symbol is None:
                    return name in self.scope.types.constants
                return symbol.is_integer and symbol.storage is not Storage.REGION and name not in self.written
            case c.Binary(op="+" | "-" | "*", left=left, right=right):
                return self.is_invariant(left) and self.is_invariant(right)
        return False

    # --- choice

    def chosen(self, root: str, uses: list[Use]) -> set[str]:
        """The texts of the places, reached from one variable, that become variables of their own."""
        if any(use.whole for use in uses):
            return set()
        written = {use.last.fields for use in uses if use.written}
        cuts = [(use, use.cut(written, self.compared)) for use in uses]
        arrays: dict[tuple[str, ...], set[str]] = {}
        # `b[0]` beside `b[i]` stays an element: printed for one iteration, `b[i]` is `b[0]` as well.
        moving_too = {use.last.fields for use, position in cuts if position is None}
        found: set[str] = set()
        for use, position in cuts:
            if position is not None and not use.stops[position].shape.dims:
                found |= set() if use.last.fields in moving_too else {use.last.text}
            elif position is not None:
                arrays.setdefault(use.stops[position].fields, set()).add(use.stops[position].text)
        for fields, texts in arrays.items():
            parents = [fields[:count] for count in range(len(fields))]
            same = [(use, position) for use, position in cuts if use.last.fields[: len(fields)] == fields]
            alone = all(
                position is not None and (not use.stops[position].shape.dims or use.stops[position].fields == fields)
                for use, position in same
            )
            within = any(use.record and use.last.fields in parents for use in uses)
            moving = any(position is not None and use.stops[position].chosen for use, position in same)
            twice = len({text.replace("[0].", "->") for text in texts}) < len(texts)
            if alone and not within and not twice and (len(texts) == 1 or not (self.apart and moving)):
                found |= texts
        return found - {self.scope.symbols[root].c_name}

    def symbol(self, stop: Stop) -> Symbol:
        """The variable of a place."""
        for known in self.scope.symbols.values():
            if known.c_name == stop.text and known.fixed is not None:
                return known
        base = c.as_word(stop.text)
        key, number = base, 1
        while key in self.scope.symbols:
            number += 1
            key = f"{base}_{number}"
        shape = stop.shape
        if shape.dims and not shape.dims[0].pointer and shape.dims[0].extent is None:
            shape = replace(shape, dims=(Dim(None, True), *shape.dims[1:]))  # `double data[];` at a struct's end
        shape = replace(shape, qualifiers=shape.qualifiers - {"const"})  # it need not be the object that is
        found = Symbol(key, stop.text, shape, Storage.GLOBAL, None, fixed=stop.fixed)
        self.scope.symbols[key] = found
        return found


_CLOSER = {("+", "*"), ("-", "*")}
"""Operators on the left of others that bind closer."""


def reference(node: c.Node) -> tuple[str, tuple[c.Expr, ...]]:
    """The variable that a reference begins with, and its links; "" for what is none."""
    match node:
        case c.Name() | c.Subscript() | c.Member() | c.Unary(op="*"):
            name, chain = base_name(node), links(node)
            return ("", ()) if name is None or chain is None else (name.name, tuple(chain))
    return "", ()


def comparands(condition: c.Expr) -> Iterator[c.Expr]:
    """The references to memory that a condition compares."""
    for item in c.walk(condition):
        if isinstance(item, c.Binary) and item.op in c.COMPARISONS:
            yield from (side for side in (item.left, item.right) if reference(side)[1])


def is_record(types: Types, shape: Shape) -> bool:
    """Whether it is a struct with nothing but numbers in it: itself, in arrays, or in structs."""
    node = shape.node
    if shape.dims or not isinstance(node, c_ast.Struct):
        return False
    members = [types.shape(item.type) for item in node.decls or () if isinstance(item, c_ast.Decl)]
    return bool(members) and all(is_number(types, one) for one in members)


def is_number(types: Types, shape: Shape) -> bool:
    """Whether it is a number, a record, or an array of them that lies in the struct."""
    inside = not shape.is_function and not any(dim.pointer for dim in shape.dims)
    return inside and (shape.node is None or is_record(types, replace(shape, dims=())))


def text_of(index: c.Expr, scope: Scope) -> str:
    """A subscript as C text, with the parentheses that C needs."""
    match index:
        case c.Literal(text=text):
            return text
        case c.Name(name=name):
            symbol = scope.symbols.get(name)
            return name if symbol is None else symbol.c_name
        case c.Binary(op=op, left=left, right=right):
            one, other = text_of(left, scope), text_of(right, scope)
            one = f"({one})" if op == "*" and isinstance(left, c.Binary) and left.op != "*" else one
            other = f"({other})" if isinstance(right, c.Binary) and (op, right.op) not in _CLOSER else other
            return f"{one} {op} {other}"
    return "?"
