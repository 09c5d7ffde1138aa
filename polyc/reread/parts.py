"""The printed loops as places: which statements stand where, below which loops, conditions and declarations.

Reads the C tree with its notes, of which only the names of statements and the values that they claim are used. What the
claims are worth is shown by `instances.py`, `order.py`, `bodies.py` and `storage.py`.
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.facts import mentions
from polyc.analysis.expressions.reader import NotAffine, Reader, parameter_space, piecewise
from polyc.analysis.expressions.straight import is_plain
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import Storage
from polyc.records import dataclass, field, replace


class NotComparable(Exception):
    """The text cannot be compared: nothing is known to be wrong with it. The message says why."""


class Refused(Exception):
    """The text does something that the program does not."""

    def __init__(self, message: str, witness: str = "") -> None:
        super().__init__(message)
        self.fault = Fault("text", message, witness)


@dataclass(slots=True, eq=False)
class Loop:
    """A loop of the text."""

    node: c.For
    name: str
    depth: int
    """Loops around it."""
    parts: list[Part] = field(default_factory=list)
    """Below it."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A place of the text."""

    loops: tuple[Loop, ...]
    way: tuple[int | Loop, ...]
    """Positions in blocks, and loops, from the outside."""
    reader: Reader
    domain: isl.Set
    """`[n] -> { [x0, x1, …] }`, the iterations of the loops that come here."""
    stores: dict[str, Declared]
    """The local arrays that are visible here, by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A local array or variable of the text."""

    node: c.Decl
    place: Place


@dataclass(slots=True, eq=False)
class Part:
    """The text of one statement of the program, at one place."""

    note: c.Note
    items: tuple[c.Stmt, ...]
    place: Place

    @property
    def statement(self) -> str:
        return self.note.name


@dataclass(slots=True)
class Walk:
    """Everything that the text runs and declares. Raises NotComparable, Refused."""

    program: Program
    known: isl.Set
    """Sizes at which the text runs."""
    parts: list[Part] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    declared: list[Declared] = field(default_factory=list)
    _parameters: dict[c.Expr, str] = field(init=False)
    _taken: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._parameters = {p.expr: p.name for p in self.program.scop.parameters}
        self._taken = names_of(self.program)

    def run(self, body: tuple[c.Stmt, ...]) -> None:
        """Walk through the whole text."""
        space = parameter_space(self.program.scop).add_unnamed_tuple_ui(0)
        domain = isl.Set.universe(space).intersect_params(self.known)
        self.block(body, Place((), (), Reader(self._parameters, {}, space, domain), domain, {}))

    def block(self, items: tuple[c.Stmt, ...], place: Place) -> None:
        """Statements one after the other, with the declarations among them."""
        stores, names = dict(place.stores), dict(place.reader.names)
        position = 0
        while position < len(items):
            item = items[position]
            here = replace(place, way=(*place.way, position), stores=dict(stores))
            if names != place.reader.names:
                here = replace(here, reader=replace(place.reader, names=dict(names)))
            position += 1
            match item:
                case c.Note(kind="at"):
                    end = _end(items, position, item.name)
                    self.part(Part(item, items[position:end], here))
                    position = end + 1
                case c.Note(kind="value", name=name, value=value) if value is not None:
                    names[self.fresh(name)] = value
                case c.Decl(name=name, extents=(), init=value) if value is not None:
                    if not set(item.type.split()) & {"const"}:
                        raise Refused(f"{name} is a variable that no statement has", item.type)
                    names[self.fresh(name)] = value
                case c.Decl(name=name, init=None):
                    outlives = {"static", "extern", "_Thread_local", "register"} & set(item.type.split())
                    if outlives:
                        raise Refused(f"{name} outlives its block", item.type)
                    if name in names:
                        raise Refused(f"{name} is declared twice")
                    stores[name] = Declared(item, here)
                    self.declared.append(stores[name])
                case _:
                    self.statement(item, here)

    def statement(self, item: c.Stmt, place: Place) -> None:
        match item:
            case c.Block(body=body):
                self.block(body, place)
            case c.For():
                self.loop(item, place)
            case c.If() if (choices := chosen(item)) is not None:
                self.block(choices, place)
            case c.If(condition=condition, then=then, otherwise=otherwise):
                inside = self.condition(condition, place)
                self.block(c.items(then), self.narrowed(place, inside, 0))
                if otherwise is not None:
                    self.block(c.items(otherwise), self.narrowed(place, inside.complement(), 1))
            case c.Note() | c.Comment() | c.Empty():
                pass
            case c.ExprStmt(expr=c.Cast(type="void", operand=c.Name())):
                pass  # for compilers that warn of what is only written
            case c.ExprStmt(expr=c.Call(function="polyc_unjammed", arguments=())):
                pass  # it does nothing
            case _:
                raise Refused("a statement of the text belongs to none of the program", str(type(item).__name__))

    def part(self, part: Part) -> None:
        if part.statement not in self.program.statements:
            raise Refused(f"the text has a statement {part.statement} that the program does not have")
        self.parts.append(part)
        for loop in part.place.loops:
            loop.parts.append(part)

    def loop(self, node: c.For, place: Place) -> None:
        """`for (long x = start; x < end; x += step)`, counting up."""
        match node.init, node.step:
            case c.Decl(type="long", name=name, extents=(), init=start), step if start is not None:
                size = _step(step, name)
            case _:
                raise Refused("a loop of the text is of another form")
        depth = len(place.loops)
        if name in place.stores or name in place.reader.names:
            raise Refused(f"a variable of the text hides {name}")
        loop = Loop(node, self.fresh(name), depth)
        self.loops.append(loop)
        space = place.reader.space.params().add_unnamed_tuple_ui(depth + 1)
        around = place.domain.add_dims(isl.dim_type.set, 1)
        reader = Reader(place.reader.parameters, {**place.reader.names, name: depth}, space, around)
        for bound in _uppers(node.condition, name):
            if name in mentions(bound):
                raise Refused("a loop of the text ends where it says itself")
        if name in mentions(start):
            raise Refused("a loop of the text starts where it says itself")
        try:
            assert node.condition is not None
            itself = c.Name(name)
            domain = around.intersect(reader.condition(c.Binary(">=", itself, start)))
            domain = domain.intersect(reader.condition(node.condition))
            if size != 1:
                rest = reader.value(c.Binary("-", itself, start))
                by = isl.Val.int_from_si(space.get_ctx(), size)
                domain = domain.intersect(piecewise(rest.mod_val(by)).zero_set())
        except NotAffine as what:
            raise NotComparable(f"the bounds of loop {name} are not affine ({what})") from None
        inner = replace(reader, domain=domain)
        self.block(c.items(node.body), Place((*place.loops, loop), (*place.way, loop), inner, domain, place.stores))

    def condition(self, condition: c.Expr, place: Place) -> isl.Set:
        try:
            return place.reader.condition(condition)
        except NotAffine as what:
            raise NotComparable(f"a condition of the text is not affine ({what})") from None

    def narrowed(self, place: Place, inside: isl.Set, position: int) -> Place:
        domain = place.domain.intersect(inside)
        reader = replace(place.reader, domain=domain)
        return replace(place, way=(*place.way, position), domain=domain, reader=reader)

    def fresh(self, name: str) -> str:
        """A variable of the text, which hides nothing that statements name."""
        if name in self._taken:
            raise Refused(f"a variable of the text hides {name}")
        return name


