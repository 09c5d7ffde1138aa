"""The lines of the pipeline: what a pass reads, needs and promises; and passes that fail, which are left out."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from polyc import pipeline
from polyc.model.program import Options, Program
from polyc.model.tree import Band, Domain, rewrite
from polyc.passes.forms import Broken, Form, Step, checked
from tests.programs import compiled

TARGETS = ("openmp", "cuda")
OF_THE_TARGET = {"gpu", "target", "machine"}
TEXT = """
void f(int n, double a[n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        b[i] = 2 * a[i];
#pragma endscop
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_line_has_the_options_that_the_pass_reads(target: str) -> None:
    for step in pipeline.steps_for(Options(target=target)):
        run = step.run.func if isinstance(step.run, partial) else step.run
        text = Path(inspect.getfile(run)).read_text()
        read = set(re.findall(r"\boptions(?:_of\([^)]*\)|_for\([^)]*\))?\.(\w+)", text)) - OF_THE_TARGET - {"given"}
        asked = set(re.findall(r"options\.(\w+)", inspect.getsource(step.when))) - OF_THE_TARGET
        assert read <= {*step.options, *asked}, step.name
        assert set(step.options) <= set(Options.__dataclass_fields__), step.name


def tiles_below(program: Program) -> Program:
    """A pass that declares a buffer which does not exist."""
    from polyc.model.tree import Mark

    return replace(program, tree=Domain(program.tree.domain, Mark("allocate", program.tree.child, names=("nothing",))))


def empty_bands(program: Program) -> Program:
    child = rewrite(program.tree.child, lambda n: replace(n, members=()) if isinstance(n, Band) else n)
    return replace(program, tree=Domain(program.tree.domain, child))


def marks(program: Program) -> Program:
    def marked(band: Band) -> Band:
        return replace(band, members=tuple(replace(m, parallel=True) for m in band.members))

    child = rewrite(program.tree.child, lambda n: marked(n) if isinstance(n, Band) else n)
    return replace(program, tree=Domain(program.tree.domain, child))


def fails(_: Program) -> Program:
    return [][1]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (tiles_below, "nothing is declared, and no buffer"),
        (empty_bands, "a band has no loops"),
        (marks, "it promised that no loop is marked"),
        (fails, "list index out of range (IndexError at test_forms.py:"),
    ],
)
def test_the_pass_that_breaks_a_tree_is_named(
    run: pipeline.Pass, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POLYC_RAISE")
    steps = pipeline.steps_for

    def with_fault(options: Options) -> list[Step]:
        return [replace(step, run=run) if step.name == "vectorize" else step for step in steps(options)]

    monkeypatch.setattr(pipeline, "steps_for", with_fault)
    result = compiled(TEXT, tmp_path)
    (remark,) = (one for one in result.program.remarks if one.code == "pass-failed")
    assert remark.stage == "vectorize"
    assert "the pass vectorize failed and was left out" in remark.message
    assert why in remark.message
    assert "#pragma omp parallel for" in result.text, "all other passes ran"


def test_what_a_pass_needs_is_asked_before_it_runs(tmp_path: Path) -> None:
    program = compiled(TEXT, tmp_path).program
    with pytest.raises(Broken, match="it needs that no loop is marked"):
        checked(Step("vectorize", lambda p: p, needs=(Form.NO_THREADS,)), Options())(program)
