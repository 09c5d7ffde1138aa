"""Order: no parallel or vector loop carries a dependence.

Marked loops -> faults. Knows no pass.
"""
