"""Does an element that is read inside of a statement which is kept whole hold the value of what stood there?

math: let the element be `N[f(i, t)]` in a statement S'[i], with i loops around S' and t loops inside of it, and X[i, t]
      the only statement that writes N: `N[f(i, t)] = e(i, t)`. Where S' reads it, t has a value of a superset of the
      iterations of its loops, by their heads; all of these are instances of X. f is injective, X has stored before S'
      runs (that is shown of the flow), and what e reads is written nowhere. So the element holds e(i, t).
      Some of them S' would never have computed: e has a value for each of them, and no effect.
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.reader import NotAffine, Reader, parameter_space
from polyc.analysis.inside import Bounds, Counted, is_total
from polyc.frontend.c.functions import real_type
from polyc.model import ctree as c
from polyc.model.scop import Access, AccessKind, Scop, Statement
from polyc.poly import greatest_of, least_of
from polyc.records import dataclass

_SET, _IN, _OUT = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element of N at a place of S'."""

    reader: Statement
    store: Statement
    value: c.Expr
    """What X stores."""
    label: str
    """Of the reference."""
    loops: tuple[Counted, ...]
    """Inside of S', around the place."""

    def holds_its_value(self, whole: Scop, parted: Scop) -> bool:
        """Whether all is as it is said above."""
        store = self.store
        written = next(a for a in store.accesses if a.kind is not AccessKind.READ)
        read = [a for a in self.reader.accesses if a.array == written.array and a.ref == self.label]
        return (
            len(read) == 1
            and bool(written.relation.is_injective())
            and self.is_reached(parted)
            and self.is_read(read[0], written, parted)
            and all(is_steady(whole, a.array) for a in store.accesses if a is not written)
            and is_total(self.value, self.bounds(parted), lambda name: is_real(whole, name), is_function)
        )

    def is_reached(self, scop: Scop) -> bool:
        """Whether X has an instance for each value that the loops may have at the place."""
        keys = (*self.reader.loops, *(loop.key for loop in self.loops))
        if len(set(keys)) < len(keys) or not set(self.store.loops) <= set(keys) or not are_signed(scop, self.reader):
            return False
        domain = self.reader.domain.reset_tuple_id().add_dims(_SET, len(self.loops))
        space = parameter_space(scop).align_params(domain.get_space().params())
        space = space.add_unnamed_tuple_ui(len(keys)) if space.is_params() else space
        names: dict[str, int | c.Expr] = {key: position for position, key in enumerate(keys)}
        plain = {p.expr: p.name for p in scop.parameters}
        reader = Reader(plain, names, space)
        try:
            for bound in (bound for loop in self.loops for bound in loop.bounds):
                domain = domain.intersect(reader.condition(bound))
        except NotAffine:
            return False
        wanted = isl.Map.from_domain_and_range(domain, self.store.domain)
        for position, key in enumerate(self.store.loops):
            wanted = wanted.equate(_IN, keys.index(key), _OUT, position)
        return bool(domain.intersect_params(scop.known).is_subset(wanted.domain()))

    def is_read(self, read: Access, written: Access, scop: Scop) -> bool:
        """Whether S' has an access to all elements of N that it may read."""
        wanted = isl.Map.from_domain_and_range(self.reader.domain, self.store.domain)
        for position, key in enumerate(self.store.loops):
            if key in self.reader.loops:
                wanted = wanted.equate(_IN, self.reader.loops.index(key), _OUT, position)
        cells = wanted.apply_range(written.relation).intersect_params(scop.known)
        return bool(cells.is_subset(read.relation))

    def bounds(self, scop: Scop) -> dict[str, Bounds]:
        """The least and the greatest value of each loop around X."""
        domain = self.store.domain.intersect_params(scop.known)
        found: dict[str, Bounds] = {}
        for position, key in enumerate(self.store.loops):
            least, most = least_of(domain, position), greatest_of(domain, position)
            if least.is_int() and most.is_int():
                found[key] = int(least.to_python()), int(most.to_python())
        return found


def is_steady(scop: Scop, array: str) -> bool:
    """Whether nothing in a region writes a variable."""
    accesses = (a for s in scop.statements.values() for a in s.accesses if a.array == array)
    return array in scop.arrays and not scop.arrays[array].rank and all(a.kind is AccessKind.READ for a in accesses)


def is_real(scop: Scop, name: str) -> bool | None:
    """Whether a variable has a floating type; None where it has no number."""
    kind = scop.arrays[name].element.kind
    return kind == "float" if kind in ("int", "float") else None


def is_function(name: str) -> bool:
    """Whether it computes a floating value."""
    return real_type(name) is not None


def are_signed(scop: Scop, statement: Statement) -> bool:
    """Whether what the heads of loops are made of is computed without unsigned numbers."""
    return all(one.signed for one in (*statement.loop_types, *(p.type for p in scop.parameters)))


__all__ = ["Element", "is_steady"]
