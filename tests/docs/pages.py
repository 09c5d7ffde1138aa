"""The project's pages, and the fenced code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = sorted([README, *(ROOT / "docs").rglob("*.md"), ROOT / "polybench" / "README.md"])

_FENCE = re.compile(
    r"^(?:<!-- (?P<wish>[^\n]*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_ROW = re.compile(r"^\| `([a-z-]+)` \|", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fence:
    """Fenced code, with the comment on the line before it: `<!-- error: goto -->`."""

    page: Path
    language: str
    text: str
    wish: str
    start: int
    """Offset of the code in the page."""
    line: int

    @property
    def is_region(self) -> bool:
        return self.language == "c" and "#pragma scop" in self.text

    def wished(self, word: str) -> str | None:
        """What the comment says after `word`, None where it says something else."""
        first, _, rest = self.wish.partition(":")
        return rest.strip() if first == word else None


def fences(page: Path) -> list[Fence]:
    text = page.read_text()
    return [
        Fence(
            page,
            match["language"],
            match["text"],
            match["wish"] or "",
            match.start("text"),
            text.count("\n", 0, match.start("text")) + 1,
        )
        for match in _FENCE.finditer(text)
    ]


def sections(page: Path) -> dict[str, str]:
    """The text under each `##` heading."""
    parts = re.split(r"^## (.*)$", page.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def codes_in(text: str) -> list[str]:
    """The codes in the first column of tables."""
    return _ROW.findall(text)
