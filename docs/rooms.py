"""The rooms of polyc and their imports: `python docs/rooms.py` draws docs/pictures/rooms.svg and writes the table of
docs/architecture.md, both from the code. `tests/docs/test_rooms.py` holds the order."""

from __future__ import annotations

import ast
import html
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE, PICTURE = ROOT / "docs" / "architecture.md", ROOT / "docs" / "pictures" / "rooms.svg"
BEGIN, END = "<!-- rooms: written by docs/rooms.py -->", "<!-- end of rooms -->"

ORDER = (
    *("records", "errors", "stack", "poly", "bounded", "model", "machine", "flow"),
    *("analysis/expressions", "analysis", "frontend/text", "frontend/c", "frontend/sets"),
    *("frontend/idioms", "frontend/walks", "frontend/memory", "frontend/statements", "frontend/region"),
    *("frontend", "nests", "cost"),
    *("passes/buffers", "passes/loops", "passes/memory", "passes/products", "passes/gpu", "passes/values"),
    *("passes/order", "passes/blocks", "passes/timetiles", "passes/fusion", "passes/scatter", "passes"),
    *("verify/flow", "verify/order", "verify/gpu", "verify/places", "verify/region", "verify"),
    *("codegen/text", "codegen/loops", "codegen/gpu/device", "codegen/gpu", "codegen/blocks", "codegen"),
    *("reread/blocks", "reread"),
    *("runtime/process", "runtime/cuda_shim", "runtime/opencl", "runtime", "profile"),
    *("replay/machine", "replay/translate", "replay"),
    *("fallback", "relaxations", "attempt", "inspecting", "pipeline"),
    *("explain/codes", "explain/facts", "explain/words", "explain/pictures", "explain/html", "explain"),
    *("cli", "cli/commands", "api"),
)
"""The rooms, and the files beside them, each of which imports only from those before it."""
ALLOWED = {("explain", "api"): "the package can be called: `polyc.explain(…)` of the API has its name"}
FORBIDDEN = (
    ("passes", "verify"),
    ("passes", "codegen"),
    ("passes", "explain"),
    ("verify", "passes"),
    ("reread", "passes"),
    ("replay", "passes"),
    ("verify", "codegen"),
    ("reread", "codegen"),
    ("cost", "passes"),
    ("codegen", "passes"),
)
"""Rooms that stay strangers whatever the order says: a check shares no code with what it checks."""


@cache
def modules() -> dict[str, Path]:
    """Every module of polyc, by its dotted name."""
    found = {}
    for path in sorted((ROOT / "polyc").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room_of(module: str, known: dict[str, Path]) -> str:
    """The folder of a module, or the file itself where it lies beside the folders; "" for polyc itself."""
    parts = module.split(".")[1:]
    inside = parts if known[module].name == "__init__.py" else parts[:-1]
    return "/".join(inside or parts)


@cache
def imports(types: bool = True) -> tuple[tuple[str, str, str], ...]:
    """`(importer, imported module, name)` of every import within polyc, those inside functions too.

    types: those that only type checkers see as well
    """
    return tuple(found for module in modules() for found in _imports_of(module, types))


def _imports_of(module: str, types: bool) -> Iterator[tuple[str, str, str]]:
    known = modules()
    tree = ast.parse(known[module].read_text(encoding="utf-8"))
    guarded = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    unseen = set() if types else {id(inner) for node in guarded for inner in ast.walk(node)}
    for node in (node for node in ast.walk(tree) if id(node) not in unseen):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "polyc":
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield (module, whole, "") if whole in known else (module, str(node.module), name.name)
        elif isinstance(node, ast.Import):
            yield from ((module, one.name, "") for one in node.names if one.name in known)


@cache
def edges() -> Counter[tuple[str, str]]:
    """How many modules' imports lead from one room to another."""
    known = modules()
    found = {(a, b, room_of(a, known), room_of(b, known)) for a, b, _ in imports()}
    return Counter((one, other) for _, _, one, other in found if one != other and one and other and one != "__main__")


def summaries() -> dict[str, tuple[str, str]]:
    """The first and the second paragraph of each room's docstring."""
    found = {}
    for module, path in modules().items():
        if path.name == "__init__.py" and module != "polyc":
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            first, _, rest = text.partition("\n\n")
            second = rest.partition("\n\n")[0]
            found["/".join(module.split(".")[1:])] = (" ".join(first.split()), " ".join(second.split()))
    return found


def table() -> str:
    """The rooms as a table in Markdown, in their order."""
    told = summaries()
    lines = ["| room | what it does | from what to what, and what it does not know |", "|---|---|---|"]
    for room in ORDER:
        if room in told:
            first, second = told[room]
            lines.append(f"| `polyc/{room}/` | {first} | {second} |")
    return "\n".join(lines)


CELL, LEFT, TOP = 13, 150, 150


def drawing() -> str:
    """The imports as a matrix: a row imports from the columns that are filled, darker where more of its files do.

    All lies to the left of the diagonal where imports point one way.
    """
    found = edges()
    size = CELL * len(ORDER)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + size + 10} {TOP + size + 10}" '
        'font-family="sans-serif" font-size="9.5">',
        "<style>text{fill:#334}line{stroke:#ccd}rect.d{fill:#dde2ee}"
        "@media(prefers-color-scheme:dark){text{fill:#cdd}line{stroke:#445}rect.d{fill:#2c3446}}</style>",
    ]
    for k, room in enumerate(ORDER):
        at = k * CELL
        parts.append(f'<text x="{LEFT - 5}" y="{TOP + at + 10}" text-anchor="end">{room}</text>')
        parts.append(f'<text transform="translate({LEFT + at + 10},{TOP - 5}) rotate(-90)">{room}</text>')
        parts.append(f'<line x1="{LEFT}" y1="{TOP + at}" x2="{LEFT + size}" y2="{TOP + at}"/>')
        parts.append(f'<line x1="{LEFT + at}" y1="{TOP}" x2="{LEFT + at}" y2="{TOP + size}"/>')
        parts.append(f'<rect class="d" x="{LEFT + at}" y="{TOP + at}" width="{CELL}" height="{CELL}"/>')
    for (one, other), count in sorted(found.items()):
        x, y = LEFT + ORDER.index(other) * CELL, TOP + ORDER.index(one) * CELL
        colour = "#b33" if ORDER.index(other) > ORDER.index(one) else "#36c"
        shade = min(1.0, 0.25 + 0.12 * count)
        title = html.escape(f"{one} imports {other}: {count}")
        parts.append(
            f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" fill="{colour}" '
            f'fill-opacity="{shade:.2f}"><title>{title}</title></rect>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def with_table(page: str) -> str:
    """The page with the table as it is today."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Write both files, where they differ."""
    for path, text in ((PICTURE, drawing()), (PAGE, with_table(PAGE.read_text(encoding="utf-8")))):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
