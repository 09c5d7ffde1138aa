"""Values that one comparison chooses: below one branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from polyc.analysis.expressions.straight import is_plain
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """`at = x > m ? i : at`, with the notes of its statement."""

    items: tuple[c.Stmt, ...]
    name: str
    """Of the statement."""
    test: c.Expr
    """Without the labels of its references."""
    store: c.Assign
    """`at = i`."""
    of_element: bool

    @property
    def branch(self) -> tuple[c.Stmt, ...]:
        """What it does if the comparison holds."""
        return (self.items[0], c.ExprStmt(self.store), self.items[-1])


def with_branches(node: c.Stmt, program: Program, in_vectors: bool) -> c.Stmt:
    """Join what the same comparison chooses, one after the other.

    rewrite:  at = x > m ? i : at; m = x > m ? x : m;  ->  if (x > m) { at = i; m = x; }
              if (x < a[i]) a[i] = x, which became a[i] = x < a[i] ? x : a[i]  ->  itself
    requires: scalars, of which only the last is compared, or an element that the user stores below a condition, in a
              loop without vectors; the reader (`chosen`) asks for the same
    ensures:  one branch, which is predicted, where else the next iteration waits for the comparison and the selection,
              or for what is stored
    in_vectors: only of floats: there gcc 12 makes masks of the branch, and none of two choices by one comparison of
        floats; of whole numbers it makes vectors of the choices
    """
    if not isinstance(node, c.Block):
        return node
    arrays = program.scop.arrays

    def may(choices: list[Choice]) -> bool:
        if len(choices) == 1 or any(one.of_element for one in choices):
            conditional = program.statements[choices[0].name].text.startswith("if ")
            return len(choices) == 1 and choices[0].of_element and conditional and not in_vectors
        test = choices[0].test
        compared = (n.array for n in c.walk(test) if isinstance(n, c.ArrayRef))
        return not in_vectors or any(name in arrays and arrays[name].element.kind == "float" for name in compared)

    return c.Block(tuple(_joined(node.body, may)), node.span)


def _joined(items: tuple[c.Stmt, ...], may: Callable[[list[Choice]], bool]) -> Iterator[c.Stmt]:
    for test, group in groupby(_pieces(items), lambda piece: piece.test if isinstance(piece, Choice) else None):
        pieces = list(group)
        choices = [piece for piece in pieces if isinstance(piece, Choice)]
        compared = {node for node in c.walk(test) if isinstance(node, c.ArrayRef)} if test is not None else set()
        apart = not any(c.unlabelled(one.store.target) in compared for one in choices[:-1])
        if choices and apart and test is not None and may(choices):
            yield c.If(test, c.Block(tuple(item for one in choices for item in one.branch)))
        else:
            for piece in pieces:
                yield from piece.items if isinstance(piece, Choice) else (piece,)


def _pieces(items: tuple[c.Stmt, ...]) -> Iterator[Choice | c.Stmt]:
    """The items, with each choice and its notes as one."""
    position = 0
    while position < len(items):
        choice = _choice(items[position : position + 3])
        yield items[position] if choice is None else choice
        position += 1 if choice is None else len(choice.items)


def _choice(items: tuple[c.Stmt, ...]) -> Choice | None:
    match items:
        case (
            c.Note(kind="at", name=name),
            c.ExprStmt(
                expr=c.Assign(
                    op="=",
                    target=c.ArrayRef() as target,
                    value=c.Ternary(condition=c.Binary(op=op) as test, then=value, otherwise=kept),
                ),
                pragmas=(),
            ),
            c.Note(kind="end"),
        ) if op in c.COMPARISONS and is_plain(test) and c.unlabelled(kept) == c.unlabelled(target):
            return Choice(items, name, c.unlabelled(test), c.Assign("=", target, value), bool(target.subscripts))
    return None


__all__ = ["with_branches"]
