"""Elements that a vector loop reads, and that stay as they are: read once before it (scalar replacement, Callahan, Carr
and Kennedy, PLDI 1990), where C compilers do not see that they stay.

They may not read in vain what is below a condition, nor once what a store of the loop might change, to the same array
or through a pointer. Of a loop with the first gcc makes no vectors (shortest paths with their next hops take four times
as long); in one that a pragma calls free of dependences it loads the second anew for each vector.

rewrite:  for (j) if (u > d[j]) n[i][j] = n[i][k];
          ->  { const int n_kept = n[i][k]; for (j) if (u > d[j]) n[i][j] = n_kept; }
requires: they are there, and no iteration writes them (`is_steady`)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import islice

from polyc.analysis.expressions.facts import lvalues, mentions
from polyc.analysis.steady import is_steady
from polyc.codegen.text.printer import VECTORS
from polyc.model import ctree as c
from polyc.model.scop import Scop, Storage
from polyc.records import replace

Body = tuple[c.Stmt, ...]
SUFFIX = "_kept"
MOST = 8
"""Constants of a loop: more take the registers that its vectors need."""


def with_steady(body: Body, scop: Scop) -> Body:
    """The statements with constants for what stays as it is."""
    nodes = [node for item in body for node in c.walk(item)]
    local = {node.name for node in nodes if isinstance(node, c.Decl)}
    taken = set(scop.used_names) | local | {node.function for node in nodes if isinstance(node, c.Call)}
    arrays = {array.printed_name: array for array in scop.arrays.values()}
    pointed = {name for name, array in arrays.items() if array.storage is Storage.ARGUMENT}

    def name_for(array: str) -> str:
        name = wish = c.as_word(array) + SUFFIX
        number = 2
        while name in taken:
            name, number = f"{wish}{number}", number + 1
        taken.add(name)
        return name

    def at(node: c.Stmt, around: Sequence[c.For]) -> c.Stmt:
        match node:
            case c.Block(body=items):
                return replace(node, body=tuple(at(item, around) for item in items))
            case c.If(then=then, otherwise=otherwise):
                return replace(
                    node, then=at(then, around), otherwise=None if otherwise is None else at(otherwise, around)
                )
            case c.For() if around and node.pragmas[:1] == (VECTORS,) and not c.has_loops(node.body):
                return kept(node, around)
            case c.For(body=inside):
                return replace(node, body=at(inside, (*around, node)))
        return node

    def kept(loop: c.For, around: Sequence[c.For]) -> c.Stmt:
        cells = [cell for cell in dict.fromkeys(_invariants(loop)) if cell.array not in local]
        asked = {c.unlabelled(cell) for cell in _conditional(loop.body)}
        stored = {node.array for node in lvalues(loop.body) if isinstance(node, c.ArrayRef)} - local
        if not asked & set(cells):
            cells = [cell for cell in cells if cell.array in stored or (stored and pointed & {cell.array, *stored})]
        steady = (cell for cell in cells if is_steady(scop, around, loop, cell))
        found = {cell: name_for(cell.array) for cell in islice(steady, MOST)}
        declared = (c.Decl(f"const {arrays[cell.array].element.text}", name, (), cell) for cell, name in found.items())

        def change(part: c.Node) -> c.Node | None:
            name = found.get(c.unlabelled(part)) if isinstance(part, c.ArrayRef) else None
            return None if name is None else c.Name(name)

        return c.Block((*declared, replace(loop, body=c.rewrite(loop.body, change)))) if found else loop

    return tuple(at(item, ()) for item in body)


def _invariants(loop: c.For) -> Iterator[c.ArrayRef]:
    """The elements, without labels, that a loop reads and whose subscripts it does not change."""
    assert isinstance(loop.init, c.Decl)
    own = {loop.init.name} | {node.name for node in c.walk(loop.body) if isinstance(node, c.Decl)}
    stored = {c.unlabelled(node) for node in lvalues(loop.body) if isinstance(node, c.ArrayRef)}
    for node in c.walk(loop.body):
        if isinstance(node, c.ArrayRef) and node.subscripts and c.unlabelled(node) not in stored:
            parts = [part for one in node.subscripts for part in c.walk(one)]
            if not mentions(node) & own and not any(isinstance(part, c.ArrayRef) for part in parts):
                yield c.unlabelled(node)


def _conditional(node: c.Node) -> Iterator[c.ArrayRef]:
    """The elements that are read in some iterations only."""
    for part in c.walk(node):
        arms: Set[c.Node | None] = set()
        if isinstance(part, c.If | c.Ternary):
            arms = {part.then, part.otherwise}
        for arm in arms - {None}:
            yield from (one for one in c.walk(arm) if isinstance(one, c.ArrayRef))  # type: ignore[arg-type]


__all__ = ["with_steady"]
