"""Both texts as one module of Python: what they share, and where its lines come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from types import CodeType
from typing import Any

from pycparser import c_ast

from polyc.frontend.ctype import Types
from polyc.replay.memory import Kind, Machine
from polyc.replay.operations import operations
from polyc.replay.translate.arithmetic import Arithmetic


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
class Translation:
    """Both texts as one module of Python."""

    code: CodeType
    source: str
    lines: dict[int, Line]
    blocks: dict[int, Line]
    """Bodies of loops and branches: what `covered` speaks of."""
    kinds: dict[str, Kind]
    unset: dict[str, tuple[str, str]]
    constants: dict[str, Fraction]
    shared: tuple[tuple[int, str], ...]
    """What loops with pragmas do that is wrong by itself: the line, and what. They write variables from outside, or
    combine values otherwise than their clause says."""
    weights: dict[int, int]
    """What an iteration of a loop costs, without the loops inside of it: in plain statements."""

    def functions(self, machine: Machine) -> dict[str, Any]:
        """The module for one run."""
        machine.weights = self.weights
        found = operations(machine)
        found |= self.kinds
        found |= {name: found["F"][value] for name, value in self.constants.items()}
        found |= {name: machine.unset(self.kinds[kind], what) for name, (kind, what) in self.unset.items()}
        exec(self.code, found)
        return found


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
    """The module so far."""

    lines: list[str] = field(default_factory=list)
    places: dict[int, Line] = field(default_factory=dict)
    blocks: dict[int, Line] = field(default_factory=dict)
    shared: list[tuple[int, str]] = field(default_factory=list)
    weights: dict[int, int] = field(default_factory=dict)
    inner: int = 0
    """Characters of the loops inside of the one that is translated."""
