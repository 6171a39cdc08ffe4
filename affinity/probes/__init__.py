"""Shelf of probes: one file = one quantity recorded while training. Importing it loads no torch."""

import sys

from affinity.core.catalogue import Catalogue
from affinity.core.entry import Probe

PROBES = Catalogue(sys.modules[__name__], Probe)
"""All probes by key."""

DEFAULT_PROBES = tuple(key for key, probe in PROBES.items() if probe.default)
"""The probes recorded unless the user says otherwise."""
