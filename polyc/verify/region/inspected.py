"""What the data are asked is what the region's model takes for granted.

The model says of flat arrays that subscripts stay in their rows which the data decide. Shown is, for each of them,
  (1) what is asked is the same expression, with the values that flow into it from scalars in their places, whatever
      casts it has that change nothing,
  (2) of memory that the region never writes, so that it is the same before the region,
  (3) in all iterations of the statement that evaluate it: math: the domain of the access, projected to the loops that
      the expression has, is part of the asking statement's domain,
  (4) that it lies in the row, and as far from its ends as two roundings of it may differ.
What clamps and conditions keep in its row (`frontend/sets/intervals.py`) is taken from the frontend.
A subscript that no iteration evaluates needs none of that: the model has it in all iterations, since it stands in the
text, but the conditions of C around it (`?:`, `&&`, `||`, `if`) never let it be evaluated.
The frontend has its own answers (`frontend/statements/inspection.py`); they are not trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import reduce

import islpy as isl

from polyc.analysis.expressions.facts import Induction, assigned_scalars, constant, induction, mentions
from polyc.analysis.expressions.promoted import without_idle_casts
from polyc.analysis.expressions.ranges import bounds_of, spare_of
from polyc.analysis.expressions.reader import NotAffine, Reader, parameter_space, piecewise
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import Access, Inspection, Scop, Statement
from polyc.poly import constant_of, in_name, maps
from polyc.records import dataclass, replace

KIND = "inspection"
INT_BYTES = 4

_SIGNED = ("int", "long", "short")
_UNSIGNED = ("unsigned", "unsigned int", "unsigned long", "size_t")


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """`spare <= index < most`, in the iterations of a statement."""

    statement: Statement
    index: c.Expr
    spare: int
    most: c.Expr


def inspection_faults(initial: Program) -> list[Fault]:
    """Subscripts that a region's model takes to stay in their rows, and nobody asks for it.

    `initial`: the region as it was written, with its dependences.
    """
    scop = initial.scop
    asked = [] if scop.inspection is None else list(_asked(scop.inspection))
    found: list[Fault] = []
    for statement in scop.statements.values():
        for access in {(a.ref, a.array): a for a in statement.accesses}.values():
            for position in {*access.loose} - {*access.clamped} if scop.arrays[access.array].flat else ():
                wrong = _wrong(initial, statement, access, position, asked) if position else ""
                if wrong:
                    message = f"dimension {position + 1} of {access.array} in {statement.name}: {wrong}"
                    found.append(Fault(KIND, message, str(access.relation.sample())))
    return found


def _asked(inspection: Inspection) -> Iterator[_Asked]:
    """What is asked; what has another form asks nothing."""
    scop = inspection.scop
    values: dict[str, Statement] = {}
    for statement in scop.statements.values():
        match statement.body:
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=name, subscripts=()))):
                if name in values:
                    return
                values[name] = statement
    for statement in scop.statements.values():
        match statement.body:
            case c.ExprStmt(expr=c.Assign(op="&=", target=c.ArrayRef(array=inspection.answer), value=value)):
                for low, high in _ranges(list(_terms(value))):
                    (at, spare), (_, most) = low, high
                    made = values.get(at)
                    if made is not None and made.loops == statement.loops and _same_domain(made, statement):
                        index = _plain(scop, statement, c.unlabelled(_value(made)))
                        yield _Asked(statement, index, spare, _pointed(c.unlabelled(most)))


def _plain(scop: Scop, statement: Statement, index: c.Expr) -> c.Expr:
    """An expression of a statement without casts that change nothing: the value of `int z = j;` is `j` or `(int)j`."""
    types = {p.expr.name: p.type for p in scop.parameters if isinstance(p.expr, c.Name)}
    types |= dict(zip(statement.loops, statement.loop_types, strict=True))
    own = {node.name for node in c.walk(statement.body) if isinstance(node, c.Decl)}
    return without_idle_casts(_pointed(index), scop.arrays, {name: types[name] for name in types.keys() - own})


def _pointed(expr: c.Expr) -> c.Expr:
    """The expression with `p[0].n` as `p->n`: the model has both forms."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Member(base=c.ArrayRef(array=name, subscripts=(c.Literal(text="0"),)), arrow=False):
                return replace(node, base=c.Name(name), arrow=True)
        return None

    return c.rewrite(expr, change)


