"""The decorator for data classes, against the standard library's."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from polyc import records


def defined(decorator: Any) -> dict[str, Any]:
    """Classes of all forms that polyc has, made by a decorator."""

    @decorator(frozen=True, slots=True)
    class Point:
        x: int
        y: list[int] = dataclasses.field(default_factory=list, compare=False)
        label: str = dataclasses.field(default="p", repr=False)

    @decorator(frozen=True, slots=True)
    class Named(Point):
        name: str = dataclasses.field(default="n", kw_only=True)

    @decorator(slots=True)
    class Counter:
        start: int
        count: int = dataclasses.field(init=False)
        seen: dict[str, int] = dataclasses.field(default_factory=dict, init=False)

        def __post_init__(self) -> None:
            self.count = self.start + 1

    @decorator(frozen=True, eq=False)
    class Identity:
        """One that is equal to itself only."""

        value: int

        def __repr__(self) -> str:
            return f"<{self.value}>"

    @decorator(frozen=True, slots=True)
    class Empty:
        pass

    @decorator(frozen=True, slots=True, kw_only=True)
    class Spelled:
        x: int = 1
        y: int

    return {c.__name__: c for c in (Point, Named, Counter, Identity, Empty, Spelled)}


@pytest.fixture(params=[dataclasses.dataclass, records.dataclass], ids=["standard", "records"])
def classes(request: pytest.FixtureRequest) -> dict[str, Any]:
    return defined(request.param)


def test_values(classes: dict[str, Any]) -> None:
    point, named = classes["Point"], classes["Named"]
    assert point(1) == point(1, [2]) != point(2)
    assert hash(point(1)) == hash(point(1, [2]))
    assert point(1) != named(1)
    assert named(1, [3], name="a").name == "a"
    assert point(float("nan")) != point(float("nan"))
    assert dataclasses.replace(point(1), x=5).x == 5
    assert [f.name for f in dataclasses.fields(named)] == ["x", "y", "label", "name"]
    assert dataclasses.asdict(point(1)) == {"x": 1, "y": [], "label": "p"}
    assert classes["Empty"]() == classes["Empty"]()
    assert classes["Spelled"](y=2).x == 1
    assert point.__match_args__ == ("x", "y", "label")
    assert {f.type for f in dataclasses.fields(point)} == {"int", "list[int]", "str"}


def test_lists_of_their_own(classes: dict[str, Any]) -> None:
    first, second = classes["Point"](1), classes["Point"](1)
    first.y.append(1)
    assert second.y == []


def test_fields_that_are_no_parameters(classes: dict[str, Any]) -> None:
    counter = classes["Counter"](start=3)
    counter.start = 7
    assert (counter.start, counter.count, counter.seen) == (7, 4, {})
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)
    with pytest.raises(TypeError, match=r"__init__\(\) got an unexpected keyword argument 'count'"):
        classes["Counter"](1, count=3)
    with pytest.raises(AttributeError):
        counter.other = 1


def test_frozen(classes: dict[str, Any]) -> None:
    point = classes["Point"](1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x


def test_texts(classes: dict[str, Any]) -> None:
    place = "defined.<locals>."
    assert repr(classes["Named"](1, [2])) == f"{place}Named(x=1, y=[2], name='n')"
    assert repr(classes["Identity"](1)) == "<1>"
    assert classes["Identity"](1) != classes["Identity"](1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        classes["Point"]()


@records.dataclass(frozen=True, slots=True)
class Kept:
    """One that pickle finds."""

    x: int
    y: tuple[int, ...] = ()


def test_pickles() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, (2,)))) == Kept(1, (2,))
