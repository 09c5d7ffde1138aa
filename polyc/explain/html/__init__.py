"""`polyc explain --format html`: the whole run as one page without a network, for a browser and for paper."""

from polyc.explain.html.page import render

__all__ = ["render"]
