"""What the frontend found in a region: statements with their domains and accesses, arrays, parameters, the order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from enum import Enum

import islpy as isl

from polyc.errors import Diagnostic, Span
from polyc.model import ctree as c
from polyc.model.tree import Domain
from polyc.records import dataclass, field, replace

CALLS = "polyc_calls"
"""A scalar that stands for the world outside: calls with side effects read and write it, and so keep their order."""


class Storage(Enum):
    """Where an array lives in the user's program."""

    ARGUMENT = "argument"
    GLOBAL = "global"
    LOCAL = "local"  # of the function, declared outside the region
    REGION = "region"  # declared inside the region; codegen has to declare it again


class AccessKind(Enum):
    READ = "read"  # may read: reads are never assumed to happen
    WRITE = "write"  # must write: kills what was there
    MAY_WRITE = "may-write"


@dataclass(frozen=True, slots=True)
class CType:
    """An element's or a scalar's type as far as polyc has to know it."""

    text: str
    """How to spell it in a declaration: `double`, `unsigned char`, `struct pixel`, `DATA_TYPE`."""
    kind: str
    """`int`, `float`, `struct`, `pointer` or `other`."""
    size_bytes: int
    """Size in bytes on an LP64 machine; 0 where unknown."""
    signed: bool = True


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the file that computes one expression of numbers."""

    parameters: tuple[tuple[str, CType], ...]
    """Names in the value, and types in C's own words."""
    value: c.Expr


