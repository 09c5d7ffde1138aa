"""The text of a machine's description: TOML, with one table for each dataclass below the machine's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import Field
from typing import Any, TypeAlias

from polyc.errors import Diagnostic, Span, UserError
from polyc.machine.cpu import Cpu, Level, Memory
from polyc.machine.gpu import Gpu
from polyc.records import dataclass, fields

CODE = "bad-machine"
Machine: TypeAlias = Gpu | Cpu
"""One dataclass a kind."""
KINDS: dict[str, type[Machine]] = {"gpu": Gpu, "cpu": Cpu}
LISTS: dict[str, type[Level]] = {"tuple[Level, ...]": Level}
"""Fields that are tables in double brackets, by their type: as many as there are, at least one."""
TABLES: dict[str, type[Memory]] = {"Memory": Memory}
"""Fields that are one table."""
MAY_BE_ZERO = {"shared_bytes_reserved_per_block", "tensor_half_gflops", "tensor_tf32_gflops"}
LARGEST = 10**15
"""A larger number is a slip of the pen, or leads to numbers that are infinite."""


@dataclass(frozen=True, slots=True)
class _Table:
    """Where keys stand: at the top of a file, or in a table of it."""

    text: str
    file: str
    name: str = ""
    """Of the table; "" for the top of the file."""
    number: int = 0
    """Which one of this name, from 0."""

    @property
    def shown(self) -> str:
        return f"[[{self.name}]]" if self.name in _list_names() else f"[{self.name}]"

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines of this table with their numbers from 1, its header first."""
        here, left = not self.name, self.number
        for number, line in enumerate(self.text.splitlines(), 1):
            header = re.match(r"\s*\[+\s*[\"']?([\w.-]+)[\"']?\s*\]", line)
            if header is not None:
                here = header.group(1) == self.name and left == 0
                left -= header.group(1) == self.name
            if here:
                yield number, line

    def line_of(self, key: str) -> int:
        """The line on which a key stands, or that of the table's header where it does not, or 1."""
        lines = list(self.lines())
        at = (number for number, line in lines if re.match(rf"\s*\[*\s*[\"']?{re.escape(key)}\b", line))
        header = lines[0][0] if self.name and lines else self.line_of_table(self.name or key)
        return next(at, header)

    def line_of_table(self, name: str) -> int:
        """The line of the first table with a name, in whatever form; 1 where there is none."""
        lines = enumerate(self.text.splitlines(), 1)
        return next((n for n, line in lines if re.match(rf"\s*\[*\s*[\"']?{re.escape(name)}\b", line)), 1)

    def diagnostic(self, key: str, message: str, hint: str) -> Diagnostic:
        return diagnostic(self.file, self.line_of(key), message, hint)


def _list_names() -> set[str]:
    return {field.name for kind in KINDS.values() for field in fields(kind) if str(field.type) in LISTS}


