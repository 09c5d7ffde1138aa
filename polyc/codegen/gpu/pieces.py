"""Loops that isl prints in pieces, one after another, though they are one loop of the tree.

Where the statements of a band run in turn and share one iteration at most, isl makes a loop for each: the last
iteration of the first loop may be the first one of the second. Dealt out from its own start, each piece would give this
iteration to another thread. So all pieces are dealt out by the value of the iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import islpy as isl

from polyc.codegen.gpu.device.words import NoKernelForm
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import Band, Member
from polyc.poly import kind_of, set_name
from polyc.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    loop: isl.AstNode | None
    """None where isl left it out, since it has one iteration."""
    statements: frozenset[str]


def steps_of_pieces(
    program: Program, kernel: isl.AstNode, bands: dict[str, tuple[Band, int]]
) -> dict[int, tuple[int, ...]]:
    """For each mapped member below a kernel's node, by its id: the step of its loops where they are pieces that share
    an iteration, and () where they are not.

    Raises NotMappable where isl left out the loop of such a piece, or they take different steps.
    """
    pieces: dict[int, list[_Piece]] = {}
    members: dict[int, Member] = {}
    for name, node in _marks(kernel):
        band, depth = bands.get(name, (None, 0))
        for position, member in enumerate(band.members if band is not None else ()):
            if member.mapped:
                members[id(member)] = member
                pieces.setdefault(id(member), []).extend(_pieces(node, f"c{depth + position}_"))
    return {key: _step(program, members[key], found) for key, found in pieces.items()}


def _step(program: Program, member: Member, pieces: list[_Piece]) -> tuple[int, ...]:
    if all(piece.loop is None for piece in pieces):
        return ()  # what is left out every time is left to the first thread every time
    values = [_values(program, member, piece.statements) for piece in pieces]
    sharing = {k for pair in combinations(range(len(pieces)), 2) if _meet(*(values[k] for k in pair)) for k in pair}
    loops = [pieces[k].loop for k in sorted(sharing)]
    steps = {int(loop.for_get_inc().get_val().to_python()) for loop in loops if loop and not loop.for_is_degenerate()}
    if any(loop is None for loop in loops) or len(steps) > 1:
        raise NoKernelForm("isl prints a loop that is dealt out to threads in pieces of different forms")
    return tuple(steps)


def _values(program: Program, member: Member, statements: frozenset[str]) -> isl.UnionSet:
    """The iterations of a loop in which statements run: all of them, or more."""
    every = isl.UnionMap.from_union_pw_aff(member.schedule)
    own = [s.domain for name, s in program.scop.statements.items() if name in statements]
    found = isl.UnionSet.empty(every.get_space())
    domains = every.domain().get_set_list()
    for k in range(domains.n_set()):
        domain = domains.get_at(k)
        if set_name(domain) in statements:
            inside = [isl.UnionSet.from_set(domain.intersect(d)) for d in own if set_name(d) == set_name(domain)]
            found = found.union(inside[0] if inside else isl.UnionSet.from_set(domain))
    return every.intersect_domain(found).range().intersect_params(program.scop.known)


def _meet(one: isl.UnionSet, two: isl.UnionSet) -> bool:
    return not one.intersect(two).is_empty()


def _marks(node: isl.AstNode) -> Iterator[tuple[str, isl.AstNode]]:
    """Every mark below a node, with what it stands on."""
    if kind_of(node) == "mark":
        yield str(node.mark_get_id().get_name()), node.mark_get_node()
    for child in _children(node):
        yield from _marks(child)


def _pieces(node: isl.AstNode, iterator: str) -> Iterator[_Piece]:
    """The loops with an iterator; what runs in none of them counts as a piece, too."""
    match kind_of(node):
        case "for_" if str(node.for_get_iterator().get_id().get_name()) == iterator:
            yield _Piece(node, frozenset(statements_below(node)))
        case "user":
            yield _Piece(None, frozenset(statements_below(node)))
        case _:
            for child in _children(node):
                yield from _pieces(child, iterator)


def statements_below(node: isl.AstNode) -> Iterator[str]:
    if kind_of(node) == "user":
        yield str(node.user_get_expr().op_get_arg(0).id_get_id().get_name())
    for child in _children(node):
        yield from statements_below(child)


def _children(node: isl.AstNode) -> list[isl.AstNode]:
    match kind_of(node):
        case "for_":
            return [node.for_get_body()]
        case "block":
            children = node.block_get_children()
            return [children.get_at(k) for k in range(children.n_ast_node())]
        case "if_":
            other = [node.if_get_else_node()] if node.if_has_else_node() else []
            return [node.if_get_then_node(), *other]
        case "mark":
            return [node.mark_get_node()]
        case _:
            return []


def share_from(start: c.Expr, step: int, index: c.Expr, count: c.Expr) -> c.Expr:
    """How many steps after the start of a piece the share of a block or thread begins.

    math: the share of index t is the iterations i with floor(i / step) mod count = t
    """
    if start == c.Literal("0"):
        return index
    first = start if step == 1 else c.Call("polyc_floord", (start, c.Literal(str(step))))
    whole = count if isinstance(count, c.Literal) else c.Cast("long", count)
    return c.Binary("%", c.Binary("+", c.Binary("%", c.Binary("-", index, first), whole), whole), whole)