@dataclass(frozen=True, slots=True)
class Field:
    """A number in a struct, or an array of them there."""

    type: CType
    extents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct that has nothing but numbers, structs of numbers, and arrays of them, each where C usually puts it."""

    text: str
    """How to spell it, "" for one without a name."""
    members: tuple[tuple[str, CType | Struct, tuple[int, ...]], ...]
    """Names, types and extents, in their order."""

    @property
    def inner(self) -> Iterator[Struct]:
        """The structs in it that have names, each behind those that it needs, and itself if it has one."""
        for _, kind, _ in self.members:
            if isinstance(kind, Struct):
                yield from kind.inner
        if self.text:
            yield self


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """An array, or a scalar as an array without dimensions."""

    name: str
    """The key, unique in the region; the tuple name in isl relations."""
    c_name: str
    """The name in C, which may be shared by region-local declarations in different blocks."""
    element: CType
    extents: tuple[isl.PwAff | None, ...]
    """Affine sizes in the parameters, one a dimension; None where unknown (the first of a pointer) or not affine."""
    extents_c: tuple[c.Expr | None, ...]
    """The same sizes as C expressions, for declarations."""
    storage: Storage
    constant: bool = False
    """Declared const: never written."""
    flat: bool = False
    """In C it has one dimension, and its element `A[x][y]` is `A[x * extent + y]`. References that are not exact have
    one subscript in the statement's body, as in C."""
    strides: tuple[isl.PwAff, ...] = ()
    """Of a flat array: how far cells that follow each other in a dimension are apart, in elements, for all dimensions
    but the innermost. () where each stride is the product of the extents inside it; else there may be gaps between
    rows, and `A[x][y]` is `A[x * stride + y]`."""
    strides_c: tuple[c.Expr, ...] = ()
    """The same strides as C expressions."""
    origins: tuple[int, ...] = ()
    """Of a flat array whose rows begin at other elements than 0, as in `c[j * m + i]` with 1 <= i <= m: how much
    greater the subscripts in C are than those of the model, for all dimensions but the outermost."""
    members: Mapping[tuple[str, ...], Field] = field(default_factory=dict)
    """Of an array of structs: the numbers in an element, by the names that lead there. Not those that share memory with
    others, as in unions."""
    layout: Struct | str = ""
    """Of an array of structs: an element as a whole; or, in words, what it has beside numbers."""
    root: str = ""
    """The key of an array of structs, of which this one is a member of all elements: `p[i].x` is its element (i, 0),
    and `p[i].v[k]` is (i, k). Its rows are as long as the struct, in elements."""
    path: tuple[str, ...] = ()
    """The names that lead to that member."""

    @property
    def rank(self) -> int:
        return len(self.extents)

    def in_c(self, subscripts: tuple[c.Expr, ...]) -> tuple[c.Expr, ...]:
        """The subscripts of C for those of the model, one a dimension."""
        if not self.origins:
            return subscripts
        return tuple(c.added(one, begin) for one, begin in zip(subscripts, self.begins, strict=True))

    @property
    def begins(self) -> tuple[int, ...]:
        """The first subscript of each dimension in C."""
        return (0, *self.origins) if self.origins else (0,) * self.rank

    def aligned(self, size: int, known: isl.Set) -> isl.Set:
        """The sizes, of those that are known, at which all rows begin at multiples of `size` elements."""
        none = known.subtract(known)
        found = none if self.begins[-1] % size else known
        for apart in self.strides or self.extents[-1:] if self.rank > 1 else ():
            if apart is None:
                return none
            rest = apart.project_domain_on_params().mod_val(isl.Val.int_from_si(known.get_ctx(), size))
            found = found.intersect_params(rest.zero_set().params())
        return found

    @property
    def is_pointer(self) -> bool:
        """Whether its name is that of a variable of the function that leads to the elements."""
        local = self.storage is Storage.LOCAL and bool(self.extents) and self.extents[0] is None
        return (
            self.rank > 0
            and not self.root
            and self.c_name.isidentifier()
            and (local or self.storage is Storage.ARGUMENT)
        )

    @property
    def printed_name(self) -> str:
        """The name in the printed code: those of the region's own arrays are unique there."""
        return self.name if self.storage is Storage.REGION else self.c_name


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One access relation of a statement."""

    ref: str
    """The label of the `ArrayRef` in the body that this belongs to (a compound assignment has two with one label);
    "" for accesses of opaque parts that are printed by substitution only."""
    array: str
    kind: AccessKind
    relation: isl.Map
    """`[n] -> { S[i, j] -> A[x, y] }`, restricted to the statement's domain."""
    exact: bool
    """True: a function of the instance that codegen may print anew. False: an over-approximation; the
    subscripts are printed as the user wrote them, with the loop variables substituted."""
    loose: tuple[int, ...] = ()
    """Of an access that is not exact: the subscripts that data, or loops inside of the statement, decide, where each of
    the others is a function of the instance. () where more than that is not known."""
    clamped: tuple[int, ...] = ()
    """Those of them that lie in the array's rows because of clamps and conditions on the values of which they are made
    (`frontend/sets/intervals.py`)."""

    @property
    def placed(self) -> bool:
        """Whether it is known where an instance accesses the array, but for some subscripts."""
        return self.exact or bool(self.loose)


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A name in a statement's body that is no loop of it: a loop variable of a producer that was inlined there."""

    name: str
    """Unique in the statement, and no C identifier: it is never printed."""
    type: CType
    """Of the producer's loop variable."""
    relation: isl.Map
    """`[n] -> { S[i, j] -> [v] }`: what it is, a function of the instances that evaluate it."""


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    name: str
    domain: isl.Set
    """`[n] -> { S[i, j] : … }`; dimensions are the C values of the affine loops around it."""
    loops: tuple[str, ...]
    """The names of the loop variables, one a dimension."""
    loop_types: tuple[CType, ...]
    """Their C types (an unsigned one is cast back where the body uses its value)."""
    accesses: tuple[Access, ...]
    """In C's order of evaluation as far as it matters: all reads that feed a write stand before it."""
    body: c.Stmt
    """With `ArrayRef` for every access; loop variables appear as `Name`."""
    text: str
    """The statement as the user wrote it, on one line."""
    span: Span
    opaque: bool = False
    """True where control or subscripts inside depend on data, so that its accesses are approximations."""
    values: tuple[Value, ...] = ()
    """Of the producers that were inlined into its body."""

    @property
    def declares(self) -> bool:
        """Whether it is a declaration without a value, which writes all of a variable or array (C17, 6.2.4)."""
        return self.body == c.Block(())


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    name: str
    """The isl parameter's name; a C identifier unless `expr` says otherwise."""
    type: CType
    expr: c.Expr
    """What to print for it: `Name(n)`, or an expression such as `p->n`, invariant in the region."""
    computed: bool = False
    """Whether only polyc's text asks for it, of floats that the region does not change (`sets/intervals.py`)."""

    @property
    def is_answer(self) -> bool:
        """Whether it is the answer to a comparison, 0 or 1: `beta == 0.0`."""
        return isinstance(self.expr, c.Binary) and self.expr.op in c.COMPARISONS

    @property
    def is_about_pointer(self) -> bool:
        """Whether it says that a pointer leads somewhere: `bias != 0`. Of numbers, `==` is asked."""
        return self.is_answer and isinstance(self.expr, c.Binary) and self.expr.op == "!="

    @property
    def is_product(self) -> bool:
        """Whether it says that a size is a product of others: `C == (long)NH * hs`, which the region does not ask."""
        match self.expr:
            case c.Binary(op="==", left=c.Name(), right=c.Binary(op="*", left=c.Binary(op="*") | c.Cast())):
                return True
        return False


