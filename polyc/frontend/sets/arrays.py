"""The arrays of a region, with affine extents where they have some."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polyc.frontend.c.convert import Converter
from polyc.frontend.c.ctype import MOVING, Types, member_of
from polyc.frontend.c.state import Env, Region, number
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.sets.affine import Affine
from polyc.frontend.text.trees import changed_names, walk
from polyc.model import ctree as c
from polyc.model.scop import Array, CType, Field, Storage, Struct


def make_array(symbol: Symbol, region: Region, converter: Converter, function: c_ast.FuncDef) -> Array:
    """The model's array of a symbol."""
    if symbol.key in region.flat:
        shape = region.flat[symbol.key]
        extents = tuple(region.in_c(one) for one in shape.extents)
        sizes = [Affine(region).observed(one, Env()) for one in shape.extents]
        steps = [Affine(region).observed(stride, Env()) for stride in shape.strides]
        return Array(
            symbol.key,
            symbol.c_name,
            symbol.shape.element,
            (None, *sizes),
            (None, *extents),
            symbol.storage,
            symbol.constant,
            True,
            tuple(step for step in steps if step is not None),
            tuple(region.in_c(stride) for stride in shape.strides),
            shape.origins,
            fields_of(region.scope.types, symbol.shape.node),
            layout_of(region.scope.types, symbol.shape.node, symbol.shape.element.text),
        )
    pairs = [extent(symbol, position, region, converter, function) for position in range(symbol.rank)]
    return Array(
        symbol.key,
        symbol.c_name,
        symbol.shape.element,
        tuple(size for size, _ in pairs),
        tuple(text for _, text in pairs),
        symbol.storage,
        symbol.constant,
        members=fields_of(region.scope.types, symbol.shape.node),
        layout=layout_of(region.scope.types, symbol.shape.node, symbol.shape.element.text),
    )


def fields_of(types: Types, node: c_ast.Node | None) -> dict[tuple[str, ...], Field]:
    """The numbers in a struct, and arrays of them, by the names that lead there."""
    found: dict[tuple[str, ...], Field] = {}
    for item in (node.decls or ()) if isinstance(node, c_ast.Struct) else ():
        shape = member_of(types, node, item.name) if isinstance(item, c_ast.Decl) and item.name else None
        if shape is None or shape.qualifiers & MOVING:
            continue
        if shape.node is not None and not shape.dims:
            found |= {(item.name, *path): field for path, field in fields_of(types, shape.node).items()}
        sizes = tuple(dim.size for dim in shape.dims if dim.size)
        if shape.element.kind in ("int", "float") and len(sizes) == len(shape.dims):
            found[item.name,] = Field(shape.element, sizes)
    return found


def layout_of(types: Types, node: c_ast.Node | None, text: str) -> Struct | str:
    """As `Array.layout`. text: how the file calls the struct"""
    if node is None:
        return ""
    if not isinstance(node, c_ast.Struct):
        return "a union"
    found: list[tuple[str, CType | Struct, tuple[int, ...]]] = []
    for item in node.decls or ():
        shape = member_of(types, node, item.name) if isinstance(item, c_ast.Decl) and item.name else None
        if shape is None or shape.qualifiers & MOVING:
            return "a union, a bit-field, or a member without a name or a size"
        sizes = tuple(dim.size for dim in shape.dims if dim.size)
        if len(sizes) < len(shape.dims):
            return f"the pointer {item.name}"
        kind: CType | Struct | str = shape.element
        if shape.node is not None:
            kind = layout_of(types, shape.node, shape.element.text)
        if isinstance(kind, str):
            return kind
        found.append((item.name, kind, sizes))
    return Struct("" if text.endswith(" None") else text, tuple(found)) if found else "no members that are known"


def named_types(types: Types) -> dict[str, CType | Struct]:
    """As `Scop.named`."""
    shapes = {name: types.shape(node) for name, node in types.typedefs.items()}
    found: dict[str, CType | Struct | str] = {
        name: shape.element if shape.node is None else layout_of(types, shape.node, name)
        for name, shape in shapes.items()
        if not shape.dims and not shape.is_function and shape.element.kind in ("int", "float", "struct")
    }
    tags = {f"struct {name}": node for name, node in types.tags.items() if isinstance(node, c_ast.Struct)}
    found |= {name: layout_of(types, node, name) for name, node in tags.items()}
    return {name: kind for name, kind in found.items() if not isinstance(kind, str)}


def extent(
    symbol: Symbol, position: int, region: Region, converter: Converter, function: c_ast.FuncDef, asking: bool = False
) -> tuple[isl.PwAff | None, c.Expr | None]:
    """One dimension's size, in the parameters and as C.

    `asking`: whether parameters may be assumed with which it does not wrap
    """
    if symbol.key in region.flat:
        return None, None  # what is not divided may lie anywhere
    dim = symbol.shape.dims[position]
    if dim.extent is None:
        return None, None
    quiet = replace(converter, problems=[])
    expr = quiet.expr(dim.extent)[0]
    if dim.size is not None:
        return number(dim.size), region.in_c(expr)
    if quiet.problems or not settled(dim.extent, symbol, converter, function):
        return None, region.in_c(expr)
    before, region.strict = region.strict, not asking
    size = Affine(region).observed(expr, Env())
    region.strict = before
    return size, region.in_c(expr)


def settled(extent: c_ast.Node, symbol: Symbol, converter: Converter, function: c_ast.FuncDef) -> bool:
    """Whether the variables of an extent still have the values of the time of the declaration."""
    names = {node.name for node in walk(extent) if isinstance(node, c_ast.ID)}
    declared = converter.parsed.offset(symbol.node.coord) if symbol.node is not None else 0
    changed = (target for target in changed_names(function.body) if target.name in names)
    return all(converter.parsed.offset(target.coord) <= declared for target in changed)


def positive_extents(array: Array) -> list[isl.PwAff]:
    """Sizes that C promises to be positive: those of variable length arrays, the outermost of a parameter apart.

    Those that the region declares are seen to where their declaration stands.
    """
    if array.flat:
        return []
    first = 1 if array.storage is Storage.ARGUMENT else 0
    outside = array.storage in (Storage.ARGUMENT, Storage.LOCAL)
    return [size for size in array.extents[first:] if size is not None and outside]
