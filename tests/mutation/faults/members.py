"""Faults of members of arrays of structs that are arrays of their own."""

from __future__ import annotations

from typing import Any

import polyc.analysis.members as members
import polyc.codegen.render as render
from polyc.model import ctree as c
from polyc.records import replace
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def always(original: Any) -> Any:
    return lambda statement, ref: True


def first_index(original: Any) -> Any:
    """The subscripts of a member that is an array are lost."""

    def relation(self: Any, statement: Any, access: Any, part: Any) -> Any:
        return original(self, statement, access, replace(part, indices=(c.Literal("0"),) * len(part.indices)))

    return relation


def another_element(original: Any) -> Any:
    """Members are printed of the first element."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Member(base=c.ArrayRef(subscripts=(_, *rest)) as base):
                return replace(node, base=replace(base, subscripts=(c.Literal("0"), *rest)))
        return None

    def with_members(body: Any, scop: Any) -> Any:
        found = original(body, scop)
        return found if found is body else tuple(c.rewrite(item, change) for item in found)

    return with_members


add("members", "what may be written is", "", patched(members, "is_set", always))
add("members", "the first number", "", patched(members._Parting, "relation", first_index))
add("members", "printed of another element", "", patched(render, "with_members", another_element))
