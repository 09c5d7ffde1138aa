"""From the schedule tree to C text.

Program -> text. Decides nothing: all that it needs stands in the tree and the buffers.
"""

from polyc.codegen.blocks.special import for_other_values, in_order, is_asked, specialised
from polyc.codegen.gpu.device.functions import obstacle
from polyc.codegen.gpu.device.words import NoKernelForm, NotMappable
from polyc.codegen.render import (
    certified,
    on_lines,
    question_of,
    render_as_it_stands,
    render_as_written,
    render_file,
    render_other_files,
    render_region,
)

__all__ = [
    "NoKernelForm",
    "NotMappable",
    "certified",
    "for_other_values",
    "in_order",
    "is_asked",
    "obstacle",
    "on_lines",
    "question_of",
    "render_as_it_stands",
    "render_as_written",
    "render_file",
    "render_other_files",
    "render_region",
    "specialised",
]
