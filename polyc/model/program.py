"""What flows through the passes: the Program of the moment, its buffers, groups and remarks, and the options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import islpy as isl

from polyc.errors import Span
from polyc.model import ctree as c
from polyc.model.certificate import NOT_SHOWN, Certificate
from polyc.model.scop import Scop, Statement
from polyc.model.tree import Domain
from polyc.model.witness import Finder
from polyc.poly import constant_of
from polyc.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for; the same for every region of a file."""

    target: str = "openmp"
    """`openmp` or `c`; `cuda` or `opencl` for a GPU."""
    one_thread: str = ""
    """Why the target is `c` where the user did not ask for it; "" where it was asked for."""
    fuse: str = "basteln"
    """`basteln`, or isl's own `min`, `smart`, `max`."""
    tile_sizes: tuple[int, ...] | str | None = "auto"
    """`auto`, None for no tiling, or sizes for the dimensions of a tile band (the last one repeats)."""
    time_tile: tuple[str, tuple[int, ...]] = ("auto", ())
    """Which tiles an iterated stencil gets over time, and their sizes, () for those of the model: `auto`, `none`,
    `skewed`, `diamond`, `overlapped`."""
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """In the place of what is constructed: a kind of tiles and its sizes (`cost/given_sizes.py`)."""
    threads: str = "auto"
    """`auto`: parallel loops that are too small for threads run on one; `always`: they start them all the same."""
    stores: str = "auto"
    """`auto`: results that no cache holds go to memory past the caches where that pays; `nontemporal`: wherever it can
    be; `plain`: none does."""
    strips: int | None = None
    """How many tiles a strip has through which fused producers slide (`windows.py`); 0: no strips; None: as many
    as the model of the machine says, or none."""
    max_recompute: float | None = None
    """Percentage of repeated instances that fusion may cost; None: let the cost decide."""
    verify: bool = True
    reassociate: bool = False
    allow_tf32: bool = False
    """For CUDA: sums of float products may run on tensor cores, which round the factors to ten bits of mantissa and add
    up the products of one instruction in an order of their own."""
    inline: bool = True
    """Whether elementwise producers are computed at their readers."""
    relocate: bool = True
    """Whether temporaries may live where their results go; cleared by a relaxation only (`polyc/relaxations.py`)."""
    expand: bool = True
    """Whether they may have arrays of their own, of which tiles keep parts; cleared by a relaxation only."""
    without: frozenset[str] = frozenset()
    """Passes to leave out, by name; added by a relaxation only, after a check refused what they made."""
    shifted: bool = True
    """Whether isl may shift the values of a loop's statements (`to_isl.py`); cleared only after its loops were
    refused."""
    spaced: bool = False
    """Whether loops keep values that lie apart (`passes/order/spaced.py`); set only after isl's loops were refused."""
    undivided: bool = False
    """Whether each member is one loop, not several for parts of its range; set only after isl's loops were refused."""
    budget: int = 2_000_000
    """isl operations that one pass may take before it declines, in a region of up to MANY statements; 0: as many as it
    takes."""
    machine: str = "generic"
    """The name of a machine that polyc ships, `host`, or a file that describes one; of the target's kind
    (`polyc.machine.load_cpu`, `load_gpu`). `generic` is one of either kind."""
    grid: tuple[int, ...] | None = None
    """For a GPU: how many blocks a kernel has along x, y, z; None: as many as it has tiles."""
    block: tuple[int, ...] | None = None
    """For a GPU: how many threads a block has along x, y; None: choose them."""

    @property
    def gpu(self) -> bool:
        return self.target in ("cuda", "opencl")

    def given(self, kind: str) -> tuple[int, ...] | None:
        """The user's sizes for one kind of tiles; None where polyc chooses."""
        return next((sizes for named, sizes in self.sizes if named == kind), None)


