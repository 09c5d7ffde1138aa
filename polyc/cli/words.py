"""A C compiler's command line: which words are sources, which belong to options, and what is to be made."""

from __future__ import annotations

import os
from collections.abc import Iterable

from polyc.records import dataclass, field

OWN = "-Xpolyc"
"""The word before an option of polyc's own."""
_VALUES = """
-o -I -D -U -L -l -x -include -imacros -isystem -idirafter -iquote -iprefix -iwithprefix -iwithprefixbefore -isysroot
-imultilib -include-pch -MF -MT -MQ -MJ -Xlinker -Xpreprocessor -Xassembler -Xclang -Xarch_host -T -u -z -e -aux-info
-dumpbase -dumpbase-ext -dumpdir --param -arch -target --target --sysroot -mllvm -wrapper -B -A -G -framework
-iframework -install_name -rpath -current_version -compatibility_version
"""
_TAKE_ONE = frozenset(_VALUES.split())
"""Options whose value may be the next word."""
_TELLING = "-E -M -MM -fsyntax-only -### --version -dumpversion -dumpmachine -dumpspecs --help"
_ONLY_TELLS = frozenset(_TELLING.split())
"""With these there is no code to make: the compiler gets the command as it is."""
_LINKING = """
-l -L -Wl, -shared -static -pie -no-pie -rdynamic -nostartfiles -nodefaultlibs -nostdlib -nolibc -Xlinker -T -u -z -e
-rpath -framework
"""
_LINKER = tuple(_LINKING.split())
_PRINTING = "-save-temps -d -fdump -ftime-report -fcallgraph-info -fstack-usage"
_NOT_FOR_READING = tuple(_PRINTING.split())
_MAKING = "-c -S -P -C -CC -v -H -s -pipe -fopt-info -fdirectives-only"
_NOT_FOR_READING_WHOLE = frozenset(_MAKING.split())
_DEPENDENCIES = ("-MD", "-MMD", "-MP", "-MG")
_DEPENDENCIES_ONE = ("-MF", "-MT", "-MQ", "-MJ")
_OBJECTS = (".o", ".a", ".lo", ".obj")
DEEPEST = 20
"""Files of options inside of each other."""


@dataclass(frozen=True, slots=True)
class Source:
    """A C file on the command line."""

    position: int
    """Of its word."""
    path: str


@dataclass(slots=True)
class Line:
    """What a command line says."""

    words: list[str]
    """Those for the compiler, `@file` read."""
    own: list[str] = field(default_factory=list)
    """Those for polyc."""
    compiler: str | None = None
    """`--cc`."""
    report: str | None = None
    """`--report`."""
    sources: list[Source] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Other files: objects, archives, sources in other languages."""
    output: str | None = None
    mode: str = "link"
    """`link`, `compile` (`-c`), `assemble` (`-S`), or `tell`: there is no code to make."""
    reading: list[str] = field(default_factory=list)
    """Options that say how a file is read."""
    without_linker: list[str] = field(default_factory=list)
    """The options for a compile that is not to link, without files and `-o`."""
    rule_files: list[str] = field(default_factory=list)
    """Files that a rule for make goes to, where the line names them."""
    has_rule: bool = False
    openmp: bool | None = None
    """What the line says of OpenMP."""

    @property
    def objects(self) -> list[str]:
        return [name for name in self.others if name.endswith(_OBJECTS)]


class NoValue(Exception):
    """An option of polyc's has no value."""


def expanded(words: Iterable[str], depth: int = 0) -> list[str]:
    """The words, with those of each file that `@file` names. One that is not there stays as it is, as for gcc."""
    found: list[str] = []
    for word in words:
        if not word.startswith("@") or depth > DEEPEST or not os.path.isfile(word[1:]):
            found.append(word)
            continue
        with open(word[1:], encoding="utf-8", errors="surrogateescape") as file:
            found += expanded(separated(file.read()), depth + 1)
    return found


def separated(text: str) -> list[str]:
    """Words as gcc takes them from a file: quotes of both kinds, and a backslash before any character."""
    found: list[str] = []
    word: list[str] | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\":
            word = [*(word or []), next(characters, "")]
        elif quote:
            if character == quote:
                quote = ""
            else:
                word = [*(word or []), character]
        elif character in "\"'":
            quote, word = character, word or []
        elif character.isspace():
            if word is not None:
                found.append("".join(word))
            word = None
        else:
            word = [*(word or []), character]
    return found if word is None else [*found, "".join(word)]


def parse(words: Iterable[str]) -> Line:
    """Sort the words of a command line. Raises NoValue."""
    line = Line([])
    given = expanded(words)
    language = ""
    position = 0
    while position < len(given):
        word = given[position]
        position += 1
        name, equals, value = word.partition("=")
        if word == OWN or name in ("--cc", "--report"):
            if not equals:
                if position == len(given):
                    raise NoValue(word)
                value = given[position]
                position += 1
            if name == "--report":
                line.report = value
            elif name == "--cc":
                line.compiler = value
            else:
                line.own.append(value)
            continue
        if word == "-" or not word.startswith("-"):
            _file(line, word, language)
            continue
        takes = word in _TAKE_ONE and position < len(given)
        value = given[position] if takes else ""
        position += takes
        if word.startswith("-x") and word != "-x":
            language = word[2:]
        elif word == "-x":
            language = value
        _option(line, word, [value] if takes else [])
    return line


def _file(line: Line, word: str, language: str) -> None:
    is_c = language == "c" or (language in ("", "none") and word.endswith(".c"))
    if is_c and word != "-":
        line.sources.append(Source(len(line.words), word))
    else:
        line.others.append(word)
    line.words.append(word)


def _option(line: Line, word: str, value: list[str]) -> None:
    line.words += [word, *value]
    if word in _ONLY_TELLS or word.startswith(("-print-", "--print-")):
        line.mode = "tell"
    elif word in ("-c", "-S") and line.mode != "tell":
        line.mode = "assemble" if word == "-S" or line.mode == "assemble" else "compile"
    if word == "-o" and value:
        line.output = value[0]
    elif word.startswith("-o") and word != "-o" and not word.startswith("-object"):
        line.output = word[2:]
    if word in ("-fopenmp", "-fno-openmp") or word.startswith("-fopenmp="):
        line.openmp = word != "-fno-openmp"
    if is_rule(word):
        line.has_rule = line.has_rule or word in ("-MD", "-MMD") or word.startswith("-Wp,")
        if word == "-MF" and value:
            line.rule_files.append(value[0])
        elif word.startswith("-MF"):
            line.rule_files.append(word[3:])
        elif word.startswith("-Wp,"):
            line.rule_files += [part for part in word.split(",")[1:] if not part.startswith("-")]
    if not is_output(word) and word not in ("-c", "-S"):
        if not word.startswith(_LINKER) and word != "-s":
            line.without_linker += [word, *value]
        if not is_rule(word) and not word.startswith((*_LINKER, *_NOT_FOR_READING, "-x")):
            line.reading += [word, *value] if word not in _NOT_FOR_READING_WHOLE else []


def is_output(word: str) -> bool:
    return word.startswith("-o") and not word.startswith("-object")


def is_rule(word: str) -> bool:
    """Whether an option is about a rule for make."""
    if word in _DEPENDENCIES or word.startswith(_DEPENDENCIES_ONE):
        return True
    return word.startswith("-Wp,") and any(part.startswith("-M") for part in word.split(","))
