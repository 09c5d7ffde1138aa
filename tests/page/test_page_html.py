"""The page as a text: one whole file that asks for nothing, and says the same each time."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from polyc.explain.html import render
from polyc.model.program import Options

from .pages import CAMERA, CONV, GEMM, JACOBI, LAPLACIAN, ROOT, Page, page, page_of

VOID = {"meta", "link", "input", "br"}
SVG = {"rect", "path", "polygon", "use"}
PAGES = [(CONV, "openmp"), (CONV, "cuda"), (CONV, "opencl"), (CAMERA, "openmp"), (GEMM, "openmp"), (JACOBI, "c")]
ODD = b"""/* </script><b onclick="x">&amp; \xff \x01 http://example.org/ */
void f(int n, double a[n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++) /* </code><script>alert("1 < 2")</script> */
        b[i] = a[i] < 2 && a[i] > 1 ? a[i] : '"' + '<' + '&';
#pragma endscop
}
"""


class Outline(HTMLParser):
    """Checks that elements close in order, and keeps what the tests ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.elements: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert name != "style", "the policy forbids it"
            assert not name.startswith("on"), "the policy forbids it"
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name == "href" and (value or "").startswith("#"):
                self.targets.add((value or "")[1:])
            if name == "data-as":
                self.targets.add(value or "")
            if name == "data-all":
                self.targets |= {f"r0s{number}" for number in (value or "").split()}

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID | SVG, tag
        self.handle_starttag(tag, attrs)
        if tag in SVG:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag


def outline(text: str) -> Outline:
    parser = Outline()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


@pytest.mark.parametrize(("path", "target"), PAGES, ids=lambda p: p.stem if isinstance(p, Path) else p)
def test_elements_close_and_links_lead_somewhere(path: Path, target: str) -> None:
    found = outline(page(path, target).text)
    assert len(found.ids) == len(set(found.ids))
    assert found.targets <= set(found.ids)


@pytest.mark.parametrize(("path", "target"), PAGES, ids=lambda p: p.stem if isinstance(p, Path) else p)
def test_nothing_is_asked_of_a_network(path: Path, target: str) -> None:
    text = page(path, target).text
    assert not re.search(r"(src|href|url|action|data)\s*=?\s*[(\"']?\s*(https?:)?//", text)
    assert "http" not in text.replace("http-equiv", "")
    loaded = [
        a for a in outline(text).attributes if a[1] in ("src", "srcset", "action", "poster", "data", "xlink:href")
    ]
    assert loaded == []


def test_thirty_stages_stay_below_a_megabyte() -> None:
    assert len(page(CAMERA).compiled[0].program.scop.statements) > 30
    assert len(page(CAMERA).text.encode()) < 500_000


@pytest.mark.long
def test_a_hundred_statements_stay_below_a_megabyte() -> None:
    assert len(page(LAPLACIAN).compiled[0].program.scop.statements) > 100
    assert len(page(LAPLACIAN).text.encode()) < 1_000_000


