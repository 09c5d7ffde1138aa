"""Included files with loops, put in the places of the `#include` lines that bring them.

The lines of one file are replaced by what is compiled. Functions whose text another file brings, be it a header or a
template that is included several times, become lines of that file first, once for each time.

rewrite:   #include "x.c"   ->   #line 1 "x.c"
                                 (the text of x.c)
                                 #line 8 "t.c"
requires:  the directive has a line of its own, and x.c no `#line`
ensures:   the preprocessor makes the same code of both texts, which is compared
"""

from __future__ import annotations

import bisect
import os
import re

from polyc.errors import UserError
from polyc.frontend.text.chunks import Chunks
from polyc.frontend.text.preprocess import Preprocessed, preprocess
from polyc.frontend.text.source import UserFile, load
from polyc.model.program import InputOptions
from polyc.model.scop import PART, Expansion, Origin
from polyc.records import dataclass, field, replace

LOOP = re.compile(r"\b(?:for|while|do)\b")
RENUMBERED = re.compile(r"^[ \t]*#[ \t]*(?:line\b|\d)", re.MULTILINE)
_INCLUDE = re.compile(r"[ \t]*#[ \t]*include\b(?!.*\\\s*$)")
_QUOTED = re.compile(r'([ \t]*#[ \t]*include[ \t]*")([^"\n]+)(")')
_NAMED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*", re.MULTILINE)
_DIRECTIVE = re.compile(r"^#(?![ \t]*pragma[ \t]+(?!once\b|polyc\b|clang[ \t]+diagnostic\b))[^\n]*$", re.MULTILINE)
_CODE_LINE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
_HEADER_ONLY = ("-Wunused-function", "-Wunused-const-variable")
"""Warnings of clang that it does not give for headers."""

BY_OPTION = "an option includes it"
NO_LINE = "no '#include' with a line of its own brings it"
OTHER_LINES = "it has lines of other files ('#line')"
OTHER_CODE = "its text in the place of the '#include' would be other code for the preprocessor"
NOT_READ = "it cannot be read"
NOT_CALLED = "nothing calls it here"
"""Of a function with loops in an included file."""


@dataclass(slots=True)
class Inclusion:
    """A file, as often as the preprocessor opens it."""

    name: str
    parent: int | None = None
    """The position of what includes it; None for the file that is compiled, and for the command line."""
    is_system: bool = False
    line: int = 0
    """Of its `#include` in the file that includes it; 0 where that is not known."""


@dataclass(slots=True)
class Inclusions:
    """The tree of all that a translation unit includes."""

    items: list[Inclusion] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """Offsets of the runs of the preprocessed text, and the position of the inclusion that each comes from."""
    owners: list[int] = field(default_factory=list)

    def at(self, offset: int) -> int | None:
        """What a character of the preprocessed text comes from."""
        run = bisect.bisect_right(self.starts, offset) - 1
        return self.owners[run] if run >= 0 else None

    def around(self, position: int) -> list[int]:
        """An inclusion and those that it stands in, the innermost first."""
        found: list[int] = []
        at: int | None = position
        while at is not None:
            found.append(at)
            at = self.items[at].parent
        return found


def inclusions(pre: Preprocessed) -> Inclusions:
    """The tree that the line markers draw: flag 1 opens a file, 2 goes back to the one that includes it."""
    found = Inclusions(starts=pre.starts)
    stack: list[int] = []
    roots: dict[str, int] = {}
    for (name, line), flags in zip(pre.runs, pre.flags, strict=True):
        if "1" in flags and stack:
            stack.append(len(found.items))
            found.items.append(Inclusion(name, stack[-2], "3" in flags))
        elif "2" in flags:
            depth = next((k for k in range(len(stack) - 2, -1, -1) if found.items[stack[k]].name == name), None)
            if depth is not None:
                found.items[stack[depth + 1]].line = line - 1
                del stack[depth + 1 :]
        elif len(stack) <= 1:
            if name not in roots:
                roots[name] = len(found.items)
                found.items.append(Inclusion(name))
            stack = [roots[name]]
        found.owners.append(stack[-1])
    return found


@dataclass(frozen=True, slots=True)
class Expanded:
    """What becomes of a file whose included files have loops."""

    user: UserFile
    pre: Preprocessed
    refused: dict[str, str]
    """Names of included files with loops that stay as they are, and why."""


def has_loops_included(pre: Preprocessed) -> bool:
    """Whether the project's files that one includes have loops."""
    ends = [*pre.starts[1:], len(pre.text)]
    return any(
        name != pre.path and name not in pre.system and LOOP.search(_CODE_LINE.sub("", pre.text[start:end]))
        for (name, _), start, end in zip(pre.runs, pre.starts, ends, strict=True)
    )


