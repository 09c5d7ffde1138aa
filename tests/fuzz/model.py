"""A generated program as data: loops, conditions and statements over arrays whose sizes follow from their use.

Nothing here says how large an array is. `layout.py` finds that from the ranges of the subscripts, so that every
tree of these classes is a program without overflow, whatever the generator drew or the minimiser left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

INTEGERS = ("int", "unsigned", "short", "unsigned char", "long")
FLOATS = ("double", "float")
IDX_LIMIT = 5
"""Values of an index array lie in 0 .. IDX_LIMIT - 1."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum of loop variables and parameters, each times a constant."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0


@dataclass(frozen=True, slots=True)
class Quasi:
    """`(inner) / divisor` or `(inner) % divisor`, rounded toward zero as in C."""

    op: str
    inner: Index
    divisor: int


@dataclass(frozen=True, slots=True)
class Extreme:
    """`MIN(left, right)` or `MAX(left, right)`; `choice` writes it as a ternary."""

    op: str
    left: Index
    right: Index


@dataclass(frozen=True, slots=True)
class Ternary:
    """`(left op bound ? then : otherwise)`: a clamp, or a neighbour across the border."""

    op: str
    left: Index
    bound: Index
    then: Index
    otherwise: Index


@dataclass(frozen=True, slots=True)
class Clamp:
    """`clamped(inner, size)`: a call of a function of the file, between 0 and size - 1."""

    inner: Index
    size: Index


@dataclass(frozen=True, slots=True)
class Wrap:
    """`inner % size`, or `wrapped(inner, size)`: a call of a function of the file whose value is not negative."""

    inner: Index
    size: Linear
    helper: bool


@dataclass(frozen=True, slots=True)
class Total:
    left: Index
    right: Index


@dataclass(frozen=True, slots=True)
class Data:
    """An element of an index array, which polyc knows nothing about."""

    array: str
    inner: Index


@dataclass(frozen=True, slots=True)
class Product:
    """`((left) * (right) % 7 + 7) % 7`: not affine."""

    left: Index
    right: Index


Index = Linear | Quasi | Extreme | Ternary | Clamp | Wrap | Total | Data | Product


@dataclass(frozen=True, slots=True)
class Access:
    array: str
    subscripts: tuple[Index, ...] = ()
    member: str = "x"
    """Of an array of structs: `x`, `y`, or '' for the whole struct where such a one is copied."""


@dataclass(frozen=True, slots=True)
class Number:
    value: int
    """The n-th constant of the type that it stands in."""


@dataclass(frozen=True, slots=True)
class Position:
    """A loop variable or parameter as a value."""

    index: Index


@dataclass(frozen=True, slots=True)
class Read:
    access: Access


@dataclass(frozen=True, slots=True)
class Temporary:
    """A variable that is declared in the region, in the same body."""

    name: str


@dataclass(frozen=True, slots=True)
class Op:
    op: str
    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Call:
    """A function of <math.h> whose result is exact, `abs`, or one of the file's own (`helpers.py`)."""

    name: str
    args: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    condition: Condition
    then: Value
    otherwise: Value


Value = Number | Position | Read | Temporary | Op | Call | Choose


@dataclass(frozen=True, slots=True)
class Compare:
    op: str
    left: Index
    right: Index


@dataclass(frozen=True, slots=True)
class Logic:
    """`&&`, `||`, or `!` of the left one."""

    op: str
    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class DataTest:
    """A condition on a value: not affine."""

    op: str
    left: Value
    right: Value


Condition = Compare | Logic | DataTest


@dataclass(frozen=True, slots=True)
class Assign:
    target: Access
    op: str
    value: Value


@dataclass(frozen=True, slots=True)
class Declare:
    """A local variable of a body: `double t = value;`."""

    name: str
    type: str
    value: Value


@dataclass(frozen=True, slots=True)
class Update:
    """Assignment to a local variable of a body."""

    name: str
    op: str
    value: Value


@dataclass(frozen=True, slots=True)
class Fresh:
    """`T row[row_length] = {…};`: an array of a body, of an enumerator's length."""

    array: str
    values: tuple[int, ...]
    """The first ones, each as the n-th constant of the type; the others are 0. None: the row begins without values."""


@dataclass(frozen=True, slots=True)
class Assert:
    """`assert(condition);`, or a branch that ends the program where it does not hold. In no run it fails."""

    condition: Compare
    form: str
    """`assert`, or `abort`."""


@dataclass(frozen=True, slots=True)
class Let:
    """An index temporary, `int xm = index;`, before the items that use it."""

    name: str
    type: str
    index: Index
    body: tuple[Item, ...]
    form: str = ""
    """How the value of a `Clamp` is made: by branches (`if`, `else`), or as a `float` of which it is the whole part; or
    the items run only where the value within is its own (`condition`)."""


@dataclass(frozen=True, slots=True)
class Loop:
    """`low <= name < high`, in steps; downwards where the step is negative, from the last value."""

    name: str
    low: Index
    high: Index
    step: int
    body: tuple[Item, ...]
    form: str = "<"
    """How the condition is written: `<`, `<=` or, where both ends are constants, `!=`."""
    outside: bool = False
    """Whether the variable is declared before the region."""


@dataclass(frozen=True, slots=True)
class If:
    condition: Condition
    then: tuple[Item, ...]
    otherwise: tuple[Item, ...] = ()
    form: str = ""
    """How it is written: '', by a variable (`named`), or at the end of a loop as `if (!…) continue;` (`continue`)."""
    name: str = ""
    """Of that variable, if it has one."""


