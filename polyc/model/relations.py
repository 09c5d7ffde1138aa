"""Sets, relations and affine expressions as a person writes them: sorted, without repeated parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import islpy as isl

Names = Mapping[str, Sequence[str]]
"""The names of the dimensions of a tuple, by the tuple's name: `{"S": ("i", "j")}`."""

NO_NAMES: Names = MappingProxyType({})

IN, OUT, PARAM, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.param, isl.dim_type.set


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, sorted by the name of their tuple (isl's own order is that of a hash table)."""
    found = union.get_set_list()
    return sorted((found.get_at(k) for k in range(found.n_set())), key=lambda s: tuple_name(s, SET))


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, sorted by the names of their domain and range."""
    found = union.get_map_list()
    return sorted(
        (found.get_at(k) for k in range(found.n_map())), key=lambda m: (tuple_name(m, IN), tuple_name(m, OUT))
    )


def pw_affs_of(union: isl.UnionPwAff) -> dict[str, isl.PwAff]:
    """The functions of a union, by the name of the statement that they are defined on."""
    found = union.get_pw_aff_list()
    functions = [found.get_at(k) for k in range(found.n_pw_aff())]
    return {tuple_name(f, IN): f for f in sorted(functions, key=lambda f: tuple_name(f, IN))}


def affs_of(value: isl.PwAff) -> list[isl.Aff]:
    """The expressions of a function's pieces."""
    found: list[isl.Aff] = []
    value.foreach_piece(lambda _, aff: found.append(aff))
    return found


def tuple_name(thing: isl.Set | isl.Map | isl.PwAff, side: isl.dim_type) -> str:
    """The tuple's name, "" where it has none (the bands above, a wrapped relation)."""
    space = thing.get_space()
    if side == SET and space.is_wrapping():
        return str(thing)
    if isinstance(thing, isl.PwAff):
        return str(space.domain().get_tuple_name(SET) or "") if space.domain().has_tuple_name(SET) else ""
    return str(space.get_tuple_name(side) or "") if space.has_tuple_name(side) else ""


def dim_names(union: isl.UnionSet) -> dict[str, tuple[str, ...]]:
    """The dimensions' names of each set of a union, as far as isl still knows them."""
    found: dict[str, tuple[str, ...]] = {}
    for piece in sets_of(union):
        count = piece.dim(SET)
        found[tuple_name(piece, SET)] = tuple(piece.get_dim_name(SET, k) or f"i{k}" for k in range(count))
    return found


def parameters(union: isl.UnionSet | isl.UnionMap | isl.Set | isl.Map, in_order: bool = False) -> str:
    """`[n, m] -> `, or nothing where there are no parameters; sorted, or in isl's order."""
    space = union.get_space()
    names = [str(space.get_dim_name(PARAM, k)) for k in range(space.dim(PARAM))]
    return f"[{', '.join(names if in_order else sorted(names))}] -> " if names else ""


def set_text(piece: isl.Set, names: Names = NO_NAMES) -> str:
    """`S[i, j] : 0 <= i < n`, without braces and parameters."""
    return body(named(piece.coalesce().remove_redundancies(), SET, names))


def map_text(piece: isl.Map, names: Names = NO_NAMES) -> str:
    """`S[i, j] -> A[i + j] : 0 <= i < n`, without braces and parameters."""
    return body(named(named(piece.coalesce(), IN, names), OUT, names))


def named(piece: isl.Set | isl.Map, side: isl.dim_type, names: Names) -> isl.Set | isl.Map:
    """The same set or map with the dimensions of one tuple named as `names` says."""
    wanted = names.get(tuple_name(piece, side), ())
    if piece.get_space().is_wrapping() or len(wanted) != piece.dim(side):
        return piece
    for position, name in enumerate(wanted):
        piece = piece.set_dim_name(side, position, name)
    return piece


def body(thing: isl.Set | isl.Map) -> str:
    """isl's text of one set or map between the braces."""
    text = str(thing)
    inside = text[text.index("{") + 1 : text.rindex("}")].strip()
    return tidy(inside)


def tidy(text: str) -> str:
    """isl's spelling with the parentheses dropped that no reader needs: `floor((i)/32)` is `floor(i/32)`."""
    text = re.sub(r"floor\(\((\w+)\)/(\d+)\)", r"floor(\1/\2)", text)
    return re.sub(r"\((-?\w+)\)(?=[,\]])", r"\1", text)


def union_set_text(union: isl.UnionSet, names: Names = NO_NAMES) -> list[str]:
    """One text a set, sorted by name."""
    return [set_text(piece, names) for piece in sets_of(union)]


def union_map_text(union: isl.UnionMap, names: Names = NO_NAMES) -> list[str]:
    """One text a map, sorted by names."""
    return [map_text(piece, names) for piece in maps_of(union)]


def braces(parts: list[str], prefix: str = "", width: int = 110) -> str:
    """`{ a; b }` on one line, or one part a line where that would be longer than `width`."""
    if not parts:
        return prefix + "{ }"
    line = f"{prefix}{{ {'; '.join(parts)} }}"
    if len(line) <= width or len(parts) == 1:
        return line
    indent = len(prefix) - len(prefix.lstrip())
    if len(prefix) <= 48 and len(prefix) + 3 + max(map(len, parts)) <= width:
        margin = " " * (len(prefix) + 2)
        return f"{prefix}{{ " + f";\n{margin}".join(parts) + " }"
    margin = " " * (indent + 4)
    return f"{prefix}{{\n{margin}" + f";\n{margin}".join(parts) + " }"


def expression(function: isl.PwAff, domain: isl.Set | None = None, names: Sequence[str] = ()) -> str:
    """The value of a quasi-affine function: `i + 2j`, or `(i : n > 2; j : n <= 2)` where it is piecewise."""
    if domain is not None and not domain.is_empty():
        simpler = function.gist(domain)
        function = simpler if simpler.n_piece() else function
    function = function.coalesce()
    if names and len(names) == function.dim(IN):
        for position, name in enumerate(names):
            function = function.set_dim_id(IN, position, isl.Id(name))
    text = str(function)
    inside = text[text.index("{") + 1 : text.rindex("}")].strip()
    pieces: list[str] = []
    for part in top_level(inside):
        found = re.search(r"-> \[\((.*?)\)\](.*)", part) or re.search(r"-> \[(\(.*?\)/\d+)\](.*)", part)
        value = re.sub(r"^\[\((.*?)\)\]", r"\1", part) if found is None else found[1]
        rest = (part.partition(")]")[2] if found is None else found[2]).strip()
        alone = function.n_piece() == 1
        pieces.append(tidy(value) if alone or not rest else f"{tidy(value)} {tidy(rest)}")
    return pieces[0] if len(pieces) == 1 else "(" + "; ".join(pieces) + ")"


def top_level(text: str) -> list[str]:
    """Split at the semicolons that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == ";" and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def gist_sets(union: isl.UnionSet, known: isl.UnionSet) -> isl.UnionSet:
    """Each set without what `known` says of it; sets of which nothing is known stay as they are."""
    return union.gist(or_anything(known, union))


def gist_range(relation: isl.UnionMap, known: isl.UnionSet) -> isl.UnionMap:
    """Each map without what `known` says of its range."""
    return relation.gist_range(or_anything(known, relation.range()))


def or_anything(known: isl.UnionSet, union: isl.UnionSet) -> isl.UnionSet:
    """What is known, and no condition on those tuples of `union` of which nothing is known."""
    return known.union(union.universe().subtract(known.universe()))


def relation_text(relation: isl.Map, names: Names = NO_NAMES) -> str:
    """`[n] -> { [o0] -> S[i] : … }`, whole, on one line; isl reads it again."""
    return braces([map_text(relation, names)], parameters(relation), 10_000)


def union_text(union: isl.UnionSet | isl.UnionMap) -> str:
    """The whole union as isl reads it again, on one line, sorted."""
    texts = union_set_text(union) if isinstance(union, isl.UnionSet) else union_map_text(union)
    return braces(texts, parameters(union), 1 << 30)


def after_parameters(thing: object) -> str:
    """`{ S[i] -> [(i)] }`: isl's text of a set, relation or function without the parameters."""
    text = str(thing)
    return text[text.index("{") :]
