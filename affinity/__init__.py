"""Which tasks should be learned together?

An hourglass with the run folder as its waist:

1. The writing half (datasets, methods, probes, training) and the reading half (measures, grouping, analysis,
   figures) never import each other; both know only `core` and `runs`.
2. Probes record quantities, not affinities. Measures turn quantities into affinities later, so a new measure
   works on every old run that recorded what it needs.
3. Direction is a name, never an index order: `source` is the task whose step was taken, `affected` is the
   task whose loss moved. Every matrix is `[source, affected]`, and positive helps affected.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Recorder": "affinity.training.recorder",
    "Combiner": "affinity.training.combining",
    "open_run": "affinity.runs.library",
    "Library": "affinity.runs.library",
    "affinity_matrix": "affinity.analysis.affinity",
    "group": "affinity.analysis.groups",
    "AffinityMatrix": "affinity.core.types",
    "Grouping": "affinity.core.types",
    "AffinityError": "affinity.core.errors",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the public name stands for
    """Load a public name on first use, so that importing the package stays fast and loads no torch."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'affinity' has no attribute '{name}'")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