@dataclass(frozen=True, slots=True)
class Tie:
    """`name = factor * base`: a size that the model has no other use for, since it says `factor * base` instead."""

    name: str
    base: str
    factor: int


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody asked for the nest that a statement belongs to."""

    nest: int
    """Which nest: its statements have the same number."""
    tile: tuple[int, ...] | str | None = "auto"
    """Sizes of its tiles; None for none."""
    fuse: bool = True
    parallel: bool = True
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """In the place of what is constructed, as in `Options.sizes`."""


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """A piece of memory: an object, or a range of the elements that a pointer leads to."""

    base: c.Expr
    """The object; the pointer, where there is a range."""
    low: isl.PwAff | None = None
    """The first element, in the outermost dimension and in the parameters; None for the object as a whole."""
    high: isl.PwAff | None = None
    """The last one."""
    row: c.Expr | None = None
    """How many elements one step of the outermost subscript is, of a flat array; None for one."""
    inside: tuple[tuple[isl.PwAff, isl.PwAff], ...] = ()
    """The first and the last element of each row, where the elements from `low` to `high` are pointers to rows; before
    that those of each row of pointers, where these lead to such rows (`double ***`). All pointers between these two
    are read wherever `low` has a value."""
    written: bool = False
    """Whether the region may write there."""
    inner: tuple[c.Expr, ...] = ()
    """How many elements one step of the outermost subscript is, as a product, of an array that is not flat."""
    seen: tuple[str, str] | None = None
    """Where the data choose the elements: the variables in which `Scop.search` leaves the first and the last one."""


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Two pieces of memory that must not overlap; codegen guards the region with it. Twice the same: its rows."""

    one: Memory
    two: Memory


FIRST, LAST = "polyc_min", "polyc_max"
"""The functions that keep the first and the last element in `Search.loops`."""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What finds out before the region which elements of some arrays it touches, as the data choose these."""

    loops: tuple[c.Stmt, ...]
    """The region's loops, with what keeps elements: `x_first = polyc_min(x_first, (long)col[j])`."""
    source: tuple[c.Stmt, ...]
    """The region's statements, with the names that C has for its variables."""
    ends: Mapping[str, tuple[str, str]]
    """Of each array, by its name in C: the variables with its first and its last element."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A loop of which the rest does nothing where a flag is zero (`idioms/predicates.py`)."""

    flag: str
    """A key of `Scop.arrays`, of a variable."""
    statements: frozenset[str]
    """All that stands in the loop."""
    depth: int
    """How many loops are around it: for each of their iterations there is one flag."""