def chosen(node: c.If) -> tuple[c.Stmt, ...] | None:
    """`if (x > m) { at = i; m = x; }` as `at = x > m ? i : at; m = x > m ? x : m;`; None for another statement.

    requires: each but the last stores to a variable, or to an array, that the comparison, which has no effects, does
              not read: it has the same value each time
    """
    match node:
        case c.If(condition=c.Binary(op=op) as test, then=c.Block(body=items), otherwise=None) if op in c.COMPARISONS:
            stores = [item for item in items if not isinstance(item, c.Note)]
        case _:
            return None
    read = {name for n in c.walk(test) if isinstance(n, c.ArrayRef | c.Name) for name in _words(n)}
    if not any(isinstance(n, c.ArrayRef) for n in c.walk(test)) or not is_plain(test):
        return None
    for store in stores:
        match store:
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef() as target), pragmas=()):
                if store is not stores[-1] and set(_words(target)) & read:
                    return None
            case _:
                return None

    def always(store: c.Stmt) -> c.Stmt:
        match store:
            case c.ExprStmt(expr=c.Assign(target=target, value=value)):
                return c.ExprStmt(c.Assign("=", target, c.Ternary(test, value, target)))
            case _:
                return store

    return tuple(map(always, items))


def _words(node: c.ArrayRef | c.Name) -> list[str]:
    return c.identifiers(node.name if isinstance(node, c.Name) else node.array)


def names_of(program: Program) -> frozenset[str]:
    """What the statements and the sizes name, `s` for `s->x`, but for the statements' own loops."""
    scop = program.scop
    found = {a.c_name for a in scop.arrays.values() if a.storage is not Storage.REGION}
    found |= {n.name for p in scop.parameters for n in c.walk(p.expr) if isinstance(n, c.Name)}
    for statement in program.statements.values():
        own = {*statement.loops, *(value.name for value in statement.values)}
        inside = [n for n in c.walk(statement.body) if isinstance(n, c.Name | c.Decl)]
        found |= {n.name for n in inside} - own
    return frozenset(word for name in found for word in c.identifiers(name))


def _end(items: tuple[c.Stmt, ...], start: int, name: str) -> int:
    for position in range(start, len(items)):
        item = items[position]
        if isinstance(item, c.Note) and item.kind == "end" and item.name == name:
            return position
        if isinstance(item, c.Note) and item.kind == "at":
            break
    raise Refused(f"the text of {name} has no end")


def _step(step: c.Expr | None, name: str) -> int:
    match step:
        case c.Postfix(op="++", operand=c.Name(name=counted)) if counted == name:
            return 1
        case c.Assign(op="+=", target=c.Name(name=counted), value=c.Literal(text=text)) if counted == name:
            if text.isdigit() and int(text) > 0:
                return int(text)
    raise Refused(f"the loop {name} of the text does not count up")


def _uppers(condition: c.Expr | None, name: str) -> list[c.Expr]:
    """The ends of `x < a && x <= b`, from which on the loop never goes on."""
    match condition:
        case c.Binary(op="&&", left=left, right=right):
            return _uppers(left, name) + _uppers(right, name)
        case c.Binary(op="<" | "<=", left=c.Name(name=compared), right=end) if compared == name:
            return [end]
    raise NotComparable(f"the condition of loop {name} is of another form")
