"""Shelf of datasets that need no download: one file = one dataset. Importing it loads no data package."""

import sys

from affinity.core.catalogue import Catalogue
from affinity.core.entry import Dataset

DATASETS = Catalogue(sys.modules[__name__], Dataset)
