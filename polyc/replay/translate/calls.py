"""Calls in C as text of Python: of functions without effects, of the user's own, and of polyc's macros."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pycparser import c_ast

from polyc.frontend.c.ctype import INT, Shape
from polyc.frontend.c.functions import HINTS, PURE
from polyc.frontend.text.asserts import ASSERTED
from polyc.model.scop import CType
from polyc.replay.machine.memory import number_of
from polyc.replay.machine.reading import ROW, NotUnderstood
from polyc.replay.translate.arithmetic import RESIDUES
from polyc.replay.translate.values import DOUBLE, FLOAT, LONG, Value, closed, kind_of, number

if TYPE_CHECKING:
    from polyc.replay.translate.expressions import Expressions

ROUNDING = ("lrint", "lround", "llrint", "llround", "ilogb", "fpclassify", "signbit", "isnan", "isinf", "isfinite")
"""Functions of floating values whose result is a whole number."""


def call(e: Expressions, node: c_ast.FuncCall) -> Value:
    if not isinstance(node.name, c_ast.ID):
        raise NotUnderstood("a call by a pointer")
    name = node.name.name
    arguments = list(node.args.exprs) if node.args is not None else []
    if name in EXTREMA:
        return pure(e, EXTREMA[name], [e.value(argument) for argument in arguments])
    if name == ASSERTED:
        return number(0)
    if name.startswith("polyc_"):
        return of_polyc(e, name, node, arguments)
    if name in e.known.bodies:
        return of_users(e, name, arguments)
    if name in HINTS or name == "__builtin_prefetch":
        return Value("0", INT)
    values = [e.value(argument) for argument in arguments]
    if any(value.pointer is not None for value in values):
        raise NotUnderstood(f"a call of {name}")
    return pure(e, name, values) if name in PURE or name in e.known.pure else effect(e, name, values)


EXTREMA = {f"polyc_{name}": name for name in ("fmax", "fmaxf", "fmin", "fminf", "sqrt", "sqrtf")}
EXTREMA |= {
    f"polyc_{name}{letter}": name + letter for name in ("floor", "ceil", "trunc", "round") for letter in ("", "f")
}
EXTREMA |= {f"polyc_v{name}": name for name in ("fmax", "fmaxf", "fmin", "fminf")}
"""Macros that have the values of C's functions."""


def result_of(e: Expressions, name: str) -> CType:
    prototype = e.known.prototypes.get(name)
    if prototype is not None:
        return e.known.types.shape(prototype.type).element
    plain = name.removeprefix("__builtin_")
    if plain.startswith(ROUNDING) or plain.startswith("is"):
        return LONG if plain.startswith(("lr", "ll")) else INT
    return FLOAT if plain.endswith("f") and plain[:-1] not in ("", "er") else DOUBLE


def pure(e: Expressions, name: str, values: list[Value]) -> Value:
    plain = name.removeprefix("__builtin_")
    result = result_of(e, name)
    if result.kind in ("struct", "pointer") or any(value.type.kind == "struct" for value in values):
        raise NotUnderstood(f"a call of {name}")  # `div`
    if plain in ("abs", "labs", "llabs"):
        value = e.arithmetic.converted(values[0], INT if plain == "abs" else LONG)
        return replace(value, code=f"abs({value.code})", constant=None)
    if plain == "expect":
        return values[0]
    if any(value.floating for value in values) or result.kind == "float":
        widest = (
            result
            if result.kind == "float"
            else max((v.type for v in values if v.floating), key=lambda t: t.size_bytes)
        )
        values = [
            v if v.type.kind == "int" and plain[:2] in ("ld", "sc") else e.arithmetic.converted(v, widest)
            for v in values
        ]
    codes = ", ".join(value.code for value in values)
    if plain in ("fmax", "fmin", "fmaxf", "fminf"):
        key = ", key=centred" if e.arithmetic.mode == RESIDUES else ""
        return Value(f"{plain[1:4]}({codes}{key})", result, True)
    called = f"called({number_of(name)}, {codes})"
    return Value(called, result, True) if result.kind == "float" else Value(f"whole({called})", result, True)


def effect(e: Expressions, name: str, values: list[Value]) -> Value:
    codes = "".join(f", {value.code}" for value in values)
    called, result = f"effect({number_of(name)}{codes})", result_of(e, name)
    if any(value.type.kind == "struct" for value in values) or result.kind not in ("int", "float", "other"):
        raise NotUnderstood(f"a call of {name}")
    return Value(called, result, True) if result.kind != "int" else Value(f"whole({called})", result, True)


