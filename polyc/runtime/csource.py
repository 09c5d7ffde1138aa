"""A region and its result as two C functions of one file, with all their data in an array of pointers.

void polyc_original(void **polyc_args) {
  int n = *(int *)polyc_args[0];
  double (*A)[n] = polyc_args[1];
  double s = *(double *)polyc_args[2];
  …the region…
  *(double *)polyc_args[2] = s;
}
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from polyc.codegen.text.printer import expression
from polyc.model import ctree as c
from polyc.model.scop import Array, Parameter, Region, Scop, Storage
from polyc.records import dataclass
from polyc.runtime.sizes import NoSize, made_of

ORIGINAL, RESULT, ELEMENT_SIZES = "polyc_original", "polyc_result", "polyc_element_sizes"
ROWS = """
#ifndef __cplusplus
extern void *malloc(__SIZE_TYPE__);
#endif
static void *polyc_rows(char *base, int levels, const long *extents, long size)
{
  if (levels == 1)
    return base;
  for (int k = 1; k < levels; k++)
    size *= extents[k];
  void **rows = malloc(extents[0] * sizeof(void *));
  for (long r = 0; r < extents[0]; r++)
    rows[r] = polyc_rows(base + r * size, levels - 1, extents + 1, size / (levels > 1 ? extents[1] : 1));
  return rows;
}
"""


SMALL = re.compile(
    r"(?m)^(\s*#pragma omp parallel for(?: simd)?) if \(.*?\)(?= (?:collapse|schedule|reduction|firstprivate)\(|$)"
)
PAYS = re.compile(r"(?m)^(#define polyc_(?:threads|pays|several|many|tiles)\([a-z, ]*\)) (?:.*\\\n)*.*$")


class Unrunnable(Exception):
    """The region cannot be made a function of its own."""


TOKEN = re.compile(r"\w+|->|[^\w\s]")


@dataclass(frozen=True, slots=True)
class CSource:
    """The C text, and what stands at each position of the array of pointers."""

    text: str
    parameters: tuple[str, ...]
    arrays: tuple[str, ...]
    """Follow the parameters, in this order."""
    rows: tuple[str, ...]
    """Arrays of pointers to rows: their extents follow the arrays, as long numbers."""


def c_source(region: Region, result: str) -> CSource:
    """Both forms of a region. Raises Unrunnable."""
    scop = region.scop
    if any(p.computed for p in scop.parameters):
        raise Unrunnable("floats that it is given decide how large its arrays have to be")
    if unasked := [p.name for p in scop.parameters if not (p.is_product or is_asked(p, region.original))]:
        raise Unrunnable(f"the condition '{unasked[0]}' is written in another way")
    arrays = tuple(name for name, array in scop.arrays.items() if array.storage is not Storage.REGION)
    rows = tuple(name for name in arrays if is_rows(scop.arrays[name]))
    parameters = tuple(parameter.name for parameter in scop.parameters)
    of_file = shared(region)
    opening, closing = declarations(scop, parameters, arrays, rows, of_file)
    functions = []
    for name, body in ((ORIGINAL, region.original), (RESULT, result)):
        body = with_names(with_sizes(body, scop), scop)
        functions.append(f"void {name}(void **polyc_args)\n{{\n{opening}{{\n{body}\n}}\n{closing}}}\n")
    types = ", ".join(f"sizeof({scop.arrays[name].element.text})" for name in arrays)
    sizes = f"const unsigned long {ELEMENT_SIZES}[] = {{ {types or 0} }};\n"
    pointers = "".join(f"static {declared(scop, scop.arrays[key])};\n" for key in of_file)
    text = "\n".join([pointers, region.preamble, ROWS if rows else "", sizes, *functions])
    return CSource(text, parameters, arrays, rows)


def with_sizes(text: str, scop: Scop) -> str:
    """The text with `sizeof` asked about the types of arrays, of which the function has pointers."""
    for array in scop.arrays.values():
        whole = array.storage in (Storage.GLOBAL, Storage.LOCAL) and array.rank and not array.flat
        if whole and None not in array.extents_c and array.c_name.isidentifier():
            type_ = array.element.text + "".join(f"[{size_text(scop, array, k)}]" for k in range(array.rank))
            asked = rf"\bsizeof\s*(\(\s*)?{array.c_name}\b(?(1)\s*\))(?!\s*(?:\[|\.|->))"
            text = re.sub(asked, f"sizeof({type_})", text)
    return text


def with_all_threads(text: str) -> str:
    """The text without the conditions that keep small loops on one thread: a race would not show at small sizes."""
    return PAYS.sub(r"\1 1", SMALL.sub(r"\1", text))


def is_rows(array: Array) -> bool:
    """Whether the array is made of pointers to rows (`double **A`)."""
    inner = list(zip(array.extents[1:], array.extents_c[1:], strict=True))
    unknown = [extent is None and text is None for extent, text in inner]
    if any(unknown) and not all(unknown):
        raise Unrunnable(f"'{array.c_name}' mixes pointers to rows with rows of known length")
    return any(unknown)


def shared(region: Region) -> tuple[str, ...]:
    """Arrays of the file of which functions know that the region calls."""
    return tuple(
        key
        for key, array in region.scop.arrays.items()
        if array.storage is Storage.GLOBAL and array.rank and re.search(rf"\b{array.c_name}\b", region.preamble)
    )


def declared(scop: Scop, array: Array) -> str:
    """A pointer to an array."""
    name = array_name(array)
    if array.flat:
        return f"{array.element.text} *{name}"
    inner = "".join(f"[{size_text(scop, array, k)}]" for k in range(1, array.rank))
    return f"{array.element.text} " + (f"(*{name}){inner}" if inner else f"*{name}")


def declarations(
    scop: Scop,
    parameters: tuple[str, ...],
    arrays: tuple[str, ...],
    rows: tuple[str, ...],
    of_file: tuple[str, ...] = (),
) -> tuple[str, str]:
    """What stands before the region's text, and after it."""
    before = [text for _, text in scop.constants]
    after: list[str] = []
    for position, parameter in enumerate(scop.parameters):
        name = plain_name(parameter)
        before.append(f"{parameter.type.text} {name} = *({parameter.type.text} *)polyc_args[{position}];")
    known = {name for name, _ in scop.constants} | {plain_name(parameter) for parameter in scop.parameters}
    for product in (parameter.expr for parameter in scop.parameters if parameter.is_product):
        assert isinstance(product, c.Binary)
        name = expression(product.left)
        before.append(f"{'' if name in known else 'long '}{name} = {expression(product.right)};")
        known.add(name)
    for position, key in enumerate(arrays, len(parameters)):
        array = scop.arrays[key]
        element, name, place = array.element.text, array_name(array), f"polyc_args[{position}]"
        if name in known:
            continue  # a scalar that is a parameter as well
        known.add(name)
        if array.rank == 0:
            before.append(f"{element} {name} = *({element} *){place};")
            after.append(f"*({element} *){place} = {name};")
        elif key in rows:
            extents = f"polyc_args[{len(parameters) + len(arrays) + rows.index(key)}]"
            value = f"polyc_rows({place}, {array.rank}, {extents}, sizeof({element}))"
            before.append(f"{element} {'*' * array.rank}{name} = {value};")
        else:
            before.append(f"{name if key in of_file else declared(scop, array)} = {place};")
    before += walked_openings(scop, known)
    for name, ctype in free_names(scop).items():
        if name not in known:
            before.append(f"{ctype} {name};")
    before += [f"void *{name};" for name in scop.carriers]
    return "".join(f"  {line}\n" for line in before), "".join(f"  {line}\n" for line in after)