def read(text: str, file: str) -> Machine:
    """The machine that a TOML text describes; `file` is where it stands. Raises UserError with every problem."""
    import tomllib

    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _not_toml(text, file, str(problem)) from None
    except (RecursionError, ValueError) as problem:  # brackets in brackets, numbers with thousands of digits
        raise _not_toml(
            text, file, "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        ) from None
    top = _Table(text, file)
    kind = values.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        known = " or ".join(f'"{name}"' for name in KINDS)
        said = "'kind' is missing" if kind is None else f"'kind' is {kind!r}, which polyc does not know"
        raise UserError([top.diagnostic("kind", said, f"write: kind = {known}")])
    problems: list[Diagnostic] = []
    made = _made(KINDS[kind], values, top, problems)
    if not problems:
        machine = KINDS[kind](**made)
        problems += (_Table(text, file, *place).diagnostic(key, said, hint) for place, key, said, hint in _odd(machine))
        if not problems:
            return machine
    raise UserError(sorted(problems, key=lambda p: (p.span.line if p.span else 0, p.message)))


def kind_line(text: str) -> int:
    """The line that says what kind of machine a text describes."""
    return _Table(text, "").line_of("kind")


def _odd(machine: Machine) -> Iterator[tuple[tuple[str, int], str, str, str]]:
    """Values that do not fit to each other: the table and its number, the key, what is wrong, what to do."""
    if isinstance(machine, Gpu):
        found = machine.contradiction()
        yield from [] if found is None else [(("", 0), *found, "compare with the files that polyc ships")]
    else:
        for table, number, key, said in machine.contradictions():
            yield (table, number), key, said, "compare with the files that polyc ships"


def _made(kind: type, values: dict[str, Any], table: _Table, problems: list[Diagnostic]) -> dict[str, Any]:
    """The arguments of a dataclass. What is wrong with the values goes to `problems`."""
    wanted: dict[str, Field[Any]] = {field.name: field for field in fields(kind)}
    made: dict[str, Any] = {}
    for name, value in values.items():
        if name not in wanted:
            problems.append(table.diagnostic(name, f"unknown key '{name}'", _nearest(name, list(wanted))))
            continue
        field = wanted[name]
        if str(field.type) in LISTS or str(field.type) in TABLES:
            made[name] = _tables(field, value, table, problems)
        elif (problem := _type_problem(field, value)) is not None:
            problems.append(table.diagnostic(name, f"'{name}' {problem[0]}", problem[1]))
        else:
            made[name] = float(value) if field.type == "float" else value
    within = f" in {table.shown}" if table.name else ""
    for name, field in wanted.items():
        if name not in values:
            line = table.line_of("") if table.name else 1
            hint = f"write: {_example(field)}"
            problems.append(diagnostic(table.file, line, f"the key '{name}' is missing{within}", hint))
    return made


def _tables(field: Field[Any], value: Any, top: _Table, problems: list[Diagnostic]) -> Any:
    """The dataclass of a table, or the tuple of them for several."""
    several = str(field.type) in LISTS
    listed = value if several and isinstance(value, list) else [] if several else [value]
    if not listed or not all(isinstance(one, dict) for one in listed):
        wanted = "one or more tables" if several else "a table"
        problems.append(top.diagnostic(field.name, f"'{field.name}' has to be {wanted}", f"write: {_example(field)}"))
        return None
    kind = LISTS[str(field.type)] if several else TABLES[str(field.type)]
    before = len(problems)
    found = [_made(kind, one, _Table(top.text, top.file, field.name, n), problems) for n, one in enumerate(listed)]
    if len(problems) > before:
        return None
    made = tuple(kind(**one) for one in found)
    return made if several else made[0]


def _example(field: Field[Any]) -> str:
    kind = str(field.type)
    if kind in LISTS:
        return f"[[{field.name}]], and below it the keys {', '.join(f.name for f in fields(LISTS[kind]))}"
    if kind in TABLES:
        return f"[{field.name}], and below it the keys {', '.join(f.name for f in fields(TABLES[kind]))}"
    return f'{field.name} = "…"' if kind == "str" else f"{field.name} = …"


def _type_problem(field: Field[Any], value: Any) -> tuple[str, str] | None:
    """What is wrong with a value, and what to do."""
    if field.type == "str":
        return None if isinstance(value, str) else ("has to be a text", f'write: {field.name} = "{value}"')
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or (field.type == "int" and not isinstance(value, int)):
        kind = "a whole number" if field.type == "int" else "a number"
        return f"has to be {kind}, and is {value!r}", "numbers stand without quotes"
    least = 0 if field.name in MAY_BE_ZERO else 1
    if not (value >= least if least == 0 else value > 0):  # also what is no number
        return f"has to be {'positive' if least else 'at least 0'}, and is {value}", "look at the data sheet"
    if value > LARGEST:
        return f"is too large: {value}", "the unit stands in the key's name"
    return None


def _nearest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1)
    return f"did you mean '{close[0]}'?" if close else f"the keys are kind, {', '.join(known)}"


def _not_toml(text: str, file: str, message: str) -> UserError:
    """tomllib says the place in words: `… (at line 3, column 7)`, or `(at end of document)`."""
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    line, column = (int(place.group(1)), int(place.group(2))) if place else (len(text.splitlines()) or 1, 1)
    said = re.sub(r" \(at [^()]*\)$", "", message)
    hint = "a line is: key = value, and text stands in quotes"
    return UserError([diagnostic(file, line, f"this is not TOML: {said}", hint, column)])


def diagnostic(file: str, line: int, message: str, hint: str, column: int = 1) -> Diagnostic:
    return Diagnostic(CODE, message, Span(file, line, column), hint)
