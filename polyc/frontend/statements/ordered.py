"""Loops of which nobody can tell whether memory overlaps: all that touches such memory keeps its order."""

from __future__ import annotations

from polyc.frontend.c.ctype import INT, Shape
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.sets.accesses import READ, WRITE, element_of
from polyc.frontend.statements.build import without_empty
from polyc.frontend.statements.extract import Draft, Item
from polyc.model.scop import CALLS, Storage
from polyc.records import replace

_REFS = ("order", "order'")


def with_order(items: list[Item], region: Region, reachable: frozenset[str]) -> list[Item]:
    """The items, of which all that touch some arrays and variables read and write the scalar that keeps calls in order.

    reachable: what may be touched by other names
    """
    region.scope.symbols.setdefault(CALLS, Symbol(CALLS, CALLS, Shape(INT), Storage.GLOBAL, None))

    def kept(draft: Draft) -> Draft:
        if not any(raw.array in reachable for raw in draft.accesses):
            return draft
        domain = draft.env.domain
        order = (element_of(CALLS, (), domain, kind, ref) for kind, ref in zip((READ, WRITE), _REFS, strict=True))
        return replace(draft, accesses=(*draft.accesses, *order))

    return without_empty(items, kept)


__all__ = ["with_order"]
