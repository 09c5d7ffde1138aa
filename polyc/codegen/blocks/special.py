"""A text for the sizes that the file knows: constants for the C compiler, behind a condition.

C compilers specialise a function for the constants that it is called with, but not the functions into which OpenMP
moves parallel loops. There the sizes are constants where the text declares them:

    { for (int i = 0; i < n; i++) a[i][0] = 0; }
    ->
    if (n == 700) { const int n = 700; double (*const polyc_a)[700] = a;
      { double (*const a)[700] = polyc_a; { for (int i = 0; i < n; i++) a[i][0] = 0; } }
    } else { the region as it was written }

The loops are those of the text that was checked, character for character; in them the names mean what they meant
outside. A static function whose calls are all in the file needs no condition, as far as its C compiler sees: it finds
the same constants, and leaves out the condition and the other branch.

A text that has a condition of its own, as for threads, has it joined with that on the sizes, so that the region as it
was written stands there once, and knows no constants: gcc takes a loop body such as `if (y >= 3 && y < 197)` for one
that never runs, and makes it small.

requires: the text assigns none of these names, and declares none of them
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from polyc.codegen.blocks.block import OTHER_BRANCH, indented
from polyc.codegen.loops.naming import IDENTIFIER
from polyc.codegen.text.printer import INDENT, conjunction, expression
from polyc.model import ctree as c
from polyc.model.scop import Always, Region, Shaped

_OUTLINED = "#pragma omp parallel"
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_UNUSED = re.compile(r"\(void\)\w+")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\\\n]|\\.|\\\n)*$", re.MULTILINE)
_AS_CALLED = "/* as the calls of this file have it */"
OTHERWISE = "where that does not hold: as it was written"
_GCC = "#if defined(__GNUC__) && !defined(__clang__)"
_LOUD = ("-Waggressive-loop-optimizations", "-Warray-bounds", "-Wstringop-overflow")
"""gcc warns of branches that no run takes at these sizes, before it finds out that."""
_QUIET = [_GCC, "#pragma GCC diagnostic push", *(f'#pragma GCC diagnostic ignored "{one}"' for one in _LOUD), "#endif"]
_AS_BEFORE = [_GCC, "#pragma GCC diagnostic pop", "#endif"]


def specialised(text: str, region: Region, condition: c.Expr | None = None) -> str:
    """The text with a version for what the file knows; "" where that says nothing to loops that threads run, and there
    are no versions for other values.

    condition: what the text asks for, where it has the region as it was written as its other branch
    """
    scop, indent = region.scop, region.indent
    if (_OUTLINED not in text and not scop.has_versions) or not (scop.always or scop.shaped):
        return ""
    told, rest = text.rstrip("\n").split("\n", 1)
    ahead: list[str] = []
    joined: c.Expr | None = None
    if condition is not None and (parts := _in_condition(rest.split("\n"), condition, indent)) is not None:
        ahead, loops = parts
        joined, rest = condition, "\n".join(loops)
    mentioned, used = _mentioned(text), _mentioned(rest)
    free = scop.used_names | mentioned
    always = [one for one in scop.always if one.name in mentioned]
    shaped = [one for one in scop.shaped if one.name in used and behind(one) not in free]
    if not always and not shaped:
        return ""
    sizes = {one.name for one in always} | {name for one in shaped for name in one.sizes}
    equal = [c.Binary("==", c.Name(one.name), c.Literal(str(one.value))) for one in scop.always if one.name in sizes]
    terms = [] if joined is None else _terms(joined)
    new: list[c.Expr] = [one for one in equal if one not in terms]
    asked = conjunction(new)
    if joined is not None:
        asked = joined if asked is None else _first(asked, joined)
    if asked is None or not equal:
        return ""
    test = expression(asked)
    lines = [
        told,
        *ahead,
        f"{indent}if ({test}) {{ {_AS_CALLED}",
        *(f"{indent}  const {one.type} {one.name} = {one.value};" for one in always if one.name in used),
        *(f"{indent}  {one}" for one in shapes(shaped)),
        *_QUIET,
        rest,
        *_AS_BEFORE,
        *([f"{indent}  }}"] if shaped else []),
        otherwise(region),
    ]
    return "\n".join(lines)


def _terms(condition: c.Expr) -> list[c.Expr]:
    """Those of `a && b && (c && d)`, as it is printed: three."""
    match condition:
        case c.Binary(op="&&", left=left, right=right):
            return [*_terms(left), right]
    return [condition]


def _first(asked: c.Expr, condition: c.Expr) -> c.Expr:
    """`a && b && c`, of which `b && c` is printed as it is by itself."""
    match condition:
        case c.Binary(op="&&", left=left, right=right):
            return c.Binary("&&", _first(asked, left), right)
    return c.Binary("&&", asked, condition)


def _mentioned(text: str) -> set[str]:
    """The words of a text that C compilers count as uses."""
    return set(IDENTIFIER.findall(_UNUSED.sub("", _DIRECTIVE.sub("", _COMMENT.sub("", text)))))


def is_asked(one: Always, special: str) -> bool:
    """Whether a version is one for a size."""
    condition = special.partition(f" {{ {_AS_CALLED}")[0].rpartition("\n")[2]
    return re.search(rf"\b{re.escape(one.name)} == {one.value}\b", condition) is not None


def _in_condition(lines: list[str], condition: c.Expr, indent: str) -> tuple[list[str], list[str]] | None:
    """The macros of a text that is nothing but its condition, and what runs under it; None of any other text."""
    test = expression(condition)
    begin, head, other = f"{indent}{{", f"{indent}  if ({test}) {{", f"{indent}  {OTHER_BRANCH}"
    if begin not in lines or lines.count(other) != 1:
        return None
    first, last = lines.index(begin), lines.index(other)
    if lines[first + 1] != head or lines[-2:] != [f"{indent}  }}", f"{indent}}}"]:
        return None
    return lines[:first], lines[first + 2 : last]


def otherwise(region: Region) -> str:
    """The branch for all other sizes."""
    head = f"{region.indent}}} else {{ /* {OTHERWISE} */"
    return "\n".join([head, region.original.rstrip("\n"), f"{region.indent}}}", ""])


def in_order(special: str, other: str, region: Region) -> str:
    """A version with another one, for other values, as its other branch."""
    head = f"{region.indent}}} else {{ /* for what other calls pass */"
    last = indented(other.rstrip("\n"), INDENT)
    return special.removesuffix(otherwise(region)) + "\n".join([head, last, f"{region.indent}}}", ""])


def for_other_values(text: str, other: str, region: Region) -> str:
    """The text for what factors mostly are, `stride == 1`, or for sizes that pay, with that for all values as its other
    branch; "" where it has none."""
    behind = "\n".join([OTHER_BRANCH, indented(region.original.rstrip("\n"), region.indent), ""])
    if text.count(behind) != 1:
        return ""
    before, after = text.split(behind)
    names = " and ".join(one.name for one in region.scop.supposed) or "sizes"
    lines = [f"}} else {{ /* where that does not hold: for any {names} */", indented(other.rstrip("\n"), INDENT * 2)]
    return before + "\n".join([*lines, after])


def shapes(shaped: list[Shaped]) -> Iterator[str]:
    """Declarations of arguments anew, with rows of constant length."""
    for one in shaped:
        yield f"{one.element} (*const {behind(one)}){rows(one)} = {one.name};"
    for number, one in enumerate(shaped):
        yield f"{'' if number else '{ '}{one.element} (*const {one.name}){rows(one)} = {behind(one)};"


def behind(shaped: Shaped) -> str:
    """The name under which the argument goes from one scope to the other."""
    return f"polyc_{shaped.name}"


def rows(shaped: Shaped) -> str:
    return "".join(f"[{extent}]" for extent in shaped.extents)
