"""`switch` as a chain of branches, where each of its cases ends by itself.

rewrite:  switch (e) { case 0: case 1: S; break; default: T; }  ->  if (e == 0 || e == 1) { S } else { T }
requires: e has no side effects; each case ends with `break` or `return`, and has no other `break` of the switch
"""

from __future__ import annotations

from copy import deepcopy
from functools import reduce

from pycparser import c_ast

from polyc.frontend.text.trees import walk

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_EFFECTS = (c_ast.FuncCall, c_ast.Assignment, c_ast.ExprList)
Case = tuple[list[c_ast.Node | None], list[c_ast.Node]]
"""The values of a case, None for `default`, and its statements."""


def with_branches(node: c_ast.Node) -> None:
    """Replace the switches below a node, the inner ones first."""
    for inner in node:
        with_branches(inner)
    for name in node.__slots__:
        value = getattr(node, name, None)
        if isinstance(value, c_ast.Switch):
            setattr(node, name, branches_of(value))
        elif isinstance(value, list):
            setattr(node, name, [branches_of(one) if isinstance(one, c_ast.Switch) else one for one in value])


def branches_of(switch: c_ast.Switch) -> c_ast.Node:
    """The branches that a switch is; itself where it is none."""
    cases = cases_of(switch)
    if cases is None or any(isinstance(node, _EFFECTS) or is_step(node) for node in walk(switch.cond)):
        return switch
    blocks = [(values, c_ast.Compound(statements, switch.coord)) for values, statements in cases]
    found: c_ast.Node | None = next((block for values, block in blocks if None in values), None)
    for values, block in reversed([one for one in blocks if None not in one[0]]):
        tests = [c_ast.BinaryOp("==", deepcopy(switch.cond), value, switch.coord) for value in values]
        test = reduce(lambda one, two: c_ast.BinaryOp("||", one, two, switch.coord), tests)
        found = c_ast.If(test, block, found, switch.coord)
    return switch if found is None else found


def cases_of(switch: c_ast.Switch) -> list[Case] | None:
    """The cases in order, without their `break`; None where one runs into the next, or is left from inside."""
    if not isinstance(switch.stmt, c_ast.Compound):
        return None
    found: list[Case] = []
    for item in switch.stmt.block_items or []:
        if isinstance(item, c_ast.Case | c_ast.Default):
            if not found or found[-1][1]:
                found.append(([], []))
            found[-1][0].append(item.expr if isinstance(item, c_ast.Case) else None)
            found[-1][1].extend(item.stmts or [])
        elif not found or isinstance(item, c_ast.Decl | c_ast.DeclList | c_ast.Typedef):
            return None  # a variable of all that follow
        else:
            found[-1][1].append(item)
    cases: list[Case] = []
    for number, (values, statements) in enumerate(found):
        rest = without_break(statements)
        if rest is None and not (statements and ends(statements[-1])) and number < len(found) - 1:
            return None
        cases.append((values, statements if rest is None else rest))
    inside = [one for _, statements in cases for one in statements]
    labels = (c_ast.Case, c_ast.Default, c_ast.Label)
    if any(isinstance(node, labels) for one in inside for node in walk(one)) or any(map(breaks, inside)):
        return None
    return cases


def breaks(node: c_ast.Node) -> bool:
    """Whether a `break` of the switch stands in a statement: of no loop inside."""
    if isinstance(node, c_ast.Break):
        return True
    return not isinstance(node, _LOOPS) and any(map(breaks, node))


def without_break(statements: list[c_ast.Node]) -> list[c_ast.Node] | None:
    """The statements before a `break` at the end, also at the end of a block; None where there is none."""
    last = statements[-1] if statements else None
    if isinstance(last, c_ast.Compound):
        inner = without_break(list(last.block_items or []))
        return None if inner is None else [*statements[:-1], c_ast.Compound(inner, last.coord)]
    return statements[:-1] if isinstance(last, c_ast.Break) else None


def ends(node: c_ast.Node) -> bool:
    """Whether a statement leaves the function."""
    if isinstance(node, c_ast.Compound) and node.block_items:
        return ends(node.block_items[-1])
    return isinstance(node, c_ast.Return)


def is_step(node: c_ast.Node) -> bool:
    """Whether an expression counts."""
    return isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--")