def _value(statement: Statement) -> c.Expr:
    """What an assignment assigns."""
    match statement.body:
        case c.ExprStmt(expr=c.Assign(value=value)):
            return value
    raise AssertionError("it is no assignment")


def _same_domain(one: Statement, two: Statement) -> bool:
    return bool(one.domain.set_tuple_name("S").is_equal(two.domain.set_tuple_name("S")))


def _terms(value: c.Expr) -> Iterator[c.Expr]:
    if isinstance(value, c.Binary) and value.op == "&":
        yield from _terms(value.left)
        yield from _terms(value.right)
    else:
        yield value


def _ranges(terms: list[c.Expr]) -> Iterator[tuple[tuple[str, int], tuple[str, c.Expr]]]:
    """Pairs of `spare <= at` and `at < most`."""
    for low in terms:
        match low:
            case c.Binary(op="<=", left=c.Literal(text=text), right=c.ArrayRef(array=at, subscripts=())):
                for high in terms:
                    match high:
                        case c.Binary(op="<", left=c.ArrayRef(array=other, subscripts=()), right=most) if other == at:
                            yield (at, int(text)), (at, most)


def _wrong(program: Program, statement: Statement, access: Access, position: int, asked: list[_Asked]) -> str:
    """What is not shown of a subscript; "" where all is."""
    scop = program.scop
    references = [n for n in c.walk(statement.body) if isinstance(n, c.ArrayRef) and n.ref == access.ref]
    if len(references) != 1 or len(references[0].subscripts) != scop.arrays[access.array].rank:
        return "its subscript is not known"
    index = _settled(program, statement, references[0].subscripts[position])
    extent = scop.arrays[access.array].extents_c[position]
    if index is None or extent is None:
        return "it is not known where its subscript comes from"
    stays = _stays(scop, statement, references[0], position)
    if stays or _is_bounded(scop, access, index, position) or _is_idle(scop, statement, references[0]):
        return ""
    changed = scop.written & {n.array for n in c.walk(index) if isinstance(n, c.ArrayRef)}
    if changed:
        return f"the region writes {', '.join(sorted(changed))}"
    # Of loop variables and sizes it is known that they are whole numbers.
    spare = spare_of(index, lambda name: name in scop.arrays and scop.arrays[name].element.kind != "int")
    if spare is None:
        return "its subscript may be rounded in several ways"
    extent = _pointed(c.unlabelled(extent))
    unsigned = _unsigned(scop) & set(c.walk(extent))
    index = _plain(scop, statement, index)
    for one in asked:
        renamed: dict[str, str] = {}
        if not _matches(one.index, index, one.statement.loops, statement.loops, renamed):
            continue
        ends = [c.Cast("long", extent), *(() if one.spare and unsigned else (extent,))]  # 0u - 1 is no end
        if one.spare:
            ends = [c.Binary("-", end, c.Literal(str(one.spare))) for end in ends]
        if one.spare >= spare and one.most in ends and _covers(one.statement, statement, access, renamed):
            return ""
    return "nobody asks whether it stays in its row"


def _settled(program: Program, statement: Statement, expr: c.Expr, depth: int = 0) -> c.Expr | None:
    """The expression with the values of the scalars that flow into it, without labels; None where one is not known."""
    lost = depth > len(program.scop.statements)

    def change(node: c.Node) -> c.Node | None:
        nonlocal lost
        if not isinstance(node, c.ArrayRef) or node.subscripts or node.array not in program.scop.written:
            return None
        maker = _maker(program, statement, node.array)
        if maker is None or lost:
            lost = True
            return None
        value = _settled(program, maker, _value(maker), depth + 1)
        if value is None:
            lost = True
            return None
        renamed = dict(zip(maker.loops, statement.loops, strict=False))
        value = c.renamed(value, renamed)
        text = program.scop.arrays[node.array].element.text
        return value if isinstance(value, c.Cast) and value.type == text else c.Cast(text, value)

    found = c.unlabelled(c.rewrite(expr, change))
    return None if lost else found


