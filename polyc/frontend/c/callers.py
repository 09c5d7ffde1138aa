"""What a function's variables always are in its own file: each call passes one constant, or a variable has one value.

    static void blur(int radius) { const int window = 2 * radius + 1; … }      blur(9);

In `blur`, `radius` is 9 and `window` is 19. C compilers find the same and specialise the function for it
(interprocedural constant propagation), but not what OpenMP moves into functions of its own, so that the printed text
has to say it. Nothing depends on the answer being right: the text that says it asks first
(`codegen/blocks/special.py`), for who calls the function may be another file, or this one compiled with other macros.

source: constant propagation by jump functions: Callahan, Cooper, Kennedy, Torczon, Interprocedural Constant Propagation
        (SIGPLAN 1986); constants and variables with one value pass through, which is the most of it in practice
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast

from polyc.errors import UserError
from polyc.frontend.c.ctype import Types
from polyc.frontend.c.parse import Parsed, parse_function
from polyc.frontend.c.state import limits
from polyc.frontend.text.chunks import Chunks
from polyc.frontend.text.places import Places
from polyc.frontend.text.source import COMMENT_OR_STRING
from polyc.frontend.text.trees import walk
from polyc.records import dataclass, field

_STATIC = re.compile(r"\bstatic\b")
_WRITES = ("++", "--", "p++", "p--", "&")


@dataclass(slots=True)
class Callers:
    """The functions of a file."""

    chunks: Chunks
    places: Places
    known: dict[str, list[dict[int, int]]] = field(default_factory=dict)

    def arguments(self, name: str) -> dict[int, int]:
        """Positions of a function's parameters -> the one value that each call passes there."""
        passed = self.passed(name)
        return {n: value for n, value in passed[0].items() if all(o.get(n) == value for o in passed)} if passed else {}

    def passed(self, name: str) -> list[dict[int, int]]:
        """The constants that each call of a function passes, by the positions of its parameters. [] where not all calls
        may be seen: of a function that another file may call as well, unless this file is the program, with a `main`.
        """
        if name not in self.known:
            self.known[name] = []  # while it is looked into: it calls itself
            self.known[name] = self.found(name)
        return self.known[name]

    def found(self, name: str) -> list[dict[int, int]]:
        chunks = self.chunks
        bodies = [n for n in chunks.mentions.get(name, ()) if chunks.items[n].is_function]
        if len(bodies) != 1 or name == "main":
            return []
        if _STATIC.search(chunks.items[bodies[0]].header) is None and not self.has_main:
            return []
        word = re.compile(rf"\b{re.escape(name)}\b")
        passed: list[dict[int, int]] = []
        for number, item in enumerate(chunks.items):
            text = chunks.text_of(number)
            if (item.function_name == name and not item.is_function) or word.search(text) is None:
                continue
            times = len(word.findall(COMMENT_OR_STRING.sub(" ", chunks.code_of(number)))) - (number == bodies[0])
            if not times:
                continue
            found = self.calls(number, name) if item.is_function and number != bodies[0] else []
            if len(found) != times:  # its address is taken, or a statement of its caller cannot be read
                return []
            passed += found
        return passed

    @property
    def has_main(self) -> bool:
        return any(self.chunks.items[n].is_function for n in self.chunks.mentions.get("main", ()))

    def calls(self, number: int, name: str) -> list[dict[int, int]]:
        """The constants that each call in a function passes, by their positions."""
        try:
            parsed = parse_function(self.chunks, number, [], self.places)
        except (UserError, RecursionError):
            return []
        types = Types()
        types.add_all(parsed.tree)
        values = self.values(parsed, types)
        calls = [node for node in walk(parsed.function.body) if isinstance(node, c_ast.FuncCall)]
        calls = [node for node in calls if isinstance(node.name, c_ast.ID) and node.name.name == name]
        found: list[dict[int, int]] = []
        for call in calls:
            arguments = enumerate(call.args.exprs if call.args is not None else ())
            constants = [(n, constant(argument, types, values)) for n, argument in arguments]
            found.append({n: value for n, value in constants if value is not None})
        return found

    def each(self, parsed: Parsed) -> dict[str, tuple[int, ...]]:
        """A function's parameters that each call passes a constant for -> these, call by call."""
        passed = self.passed(parsed.function.decl.name)
        args = parsed.function.decl.type.args
        names = [getattr(node, "name", None) for node in args.params] if args is not None else []
        given = {name: [one[n] for one in passed if n in one] for n, name in enumerate(names) if name is not None}
        return {name: tuple(found) for name, found in given.items() if found and len(found) == len(passed)}

    def values(self, parsed: Parsed, types: Types) -> dict[str, int | None]:
        """A function's own names -> what they always are; None where that is not known, or one is several things."""
        function = parsed.function
        passed = self.arguments(function.decl.name)
        parameters = function.decl.type.args.params if function.decl.type.args is not None else []
        declared = [node for node in walk(function.body) if isinstance(node, c_ast.Decl) and node.name]
        given = [node for node in parameters if isinstance(node, c_ast.Decl) and node.name]
        once = Counter(node.name for node in (*given, *declared))
        changed = set(written_names(function))
        found: dict[str, int | None] = {}
        for node in parsed.tree.ext:  # constants of the file
            if isinstance(node, c_ast.Decl) and node.name and "const" in (node.quals or ()) and node.init is not None:
                found[node.name] = fitting(node, constant(node.init, types, found), types)
        found |= dict.fromkeys(once)
        positions = {id(node): n for n, node in enumerate(parameters)}
        for node in (*given, *declared):
            if once[node.name] == 1 and node.name not in changed and not node.storage:
                start = constant(node.init, types, found) if node.init is not None else None
                found[node.name] = fitting(node, passed.get(positions.get(id(node), -1), start), types)
        return found


def written_names(function: c_ast.FuncDef) -> list[str]:
    """The variables that a function assigns, or takes the address of."""
    found: list[str] = []
    for node in walk(function.body):
        target = node.lvalue if isinstance(node, c_ast.Assignment) else None
        if isinstance(node, c_ast.UnaryOp) and node.op in _WRITES:
            target = node.expr
        if isinstance(target, c_ast.ID):
            found.append(target.name)
    return found


def fitting(node: c_ast.Decl, value: int | None, types: Types) -> int | None:
    """The value of an integer variable; None where its type cannot hold it."""
    shape = types.shape(node.type)
    if value is None or shape.dims or shape.element.kind != "int" or shape.qualifiers & {"volatile", "_Atomic"}:
        return None
    low, high = limits(shape.element)
    return value if low <= value <= high else None


def constant(node: c_ast.Node, types: Types, values: Mapping[str, int | None]) -> int | None:
    """The value of an expression of constants and of names with one value."""
    known = {name: value for name, value in {**types.constants, **values}.items() if value is not None}
    return replace(types, constants=known).constant(node)
