"""The region itself: rewritten statements compute what the user's statements compute, and the tree is well-formed.

Two regions -> faults. Knows no pass.
"""