FEW_PAIRS = 12
"""Pieces of memory that are compared two by two."""


@dataclass(frozen=True, slots=True, eq=False)
class Inspection:
    """What the data are asked before a region runs: whether the subscripts that they decide stay in their rows.

    The model says that they do. Codegen runs the original loops where the answer is no.
    """

    scop: Scop
    """The region that asks: `at = index; inside &= (0 <= at) & (at < n);` for each index, in loops around that."""
    answer: str
    """The array `inside` of that region, a scalar."""
    plain: Scop
    """The region's model without that."""


@dataclass(frozen=True, slots=True)
class Always:
    """A size of which the file knows more than the model takes for granted: its function is called with one value."""

    name: str
    type: str
    value: int


@dataclass(frozen=True, slots=True)
class Supposed:
    """A factor or a step that the model takes for a number; its guard asks whether it is that."""

    expr: c.Expr
    value: int
    name: str
    """It, in words."""
    one_of: bool = False
    """Whether calls of the file pass several numbers, and there is a model for each of them."""


@dataclass(frozen=True, slots=True)
class Shaped:
    """An argument whose rows have a length that C does not know, and the file does: `double a[n][n]`."""

    name: str
    element: str
    """The type of its elements."""
    extents: tuple[int, ...]
    """Of all dimensions but the outermost."""
    sizes: tuple[str, ...]
    """The names of the sizes that say so."""


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Pointers that have other arrays after the region."""

    when: isl.Set
    """`[n] -> { : … }`: the sizes at which they do."""
    moves: tuple[tuple[str, str], ...]
    """The name of each, and of the pointer that had its array before."""


@dataclass(frozen=True, slots=True)
class Walked:
    """A variable from outside of a region in whose place the model has expressions, a number, or variables of the
    region."""

    name: str
    declaration: str
    """In C, without a value: `const float *row`."""
    value: int | None = None
    """The constant that it is before the region, where the model makes use of that."""
    given: str = ""
    """What else it is before the region, as C: `p + n`."""
    expr: c.Expr | None = None
    """The same as a tree; codegen asks whether it is that."""

    @property
    def asked(self) -> c.Expr | None:
        """The question whether it is what it is taken for."""
        return None if self.expr is None else c.Binary("==", c.Name(self.name), self.expr)

    @property
    def opening(self) -> str:
        """The statement that declares it as it is before the region."""
        value = self.given or self.value
        return f"{self.declaration};" if value is None else f"{self.declaration} = {value};"


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Arrays that are private if they are short."""

    arrays: Mapping[str, Array]
    """They, with no length where none is declared."""
    assumed: isl.Set
    """`Scop.assumed` if none of them is private."""


def stores_characters(arrays: Mapping[str, Array], statements: Mapping[str, Statement]) -> bool:
    """Whether arrays are written that may be a part of anything, as far as C compilers know."""
    accesses = (a for s in statements.values() for a in s.accesses if a.kind is not AccessKind.READ)
    written = (arrays[a.array] for a in accesses)
    return any(array.rank and array.element.size_bytes == 1 for array in written)


