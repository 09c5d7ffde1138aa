"""Tiling and fusion (Zhao et al., ACM TOCS 2024, Algorithms 1 to 4).

Nests of a sequence -> groups: tiled outputs with the producers that run in their tiles. Knows no register tiles.
"""
