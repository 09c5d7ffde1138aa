"""One pass on a tree that somebody wrote: a C file with a region, and behind it a comment for each test.

    /* interleave(machine="zen4")
    domain
      band[cc-] for(k, i, j) permutable { S0[k, i, j] -> [k, i, j] }
    becomes
    domain
      band[cc-] for(k, i, j) permutable tile(-, 8, -) { S0[k, i, j] -> [k, i - (i) mod 8, j] }
        band[c] for(i) permutable point { S0[k, i, j] -> [i] }
    says
    interleaved: S0: 8 iterations of i at once, since an element waits 8 cycles for the one before it, and takes 2.2
    */

The pass and its options, then the tree in the exact text of `polyc/model/tree_text.py`, with its buffers before it;
`domain` alone has the instances of the region. No other pass runs. What follows is what the pass makes of it: another
tree, or `stays`, and the remarks; and it has to be a right program. `pytest --update-golden` writes that, and where
there is no tree, the one that earlier passes make. With `assume="m >= 4"` the region has a guard.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import islpy as isl

from polyc import pipeline
from polyc.model.program import Options, Pass, Program
from polyc.model.scop import Region
from polyc.model.tree_parser import parse_state
from polyc.model.tree_text import buffer_text, entries
from polyc.verify import check

CASE = re.compile(r"^/\* ([\w-]+)\(([^\n]*)\)\n(.*?)^\*/", re.MULTILINE | re.DOTALL)
OUTCOME = re.compile(r"^(?:becomes|stays|says)$.*", re.MULTILINE | re.DOTALL)


def rewritten(text: str, region: Region, passes: Mapping[str, Pass] | None = None) -> str:
    """The text with what the passes make of the trees in it. `passes`: others than those of the pipeline."""
    return CASE.sub(lambda case: _rewritten(case, region, passes), text)


def _rewritten(case: re.Match[str], region: Region, passes: Mapping[str, Pass] | None) -> str:
    region, options = wished(region, keywords(case[2]))
    run = (passes or dict(pipeline.passes_for(options)))[case[1]]
    before = OUTCOME.sub("", case[3]).rstrip("\n") or state(made_before(case[1], region, options), region)
    lines_above = "\n" * case.string.count("\n", 0, case.start(3))  # errors name lines of the file
    buffers, tree = parse_state(lines_above + before, region.scop.domain)
    program = replace(pipeline.initial_program(region.scop, options), tree=tree, buffers=buffers)
    found = run(program)
    assert [fault.message for fault in check(found)] == []
    old, new = state(program, region), state(found, region)
    said = [f"{remark.code}: {remark.message}" for remark in found.remarks]
    outcome = ["stays" if old == new else "becomes\n" + new, *["says"] * bool(said), *said]
    return "\n".join([case[0].partition("\n")[0], before, *outcome, "*/"])


def wished(region: Region, words: dict[str, Any]) -> tuple[Region, Options]:
    """The region, with what `assume="m >= 4"` says of its sizes, and the options."""
    scop, condition = region.scop.whole or region.scop, words.pop("assume", None)
    region = replace(region, scop=scop)
    if condition is not None:
        sizes = ", ".join(parameter.name for parameter in scop.parameters)
        assumed = isl.Set(f"[{sizes}] -> {{ : {condition} }}")
        region = replace(region, scop=replace(scop, assumed=scop.assumed.intersect(assumed)))
    return region, Options(**words)


def keywords(text: str) -> dict[str, Any]:
    """The values of `machine="zen4", strips=3`."""
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}


def made_before(name: str, region: Region, options: Options) -> Program:
    """What the passes before one make of the region."""
    program = pipeline.initial_program(region.scop, options)
    for known, run in pipeline.passes_for(options):
        if known == name:
            return program
        program = run(program)
    raise AssertionError(f"no pass {name}")


def state(program: Program, region: Region) -> str:
    """The buffers and the tree in the exact text; the instances only where they are not the region's."""
    nodes = [entry.text() for entry in entries(program.tree, exact=True)]
    if program.tree.domain.is_equal(region.scop.domain):
        nodes[0] = "domain"
    return "\n".join([*map(buffer_text, program.buffers.values()), *nodes])
