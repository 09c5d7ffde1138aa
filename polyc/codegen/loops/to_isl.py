"""Hand a schedule tree to isl: printed in isl's own notation, and read again.

Marks carry their identity as text (`kind:number`), bands get a mark of their own, so that the AST, which knows no
bands, still says which loop is which member.
"""

from __future__ import annotations

import islpy as isl

from polyc.codegen.loops.bounds import with_inner_bounds
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Filter,
    Leaf,
    Mark,
    Node,
    Role,
    Sequence,
    child_nodes,
    partial_schedule,
    walk,
)
from polyc.records import dataclass, field

BARRIER = "barrier"
MOST_SHIFTED = 2
"""Statements of a band that isl may shift against each other (`_may_be_shifted`)."""
TILE = "polyc_tile_"
"""What a tile is called in isl's tree, where it stands for its instances."""


@dataclass(slots=True)
class Annotated:
    """A tree in isl's form, and what its marks stand for."""

    schedule: isl.Schedule
    bands: dict[str, tuple[Band, int]] = field(default_factory=dict)
    """Mark name -> the band, and the depth of its first member."""
    marks: dict[str, tuple[Mark, int]] = field(default_factory=dict)
    """Mark name -> the mark, and how many band members stand above it."""
    depth: int = 0
    """The largest number of band members on any path."""
    barriers: int = 0
    """How many marks named `barrier:k` there are."""
    written_out: list[Node] = field(default_factory=list)
    """What stands right below loops whose iterations are printed one by one."""


def to_isl(tree: Domain, shifted: int = MOST_SHIFTED, undivided: bool = False) -> Annotated:
    """The tree as an isl schedule, with a mark above each band.

    shifted: so many statements of a band may be shifted against each other
    undivided: each member is one loop, not several for parts of its range
    """
    writer = _Writer(tree, regions_of(tree.child), shifted, undivided)
    whole = f'{{ domain: "{writer.instances(tree.domain, tree.child)}"' + writer.below(tree.child, 0) + " }"
    schedule = isl.Schedule.read_from_str(tree.domain.get_ctx(), whole)
    written_out = [band.child for band, _ in writer.bands.values() if band.members[-1].role is Role.WRITTEN_OUT]
    return Annotated(schedule, writer.bands, writer.marks, writer.deepest, writer.barriers, written_out)


@dataclass(slots=True)
class _Writer:
    """Writes nodes in isl's notation: `key: value` pairs without the outer braces, "" for a leaf.

    depth: how many band members stand above a node
    """

    tree: Domain
    regions: dict[int, isl.Set]
    """As of `regions_of`."""
    shifted: int
    undivided: bool
    bands: dict[str, tuple[Band, int]] = field(default_factory=dict)
    marks: dict[str, tuple[Mark, int]] = field(default_factory=dict)
    deepest: int = 0
    barriers: int = 0

    def text(self, node: Node, depth: int) -> str:
        self.deepest = max(self.deepest, depth)
        match node:
            case Leaf():
                return ""
            case Band():
                return self.band(node, depth)
            case Mark(kind="tiles"):
                return self.tiles(node, depth)
            case Mark():
                name = f"mark:{len(self.marks)}"
                self.marks[name] = (node, depth)
                # isl wants something below a mark.
                return f'mark: "{name}"' + (self.below(node.child, depth) or ", child: { leaf }")
            case Extension(whole=True):
                ran = node.relation.range()
                inner = f'child: {{ filter: "{ran}"' + self.below(node.child, depth) + " }"
                return f'extension: "{node.relation}", {inner}'
            case Extension():
                added = with_inner_bounds(node.relation.wrap(), self.tree).unwrap()
                return f'extension: "{added}"' + self.below(node.child, depth)
            case Sequence():
                steps = ", ".join(self.step(s, depth) for s in node.children)
                return f"sequence: [ {steps} ]"

    def band(self, band: Band, depth: int) -> str:
        name = f"band:{len(self.bands)}"
        self.bands[name] = (band, depth)
        coincident = ", ".join("1" if m.coincident else "0" for m in band.members)
        inside = self.met if band.members[-1].barrier else self.below
        here = inside(band.child, depth + len(band.members))
        if _may_be_shifted(band, self.shifted):
            here = _without_shifts(band, depth + len(band.members), here)
        inner = (
            f'schedule: "{partial_schedule(band.members)}", permutable: {int(band.permutable)}, '
            f"coincident: [ {coincident} ]{_options(band, depth, self.undivided)}" + here
        )
        return f'mark: "{name}", child: {{ {inner} }}'

    def tiles(self, mark: Mark, depth: int) -> str:
        """The band as one over tiles, each of which adds what runs in it."""
        band = mark.child
        assert isinstance(band, Band)
        assert mark.region is not None
        assert depth == 0, "time tiles inside of a loop"
        name = f"band:{len(self.bands)}"
        self.bands[name] = (band, depth)
        inner = depth + len(band.members)
        self.deepest = max(self.deepest, inner)
        tile = self.regions[id(mark)]
        values = isl.MultiAff.identity_on_domain_space(tile.get_space()).reset_tuple_id(isl.dim_type.out)
        schedule = isl.MultiUnionPwAff.from_multi_aff(values)
        if any(isinstance(n, Extension) and n.whole for n in walk(band.child)):
            return f'mark: "{name}", child: {{ schedule: "{schedule}"' + self.below(band.child, inner) + " }"
        added = isl.UnionMap.from_multi_union_pw_aff(partial_schedule(band.members)).reverse()
        ran = added.range()
        return (
            f'mark: "{name}", child: {{ schedule: "{schedule}", child: {{ extension: "{added}", '
            f'child: {{ filter: "{ran}"' + self.below(band.child, inner) + " } } }"
        )

    def step(self, item: Filter, depth: int) -> str:
        inside = self.met if item.barrier else self.below
        return f'{{ filter: "{self.instances(item.filter, item.child)}"' + inside(item.child, depth) + " }"

    def instances(self, ran: isl.UnionSet, node: Node) -> isl.UnionSet:
        """What runs in a node, as isl is told."""
        return with_tiles(with_inner_bounds(ran, self.tree), node, self.regions)

    def met(self, node: Node, depth: int) -> str:
        self.barriers += 1
        name = f"{BARRIER}:{self.barriers}"
        return f', child: {{ mark: "{name}"' + (self.below(node, depth) or ", child: { leaf }") + " }"

    def below(self, node: Node, depth: int) -> str:
        inner = self.text(node, depth)
        return f", child: {{ {inner} }}" if inner else ""


