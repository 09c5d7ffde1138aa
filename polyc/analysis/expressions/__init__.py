"""Single C expressions and statements: constants, ranges, linear forms, reductions, tables.

C trees -> facts, with no schedule.
"""