def expanded(user: UserFile, pre: Preprocessed, chunks: Chunks, options: InputOptions) -> Expanded:
    """The file with the included files in it that have loops of functions which it uses."""
    tree = inclusions(pre)
    wanted = _with_loops(tree, chunks, user.path)
    if not wanted or RENUMBERED.search(user.code):
        return Expanded(user, pre, {})
    made = _Expansion(user, tree, options)
    chosen = made.possible(wanted)
    result = made.attempt(pre, chosen)
    if result is None:  # one of several may be to blame
        kept: set[int] = set()
        for top in sorted(made.tops(chosen)):
            more = kept | {one for one in chosen if top in tree.around(one)}
            attempt = made.attempt(pre, more) if more != chosen else None
            if attempt is None:
                made.refuse({one for one in wanted if top in tree.around(one)}, OTHER_CODE)
            else:
                kept, result = more, attempt
    return Expanded(*(result or (user, pre)), made.refused)


def _with_loops(tree: Inclusions, chunks: Chunks, path: str) -> set[int]:
    """The included files of the project that have loops of functions which the translation unit uses."""
    found: set[int] = set()
    known: dict[int, bool] = {}
    for index in chunks.used_functions:
        item = chunks.items[index]
        text = _CODE_LINE.sub(lambda line: " " * len(line[0]), chunks.text_of(index))
        for match in LOOP.finditer(text):
            owner = tree.at(item.start + match.start())
            if owner is None:
                continue
            if owner not in known:
                around = [tree.items[one] for one in tree.around(owner)]
                known[owner] = len(around) > 1 and not any(one.is_system for one in around)
            if known[owner]:
                found.add(owner)
    return found


