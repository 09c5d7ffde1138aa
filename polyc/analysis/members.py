"""Members of arrays of structs as arrays of their own, so that `p[i].force` and `p[j].place` are no one element.

rewrite:  p[i].x += dt * p[i].v[k];  ->  p_x[i][0] += dt * p_v[i][k];
math:     { S[i] -> p[f] } with the member's subscripts k, affine in i: { S[i] -> p_x[f, k] }
requires: each reference to the array is to a number in one of its elements, as `Array.members` has them, by known
          subscripts; two members are touched at different elements, and one of them is written, or one that is an
          array is written at a subscript that loops choose
ensures:  two references touch one number before where they do so after it; codegen prints `p[i].x` again
source:   separation of structs into arrays (structure peeling), for the dependences only
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import islpy as isl

from polyc.analysis.expressions.reader import NotAffine, Reader, parameter_space, piecewise
from polyc.model import ctree as c
from polyc.model.scop import Access, AccessKind, Array, Field, Scop, Statement, Storage
from polyc.records import dataclass, replace

_OUT = isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Part:
    """A reference to a number in an element: `p[i].v[k]`."""

    element: c.ArrayRef
    path: tuple[str, ...]
    indices: tuple[c.Expr, ...]


class _Whole(Exception):
    """An array whose members stay together, by its key."""


def with_members_apart(scop: Scop) -> Scop:
    """The region with such arrays; itself where there are none."""
    roots = {key for key, array in scop.arrays.items() if _may_be_parted(scop, array)}
    while roots:
        try:
            return _Parting(scop, roots).parted()
        except _Whole as one:
            roots.discard(str(one))
    return scop


def part_of(node: c.Node) -> Part | None:
    """The number in an element that an expression refers to."""
    indices: list[c.Expr] = []
    path: list[str] = []
    while isinstance(node, c.Subscript):
        indices.append(node.index)
        node = node.base
    while isinstance(node, c.Member) and not node.arrow:
        path.append(node.field)
        node = node.base
    return Part(node, (*path[::-1],), (*indices[::-1],)) if path and isinstance(node, c.ArrayRef) else None


def is_set(statement: Statement, ref: str) -> bool:
    """Whether each instance of a statement gives a value to what a reference is to: `p[i].x = e`, `p[i].x += e`."""
    match statement.body:
        case c.ExprStmt(expr=c.Assign(target=target)) if not statement.opaque:
            part = part_of(target)
            return part is not None and part.element.ref == ref
    return False


def _may_be_parted(scop: Scop, array: Array) -> bool:
    own = array.storage is Storage.REGION or array.name in scop.privatizable | scop.unset
    many = scop.rows is not None and array.name in scop.rows.arrays
    return bool(array.members) and array.rank > 0 and not own and not many


@dataclass(slots=True, eq=False)
class _Parting:
    """One try. Its methods raise _Whole."""

    scop: Scop
    roots: set[str]

    def parted(self) -> Scop:
        parts = {name: dict(self.parts(s, s.body)) for name, s in self.scop.statements.items()}
        for root in sorted(self.roots):
            if not self.is_worth_it(root, parts):
                raise _Whole(root)
        made: dict[tuple[str, tuple[str, ...]], Array] = {}
        for part in (part for found in parts.values() for part in found.values()):
            if (part.element.array, part.path) not in made:
                made[part.element.array, part.path] = self.array(part, {one.name for one in made.values()})
        statements = {name: self.changed(s, parts[name], made) for name, s in self.scop.statements.items()}
        own = {array.name for array in made.values() if array.root in self.scop.live_out}
        arrays = {**self.scop.arrays, **{array.name: array for array in made.values()}}
        return replace(self.scop, arrays=arrays, statements=statements, live_out=self.scop.live_out - self.roots | own)

    def parts(self, statement: Statement, node: c.Node) -> Iterator[tuple[str, Part]]:
        """The references below a node, by their labels."""
        part = part_of(node)
        if part is not None and part.element.array in self.roots:
            array = self.scop.arrays[part.element.array]
            field = array.members.get(part.path)
            mine = [a for a in statement.accesses if a.ref == part.element.ref]
            known = all(a.exact for a in mine) and mine and len(part.element.subscripts) == array.rank
            if field is None or len(field.extents) != len(part.indices) or not known or not row_of(array, field):
                raise _Whole(array.name)
            yield part.element.ref, part
            for index in (*part.element.subscripts, *part.indices):
                yield from self.parts(statement, index)
            return
        if isinstance(node, c.ArrayRef) and node.array in self.roots:
            raise _Whole(node.array)
        for child in c.children(node):
            yield from self.parts(statement, child)

    def is_worth_it(self, root: str, parts: dict[str, dict[str, Part]]) -> bool:
        """Whether two members are touched at different elements, or numbers of one that is an array, and one of them is
        written."""
        touched: dict[tuple[str, ...], set[tuple[tuple[c.Expr, ...], bool]]] = {}
        rows = False
        for name, found in parts.items():
            for access in self.scop.statements[name].accesses:
                if access.array == root and access.ref not in found:
                    raise _Whole(root)
                if access.array == root:
                    one = found[access.ref]
                    written = access.kind is not AccessKind.READ
                    touched.setdefault(one.path, set()).add((one.element.subscripts, written))
                    rows |= written and any(isinstance(n, c.Name) for index in one.indices for n in c.walk(index))
        return rows or any(
            (written or other_written) and place != other
            for path, places in touched.items()
            for another, others in touched.items()
            if path != another
            for place, written in places
            for other, other_written in others
        )

    def array(self, part: Part, taken: set[str]) -> Array:
        """The member of all elements."""
        root = self.scop.arrays[part.element.array]
        field, path = root.members[part.path], ".".join(part.path)
        name = base = c.as_word(f"{root.name}_{path}")
        number = 1
        while name in self.scop.used_names | self.scop.arrays.keys() | taken | {p.name for p in self.scop.parameters}:
            number += 1
            name = f"{base}_{number}"
        inner = (row_of(root, field), *field.extents[1:])
        return Array(
            name,
            f"{root.c_name}{'[]' * (1 if root.flat else root.rank)}.{path}",
            field.type,
            (*root.extents, *(self.number(size) for size in inner)),
            (*root.extents_c, *(c.Literal(str(size)) for size in inner)),
            root.storage,
            root.constant,
            root=root.name,
            path=part.path,
        )

    def number(self, value: int) -> isl.PwAff:
        space = isl.LocalSpace.from_space(isl.Space.params_alloc(self.scop.domain.get_ctx(), 0))
        aff = isl.Aff.zero_on_domain(space).set_constant_val(isl.Val.int_from_si(space.get_ctx(), value))
        return isl.PwAff.from_aff(aff)

    # --- statements

    def changed(
        self, statement: Statement, parts: dict[str, Part], made: dict[tuple[str, tuple[str, ...]], Array]
    ) -> Statement:
        """A statement with the new arrays."""
        if not parts:
            return statement

        def change(node: c.Node) -> c.Node | None:
            part = part_of(node)
            if part is None or part.element.array not in self.roots:
                return None
            indices = tuple(
                c.rewrite(i, change) for i in (*part.element.subscripts, *(part.indices or (c.Literal("0"),)))
            )
            return replace(part.element, array=made[part.element.array, part.path].name, subscripts=indices)

        accesses: list[Access] = []
        for access in statement.accesses:
            if access.array not in self.roots:
                accesses.append(access)
                continue
            part = parts[access.ref]
            certain = is_set(statement, access.ref)
            if certain and access.kind is AccessKind.READ and not _is_updated(statement):
                continue
            kind = AccessKind.WRITE if certain and access.kind is AccessKind.MAY_WRITE else access.kind
            array = made[part.element.array, part.path]
            relation = self.relation(statement, access, part).set_tuple_name(_OUT, array.name)
            accesses.append(replace(access, array=array.name, kind=kind, relation=relation))
        return replace(statement, body=c.rewrite(statement.body, change), accesses=tuple(accesses))

    def relation(self, statement: Statement, access: Access, part: Part) -> isl.Map:
        """`{ S[i] -> [f, k] }`."""
        found = access.relation.reset_tuple_id(_OUT)
        space = parameter_space(self.scop).add_unnamed_tuple_ui(len(statement.loops))
        reader = Reader(
            {p.expr: p.name for p in self.scop.parameters}, {loop: k for k, loop in enumerate(statement.loops)}, space
        )
        for index in part.indices or (c.Literal("0"),):
            try:
                value = piecewise(reader.value(index))
            except NotAffine:
                raise _Whole(part.element.array) from None
            one = isl.Map.from_pw_aff(value).set_tuple_id(isl.dim_type.in_, statement.domain.get_tuple_id())
            found = found.flat_range_product(one)
        return found


def _is_updated(statement: Statement) -> bool:
    """Whether its assignment reads what it writes."""
    body = statement.body
    return isinstance(body, c.ExprStmt) and isinstance(body.expr, c.Assign) and body.expr.op != "="


def row_of(root: Array, field: Field) -> int:
    """How far the member of an element is from that of the next one, in the outermost elements of a member that is an
    array; 0 where that is no whole number of them."""
    size = field.type.size_bytes * prod(field.extents[1:])
    return root.element.size_bytes // size if size and root.element.size_bytes % size == 0 else 0
