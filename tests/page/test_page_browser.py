"""The page in a browser: it loads in silence, and all that can be moved moves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from polyc.explain.pictures import panel as pictures
from polyc.explain.pictures.tiles import Tiles, tiles_of

from .browser import Browser
from .pages import CAMERA, CONV, GEMM, JACOBI, page

PAGES = [(CONV, "openmp"), (CONV, "cuda"), (CAMERA, "openmp"), (GEMM, "openmp"), (JACOBI, "openmp")]
WHITE, DARK = "rgb(255, 255, 255)", "rgb(22, 24, 27)"
SLIDE = """
const picture = arguments[0], told = (one, ...names) => names.map((name) => one.getAttribute(name)).join(" ");
arguments[1].forEach((value, loop) => {
  const input = picture.querySelectorAll("input[type=range]")[loop];
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
});
return [...picture.querySelectorAll("figure")].map((figure) => [
  figure.classList.contains("away"),
  [...figure.querySelectorAll("polygon")].map((one) => told(one, "class", "points")).sort(),
  [...figure.querySelectorAll("svg text")].map((one) => `${one.textContent} ${told(one, "x", "y")}`),
  figure.querySelector(".where").textContent, figure.querySelector(".again").textContent]);
"""


TINY = """
const has = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
return [...document.querySelectorAll("body *")].filter((one) => !one.closest("svg, script") && has(one) &&
  parseFloat(getComputedStyle(one).fontSize) < 11).map((one) => one.outerHTML.slice(0, 80));
"""


def named(item: object) -> str:
    return item.stem if isinstance(item, Path) else str(item)


@pytest.mark.parametrize(("path", "target"), PAGES, ids=named)
def test_it_loads_in_silence_and_alone_and_fits(browser: Browser, path: Path, target: str) -> None:
    address = browser.open(page(path, target))
    browser.find("#theme").click()
    assert browser.run("return document.documentElement.scrollWidth") <= 1280
    browser.find("#open").click()
    assert browser.run(TINY) == []
    for width in (1280, 400):
        browser.size(width)
        assert browser.run("return document.documentElement.scrollWidth") <= width
    assert [entry["message"] for entry in browser.logs("browser")] == []
    assert set(browser.requests()) <= {address, "data:,"}


def test_folding_by_mouse_and_by_keyboard(browser: Browser) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(page(CONV))
    stage = browser.find("#r0-pass-basteln")
    summary = stage.find_element("css selector", "summary")
    assert stage.get_attribute("open") is None
    summary.click()
    assert stage.get_attribute("open") is not None
    assert stage.find_element("css selector", ".n.new").is_displayed()
    summary.send_keys(Keys.ENTER)
    assert stage.get_attribute("open") is None
    browser.find("#open").click()
    assert browser.run("return [...document.querySelectorAll('details')].every((one) => one.open || one.dataset.as)")
    browser.find("#close").click()
    assert not browser.run("return [...document.querySelectorAll('details')].some((one) => one.open)")


def test_what_a_pass_changed_is_seen(browser: Browser) -> None:
    browser.open(page(CONV))
    browser.find("#r0-pass-basteln > summary").click()
    new = browser.all("#r0-pass-basteln .n.new > summary code")
    assert any(one.text.startswith("extension") for one in new)
    assert len({one.value_of_css_property("background-color") for one in new if one.is_displayed()}) == 1
    assert browser.find("#r0-pass-parallel .n.changed .was").get_attribute("textContent").startswith("before: ")


def test_the_slider_moves_by_keyboard(browser: Browser) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(page(CONV))
    slider, told = browser.find(".slider input"), browser.find(".slider output")
    where = browser.find("figure .where")
    assert (told.text, where.text) == ("2880", "h 2880 to 2911 (32), w 3584 to 4095 (512)")
    before = browser.find("figure polygon.own").get_attribute("points")
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert (told.text, where.text) == ("5728", "h 5728 to 5755 (28), w 3584 to 4095 (512)")
    assert browser.find("figure polygon.own").get_attribute("points") != before


@pytest.mark.parametrize("path", [CONV, CAMERA, JACOBI], ids=named)
def test_every_tile_is_drawn_as_python_draws_it(browser: Browser, path: Path) -> None:
    found = page(path)
    browser.open(found)
    drawn = [t for group in found.compiled[0].program.groups if (t := tiles_of(found.compiled[0].program, group))]
    places = browser.all(".picture")
    assert len(places) == len(drawn) > 0
    for place, tiles in zip(places, drawn, strict=True):
        for index in sorted({at for panel in tiles.panels for at in panel.frames}):
            compare(browser.run(SLIDE, place, list(index)), tiles, index)


def compare(figures: list[Any], tiles: Tiles, index: tuple[int, ...]) -> None:
    for (away, polygons, texts, where, again), panel in zip(figures, tiles.panels, strict=True):
        assert away == (index not in panel.frames)
        if away:
            assert where == "nothing in this tile"
            continue
        wanted = pictures.drawing(panel, index, "x", "w")
        shapes = re.findall(r'<polygon (?:id="x" )?class="([^"]*)" points="([^"]*)"/>', wanted)
        assert list(map(rounded, polygons)) == sorted(rounded(f"{kind} {points}") for kind, points in shapes)
        labels = re.findall(r'<text class="[^"]*" x="([^"]*)" y="([^"]*)"[^>]*>([^<]*)<', wanted)
        assert list(map(rounded, texts)) == [rounded(f"{text} {x} {y}") for x, y, text in labels]
        assert (where, again) == pictures.caption(panel, index)


def rounded(text: str) -> str:
    """Numbers without their tenths: the last digit of half a pixel is the processor's affair."""
    return re.sub(r"-?\d+\.\d+", lambda m: str(round(float(m[0]))), text)


