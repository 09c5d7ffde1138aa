"""The C text of a generated program.

Values stay defined: signed integers are reduced before they can overflow, floats are never converted to integers,
roots are taken of absolute values, and divisors are constants.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count

from tests.fuzz import helpers
from tests.fuzz.layout import Layout
from tests.fuzz.model import (
    FLOATS,
    Access,
    Array,
    Assert,
    Assign,
    Call,
    Choose,
    Clamp,
    Compare,
    Condition,
    Cover,
    Data,
    Declare,
    Exchange,
    Extreme,
    Fresh,
    If,
    Index,
    Item,
    Let,
    Linear,
    Logic,
    Loop,
    Number,
    Op,
    Position,
    Product,
    Program,
    Quasi,
    Read,
    Repeat,
    Stop,
    Temporary,
    Ternary,
    Total,
    Update,
    Value,
    Wrap,
    counters,
    nodes,
    reads_after,
)

HEAD = "#include <assert.h>\n#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n"
MACROS = "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
CONSTANTS = ("0.3", "1.7", "-0.6", "2.1", "0.07", "-1.3", "0.9")
REDUCED = ("int", "long")
"""Types whose values are kept small, since they must not overflow; narrower ones wrap when they are stored."""


_STEP = re.compile(r"\+= ([2-9])\)")


def text_of(program: Program, layout: Layout, function: str = "kernel") -> str:
    """The whole file."""
    return _Writer(program, layout).file(function)


class _Writer:
    def __init__(self, program: Program, layout: Layout) -> None:
        self.program = program
        self.layout = layout
        self.arrays = {array.name: array for array in program.arrays}
        self.covered = {nest.array for nest in program.nests if isinstance(nest, Cover)}
        self.written = {a.target.array for a in assigns(program.nests)} | self.covered
        self.accumulated = {a.target.array for a in assigns(program.nests) if a.op != "="}
        self.temporaries: dict[str, str] = {}
        self.shared: dict[str, str] = {}
        """The variable of the function that stands for one of a body."""
        self.needed: frozenset[str] = frozenset()
        """The variables of bodies that are used in what is left to write."""
        self.lines: list[str] = []
        self.called: set[str] = set()
        self.rows: dict[tuple[str, str], str] = {}
        """The pointer to a row of a flat array, by the array and the row's number."""
        self.inside: list[str] = []
        """The variables of the loops around."""
        self.packed: dict[int, str] = {}
        """The pointer that goes on where a value is positive, by the identity of the assignment that it is for."""
        self.depth = 0

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line if not line.startswith("#") else line)

    def file(self, function: str) -> str:
        program = self.program
        for type_ in sorted({array.type for array in program.arrays if array.pair}):
            self.put(f"struct {pair_tag(type_)} {{ {type_} x, y; }};")
        for type_ in sorted({array.type for array in program.arrays if self.is_viewed(array)}):
            self.put(f"struct {view_tag(type_)} {{ {type_} *at; int n1, n2, n3; }};")
        for array in program.arrays:
            if array.kind == "global":
                self.put(f"static {self.declaration(array)};")
            if array.kind == "fresh":
                self.put(f"enum {{ {array.name}_length = {linear(self.layout.extents[array.name][0])} }};")
        heading = len(self.lines)
        self.put(f"void {function}({', '.join(self.arguments())})")
        self.put("{")
        self.depth = 1
        for array in program.arrays:
            if array.kind in ("local", "static"):
                self.local(array)
        if outside := counters(program):
            start = " = 0" if program.counters_after else ""
            self.put(f"{program.counter} {', '.join(name + start for name in outside)};")
        for array in program.arrays:
            if array.kind == "local":
                self.put(f"(void){array.name};  /* its reader may be dead */")
        for array in filter(self.is_viewed, program.arrays):
            lengths = ", ".join(f"(int)({linear(extent)})" for extent in self.layout.extents[array.name][1:])
            value = f"{{({array.type} *){array.name}, {lengths}}}"
            self.put(f"struct {view_tag(array.type)} {array.name}_view = {value};")
            self.put(f"const struct {view_tag(array.type)} *{array.name}_of = &{array.name}_view;")
        head = len(self.lines)
        if program.live_out is not None and not program.by_option:  # never of regions that are found
            self.put(f"#pragma polyc live-out({', '.join(program.live_out)})")
        self.mark("scop")
        for number, nest in enumerate(program.nests):
            if program.split and number == program.split:
                self.mark("endscop")
                self.mark("scop")
            if isinstance(nest, Cover):
                self.cover(nest)
            else:
                self.item(nest)
        self.mark("endscop")
        if program.made:
            self.lines[head:] = self.of_others(self.lines[head:])
        for array in program.arrays:
            if array.kind == "local":
                self.after(array)
        if program.counters_after:
            for name in counters(program):
                self.put(f"*after = *after * 0.75 + {name};")
        types = {slot: self.temporaries[name] for name, slot in self.shared.items()}
        for name, type_ in types.items():
            self.lines.insert(head, f"    {type_} {name} = 0;")
            if program.counters_after and counters(program) and program.live_out is None:
                self.put(f"*after = *after * 0.75 + {name};")
        self.depth = 0
        self.put("}")
        if program.called:
            self.lines[heading:] = self.with_calls(self.lines[heading:], function)
        functions = helpers.text_of(self.called)
        nothing = "static volatile int nothing;\n" if "nothing" in "\n".join(self.lines) else ""
        nothing += "#define DO(statement) { statement; }\n" if program.worded else ""
        return HEAD + nothing + (MACROS if program.macro else "") + functions + "\n".join(self.lines) + "\n"

    def of_others(self, region: list[str]) -> list[str]:
        """A region with quotients for its sizes, and variables for its steps, with what these are before it."""
        before: list[str] = []
        for name, type_ in self.program.types:
            kind = type_ if type_ in ("long", "size_t", "unsigned") else "int"
            before.append(f"    {kind} {name}_part = {name} > 0 ? 1 + {name} % 3 : 1;")
            before.append(f"    {kind} {name}_whole = {name} > 0 ? {name} * {name}_part + {name}_part - 1 : {name};")
            region = [re.sub(rf"\b{name}\b", f"({name}_whole / {name}_part)", line) for line in region]
        steps = {step for line in region for step in _STEP.findall(line)}
        before += [f"    {self.program.counter} by_{step} = {step} + nothing;" for step in sorted(steps)]
        names = [line.split()[1] for line in before]
        unused = [f"    (void){name};" for name in names]
        return [*before, *unused, *[_STEP.sub(r"+= by_\1)", line) for line in region]]

    def with_calls(self, lines: list[str], function: str) -> list[str]:
        """A function whose steps are arguments, and one that calls it with two sets of constants: with larger steps
        there are fewer iterations, and no others."""
        steps = sorted({step for line in lines for step in _STEP.findall(line)})
        if not steps:
            return lines
        given = [] if self.arguments() == ["void"] else self.arguments()
        passed = [re.sub(r"\[.*", "", one).strip("() ").split()[-1].strip("*()") for one in given]
        head = ", ".join([*given, *(f"{self.program.counter} by_{step}" for step in steps)])
        own = [f"static void {function}_by({head})", *(_STEP.sub(r"+= by_\1)", line) for line in lines[1:])]
        calls = [f"{function}_by({', '.join([*passed, *(str(int(s) + more) for s in steps)])});" for more in (0, 1)]
        asked = f"({passed[0]}) % 2 == 0" if passed and self.program.types else "1"
        return [*own, lines[0], "{", f"    if ({asked})", f"        {calls[0]}", "    else", f"        {calls[1]}", "}"]

    def mark(self, word: str) -> None:
        """The start or the end of a region, where polyc does not find it itself."""
        if not self.program.detected:
            self.put(f"#pragma {word}")

    def arguments(self) -> list[str]:
        found = [f"{type_} {name}" for name, type_ in self.program.types]
        found += [self.declaration(array) for array in self.program.arrays if array.kind == "argument"]
        if reads_after(self.program):
            found.append("double *after")
        return found or ["void"]

    def declaration(self, array: Array) -> str:
        type_ = self.type_of(array)
        if array.kind == "argument" and array.pointer and array.name not in self.written:
            type_ = f"const {type_}"
        if array.rank == 0:
            return f"{type_} {'*' if array.kind == 'argument' else ''}{array.name}"
        if array.flat:
            return f"{type_} *{array.name}"
        extents = [f"[{linear(extent)}]" for extent in self.layout.extents[array.name]]
        if is_pointer(array):
            name = f"*{array.name}" if array.rank == 1 else f"(*{array.name})"
            return f"{type_} {name}{''.join(extents[1:])}"
        return f"{type_} {array.name}{''.join(extents)}"

    def local(self, array: Array) -> None:
        if array.kind == "static":
            self.put(f"static {self.declaration(array)};")
            return
        if array.rank == 0:
            self.put(f"{self.declaration(array)} = {number(3, array.type)};")
            return
        first = linear(self.layout.extents[array.name][0])
        memory = f" = malloc(({first}) * sizeof *{array.name})" if is_pointer(array) else ""
        self.put(f"{self.declaration(array)}{memory};")
        if array.name in self.covered:
            return
        names = [f"x{k}" for k in range(array.rank)]
        for name, extent in zip(names, self.layout.extents[array.name], strict=True):
            self.put(f"for (int {name} = 0; {name} < {self.signed(extent)}; {name}++)")
            self.depth += 1
        place = "".join(f"[{name}]" for name in names)
        total = " + ".join(f"{3 + 4 * k} * {name}" for k, name in enumerate(names))
        if array.index:
            self.put(f"{array.name}{place} = ({total}) % 5;")
        else:
            value = f"({total}) % 11{' * 0.7' if array.type in FLOATS else ''}"
            both = f"{array.name}{place}.x = {array.name}{place}.y"
            self.put(f"{both if array.pair else f'{array.name}{place}'} = {value};")
        self.depth -= array.rank

    def signed(self, extent: Linear) -> str:
        """The end of a loop that counts in int."""
        return f"(int)({linear(extent)})" if extent.terms else linear(extent)

    def after(self, array: Array) -> None:
        """Sum a local array up, in order, where it is read after the region."""
        if array.read_after:
            self.sum_up(array)
        if is_pointer(array):
            self.put(f"free({array.name});")

    def sum_up(self, array: Array) -> None:
        names = [f"x{k}" for k in range(array.rank)]
        for name, extent in zip(names, self.layout.extents[array.name], strict=True):
            self.put(f"for (int {name} = 0; {name} < {self.signed(extent)}; {name}++)")
            self.depth += 1
        element = f"{array.name}{''.join(f'[{name}]' for name in names)}"
        self.put(f"*after = *after * 0.75 + {f'{element}.x - {element}.y' if array.pair else element};")
        self.depth -= array.rank

    def cover(self, nest: Cover) -> None:
        extents = self.layout.extents[nest.array]
        place = Access(nest.array, tuple(Linear(((name, 1),)) for name in nest.names))
        body: tuple[Item, ...] = (Assign(place, "=", nest.value),)
        if self.arrays[nest.array].pair:
            body += (Assign(replace(place, member="y"), "=", Op("*", Read(place), Number(0))),)
        for name, extent in reversed(list(zip(nest.names, extents, strict=True))):
            body = (Loop(name, Linear(), extent, 1, body),)
        # Its subscripts are the loop variables themselves, which run over the whole array: no offset.
        kept = self.layout.offsets[nest.array]
        self.layout.offsets[nest.array] = tuple(0 for _ in kept)
        self.item(body[0])
        self.layout.offsets[nest.array] = kept

    def body(self, items: tuple[Item, ...], nested: bool = True) -> None:
        """What follows a line that ends in an open brace."""
        self.depth += nested
        outer = self.needed
        for position, item in enumerate(items):
            if self.program.scratch:
                self.needed = outer | {n.name for n in nodes(items[position:]) if isinstance(n, Temporary | Update)}
            self.item(item)
        self.needed = outer
        self.depth -= nested

    def item(self, item: Item) -> None:
        match item:
            case Assign():
                type_ = self.arrays[item.target.array].type
                if self.copies(item) and isinstance(item.value, Read):
                    self.put(f"{self.element(item.target)} = {self.element(item.value.access)};")
                    return
                place = f"*{self.packed[id(item)]}" if id(item) in self.packed else self.place(item.target)
                self.put(f"{place} {item.op} {self.stored(item.value, type_, item.op)};")
                if id(item) in self.packed:
                    self.put(f"if ({place} > 0) {place[1:]}++;")
                if self.program.worded and len(self.lines) % 2:
                    self.lines[-1:] = ["#if 1", self.lines[-1], "#else", "#error there is no other way", "#endif"]
            case Declare():
                value = self.stored(item.value, item.type, "=")
                self.temporaries[item.name] = item.type
                if self.program.scratch:
                    self.put(f"{self.scratch(item)} = {value};")
                else:
                    self.put(f"{item.type} {item.name} = {value};")
            case Fresh():
                array = self.arrays[item.array]
                values = ", ".join(number(value, array.type) for value in item.values)
                self.put(f"{array.type} {array.name}[{array.name}_length]{f' = {{{values}}}' if values else ''};")
            case Update():
                type_ = self.temporaries.get(item.name, "double")
                name = self.shared.get(item.name, item.name)
                self.put(f"{name} {item.op} {self.stored(item.value, type_, item.op)};")
            case Assert(form="assert"):
                self.put(f"assert({self.condition(item.condition)});")
            case Assert():
                self.put(f"if (!({self.condition(item.condition)})) abort();")
            case Exchange(first=first, op=op, second=second):
                one, other = self.element(first), self.element(second)
                self.put(f"if ({one} {op} {other}) {{")
                self.put(f"    {self.arrays[first.array].type} kept = {one};")
                self.put(f"    {one} = {other};")
                self.put(f"    {other} = kept;")
                self.put("}")
            case Stop():
                self.put(f"if ({self.condition(item.condition)}) break;")
            case If(form="continue"):
                self.put(f"const int {item.name} = {self.condition(item.condition)};")
                self.put(f"if (!{item.name}) continue;")
                self.body(item.then, nested=False)
            case If():
                condition = self.condition(item.condition)
                if item.form:
                    self.put(f"const int {item.name} = {condition};")
                    condition = item.name
                self.put(f"if ({condition}) {{")
                self.body(item.then)
                if item.otherwise:
                    self.put("} else {")
                    self.body(item.otherwise)
                self.put("}")
            case Let():
                self.temporary(item)
                for inner in item.body:
                    self.item(inner)
                if item.form == "condition":
                    self.put("}")
            case Loop():
                along = self.walked_along(item)
                others, self.packed = self.packed, self.pack(item)
                begin = len(self.lines)
                self.put(f"for ({self.header(item) if along is None else self.walk(item, along)}) {{")
                if along is not None:
                    self.put(f"    {self.program.counter} {item.name} = {item.name}_to - {along.name};")
                self.inside.append(item.name)
                outer = self.rows
                self.rows = outer | self.rows_of(item)
                self.body(item.body)
                self.inside.pop()
                self.put("}}" if self.packed else "}")
                self.rows, self.packed = outer, others
                if self.program.worded and len(self.lines) == begin + 3 and isinstance(item.body[0], Assign):
                    head, statement, _ = self.lines[begin:]
                    self.lines[begin:] = [f"{head[:-1]}DO({statement.strip()[:-1]});"]
                if self.program.transfers:
                    self.transfer(item)
            case Repeat():
                self.repeat(item)

    def temporary(self, item: Let) -> None:
        if not item.form or not isinstance(item.index, Clamp):
            self.put(f"{item.type} {item.name} = {self.bare(item.index)};")
            return
        name, inner, end = item.name, self.bare(item.index.inner), f"(int)({self.index(item.index.size)})"
        if item.form == "float":
            real = f"{name}_f"
            self.put(f"float {real} = ({inner}) * 0.5f + 0.25f;")
            self.put(f"if ({real} < 0) {real} = 0;")
            self.put(f"if ({real} > {end} - 1) {real} = {end} - 1;")
            self.put(f"{item.type} {name} = (int){real};")
            return
        self.put(f"{item.type.removeprefix('const ')} {name} = {inner};")
        if item.form == "condition":
            self.put(f"if ({name} >= 0 && {name} < {end}) {{")
            return
        self.put(f"if ({name} < 0) {name} = 0;")
        self.put(f"{'else ' if item.form == 'else' else ''}if ({name} >= {end}) {name} = {end} - 1;")

    def rows_of(self, loop: Loop) -> dict[tuple[str, str], str]:
        """Pointers to the rows of flat arrays that an iteration of a loop decides on, which are declared there."""
        if not self.program.rows:
            return {}
        found: dict[tuple[str, str], str] = {}
        for access in (node for node in nodes(loop.body) if isinstance(node, Access)):
            array = self.arrays[access.array]
            numbers = [node for node in nodes(access.subscripts[:-1]) if isinstance(node, Linear)]
            used = {name for number in numbers for name, _ in number.terms}
            known = {*self.inside, *(name for name, _ in self.program.types)}
            if not array.flat or array.helper or loop.name not in used or not used <= known:
                continue
            row = self.row(access)
            if (array.name, row) not in found:
                name = found[array.name, row] = f"{array.name}_row{len(self.lines)}_{len(found)}"
                type_ = array.type if array.name in self.written else f"const {array.type}"
                last = self.lengths(array)[-1]
                self.put(f"    {type_} *{name} = {self.start_of(array)} + {in_brackets(row)} * {in_brackets(last)};")
        return found

    def pack(self, loop: Loop) -> dict[int, str]:
        """Before a loop along rows: a pointer to where each begins, which what is assigned there moves on."""
        found: dict[int, str] = {}
        inside = [id(node) for node in nodes(loop.body)]
        for item in loop.body if self.program.packed and loop.step == 1 else ():
            array = self.arrays[item.target.array] if isinstance(item, Assign) else None
            if not isinstance(item, Assign) or array is None or item.op != "=" or array.index or array.pair:
                continue
            flat = array.rank == 1 or (array.flat and not array.helper)
            once = inside.count(id(item)) == 1 and array.kind != "fresh" and array.name not in self.covered
            if flat and once and runs_along(item.target, loop):
                name = found[id(item)] = f"{array.name}_next{len(self.lines)}"
                base, _, first = self.start(item.target, loop)[1:-1].partition("[")
                if len(found) == 1:  # where no iteration runs, the array may be shorter
                    self.put(f"if ({self.index(loop.high)} > {in_brackets(self.index(loop.low))}) {{")
                self.put(f"{array.type} *{name} = {base} + {in_brackets(first)};")
        return found

    def transfer(self, loop: Loop) -> None:
        """After a loop: the same range of a row that it writes copied from one that it reads, or set to 0."""
        rows = [item.target for item in loop.body if isinstance(item, Assign) and runs_along(item.target, loop)]
        target = next((row for row in rows if not self.arrays[row.array].index), None)
        if target is None:
            return
        array = self.arrays[target.array]
        reads = [
            node.access
            for item in loop.body
            if isinstance(item, Assign)
            for node in nodes(item.value)
            if isinstance(node, Read)
        ]
        others = [r for r in reads if runs_along(r, loop) and r.array != target.array]
        source = next((r for r in others if self.is_alike(self.arrays[r.array], array)), None)
        low, high = self.index(loop.low), self.index(loop.high)
        size = f"({high} - {in_brackets(low)}) * sizeof({self.type_of(array)})"
        if source is not None:
            name = "memmove" if self.program.detected else "memcpy"
            call = f"{name}({self.start(target, loop)}, {self.start(source, loop)}, {size})"
        else:
            call = f"memset({self.start(target, loop)}, 0, {size})"
        self.put(f"if ({high} > {low}) {call};")

    def start(self, row: Access, loop: Loop) -> str:
        """The address of the first element of a row that a loop runs along."""
        last = row.subscripts[-1]
        assert isinstance(last, Linear)
        return f"&{self.element(replace(row, subscripts=(*row.subscripts[:-1], plus(loop.low, last.constant))))}"

    def is_alike(self, one: Array, other: Array) -> bool:
        return (one.type, one.pair) == (other.type, other.pair)

    def type_of(self, array: Array) -> str:
        return f"struct {pair_tag(array.type)}" if array.pair else array.type

    def scratch(self, item: Declare) -> str:
        """The variable of the function for one of a body: the first of its type that nothing below needs."""
        if item.name not in self.shared:
            taken = {self.shared[name] for name in self.needed if name in self.shared}
            slots = (f"v_{item.type.replace(' ', '_')}{number or ''}" for number in count())
            self.shared[item.name] = next(slot for slot in slots if slot not in taken)
        return self.shared[item.name]

    def copies(self, item: Assign) -> bool:
        """Whether whole structs are assigned."""
        if not isinstance(item.value, Read) or item.op != "=" or item.target.member or item.value.access.member:
            return False
        target, source = self.arrays[item.target.array], self.arrays[item.value.access.array]
        return target.pair and source.pair and target.type == source.type

    def walked_along(self, loop: Loop) -> Array | None:
        """The array that a loop walks along with a pointer."""
        if not self.program.walked or loop.step < 0 or loop.outside:
            return None
        return next(
            (a for a in self.program.arrays if is_pointer(a) and (a.rank == 1 or a.flat) and not a.helper), None
        )

    def walk(self, loop: Loop, array: Array) -> str:
        """The head of a loop that goes along an array."""
        name, low, high = f"{loop.name}_to", self.index(loop.low), self.index(loop.high)
        start = f"const {self.type_of(array)} *{name} = {array.name} + {in_brackets(low)}"
        step = f"{name}++" if loop.step == 1 else f"{name} += {loop.step}"
        return f"{start}; {name} < {array.name} + {in_brackets(high)}; {step}"

    def header(self, loop: Loop) -> str:
        name, type_ = loop.name, "" if loop.outside else f"{self.program.counter} "
        low, high = self.index(loop.low), self.index(loop.high)
        last = self.index(plus(loop.high, -1))
        if loop.step < 0:
            step = f"{name}--" if loop.step == -1 else f"{name} -= {-loop.step}"
            test = f"{name} > {self.index(plus(loop.low, -1))}" if loop.form == "<" else f"{name} >= {low}"
            return f"{type_}{name} = {last}; {test}; {step}"
        step = f"{name}++" if loop.step == 1 else f"{name} += {loop.step}"
        if loop.form == "!=" and loop.step == 1 and never_empty(loop):
            return f"{type_}{name} = {low}; {name} != {high}; {step}"
        if self.program.worded and type_ in ("int ", "long ") and loop.step == 1 and loop.form == "<":
            return f"{type_}{name} = {low}, {name}_to = 2 * ({high}) - ({low}); {name} < {name}_to; {step}, {name}_to--"
        test = f"{name} <= {last}" if loop.form == "<=" else f"{name} < {high}"
        return f"{type_}{name} = {low}; {test}; {step}"

    def repeat(self, item: Repeat) -> None:
        match item.form:
            case "while":
                self.put("{")
                self.depth += 1
                self.put(f"int {item.name} = 0;")
                self.put(f"while ({item.name} < {item.times}) {{")
                self.body(item.body)
                self.put(f"    {item.name}++;")
                self.put("}")
                self.depth -= 1
                self.put("}")
            case "do":
                self.put("{")
                self.depth += 1
                self.put(f"int {item.name} = 0;")
                self.put("do {")
                self.body(item.body)
                self.put(f"    {item.name} += 1;")
                self.put(f"}} while ({item.name} < {item.times});")
                self.depth -= 1
                self.put("}")
            case "break":
                self.put(f"for (int {item.name} = 0; {item.name} < {item.times}; {item.name}++) {{")
                self.body(item.body)
                self.put(f"    if ({item.name} > {self.index(item.bound)}) break;")
                self.put("}")
            case _:
                self.put(f"for (int {item.name} = 0; {item.name} < {self.index(item.bound)}; {item.name}++) {{")
                self.body(item.body)
                self.put("}")

    def index(self, index: Index) -> str:
        match index:
            case Linear():
                return linear(index)
            case Quasi():
                return f"{in_brackets(self.index(index.inner))} {index.op} {index.divisor}"
            case Extreme():
                left, right = self.index(index.left), self.index(index.right)
                if self.program.macro:
                    return f"{index.op}({left}, {right})"
                sign = "<" if index.op == "MIN" else ">"
                return f"({left} {sign} {right} ? {left} : {right})"
            case Ternary():
                return f"({self.bare(index)})"
            case Clamp():
                self.called.add(helpers.CLAMPED)
                return f"{helpers.CLAMPED}({self.index(index.inner)}, {self.index(index.size)})"
            case Wrap():
                inner, size = self.index(index.inner), self.index(index.size)
                if not index.helper:
                    return f"{in_brackets(inner)} % {in_brackets(size)}"
                self.called.add(helpers.WRAPPED)
                return f"{helpers.WRAPPED}({inner}, {size})"
            case Total():
                right = self.index(index.right)
                return f"{self.index(index.left)} + {f'({right})' if right.startswith('-') else right}"
            case Data():
                return self.place(Access(index.array, (index.inner,)))
            case Product():
                return f"({in_brackets(self.index(index.left))} * {in_brackets(self.index(index.right))} % 7 + 7) % 7"

    def bare(self, index: Index) -> str:
        """An index that needs no brackets."""
        if not isinstance(index, Ternary):
            return self.index(index)
        values = f"{self.index(index.then)} : {self.index(index.otherwise)}"
        return f"{self.index(index.left)} {index.op} {self.index(index.bound)} ? {values}"

    def place(self, access: Access) -> str:
        member = f".{access.member or 'x'}" if self.arrays[access.array].pair else ""
        return self.element(access) + member

    def element(self, access: Access) -> str:
        array = self.arrays[access.array]
        if array.rank == 0:
            return f"*{array.name}" if array.kind == "argument" else array.name
        subscripts = self.subscripts(access)
        if not array.flat:
            return array.name + "".join(f"[{subscript}]" for subscript in subscripts)
        if array.helper and array.rank == 2:
            self.called.add(helpers.FLAT)
            return f"{self.start_of(array)}[{helpers.FLAT}({', '.join(subscripts)}, {self.lengths(array)[-1]})]"
        row = self.row(access)
        if (array.name, row) in self.rows:
            return f"{self.rows[array.name, row]}[{subscripts[-1]}]"
        return f"{self.start_of(array)}[{self.joined(row, self.lengths(array)[-1], subscripts[-1])}]"

    def subscripts(self, access: Access) -> list[str]:
        shifted = zip(access.subscripts, self.layout.offsets[access.array], strict=True)
        return [self.index(plus(index, offset)) for index, offset in shifted]

    def row(self, access: Access) -> str:
        """The number of an element's row in a flat array."""
        first, *others = self.subscripts(access)[:-1]
        for subscript, extent in zip(others, self.lengths(self.arrays[access.array]), strict=False):
            first = self.joined(first, extent, subscript)
        return first

    def joined(self, total: str, extent: str, subscript: str) -> str:
        right = f"({subscript})" if subscript.startswith("-") else subscript
        return f"{in_brackets(total)} * {in_brackets(extent)} + {right}"

    def is_viewed(self, array: Array) -> bool:
        return self.program.views and array.flat

    def start_of(self, array: Array) -> str:
        return f"{array.name}_of->at" if self.is_viewed(array) else array.name

    def lengths(self, array: Array) -> list[str]:
        """The extents of a flat array but for the first."""
        if self.is_viewed(array):
            return [f"{array.name}_of->n{k}" for k in range(1, array.rank)]
        return [linear(extent) for extent in self.layout.extents[array.name][1:]]

    def condition(self, condition: Condition) -> str:
        match condition:
            case Compare():
                return f"{self.index(condition.left)} {condition.op} {self.index(condition.right)}"
            case Logic("!"):
                return f"!({self.condition(condition.left)})"
            case Logic():
                return f"({self.condition(condition.left)}) {condition.op} ({self.condition(condition.right)})"
            case _:
                left, right = self.value(condition.left, "double"), self.value(condition.right, "double")
                return f"{left} {condition.op} {right}"

    def stored(self, value: Value, type_: str, op: str) -> str:
        text = self.value(value, type_)
        if type_ in REDUCED:
            return f"{in_brackets(text)} % 1009"
        if type_ in FLOATS and op == "=" and isinstance(value, Op) and value.op == "*":
            return f"{text} * 0.25"
        return text

    def value(self, value: Value, type_: str) -> str:
        """An expression for a place of the type."""
        floating = type_ in FLOATS
        match value:
            case Number():
                return number(value.value, type_)
            case Position():
                return self.index(value.index)
            case Read():
                return self.read(self.place(value.access), self.arrays[value.access.array], floating)
            case Temporary():
                known = self.temporaries.get(value.name)
                if known is None:
                    return "1"
                name = self.shared.get(value.name, value.name)
                return f"({name} > 0.25)" if known in FLOATS and not floating else name
            case Op():
                left, right = self.value(value.left, type_), self.value(value.right, type_)
                if value.op == "*":
                    left, right = self.factor(left, value.left, floating), self.factor(right, value.right, floating)
                elif value.op == "-" or right.startswith("-"):
                    right = in_brackets(right)
                return f"{left} {value.op} {right}"
            case Call():
                return self.call(value, type_)
            case Choose():
                condition = self.condition(value.condition)
                return f"({condition} ? {self.value(value.then, type_)} : {self.value(value.otherwise, type_)})"

    def factor(self, text: str, value: Value, floating: bool) -> str:
        if floating or isinstance(value, Number | Position):
            return in_brackets(text)
        return f"({in_brackets(text)} % 97)"

    def read(self, place: str, array: Array, floating: bool) -> str:
        if floating:
            return place
        if array.type in FLOATS:
            return f"({place} > 0.25)"
        return f"{place} % 1009" if array.type in REDUCED and array.name in self.accumulated else place

    def call(self, call: Call, type_: str) -> str:
        arguments = [self.value(argument, type_) for argument in call.args]
        if call.name in helpers.VALUES:
            name = helpers.named(call.name, type_)
            self.called.add(name)
            return f"{name}({arguments[0]}, {arguments[-1]})"
        if type_ not in FLOATS:
            return f"abs({arguments[0]})" if type_ == "int" else in_brackets(arguments[0])
        suffix = "f" if type_ == "float" else ""
        if call.name == "sqrt":
            return f"sqrt{suffix}(fabs{suffix}({arguments[0]}))"
        return f"{call.name}{suffix}({', '.join(arguments)})"


