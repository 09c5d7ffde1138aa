"""Equality by structure: passes rebuild trees that they leave as they were."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from polyc.model.program import Program

STATE = ("tree", "scop", "statements", "buffers", "copies", "padded", "hoisted", "inlined", "relocated")
"""Fields of a Program that decide its text; remarks and groups only tell of it."""


def changed(before: Program, after: Program) -> bool:
    """Whether a pass changed what is printed of a program."""
    return any(not same(getattr(before, name), getattr(after, name)) for name in STATE)


def same_tree(one: Program, other: Program) -> bool:
    """Whether two programs run the same loops, with the same marks."""
    return same(one.tree, other.tree)


def same(one: Any, other: Any) -> bool:
    """Whether two values of the model are equal by structure; isl's objects are, if their texts are."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if type(one).__module__.startswith("islpy"):
        return str(one) == str(other)
    return bool(one == other)