def walked_openings(scop: Scop, known: set[str]) -> list[str]:
    """Statements that make variables what they are before the region, with declarations of those that are not known,
    which they are afterwards."""
    found: list[str] = []
    for one in scop.walked:
        if one.name not in known:
            found.append(one.opening)
        elif one.value is not None:
            found.append(f"{one.name} = {one.value};")
        known.add(one.name)
    return found


def free_names(scop: Scop) -> dict[str, str]:
    """Names that the region uses and that hold no value before it: loop variables declared outside of it."""
    found = {name: "long" for name in scop.orphans if name not in scop.carriers}
    for statement in scop.statements.values():
        found |= {name: t.text for name, t in zip(statement.loops, statement.loop_types, strict=True)}
    inside = {array.c_name for array in scop.arrays.values() if array.storage is Storage.REGION}
    return {name: text for name, text in found.items() if name not in inside or name in scop.orphans}


def size_text(scop: Scop, array: Array, position: int) -> str:
    """An inner extent as C."""
    text = array.extents_c[position]
    if text is None:
        raise Unrunnable(f"the size of '{array.c_name}' cannot be written in C")
    return with_names(expression(text), scop)


def plain_name(parameter: Parameter) -> str:
    """The name of a parameter in both functions, also where it is an expression such as `p->n`."""
    name = parameter.expr.name if isinstance(parameter.expr, c.Name) else ""
    return name if name.isidentifier() else f"polyc_{parameter.name}"


