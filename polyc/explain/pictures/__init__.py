"""Pictures: tiles, graphs and trees as SVG, Graphviz and isl's notation.

Facts -> drawings.
"""