def test_lines_are_linked_both_ways(browser: Browser) -> None:
    browser.open(page(CONV))
    source = browser.find("#r0s23")
    source.find_element("css selector", "a").click()
    lit = [one.get_attribute("id") for one in browser.all(".listing .hit")]
    assert lit == ["r0s23", "r0c0-34"]
    assert "A_tile[h + kh - ht]" in browser.find("#r0c0-34").text
    assert browser.run("return document.activeElement.parentElement.id") == "r0c0-34"
    browser.run("document.activeElement.click()")
    assert browser.run("return document.activeElement.parentElement.id") == "r0s23"


def test_loops_are_linked_with_all_that_run_them(browser: Browser) -> None:
    browser.open(page(CONV))
    browser.run("document.querySelector('#r0s18 a').click()")
    lit = {one.get_attribute("id") for one in browser.all(".listing .hit")}
    assert lit == {"r0s18", "r0c0-21", "r0c0-29"}  # the loop over tiles, and the one in a tile
    assert browser.run("return document.activeElement.parentElement.id") == "r0c0-21"
    browser.run("document.activeElement.click()")
    assert {one.get_attribute("id") for one in browser.all(".listing .hit")} == {"r0c0-21", "r0s18", "r0s26"}


def test_the_mouse_lights_lines_and_escape_puts_them_out(browser: Browser) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    browser.open(page(CONV))
    ActionChains(browser.driver).move_to_element(browser.find("#r0c0-34 > a")).perform()
    assert [one.get_attribute("id") for one in browser.all(".listing .hit")] == ["r0s23", "r0c0-34"]
    ActionChains(browser.driver).send_keys(Keys.ESCAPE).perform()
    assert browser.all(".listing .hit") == []


def test_what_a_pass_left_is_unfolded_from_where_it_is_shown(browser: Browser) -> None:
    browser.open(page(CAMERA))
    shared = browser.all("details.stage [data-as]")
    assert shared
    told = browser.run(
        "const one = arguments[0], wanted = [...document.getElementById(one.dataset.as).children].slice(1)"
        "  .map((child) => child.textContent).join(' ');"
        "for (let up = one; up; up = up.parentElement.closest('details')) up.open = true;"
        "return wanted",
        shared[0],
    )
    browser.run("return new Promise((done) => setTimeout(done, 100))")
    assert shared[0].get_attribute("data-as") is None
    body = "".join(told.split())
    assert body
    assert "".join(shared[0].get_attribute("textContent").split()).endswith(body)
    assert browser.run(
        "return document.querySelectorAll('[id]').length === "
        "new Set([...document.querySelectorAll('[id]')].map((one) => one.id)).size"
    )


def test_a_line_far_down_is_scrolled_to(browser: Browser) -> None:
    browser.open(page(CAMERA))
    browser.run("document.querySelector('#r0s206 a').click()")
    target = browser.run("return document.activeElement.parentElement.id")
    assert target.startswith("r0c0-")
    box = browser.run(
        "const line = document.activeElement.getBoundingClientRect(), "
        "list = document.activeElement.closest('.listing').getBoundingClientRect();"
        "return [line.top - list.top, list.bottom - line.bottom]"
    )
    assert min(box) > 0


