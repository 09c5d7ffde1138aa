"""`polyc.compile` and `polyc.explain`: what the commands print, by the same words."""

from __future__ import annotations

import html.parser
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click
import pytest
from click.testing import CliRunner

import polyc
from polyc.api.options import ShowOptions, keyword
from polyc.cli.main import cli

ROOT = Path(__file__).parents[2]
BLUR = ROOT / "docs" / "example" / "blur.c"
SCALE = """void scale(int n, double A[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] *= 2;
#pragma endscop
}
"""


def printed(*words: object) -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], prog_name="polyc", catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


NOT_FOR_STRINGS = {"output", "diagnostics_format", "quiet", "jobs"}
"""Options that say where, how and how much a command writes, and for how many files at once."""


def options_of(name: str) -> dict[str, click.Option]:
    """The options of a command with a long name or one in Python, by their keywords."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return {keyword(one): one for one in command.params if isinstance(one, click.Option)}


def test_the_keywords_are_the_options() -> None:
    hints = get_type_hints(polyc.CompileOptions)
    assert set(hints) == set(options_of("verify")) - NOT_FOR_STRINGS, "polyc/api/options.py: CompileOptions"
    for name, option in options_of("verify").items():
        if name in hints and isinstance(option.type, click.Choice):
            assert list(get_args(hints[name])) == list(option.type.choices)
        assert name not in hints or (hints[name] is bool) == option.is_flag


def test_what_explain_shows_are_the_options_of_the_command() -> None:
    shown = {name.removesuffix("_") for name in get_type_hints(ShowOptions)}
    own = {name for name, one in options_of("explain").items() if any(word.startswith("--") for word in one.opts)}
    assert shown == own - set(options_of("verify")) - NOT_FOR_STRINGS, "polyc/api/options.py: ShowOptions"


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({}, []),
        ({"target": "c", "tile_sizes": (16, 64)}, ["--target", "c", "--tile-sizes", "16,64"]),
        ({"tile_sizes": "none", "no_inline": True}, ["--tile-sizes", "none", "--no-inline"]),
        ({"tile_sizes": None, "no_inline": False}, []),
        ({"tile_sizes": 8, "fuse": "max", "strips": 2}, ["--tile-sizes", "8", "--fuse", "max", "--strips", "2"]),
        ({"defines": {"WINDOW": 5, "FAST": True}}, ["-D", "WINDOW=5", "-D", "FAST"]),
        ({"defines": ["WINDOW=5"], "undefines": "FAST"}, ["-D", "WINDOW=5", "-U", "FAST"]),
        ({"param": {"height": 100, "width": 80}}, ["--param", "height=100,width=80"]),
        ({"assume": "height >= 4", "live_out": []}, ["--assume", "height >= 4", "--live-out", ""]),
        ({"live_out": ["rows", "out"]}, ["--live-out", "rows,out"]),
        ({"sizes": {"tiles": (16, 128)}}, ["--sizes", "tiles=16,128"]),
        ({"time_tile": ("skewed", (4, 8)), "max_recompute": 12.5},
         ["--time-tile", "skewed:4,8", "--max-recompute", "12.5"]),
        ({"machine": "zen3", "threads": "always"}, ["--machine", "zen3", "--threads", "always"]),
        ({"include_dirs": BLUR.parent}, ["-I", BLUR.parent]),
    ],
    ids=str,
)  # fmt: skip
def test_the_text_is_that_of_the_command(keywords: Any, words: list[object]) -> None:
    assert polyc.compile(BLUR, **keywords).text == printed("compile", BLUR, *words, "-q", "-o", "-")


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_the_files_of_a_gpu(target: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed("compile", BLUR, "--target", target, "--block", "64", "-q")
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    result = polyc.compile(BLUR, target=target, block=64)
    assert result.files == written
    assert next(iter(result.files)) == "blur.polyc.c"
    path = result.write(tmp_path / "other.c")
    assert path == tmp_path / "other.c"
    assert {p.name for p in tmp_path.glob("other*")} == {name.replace("blur.polyc", "other") for name in written}
    assert path.read_text() == result.text == written["blur.polyc.c"]


def test_what_a_result_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = polyc.compile(str(BLUR), tile_sizes=(32, 64))
    assert (result.path, result.target, result.verified) == (str(BLUR), "openmp", True)
    assert [Path(one).name for one in result.dependencies if "stdc-predef" not in one] == ["blur.c", "blur.h"]
    assert result.groups == (
        polyc.Group(
            "blur",
            8,
            ("S0", "S1", "S2", "S3"),
            ("S2", "S3"),
            ("S0", "S1"),
            (32, 64),
            True,
            pytest.approx(0.0978, abs=1e-4),
        ),
    )
    assert result.buffers == (polyc.Buffer("blur", "rows_tile", "rows", (34, 64), "tile"),)
    assert {remark.code for remark in result.remarks} >= {"fused", "pretiling-fused"}
    assert all(isinstance(remark, polyc.Remark) for remark in result.remarks)
    assert result.tree == printed("compile", BLUR, "--tile-sizes", "32,64", "--emit", "tree", "-q")
    assert result.summary == "2 nests in 1 region: 1 group, 2 tiled, 2 fused, 2 parallel; verified"
    assert repr(result) == f"<polyc.Result of {BLUR} for openmp: {result.summary}>"
    with pytest.raises(FrozenInstanceError):
        result.target = "c"  # type: ignore[misc]
    monkeypatch.chdir(tmp_path)
    assert result.write() == Path("blur.polyc.c")
    assert Path("blur.polyc.c").read_text() == result.text


def test_no_input_is_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "scale.c"
    file.write_text(SCALE)
    with pytest.raises(polyc.UserError, match=r"is an input: give another name with -o \[usage\]"):
        polyc.compile(file).write(file)
    with pytest.raises(polyc.UserError, match=r"no-such-folder.* cannot be written: .* \[cannot-write\]"):
        polyc.compile(file).write(tmp_path / "no-such-folder" / "out.c")
    assert file.read_text() == SCALE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({}, []),
        ({"all_passes": True}, ["--all-passes"]),
        ({"format": "json"}, ["--format", "json"]),
        ({"format": "dot", "pass_": "schedule"}, ["--format", "dot", "--pass", "schedule"]),
        ({"format": "isl", "pass_": "schedule"}, ["--format", "isl", "--pass", "schedule"]),
    ],
    ids=str,
)
def test_explain_is_what_the_command_prints(keywords: dict[str, Any], words: list[str]) -> None:
    """In processes of their own: isl simplifies a relation in place, and prints it in another way the second time."""
    code = f"import polyc; print(polyc.explain({str(BLUR)!r}, tile_sizes=(32, 64), **{keywords!r}), end='')"
    told, shown = (
        subprocess.run([sys.executable, *line], capture_output=True, text=True, check=True, cwd=ROOT).stdout
        for line in (["-c", code], ["-m", "polyc", "explain", str(BLUR), "--tile-sizes", "32,64", *words])
    )
    seconds = r'"seconds": [\d.e-]+'
    assert re.sub(seconds, "", told) == re.sub(seconds, "", shown)


def test_a_result_explains_itself() -> None:
    result = polyc.compile(BLUR)
    assert result.explain(format="dot", pass_="final") == polyc.explain(BLUR, format="dot")
    with pytest.raises(polyc.UserError, match=r"there is no pass 'no' in this run; there are: initial, .* \[usage\]"):
        result.explain(pass_="no")
    with pytest.raises(TypeError, match=r"explain\(\) got an unexpected keyword argument 'tile_sizes'"):
        result.explain(tile_sizes=3)


def test_a_text_in_the_place_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("size.h").write_text("#define N 100\n")
    text = '#include "size.h"\n' + SCALE.replace("(int n, double A[n])", "(double A[N])").replace("< n", "< N")
    result = polyc.compile(text, target="c")
    Path("file.c").write_text(text)
    assert result.text == polyc.compile("file.c", target="c").text
    assert (result.path, list(result.files)) == ("source.c", ["source.polyc.c"])
    assert [one for one in result.dependencies if "stdc-predef" not in one] == ["size.h"]
    with pytest.raises(polyc.UserError) as caught:
        polyc.compile(text.replace("A[i]", "A[k]"))
    assert str(caught.value) == (
        "source.c:5:7: error: 'k' is not declared [undeclared]\n    hint: declare it before its use"
    )
    assert [(d.code, d.span) for d in caught.value.diagnostics] == [("undeclared", polyc.Span("source.c", 5, 7, 1))]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("\n", "empty-file"),
        ("int f(void);\n", "no-scop"),
        ("a\0\n", "binary-file"),
        ('#include "no-such.h"\n', "preprocessor"),
        ("no-such-file.c", "file-not-found"),
    ],
)
def test_problems_of_the_input(text: str, code: str) -> None:
    with pytest.raises(polyc.UserError) as caught:
        polyc.compile(text)
    assert [d.code for d in caught.value.diagnostics] == [code]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"tile_sizes": "x"}, "Invalid value for '--tile-sizes': 'x' is not 'auto', 'none' or sizes such as '32,8'"),
        ({"tile_sizes": (0,)}, "Invalid value for '--tile-sizes': a tile size has to be from 1 to 1048576: '0'"),
        ({"target": "metal"}, "Invalid value for '--target': 'metal' is not one of 'openmp', 'c', 'cuda', 'opencl'."),
        ({"sizes": {"rows": 3}}, "Invalid value for '--sizes': 'rows=3' is not tiles"),
        ({"grid": 8}, "--grid is for a GPU: the target is openmp, not cuda or opencl"),
        ({"machine": "nothing"}, "there is no machine 'nothing'"),
        ({"defines": {"2": 3}}, "Invalid value for '-D': '2=3' does not start with a macro's name"),
    ],
    ids=str,
)  # fmt: skip
def test_values_are_refused_in_the_words_of_the_command(keywords: Any, message: str) -> None:
    for call in (polyc.compile, polyc.explain, polyc.load):
        with pytest.raises(polyc.UserError) as caught:
            call(SCALE, **keywords)
        (problem,) = caught.value.diagnostics
        assert problem.code == "usage"
        assert problem.message.startswith(message)


def test_assumptions_are_checked_as_by_the_command() -> None:
    with pytest.raises(polyc.UserError, match=r"'m' in an assumption is not a parameter of any region \[bad-assume\]"):
        polyc.compile(SCALE, assume="m > 3")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"tile_size": 8}, r"compile\(\) got an unexpected keyword argument 'tile_size'; did you mean 'tile_sizes'\?"),
        ({"output": "x.c"}, r"compile\(\) got an unexpected keyword argument 'output'"),
        ({"no_verify": 1}, "no_verify is True or False, not 1"),
        ({"tile_sizes": {8: 8}}, "tile_sizes takes no dict"),
        ({"tile_sizes": True}, "tile_sizes takes no bool"),
        ({"strips": 1.5, "assume": 3}, "assume takes no int"),
        ({"param": {3: 4}}, "param has names as keys, not 3"),
    ],
    ids=str,
)
def test_types_are_checked(keywords: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        polyc.compile(SCALE, **keywords)


def test_options_that_exclude_each_other() -> None:
    with pytest.raises(polyc.UserError, match=r"--pass and --all-passes exclude each other \[usage\]"):
        polyc.explain(SCALE, pass_="final", all_passes=True)
    with pytest.raises(
        TypeError, match=r"explain\(\) got an unexpected keyword argument 'pas_'; did you mean 'pass_'\?"
    ):
        polyc.explain(SCALE, pas_="final")  # type: ignore[call-arg]


def test_what_no_file_is() -> None:
    for wrong in (3, None, b"file.c"):
        with pytest.raises(TypeError, match="a file's name or C text is wanted, not"):
            polyc.compile(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"compile\(\) takes 1 positional argument"):
        polyc.compile(SCALE, "c")  # type: ignore[call-arg]


class Markup(html.parser.HTMLParser):
    """Which elements there are, that they are closed, and what stands in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_notebook_shows_tree_and_code(tmp_path: Path) -> None:
    file = tmp_path / "<b>&amp;.c"
    file.write_bytes(b'/* <script>alert("x")</script> \xff */\n' + BLUR.read_bytes())
    result = polyc.compile(file, include_dirs=[BLUR.parent])
    shown = Markup(result._repr_html_())
    assert shown.open == []
    assert shown.seen == {"div", "p", "b", "code", "details", "summary", "pre", "table", "tr", "th", "td"}
    assert result.tree in shown.words
    assert result.text.replace("\udcff", "\ufffd") in shown.words
    assert result.summary in shown.words
    assert all(remark.message in shown.words for remark in result.remarks)
    assert result._repr_html_().encode()


