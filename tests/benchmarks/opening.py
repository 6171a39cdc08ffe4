"""Seconds from a run to its answer and heatmap, without a browser: `python -m tests.benchmarks.opening`.

The browser walk (`pytest -m browser -s`) prints the first paint and what a click takes until it is drawn.
"""

import time

from affinity.analysis.overview import overview
from affinity.figures.heatmap import affinity_heatmap
from affinity.runs.library import Library


def main() -> None:
    """Print one line a sample; the first one also loads the libraries."""
    library = Library()
    for listed in library.list():
        if not listed.sample or listed.info is None or listed.info.kind != "training":
            continue
        for what in ("first time", "again"):
            started = time.perf_counter()
            answer = overview(library.open(listed.id))
            if answer.view is not None:
                affinity_heatmap(answer.view)
            print(f"{listed.id:18} {what:10} {time.perf_counter() - started:6.3f} s")


if __name__ == "__main__":
    main()
