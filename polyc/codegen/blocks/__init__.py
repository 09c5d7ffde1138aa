"""Blocks of C: vector operations, streaming stores, table lookups, owners' loops, and the frame around a region.

C tree -> C tree.
"""
