"""Sets and relations: loop bounds, subscripts and conditions as isl has them.

C trees -> isl. Knows no schedules.
"""
