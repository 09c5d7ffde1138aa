"""The HTML report: a whole run as one page, for a browser without a network and for paper.

Facts -> HTML.
"""

from polyc.explain.html.page import render

__all__ = ["render"]