@dataclass(frozen=True, slots=True, eq=False)
class Scop:
    """A region of the program. Immutable."""

    function: str
    span: Span
    """The place of `#pragma scop`."""
    end_line: int
    parameters: tuple[Parameter, ...]
    context: isl.Set
    """What is known of the parameters, `[n] -> { : … }`."""
    assumed: isl.Set
    """What has to hold for the model to be right and is not known; codegen guards the region with it."""
    arrays: dict[str, Array]
    statements: dict[str, Statement]
    """In source order."""
    tree: Domain
    """The schedule tree of the original order."""
    live_out: frozenset[str]
    """Arrays whose final values are read after the region."""
    privatizable: frozenset[str]
    """Scalars and small constant-size arrays that are not live-out and not live-in: each thread may have its own."""
    used_names: frozenset[str]
    """Every identifier in the region's function and at file level: not free for new names."""
    orphans: tuple[str, ...] = ()
    """Local names that only the region used; where the printed code uses them no more it says `(void)name`."""
    orphans_read: frozenset[str] = frozenset()
    """Those of them that the region reads: C compilers warn where the printed code only writes them."""
    constants: tuple[tuple[str, str], ...] = ()
    """Constants of the function, of which the model has the values: names and declarations, `const int taps = 4;`."""
    enumerators: Mapping[str, int] = field(default_factory=dict)
    """Constants of the file's enums."""
    named: Mapping[str, CType | Struct] = field(default_factory=dict)
    """Names that the file gives to types: of numbers, and of structs that have nothing else (`v3`, `struct v3`)."""
    spelled: Mapping[c.Expr, str] = field(default_factory=dict)
    """Choices in subscripts that the user gave a name, and these."""
    notes: tuple[Diagnostic, ...] = ()
    """What was approximated, and why."""
    unset: frozenset[str] = frozenset()
    """Local arrays without a value before the region that it writes in parts (members, or where the data say so).
    Reads may seem to reach what was there before; what they would find there may be anything."""
    orphan_functions: tuple[str, ...] = ()
    """Functions that only the region calls: where all their calls were dead, the printed code says `(void)name`."""
    expressions: Mapping[str, Function] = field(default_factory=dict)
    """Functions whose calls the frontend has put expressions in the places of."""
    own_functions: frozenset[str] = frozenset()
    """Functions whose bodies stand in the file: none of these is C's own, whatever its name is."""
    looping_functions: frozenset[str] = frozenset()
    """Those of them with loops, or that call one with loops: a call of them takes its time."""

    reads_errno: bool = False
    """Whether the file names `errno`, in any function."""
    ties: tuple[Tie, ...] = ()
    """Multiples of other sizes that stand in no set of the model. That they are so has to hold too."""
    apart: tuple[Apart, ...] = ()
    """Of a region that nobody marked: what has to be apart and is not known to be."""
    numbers: frozenset[str] = frozenset()
    """Scalars that are a constant above zero, or +0.0, before the region."""
    unmarked: bool = False
    """Whether polyc found it by itself."""
    in_vain: int = 0
    """Statements of the regions before it in its file for which the budget was used up without any gain."""
    search: Search | None = None
    """What is run before the region to find out which elements it touches, where `apart` needs that."""
    reach: Search | str = ""
    """What finds how far the region reaches in arrays of which no size says so, for copies of them; or, in words, why
    nothing does. "" where there are no such arrays."""
    shared: bool = False
    """Whether loops of it run in parallel by pragmas of OpenMP that the transformed text drops."""
    tile: tuple[int, ...] | str | None = "auto"
    """The tile sizes that a pragma asks for the whole region; None for no tiles."""
    wishes: Mapping[str, Wish] = field(default_factory=dict)
    """What is asked for single nests, by their statements."""
    inspection: Inspection | None = None
    """What has to hold of the data for the model to be right."""
    defined: isl.Set | None = None
    """`[n] -> { : … }`: sizes at which no `int` overflows in the heads of the region's loops. For others C gives it no
    meaning. None: all."""
    reached: tuple[isl.Set, ...] = ()
    """A part of `assumed`: where the region follows the pointers that lead to its sizes and arrays, of one that nobody
    marked, or of which something is read before the loops (`loaded`). Codegen asks for these first and in this order,
    as no other condition may be evaluated elsewhere."""
    loaded: frozenset[str] = frozenset()
    """Arrays and parameters that are read through memory and are there wherever the transformed text runs, which reads
    them before its loops: members of structs, and all others where the region stores characters, which may be part of
    anything as far as C compilers know."""
    exchanges: tuple[Exchange, ...] = ()
    """How pointers change places; no two hold at once. In the model each has its array from before the region."""
    moved: tuple[str, ...] = ()
    """The names of all pointers from outside of the region that it assigns."""
    walked: tuple[Walked, ...] = ()
    """Variables that the text of the region assigns, and that are nowhere in the model, or as they are before it."""
    always: tuple[Always, ...] = ()
    """What the C compiler is told of sizes, and of shapes, where they are so; the model says nothing of them."""
    shaped: tuple[Shaped, ...] = ()
    usual: Mapping[str, int] = field(default_factory=dict)
    """Parameters -> the largest value that calls of the file pass: for estimates of what there is to do."""
    in_place: tuple[tuple[int, int], ...] = ()
    """The lines of functions that stand in the places of their calls, and may be regions of their own."""
    supposed: tuple[Supposed, ...] = ()
    endings: tuple[Ending, ...] = ()
    flagged: Scop | None = None
    """The region with flags for branches around loops, and loops, that data decide on, and that are statements here."""
    whole: Scop | None = None
    """The region with all that an iteration does in its place, where this one has something behind the loop: the
    last iteration's work, or what goes into a sum."""
    ordered: frozenset[str] = frozenset()
    """Arrays and variables of which nobody knows whether they overlap: what touches them is in the order of `CALLS`,
    and they are touched there and nowhere else."""
    unasked: Scop | None = None
    """The model in that order, for where loops have to find out what may overlap, and it takes many threads to make up
    for them."""
    general: Scop | None = None
    """The model for other values of these, or for all of them."""
    bounds: isl.Set | None = None
    """`[n] -> { : … }`: sizes at which what is accessed in any case stays inside of the arrays that the file declares.
    For estimates of what there is to do: isl's scheduler is slow with so many numbers. None: all."""
    rows: Rows | None = None
    """What is asked only because threads may have rows whose lengths the sizes decide."""

    @property
    def has_versions(self) -> bool:
        """Whether calls of the file pass several sets of values, and there is a model for each of them."""
        return any(one.one_of for one in self.supposed)

    @property
    def computes_once(self) -> bool:
        """Whether something is computed before a nest that was computed again and again in it."""
        return any(note.code == "computed-once" for note in self.notes)

    @property
    def memories(self) -> tuple[Memory, ...]:
        """What has to be apart from something else, once each."""
        return tuple({id(one): one for pair in self.apart for one in (pair.one, pair.two)}.values())

    @property
    def sorts_memories(self) -> bool:
        """Whether the text sorts all of them once, in the place of comparing two by two."""
        return len(self.apart) > FEW_PAIRS or any(one.inside for one in self.memories)

    @property
    def carriers(self) -> tuple[str, ...]:
        """Those of them that only carry a value from one to another."""
        arrays = {array.c_name for array in self.arrays.values()}
        return tuple(name for name in self.moved if name not in arrays)

    @property
    def domain(self) -> isl.UnionSet:
        return self.tree.domain

    @property
    def guard(self) -> isl.Set:
        """`[n] -> { : … }`: all that has to hold for the model to be right and is not known."""
        found = self.assumed
        for tie in self.ties:
            found = found.intersect(tied(tie))
        return found

    @property
    def written(self) -> frozenset[str]:
        """The arrays that some statement writes, or may write."""
        every = (a for s in self.statements.values() for a in s.accesses)
        return frozenset(a.array for a in every if a.kind is not AccessKind.READ)

    @property
    def bounded(self) -> isl.Set:
        """`[n] -> { : … }`: what the parameters are wherever it runs, with what arrays bound."""
        return self.known if self.bounds is None else self.known.intersect(self.bounds)

    @property
    def known(self) -> isl.Set:
        """`[n] -> { : … }`: what the parameters are wherever the transformed text runs."""
        return self.context.intersect(self.assumed)


