"""A region: where it stands in its function and file, what is refused there, and its C in the form that is modelled.

A marked stretch of a function -> one block of C, with what its surroundings say of it. Makes no statements.
"""