def test_kernels_are_linked(browser: Browser) -> None:
    browser.open(page(CONV, "cuda"))
    browser.run("document.querySelector('#r0s16 a').click()")
    assert "A_tile[h - ht][w - wt]" in browser.run("return document.activeElement.parentElement.textContent")


def background(browser: Browser) -> str:
    return str(browser.run("return getComputedStyle(document.body).backgroundColor"))


def test_dark_and_light(browser: Browser) -> None:
    browser.open(page(CONV))
    assert background(browser) == WHITE
    browser.prefer("dark")
    assert background(browser) == DARK
    button = browser.find("#theme")
    button.click()
    assert (button.text, background(browser)) == ("Colours: light", WHITE)
    browser.driver.refresh()
    assert (browser.find("#theme").text, background(browser)) == ("Colours: light", WHITE)
    browser.prefer("light")
    browser.find("#theme").click()
    assert (browser.find("#theme").text, background(browser)) == ("Colours: dark", DARK)
    browser.find("#theme").click()
    assert (browser.find("#theme").text, background(browser)) == ("Colours: system", WHITE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(browser: Browser, scheme: str) -> None:
    browser.prefer(scheme)
    browser.open(page(CONV))
    browser.find("#open").click()
    for selector in (
        "body",
        ".dim",
        "nav a",
        ".listing .c",
        ".listing .m",
        ".listing .w",
        ".listing em",
        ".listing a",
        ".state",
        ".n i",
        ".n q",
        ".again",
    ):
        front, behind = browser.run(
            "let one = document.querySelector(arguments[0]), front = getComputedStyle(one).color, back;"
            "while ((back = getComputedStyle(one).backgroundColor) === 'rgba(0, 0, 0, 0)') one = one.parentElement;"
            "return [front, back]",
            selector,
        )
        assert contrast(front, behind) >= 4.5, selector


def contrast(one: str, two: str) -> float:
    """The ratio of WCAG 2.1, from 1 to 21."""
    levels = sorted(map(luminance, (one, two)))
    return (levels[1] + 0.05) / (levels[0] + 0.05)


def luminance(colour: str) -> float:
    parts = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_on_paper_all_is_open(browser: Browser) -> None:
    browser.open(page(CONV))
    browser.find("#close").click()
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.command("Emulation.setEmulatedMedia", media="print")
    assert browser.run("return [...document.querySelectorAll('details')].every((one) => one.open || one.dataset.as)")
    assert not browser.find(".tools").is_displayed()
    browser.prefer("dark", "print")
    assert background(browser) == WHITE
    assert browser.run("return getComputedStyle(document.querySelector('.listing')).maxHeight") == "none"
    assert browser.run("return getComputedStyle(document.querySelector('.source em')).textIndent") == "0px"
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert not browser.run("return [...document.querySelectorAll('details')].some((one) => one.open)")


def test_without_its_script_all_is_there(browser: Browser) -> None:
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page(CONV))
    assert browser.find(".panels figure polygon.own").is_displayed()
    stage = browser.find("#r0-pass-basteln")
    stage.find_element("css selector", "summary").click()
    assert stage.find_element("css selector", ".n").is_displayed()
    assert browser.find("#r0c0-34").is_displayed()
    browser.find("#r0c0-21 > a").click()
    assert browser.run("return 1") is None or browser.driver.current_url.endswith("#r0s18")


def test_everything_that_acts_is_reached_by_the_keyboard(browser: Browser) -> None:
    browser.open(page(CONV))
    reached = browser.run(
        "return [...document.querySelectorAll('button, a, summary, input, [tabindex]')]"
        ".filter((one) => one.offsetParent && one.tabIndex < 0).length"
    )
    assert reached == 0
    unnamed = browser.run(
        "return [...document.querySelectorAll('button, a, input, svg[role=img], [role=group]')]"
        ".filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim())).length"
    )
    assert unnamed == 0


def test_a_page_for_each_of_the_programs_has_something_to_see(browser: Browser) -> None:
    """Not white: a screenshot of one colour compresses to nearly nothing."""
    for path, target in PAGES[:2]:
        browser.open(page(path, target))
        assert len(browser.screenshot()) > 30_000
