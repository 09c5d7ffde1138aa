"""What pragmas and polyc.toml ask for single nests (`Scop.wishes`), as the passes want to know it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import islpy as isl

from polyc.analysis.witness import in_loop
from polyc.model.program import Options, Program
from polyc.model.tree import Band, Extension, Filter, Member, Node, Role, walk
from polyc.poly import names

ASKED = "asked"
STAGE = "wishes"


def options_for(program: Program, statements: Iterable[str]) -> Options:
    """The options for a nest of these statements: with the tile sizes that somebody asked for it."""
    for name in statements:
        wish = program.scop.wishes.get(name)
        if wish is None or (wish.tile == "auto" and not wish.sizes):
            continue
        kinds = {kind for kind, _ in wish.sizes}
        sizes = (*(pair for pair in program.options.sizes if pair[0] not in kinds), *wish.sizes)
        tile = program.options.tile_sizes if wish.tile == "auto" else wish.tile
        return replace(program.options, tile_sizes=tile, sizes=sizes)
    return program.options


def options_of(program: Program, band: Band) -> Options:
    """The same for a band."""
    if not program.scop.wishes:
        return program.options
    return options_for(program, names(band.members[0].schedule.domain()))


def asks_tiles(program: Program, statements: Iterable[str]) -> bool:
    """Whether somebody asked for tiles of one of the statements: passes with tiles of their own leave it alone."""
    wishes = program.scop.wishes
    return any(name in wishes and wishes[name].tile != "auto" for name in statements)


def why_apart(program: Program, one: Iterable[str], two: Iterable[str], in_tiles: bool = False) -> str:
    """What somebody asked for that keeps two nests apart; "" where nothing does.

    in_tiles: one is to run in the tiles of the other
    """
    wishes = program.scop.wishes
    if not wishes:
        return ""
    first, second = ([wishes[name] for name in group if name in wishes] for group in (one, two))
    places = {wish.nest for wish in first}, {wish.nest for wish in second}
    if any(not wish.fuse for wish in (*first, *second)) and (not all(places) or places[0] != places[1]):
        return "fuse(no) asks for a nest of its own"
    if {wish.parallel for wish in first} | {True} != {wish.parallel for wish in second} | {True}:
        return "parallel(no) asks for a nest of its own"
    if in_tiles and any(wish.tile is None for wish in (*first, *second)):
        return "tile(no) asks for no tiles"
    sizes = {wish.tile for wish in (*first, *second)} - {"auto"}
    return "other tile sizes are asked for it" if len(sizes) > 1 else ""


def sequential(program: Program) -> frozenset[str]:
    """Statements none of whose loops may run in parallel."""
    return frozenset(name for name, wish in program.scop.wishes.items() if not wish.parallel)


def statements_in(node: Node) -> set[str]:
    """The statements that a subtree runs."""
    found: set[str] = set()
    for inner in walk(node):
        match inner:
            case Filter(filter=instances):
                found |= set(names(instances))
            case Band(members=members):
                found |= set(names(members[0].schedule.domain()))
            case Extension(relation=relation):
                found |= set(names(relation.range()))
            case _:
                pass
    return found


def stays_sequential(node: Band, alone: frozenset[str]) -> bool:
    """Whether a band has loops that could run in parallel, and somebody asked that they do not."""
    loops = any(m.coincident or m.role is Role.TILE for m in node.members)
    return bool(alone) and loops and bool(statements_in(node) & alone)


def without_parallel(node: Node) -> Node:
    """A subtree none of whose loops run in parallel."""
    from polyc.model.tree import rewrite

    def change(inner: Node) -> Node:
        if not isinstance(inner, Band) or not any(m.parallel for m in inner.members):
            return inner
        return replace(inner, members=tuple(replace(m, parallel=False) for m in inner.members))

    return rewrite(node, change)


def tell_unhonoured(program: Program) -> Program:
    """A remark for each wish that the program does not grant."""
    told: set[tuple[int, str]] = set()
    for name, wish in program.scop.wishes.items():
        if name not in program.statements:
            continue
        above = _loops_above(program.tree.child, name)
        around = set(_group_of(program, name))
        others = {s for s in around if (w := program.scop.wishes.get(s)) is None or w.nest != wish.nest}
        tiles = tuple(m.size for m in above if m.role is Role.TILE)
        broken: list[tuple[str, str]] = []
        if not wish.parallel and any(m.parallel for m in above):
            broken.append(("parallel(no)", "a loop around it runs in parallel"))
        if not wish.fuse and others:
            broken.append(("fuse(no)", f"it shares loops with {', '.join(sorted(others))}"))
        if wish.tile is None and tiles:
            broken.append(("tile(no)", "another pass cut its loops"))
        if isinstance(wish.tile, tuple) and not _are_tiles(wish.tile, tiles):
            words = ",".join(map(str, wish.tile))
            broken.append((f"tile({words})", "it has no loops that tiles can be made of, or another pass cut them"))
        for what, why in broken:
            if (wish.nest, what) not in told:
                told.add((wish.nest, what))
                program = program.remark(
                    "pragma-not-honoured",
                    STAGE,
                    f"{name}: {what} is asked for, and not done: {why}",
                    (name,),
                    asked=what,
                )
                if what.startswith("tile(") and what != "tile(no)" and not tiles:
                    program = program.because(in_loop(program, isl.UnionSet.from_set(program.statements[name].domain)))
    return program


def _are_tiles(asked: tuple[int, ...], made: tuple[int, ...]) -> bool:
    return bool(made) and all(size == asked[min(k, len(asked) - 1)] for k, size in enumerate(made))


def _group_of(program: Program, name: str) -> Iterable[str]:
    return next((g.statements for g in program.groups if name in g.statements), ())


def _loops_above(node: Node, name: str) -> list[Member]:
    """The loops around a statement that belong to it."""
    found: list[Member] = []
    for inner in walk(node):
        if isinstance(inner, Band) and name in statements_in(inner):
            found += inner.members
    return found
