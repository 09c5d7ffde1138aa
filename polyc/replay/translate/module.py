"""Both texts as one module of Python: what they share, and where its lines come from."""

from __future__ import annotations

from types import CodeType
from typing import Any

from pycparser import c_ast

from polyc.frontend.c.ctype import Types
from polyc.records import dataclass, field
from polyc.replay.machine.memory import Kind, Machine
from polyc.replay.machine.operations import operations
from polyc.replay.machine.reading import NotUnderstood
from polyc.replay.translate.arithmetic import Arithmetic
from polyc.replay.translate.values import Variable


@dataclass(frozen=True, slots=True)
class Line:
    """Where a line of Python comes from."""

    text: str
    """The function."""
    line: int
    counters: tuple[tuple[str, str], ...]
    """Loop variables around it: in Python, and in C."""
    around: tuple[int, ...] = ()
    """Lines of the loops and branches around a block, the outermost one first."""


@dataclass(slots=True, eq=False)
class Known:
    """What both texts share: types, functions, vectors, and what stands at file level in the translation."""

    types: Types
    arithmetic: Arithmetic
    vectors: dict[str, tuple[str, int]]
    bodies: dict[str, c_ast.FuncDef]
    prototypes: dict[str, c_ast.Decl]
    globals: dict[str, c_ast.Decl]
    pragmas: list[str]
    pure: frozenset[str] = frozenset()
    """Functions whose values depend on their arguments alone, beside those of the C library."""
    shared: dict[str, Variable] = field(default_factory=dict)
    """Arrays of the file, which functions of the user's know without being given them."""
    members: dict[str, dict[str, str]] = field(default_factory=dict)
    """Structs of which both texts are given members only: for each, the variables that these are."""
    kinds: dict[Kind, str] = field(default_factory=dict)
    unset: dict[tuple[str, str], str] = field(default_factory=dict)
    wanted: list[str] = field(default_factory=list)
    """Functions of the user's that are called."""

    def kind(self, kind: Kind) -> str:
        return self.kinds.setdefault(kind, f"K{len(self.kinds)}")

    def unset_value(self, kind: Kind, name: str) -> str:
        return self.unset.setdefault((self.kind(kind), name), f"U{len(self.unset)}")

    def lanes(self, node: c_ast.Node) -> int:
        """How many elements a vector type has; 0 for another type."""
        while isinstance(node, c_ast.Typename | c_ast.TypeDecl | c_ast.PtrDecl):
            node = node.type
        name = " ".join(node.names) if isinstance(node, c_ast.IdentifierType) else ""
        if name not in self.vectors:
            return 0
        return self.vectors[name][1] // self.types.shape(node).element.size_bytes


@dataclass(slots=True, eq=False)
class Module:
    """Both texts as one module of Python."""

    known: Known
    lines: list[str] = field(default_factory=list)
    places: dict[int, Line] = field(default_factory=dict)
    """Where the lines come from, by their numbers."""
    blocks: dict[int, Line] = field(default_factory=dict)
    """Bodies of loops and branches: what `covered` speaks of."""
    shared: list[tuple[int, str]] = field(default_factory=list)
    """What loops with pragmas do that is wrong by itself: the line, and what. They write variables from outside, or
    combine values otherwise than their clause says."""
    weights: dict[int, int] = field(default_factory=dict)
    """What an iteration of a loop costs, without the loops inside of it: in plain statements."""
    inner: int = 0
    """Characters of the loops inside of the one that is translated."""
    code: CodeType = field(init=False)

    def compile(self) -> None:
        """After the last line. Raises NotUnderstood."""
        try:
            self.code = compile("\n".join(self.lines), "<replay>", "exec")
        except (SyntaxError, RecursionError, MemoryError) as problem:
            raise NotUnderstood(f"too deep ({problem})") from None

    def functions(self, machine: Machine) -> dict[str, Any]:
        """The module for one run."""
        machine.weights = self.weights
        found, known = operations(machine), self.known
        found |= {name: kind for kind, name in known.kinds.items()}
        found |= {name: found["F"][value] for value, name in known.arithmetic.constants.items()}
        found |= {name: machine.unset(found[kind], what) for (kind, what), name in known.unset.items()}
        exec(self.code, found)
        return found
