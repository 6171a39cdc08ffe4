"""Shelf of training methods: one file = one way to combine the tasks' losses or gradients.

`direction` applies a method to one gradient matrix, `Descent` lets it walk down losses written as formulas,
and `affinity.training` trains networks with it: the same file serves all three.
"""

import sys

from affinity.core.catalogue import Catalogue
from affinity.core.method import GramWeighting, LossWeighting, Method, StepRule
from affinity.methods._descent import Descent
from affinity.methods._direction import Direction, direction
from affinity.methods._gram import weigh_gram
from affinity.methods._numpy_access import NumpyAccess

METHODS: Catalogue[Method] = Catalogue(sys.modules[__name__], (LossWeighting, GramWeighting, StepRule))

__all__ = ["METHODS", "Descent", "Direction", "NumpyAccess", "direction", "weigh_gram"]
