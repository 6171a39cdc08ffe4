"""Browser tests import their harness from beside them."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [entry for entry in (str(HERE), str(HERE.parents[1])) if entry not in sys.path]