def array_name(array: Array) -> str:
    """The name of an array in both functions, also where it is a member such as `s->x`."""
    return array.c_name if array.c_name.isidentifier() else f"polyc_{array.name}"


def with_names(text: str, scop: Scop) -> str:
    """The text with parameters and arrays that are expressions replaced by names, but for what is made of others:
    the names of these are there, and C computes it."""
    answers = [p for p in scop.parameters if p.is_answer and not (p.is_about_pointer or p.is_product)]
    try:
        made: Mapping[str, c.Expr] = made_of(scop).made
    except NoSize:
        made = {}
    others = (p for p in scop.parameters if not p.is_answer and p.name not in made)
    named = [(expression(p.expr), plain_name(p), "[") for p in others]
    named += [(array.c_name, array_name(array), "" if array.rank else "[") for array in scop.arrays.values()]
    found = [
        (spelling, name, after)
        for one, name, after in dict.fromkeys(named)
        if not one.isidentifier()
        for spelling in spellings(one)
    ]
    for parameter in answers:
        for spelling, sign in written_answers(parameter):
            text = re.sub(asked(spelling), rf"\g<1>{sign}{plain_name(parameter)}", text)
    for spelling, name, after in sorted(found, key=lambda one: -len(TOKEN.findall(one[0]))):
        text = re.sub(rf"(?<![\w.])(?<!->){spaced(spelling)}(?![\w{re.escape(after)}])", name, text)
    return text


def written_answers(parameter: Parameter) -> list[tuple[str, str]]:
    """How C asks a question, `beta == 0.0`, and how the opposite one, with what turns its answer into that."""
    found, expr = [(expression(parameter.expr), "")], parameter.expr
    if isinstance(expr, c.Binary) and expr.op == "==":
        found.append((expression(c.Binary("!=", expr.left, expr.right)), "!"))
    return found


def is_asked(parameter: Parameter, text: str) -> bool:
    """Whether a text asks a question as polyc prints it, where the parameter is the answer to one: no macro does."""
    if parameter.computed:
        return True
    found = written_answers(parameter) if parameter.is_answer and not parameter.is_about_pointer else []
    return not found or any(re.search(asked(spelling), text) for spelling, _ in found)


def asked(text: str) -> str:
    """A pattern of a comparison that is a condition, or one of several, by itself."""
    return rf"((?:^|[(&|?!:;,]|(?<![=!<>])=(?!=))\s*){spaced(text)}(?=\s*(?:[)&|?:;,]|$))"


def spaced(text: str) -> str:
    """A pattern of a text's tokens with any space between them."""
    return r"\s*".join(re.escape(token) for token in TOKEN.findall(text))


def spellings(text: str) -> list[str]:
    """The ways in which C writes a place: `s->a` is `s[0].a`, `(*s).a`, and `(s)->a` where a macro was expanded."""
    found = [
        text,
        re.sub(r"(\w)->", r"\1[0].", text),
        *(re.sub(r"^(\w+)->", by, text) for by in (r"(*\1).", r"(\1)->")),
    ]
    found += [f"{text[1:]}[0]"] if text.startswith("*") and text[1:].isidentifier() else []
    found += [re.sub(r"^(\w+)\[0\]", r"(*\1)", one) for one in found]
    found += [re.sub(r"\[([^\[\]]*\W[^\[\]]*)\]", r"[(\1)]", one) for one in found]
    return list(dict.fromkeys(found))