def test_importing_polyc_loads_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import polyc; "
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('__')))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "['polyc']\n"


def test_compiling_loads_no_numpy() -> None:
    code = f"import sys, polyc; polyc.compile({str(BLUR)!r}); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False\n"


def test_all_names_are_there() -> None:
    assert set(polyc.__all__) <= set(dir(polyc))
    assert all(getattr(polyc, name) is not None for name in polyc.__all__)
    with pytest.raises(AttributeError, match="module 'polyc' has no attribute 'nothing'"):
        polyc.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_explain_is_a_function_and_a_package() -> None:
    """A module of the package may be imported first: that must not hide the function."""
    code = (
        "import polyc.explain.words.overview, polyc; from polyc import explain; "
        f"assert explain is polyc.explain; print(explain({str(BLUR)!r})[:-1].count(chr(10)) > 3)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "True\n"


def test_threads_may_compile_at_once() -> None:
    texts = [SCALE.replace("*= 2", f"*= {k}") for k in range(4)]
    found: dict[int, str] = {}

    def one(position: int) -> Callable[[], None]:
        def work() -> None:
            found[position] = polyc.compile(texts[position]).text + polyc.explain(texts[position])

        return work

    threads = [threading.Thread(target=one(position)) for position in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: polyc.compile(text).text + polyc.explain(text) for k, text in enumerate(texts)}
