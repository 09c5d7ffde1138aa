"""Storage: where the values of fused nests live.

Buffers of a tile -> scalars, circular buffers, shared places, private arrays. Does not change which instances run.
"""
