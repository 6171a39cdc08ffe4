"""Shelf of problems: one file = losses written as formulas, whose best compromises are known."""

import sys

from affinity.core.catalogue import Catalogue
from affinity.core.problem import Problem

PROBLEMS = Catalogue(sys.modules[__name__], Problem)
