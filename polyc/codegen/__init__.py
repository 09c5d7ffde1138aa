"""From the schedule tree to C text. Decides nothing: all that it needs stands in the tree and the buffers."""

from polyc.codegen.render import Rendered, render_as_written, render_file, render_region

__all__ = ["Rendered", "render_as_written", "render_file", "render_region"]
