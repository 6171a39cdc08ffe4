"""Shelf of training methods: one file = one way to combine the tasks' losses or gradients."""

import sys

from affinity.core.catalogue import Catalogue
from affinity.core.entry import GramWeighting, LossWeighting

METHODS: Catalogue[LossWeighting | GramWeighting] = Catalogue(
    sys.modules[__name__], (LossWeighting, GramWeighting)
)