def _maker(program: Program, reader: Statement, scalar: str) -> Statement | None:
    """The statement that gives a scalar its value in the same iteration of all loops around that statement."""
    flow = program.dependences.flow_by_array.get(scalar)
    if flow is None:
        return None
    into = flow.intersect_range(isl.UnionSet.from_set(reader.domain)).intersect_params(program.scop.known)
    pieces = maps(into)
    if len(pieces) != 1:
        return None
    maker = program.scop.statements[in_name(pieces[0])]
    depth = len(maker.loops)
    match maker.body:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=name))) if name == scalar:
            pass
        case _:
            return None
    wanted = reader.domain.intersect_params(program.scop.known)
    if maker.opaque or depth > len(reader.loops) or not wanted.is_subset(pieces[0].range()):
        return None
    same = isl.Map.universe(pieces[0].get_space())
    for k in range(depth):
        same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return maker if pieces[0].is_subset(same) else None


def _is_bounded(scop: Scop, access: Access, index: c.Expr, position: int) -> bool:
    """Whether what a subscript is made of keeps it in its row."""
    elements = {name: array.element for name, array in scop.arrays.items()}
    low, high = bounds_of(index, lambda _: None, elements.get)
    extent = scop.arrays[access.array].extents[position]
    if low is None or high is None or extent is None:
        return False
    number = constant_of(extent)
    if number is not None:
        return high < number
    most = isl.Val.int_from_si(scop.domain.get_ctx(), high)
    above = isl.PwAff.val_on_domain(isl.Set.universe(extent.domain().get_space()), most)
    return bool(access.relation.params().intersect(scop.known).is_subset(extent.gt_set(above).params()))


def _stays(scop: Scop, statement: Statement, reference: c.ArrayRef, position: int) -> bool:
    """Whether the loops and conditions inside a statement that is kept whole hold a subscript of theirs in its row.

    math: with D the statement's domain and H the heads of the loops and the conditions inside of it around the
          reference, D and H imply 0 <= subscript < extent; what is not affine, or has no sign, says nothing.
    """
    body, types = statement.body, _integers(scop)
    around = [(loop, _counter(loop, body, types, unsigned=True, down=True)) for loop in _around(body, reference)]
    inner = [(loop, head) for loop, head in around if head is not None]
    names = [*statement.loops, *(head.key for _, head in inner)]
    extent = scop.arrays[reference.array].extents[position]
    signed = {id(loop) for loop, _ in inner if _counter(loop, body, types, down=True) is not None}
    unsigned = _unsigned(scop) | {c.Name(head.key) for loop, head in inner if id(loop) not in signed}
    if extent is None or len(set(names)) != len(names) or _unsigned(scop) & set(c.walk(reference.subscripts[position])):
        return False
    if any(_changes(statement.body, name) for name in statement.loops):
        return False
    space = parameter_space(scop).add_unnamed_tuple_ui(len(names))
    reader = Reader({p.expr: p.name for p in scop.parameters}, {name: k for k, name in enumerate(names)}, space)
    inside = isl.Set.universe(space).intersect_params(scop.known)
    outer = statement.domain.reset_tuple_id().add_dims(isl.dim_type.set, len(inner))
    inside = inside.align_params(outer.get_space()).intersect(outer.align_params(space))
    for depth, (loop, head) in enumerate(inner):
        later = {other.key for _, other in inner[depth + 1 :]}  # these count from now on: they had other values before
        begins = c.Binary(">=" if head.step > 0 else "<=", c.Name(head.key), head.start)
        passed = c.Binary("-", c.Name(head.key), head.start)
        steps = c.Binary("==", c.Binary("%", passed, c.Literal(str(abs(head.step)))), c.Literal("0"))
        for text in (begins, steps, loop.condition):
            condition = None if text is None else _with_sizes(scop, text)
            with suppress(NotAffine):
                if condition is None or later & mentions(condition):
                    continue
                nodes = {*c.walk(condition), c.Name(head.key)}
                plain = all(_is_signed(node) for node in nodes if isinstance(node, c.Literal))
                if (plain and not unsigned & nodes) or _compares_numbers(condition, head, unsigned):
                    inside = inside.intersect(reader.condition(condition))
    own = {n.name for n in c.walk(body) if isinstance(n, c.Decl)}
    own -= {head.key for loop, head in inner if isinstance(loop.init, c.Decl)}  # no condition before has these names
    for condition, holds in _conditions(body, reference):
        if own & mentions(condition) or unsigned & {*c.walk(condition)} or not all(map(_is_signed, c.walk(condition))):
            continue
        with suppress(NotAffine):
            where = reader.condition(_with_sizes(scop, condition))
            inside = inside.intersect(where if holds else where.complement())
    try:
        value = piecewise(reader.value(reference.subscripts[position]))
    except NotAffine:
        return False
    zero = isl.PwAff.val_on_domain(isl.Set.universe(space), isl.Val.zero(space.get_ctx()))
    return bool(inside.is_subset(value.ge_set(zero).intersect(value.lt_set(piecewise(reader.of_parameters(extent))))))