def regions_of(node: Node) -> dict[int, isl.Set]:
    """The tiles of each mark of kind `tiles`, by its identity, with names of their own."""
    marks = [n for n in walk(node) if isinstance(n, Mark) and n.kind == "tiles"]
    return {id(m): m.region.set_tuple_name(f"{TILE}{k}") for k, m in enumerate(marks) if m.region is not None}


def with_tiles(instances: isl.UnionSet, node: Node, regions: dict[int, isl.Set]) -> isl.UnionSet:
    """Instances, with tiles in the place of those that run below marks of kind `tiles`, which add them themselves."""
    for mark in walk(node):
        if isinstance(mark, Mark) and id(mark) in regions:
            assert isinstance(mark.child, Band)
            instances = instances.subtract(mark.child.members[0].schedule.domain())
            instances = instances.union(isl.UnionSet.from_set(regions[id(mark)]))
    return instances


def _may_be_shifted(band: Band, most: int) -> bool:
    """Whether isl could shift the values of some of the band's statements in the generation of loops, and be wrong.

    isl wants the loops of {A[i] -> 2i; B[i] -> 2i + 1} to have one stride. It compares each statement S with one of
    them, T, in the iterations of the outer loops that they share: where value(S) - value(T) is r(S) modulo m, all are
    shifted by their r (isl_ast_codegen.c, generate_component). That keeps the order of S and T. It keeps the order of
    two others only if they do not meet in outer iterations that T has no part in, which isl does not ask: of the values
    i - j, 0 and 1 + i - j in three statements with even j, the last of which shares no outer iteration with the
    second, the first is moved by 3 against the second, and runs too early (islpy 2026.2.2).

    It does nothing of the kind above an extension, or a band with an isolated part.
    """
    if band.members[0].schedule.domain().n_set() <= most:
        return False
    if band.whole is not None or _is_above_extension(band):
        return False
    inner = [node for child in child_nodes(band) for node in walk(child) if isinstance(node, Band)]
    return all(n.whole is None and n.members[0].schedule.domain().n_set() <= most for n in inner)


def _is_above_extension(band: Band) -> bool:
    return any(isinstance(node, Extension) for child in child_nodes(band) for node in walk(child))


def _without_shifts(band: Band, depth: int, inside: str) -> str:
    """What is inside of a band, below a band of no members that has an isolated part: all of it.

    depth: how many band members stand above
    """
    ran = band.members[0].schedule.domain().universe()
    nothing = isl.MultiUnionPwAff.zero(ran.get_space().set_from_params()).intersect_domain(ran)
    values = ", ".join(f"v{k}" for k in range(depth))
    return f', child: {{ schedule: "{nothing}", options: "{{ isolate[[{values}] -> []] }}"{inside} }}'


def _options(band: Band, depth: int, undivided: bool) -> str:
    """What isl is asked to do with the loops of a band, below `depth` other ones."""
    wishes: list[isl.UnionSet] = []
    wanted = [
        f"atomic[{k}]"
        for k, m in enumerate(band.members)
        if m.mapped or m.undivided or (undivided and m.role is not Role.WRITTEN_OUT)
    ]
    """One loop, not several for parts of its range: each would be a launch, or share out its own iterations."""
    for k, member in enumerate(band.members):
        if member.role is Role.WRITTEN_OUT:
            wanted += [f"unroll[{k}]", f"[isolate[] -> unroll[{k}]]"]
    if wanted:
        wishes.append(isl.UnionSet.read_from_str(band.members[0].schedule.get_ctx(), f"{{ {'; '.join(wanted)} }}"))
    if band.whole is not None:
        wishes.append(isl.UnionSet.from_set(_isolated(band.whole, depth)))
    if not wishes:
        return ""
    every = wishes[0] if len(wishes) == 1 else wishes[0].union(wishes[1])
    return f', options: "{every}"'


def _isolated(whole: isl.Set, depth: int) -> isl.Set:
    """`{ [v0, v1] }` as isl's `{ isolate[[v0] -> [v1]] }`, where `depth` loops stand above."""
    below = whole.dim(isl.dim_type.set) - depth
    pairs = isl.Map.from_domain(whole.reset_tuple_id())
    pairs = pairs.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, depth, below)
    return pairs.wrap().set_tuple_name("isolate")
