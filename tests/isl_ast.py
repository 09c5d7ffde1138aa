"""isl's AST, run in Python: the statement instances in the order in which its loops run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

import islpy as isl

from polyc.poly import kind_of, maps, operation_of

Instance = tuple[str, tuple[int, ...]]

_OPERATIONS: dict[str, Callable[[list[int]], int]] = {
    "max": max,
    "min": min,
    "minus": lambda values: -values[0],
    "add": sum,
    "sub": lambda values: values[0] - values[1],
    "mul": prod,
    "div": lambda values: _exact(values[0], values[1]),
    "fdiv_q": lambda values: values[0] // values[1],
    "pdiv_q": lambda values: _positive(values[0]) // values[1],
    "pdiv_r": lambda values: _positive(values[0]) % values[1],
    "zdiv_r": lambda values: values[0] % values[1],
    "eq": lambda values: int(values[0] == values[1]),
    "le": lambda values: int(values[0] <= values[1]),
    "lt": lambda values: int(values[0] < values[1]),
    "ge": lambda values: int(values[0] >= values[1]),
    "gt": lambda values: int(values[0] > values[1]),
}


def run(node: isl.AstNode, values: dict[str, int]) -> Iterator[Instance]:
    """All instances that an AST runs.

    values: of the parameters, and of the loops around it
    """
    match kind_of(node):
        case "for_":
            yield from _loop(node, values)
        case "if_":
            if evaluate(node.if_get_cond(), values):
                yield from run(node.if_get_then_node(), values)
            elif node.if_has_else_node():
                yield from run(node.if_get_else_node(), values)
        case "block":
            children = node.block_get_children()
            for k in range(children.n_ast_node()):
                yield from run(children.get_at(k), values)
        case "mark":
            yield from run(node.mark_get_node(), values)
        case "user":
            call = node.user_get_expr()
            name = str(call.op_get_arg(0).id_get_id().get_name())
            yield name, tuple(evaluate(call.op_get_arg(k), values) for k in range(1, call.op_get_n_arg()))
        case kind:
            raise AssertionError(kind)


def _loop(node: isl.AstNode, values: dict[str, int]) -> Iterator[Instance]:
    name = str(node.for_get_iterator().get_id().get_name())
    here = values | {name: evaluate(node.for_get_init(), values)}
    if node.for_is_degenerate():
        yield from run(node.for_get_body(), here)
        return
    step = evaluate(node.for_get_inc(), here)
    while evaluate(node.for_get_cond(), here):
        yield from run(node.for_get_body(), here)
        here = here | {name: here[name] + step}


def evaluate(expression: isl.AstExpr, values: dict[str, int]) -> int:
    kind = kind_of(expression)
    if kind == "id":
        return values[str(expression.get_id().get_name())]
    if kind == "int":
        return int(expression.get_val().to_python())
    name = operation_of(expression)
    if name in ("cond", "select"):
        chosen = 1 if evaluate(expression.op_get_arg(0), values) else 2
        return evaluate(expression.op_get_arg(chosen), values)
    found = (evaluate(expression.op_get_arg(k), values) for k in range(expression.op_get_n_arg()))
    if name in ("and_", "and_then"):  # as `&&` and `||`: a remainder on the right may be of a number below zero else
        return int(all(found))
    if name in ("or_", "or_else"):
        return int(any(found))
    return _OPERATIONS[name](list(found))


def times(schedule: isl.Schedule, sizes: dict[str, int]) -> dict[Instance, tuple[int, ...]]:
    """When a schedule runs each of its instances, enumerated point by point."""
    found: dict[Instance, tuple[int, ...]] = {}
    for piece in maps(schedule.get_map().intersect_domain(schedule.get_domain())):
        name, count = str(piece.get_tuple_name(isl.dim_type.in_)), piece.dim(isl.dim_type.in_)
        for name_of, value in sizes.items():
            piece = piece.intersect_params(isl.Set(f"[{name_of}] -> {{ : {name_of} = {value} }}"))
        for point in points(piece.wrap().flatten()):
            found[name, point[:count]] = point[count:]
    return found


def points(inside: isl.Set) -> list[tuple[int, ...]]:
    """All points of a set without parameters that matter."""
    found: list[tuple[int, ...]] = []
    dims = range(inside.dim(isl.dim_type.set))

    def add(point: isl.Point) -> None:
        found.append(tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in dims))

    inside.foreach_point(add)
    return found


def _exact(one: int, other: int) -> int:
    assert one % other == 0
    return one // other


def _positive(value: int) -> int:
    assert value >= 0
    return value
