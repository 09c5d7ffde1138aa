"""Sizes that a replay runs: small ones first, then some beyond the tiles' own."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import islpy as isl

from polyc.model.scop import Scop
from polyc.poly import greatest_of, least_of
from polyc.records import dataclass, field
from polyc.runtime.csource import plain_name
from polyc.runtime.sizes import Made, as_dimensions, closest, feasible, has, made_of, near, with_memory

FEW = ((4, 5, 3, 6, 7), (1,), (2, 3), (0, 2), (9, 11, 8, 10, 13), (7, 3, 5), (2, 12, 9))
"""Values for the parameters, in turn."""
MORE = ((13, 14, 12), (17, 11, 15), (23, 19, 21), (35, 37, 34))
OTHERS = (4, 3, 5)
"""Values of the other parameters, where one is chosen so that something runs."""
LARGEST = 700
_NUMBER = re.compile(r"(?<![\w.])(\d+)L?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(slots=True, eq=False)
class Sizes:
    """Values of the parameters that keep what is known of them, by their names in isl; each once."""

    scop: Scop
    names: tuple[str, ...] = field(init=False)
    printed: tuple[str, ...] = field(init=False)
    allowed: isl.Set = field(init=False)
    made: Made = field(init=False)
    answers: tuple[int, ...] = field(init=False)
    """Positions of the parameters that answer comparisons, 0 or 1."""
    turn: int = 0
    """How many sizes were wanted so far: its bits are the answers."""
    seen: set[tuple[int, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.names = tuple(parameter.name for parameter in self.scop.parameters)
        self.printed = tuple(plain_name(parameter) for parameter in self.scop.parameters)
        self.made = made_of(self.scop)
        self.answers = tuple(k for k, parameter in enumerate(self.scop.parameters) if parameter.is_answer)
        self.allowed = as_dimensions(with_memory(self.scop.context.params(), self.scop), self.names)

    def first(self) -> Iterator[dict[str, int]]:
        """Small ones."""
        for few in FEW if self.names else ((),):
            yield from self.near(tuple(few[k % len(few)] for k in range(len(self.names))))

    def more(self) -> Iterator[dict[str, int]]:
        """Larger ones, with several tiles and with parts of them, where they cost little."""
        for few in MORE if self.names else ():
            yield from self.near(tuple(few[k % len(few)] for k in range(len(self.names))))

    def feasible(self) -> Iterator[dict[str, int]]:
        """Sizes with which each access stays in its array, as far as the model knows."""
        found = feasible(self.scop)
        for size in (4, 7, 12, 2):
            values = near(found, size)
            if values is not None:
                yield from self.once(values)

    def reaching(self, line: str) -> Iterator[dict[str, int]]:
        """Sizes with which a condition or a loop with that text may run."""
        words = set(_WORD.findall(line))
        wanted = [k for k, name in enumerate(self.printed) if name in words] or list(range(len(self.names)))
        numbers = {int(number) for number in _NUMBER.findall(line)}
        for number in sorted((n for n in numbers if 1 < n <= LARGEST), reverse=True)[:2]:
            for large in (number + 1, 2 * number + 3, *([number - 1] if number < 20 else [])):
                if len(wanted) > 1:
                    yield from self.near(self.filled(dict.fromkeys(wanted, large)))
                for position in wanted:
                    yield from self.near(self.filled({position: large}))

    def filled(self, values: dict[int, int]) -> tuple[int, ...]:
        return tuple(values.get(k, OTHERS[k % len(OTHERS)]) for k in range(len(self.names)))

    def near(self, wanted: tuple[int, ...]) -> Iterator[dict[str, int]]:
        self.turn += 1
        bits = {position: self.turn >> k & 1 for k, position in enumerate(self.answers)}
        bits |= {k: 1 for k, one in enumerate(self.scop.parameters) if one.computed}  # the region has none of these
        found = _allowed(self.allowed, tuple(bits.get(k, value) for k, value in enumerate(wanted)))
        if found is not None:
            yield from self.once(dict(zip(self.names, found, strict=True)))

    def once(self, values: dict[str, int]) -> Iterator[dict[str, int]]:
        """Values, if they are new, such that those which are made of others are."""
        fitting = self.made.near(self.allowed, values)
        found = tuple(fitting[name] for name in self.names) if fitting is not None else None
        if fitting is not None and found is not None and found not in self.seen:
            self.seen.add(found)
            yield fitting


def least_iterations(scop: Scop) -> int:
    """How often an innermost loop of the region runs at the least, whatever the parameters are: of loops over boxes."""
    found = 0
    for statement in scop.statements.values():
        domain = statement.domain
        if domain.is_box() and not domain.involves_dims(isl.dim_type.param, 0, domain.dim(isl.dim_type.param)):
            ends = [(least_of(domain, k), greatest_of(domain, k)) for k in range(domain.dim(isl.dim_type.set))]
            found = max(found, math.prod(int(last.to_python() - first.to_python()) + 1 for first, last in ends))
    return found


def _allowed(allowed: isl.Set, wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """The values that are wanted, or what is close to them."""
    if has(allowed, wanted):
        return wanted
    found: list[int] = []
    for position, value in enumerate(wanted):
        if allowed.is_empty():
            return None
        near = closest(allowed, position, value)
        allowed = allowed.fix_val(isl.dim_type.set, position, isl.Val.int_from_si(allowed.get_ctx(), near))
        found.append(near)
    return tuple(found)
