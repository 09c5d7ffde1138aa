"""The same order, given to isl in another form, for programs whose loops it gets wrong.

Values of loops that lie apart stand for the same order, and isl generates other loops for them.

isl writes a value i that integer divisions are made of in terms of other values, if it can (isl_map.c, detect_mod).
Where, with any h,

    f <= m i + m n h <= f + c, c < m    and    g <= i <= g + d, d < n

i is g + (ceil(f / m) - g) mod n. isl means to ask for d < n, but asks for d < m (islpy 2025.1 to 2026.2.2), and so
loses iterations where n <= d < m: of the order 6i + 2j + k, floor((k - j) / 2), k with j < 2 and k < 3, those of k = 2.
With s i in the place of i, c and d are s times as large, and so is n, but m is what it was: where s is m or more, isl
finds no such conditions.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Extension, Leaf, Mark, Member, Node, Role, Sequence, walk

SPACING = 12
"""How far apart the values lie. Even, since isl also forgets, at times, that an outer value has to be odd."""
_PLAIN = (Role.LOOP, Role.TILE, Role.POINT)


def without_shifts(program: Program) -> Program:
    """The same program, of which isl makes loops without shifting one statement's values against another's."""
    return replace(program, tree=replace(program.tree), options=replace(program.options, shifted=False))


def with_undivided_loops(program: Program) -> Program:
    """The same program, of which isl makes one loop for a member, not several.

    Of a loop's few values in front of an extension, such as {0, n - n mod 512}, isl makes a piece of text each, and at
    times it repeats in the second one, for sizes that have no second value, what the first one runs. And it takes steps
    apart that share a value in each iteration: the reader's piece has a variable of its own, which nobody sets.
    """
    options = replace(program.options, shifted=False, undivided=True)
    return replace(program, tree=replace(program.tree), options=options)


def with_spaced_values(program: Program) -> Program:
    """The program with the values of some loops SPACING times as large: of nests whose values have factors, if any."""
    options = replace(program.options, shifted=False, spaced=True)
    return replace(program, tree=spaced(program.tree), options=options)


def spaced(tree: Domain) -> Domain:
    """The tree with the values of some loops SPACING times as large."""
    root = tree.child
    if not isinstance(root, Sequence) or not any(_has_factors(step.child) for step in root.children):
        return replace(tree, child=_spaced(root)[0])
    steps = (replace(s, child=_spaced(s.child)[0]) if _has_factors(s.child) else s for s in root.children)
    return replace(tree, child=Sequence(tuple(steps)))


def _has_factors(nest: Node) -> bool:
    """Whether a loop's value is 2i, 3i - j, …: in others isl has not been seen to lose anything."""
    return any(_factor(m) > 1 for node in walk(nest) if isinstance(node, Band) for m in node.members)


def _factor(member: Member) -> int:
    """The largest factor of a dimension in a loop's value, outside of integer divisions."""
    found = [0]

    def add(_domain: isl.Set, value: isl.Aff) -> None:
        factors = (value.get_coefficient_val(isl.dim_type.in_, k) for k in range(value.dim(isl.dim_type.in_)))
        found.extend(abs(factor.get_num_si()) for factor in factors)

    pieces = member.schedule.get_pw_aff_list()
    for k in range(pieces.n_pw_aff()):
        pieces.get_at(k).foreach_piece(add)
    return max(found)


def _spaced(node: Node) -> tuple[Node, bool]:
    """A subtree with spaced values, and whether something in it refers to values of loops around it."""
    match node:
        case Leaf():
            return node, False
        case Sequence(children=steps):
            below = [_spaced(step.child) for step in steps]
            children = tuple(replace(step, child=child) for step, (child, _) in zip(steps, below, strict=True))
            return Sequence(children), any(named for _, named in below)
        case Mark():
            child, named = _spaced(node.child)
            return replace(node, child=child), named or node.kind != "group"
        case Extension():
            child, _ = _spaced(node.child)
            return replace(node, child=child), True
        case Band():
            child, named = _spaced(node.child)
            named = named or node.whole is not None
            if named or not all(_is_plain(member) for member in node.members):
                return replace(node, child=child), named
            return replace(node, members=tuple(_apart(member) for member in node.members), child=child), False


def _is_plain(member: Member) -> bool:
    """Whether a loop's values are nothing but an order."""
    special = member.lookups is not None or member.past_caches is not None or member.digit is not None
    return member.role in _PLAIN and not (special or member.mapped or member.lanes)


def _apart(member: Member) -> Member:
    factor = isl.Val.int_from_si(member.schedule.get_ctx(), SPACING)
    return replace(member, schedule=member.schedule.scale_val(factor))
