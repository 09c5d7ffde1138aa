"""Which values a region leaves behind for somebody."""

from __future__ import annotations

from collections.abc import Set

from pycparser import c_ast

from polyc.analysis.expressions.facts import induction, read_outside_loops
from polyc.errors import Span
from polyc.frontend.c.liveness import Escapes, Path, Pointee, escapes, is_like_local, read_after, unknown_call_after
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.text.trees import walk
from polyc.model import ctree as c
from polyc.model.scop import Storage
from polyc.records import dataclass, field

ALLOCATORS = frozenset(["malloc", "calloc", "aligned_alloc", "valloc", "__builtin_malloc", "__builtin_calloc"])


@dataclass(slots=True)
class After:
    """The function after the region that ends at the end of `path`."""

    region: Region
    function: c_ast.FuncDef
    path: Path
    by_pragma: tuple[tuple[str, Span], ...] | None
    by_option: tuple[str, ...] | None
    mentioned: Set[str] = frozenset()
    """Keys of what the region names."""
    gone: dict[int, Escapes] = field(default_factory=dict)
    fresh: dict[str, bool] = field(default_factory=dict)
    """What `is_fresh` has answered, by key."""

    @property
    def given(self) -> frozenset[str] | None:
        """Keys that the user named; None where polyc has to find out."""
        if self.by_pragma is None and self.by_option is None:
            return None
        names = self.by_option or () if self.by_pragma is None else tuple(name for name, _ in self.by_pragma)
        symbols = self.region.scope.symbols.values()
        return frozenset(s.key for s in symbols if s.c_name in names and s.storage is not Storage.REGION)

    def check(self) -> None:
        """Refuse names in the pragma that mean nothing here."""
        for name, span in self.by_pragma or ():
            if self.region.scope.find(name) is None:
                message = f"'{name}' is not an array or variable of this function"
                self.region.refuse("unknown-array", message, span)

    def needed_loops(self, body: c.Block) -> tuple[frozenset[str], frozenset[str]]:
        """Loop variables that are read outside of their loops, and those that are read after the region."""
        heads = [induction(item) for item in c.walk(body) if isinstance(item, c.For)]
        keys = {h.key for h in heads if h is not None and not h.declared}
        live = self.live_out(keys)
        return live | (keys & read_outside_loops(body)), live

    def live_out(self, written: set[str]) -> frozenset[str]:
        """Those of the written arrays that are needed after the region."""
        given = self.given
        if given is not None:
            return (given & written) | self.perhaps(given, written)
        symbols = [s for key in written if (s := self.region.symbol(key)) is not None]
        return frozenset(s.key for s in symbols if s.storage is not Storage.REGION and self.is_live(s))

    def perhaps(self, given: frozenset[str], written: set[str]) -> frozenset[str]:
        """Those of the written arrays that a pointer in memory leads to, `s->at`, and that may be one that the user
        named and the region does not: nothing else in it can be meant."""
        meant = [self.region.scope.symbols[key] for key in given - self.mentioned]
        elements = {symbol.shape.element for symbol in meant if symbol.rank}
        found = (s for key in written if (s := self.region.symbol(key)) is not None)
        return frozenset(s.key for s in found if s.fixed is not None and s.rank and s.shape.element in elements)

    def is_live(self, symbol: Symbol) -> bool:
        """Whether the value of something declared outside of the region may be read after it."""
        if is_like_local(symbol, self.function):
            return read_after(symbol.c_name, self.path, self.function)
        if self.is_fresh(symbol):
            return read_after(Pointee(symbol.c_name), self.path, self.function)
        if symbol.storage is Storage.GLOBAL or (symbol.rank and symbol.shape.dims[0].pointer):
            return True
        if symbol.storage is Storage.ARGUMENT and symbol.rank:
            return True
        gone = self.escaped(symbol)
        if symbol.c_name in gone.to_pointer:
            return True
        if symbol.c_name in gone.to_call and unknown_call_after(self.path):
            return True
        return read_after(symbol.c_name, self.path, self.function)

    def is_exposed(self, symbol: Symbol) -> bool:
        """Whether a function that polyc does not know may reach something without being given it."""
        if symbol.storage is Storage.GLOBAL:
            return not (symbol.constant and not any(d.pointer for d in symbol.shape.dims))
        if symbol.rank and (symbol.shape.dims[0].pointer or symbol.storage is Storage.ARGUMENT):
            return not self.is_fresh(symbol)
        return self.is_handed_on(symbol)

    def is_moved(self, pointer: Symbol) -> bool:
        """Whether somebody else might make a pointer lead somewhere else: all see it, or its address is taken."""
        if 0 not in self.gone:
            self.gone[0] = escapes(self.function, 0)
        names = self.gone[0].to_pointer | self.gone[0].to_call
        return pointer.storage is Storage.GLOBAL or pointer.fixed is not None or pointer.c_name in names

    def is_handed_on(self, symbol: Symbol) -> bool:
        """Whether the address of something goes to a function that may keep it, or to another variable."""
        gone = self.escaped(symbol)
        return symbol.c_name in gone.to_pointer or symbol.c_name in gone.to_call

    def escaped(self, symbol: Symbol) -> Escapes:
        """Where addresses go in the function; walked once for all scalars, and once for each rank of arrays."""
        if symbol.rank not in self.gone:
            self.gone[symbol.rank] = escapes(self.function, symbol.rank)
        return self.gone[symbol.rank]

    def is_fresh(self, symbol: Symbol) -> bool:
        """Whether a local pointer always has memory from malloc, and hands it to nobody: no other name leads there."""
        if symbol.storage is not Storage.LOCAL or not symbol.rank or not symbol.shape.dims[0].pointer:
            return False
        if symbol.key not in self.fresh:
            self.fresh[symbol.key] = not self.is_handed_on(symbol) and self._is_allocated(symbol)
        return self.fresh[symbol.key]

    def _is_allocated(self, symbol: Symbol) -> bool:
        """Whether all values of a pointer are memory from malloc."""
        values: list[c_ast.Node | None] = []
        for node in walk(self.function.body):
            match node:
                case c_ast.Decl(name=symbol.c_name):
                    values += [node.init] if node.init is not None else []
                case c_ast.Assignment(lvalue=c_ast.ID(name=symbol.c_name)):
                    values.append(node.rvalue if node.op == "=" else None)
                case c_ast.UnaryOp(expr=c_ast.ID(name=symbol.c_name)) if node.op in ("&", "++", "--", "p++", "p--"):
                    values.append(None)
        return bool(values) and all(_allocates(value) for value in values)


def _allocates(value: c_ast.Node | None) -> bool:
    while isinstance(value, c_ast.Cast):
        value = value.expr
    called = isinstance(value, c_ast.FuncCall) and isinstance(value.name, c_ast.ID)
    return called and value.name.name in ALLOCATORS  # type: ignore[union-attr]
