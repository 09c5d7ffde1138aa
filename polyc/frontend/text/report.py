"""Diagnostics as text, with the source lines that they point to."""

from __future__ import annotations

from collections.abc import Iterable

from polyc.errors import Diagnostic


def render_all(diagnostics: Iterable[Diagnostic], sources: dict[str, str] | None = None) -> str:
    """The whole report, one diagnostic after the other; `sources` maps paths to texts, other files are read."""
    texts = {path: text.splitlines() for path, text in (sources or {}).items()}
    return "\n".join(item.render(_line_of(item, texts)) for item in diagnostics)


def _line_of(item: Diagnostic, texts: dict[str, list[str]]) -> str | None:
    if item.span is None:
        return None
    if item.span.file not in texts:
        texts[item.span.file] = _read_lines(item.span.file)
    lines = texts[item.span.file]
    return lines[item.span.line - 1] if 0 < item.span.line <= len(lines) else None


def _read_lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
