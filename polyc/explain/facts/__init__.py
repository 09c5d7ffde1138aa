"""Facts that all forms of explain share: nests, loops, remarks.

Compiled -> records. Observes, and decides nothing.
"""
