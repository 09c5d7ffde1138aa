"""Values computed elsewhere: the region is rewritten before it is scheduled.

Region -> region: producers are substituted into their readers, temporaries become elements of arrays. Knows no tiles.
"""