@dataclass(frozen=True, slots=True)
class InputOptions:
    """How to read a file."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    """`NAME` or `NAME=VALUE`."""
    undefines: tuple[str, ...] = ()
    params: tuple[tuple[str, int], ...] = ()
    """Values that the user promises for parameters (`--param N=100`)."""
    assume: tuple[str, ...] = ()
    """Affine conditions on parameters that the user promises (`--assume 'N >= 4'`)."""
    live_out: tuple[str, ...] | None = None
    """Arrays whose values are needed after the regions; None: find out."""
    allow_no_scop: bool = False
    cc: str = "cc"
    """The C compiler whose preprocessor reads the file."""
    budget: int = 2_000_000
    """isl operations that reading one region may take; 0: as many as it takes."""
    detect: bool = False
    """Whether functions without a marked region are searched for regions."""
    alias: bool = True
    """Whether arrays of such regions may overlap where C does not say that they do not."""
    openmp: str = "keep"
    """What becomes of loops under OpenMP's worksharing directives in such regions: `keep`, or `replace`."""
    launcher: tuple[str, ...] = ()
    """Words that stand before `cc`: `ccache`."""
    flags: tuple[str, ...] = ()
    """Options of the C compiler, as its user gives them."""
    whole: bool = False
    """Whether no other file includes what is printed, so that its static variables are its own."""
    expands: bool = False
    """Whether what is printed may have the text of included files in it."""
    any_build: bool = True
    """Whether what is printed may be built with OpenMP and without, whatever `flags` say."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One decision of one pass."""

    code: str
    """Stable, e.g. `not-fused`."""
    stage: str
    """The pass's name."""
    message: str
    span: Span | None
    statements: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    """The numbers that made it decide; JSON values."""
    dependence: Finder | None = field(default=None, compare=False, repr=False)
    """Where a dependence is the reason: looks for two iterations that show it (`analysis/witness.py`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Dependences:
    """Dependences between statement instances, `[n] -> { S[i] -> T[j] }`, in the original order."""

    flow: isl.UnionMap
    """Value-based: from the last writer to the reader."""
    false: isl.UnionMap
    """Anti and output dependences of arrays that cannot be privatised, and of values that nobody reads."""
    private_false: isl.UnionMap
    """Anti and output dependences of arrays that can be privatised: they order live ranges, and hold no loop."""
    flow_by_array: dict[str, isl.UnionMap]
    live_in: isl.UnionMap
    """`{ S[i] -> A[x] }`: reads that may see a value from before the region."""
    last_writer: isl.UnionMap
    """`{ S[i] -> A[x] }`: writes whose value may be what is in a live-out array at the end."""
    tagged_flow: isl.UnionMap
    """`{ [S[i] -> ref[]] -> [T[j] -> ref[]] }`, of privatizable arrays, for isl's conditional validity."""
    tagged_private_false: isl.UnionMap
    lasting_false: isl.UnionMap
    """`false` without those of values that nobody reads: copies of an array for each iteration take these away."""

    @property
    def all(self) -> isl.UnionMap:
        return self.flow.union(self.false).union(self.private_false)


