"""Places: no two live values share a cell of a buffer, and padding is unobservable.

Buffers -> faults. Knows no pass.
"""
