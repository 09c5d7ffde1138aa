"""What a function of a file takes and returns, as it is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from polyc.errors import Span, UserError
from polyc.frontend.c.ctype import Shape, Types
from polyc.frontend.c.parse import parse_function
from polyc.frontend.read import preprocessed
from polyc.frontend.text.chunks import cut
from polyc.frontend.text.places import Places
from polyc.frontend.text.preprocess import Preprocessed
from polyc.frontend.text.source import UserFile
from polyc.model.program import InputOptions
from polyc.records import dataclass
from polyc.stack import room_for_depth


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """One parameter of a function."""

    name: str
    text: str
    """Its declaration: `float in[height][width]`."""
    shape: Shape
    extents: tuple[str | None, ...]
    """The size of each dimension as C; None where there is none, or where it depends on what an array holds."""
    constant: bool
    """Whether its elements are const."""


@dataclass(frozen=True, slots=True, eq=False)
class Prototype:
    """A function with a body."""

    name: str
    text: str
    """The head of its definition on one line."""
    arguments: tuple[Argument, ...]
    returns: Shape
    span: Span
    source: str
    """The whole file, preprocessed."""


def prototype(name: str, path: str, options: InputOptions, text: str | None = None) -> Prototype:
    """The function of that name in a file, or in the text in its place. Raises UserError, `cannot-load` where there is
    none with a body, or where it is variadic."""
    with room_for_depth():
        return _prototype(name, *preprocessed(path, options, text))


def _prototype(name: str, user: UserFile, pre: Preprocessed) -> Prototype:
    places = Places(user, pre)
    chunks = cut(pre.text, places)
    defined = {item.function_name: index for index, item in enumerate(chunks.items) if item.is_function}
    if name not in defined:
        known = [function for function in defined if function]
        hint = f"it defines {', '.join(known)}" if 0 < len(known) <= 20 else ""
        raise UserError.of("cannot-load", f"the file defines no function '{name}'", Span(user.path, 1), hint)
    item = chunks.items[defined[name]]
    place = re.compile(rf"\b{re.escape(name)}\s*\(").search(pre.text, item.start, item.end)
    start = place.start() if place is not None else item.start
    span = places.span(start, start + len(name))
    parsed = parse_function(chunks, defined[name], [], places)
    types = Types()
    types.add_all(parsed.tree)
    declared = parsed.function.decl.type
    printer = CGenerator()
    nodes = [one for one in (declared.args.params if declared.args is not None else ()) if not _is_void(one)]
    if any(not isinstance(one, c_ast.Decl) or not one.name for one in nodes):
        raise UserError.of("cannot-load", f"'{name}' takes any number of arguments, or some without a name", span)
    shapes = {one.name: types.shape(one.type) for one in nodes}
    scalars = {key for key, shape in shapes.items() if not shape.dims}
    own = set(shapes)
    arguments = tuple(
        Argument(
            one.name,
            printer.visit(one),
            shapes[one.name],
            _extents(shapes[one.name], own - scalars, printer),
            _constant(one.type, types),
        )
        for one in nodes
    )
    head = " ".join(printer.visit(parsed.function.decl).split())
    return Prototype(name, head, arguments, types.shape(declared.type), span, pre.text)


def _is_void(node: c_ast.Node) -> bool:
    """`(void)`: no parameters."""
    return (
        isinstance(node, c_ast.Typename)
        and isinstance(node.type, c_ast.TypeDecl)
        and getattr(node.type.type, "names", None) == ["void"]
    )


def _extents(shape: Shape, arrays: set[str], printer: CGenerator) -> tuple[str | None, ...]:
    return tuple(
        None if dim.extent is None or arrays & set(_names(dim.extent)) else printer.visit(dim.extent)
        for dim in shape.dims
    )


def _constant(node: c_ast.Node, types: Types) -> bool:
    """Whether `const` is said of the elements: `const ptr p` is a constant pointer where ptr is a typedef of one."""
    found = False
    while True:
        if isinstance(node, c_ast.TypeDecl):
            found = found or "const" in node.quals
        elif isinstance(node, c_ast.IdentifierType):
            node = types.typedefs.get(" ".join(node.names))
            if isinstance(node, c_ast.PtrDecl):
                found = False
            if node is None:
                return found
            continue
        elif not isinstance(node, (c_ast.ArrayDecl, c_ast.PtrDecl)):
            return found
        node = node.type


def _names(node: c_ast.Node) -> Iterator[str]:
    if isinstance(node, c_ast.ID):
        yield node.name
    for child in node:
        yield from _names(child)
