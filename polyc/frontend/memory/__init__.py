"""Memory: which arrays may overlap, what is needed after a region, and what it reaches first.

Symbols and relations -> conditions. Knows no order of statements.
"""
