"""Shelf of affinity measures: recorded quantities in, affinities `[source, affected]` out; one file = one."""

import sys

from affinity.core.catalogue import Catalogue
from affinity.core.entry import Measure

MEASURES = Catalogue(sys.modules[__name__], Measure)
