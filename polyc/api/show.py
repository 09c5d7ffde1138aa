"""A result in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from polyc.errors import UserError

if TYPE_CHECKING:
    from polyc.api.result import Result

PRE = '<pre style="text-align: left; white-space: pre; overflow-x: auto; line-height: 1.25">'


def html_of(result: Result) -> str:
    """The summary, the trees, each file, and the remarks, the long ones folded. No style but the notebook's own, so
    that it is readable in light and dark."""
    try:
        tree = result.tree
    except UserError as problem:
        tree = str(problem)
    parts = [f"<p><b>polyc</b> <code>{text(result.path)}</code> for {text(result.target)}: {text(result.summary)}</p>"]
    parts.append(folded("schedule tree", tree, False))
    parts += [folded(name, content, position == 0) for position, (name, content) in enumerate(result.files.items())]
    rows = "".join(
        f"<tr><td>{remark.span.line if remark.span else ''}</td><td><code>{text(remark.code)}</code></td>"
        f'<td style="text-align: left">{text(remark.message)}</td></tr>'
        for remark in result.remarks
    )
    if rows:
        table = f"<table><tr><th>line</th><th>code</th><th>what was decided</th></tr>{rows}</table>"
        parts.append(f"<details><summary>{len(result.remarks)} decisions</summary>{table}</details>")
    return f"<div>{''.join(parts)}</div>"


def folded(title: str, content: str, opened: bool) -> str:
    state = " open" if opened else ""
    return f"<details{state}><summary>{text(title)}</summary>{PRE}{text(content)}</pre></details>"


def text(content: str) -> str:
    """Any text as HTML; bytes that were no UTF-8 become question marks in a box, since a notebook is UTF-8."""
    return escape(content.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
