"""Models of time, and the choice of sizes.

From facts about nests and a machine to predicted seconds and candidate sizes. Knows no pass, and changes no tree.
"""
