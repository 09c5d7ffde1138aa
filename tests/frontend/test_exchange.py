"""Pointers that change places in the loop over time: one array for each name, and what the names are in the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polyc.codegen.render import render_region
from polyc.errors import UserError
from polyc.model import ctree as c
from polyc.model.scop import Scop
from polyc.records import replace
from polyc.replay.run import replay
from polyc.reread import text_faults
from tests.programs import compiled, region_of

from .conftest import Modeller

Relations = Callable[[Scop, str], list[str]]
HEAD = "void use(double *, double *);\nvoid f(int n, int k, int lo, double *a, double *b, double *c, double *d)"
STEP = "for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];"


def program(swap: str, head: str = "int t = 0; t < k; t++", step: str = STEP, before: str = "", after: str = "") -> str:
    region = f"#pragma scop\nfor ({head}) {{\n{step}\n{swap}\n}}\n#pragma endscop"
    return f"{HEAD}\n{{\n{before}\n{region}\n{after}\nuse(a, b);\n}}\n"


SWAPS = [
    "double *t_ = a; a = b; b = t_;",
    "{ double *t_ = b; b = a; a = t_; }",
    "do { double *t_ = a; a = b; b = (double *)t_; } while (0);",
    "double *x, *y; x = b; y = a; a = x, b = y;",
]


@pytest.mark.parametrize("swap", SWAPS)
def test_two_buffers(swap: str, scop: Modeller, relations: Relations, same: Callable[[object, str], None]) -> None:
    found = scop(program(swap))
    same(found.statements["S0"].domain, "[n, k] -> { S0[t, i] : 0 <= t < k and 0 < i < n - 1 and t mod 2 = 0 }")
    same(found.statements["S1"].domain, "[n, k] -> { S1[t, i] : 0 <= t < k and 0 < i < n - 1 and t mod 2 = 1 }")
    assert relations(found, "S0")[-1] == "write { S0[t, i] -> b[i] }"
    assert relations(found, "S1")[-1] == "write { S1[t, i] -> a[i] }"
    (one,) = found.exchanges
    assert dict(one.moves) == {"a": "b", "b": "a"}
    assert one.when.is_equal(type(one.when)("[k] -> { : k > 0 and k mod 2 = 1 }"))
    assert found.live_out == {"a", "b"}


@pytest.mark.parametrize(
    ("head", "even", "odd"),
    [
        ("int t = lo; t <= k; t++", "lo <= t <= k and (t - lo) mod 2 = 0", "lo <= k and (k - lo) mod 2 = 0"),
        ("int t = k; t > 0; t--", "0 < t <= k and (k - t) mod 2 = 0", "k > 0 and k mod 2 = 1"),
        ("int t = 0; t < k; t += 3", "0 <= t < k and t mod 6 = 0", "k > 0 and k mod 6 >= 1 and k mod 6 <= 3"),
        ("int t = 0; t < 5; t++", "0 <= t < 5 and t mod 2 = 0", "true"),
        ("unsigned t = 0; t < 4; t++", "0 <= t < 4 and t mod 2 = 0", None),
    ],
)
def test_counting(head: str, even: str, odd: str | None, scop: Modeller, same: Callable[[object, str], None]) -> None:
    found = scop(program(SWAPS[0], head))
    parameters = "[n, k, lo]"
    statement = found.statements["S0"].domain
    wanted = type(statement)(f"{parameters} -> {{ S0[t, i] : {even} and 0 < i < n - 1 }}")
    assert statement.is_equal(wanted)
    whens = [one.when for one in found.exchanges]
    if odd is None:
        assert not whens
    else:
        assert whens[0].is_equal(type(whens[0])(f"{parameters} -> {{ : {odd} }}"))


def test_three_buffers_and_variables_of_the_body(scop: Modeller) -> None:
    step = "for (int i = 1; i < n - 1; i++) { double l = a[i - 1] + a[i + 1]; int q = i + 1; c[i] = l - b[q]; }"
    found = scop(program("d = b; b = a; a = c; c = d;", step=step))
    assert len(found.statements) == 6
    assert {statement.loops for statement in found.statements.values()} == {("t", "i")}
    assert found.privatizable >= {"l", "l_2", "l_3"}
    assert all(access.exact for s in found.statements.values() for access in s.accesses)
    assert [dict(one.moves) for one in found.exchanges] == [{"a": "c", "b": "a"}, {"a": "b", "b": "c"}]
    assert found.moved == ("a", "b", "c", "d")
    assert found.carriers == ("d",)


def test_a_swap_before_the_step_and_what_nobody_reads(scop: Modeller, relations: Relations) -> None:
    found = scop(program(STEP, step=SWAPS[0]).replace("use(a, b);", "use(d, b);"))
    assert relations(found, "S0")[-1] == "write { S0[t, i] -> a[i] }"
    assert [dict(one.moves) for one in found.exchanges] == [{"b": "a"}]
    assert not scop(program(SWAPS[0]).replace("use(a, b);", "")).exchanges


def test_around_the_loop(scop: Modeller) -> None:
    """Other nests before it, and behind it some that use other arrays."""
    text = program(SWAPS[0])
    text = text.replace("#pragma scop\n", "#pragma scop\nfor (int i = 0; i < n; i++) a[i] = c[i];\n")
    text = text.replace("#pragma endscop", "for (int i = 0; i < n; i++) d[i] = c[i];\n#pragma endscop")
    assert list(scop(text).statements) == ["S0", "S1", "S2", "S3"]


@pytest.mark.parametrize(
    ("swap", "around"),
    [
        ("double *t_ = a; a = b;", ""),
        ("double *t_ = a; a = b; b = c; c = d; d = t_;", ""),
        ("if (t == 3) { double *t_ = a; a = b; b = t_; }", ""),
        ("double *t_ = a; a = b + 1; b = t_;", ""),
        ("double *t_ = a; a = b; b = t_; if (n == t) break;", ""),
        (SWAPS[0], "for (int s = 0; s < n; s++)"),
        (f"{SWAPS[0]} }} for (int i = 0; i < n; i++) {{ c[i] = a[i];", ""),
        (SWAPS[0].replace("t_", "w"), ""),
    ],
)
def test_what_is_refused(swap: str, around: str, scop: Modeller) -> None:
    text = program(swap).replace("#pragma scop\n", f"#pragma scop\n{around}\n")
    if "w = a" in swap:
        text = text.replace("t < k", "t < k && c[t] > 0")
    if "d = t_" in swap:
        text = text.replace("a[i + 1]", "a[i + 1] + c[i] + d[i]").replace("int lo, ", "int lo, double *e, ")
        text = text.replace("d = t_", "d = e; e = t_").replace("+ d[i]", "+ d[i] + e[i]")
    with pytest.raises(UserError) as caught:
        scop(text)
    assert {d.code for d in caught.value.diagnostics} >= {"pointer-assignment"}


def test_what_the_checks_say_of_wrong_places(tmp_path: Path) -> None:
    text = program(SWAPS[0])
    region, result = region_of(text, tmp_path), compiled(text, tmp_path)
    assert result.verified
    assert replay(region, result.program, result.text).kind == "agrees"
    rendered = result.text
    assert "a = polyc_b;" in rendered
    wrong = rendered.replace("a = polyc_b;", "a = polyc_a;")
    assert replay(region, result.program, wrong).kind == "differs"
    assert replay(region, result.program, rendered.replace("if (k >= 1 &&", "if (k >= 3 &&")).kind == "differs"


def test_the_text_is_compared_with_the_model(tmp_path: Path) -> None:
    text = program(SWAPS[0])
    region, result = region_of(text, tmp_path), compiled(text, tmp_path)
    rendered = render_region(result.program, region, True)
    assert text_faults(result.program, region, rendered) == []
    (whole,) = rendered.after
    assert isinstance(whole, c.If)
    assert isinstance(whole.then, c.Block)
    *saved, first, second = whole.then.body
    turned = c.If(c.Binary(">", c.Name("k"), c.Literal("0")), whole.then)
    half = c.If(whole.condition, c.Block((*saved, first)))
    early = c.If(whole.condition, c.Block((first, *saved, second)))
    for after in [(), (whole, whole), (turned,), (whole.then,), (half,), (early,)]:
        (fault,) = text_faults(result.program, region, replace(rendered, after=after))
        assert "pointers" in fault.message