def _with_sizes(scop: Scop, expr: c.Expr) -> c.Expr:
    """An expression of a statement that is kept whole with the sizes that it reads from a struct which the region
    leaves as it is: `s[0].n` as `s->n`."""
    sizes, written = {p.expr for p in scop.parameters}, scop.written

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Member(base=c.ArrayRef(array=name, subscripts=(c.Literal(text="0"),)), field=field, arrow=False):
                size = c.Member(c.Name(name), field, arrow=True)
                return size if size in sizes and name not in written else None
        return None

    return c.rewrite(expr, change)


def _compares_numbers(condition: c.Expr, head: Induction, unsigned: set[c.Expr]) -> bool:
    """Whether a comparison without a sign is that of the numbers: a counter that goes up from a number that is not
    negative, with that number, or with a size."""
    start = constant(head.start)
    match condition:
        case c.Binary(op=">=", left=c.Name(name=name), right=other) if other == head.start:
            return name == head.key and start is not None and start >= 0
        case c.Binary(op="<" | "<=", left=c.Name(name=name), right=c.Name() | c.Member() | c.Literal() as size):
            known = size in unsigned or isinstance(size, c.Literal)
            return name == head.key and start is not None and start >= 0 and known
    return False


def _unsigned(scop: Scop) -> set[c.Expr]:
    """The sizes with which C computes without a sign: narrower ones become an int."""
    return {p.expr for p in scop.parameters if not (p.type.signed or 0 < p.type.size_bytes < INT_BYTES)}


def _is_idle(scop: Scop, statement: Statement, reference: c.ArrayRef) -> bool:
    """Whether no iteration of a statement evaluates a reference in it, because of the conditions around it.

    math: with D the statement's domain and C what holds where the reference is evaluated, D and C is empty; a condition
          that is not affine, or not of signed sizes and loop variables alone that the body leaves as they are, says
          nothing. Of the loops inside, those that declare their variables: no condition before them has these names
    """
    signed = {name for name, type_ in zip(statement.loops, statement.loop_types, strict=True) if type_.signed}
    own = {n.name for n in c.walk(statement.body) if isinstance(n, c.Decl)}
    signed -= {name for name in signed if name in own or _changes(statement.body, name)}
    body, types = statement.body, _integers(scop)
    heads = [(loop, _counter(loop, body, types)) for loop in _around(body, reference)]
    inner = [head.key for loop, head in heads if head is not None and isinstance(loop.init, c.Decl)]
    names = [*statement.loops, *inner]
    if len(set(names)) != len(names):
        return False
    loops = {name: k for k, name in enumerate(names) if name in signed or name in inner}
    sizes = {p.expr: p.name for p in scop.parameters if p.type.signed and not own & mentions(p.expr)}
    space = parameter_space(scop).add_unnamed_tuple_ui(len(names))
    reader = Reader(sizes, loops, space)
    inside = statement.domain.reset_tuple_id().add_dims(isl.dim_type.set, len(inner)).intersect_params(scop.known)
    for condition, holds in _conditions(statement.body, reference):
        if not all(_is_signed(node) for node in c.walk(condition)):
            continue
        with suppress(NotAffine):
            where = reader.condition(condition)
            inside = inside.intersect(where if holds else where.complement())
    return bool(inside.is_empty())


def _is_signed(node: c.Node) -> bool:
    """Whether a part of a condition makes no other number of signed ones."""
    match node:
        case c.Literal(text=text):
            return text.rstrip("lL").isdecimal()
    return not isinstance(node, c.Cast | c.Call)


def _conditions(node: c.Node, wanted: c.Node) -> list[tuple[c.Expr, bool]]:
    """What C has evaluated before it comes to a part of a statement, and whether it held."""
    for child in c.children(node):
        if child is not wanted and not any(n is wanted for n in c.walk(child)):
            continue
        here: list[tuple[c.Expr, bool]] = []
        match node:
            case c.Ternary(condition=condition, then=then) | c.If(condition=condition, then=then):
                here = [] if child is condition else [(condition, child is then)]
            case c.Binary(op="&&" | "||" as op, left=left):
                here = [] if child is left else [(left, op == "&&")]
        return [*here, *_conditions(child, wanted)]
    return []