@dataclass(frozen=True, slots=True, eq=False)
class ExtensionSchedule:
    """Relation (15)/(17) for one statement of a fused producer."""

    statement: str
    relation: isl.Map
    """`{ [outer bands, tile band] -> S[i, j] }`."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A fusion group: the nests that run in one tile loop nest."""

    statements: tuple[str, ...]
    outputs: tuple[str, ...]
    """Statements that were tiled; the others are extensions."""
    fused: tuple[str, ...]
    """Statements pulled in by extension schedules."""
    tile_sizes: tuple[int, ...]
    parallel: bool
    extensions: tuple[ExtensionSchedule, ...] = ()
    footprints: Callable[[], tuple[isl.Map, ...]] = tuple
    """Relations (13): `{ [tile] -> A[x, y] }`, one an upward-exposed array. Only `polyc explain` asks for them."""
    recomputation: float = 0.0
    """Repeated instances of the fused statements, as a share of their instances."""


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """A data tile: a small array that holds a box of a big one for the time of a tile (or a private copy)."""

    key: str
    """Unique: the key in `Program.buffers` and the tuple name in expanded access relations."""
    name: str
    """Its C name; buffers that are declared beside each other may share it."""
    array: str
    corner: isl.MultiAff | None
    """`[n] -> { [outer bands, tile band] -> A[l0, l1] }`: the array element that buffer[0][0] stands for; None for
    a private copy of the whole array."""
    depth: int
    """How many band values stand above its declaration, the domain of `corner`."""
    extents: tuple[isl.PwAff, ...]
    """Sizes, affine in the parameters (constants where possible)."""
    storage: str
    """`tile` for a tile-local array, `private` for a privatised scalar or small array, `register` for one whose cells
    are dealt out to the threads of a block with the iterations that touch them, `spread` for a private scalar or
    array with a place for each iteration of a loop, `heap` for a second array beside a whole one, too large for stacks.
    """
    accesses: frozenset[tuple[str, str]]
    """(statement, ref) of the accesses that use it instead of the array."""
    registers: tuple[int, ...] = ()
    """For storage `register`: how many places each dimension has in one thread; band members' digits count them."""
    order: tuple[int, ...] = ()
    """The dimensions in the order in which they are stored; () for the array's own order."""
    pad: int = 0
    """Elements that each innermost row has beyond what is used, so that a column's cells lie in different banks."""
    places: isl.UnionMap | None = None
    """For storage `spread`: `{ S[i] -> t[v] }`, the place of the scalar t that an instance uses, as `corner` counts; of
    the element t[x] it is the last subscript, t[x, v]."""
    window: int | None = None
    """The dimension in which the buffer is circular, with as many places as its extent: the first loop below its
    declaration slides along it."""

    @property
    def is_single(self) -> bool:
        """Whether it has one element of its array: it is a variable in C."""
        return self.corner is not None and all(constant_of(extent) == 1 for extent in self.extents)


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One reference that has its producer's expression in its place."""

    statement: str
    """The reader."""
    ref: str
    """The label of the reference that is no more."""
    instance: isl.Map
    """`[n] -> { C[i] -> P[j] }`: whose value an instance of the reader reads there."""
    labels: tuple[tuple[str, str], ...]
    """A reference's label in the producer, and in the reader."""
    names: tuple[tuple[str, str], ...]
    """A name in the producer's expression (a loop, a value), and the reader's value that stands for it."""
    chosen: tuple[tuple[str, int], ...] = ()
    """A loop of the producer, and the subscript of the reference that is its value, where data choose it: `instance`
    has all that may be chosen."""


@dataclass(frozen=True, slots=True, eq=False)
class Inlining:
    """One producer computed at its readers: a region, and the region that computes the same without it, or with it for
    other readers only."""

    producer: str
    uses: tuple[Use, ...]
    before: Scop
    after: Scop


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """The place that one statement has instead of a temporary."""

    statement: str
    array: str
    """The temporary: a scalar, or an array of which the statement touches one element."""
    relation: isl.Map
    """`[n] -> { S[i] -> A[x] }`: the cell that stands for it in an instance of the statement."""


@dataclass(frozen=True, slots=True, eq=False)
class Relocation:
    """Temporaries that live where their results go, or in new arrays with a part for each iteration: a region, and the
    region that computes the same without them."""

    moves: tuple[Move, ...]
    dropped: tuple[str, ...]
    """Statements that are no more: they would copy a cell to itself."""
    before: Scop
    after: Scop
    added: tuple[str, ...] = ()
    """Statements that the region did not have: after all others, they copy last values out of new arrays."""