def without_rows(scop: Scop) -> Scop:
    """The region without private rows whose lengths the sizes decide, and so for all lengths."""
    if scop.rows is None:
        return scop
    arrays, private = {**scop.arrays, **scop.rows.arrays}, scop.privatizable - scop.rows.arrays.keys()
    return replace(scop, arrays=arrays, privatizable=private, assumed=scop.rows.assumed, rows=None)


def tied(tie: Tie) -> isl.Set:
    """`[name, base] -> { : name = factor * base }`."""
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 2)
    for position, name in enumerate((tie.name, tie.base)):
        space = space.set_dim_name(isl.dim_type.param, position, name)
    equal = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(space))
    equal = equal.set_coefficient_val(isl.dim_type.param, 0, isl.Val.int_from_si(isl.DEFAULT_CONTEXT, -1))
    equal = equal.set_coefficient_val(isl.dim_type.param, 1, isl.Val.int_from_si(isl.DEFAULT_CONTEXT, tie.factor))
    return isl.Set.from_basic_set(isl.BasicSet.universe(space).add_constraint(equal))


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A region's place in the text of the file."""

    scop: Scop
    start: int
    """Offset of the first character of the `#pragma scop` line in `Source.text`; of a region that nobody marked, that
    of its own first character where something else stands before it on its line."""
    end: int
    """Offset just after the newline of the `#pragma endscop` line, or before what stands on the last line behind it."""
    indent: str
    """White space before `#pragma scop`."""
    original: str
    """The preprocessed text between the pragmas (macros expanded), as the fallback and for `polyc verify`."""
    preamble: str
    """Preprocessed declarations (typedefs, structs, functions, constants) that the region's text needs to compile
    as a function of its own; no definitions of the region's arrays."""
    pure: frozenset[str] = frozenset()
    """Functions of which the user promises that they only compute a value from their arguments."""
    joined: bool = False
    """Whether something else stands before it on its first line."""
    bare: bool = False
    """Whether it is the body of a loop, or a branch, without braces around it."""
    numbers: tuple[tuple[str, int], ...] = ()
    """Macros that stand in it, of which another build of the file may have another number, and their numbers here."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The beginning of lines of one file in the text of another one."""

    first: int
    """The line of that text from which on they stand there."""
    file: str
    line: int
    """The line of their file that this one is."""