class _Expansion:
    """The state of expanding one file."""

    def __init__(self, user: UserFile, tree: Inclusions, options: InputOptions) -> None:
        self.user = user
        self.tree = tree
        self.home = os.path.dirname(user.path)
        self.options = replace(options, flags=("-iquote", self.home or ".", *options.flags))
        self.texts: dict[str, UserFile | None] = {user.path: user}
        self.refused: dict[str, str] = {}
        self.once: dict[str, int] = {}
        """Base names of files that are read once, and what they are."""
        self.parts: list[str] = []
        self.lines = 0
        self.origins: list[Origin] = []

    def possible(self, wanted: set[int]) -> set[int]:
        """Those whose text can be put in the place of their `#include`, with what they stand in, and with what names
        one of them that is read once: it would be read again."""
        chosen: set[int] = set()
        waiting = set(wanted)
        while waiting:
            for one in waiting:
                around = self.tree.around(one)[:-1]
                reason = next((why for each in around if (why := self.why_not(each)) is not None), None)
                if reason is not None:
                    self.refuse({one} & wanted, reason)
                else:
                    chosen |= set(around)
            waiting = self.reading_again(chosen)
        return chosen

    def reading_again(self, chosen: set[int]) -> set[int]:
        """Other files that name one which is read once, in which its text stands no more for the preprocessor."""
        for one in chosen:
            name = self.tree.items[one].name
            file = self.text(name)
            if file is not None and _ONCE.search(file.code):
                self.once[os.path.basename(name)] = one
        found: set[int] = set()
        for position, item in enumerate(self.tree.items if self.once else []):
            if item.parent is None or position in chosen or item.is_system or item.name in self.refused:
                continue
            file = self.text(item.name)
            if file is not None and any(os.path.basename(one) in self.once for one in _NAMED.findall(file.code)):
                around = self.tree.around(position)[:-1]
                if all(self.why_not(each) is None for each in around):
                    found.add(position)
        return found

    def why_not(self, position: int) -> str | None:
        """Why the text of an included file cannot stand in the place of its `#include`."""
        item = self.tree.items[position]
        assert item.parent is not None
        around = self.tree.items[item.parent]
        if around.parent is None and around.name != self.user.path:
            return BY_OPTION
        file, above = self.text(item.name), self.text(around.name)
        if file is None or above is None:
            return NOT_READ
        if RENUMBERED.search(file.code):
            return OTHER_LINES
        if not 0 < item.line <= len(above.line_starts) or not _INCLUDE.match(above.line(item.line)):
            return NO_LINE
        return None

    def refuse(self, positions: set[int], reason: str) -> None:
        for one in positions:
            self.refused.setdefault(self.tree.items[one].name, reason)

    def tops(self, chosen: set[int]) -> set[int]:
        """What the file itself includes of them."""
        return {self.tree.around(one)[-2] for one in chosen}

    def text(self, name: str) -> UserFile | None:
        if name not in self.texts:
            try:
                self.texts[name] = load(name)
            except UserError:
                self.texts[name] = None
        return self.texts[name]

    # --- the text

    def attempt(self, pre: Preprocessed, chosen: set[int]) -> tuple[UserFile, Preprocessed] | None:
        """The file with the chosen ones in it; None where the preprocessor does not make the same code of it."""
        main = next(
            (n for n, one in enumerate(self.tree.items) if one.parent is None and one.name == self.user.path), -1
        )
        if not chosen or main < 0:
            return None
        self.parts, self.lines, self.origins = [], 0, [Origin(1, self.user.path, 1)]
        self.put(main, chosen)
        files = {one.file: self.texts[one.file] for one in self.origins}
        texts = {name: file.text for name, file in files.items() if file is not None}
        user = UserFile(self.user.path, "".join(self.parts), Expansion(tuple(self.origins), texts))
        try:
            made = preprocess(user.path, self.options, user.text)
        except UserError:
            return None
        if _code(made.text) != _code(pre.text):
            return None
        made.dependencies, made.system = pre.dependencies, pre.system
        return user, on_own_lines(made, user)

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.lines += text.count("\n")

    def put(self, position: int, chosen: set[int]) -> None:
        """Add the text of a file, with those of `chosen` that it includes."""
        item = self.tree.items[position]
        file = self.text(item.name)
        assert file is not None
        inside = {one.line: n for n, one in enumerate(self.tree.items) if one.parent == position and n in chosen}
        entered = {one.line for one in self.tree.items if one.parent == position}
        text = file.text if file.text.endswith("\n") else file.text + "\n"
        for number, line in enumerate(text.split("\n")[:-1], 1):
            if number not in inside:
                self.add(self.kept(line, file.line(number), position, number in entered) + "\n")
                continue
            name = self.tree.items[inside[number]].name
            self.add(_quiet("push") if name.endswith(".h") else "")
            self.begin(name, 1)
            self.put(inside[number], chosen)
            self.add(_quiet("pop") if name.endswith(".h") else "")
            self.begin(item.name, number + 1)

    def begin(self, name: str, line: int) -> None:
        """Add what says that lines of another file follow."""
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        self.add(f'#pragma polyc file {len(self.origins)}\n#line {line} "{quoted}"\n')
        self.origins.append(Origin(self.lines + 1, name, line))

    def kept(self, line: str, code: str, position: int, entered: bool) -> str:
        """A line of a file as it is elsewhere: headers beside that file are named from the one that is compiled, and
        nothing is read a second time that is read once."""
        name = self.tree.items[position].name
        folder = os.path.dirname(name)
        named = _NAMED.match(code)
        if _ONCE.match(code) and self.tree.items[position].parent is not None:
            return ""
        if named is not None and not entered and os.path.basename(named[1]) in self.once:
            return ""
        quoted = _QUOTED.match(line)
        if quoted is None or named is None or folder == self.home:
            return line
        beside = os.path.join(folder, quoted[2])
        if not os.path.exists(beside):
            return line
        inside = self.home + os.sep if self.home else ""
        shown = beside.removeprefix(inside) if beside.startswith(inside) else os.path.abspath(beside)
        return f"{quoted[1]}{shown}{quoted[3]}{line[quoted.end() :]}"


def _quiet(word: str) -> str:
    """Lines with which clang warns of a header's text as it does of the header."""
    ignored = [f'#pragma clang diagnostic ignored "{one}"\n' for one in _HEADER_ONLY] if word == "push" else []
    return f"#ifdef __clang__\n#pragma clang diagnostic {word}\n{''.join(ignored)}#endif\n"


def _code(text: str) -> str:
    """What the preprocessor leaves, without white space and lines of its own."""
    return "".join(_DIRECTIVE.sub("", text).split())


def on_own_lines(pre: Preprocessed, user: UserFile) -> Preprocessed:
    """The preprocessed text of an expanded file, each line of which is known by its place there."""
    assert user.expansion is not None
    marks = [(match.start(), int(match[1])) for match in PART.finditer(pre.text)]
    shifts = [one.first - one.line for one in user.expansion.origins]
    depth, part, following = 0, 0, 0
    for n, ((name, line), flags) in enumerate(zip(pre.runs, pre.flags, strict=True)):
        while following < len(marks) and marks[following][0] < pre.starts[n]:
            part = marks[following][1]
            following += 1
        depth += ("1" in flags) - ("2" in flags)
        if depth == 0 and not name.startswith("<"):
            pre.runs[n] = user.path, line + shifts[part]
    pre.text = PART.sub(lambda match: " " * len(match[0]), pre.text)
    return pre