def _around(node: c.Node, wanted: c.Node) -> list[c.For]:
    """The loops of a body around one of its nodes, the outermost first."""
    for child in c.children(node):
        if child is wanted or any(n is wanted for n in c.walk(child)):
            return [*([node] if isinstance(node, c.For) and child is node.body else []), *_around(child, wanted)]
    return []


def _integers(scop: Scop) -> dict[str, bool]:
    """The types of counters, and whether they have a sign: the plain ones, and other names that sizes, loop variables
    or elements of the region have for them."""
    loops = (type_ for s in scop.statements.values() for type_ in s.loop_types)
    named = [*(p.type for p in scop.parameters), *(a.element for a in scop.arrays.values()), *loops]
    found = {type_.text: type_.signed for type_ in named if type_.kind == "int" and type_.size_bytes in (4, 8)}
    return found | dict.fromkeys(_SIGNED, True) | dict.fromkeys(_UNSIGNED, False)


def _counter(
    loop: c.For, body: c.Node, types: Mapping[str, bool], unsigned: bool = False, down: bool = False
) -> Induction | None:
    """The head of a loop that counts up a variable of the statement's own, a signed one or any, and changes it nowhere
    else; None for others. The loop declares it, or a block of the statement around it.

    types: those of whole numbers, with whether they have a sign
    down:  or counts down one with a sign
    """
    head = induction(loop)
    if head is None:
        return None
    own = loop.init if isinstance(loop.init, c.Decl) else _declaration(body, head.key)
    if own is None or own.type not in types or not (types[own.type] or unsigned):
        return None
    counts = head.step > 0 or (down and head.step < 0 and types[own.type])
    return head if counts and not _changes(loop.body, head.key) else None


def _declaration(body: c.Node, name: str) -> c.Decl | None:
    """The declaration of a variable in a statement, if there is one only."""
    found = [item for item in c.walk(body) if isinstance(item, c.Decl) and item.name == name]
    return found[0] if len(found) == 1 else None


def _changes(node: c.Node, name: str) -> bool:
    """Whether a body may give a variable another value: it assigns it, or takes its address."""
    return name in assigned_scalars(node) or any(n == c.Unary("&", c.Name(name)) for n in c.walk(node))


def _matches(one: c.Node, two: c.Node, ours: tuple[str, ...], theirs: tuple[str, ...], renamed: dict[str, str]) -> bool:
    """Whether two expressions are the same but for the names of loops, each of which has one name in the other."""
    if isinstance(one, c.Name) and isinstance(two, c.Name) and one.name in ours:
        return two.name in theirs and renamed.setdefault(one.name, two.name) == two.name
    if type(one) is not type(two):
        return False
    first, second = list(c.children(one)), list(c.children(two))
    if len(first) != len(second) or _head(one) != _head(two):
        return False
    return all(_matches(a, b, ours, theirs, renamed) for a, b in zip(first, second, strict=True))


def _head(node: c.Node) -> tuple[object, ...]:
    """What a node is beside its parts."""
    names = ("op", "text", "type", "name", "array", "function", "field")
    return tuple(getattr(node, name, None) for name in names)


def _covers(asking: Statement, statement: Statement, access: Access, renamed: dict[str, str]) -> bool:
    """Whether all iterations of a statement that make an access are asked for."""
    if set(renamed) != set(asking.loops) or len(set(renamed.values())) != len(renamed):
        return False
    places = [statement.loops.index(renamed[name]) for name in asking.loops]
    if [statement.loop_types[place] for place in places] != list(asking.loop_types):
        return False
    ran = [a.relation.domain() for a in statement.accesses if (a.ref, a.array) == (access.ref, access.array)]
    domain = reduce(isl.Set.union, ran).reset_tuple_id()
    picked = isl.Map.universe(
        isl.Space.alloc(domain.get_ctx(), 0, len(statement.loops), len(places)).align_params(domain.get_space())
    )
    for k, place in enumerate(places):
        picked = picked.equate(isl.dim_type.in_, place, isl.dim_type.out, k)
    return bool(domain.apply(picked).is_subset(asking.domain.reset_tuple_id()))
