"""Browser tests import their harness from beside them, and the small runs from the page tests."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLACES = (str(HERE), str(HERE.parent / "pages"), str(HERE.parents[1]))
sys.path[:0] = [entry for entry in PLACES if entry not in sys.path]