@dataclass(frozen=True, slots=True)
class Stop:
    """`if (condition) break;`, in a loop."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop that polyc keeps whole: `while`, `do`, one with `break`, or one whose bound is data."""

    form: str
    name: str
    times: int
    bound: Index
    """Data, for the form `data`."""
    body: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """`if (first op second) { T t = first; first = second; second = t; }`"""

    first: Access
    op: str
    second: Access


Item = Assign | Declare | Fresh | Update | Assert | Let | Loop | If | Stop | Repeat | Exchange


@dataclass(frozen=True, slots=True)
class Cover:
    """A nest that writes each element of a local array, whose values are not set before: `A[i][j] = value`."""

    array: str
    names: tuple[str, ...]
    value: Value


@dataclass(frozen=True, slots=True)
class Array:
    name: str
    type: str
    rank: int
    kind: str
    """`argument`, `local`, `global`, `static`, or `fresh`, of a body; a local with a Cover is not set before the
    region."""
    parameters: tuple[str, ...]
    """For each dimension the parameter in its extent, or '' for a constant one."""
    index: bool = False
    """Whether its values are subscripts."""
    read_after: bool = False
    """For a local: whether it is read after the region."""
    pair: bool = False
    """Whether an element is a struct of two members `x` and `y` of the type."""
    pointer: bool = False
    """`T *B` and `T (*C)[m]` instead of `T B[n]` and `T C[n][m]`; memory from malloc, if it is a local."""
    flat: bool = False
    """An argument `T *C` with subscripts `C[i * m + j]`."""
    helper: bool = False
    """If it is flat: with subscripts `C[flat(i, j, m)]`."""
    narrow: bool = False
    """Whether its rows are as long as the first run needs: other runs may leave them, which a guard has to ask."""

    @property
    def nested(self) -> bool:
        """Whether C has rows for it, which subscripts must not leave."""
        return self.rank > 1 and not self.flat


SHIFTS = ("same", "one", "back", "part", "last", "touching", "before")
"""How an argument lies on another one: at its start, an element later or earlier, from its middle, on its last element
only, just after it, and just before it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An argument in the memory of another one of its type."""

    array: str
    on: str
    shift: str
    """One of SHIFTS."""


@dataclass(frozen=True, slots=True)
class Run:
    """What the driver does with a program on data of its own."""

    sizes: tuple[tuple[str, int], ...]
    """The values of the parameters."""
    placed: tuple[Placed, ...] = ()
    """Arguments that share memory; all others have their own."""
    calls: int = 1
    """Calls in a row, each on what the last one left."""
    starved: bool = False
    """Whether what polyc printed gets no memory from the heap."""

    def values(self) -> dict[str, int]:
        return dict(self.sizes)


@dataclass(frozen=True, slots=True)
class Program:
    arrays: tuple[Array, ...]
    nests: tuple[Item | Cover, ...]
    runs: tuple[Run, ...]
    types: tuple[tuple[str, str], ...]
    """The parameters' C types."""
    split: int = 0
    """Number of nests in the first region, where there are two; 0: one region."""
    live_out: tuple[str, ...] | None = None
    """What a pragma says, or the option."""
    worded: bool = False
    """Whether macros have the statements of loops, bodies conditions of the preprocessor, and heads two counters."""
    included: bool = False
    """Whether all of it stands in a file that another one includes, as templates do."""
    by_option: bool = False
    """Whether the option says what is live-out."""
    macro: bool = True
    """MIN and MAX as macros, or as ternaries."""
    counter: str = "int"
    """The C type of the loop variables."""
    counters_after: bool = False
    """Whether loop variables that are declared before the region are read after it."""
    detected: bool = False
    """Whether no pragma marks the regions: polyc finds them, and arguments may overlap."""
    scratch: bool = False
    """Whether variables of a body are declared at the head of the function, and one is used for several of them."""
    made: bool = False
    """Whether the region computes its sizes of others, `(n_whole / n_part)`, and steps are variables."""
    called: bool = False
    """Whether steps of loops are arguments, for which the calls in the file pass one of two sets of constants."""
    walked: bool = False
    """Whether loops run from one pointer into an array to another one, and their variables are the distances."""
    rows: bool = False
    """Whether rows of flat arrays have pointers of their own, `T *row = C + i * m;`."""
    packed: bool = False
    """Whether rows are written through pointers that only go on where a value is positive."""
    views: bool = False
    """Whether flat arrays are members of structs beside the lengths of their rows, `C_of->at[i * C_of->n1 + j]`."""
    transfers: bool = False
    """Whether loops are followed by calls of `memcpy`, `memmove` or `memset` for the rows that they write."""

    def array(self, name: str) -> Array:
        return next(array for array in self.arrays if array.name == name)


def counters(program: Program) -> list[str]:
    """Loop variables that are declared before the region."""
    return sorted({node.name for node in nodes(program.nests) if isinstance(node, Loop) and node.outside})


def reads_after(program: Program) -> bool:
    """Whether something local is read after the region, and summed up for the caller."""
    arrays = any(array.kind == "local" and array.read_after for array in program.arrays)
    return arrays or (program.counters_after and bool(counters(program)))


def transform(node: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with every dataclass in it replaced by what `change` makes of it, inner ones first."""
    if isinstance(node, tuple):
        return tuple(transform(part, change) for part in node)
    if is_dataclass(node):
        inner: dict[str, Any] = {f.name: transform(getattr(node, f.name), change) for f in fields(node)}
        kind: Any = type(node)
        return change(kind(**inner))
    return node


def nodes(node: Any) -> Iterator[Any]:
    """Every dataclass of a tree, outer ones first."""
    if isinstance(node, tuple):
        for part in node:
            yield from nodes(part)
    elif is_dataclass(node):
        yield node
        for f in fields(node):
            yield from nodes(getattr(node, f.name))
