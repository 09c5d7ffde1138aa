"""What is printed of a tree is read again: the same objects of isl, and errors with a place for what is no tree."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from polyc.model.program import Buffer, Options
from polyc.model.tree import (
    LEAF,
    Band,
    Domain,
    Extension,
    Filter,
    Lookups,
    Mark,
    Member,
    Node,
    PastCaches,
    Role,
    Sequence,
    Worth,
    child_nodes,
)
from polyc.model.tree_parser import TreeSyntaxError, parse_state, parse_tree
from polyc.model.tree_text import buffer_text, render_tree
from polyc.pipeline import initial_program, passes_for
from tests.programs import region_in

TESTS = Path(__file__).parents[1]
FOLDERS = [folder for folder in sorted((TESTS / "passes").iterdir()) if folder.name not in ("trees", "writers")]
PROGRAMS = [(file, "openmp") for folder in FOLDERS for file in sorted(folder.glob("*.c"))]
PROGRAMS += [(TESTS / "mutation" / "programs" / f"{name}.c", "cuda") for name in ("tensor", "begun", "conv_relu")]
TIME_TILES = TESTS / "mutation" / "programs" / "overlapped.c"


def reached(node: Any, known: isl.UnionSet) -> Any:
    """The subtree with filters and schedules for the instances that reach them, which is all that they mean."""
    match node:
        case Band(members=members, child=child):
            here = tuple(replace(m, schedule=m.schedule.intersect_domain(known)) for m in members)
            return replace(node, members=here, child=reached(child, known))
        case Sequence(children=steps):
            inside = [known.intersect(step.filter) for step in steps]
            below = (reached(step.child, here) for step, here in zip(steps, inside, strict=True))
            changed = zip(steps, inside, below, strict=True)
            return Sequence(tuple(replace(step, filter=here, child=child) for step, here, child in changed))
        case Extension(relation=relation, child=child):
            return replace(node, child=reached(child, known.union(relation.range())))
        case Mark(child=child) | Domain(child=child):
            return replace(node, child=reached(child, known))
    return node


def difference(one: Any, other: Any, where: str = "tree") -> str:
    """Where two values of the model differ; "" where they do not. isl says which of its objects are equal."""
    if type(one) is not type(other):
        return f"{where}: {one} and {other}"
    if isinstance(one, tuple) and len(one) == len(other):
        found = (difference(a, b, f"{where}[{k}]") for k, (a, b) in enumerate(zip(one, other, strict=True)))
        return next(filter(None, found), "")
    if is_dataclass(one):
        found = (difference(getattr(one, f.name), getattr(other, f.name), f"{where}.{f.name}") for f in fields(one))
        return next(filter(None, found), "")
    if isinstance(one, isl.UnionPwAff):
        one, other = isl.UnionMap.from_union_pw_aff(one), isl.UnionMap.from_union_pw_aff(other)
    if isinstance(one, isl.MultiAff):  # plain equality asks for the same parameters in the same order
        one, other = isl.Map.from_multi_aff(one), isl.Map.from_multi_aff(other)
    if hasattr(one, "is_equal") or hasattr(one, "plain_is_equal"):
        equal = one.is_equal(other) if hasattr(one, "is_equal") else one.plain_is_equal(other)
    else:
        equal = one == other
    return "" if equal else f"{where}: {one} and {other}"


def exact(tree: Domain, buffers: dict[str, Buffer]) -> str:
    return "\n".join([*map(buffer_text, buffers.values()), render_tree(tree, exact=True)])


def read_again(tree: Domain, buffers: dict[str, Buffer] | None = None, text: str | None = None) -> str:
    """What is different in a tree and its buffers after both were printed and read. `text`: how they were printed."""
    kept = buffers or {}
    found, again = parse_state(text or exact(tree, kept))
    told = difference(tuple(kept.values()), tuple(found.values()), "buffers")
    return told or difference(reached(tree, tree.domain), reached(again, tree.domain))


@pytest.mark.parametrize(("file", "target"), PROGRAMS, ids=lambda v: v.stem if isinstance(v, Path) else v)
def test_trees_after_all_passes(file: Path, target: str) -> None:
    options = Options(target=target, allow_tf32=True, reassociate=target == "cuda")
    program = initial_program(region_in(file).scop, options)
    before = ""
    for name, run in [("none", lambda program: program), *passes_for(options)]:
        program = run(program)
        if (text := exact(program.tree, program.buffers)) != before:
            assert read_again(program.tree, program.buffers, text) == "", name
        before = text


def test_trees_of_time_tiles() -> None:
    for kind in ("skewed", "diamond", "overlapped"):
        options = Options(time_tile=(kind, (4, 6)))
        program = initial_program(region_in(TIME_TILES).scop, options)
        for _, run in passes_for(options)[:8]:
            program = run(program)
        assert read_again(program.tree) == ""


# --- every field -----------------------------------------------------------------------------------------------------

DOMAIN = isl.UnionSet("[n] -> { S[i, j] : 0 <= i, j < n }")
SIZE, VALUES = isl.PwAff("[n] -> { [(n - 1)] : n > 1 }"), isl.Set("[n] -> { [a, b] : 2a = b < n }")
WORTH = Worth((SIZE, isl.PwAff("[n] -> { [(3)] }")), 400, ((SIZE, 32), (isl.PwAff("[n] -> { [(n)] }"), 8)))
MEMBER: dict[str, Any] = {
    "schedule": isl.UnionPwAff("[n] -> { S[i, j] -> [(j - j mod 4)] : i > 3; S[i, j] -> [(n)] : i <= 3 }"),
    "coincident": True,
    "name": "row",
    "role": Role.WRITTEN_OUT,
    "size": 4,
    "parallel": True,
    "worth": WORTH,
    "uneven": True,
    "undivided": True,
    "vector": True,
    "spans": True,
    "reductions": (("+", "s"), ("min", "t")),
    "atomics": (("*", "s"),),
    "owned": (("-", "s"),),
    "mapped": "warp.x",
    "barrier": True,
    "stages": 2,
    "unroll": 3,
    "lanes": 8,
    "lookups": Lookups(8, frozenset([("S", "r0"), ("S", "r1")]), (("table", 512),)),
    "past_caches": PastCaches(("A", "B"), WORTH),
    "until": "on_of",
    "digit": (1, 4),
    "line": 7,
}
OTHERS: dict[type, dict[str, Any]] = {
    Mark: {"kind": "group", "text": 'a "b"\n(c', "names": ("x", "y"), "sizes": (8, 4), "blocks": 2, "strips": 3,
           "region": VALUES},
    Buffer: {"key": "A_tile", "name": "tile", "array": "A", "depth": 2, "storage": "register",
             "corner": isl.MultiAff("[n] -> { [a, b] -> A[(a - 1), (b)] }"), "extents": (SIZE, isl.PwAff("{ [(7)] }")),
             "accesses": frozenset([("S", "r0"), ("T", "")]), "registers": (2, 4), "order": (1, 0), "pad": 1,
             "places": isl.UnionMap("[n] -> { S[i, j] -> t[j] }"), "window": 0},
    Band: {"permutable": True, "whole": VALUES},
    Extension: {"relation": isl.UnionMap("[n] -> { [a] -> S[a, j] : 0 <= a, j < n }"), "whole": True},
    Filter: {"filter": DOMAIN, "barrier": True},
    Domain: {"domain": DOMAIN},
    Sequence: {},
}  # fmt: skip


def band(*members: Member, child: Node = LEAF, **told: Any) -> Domain:
    return Domain(DOMAIN, Band(members, told.get("permutable", False), child, told.get("whole")))


def test_these_are_all_fields() -> None:
    for kind, told in [(Member, MEMBER), *OTHERS.items()]:
        assert {f.name for f in fields(kind)} - {"child", "children", "members"} == set(told)


@pytest.mark.parametrize("name", MEMBER)
def test_members(name: str) -> None:
    """Each field alone, in the last member."""
    plain = Member(isl.UnionPwAff("[n] -> { S[i, j] -> [(i)] }"))
    told = band(plain, replace(plain, **{name: MEMBER[name]}))
    assert difference(told, band(plain, plain)) != ""
    assert read_again(told) == ""


def test_roles_beside_each_other() -> None:
    plain = Member(isl.UnionPwAff("[n] -> { S[i, j] -> [(i)] }"))
    members = [replace(plain, role=role, size=4 if role is Role.TILE else 1) for role in Role]
    assert read_again(band(*members)) == ""
    assert "tile(4, -) point for" not in render_tree(band(*members[1:3]), exact=True)
    assert read_again(band(*members[1:3])) == ""


def test_other_nodes() -> None:
    mark = Mark(child=LEAF, **OTHERS[Mark])
    steps = Sequence((Filter(child=mark, **OTHERS[Filter]), Filter(DOMAIN, LEAF)))
    wide = isl.UnionMap("[n] -> { [a] -> S[a, j]; [a] -> copy[x, a] : 0 <= x < n }")
    for relation in (wide, OTHERS[Extension]["relation"]):  # wide: more than the statement has
        tree = band(Member(**MEMBER), child=Extension(relation, steps, True), **OTHERS[Band])
        assert read_again(tree, {"A_tile": Buffer(**OTHERS[Buffer])}) == ""
    private = Buffer(**OTHERS[Buffer] | {"corner": None, "depth": 3, "window": 1})
    assert read_again(Domain(DOMAIN, LEAF), {"A_tile": private}) == ""


# --- as people write it ----------------------------------------------------------------------------------------------

WRITTEN = """\
domain [n] -> { S[i, j] : 0 <= i < n and 0 <= j < n;
                T[i] : 0 <= i < n and 3i <= 1000000000000 + n and 5i <= 3000000000000 + n }
  mark "group" S in tiles of 8; T first
    sequence
      filter { T[i] }
        band[c] parallel(0) { T[i] -> [i] }
      filter { S[i, j] }
        band[c-] permutable tile(8, -) point parallel(0) { S[i, j] -> [i - (i) mod 8, (0 : n <= 8; j : n >= 9)] }
          extension { [c_t, c_p] -> T[i] : c_t <= i <= 7 + c_t }
            mark "allocate" a b
