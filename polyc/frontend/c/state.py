"""What is known of a region while its statements are extracted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain, count

import islpy as isl

from polyc.errors import Diagnostic, Severity, Span
from polyc.frontend.c.ctype import Dim, Shape, kept
from polyc.frontend.c.effects import ANYTHING, Effect
from polyc.frontend.c.symbols import ISL_WORDS, Scope, Symbol
from polyc.model import ctree as c
from polyc.model.scop import Array, CType, Parameter, Storage, Tie
from polyc.poly import project
from polyc.records import dataclass, field, replace

CTX = isl.DEFAULT_CONTEXT
POINT = isl.Space.set_alloc(CTX, 0, 0)
"""The space of everything here: loop variables are isl parameters until a statement is finished."""
EVERYTHING = isl.Set.universe(POINT)
_ZERO = isl.LocalSpace.from_space(POINT)
MOST_ALTERNATIVES = 2
"""Cases of sizes that a guard tells apart, most often those in which a loop has no iterations and may have any bounds:
each further bound would multiply them."""


def number(value: int) -> isl.PwAff:
    return isl.PwAff.val_on_domain(EVERYTHING, isl.Val.int_from_si(CTX, value))


def variable(name: str) -> isl.PwAff:
    """The isl parameter of that name as an affine expression."""
    space = isl.Space.set_alloc(CTX, 1, 0).set_dim_name(isl.dim_type.param, 0, name)
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.param, 0))


@dataclass(frozen=True, slots=True)
class FlatShape:
    """The dimensions that a flat array is taken to have."""

    extents: tuple[c.Expr, ...]
    """Of all dimensions but the outermost."""
    strides: tuple[c.Expr, ...] = ()
    """Of all dimensions but the innermost; () where each is the product of the extents of the dimensions inside it."""
    origins: tuple[int, ...] = ()
    """The first subscript of each dimension but the outermost, as it is written; () for 0."""

    @property
    def rank(self) -> int:
        return len(self.extents) + 1


def along(domain: isl.Set, key: str) -> isl.Set:
    """`[n, i] -> { [] : … }` as `[n] -> { [i] : … }`."""
    place = domain.find_dim_by_name(isl.dim_type.param, key)
    return domain.move_dims(isl.dim_type.set, 0, isl.dim_type.param, place, 1)


def lifted_set(domain: isl.Set, dims: tuple[str, ...]) -> isl.Set:
    """`[n] -> { S[i] : … }` as `[n, i] -> { [] : … }`."""
    for key in dims:
        place = domain.dim(isl.dim_type.param)
        domain = domain.move_dims(isl.dim_type.param, place, isl.dim_type.set, 0, 1)
        domain = domain.set_dim_name(isl.dim_type.param, place, key)
    return domain.reset_tuple_id()


@dataclass(frozen=True, slots=True, eq=False)
class Env:
    """Where in the region we are."""

    domain: isl.Set = EVERYTHING
    """`[n, i, j] -> { [] : … }`: when this place is reached."""
    dims: tuple[str, ...] = ()
    """Variables of the loops around the statement, outermost first."""
    inner: tuple[str, ...] = ()
    """Variables of loops inside an opaque statement."""
    values: dict[str, isl.PwAff] = field(default_factory=dict)
    """Region-local integers with a known affine value."""

    @property
    def variables(self) -> tuple[str, ...]:
        return self.dims + self.inner

    def within(self, domain: isl.Set) -> Env:
        return replace(self, domain=self.domain.intersect(domain).coalesce())


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """What would have to be asked of the data: whether a subscript stays in its row."""

    array: str
    position: int
    index: c.Expr
    """The subscript, of loop variables and of what the region only reads."""
    extent: c.Expr
    """How many elements the row has."""
    spare: int
    """How far it has to stay from both ends: compilers may round it in two ways (`ranges.py`)."""
    type: CType
    """Of a variable that holds its value."""
    env: Env
    span: Span | None


@dataclass(slots=True)
class Region:
    """The growing model."""

    scope: Scope
    written: frozenset[str]
    """Names that the region writes, loops' heads included."""
    assigned: frozenset[str] = frozenset()
    """Those among them of which it writes all, and no elements only."""
    settled: frozenset[str] = frozenset()
    """Names that are declared in the region with a value and never written again."""
    values: dict[str, c.Expr] = field(default_factory=dict)
    """The only value that is ever assigned to a name that is settled."""
    named: frozenset[str] = frozenset()
    """Names of sums and products, which may stand in their place (`idioms/named.py`)."""
    placing: frozenset[str] = frozenset()
    """Names in subscripts of elements that no data choose (`idioms/named.py`)."""
    spelled: dict[c.Expr, str] = field(default_factory=dict)
    """Choices that stand in subscripts in the place of names, and these."""
    strict: bool = False
    """Nothing new may be assumed of the parameters."""
    in_opaque: bool = False
    """So it is for a statement that is kept whole, for which rows of arrays are assumed all the same."""
    effects: Callable[[str], Effect] = lambda name: ANYTHING
    """What a call of a function may do."""
    exposed: frozenset[str] = frozenset()
    """Names that a call of a function which polyc does not know may read and write."""
    hidden: frozenset[str] = frozenset()
    """Names that calls may write: those, and what they are given."""
    renamed: frozenset[str] = frozenset()
    """Variables that iterations have in the places of others (`lastprivate.py`)."""
    made: dict[str, Array] = field(default_factory=dict)
    """Arrays that the region has for values of its iterations (`fission.py`, `invariants.py`)."""
    called: Mapping[str, int] = field(default_factory=dict)
    """Names of the function's own -> the value that all calls of the file give them."""
    parameters: dict[str, Parameter] = field(default_factory=dict)
    ranges: isl.Set = EVERYTHING
    """The values that the types of parameters can hold."""
    counted: dict[str, isl.Set] = field(default_factory=dict)
    """The values that the types of loop variables can hold: only those of the loops around a place matter there."""
    overflows: dict[Span | None, Callable[[], isl.Set]] = field(default_factory=dict)
    """By its place, what the parameters are not, since an `int` would overflow in the head of a loop."""
    context: isl.Set = EVERYTHING
    assumed: isl.Set = EVERYTHING
    sizes: Callable[[Symbol, int], isl.PwAff | None] = lambda symbol, position: None
    """The extent of a dimension of an array, where it is known."""
    multiples: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Sizes that are taken to be multiples of others: which one, and how many times."""
    ties: list[Tie] = field(default_factory=list)
    """Those of them that no set mentions."""
    flat: dict[str, FlatShape] = field(default_factory=dict)
    """Arrays of one dimension that are taken to have several, by key."""
    divide: Callable[[str, c.Expr, Env, bool], tuple[c.Expr | None, ...] | None] = lambda key, index, env, certain: None
    """The subscripts of a reference to one of these, in a place that each instance reaches or not; None where they are
    not known, or for an outermost one that is not affine and has no bounds."""
    around: Callable[[c.Expr, Env], tuple[list[isl.PwAff], list[isl.PwAff]]] = lambda subscript, env: ([], [])
    """Sizes between the least and the greatest of which a subscript stays that data decide (`sets/intervals.py`); none
    where they are not known."""
    declared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The loops around the declaration of each variable that is given a value there."""
    unset: set[str] = field(default_factory=set)
    """Variables and arrays that loops declare without one."""
    wanted: list[Wanted] = field(default_factory=list)
    """What the shapes of flat arrays take the data for."""
    inspect: bool = True
    """Whether the data may be asked anything."""
    reads: dict[str, isl.Set] = field(default_factory=dict)
    """By the text of a pointer, `[n] -> { [] : … }`: the sizes at which the region surely follows it."""
    on_data: set[Span] = field(default_factory=set)
    """Where branches and loops begin that stay one statement, with loops inside, for what data decide."""
    notes: list[Diagnostic] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    def declare(self, wish: str, shape: Shape, taken: frozenset[str]) -> str:
        """The key, and name, of a new variable of the region. taken: names that it may not have"""
        symbols, wish = self.scope.symbols, c.as_word(wish)
        known = taken | symbols.keys() | {symbol.c_name for symbol in symbols.values()}
        name = next(n for n in chain([wish], (f"{wish}{k}" for k in count(2))) if n not in known)
        symbols[name] = Symbol(name, name, shape, Storage.REGION, None)
        self.written |= {name}
        return name

    def make(
        self,
        wish: str,
        element: CType,
        ends: tuple[isl.PwAff, ...],
        texts: tuple[c.Expr | None, ...],
        taken: frozenset[str],
    ) -> str:
        """The key, and name, of a new array for values of iterations. It has an element, that is assumed.

        ends: its extents; texts: they in C; taken: as of `declare`
        """
        name = self.declare(wish, Shape(element, tuple(Dim(None, False) for _ in ends)), taken)
        for end in ends:
            self.assumed = self.assumed.intersect_params(end.pos_set().params())
        self.made[name] = Array(name, name, element, ends, texts, Storage.REGION)
        return name

    def fixed(self, key: str) -> int | None:
        """The value of a const variable with a constant initialiser."""
        symbol = self.scope.symbols.get(key)
        if symbol is None or not symbol.constant or not symbol.is_integer or symbol.volatile or key in self.written:
            return None
        init = symbol.node.init if symbol.node is not None else None
        value = kept(self.scope.types.constant(init) if init is not None else None, symbol.shape.element)
        low, high = limits(symbol.shape.element)
        return value if value is not None and low <= value <= high else None

    def value(self, key: str) -> c.Expr | None:
        """The expression that an integer variable of the region always has its value from."""
        symbol = self.scope.symbols.get(key)
        if symbol is None or key not in self.settled or not symbol.is_integer or symbol.shape.element.size_bytes < 4:
            return None
        return self.values.get(key)

    def symbol(self, key: str) -> Symbol | None:
        return self.scope.symbols.get(key)

    def element(self, key: str) -> CType | None:
        """The type of a variable, or of an array's elements."""
        symbol = self.scope.symbols.get(key)
        return None if symbol is None else symbol.shape.element

    def rank(self, symbol: Symbol) -> int:
        """How many dimensions an array has in the model."""
        return self.flat[symbol.key].rank if symbol.key in self.flat else symbol.rank

    def in_c(self, node: c.N) -> c.N:
        """The tree with variables' names instead of their keys: `S2` is no name for a parameter in isl."""

        def named(node: c.Node) -> c.Node | None:
            symbol = self.scope.symbols.get(node.name) if isinstance(node, c.Name) else None
            return None if symbol is None or symbol.storage is Storage.REGION else c.Name(symbol.c_name, node.span)

        return c.rewrite(node, named)

    def parameter(self, name: str, type_: CType, expr: c.Expr, computed: bool = False) -> isl.PwAff:
        """The isl parameter for an invariant expression; the same expression gets the same one. computed: as of it"""
        expr = self.in_c(expr)
        for known in self.parameters.values():
            if known.expr == expr:
                return variable(known.name)
        if name[0].isdigit():  # `3 * n * m`: neither isl nor C takes 3_n_m for a name
            name = f"v{name}"
        base = f"{name}_" if name in ISL_WORDS else name
        fresh, count = base, 1
        while fresh in self.parameters or (fresh in self.scope.symbols and not isinstance(expr, c.Name)):
            count += 1
            fresh = f"{base}_{count}"
        self.parameters[fresh] = Parameter(fresh, type_, expr, computed)
        value = variable(fresh)
        self.limit(fresh, type_)
        if not type_.signed:
            self.context = self.context.intersect(value.nonneg_set())
        if 0 < type_.size_bytes < 4:  # compilers warn of conditions and loops for larger numbers
            self.context = self.context.intersect(value.le_set(number(limits(type_)[1])))
        return value

    def has_parameter(self, expr: c.Expr) -> bool:
        """Whether an invariant expression is a parameter already."""
        expr = self.in_c(expr)
        return any(known.expr == expr for known in self.parameters.values())

    def tie(self, key: str, base: str, factor: int) -> None:
        """Take a size for a multiple of another one: all sets say `512 * R9` for `R` from now on."""
        type_ = self.scope.symbols[key].shape.element
        self.multiples[key] = base, factor
        unit = self.parameter(base, type_, c.Name(base))
        before = self.ranges, self.context
        value = self.parameter(key, type_, c.Name(key))
        whole = unit * number(factor)
        if before[1].find_dim_by_name(isl.dim_type.param, name_of(value)) >= 0:  # something is promised of it
            self.assumed = self.assumed.intersect(value.eq_set(whole))
            return
        self.ranges, self.context = before
        low, high = limits(type_)
        self.ranges = self.ranges.intersect(whole.ge_set(number(low))).intersect(whole.le_set(number(high)))
        self.ranges = self.ranges.remove_redundancies()
        self.ties.append(Tie(name_of(value), name_of(unit), factor))

    def limit(self, name: str, type_: CType) -> None:
        """A parameter holds what its type can hold."""
        self.ranges = self.ranges.intersect(range_of(name, type_))

    def count(self, name: str, type_: CType) -> None:
        """So does a loop variable."""
        self.counted[name] = range_of(name, type_)

    def types(self, env: Env) -> isl.Set:
        """What parameters, and the variables of the loops around a place, can hold."""
        found = self.ranges
        for name in env.variables:
            if name in self.counted:
                found = found.intersect(self.counted[name])
        return found

    def note(self, code: str, message: str, span: Span | None, hint: str = "") -> None:
        self.notes.append(Diagnostic(code, message, span, hint, Severity.NOTE))

    def refuse(self, code: str, message: str, span: Span | None, hint: str = "") -> None:
        self.problems.append(Diagnostic(code, message, span, hint))

    def holds(self, wrong: isl.Set, env: Env) -> bool:
        """Make sure that no place in `wrong` is reached: known, or assumed of the parameters, or False.

        math: wrong ∩ domain = ∅, or assumed := assumed \\ params(wrong ∩ domain) where that leaves anything to run
        """
        wrong = wrong.intersect(env.domain)
        if wrong.is_empty():
            return True  # most often: the loops' bounds say it
        known = env.domain.intersect(self.context).intersect(self.types(env)).intersect(self.assumed)
        reached = wrong.intersect(known)
        if reached.is_empty():
            return True
        if self.strict:
            return False
        bad = project(reached, env.variables)
        if project(known, env.variables).subtract(bad).is_empty():
            return False
        types = self.context.intersect(self.ranges)
        found = self.assuming(bad, types)
        if found.n_basic_set() > MOST_ALTERNATIVES:
            # As if the place were reached: `n <= 12` of `n <= 12 || jst > jend || …`.
            short = self.assuming(bad.gist(project(env.domain, env.variables)), types)
            fewer = short.n_basic_set() < found.n_basic_set()
            found = short if fewer and not project(known, env.variables).is_disjoint(short) else found
        self.assumed = found
        return True

    def assuming(self, bad: isl.Set, types: isl.Set) -> isl.Set:
        """What is assumed of the parameters, without some of their values."""
        return self.assumed.intersect(bad.complement().gist(types)).coalesce().gist(types)


