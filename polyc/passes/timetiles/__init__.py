"""Time tiles of iterated stencils: skewed, diamond and overlapped.

A loop over steps -> tiles over steps and space. Knows nothing of fusion between nests.
"""