"""


def test_what_explain_prints() -> None:
    assert render_tree(parse_tree(WRITTEN)) == WRITTEN
    commented = "# a tree\n" + WRITTEN.replace("  mark", "\n  # a mark\n  mark", 1)
    assert render_tree(parse_tree(commented)) == WRITTEN
    tree = parse_tree(WRITTEN)
    (mark,) = child_nodes(tree.child.child.children[1].child.child)  # type: ignore[union-attr]
    assert isinstance(mark, Mark)
    assert mark.names == ("a", "b")


def test_the_region_says_the_domain() -> None:
    domain = parse_tree(WRITTEN).domain
    assert parse_tree("domain", domain).domain.is_equal(domain)
    with pytest.raises(TreeSyntaxError, match="no region is given"):
        parse_tree("domain")


WRONG = [
    ("domain", "root", 1, 1, "expected `domain`"),
    ("  mark", "   mark", 3, 4, "an even number of blanks"),
    ("  mark", "      mark", 3, 7, "behind 2 blanks; found `mark`"),
    ("0 <= j < n;", "0 <= j <;", 1, 8, "expected the instances of the statements, as isl"),
    ('"group" S', "group S", 3, 7, "the kind of the mark in quotes"),
    ("    sequence", "    sequences", 4, 5, "mark, extension, sequence behind 4 blanks; found `sequences`"),
    ("      filter { T", "      band[c] { T", 5, 7, "`filter` behind 6 blanks; found `band[c]`"),
    ("filter { T[i] }", "filter", 5, 7, "`filter … { … }`"),
    ("filter { T[i] }", "filter last { T[i] }", 5, 14, "barrier or `{`; found `last`"),
    ("filter { T[i] }", "filter { T[i] ", 5, 14, "`}` somewhere behind this one"),
    ("filter { T[i] }", "filter { T[i) }", 5, 19, "expected `]`; found `)`"),
    ("T[i] -> [i] }", "T[i] -> [k] }", 6, 40, "affine functions of loops, and of [n], as isl writes them; found `{ T"),
    ("T[i] -> [i] }", "T[i] -> [i, 0] }", 6, 40, "a value for each of 1 members of the band; found `i, 0`"),
    ("T[i] -> [i] }", "U[i] -> [i] }", 6, 31, "one of T, each once; found `U`"),
    ("T[i] -> [i] }", "T[i] }", 6, 31, "expected `S[…] -> […]`; found `T[i]`"),
    ("T[i] -> [i] }", "}", 6, 29, "the values of T as well"),
    ("parallel(0) { T", "parallel(1) { T", 6, 26, "a number below 1; found `1`"),
    ("parallel(0) { T", "paralel(0) { T", 6, 17, "expected one of atomics, barrier, digit, for,"),
    ("parallel(0) { T", "tile { T", 6, 17, "expected `tile(…)`"),
    ("parallel(0) { T", "tile(x) { T", 6, 22, "a number; found `x`"),
    ("parallel(0) { T", "parallel(0) = { T", 6, 28, "a word, `{` or the end of the line; found `= {"),
    ("parallel(0) { T", "owned(+ a *) { T", 6, 23, "operators, each with its array behind it; found `+ a *`"),
    ("parallel(0) { T", "digit(4) { T", 6, 23, "two names with ` ` between them; found `4`"),
    ("parallel(0) { T", "lookups() { T", 6, 25, "expected a number"),
    ("tile(8, -)", "tile(8)", 8, 34, "a value for each of 2 members of the band; found `8`"),
    ("          extension", "        band[c] { S[i, j] -> [0] }\n          extension", 9, 9, "one node here"),
    ("extension", "extension wide", 9, 21, "whole or beyond or `{`; found `wide`"),
    ("a b\n", "names(a, b) depth(2)\n", 10, 41, "one of text, names, sizes, blocks, strips, region; found `depth`"),
    ("a b\n", "text(a)\n", 10, 34, "a text in quotes; found `a`"),
    ("domain", "buffer a\ndomain", 1, 1, "a key, a storage, array(…)"),
    ("domain", "buffer a tile array(A) extents(4) depth(1) accesses(S)\ndomain", 1, 53, "two names with `.` between"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "column", "message"), WRONG, ids=lambda v: str(v)[:20])
def test_what_is_wrong_and_where(old: str, new: str, line: int, column: int, message: str) -> None:
    assert old in WRITTEN
    with pytest.raises(TreeSyntaxError) as raised:
        parse_tree(WRITTEN.replace(old, new, 1))
    assert message in str(raised.value)
    assert (raised.value.line, raised.value.column) == (line, column)
    caret = str(raised.value).splitlines()[-1]
    assert caret == " " * (4 + column - 1) + "^"