def pair_tag(type_: str) -> str:
    return f"pair_{type_.replace(' ', '_')}"


def view_tag(type_: str) -> str:
    return f"view_{type_.replace(' ', '_')}"


def is_pointer(array: Array) -> bool:
    return array.pointer and array.rank > 0 and array.kind in ("argument", "local")


def number(value: int, type_: str) -> str:
    if type_ in FLOATS:
        return CONSTANTS[value % len(CONSTANTS)] + ("f" if type_ == "float" and value % 2 else "")
    return str(value % 7 - 2) if type_ != "unsigned" else f"{value % 7}u"


def linear(index: Linear) -> str:
    words: list[str] = []
    for name, factor in index.terms:
        size = name if abs(factor) == 1 else f"{abs(factor)} * {name}"
        words.append((f"-{size}" if factor < 0 else size) if not words else f"{'-' if factor < 0 else '+'} {size}")
    if index.constant or not words:
        constant = index.constant
        words.append(str(constant) if not words else f"{'-' if constant < 0 else '+'} {abs(constant)}")
    return " ".join(words)


def plus(index: Index, constant: int) -> Index:
    if isinstance(index, Linear):
        return replace(index, constant=index.constant + constant)
    return Total(index, Linear((), constant)) if constant else index


def runs_along(row: Access, loop: Loop) -> bool:
    """Whether a loop goes from element to element of a row, `a[i][j + 1]` for j."""
    if loop.step not in (1, -1) or not row.subscripts:
        return False
    *others, last = row.subscripts
    if not isinstance(last, Linear) or last.terms != ((loop.name, 1),):
        return False
    inside = [node for node in nodes(tuple(others)) if isinstance(node, Linear)]
    return not any(name == loop.name for node in inside for name, _ in node.terms)


def in_brackets(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def never_empty(loop: Loop) -> bool:
    """Whether `!=` ends: both bounds are constants and in order."""
    low, high = loop.low, loop.high
    if not (isinstance(low, Linear) and isinstance(high, Linear)) or low.terms or high.terms:
        return False
    return low.constant <= high.constant


def walk(items: tuple[Item | Cover, ...]) -> list[Item | Cover]:
    """All items, outer ones first."""
    found: list[Item | Cover] = []
    for item in items:
        found.append(item)
        match item:
            case If():
                found += walk((*item.then, *item.otherwise))
            case Let() | Loop() | Repeat():
                found += walk(item.body)
            case _:
                pass
    return found


def assigns(items: tuple[Item | Cover, ...]) -> list[Assign]:
    return [item for item in walk(items) if isinstance(item, Assign)]
