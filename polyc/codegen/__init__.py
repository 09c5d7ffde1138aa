"""From the schedule tree to C text. Decides nothing: all that it needs stands in the tree and the buffers."""

from polyc.codegen.cut import cut_of
from polyc.codegen.gpu.words import NotMappable, obstacle
from polyc.codegen.loops import generate
from polyc.codegen.render import (
    Question,
    Rendered,
    question_of,
    render_as_written,
    render_file,
    render_later,
    render_other_files,
    render_region,
)

__all__ = [
    "NotMappable",
    "Question",
    "Rendered",
    "cut_of",
    "generate",
    "obstacle",
    "question_of",
    "render_as_written",
    "render_file",
    "render_later",
    "render_other_files",
    "render_region",
]
