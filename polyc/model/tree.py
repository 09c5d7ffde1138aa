"""Schedule trees: isl's node types as frozen dataclasses, with the names and marks that codegen needs.

The tree that isl's scheduler answers is converted to this form once (`passes/order/schedule.py`); passes rebuild it
with plain Python, and `codegen/` hands it back to isl as text to generate the AST. What a node means is isl's
definition (Grosser, Verdoolaege, Cohen: Polyhedral AST Generation Is More Than Scanning Polyhedra, 2015).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import TypeAlias

import islpy as isl

from polyc.records import dataclass, field, replace

BLOCK_AXES = ("block.x", "block.y", "block.z", "block.u", "block.v", "block.w")
"""The indices of a block. A GPU has three: u, v and w are counted in x, above its own part."""
FOLDED = BLOCK_AXES[3:]
THREAD_AXES = ("thread.x", "thread.y")
GLOBAL_AXES = ("global.x", "global.y")
"""Blocks and threads together: iteration `block * threads + thread`."""
ALL_THREADS = "thread"
"""The threads of a block as one row."""
PART_AXES = ("part.y", "part.z")
"""The blocks along y and z of a kernel that runs before this one, and leaves parts of a reduction for each thread."""
WARP_AXES = ("warp.y", "warp.x", "lane.y", "lane.x")
"""The threads of a block as warps of 32 along x, and the lanes of a warp: a row of `size` warps along warp.x, and of as
many lanes along lane.x."""
LINEAR = "linear"
"""A loop of constant length without an index of its own: it is counted in the index of the member before it, which is
ALL_THREADS, the first of GLOBAL_AXES, or such a loop too."""


class Role(Enum):
    """What a band member's loop is for."""

    LOOP = "loop"
    TILE = "tile"
    POINT = "point"
    REGISTER = "register"
    """A loop of constant length that is unrolled, so that its values are places in registers."""
    UNROLLED = "unrolled"
    """A loop of a few iterations inside of a vector loop: C compilers are told to unroll it."""
    WRITTEN_OUT = "written out"
    """A loop of a few iterations, each of which is printed by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """When the threads of a parallel loop are worth their start: the product of the extents is more than `least`, and
    there is more than one tile to share."""

    extents: tuple[isl.PwAff, ...]
    """`[n] -> { [(n - 2)] }`; () where all are constants."""
    least: int
    tiles: tuple[tuple[isl.PwAff, int], ...] = ()
    """Of loops over tiles that share threads: the extents, and the sizes of tiles, of which one has to be less."""
    fetched: tuple[tuple[isl.PwAff, int], ...] = ()
    """Extents, and what each of them has to exceed: so many iterations share what a line of another core's costs."""


@dataclass(frozen=True, slots=True)
class Lookups:
    """References to rows of a table that each iteration of a vector loop takes another element of."""

    width: int
    """In so many iterations, from a multiple of it on, the row is the same one."""
    references: frozenset[tuple[str, str]]
    """(statement, ref) of each of them."""
    rows: tuple[tuple[str, int], ...] = ()
    """For tables of single bytes: how many elements of a row are read, more than any index."""


