"""A third look at a printed text: run it, and the region, cell by cell at small sizes.

Takes a region as the user wrote it, and the text that replaces it in the file, for CPUs; says whether the text leaves
behind what the region does, and if not, which element differs, and where its value comes from. Knows C, and nothing of
the model, of isl's flow, of schedules, or of how the text was made.
"""

from polyc.replay.outcome import Coverage, Difference, Outcome
from polyc.replay.run import FUEL, replay

__all__ = ["FUEL", "Coverage", "Difference", "Outcome", "replay"]