def test_the_policy_names_the_style_and_the_script() -> None:
    text = page(CONV).text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none';")
    for element, kind in (("style", "style-src"), ("script", "script-src")):
        inner = re.search(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        assert inner is not None
        digest = base64.b64encode(hashlib.sha256(inner[1].encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy[1]
    assert "unsafe" not in policy[1]


def test_the_same_run_gives_the_same_page() -> None:
    """In a process of its own: sets of names have another order there."""
    command = [sys.executable, "-m", "polyc", "explain", str(CONV), "--format", "html"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=ROOT)
    other = page_of(CONV, Options()).text
    assert page(CONV).text == other
    assert done.stdout.decode() == other


def test_what_stands_in_a_file_stays_text(tmp_path: Path) -> None:
    file = tmp_path / "odd <b>.c"
    file.write_bytes(ODD)
    found = page_of(file, Options())
    assert "<script>alert" not in found.text
    assert "<b onclick" not in found.text
    assert "\ufffd \ufffd" in found.text  # what no page can have
    parsed = outline(found.text)
    assert "b" in parsed.elements  # of the page itself
    found.text.encode("utf-8")


def test_a_file_without_a_region_has_a_page(tmp_path: Path) -> None:
    file = tmp_path / "empty.c"
    file.write_text("int x;\n")
    found = page_of(file, Options())
    outline(found.text)
    assert "There is no region" in found.text


def test_several_regions_are_found_from_the_top(tmp_path: Path) -> None:
    loop = "#pragma scop\n  for (int i = 0; i < n; i++)\n    a[i] *= 2;\n#pragma endscop\n"
    file = tmp_path / "two.c"
    file.write_text("".join(f"void {name}(int n, double a[n])\n{{\n{loop}}}\n" for name in "fg"))
    text = page_of(file, Options()).text
    outline(text)
    assert '<a href="#r0">f(), line 3</a> <a href="#r1">g(), line 10</a>' in text


def test_a_nest_tells_what_became_of_it() -> None:
    text = page(CONV).text
    assert '<div class="note fused"><b>S0</b> <a href="#r0g0">runs in the tiles of group 1</a></div>' in text
    assert '<div class="note done"><b>S1, S2</b> <a href="#r0g0">tiled 32 x 512, parallel (group 1)</a></div>' in text


def test_passes_that_changed_nothing_are_only_named() -> None:
    text = page(CONV).text
    assert '<b>inline, chosen, temporaries</b> <span class="dim">changed nothing</span>' in text
    assert 'id="r0-pass-basteln"' in text
    assert 'id="r0-pass-jam"' not in text


def test_numbers_of_the_sizes() -> None:
    text = page(CONV).text
    for told in ("218 KB of 32.8 KB (665 %)", "from memory", "553 MB", "32 x 512 was chosen; the next, 8 x 960,"):
        assert told in text
    gpu = page(CONV, "cuda").text
    assert re.search(
        r"32 x 64 on 32 x 16 threads was chosen, with [\d.]+ % of the limit that binds it; the next, ", gpu
    )
    assert "shared memory of a block" in gpu
    assert "registers of a thread" in gpu


def test_panels_have_their_levels() -> None:
    """All threads share the panel of rows here, so that it is no part of one thread's cache."""
    text = page(GEMM).text
    for told in ("the sums, in vector registers", "a strip of columns, in L1", "the rows of all threads, in L3"):
        assert told in text


def test_shapes_of_time_tiles_were_compared() -> None:
    assert re.search(r"\w+ [\dx ]+ was chosen; the next, \w+ [\dx ]+, is predicted to take", page(JACOBI).text)


def test_what_was_left_alone_has_a_page(tmp_path: Path) -> None:
    file = tmp_path / "sum.c"
    file.write_text(
        "void f(int n, double a[n])\n{\n#pragma scop\n  for (int i = 1; i < n; i++)\n    a[i] = a[i - 1] * 2;\n"
        "#pragma endscop\n}\n"
    )
    found = page_of(file, Options())
    outline(found.text)
    assert "not parallel: each of its loops carries a dependence" in found.text
    assert "No nests were grouped." in found.text
    assert "No picture: it is not tiled." in page(CAMERA).text


def test_a_dependence_that_was_the_reason_has_a_witness_and_advice() -> None:
    text = page(CAMERA).text
    assert re.search(r'<p class="witness">because S\d+\[[^<]* writes [^<]*, and S\d+\[', text)
    assert '<p class="advice">' in text


def test_a_budget_that_is_used_up_leaves_out_the_picture() -> None:
    base: Page = page(CONV)
    (one,) = base.compiled
    little = replace(one.program, options=replace(base.options, budget=10))
    text = render(base.source, [replace(one, program=little)], base.options)
    outline(text)
    assert "No picture: measuring its tiles takes more isl operations than the budget allows" in text
