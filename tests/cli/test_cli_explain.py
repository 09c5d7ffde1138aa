"""`polyc explain`: the four forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import islpy as isl
import pytest
from click.testing import Result

Polyc = Callable[..., Result]


PLACE = {"file", "function", "line"}
KEYS = {
    *PLACE,
    "parameters",
    "statements",
    "groups",
    "buffers",
    "remarks",
    "passes",
    "verified",
    "certificate",
    "nests",
}


def test_all_passes_tells_nests_groups_and_the_trees(polyc: Polyc, inputs: Path, tmp_path: Path) -> None:
    result = polyc("explain", inputs / "conv.c", "--all-passes")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert list(tmp_path.iterdir()) == []
    for text in (
        "conv.c:9: region in conv(), verified",
        "conv:10  S0      runs in the tiles of group 1",
        "extension schedule (15): { [h_t, w_t] -> S0[h, w] :",
        "footprint (13): { [h_t, w_t] -> A[",
        "A_tile[",
        "recomputed",
        "[fused, basteln]",
        "tree final",
    ):
        assert text in result.stdout


def test_text_tells_why_not(polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "void f(int n, double a[n])\n{\n#pragma scop\n  for (int i = 1; i < n; i++)\n    a[i] = a[i - 1] * 2;\n"
        "#pragma endscop\n}\n"
    )
    assert "not parallel [carried-dependence]" in polyc("explain", "a.c").stdout
    assert "not parallel: each of its loops carries a dependence" in polyc("explain", "a.c", "--all-passes").stdout
    assert "1 not parallel (line 5: carried-dependence)" in polyc("compile", "a.c").stderr


def test_json_has_exactly_the_keys_of_the_contract(polyc: Polyc, inputs: Path) -> None:
    answer = json.loads(polyc("explain", inputs / "conv.c", "--format", "json").stdout)
    assert set(answer) == {"scops"}
    (scop,) = answer["scops"]
    assert set(scop) == KEYS
    assert (scop["function"], scop["line"], scop["verified"]) == ("conv", 9, True)
    assert scop["certificate"] == {"tree": "shown", "text": "shown", "run": "agrees"}
    assert sorted(scop["parameters"]) == ["H", "KH", "KW", "W"]
    assert scop["statements"][2] == {"name": "S2", "line": 18, "text": "C[h][w] += A[h + kh][w + kw] * B[kh][kw];"}
    (group,) = scop["groups"]
    wanted = {"statements", "outputs", "fused", "tile_sizes", "parallel", "extensions", "recomputation"}
    assert set(group) == wanted
    assert group["fused"] == ["S0"]
    assert group["parallel"] is True
    assert all(isinstance(size, int) for size in group["tile_sizes"])
    assert isinstance(group["recomputation"], float)
    (extension,) = group["extensions"]
    assert extension["statement"] == "S0"
    assert isl.Map(extension["relation"]).get_tuple_name(isl.dim_type.out) == "S0"
    (buffer,) = scop["buffers"]
    assert buffer["array"] == "A"
    assert len(buffer["extents"]) == 2
    told = {"code", "pass", "line", "statements", "message", "data", "title", "advice", "lines", "nests", "other"}
    assert set(scop["remarks"][0]) == {*told, "witness"}
    first, second, _ = scop["nests"]
    assert (first["line"], first["last_line"], first["statements"]) == (10, 12, ["S0"])
    assert first["label"] == "conv:10"
    assert "Its label in a polyc.toml: conv:10\n" in polyc("explain", inputs / "conv.c", "--why", 10).stdout
    assert first["fused"]
    assert [(loop["name"], loop["line"], loop["carries"] is None) for loop in second["loops"]] == [
        ("h", 13, True),
        ("w", 14, True),
        ("kh", 16, False),
        ("kw", 17, False),
    ]
    assert second["loops"][3]["carries"]["text"].startswith("S2[h=0, w=0, kh=0, kw=0] writes C[0][0], and ")
    names = [one["name"] for one in scop["passes"]]
    assert (names[0], names[-1]) == ("initial", "final")
    assert all(one["tree"].startswith("domain ") and one["seconds"] >= 0 for one in scop["passes"])


def test_passes(polyc: Polyc, inputs: Path) -> None:
    one = polyc("explain", inputs / "conv.c", "--pass", "schedule").stdout
    assert "tree schedule" in one
    assert "tree final" not in one
    every = polyc("explain", inputs / "conv.c", "--all-passes").stdout
    for text in ("tree initial", "tree schedule", "tree final", "flow of A: { S0[h, w] -> S2["):
        assert text in every
    wrong = polyc("explain", inputs / "conv.c", "--pass", "nothing")
    assert wrong.exit_code == 2
    assert "there are: initial, inline, chosen, temporaries, schedule, " in wrong.stderr
    assert polyc("explain", inputs / "conv.c", "--pass", "schedule", "--all-passes").exit_code == 2


def test_isl_form_is_read_by_isl(polyc: Polyc, inputs: Path) -> None:
    lines = polyc("explain", inputs / "conv.c", "--format", "isl", "--all-passes").stdout.splitlines()
    readers = {"context": isl.Set, "assumed": isl.Set, "domain": isl.UnionSet, "schedule": isl.Schedule.read_from_str}
    for line in lines[1:]:
        label, _, text = line.partition(": ")
        if label.startswith("schedule"):
            isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text)
        else:
            readers.get(label, isl.UnionMap)(text)
    assert sum(line.startswith("schedule ") for line in lines) > 3


@pytest.mark.parametrize("words", [(), ("--all-passes",)])
def test_dot_is_balanced(polyc: Polyc, inputs: Path, words: tuple[str, ...]) -> None:
    text = polyc("explain", inputs / "conv.c", "--format", "dot", *words).stdout
    assert text.startswith("digraph polyc {")
    outside = "".join(part for k, part in enumerate(text.replace('\\"', "").split('"')) if k % 2 == 0)
    assert outside.count("{") == outside.count("}") == 2 + (text.count("subgraph") - 1)
    assert 'label="A"' in text


def test_bad_input_is_1(polyc: Polyc, inputs: Path) -> None:
    result = polyc("explain", inputs / "bad.c")
    assert result.exit_code == 1
    assert "bad.c:9:13: error: " in result.stderr


GONE = {
    "stencils": """void f(int n, double a[n], double out[n])
{
  double b[400], c[400], d[400];
#pragma scop
  for (int i = 1; i < n - 1; i++)
    b[i] = a[i - 1] + a[i] + a[i + 1];
  for (int i = 2; i < n - 2; i++)
    c[i] = b[i - 1] + b[i] + b[i + 1];
  for (int i = 3; i < n - 3; i++)
    d[i] = c[i - 1] + c[i] + c[i + 1];
  for (int i = 4; i < n - 4; i++)
    out[i] = d[i - 1] + d[i] + d[i + 1];
#pragma endscop
}
""",
    "elementwise": """void f(int n, double a[n], double out[n])
{
  double b[400];
#pragma scop
  for (int i = 0; i < n; i++)
    b[i] = a[i] * 2;
  for (int i = 1; i < n; i++)
    out[i] = b[i] + b[i - 1];
#pragma endscop
}
""",
    "factors in place": """void f(int n, float a[n][n])
{
#pragma scop
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < j; i++) {
      float sum = a[i][j];
      for (int k = 0; k < i; k++)
        sum -= a[i][k] * a[k][j];
      a[i][j] = sum;
    }
    for (int i = j; i < n; i++) {
      float sum = a[i][j];
      for (int k = 0; k < j; k++)
        sum -= a[i][k] * a[k][j];
      a[i][j] = sum;
    }
  }
#pragma endscop
}
""",
}
"""Programs in which passes take statements away, or move them."""
FORMS = ("text", "html", "json", "svg", "dot", "isl")


@pytest.mark.parametrize("name", GONE)
def test_statements_that_passes_took_away(name: str, polyc: Polyc, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(GONE[name])
    (scop,) = json.loads(polyc("explain", "a.c", "--format", "json").stdout)["scops"]
    known = {statement["name"]: statement["line"] for statement in scop["statements"]}
    assert [nest["label"] for nest in scop["nests"]] == [f"f:{nest['line']}" for nest in scop["nests"]]
    for nest in scop["nests"]:
        assert all(nest["line"] <= known[statement] <= nest["last_line"] for statement in nest["statements"])
    first = [line for line, text in enumerate(GONE[name].splitlines(), 1) if text.startswith("  for")]
    assert [nest["line"] for nest in scop["nests"]] == first
    asked = [("--format", form, "-o", f"out.{form}") for form in FORMS if form != "text"]
    asked += [("--all-passes",), *(("--why", str(nest["line"])) for nest in scop["nests"])]
    for options in asked:
        result = polyc("explain", "a.c", *options)
        assert result.exit_code == 0, result.output
        assert "internal error" not in result.output