@dataclass(frozen=True, slots=True, eq=False)
class PastCaches:
    """Arrays whose rows a vector loop stores past the caches."""

    arrays: tuple[str, ...]
    """Keys of `Scop.arrays`."""
    worth: Worth | None = None
    """From which sizes on no cache holds them; None: always."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One dimension of a band: one loop."""

    schedule: isl.UnionPwAff
    """`[n] -> { S[i, j] -> [(i)] }` for every statement below."""
    coincident: bool = False
    """No dependence is carried by this loop (given the outer ones), so it may run in parallel."""
    name: str = "c"
    """The user's name of the loop, for printing."""
    role: Role = Role.LOOP
    size: int = 1
    """Tile size, for role TILE; how many values there are, for a loop that is mapped to one of WARP_AXES."""
    parallel: bool = False
    """Print as a parallel loop."""
    worth: Worth | None = None
    """For a parallel loop: threads start from these sizes on; None: always."""
    uneven: bool = False
    """For a parallel loop: some of its iterations take much longer than others."""
    undivided: bool = False
    """Print as one loop, not as several for parts of its range, each with all that tiles copy and compute."""
    vector: bool = False
    """Print as a vector loop."""
    spans: bool = False
    """For a vector loop: sequential loops stand inside of it, and each of their iterations runs for all lanes."""
    reductions: tuple[tuple[str, str], ...] = ()
    """(operator, array) pairs of which each thread or lane combines a copy of its own, in any order."""
    atomics: tuple[tuple[str, str], ...] = ()
    """(operator, array) pairs whose cells the iterations of a parallel loop update one at a time, in any order."""
    owned: tuple[tuple[str, str], ...] = ()
    """(operator, array) of which each thread updates a part of the cells, for all iterations of a parallel loop, in
    their order."""
    mapped: str = ""
    """In a kernel: which index deals out the iterations, "block.x", "thread", …; "" for an ordinary loop."""
    barrier: bool = False
    """In a kernel: the threads of a block meet at the start of each iteration."""
    stages: int = 1
    """In a kernel: places that each shared array has which is declared right inside the loop. With two, an iteration's
    copies are for the next one, and run beside what uses those of the iteration before."""
    unroll: int = 1
    """Iterations that are worth having at once, to hide what one of them waits for: in a kernel, or of rows."""
    lanes: int = 0
    """For a vector loop: it has so many iterations, and operations on vectors are printed for all of them at once."""
    lookups: Lookups | None = None
    """For a vector loop of constant length: what it looks up in rows that lie in vector registers."""
    past_caches: PastCaches | None = None
    """For a vector loop: what it stores without reading the lines first, since nobody finds them in a cache again."""
    until: str = ""
    """A buffer of flags, one for each iteration of a strip: where all of them are zero, the rest of the loop does
    nothing (`passes/loops/endings.py`)."""
    digit: tuple[int, int] | None = None
    """For role REGISTER: the dimension of register buffers that the loop counts in, and how far apart its steps are."""
    line: int = 0
    """Where the user's loop begins, in the original order; 0 where that is not known."""


