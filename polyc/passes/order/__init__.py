"""The order of instances before tiling: isl's scheduler, or the order as written.

Statements -> permutable bands. Knows no tile sizes.
"""
