"""C text to Scops: `read` is the whole of it.

file ─ source ─► text ─ preprocess ─► text with line markers ─ chunks, pragmas ─► regions
     ─ parse ─► pycparser's tree of the function ─ convert ─► polyc's C tree ─ checks, extract ─► Scop
"""

from __future__ import annotations

from polyc.frontend.read import read

__all__ = ["read"]
