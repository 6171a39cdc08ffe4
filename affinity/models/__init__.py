"""Shelf of shared trunks: one file = one model. Importing it loads no torch."""

import sys

from affinity.core.catalogue import Catalogue
from affinity.core.entry import Model

MODELS = Catalogue(sys.modules[__name__], Model)