def deals_to_threads(member: Member) -> bool:
    """Whether the loop's iterations belong to single threads of a block."""
    return member.mapped in (*THREAD_AXES, *WARP_AXES, *GLOBAL_AXES, ALL_THREADS, LINEAR)


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    members: tuple[Member, ...]
    permutable: bool
    child: Node
    whole: isl.Set | None = None
    """`[n] -> { [v0, …] }`, values of the loops above and of this band's own, for which loops of their own are printed:
    there no unrolled loop below needs a condition, and no subscript a choice. It changes no order."""

    @property
    def coincident_prefix(self) -> int:
        """How many of the outermost members are coincident."""
        for position, member in enumerate(self.members):
            if not member.coincident:
                return position
        return len(self.members)


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """A child of a sequence: the instances that run in this step."""

    filter: isl.UnionSet
    child: Node
    barrier: bool = False
    """In a kernel: the threads of a block meet before this step."""


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    children: tuple[Filter, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A note to codegen. Kinds: `group` (comment), `allocate` (declare buffers or private arrays below here),
    `kernel` (what is below runs on a GPU, in blocks of `sizes` threads), `once` (by one thread of each block),
    `threads` (until the mapping: the kernel that this is in has such blocks), `mma` (all threads of a warp run what the
    band below has, on tensor cores: `text` names the kind of fragment, `sizes` its extents, `names` the statement
    and its references to the operands with the rows and with the columns), `reduce` (in a kernel: each thread
    combines what the band below has for it, and then all of them their parts, into one cell for each iteration of the
    loops above; the band's members say which arrays and by which operators), `tiles` (the loops of the band right below
    run over all of `region`).
    """

    kind: str
    child: Node
    text: str = ""
    names: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    blocks: int = 0
    """For `kernel`: at most so many blocks are started, and each takes several tiles; 0: as many as have work."""
    strips: int = 0
    """For `group`: so many tiles slide after each other, by the model of the machine; 0: none, or the user says it."""
    region: isl.Set | None = None
    """For `tiles`: `[n] -> { [v0, …] }`, all values of the band below, and perhaps others, in which nothing runs. Which
    skewed tiles have instances can be said exactly only by conditions that nobody wants to read."""


@dataclass(frozen=True, slots=True, eq=False)
class Extension:
    """Adds instances below here: `relation` maps the outer bands' values to statement instances, (15) of the paper."""

    relation: isl.UnionMap
    child: Node
    whole: bool = False
    """Below a mark of kind `tiles`: the instances that reach it do not run, and the relation has all that do, in each
    tile of the mark's region. So a tile may run what belongs to others as well."""


Node: TypeAlias = Band | Sequence | Mark | Extension | Leaf


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The root."""

    domain: isl.UnionSet
    child: Node


LEAF = Leaf()

# --- walking ---------------------------------------------------------------------------------------------------------


def child_nodes(node: Node) -> tuple[Node, ...]:
    match node:
        case Leaf():
            return ()
        case Sequence(children=steps):
            return tuple(step.child for step in steps)
        case Band(child=child) | Mark(child=child) | Extension(child=child):
            return (child,)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents first."""
    waiting = [node]
    while waiting:  # without recursion: in a deep tree each node would be handed up through all above it
        one = waiting.pop()
        yield one
        waiting += reversed(child_nodes(one))


def outermost_bands(node: Node) -> Iterator[Band]:
    """The bands of a subtree that stand in no other one."""
    if isinstance(node, Band):
        yield node
        return
    for child in child_nodes(node):
        yield from outermost_bands(child)


def instances_below(step: Filter) -> isl.UnionSet:
    """What runs in a step: the instances of its filter, and those that extensions add."""
    found = step.filter
    for node in walk(step.child):
        if isinstance(node, Extension):
            found = found.union(node.relation.range())
    return found


def rewrite(node: Node, change: Callable[[Node], Node]) -> Node:
    """Rebuild bottom-up: `change` sees each node with its children already rebuilt."""
    match node:
        case Leaf():
            return change(node)
        case Sequence(children=steps):
            return change(Sequence(tuple(replace(s, child=rewrite(s.child, change)) for s in steps)))
        case Band() | Mark() | Extension():
            return change(replace(node, child=rewrite(node.child, change)))


def restrict(node: Node, instances: isl.UnionSet) -> Node:
    """The same subtree for fewer statement instances: filters are intersected, empty steps and bands dropped."""
    match node:
        case Leaf():
            return node
        case Band():
            members = tuple(replace(m, schedule=m.schedule.intersect_domain(instances)) for m in node.members)
            return replace(node, members=members, child=restrict(node.child, instances))
        case Mark() | Extension():
            return replace(node, child=restrict(node.child, instances))
        case Sequence(children=steps):
            kept: list[Filter] = []
            for step in steps:
                inside = step.filter.intersect(instances)
                if not inside.is_empty():
                    kept.append(Filter(inside, restrict(step.child, inside)))
            if len(kept) == 1:
                return kept[0].child
            return Sequence(tuple(kept))


def sequence_of(steps: list[tuple[isl.UnionSet, Node]]) -> Node:
    """A sequence, or just the child where there is one step only."""
    live = [(f, n) for f, n in steps if not f.is_empty()]
    if len(live) == 1:
        return live[0][1]
    return Sequence(tuple(Filter(f, n) for f, n in live))


def partial_schedule(members: tuple[Member, ...]) -> isl.MultiUnionPwAff:
    """The members' schedules as one isl object: `{ S[i, j] -> [v0, v1] }`."""
    space = members[0].schedule.get_space().params()
    for member in members:
        space = space.align_params(member.schedule.get_space().params())
    pieces = isl.UnionPwAffList.alloc(space.get_ctx(), len(members))
    for member in members:
        pieces = pieces.add(member.schedule)
    return isl.MultiUnionPwAff.from_union_pw_aff_list(space.add_unnamed_tuple_ui(len(members)), pieces)


# --- one leaf at a time ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A position in a sequence on the way to a leaf."""

    index: int
    barrier: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """The way from the root to one leaf: sequence positions and band members, outermost first."""

    instances: isl.UnionSet
    """What reaches the leaf, of the domain and of extensions."""
    steps: tuple[Step | Member, ...]
    extension: isl.UnionMap | None
    """Where the instances come from an extension: `{ [outer band values] -> S[…] }`."""
    depth_of_extension: int = 0
    """How many band members stood above that extension."""
    reaching: isl.UnionSet | None = None
    """What reached that extension from above: it adds instances only in iterations that these have."""
    tiles: isl.Set | None = None
    """Where the extension is all that runs in time tiles: the region of their loops, which decides instead."""
    marks: tuple[Mark, ...] = field(default=())
    mark_depths: tuple[int, ...] = field(default=())
    """How many band members stand above each of them."""
    mark_steps: tuple[int, ...] = field(default=())
    """How many steps stand above each of them."""
    nested: bool = False
    """An extension inside another one's steps."""


def paths(tree: Domain) -> list[Path]:
    """Every leaf of a tree with the way to it, in order."""
    found: list[Path] = []

    def descend(node: Node, path: Path, depth: int) -> None:
        match node:
            case Leaf():
                if not path.instances.is_empty():
                    found.append(path)
            case Band(members=members):
                descend(node.child, replace(path, steps=path.steps + members), depth + len(members))
            case Mark():
                marks, depths = (*path.marks, node), (*path.mark_depths, depth)
                above = (*path.mark_steps, len(path.steps))
                descend(node.child, replace(path, marks=marks, mark_depths=depths, mark_steps=above), depth)
            case Extension(relation=relation, whole=True):
                regions = [mark.region for mark in path.marks if mark.kind == "tiles"]
                all_of_it = replace(
                    path,
                    instances=relation.range(),
                    extension=relation,
                    depth_of_extension=depth,
                    reaching=path.instances,
                    tiles=regions[-1] if regions else None,
                    nested=path.extension is not None,
                )
                descend(node.child, all_of_it, depth)
            case Extension() if path.instances.is_empty() and depth:
                pass  # nothing reaches it
            case Extension(relation=relation):
                # What comes from outside and what is added here walk on apart: a statement may be both, and runs twice.
                descend(node.child, path, depth)
                added = replace(
                    path,
                    instances=relation.range(),
                    extension=relation,
                    depth_of_extension=depth,
                    reaching=path.instances,
                    nested=path.extension is not None,
                )
                descend(node.child, added, depth)
            case Sequence(children=steps):
                for index, step in enumerate(steps):
                    inside = _inside(path.instances, step.filter)
                    at = Step(index, step.barrier)
                    descend(step.child, replace(path, instances=inside, steps=(*path.steps, at)), depth)

    descend(tree.child, Path(tree.domain, (), None), 0)
    return found


def _inside(instances: isl.UnionSet, step: isl.UnionSet) -> isl.UnionSet:
    """The instances that a step runs. Most often these are all of its statements, which isl would take long to find."""
    space = instances.get_space()
    found = isl.UnionSet.empty(space)
    pieces = step.align_params(space).get_set_list()
    for k in range(pieces.n_set()):
        piece = pieces.get_at(k)
        there = instances.extract_set(piece.get_space())
        found = found.union(isl.UnionSet.from_set(there if there.plain_is_equal(piece) else there.intersect(piece)))
    return found
