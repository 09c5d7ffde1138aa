"""What a translated text calls: operations on values as `memory.py` has them, and what C's own do."""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from polyc.replay.machine.memory import PRIME, Cells, Machine, Outside, Raced, Record, Value

NUMBER, WHOLE, NEGATED, ROUNDED = 1, 2, 7, 8
"""Operations: what a constant is, a floating value made whole, one with another sign, one in a narrower type."""
SMALL = 1 << 31
"""Residues nearer to 0 are whole numbers: those of other values are so near once in a billion."""


class Numbers(dict[Fraction | int, int]):
    """The floating values of numbers that are known; 0 is 0."""

    __slots__ = ("exact", "machine")

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.machine = machine
        self.exact: dict[int, Fraction] = {0: Fraction(0)}
        """The numbers by their floating values. What has one of these came from here; of residues, only the constants
        with fractions, which are here before anything runs."""

    def __missing__(self, number: Fraction | int) -> int:
        exact = Fraction(number)
        if self.machine.residues:
            found = exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME
        else:
            found = 0 if not exact else hash((NUMBER, exact.numerator, exact.denominator))
        if not self.machine.residues:
            self.exact[found] = exact
        elif exact.denominator != 1:
            self.exact |= {found: exact, PRIME - found: -exact}
        if self.machine.tracer is not None:
            self.machine.tracer.terms[found] = ("number", float(exact))
        self[number] = found
        return found


def narrowed(exact: Fraction, size_bytes: int) -> Fraction:
    """A number in a floating type."""
    letter = {2: "e", 4: "f"}.get(size_bytes)
    if letter is None:
        return exact
    try:
        return Fraction(struct.unpack(letter, struct.pack(letter, float(exact)))[0])
    except (OverflowError, ValueError):
        return exact


def hashing(machine: Machine) -> Callable[[tuple[Any, ...]], int]:
    """What makes a value of an operation and its operands."""
    return hash if machine.tracer is None else machine.tracer.hashed


def arithmetic(machine: Machine, numbers: Numbers) -> dict[str, Any]:
    """The operations on floating values."""
    narrow: set[int] = set()
    """Values that a narrower type has held."""
    hashed = hashing(machine)

    def exact(value: int) -> Fraction | None:
        """The number that a floating value is known to be. The value alone decides, not what was computed before."""
        if machine.residues and -SMALL < centred(value) < SMALL:
            return Fraction(centred(value))
        return numbers.exact.get(value)

    def whole(value: int) -> int:
        """A floating value as a whole number: without its fraction, or a small one that stands for its operations."""
        number = exact(value)
        return (hashed((WHOLE, value)) >> 3) % machine.most if number is None else int(number)

    def centred(value: int) -> int:
        """Places residues in an order in which half of them are below 0."""
        return value if value <= PRIME // 2 else value - PRIME

    def add(op: int, one: int, other: int) -> int:
        return hashed((op, one, other)) if one and other else one or other

    def subtract(op: int, one: int, other: int) -> int:
        return hashed((op, one, other)) if other else one

    def multiply(op: int, one: int, other: int) -> int:
        return hashed((op, one, other)) if one and other else 0

    def negated(one: int) -> int:
        number = exact(one)
        return hashed((NEGATED, one)) if number is None else numbers[-number]

    def rounded(size_bytes: int, one: int) -> int:
        """A value in a narrower type."""
        if one in narrow:
            return one
        number = exact(one)
        return hashed((ROUNDED, size_bytes, one)) if number is None else numbers[narrowed(number, size_bytes)]

    def widened(one: int) -> int:
        """A value of a narrower type in a wider one: nothing is lost if it comes back."""
        narrow.add(one)
        return one

    return {
        "whole": whole,
        "centred": centred,
        "add": add,
        "subtract": subtract,
        "multiply": multiply,
        "negated": negated,
        "rounded": rounded,
        "widened": widened,
    }


def operations(machine: Machine) -> dict[str, Any]:
    """The functions and tables that a translated text calls, by their names in it."""
    numbers, hashed = Numbers(machine), hashing(machine)

    def alone(seen: dict[str, int], name: str, iteration: int) -> None:
        """One iteration of a parallel loop writes a variable: no other one has written it in the same run."""
        if seen.setdefault(name, iteration) != iteration:
            raise Raced(f"iterations of a parallel loop share '{name}'")

    def called(function: int, *arguments: Value) -> int:
        found = hashed((function, *arguments))
        return found % PRIME if machine.residues else found

    def effect(function: int, *arguments: Value) -> int:
        """A call that does something to the world: which one, after which others."""
        machine.world = hashed((function, machine.world, *arguments))
        return machine.world % PRIME if machine.residues else machine.world

    def stream(target: Cells, to: int, source: Cells, start: int, count: int) -> None:
        if count > 0:
            machine.step(count)
        for number, value in enumerate([source[start + k] for k in range(count)]):
            target[to + number] = value.copied() if isinstance(value, Record) else value

    def fill(target: Cells, to: int, count: int, value: Value) -> None:
        if count > 0:
            machine.step(count)
        for number in range(count):
            target[to + number] = value

    return {
        "H": hashed,
        "F": numbers,
        **arithmetic(machine, numbers),
        "alone": alone,
        "called": called,
        "effect": effect,
        "stream": stream,
        "fill": fill,
        "quotient": quotient,
        "remainder": remainder,
        "put": put,
        "looked_up": looked_up,
        "ranges": [],
        "all_apart": all_apart,
        "within": within,
        "P": PRIME,
        "rounds": machine.rounds,
        "step": machine.step,
        "parallel": machine.parallel,
        "atomic": machine.atomic,
        "buffer": machine.buffer,
        "allocated": machine.allocated,
        "unset": machine.unset,
        "record": machine.record,
        "unknown": machine.unknown,
        "covered": machine.covered.add,
        "Record": Record,
        "M": machine,
    }


def all_apart(ranges: list[tuple[int, int, int]]) -> int:
    """Whether no range that is written overlaps another one."""
    end = written_end = -(1 << 62)
    for start, stop, written in sorted(one for one in ranges if one[0] < one[1]):
        if start < (end if written else written_end):
            return 0
        end, written_end = max(end, stop), max(written_end, stop) if written else written_end
    return 1


def quotient(one: int, other: int) -> int:
    """C's division."""
    if not other:
        raise Outside("division by zero")
    found = abs(one) // abs(other)
    return found if (one < 0) == (other < 0) else -found


def remainder(one: int, other: int) -> int:
    return one - quotient(one, other) * other


def looked_up(cells: Cells, row: int, size: int, index: int, lanes: int) -> Value:
    """An element of two vectors, the first and the last ones of a row, as the permutation of gcc finds it."""
    index = (index + (2 * lanes - size if index > lanes - 1 else 0)) % (2 * lanes)
    return cells[row + (index if index < lanes else size - 2 * lanes + index)]


def within(index: int, extent: int) -> int:
    """A subscript that stays in its dimension. Raises Outside."""
    if not 0 <= index < extent:
        raise Outside(f"a subscript {index} of {extent}")
    return index


def put(cells: Any, place: Any, value: Value) -> Value:
    """An assignment inside of an expression."""
    cells[place] = value
    return value
