"""What a file says only where it is built with OpenMP.

What is printed may be built with OpenMP and without. A directive behind `#ifdef _OPENMP` is about the statement behind
it in one of these builds, of which the text that is read here may have nothing.
"""

from __future__ import annotations

from pathlib import Path

from polyc.errors import UserError
from polyc.frontend.text.foreign import REPLACE, foreign
from polyc.frontend.text.preprocess import OtherBuild, Preprocessed, preprocess
from polyc.model.program import InputOptions
from polyc.records import replace

_NAME = "_OPENMP"


def read_for_builds(path: str, options: InputOptions, text: str | None) -> Preprocessed:
    """What the preprocessor makes of a file, and what another build has beside it. Raises UserError.

    Where OpenMP's loops are taken over, the file is read as a build with OpenMP has it.
    """
    pre = preprocess(path, options, text)
    if not options.any_build or not _asks(pre, path, text):
        return pre
    try:
        other = preprocess(path, replace(options, flags=(*options.flags, "-fopenmp")), text)
    except UserError:
        return pre  # there is no such build here: its header is missing
    plain, parallel = _lines(pre), _lines(other)
    code = {n for n in plain.keys() | parallel.keys() if _code(plain.get(n, [])) != _code(parallel.get(n, []))}
    if options.openmp == REPLACE:
        other.other = OtherBuild(code=frozenset(code))
        return other
    constructs = {
        line: pragma.shown
        for line, words in parallel.items()
        for pragma in foreign("\n".join(words))
        if pragma.is_construct and pragma.shown not in plain.get(line, [])
    }
    pre.other = OtherBuild(constructs, frozenset(code))
    return pre


def _asks(pre: Preprocessed, path: str, text: str | None) -> bool:
    """Whether the file, or a header of its own, asks for OpenMP."""
    if text is not None and _NAME in text:
        return True
    for name in {path, *pre.dependencies} - pre.system if text is None else set(pre.dependencies) - pre.system:
        try:
            if _NAME.encode() in Path(name).read_bytes():
                return True
        except OSError:
            continue
    return False


def _lines(pre: Preprocessed) -> dict[int, list[str]]:
    """What each line of the user's file gives, piece by piece."""
    found: dict[int, list[str]] = {}
    for start, end, first in pre.own_runs():
        for k, line in enumerate(pre.text[start:end].split("\n")):
            if line.strip():
                found.setdefault(first + k, []).append(" ".join(line.split()))
    return found


def _code(words: list[str]) -> str:
    return " ".join(line for line in words if not line.startswith("#"))
