"""The version of a text for known sizes is the text, where these are the sizes.

The text that was checked stands in it as it is, once. Before it stand a condition on names, and declarations that give
these names, in the block that follows, the value that the condition asks for, and arrays their own address with rows of
the length that they have at these values. Behind it stands the region as it was written.

Or, where the text is a condition with the region as it was written behind `else`, both conditions stand in one `if`,
and what ran under the one now runs under both.
"""

from __future__ import annotations

import re

import islpy as isl

from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Region, Scop
from polyc.reread.literal import HIDDEN, TOKEN, other_branch, words_of
from polyc.reread.parts import Refused

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_GCC = r'#if defined\(__GNUC__\) && !defined\(__clang__\)|#endif|#pragma GCC diagnostic (?:push|pop|ignored "[-\w]+")'
_WARNINGS = re.compile(rf"^(?:{_GCC})$", re.MULTILINE)
_ASKED = re.compile(r"(\w+) == (-?\d+)")
_SAME = re.compile(r"\w+ = = (?:- )?\d+")
_SIZE = re.compile(r"const ([\w ]+) (\w+) = (-?\d+)")
_ROWS = re.compile(r"([\w ]+) \( \* const (\w+) \)((?: \[ \d+ \])+) = (\w+)")


def special_faults(program: Program, region: Region, text: str, special: str) -> list[Fault]:
    """What is wrong with the version."""
    wrong = _wrong(program, region, text, special)
    return [] if wrong is None else [Fault("text", wrong, "")]


def both_faults(region: Region, text: str, other: str, both: str) -> list[Fault]:
    """What is wrong with a text that has another one, right for all values, in the place of its other branch."""
    try:
        (before, old, after), (head, new, tail) = _parts(text), _parts(both)
    except Refused as refused:
        return [refused.fault]
    if (before, after) != (head, tail) or old != words_of(region.original) or new != words_of(other):
        return [Fault("text", "its branches are others", "")]
    return []


def next_version_faults(region: Region, special: str, other: str, both: str) -> list[Fault]:
    """What is wrong with a version that has another one, right by itself, in the place of its other branch."""
    head, tail = ["}", "else", "{"], ["}"]
    behind = [*head, *words_of(region.original), *tail]
    first, second, words = words_of(special), words_of(other), words_of(both)
    if first[-len(behind) :] != behind or words != [*first[: -len(behind)], *head, *second, *tail]:
        return [Fault("text", "its versions are others", "")]
    return []


def _parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """What stands before the other branch, in it, and behind it."""
    words = words_of(text)
    first, last = other_branch(words)
    return words[:first], words[first:last], words[last:]


def _wrong(program: Program, region: Region, text: str, special: str) -> str | None:
    loops = text.split("\n", 1)[1].rstrip("\n")
    pieces = special.split(f"\n{loops}\n")
    behind = ["}", "else", "{", *TOKEN.findall(_COMMENT.sub(" ", region.original)), "}"]
    if len(pieces) == 2:
        head, tail = (TOKEN.findall(_WARNINGS.sub("", _COMMENT.sub(" ", piece))) for piece in pieces)
    elif (joined := _under_both(region, text, special, behind)) is not None:
        head, tail = joined
    else:
        return "the loops in it are others"
    condition, *blocks = " ".join(head).split(" {")
    if not re.fullmatch(r"if \( .* \)", condition) or tail != ["}"] * (len(blocks) - 1) + behind or len(blocks) > 2:
        return "it is of another form"
    parts = condition[len("if ( ") : -len(" )")].replace("= =", "==").replace("- ", "-").split(" & & ")
    conditions = [_ASKED.fullmatch(part) for part in parts]
    if any(one is None for one in conditions):
        return "its condition asks for something else"
    asked = {one[1]: int(one[2]) for one in conditions if one is not None}
    return _declared(program, asked, blocks[0], "".join(blocks[1:]))


