"""Profiles of generated CUDA kernels without a GPU: exact counts of their memory requests, and predicted times.

From a region, its result and a GPU's description to a profile of each kernel. What runs is the printed text, in the
shim; it knows no pass, and nothing of how the text was made.
"""

from polyc.profile.measured import KernelProfile, NotProfiled, Profile, profile
from polyc.profile.predicted import Prediction, predict
from polyc.profile.ptxas import Resources

__all__ = ["KernelProfile", "NotProfiled", "Prediction", "Profile", "Resources", "predict", "profile"]
