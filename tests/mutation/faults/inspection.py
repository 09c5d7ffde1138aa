"""Faults of what asks the data: too little, of other iterations, of another index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.inspecting as inspecting
from polyc.model import ctree as c
from polyc.model.program import Options
from polyc.model.scop import Inspection, Region, Scop, Statement
from polyc.model.tree import Domain
from tests.mutation.install import Install, adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def asked_as(change: Callable[[Inspection], Scop]) -> Install:
    """What asks is another region."""

    def make(original: Any) -> Any:
        def question_for(region: Region, options: Options) -> Any:
            inspection = region.scop.inspection
            assert inspection is not None
            other = replace(region.scop, inspection=replace(inspection, scop=change(inspection)))
            return original(replace(region, scop=other), options)

        return question_for

    return patched(inspecting, "question_for", make)


def statements(change: Callable[[Statement], Statement]) -> Install:
    def at(inspection: Inspection) -> Scop:
        scop = inspection.scop
        return replace(scop, statements={name: change(s) for name, s in scop.statements.items()})

    return asked_as(at)


def in_body(change: Callable[[c.Node], c.Node | None]) -> Install:
    return statements(lambda s: replace(s, body=c.rewrite(s.body, change)))


def one_more(node: c.Node) -> c.Node | None:
    match node:
        case c.Binary(op="<", left=left, right=right):
            return c.Binary("<", left, c.Binary("+", right, c.Literal("1")))
    return None


def up_to_the_row(node: c.Node) -> c.Node | None:
    return replace(node, op="<=") if isinstance(node, c.Binary) and node.op == "<" else None


def from_below(node: c.Node) -> c.Node | None:
    match node:
        case c.Binary(op="<=", left=c.Literal(), right=right):
            return c.Binary("<=", c.Literal("-1"), right)
    return None


def always(node: c.Node) -> c.Node | None:
    match node:
        case c.Assign(op="&=", target=target):
            return c.Assign("&=", target, c.Literal("1"))
    return None


def next_index(node: c.Node) -> c.Node | None:
    match node:
        case c.Assign(op="=", target=target, value=value):
            return c.Assign("=", target, c.Binary("-", value, c.Literal("1")))
    return None


def without_first_rows(inspection: Inspection) -> Scop:
    """The first iteration of each outer loop is not asked for."""
    scop = inspection.scop
    tree = scop.tree
    found: dict[str, Statement] = {}
    domain = isl.UnionSet.empty(tree.domain.get_space())
    for name, statement in scop.statements.items():
        later = statement.domain.lower_bound_val(isl.dim_type.set, 0, isl.Val.one(statement.domain.get_ctx()))
        accesses = tuple(replace(a, relation=a.relation.intersect_domain(later)) for a in statement.accesses)
        found[name] = replace(statement, domain=later, accesses=accesses)
        domain = domain.union(isl.UnionSet.from_set(later))
    return replace(scop, statements=found, tree=Domain(domain, tree.child))


add("inspection", "a row of one element more", "", in_body(one_more))
add("inspection", "the row's end is in it", "", in_body(up_to_the_row))
add("inspection", "what stands before the row is in it", "", in_body(from_below))
add("inspection", "nothing is asked", "", in_body(always))
add("inspection", "another index", "", in_body(next_index))
add("inspection", "first iterations not asked for", "", asked_as(without_first_rows))