PART = re.compile(r"^#pragma polyc file (\d+)$", re.MULTILINE)
"""The line before each of them in that text, with its position among all of them."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """Where the lines of a text come from in which included files stand in the places of their `#include` lines."""

    origins: tuple[Origin, ...]
    """In the order of the text."""
    files: Mapping[str, str]
    """The text of each file, also of the one that includes the others."""

    def place(self, line: int) -> tuple[str, int]:
        """The file and the line that a line of the text is."""
        one = self.origins[bisect_right(self.origins, line, key=lambda origin: origin.first) - 1]
        return one.file, one.line + line - one.first


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A user's file, read and modelled."""

    path: str
    text: str
    """Decoded as UTF-8 with surrogateescape, so that every byte comes out again."""
    regions: tuple[Region, ...]
    dependencies: tuple[str, ...]
    """The file and every header that it includes, for `-MD`."""
    left: tuple[Diagnostic, ...] = ()
    """With `--detect`: loops that were looked at and stay as they are, and why."""
    absent: frozenset[int] = frozenset()
    """Lines with a loop of which the preprocessor leaves nothing, as below `#if 0`."""
    marks: tuple[tuple[int, int], ...] = ()
    """The lines of pragmas around what is no region, since it has some in it: what is printed has empty ones."""
    expansion: Expansion | None = None
    """Where the lines of `text` come from, if included files stand in it."""

    @property
    def written(self) -> str:
        """The file's own text."""
        return self.text if self.expansion is None else self.expansion.files[self.path]
