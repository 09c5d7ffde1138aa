"""Data classes that cost little to define: start-up defines over 300 of them, and a compile uses a third.

The standard library compiles the text of up to seven methods for each class. Here only `__init__` is compiled, when it
is first called; the other methods are functions over the fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, asdict, field, fields, is_dataclass, replace
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, repr=True, kw_only=False):
        """As the standard library's, for classes without `ClassVar` and `InitVar`."""
        if cls is None:
            return lambda cls: _defined(cls, frozen, slots, eq, repr, kw_only)
        return _defined(cls, frozen, slots, eq, repr, kw_only)


def _defined(cls: Any, frozen: bool, slots: bool, eq: bool, repr: bool, kw_only: bool) -> type:
    written = set(vars(cls))
    cls.__doc__ = cls.__doc__ or cls.__name__  # otherwise the standard library makes a text of its signature
    annotations = vars(cls).get("__annotations__", {})
    cls.__annotations__ = dict.fromkeys(annotations, object)  # texts would be searched for ClassVar
    cls = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    cls.__annotations__ = annotations
    for name, kind in annotations.items():
        cls.__dataclass_fields__[name].type = kind
    methods: dict[str, object] = {"__init__": _init_later(cls, frozen)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        values = _values(tuple(f.name for f in fields(cls) if f.compare))
        methods |= {"__eq__": _eq(values), "__hash__": _hash(values) if frozen else None}
    if frozen:
        methods |= {"__setattr__": _no_assignment, "__delattr__": _no_deletion}
        methods |= {"__getstate__": _state, "__setstate__": _set_state} if slots else {}
    for name, method in methods.items():
        if name not in written:
            setattr(cls, name, method)
    return cls  # type: ignore[no-any-return]


def _init_later(cls: Any, frozen: bool) -> Callable[..., None]:
    """An `__init__` that puts the compiled one in its place."""

    def __init__(self: object, *values: object, **named: object) -> None:
        cls.__init__ = _init(cls, frozen)
        cls.__init__(self, *values, **named)

    return __init__


def _init(cls: Any, frozen: bool) -> Callable[..., None]:
    scope: dict[str, Any] = {"_set": object.__setattr__, "_absent": MISSING}
    parameters, named, body = ["self"], ["*"], []
    for f in fields(cls):
        default, value, parameter = f"_default_{f.name}", f.name, f.name
        if f.default_factory is not MISSING:
            scope[default] = f.default_factory
            value = f"{default}() if {f.name} is _absent else {f.name}" if f.init else f"{default}()"
            parameter += "=_absent"
        elif f.default is not MISSING:
            scope[default] = f.default
            value = f.name if f.init else default
            parameter += f"={default}"
        elif not f.init:
            continue
        if f.init:
            (named if f.kw_only else parameters).append(parameter)
        body.append(f"_set(self, {f.name!r}, {value})" if frozen else f"self.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters += named if len(named) > 1 else []
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body or ["pass"]), scope)
    return scope["__init__"]  # type: ignore[no-any-return]


def _values(names: tuple[str, ...]) -> Callable[[object], tuple[object, ...]]:
    """The values that are compared: a tuple, in which an object equals itself."""
    if len(names) == 1:
        only = attrgetter(*names)
        return lambda record: (only(record),)
    return attrgetter(*names) if names else lambda record: ()


def _eq(values: Callable[[object], tuple[object, ...]]) -> Callable[[object, object], bool]:
    return lambda self, other: values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(values: Callable[[object], tuple[object, ...]]) -> Callable[[object], int]:
    return lambda self: hash(values(self))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _no_assignment(_: object, name: str, __: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(_: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, f.name) for f in fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for f, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