def _under_both(region: Region, text: str, special: str, behind: list[str]) -> tuple[list[str], list[str]] | None:
    """What stands before the loops of a text, and behind them, in a version with its condition: of that, what it says
    of sizes. None where the text is more than this condition, and where there are other loops, or another condition,
    macros or branch."""
    hidden = [HIDDEN.findall(_WARNINGS.sub("", one)) for one in (text, special)]
    words, found = (words_of(_WARNINGS.sub("", one)) for one in (text, special))
    if words[:3] != ["{", "if", "("] or hidden[0] != hidden[1] or found[:2] != ["if", "("]:
        return None
    try:
        first, last = other_branch(words)
    except Refused:
        return None
    end, both = _closing(words, 2), _closing(found, 1)
    asked, loops = words[3:end], words[end + 2 : first - 3]
    if words[end + 1] != "{" or words[first:last] != words_of(region.original) or words[last:] != ["}", "}"]:
        return None
    if found[-len(behind) :] != behind:
        return None
    forms = [["&", "&", "(", *asked, ")"], *([["&", "&", *asked]] if _binds(asked) else [])]
    own = next((found[2 : both - len(form)] for form in forms if found[2:both][-len(form) :] == form), None)
    if own is None and found[2:both] != asked:
        return None
    sizes = [term for term in _terms(asked) if _SAME.fullmatch(term)] if _binds(asked) else []
    told = " & & ".join([*([" ".join(own)] if own else []), *sizes]).split(" ")
    inside = found[both : -len(behind)]
    closed = 1 if inside[-len(loops) - 1 :] == [*loops, "}"] else 0
    if inside[len(inside) - closed - len(loops) : len(inside) - closed] != loops:
        return None
    head = ["if", "(", *told, *inside[: len(inside) - closed - len(loops)]]
    return head, ["}"] * closed + behind


def _closing(words: list[str], begin: int) -> int:
    """Where the parenthesis ends that begins at a place; behind the last word if it does not end."""
    depth = 0
    for position in range(begin, len(words)):
        depth += {"(": 1, ")": -1}.get(words[position], 0)
        if not depth:
            return position
    return len(words)


def _terms(words: list[str]) -> list[str]:
    """The terms of `a && b && c`."""
    found, depth = list[list[str]]([[]]), 0
    for word, after in zip(words, [*words[1:], ""], strict=True):
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(word, 0)
        if word == after == "&" and not depth:
            found.append([])
        found[-1].append(word)
    return [" ".join(found[0]), *(" ".join(one[2:]) for one in found[1:])]


def _binds(words: list[str]) -> bool:
    """Whether `a && WORDS` is `a && (WORDS)`."""
    depth = 0
    for word in words:
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(word, 0)
        if not depth and word in ("|", "?", ","):
            return False
    return True


def _declared(program: Program, asked: dict[str, int], outer: str, inner: str) -> str | None:
    """What is wrong with the declarations in front of the loops."""
    scop = program.scop
    moved: dict[str, tuple[str, str, str]] = {}
    for part in [part.strip() for part in outer.split(";") if part.strip()]:
        size, rows = _SIZE.fullmatch(part.replace("- ", "-")), _ROWS.fullmatch(part)
        if size is not None:
            if asked.get(size[2]) != int(size[3]) or _is_written(scop, size[2]) or size[1] != _type_of(scop, size[2]):
                return f"{size[2]} is another value there"
        elif rows is not None:
            moved[rows[2]] = rows[1], rows[3], rows[4]
        else:
            return "it declares something else"
    for part in [part.strip() for part in inner.split(";") if part.strip()]:
        rows = _ROWS.fullmatch(part)
        if rows is None or moved.pop(rows[4], None) != (rows[1], rows[3], rows[2]):
            return "it declares something else"
        if not _has_rows(scop, rows[2], [int(n) for n in re.findall(r"\d+", rows[3])], asked):
            return f"the rows of {rows[2]} are others"
    return "it declares something else" if moved else None


def _is_written(scop: Scop, name: str) -> bool:
    """Whether the region gives a variable another value."""
    keys = {array.name for array in scop.arrays.values() if array.c_name == name}
    accesses = (access for statement in scop.statements.values() for access in statement.accesses)
    return any(access.array in keys and access.kind is not AccessKind.READ for access in accesses)


def _type_of(scop: Scop, name: str) -> str | None:
    return next((one.type for one in scop.always if one.name == name), None)


def _has_rows(scop: Scop, name: str, wanted: list[int], asked: dict[str, int]) -> bool:
    """Whether an array has rows of these extents where the sizes are what is asked for."""
    found = [array for array in scop.arrays.values() if array.c_name == name]
    if len(found) != 1 or name in scop.moved or found[0].flat or found[0].rank != len(wanted) + 1:
        return False
    plain = {p.name: p.expr.name for p in scop.parameters if isinstance(p.expr, c.Name)}
    known = {name: asked[size] for name, size in plain.items() if size in asked}
    conditions = " and ".join(f"{name} = {value}" for name, value in known.items())
    point = isl.Set(f"[{', '.join(known)}] -> {{ : {conditions or 'true'} }}")
    extents = [extent.intersect_params(point) for extent in found[0].extents[1:] if extent is not None]
    if len(extents) != len(wanted):
        return False
    return all(one.min_val() == n == one.max_val() for one, n in zip(extents, wanted, strict=True))
