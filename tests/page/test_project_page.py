"""The page of a project in a browser: it loads in silence, tables are sorted, and a link opens its source."""

from __future__ import annotations

from pathlib import Path

from polyc.explain.facts.translation_unit import from_data
from polyc.explain.html.project import render

from .browser import Browser

NAMES = """return [...document.querySelectorAll("#files tbody tr")].map((row) => row.cells[0].textContent)"""
OPEN = """return [...document.querySelectorAll("details")].map((one) => one.open)"""


def unit(name: str, lines: int, compiled: int) -> dict[str, object]:
    loops = [
        {"kind": "for", "function": "work", "line": n + 1, "last": n + 1, "depth": 0, "compiled": n < compiled,
         "done": ["tiled", "parallel"] if n < compiled else [], "reason": "" if n < compiled else "'g<i>' is called"}
        for n in range(lines)
    ]  # fmt: skip
    source = "".join(f"for (int i = 0; i < {n} && a<b; i++) ;\n" for n in range(lines))
    return {"path": f"/home/{name}", "untouched": "", "seconds": 1.5, "loops": loops, "source": source}


def test_the_page_of_a_project(browser: Browser, tmp_path: Path) -> None:
    units = [from_data(unit("one.c", 3, 2)), from_data(unit("ten.c", 10, 1)), from_data(unit("deep/two.c", 40, 40))]
    file = tmp_path / "project.html"
    file.write_text(render(units, {"work": 50.0}), encoding="utf-8")
    browser.driver.get(file.as_uri())
    assert browser.run(NAMES) == ["one.c", "ten.c", "deep/two.c"]
    head = browser.find("#files th:nth-child(2) button")
    head.click()
    assert browser.run(NAMES) == ["deep/two.c", "ten.c", "one.c"]
    head.click()
    assert browser.run(NAMES) == ["one.c", "ten.c", "deep/two.c"]
    browser.find("#loops tbody tr:nth-child(5) a").click()
    assert browser.run(OPEN) == [False, True, False]
    assert browser.run("return document.querySelector(':target').textContent").startswith(
        "2for (int i = 0; i < 1 && a<b"
    )
    for width in (1280, 400):
        browser.size(width)
        assert browser.run("return document.documentElement.scrollWidth") <= width
    assert [entry["message"] for entry in browser.logs("browser")] == []
    assert set(browser.requests()) <= {file.as_uri(), f"{file.as_uri()}#f1l2", "data:,"}