def range_of(name: str, type_: CType) -> isl.Set:
    """The values that a type can hold."""
    low, high = limits(type_)
    value = variable(name)
    return value.ge_set(number(low)).intersect(value.le_set(number(high)))


def name_of(value: isl.PwAff) -> str:
    """The name of the variable that a function is."""
    return value.get_dim_name(isl.dim_type.param, 0) or ""


def limits(type_: CType) -> tuple[int, int]:
    """The least and greatest value of an integer type; nothing that runs has 2^63 iterations."""
    bits = 8 * (type_.size_bytes or 4)
    if type_.text == "_Bool":
        return 0, 1
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type_.signed else (0, (1 << min(bits, 63)) - 1)


def saved(region: Region) -> Region:
    """What is known at this time."""
    return replace(
        region,
        parameters=dict(region.parameters),
        ties=list(region.ties),
        notes=list(region.notes),
        problems=list(region.problems),
        wanted=list(region.wanted),
        overflows=dict(region.overflows),
        reads=dict(region.reads),
    )


def restore(region: Region, before: Region) -> None:
    """Forget what was found since."""
    region.parameters, region.notes = dict(before.parameters), list(before.notes)
    region.problems, region.ties = list(before.problems), list(before.ties)
    region.wanted, region.overflows = list(before.wanted), dict(before.overflows)
    region.reads = dict(before.reads)
    region.ranges, region.context, region.assumed = before.ranges, before.context, before.assumed
