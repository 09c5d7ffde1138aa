"""Flow: every read of the transformed program gets the value that it got in the region.

Expanded accesses -> faults. Knows no pass.
"""