def of_users(e: Expressions, name: str, arguments: list[c_ast.Node]) -> Value:
    """A call of a function whose text is known."""
    declared = e.known.bodies[name].decl.type
    parameters = declared.args.params if declared.args is not None else []
    if any(isinstance(parameter, c_ast.ID) for parameter in parameters):
        raise NotUnderstood(f"the function {name}, which is written in the old style")
    if name not in e.known.wanted:
        e.known.wanted.append(name)
    codes: list[str] = []
    for parameter, argument in zip(parameters, arguments, strict=False):
        shape = e.known.types.shape(parameter.type)
        whole = members_of(e, shape, argument)
        if whole is not None:
            codes += [f"[{whole}]", "0"] if shape.dims else [whole]
        elif shape.dims:
            pointer = e.pointer(argument)
            if pointer.shape.element != shape.element:
                raise NotUnderstood(f"a call of {name}")
            codes += [pointer.cells, pointer.place]
        else:
            value = e.arithmetic.converted(e.value(argument), shape.element)
            codes.append(f"{value.code}.copied()" if shape.element.kind == "struct" else value.code)
    result = e.known.types.shape(declared)
    if result.dims:
        raise NotUnderstood(f"a call of {name}")
    return Value(f"f_{name}({', '.join(codes)})", result.element, True, node=result.node)


def members_of(e: Expressions, shape: Shape, argument: c_ast.Node) -> str | None:
    """A struct of which the texts are given members only: a record of these."""
    inner = argument.expr if isinstance(argument, c_ast.UnaryOp) and argument.op == "&" else argument
    members = e.known.members.get(inner.name) if isinstance(inner, c_ast.ID) else None
    if members is None or shape.element.kind != "struct" or len(shape.dims) > 1:
        return None
    kind = e.known.kind(kind_of(Shape(shape.element, (), shape.node), e.known.types))
    values = ", ".join(f"{name!r}: {e.named(variable).code}" for name, variable in members.items())
    return f"record({kind}, {{{values}}})"


def of_polyc(e: Expressions, name: str, node: c_ast.FuncCall, arguments: list[c_ast.Node]) -> Value:
    """What polyc's macros stand for."""
    if name.startswith(ROW):
        return e.of_target(e.target(node))
    if name in ("polyc_min", "polyc_max"):
        one, other = (e.value(argument) for argument in arguments)
        ctype = e.arithmetic.common(one, other)
        one, other = e.arithmetic.converted(one, ctype), e.arithmetic.converted(other, ctype)
        return Value(f"{name[6:]}({one.code}, {other.code})", ctype, one.large or other.large)
    if name == "polyc_floord":
        one, other = (e.value(argument) for argument in arguments)
        return Value(f"{closed(one.code)} // {closed(other.code)}", e.arithmetic.common(one, other), one.large)
    if name == "polyc_flag":
        return e.value(arguments[0])
    if name == "polyc_int":
        return e.arithmetic.converted(e.value(arguments[0]), INT)
    if name in ("polyc_select", "polyc_selectf", "polyc_selecti"):
        return e.ternary(c_ast.TernaryOp(*arguments, coord=node.coord), in_vain=True)
    if name == "polyc_apart":
        try:
            found = [e.value(argument).pointer for argument in arguments]
        except NotUnderstood:
            return number(1)  # memory that only sizes and pointers are read from
        if any(pointer is None for pointer in found):
            return number(1)  # a variable that has no other name
        a, a_end, b, b_end = (e.address(pointer) for pointer in found if pointer is not None)
        return Value(f"({a_end} <= {b} or {b_end} <= {a})", INT, truth=True)
    if name in ("polyc_pays", "polyc_threads", "polyc_unjammed", "polyc_several", "polyc_many", "polyc_tiles"):
        return number(1)
    if name == "polyc_ranges":
        return Value("ranges.clear()", INT)
    if name == "polyc_range":
        ends = [e.value(argument).pointer for argument in arguments[:2]]
        if any(pointer is None for pointer in ends):
            return number(0)  # a variable that has no other name
        start, end = (e.address(pointer) for pointer in ends if pointer is not None)
        return Value(f"ranges.append(({start}, {end}, {e.value(arguments[2]).code}))", INT)
    if name == "polyc_all_apart":
        return Value("all_apart(ranges)", INT)
    if name == "polyc_fence":
        return number(0)
    if name == "polyc_stream":
        to, source = e.pointer(arguments[0]), e.pointer(arguments[1])
        size = e.value(arguments[2]).code
        count = f"{closed(size)}//{to.shape.element.size_bytes}"
        if to.shape.element != source.shape.element:
            raise NotUnderstood("a row of another type")
        return Value(f"stream({to.cells}, {to.place}, {source.cells}, {source.place}, {count})", INT)
    if name.startswith("polyc_lookup") and e.lane:
        return looked_up(e, name, arguments)
    raise NotUnderstood(f"a call of {name}")


def looked_up(e: Expressions, name: str, arguments: list[c_ast.Node]) -> Value:
    """One element of what a permutation of two vectors finds."""
    row = e.pointer(arguments[0])
    element = row.shape.element
    if name.startswith("polyc_lookup_"):
        size, index = e.value(arguments[1]).code, e.value(arguments[2]).code
        lanes = e.known.vectors[f"polyc_{name.removeprefix('polyc_lookup_')}"][1] // element.size_bytes
        return Value(f"looked_up({row.cells}, {row.place}, {size}, {index}, {lanes})", element, True)
    index, part = e.value(arguments[1]).code, e.value(arguments[2]).code
    parts = int(name.removeprefix("polyc_lookup").split("_")[0]) // 128
    place = f"{closed(index)} % 128 + 128*({closed(part)} & {parts - 1})"
    return e.of_target(e.element(row, place))
