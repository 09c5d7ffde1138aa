"""Directives of OpenMP around a statement, and whether it computes the same without them, one iteration after another.

A parallel loop's iterations may run in any order, so that the order of the text is one of those that its programmer
allowed. What else the directives say is about variables: of those that each thread has for itself, the one of that
name outside keeps its value.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from polyc.frontend.c.liveness import Path, read_after
from polyc.frontend.c.parse import Parsed
from polyc.frontend.text.foreign import Pragma, clauses
from polyc.frontend.text.pragmas import following
from polyc.frontend.text.trees import walk
from polyc.records import dataclass

LOOPS = ("simd", "parallel for", "parallel for simd", "for", "for simd")


@dataclass(frozen=True, slots=True)
class Sharing:
    """The directives of one statement of a block."""

    parsed: Parsed
    text: str
    """The preprocessed text of the file."""
    path: Path
    """To the block, without its statement."""
    block: c_ast.Compound
    position: int
    """Of the statement in the block."""

    def why_not(self, pragmas: list[Pragma]) -> str | None:
        """Why the directives cannot be dropped; None where they can. `pragmas`: those that stand in or before it."""
        statements = dict(self.statements(self.block.block_items[self.position], [*self.path]))
        bodies: set[int] = set()
        """The statements that all threads of a parallel region run."""
        for pragma in pragmas:
            if pragma.directive and pragma.directive == "parallel":
                body, _ = statements.get(following(self.text, pragma.start), (None, []))
                bodies |= {id(item) for item in self.shared_loops(body, statements, pragmas)}
        for pragma in pragmas:
            node, path = statements.get(following(self.text, pragma.start), (None, []))
            reason = self.why_not_one(pragma, node, path, bodies)
            if reason is not None:
                return f"{reason} ('{pragma.shown}')"
        return None

    def why_not_one(self, pragma: Pragma, node: c_ast.Node | None, path: Path, bodies: set[int]) -> str | None:
        name = pragma.directive
        if not name:
            return None if pragma.is_hint else "it has a pragma of its own"
        if name == "parallel":
            if node is None or not all(id(item) in bodies for item in items_of(node) or [0]):
                return "a parallel region holds more than loops that its threads share"
        elif name not in LOOPS or not isinstance(node, c_ast.For):
            return "OpenMP's directive is none of a parallel loop"
        elif name in LOOPS[3:] and id(node) not in bodies:
            return "the loop is shared by the threads of a parallel region that stays"
        said = clauses(pragma)
        if said.wrong:
            return f"the clause '{said.wrong}' means something without threads, too"
        return self.why_not_variables(said.own, said.copied, node, path)

    def why_not_variables(self, own: list[str], copied: list[str], node: c_ast.Node, path: Path) -> str | None:
        """Why the variables of each thread's own cannot be the one that all iterations share."""
        function = self.parsed.function
        counters = [name for name in loop_variables(node) if name not in own]
        for name in dict.fromkeys([*own, *counters]):
            written = any(changes(inner, name) for inner in walk(node))
            if not written:
                continue
            if name in copied:
                return f"each thread begins with its own '{name}' and changes it"
            if name not in locals_of(function):
                return f"each thread has its own '{name}', which other functions may read afterwards"
            if any(is_address(inner, name) for inner in walk(function.body)):
                return f"each thread has its own '{name}', of which an address is taken"
            if read_after(name, path, function):
                return f"each thread has its own '{name}', which is read afterwards with its value from before"
        return None

    def statements(self, node: c_ast.Node, path: Path) -> Iterator[tuple[int, tuple[c_ast.Node, Path]]]:
        """The loops and blocks below a statement, by their offset in the preprocessed text, with the way to them."""
        if not path or path[-1][0] is not self.block:
            path = [*path, (self.block, self.position)]
        waiting: list[tuple[c_ast.Node, Path]] = [(node, path)]
        while waiting:
            one, way = waiting.pop()
            if isinstance(one, (c_ast.For, c_ast.Compound)) and one.coord is not None:
                yield self.parsed.original(self.parsed.offset(one.coord)), (one, way)
            items = (one.block_items or []) if isinstance(one, c_ast.Compound) else list(one)
            waiting += [(child, [*way, (one, n)]) for n, child in enumerate(items)]

    def shared_loops(
        self, body: c_ast.Node | None, statements: dict[int, tuple[c_ast.Node, Path]], pragmas: list[Pragma]
    ) -> Iterator[c_ast.Node]:
        """The items of a parallel region's block that are loops with a directive, or declare a variable."""
        starts = [following(self.text, pragma.start) for pragma in pragmas if pragma.directive in LOOPS[3:]]
        loops = {id(statements[start][0]) for start in starts if start in statements}
        for item in items_of(body) if body is not None else []:
            if id(item) in loops or (isinstance(item, c_ast.Decl) and item.init is None):
                yield item


def items_of(body: c_ast.Node) -> list[c_ast.Node]:
    """The statements of a block, or the one that stands in its place."""
    return (body.block_items or []) if isinstance(body, c_ast.Compound) else [body]


def path_to(node: c_ast.Node, target: c_ast.Node) -> Path | None:
    """The way from a block to one inside of it."""
    if node is target:
        return []
    items = (node.block_items or []) if isinstance(node, c_ast.Compound) else list(node)
    for position, item in enumerate(items):
        way = path_to(item, target)
        if way is not None:
            return [(node, position), *way]
    return None


def loop_variables(node: c_ast.Node) -> list[str]:
    """The variables of a loop, and of the loops right inside of it, that are declared before it."""
    found: list[str] = []
    while isinstance(node, c_ast.For):
        if isinstance(node.init, c_ast.Assignment) and isinstance(node.init.lvalue, c_ast.ID):
            found.append(node.init.lvalue.name)
        node = node.stmt
        while isinstance(node, c_ast.Compound) and len(node.block_items or []) == 1:
            node = node.block_items[0]
    return found


def changes(node: c_ast.Node, name: str) -> bool:
    """Whether an expression gives a variable, or an element of it, another value."""
    match node:
        case c_ast.Assignment(lvalue=target):
            pass
        case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--" | "&", expr=target):
            pass
        case _:
            return False
    while isinstance(target, (c_ast.ArrayRef, c_ast.StructRef)):
        target = target.name
    return isinstance(target, c_ast.ID) and target.name == name


def is_address(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op == "&" and changes(node, name)


def locals_of(function: c_ast.FuncDef) -> set[str]:
    """The names of a function's arguments and automatic variables."""
    arguments = function.decl.type.args
    found = {item.name for item in (arguments.params if arguments is not None else ()) if isinstance(item, c_ast.Decl)}
    for node in walk(function.body):
        if isinstance(node, c_ast.Decl):
            (found.discard if node.storage else found.add)(node.name)
    return found


__all__ = ["Sharing", "path_to"]