@dataclass(frozen=True, slots=True, eq=False)
class Hoist:
    """A panel that holds the value of an expression of each cell: copies into it store that, and codegen puts its cell
    in the place of the expression in its readers."""

    buffer: str
    """The panel's key."""
    statement: str
    """The reader."""
    ref: str
    """The label of the one reference in the expression that is not a scalar."""
    value: c.Expr
    """The expression, as the statement has it."""


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The state after a pass, for `explain`."""

    name: str
    tree: Domain
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class RegisterTile:
    """A sum of products that tiles of registers take on a CPU, and how fast it was."""

    statement: str
    rows: tuple[int, ...]
    """Dimensions of its domain: of the rows of the result,"""
    columns: tuple[int, ...]
    """of its columns,"""
    steps: tuple[int, ...]
    """and of the sum."""
    shape: tuple[int, int]
    """Rows and columns of a tile."""
    written: float
    """How many multiply-adds whole tiles do in the time of one as it was written."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    scop: Scop
    """The region, with producers that were inlined and temporaries that were given another place."""
    options: Options
    dependences: Dependences
    tree: Domain
    statements: dict[str, Statement]
    """Those of the scop, and copies that promotion made."""
    groups: tuple[Group, ...] = ()
    buffers: dict[str, Buffer] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()
    """Names of the statements that only move data between an array and its buffer."""
    padded: dict[str, str] = field(default_factory=dict)
    """Statements of which the tree runs whole tiles, though their domain ends inside of some: `guarded` where what lies
    outside of the domain is left out by a condition, `zero` for a copy that stores 0 there, `free` where it runs, and
    touches nothing but cells that no instance of the domain reads, `neutral` where it adds products of zeros."""
    hoisted: tuple[Hoist, ...] = ()
    """Expressions that are computed where panels are filled (`verify/region/hoisted.py` shows that it is the same)."""
    register_tiles: tuple[RegisterTile, ...] = ()
    remarks: tuple[Remark, ...] = ()
    parted: Scop | None = None
    """The region with members of arrays of structs as arrays of their own, before all else that is done to it."""
    inlined: tuple[Inlining, ...] = ()
    """How the region lost its producers, step by step; empty where none was inlined."""
    relocated: Relocation | None = None
    """How it lost temporaries after that: `relocated.after` is `scop`, whose sizes may be guarded."""

    @property
    def operations(self) -> int:
        """isl operations that a step over the whole region may take; 0: as many as it takes."""
        return operations_for(self.scop, self.options)

    def remark(self, code: str, stage: str, message: str, statements: tuple[str, ...] = (), **data: Any) -> Program:
        """The program with one more remark, placed at the first of its statements."""
        known = [self.statements[s].span for s in statements if s in self.statements]
        span = known[0] if known else self.scop.span
        return replace(self, remarks=(*self.remarks, Remark(code, stage, message, span, statements, data)))

    def because(self, dependence: Finder | None) -> Program:
        """The program with a dependence as the reason of its last remark: what finds two iterations that show it."""
        return replace(self, remarks=(*self.remarks[:-1], replace(self.remarks[-1], dependence=dependence)))


MANY = 20
"""Statements of a region up to which a step has the budget that it is given."""
PATIENCE = 40
"""`Scop.in_vain` that halves what regions of many statements get in addition: one of so many may take 20 s."""


def operations_for(scop: Scop, options: Options) -> int:
    """isl operations that a step over a whole region may take: more for one of many statements, in proportion, unless
    much of its file was tried in vain.

    What a step asks of one nest, or of a nest and the tiles that it may run in, has a share of `options.budget` only.
    """
    more = max(0, len(scop.statements) - MANY) // (1 + scop.in_vain // PATIENCE)
    return options.budget * (MANY + more) // MANY


Pass: TypeAlias = Callable[[Program], Program]

Origins: TypeAlias = tuple[tuple[int, Span], ...]
"""Lines of a printed text, from 1, that come from the user's source, with the place there; some have several."""


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A region after the pipeline."""

    program: Program
    """The last program that passed the static check."""
    initial: Program
    passes: tuple[Snapshot, ...]
    certificate: Certificate
    """What was shown of it."""
    text: str
    """The C text that replaces the region."""
    ast: str
    """The AST as isl prints it, for `--emit ast`."""
    device: tuple[str, ...] = ()
    """What belongs into the target's other files: kernels, and the functions that run them."""
    timings: tuple[tuple[str, float], ...] = ()
    origins: tuple[Origins, ...] = ()
    """Of `text`, and of each of `device`: which statement or loops of the source a line runs. () where the region was
    left."""
    special: str = ""
    """The same with a version for what the file knows of its sizes, which stands in the file then; "" for none."""

    @property
    def in_file(self) -> str:
        """What stands in the region's place."""
        return self.special or self.text

    @property
    def verified(self) -> bool:
        """Whether the tree and the text were shown to be right."""
        return self.certificate.checked

    @property
    def passed(self) -> bool:
        """Whether each check that is made for its target was passed: kernels are not read again."""
        return self.verified or (bool(self.device) and self.certificate.tree != NOT_SHOWN)
