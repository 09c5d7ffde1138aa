"""Statements: a region's C as statements with domains and accesses, and loops that are parted before any schedule.

C trees -> statements and the tree of their loops. Knows nothing of what stands around a region.
"""
