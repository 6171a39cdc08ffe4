"""`python -m affinity`."""

import sys

from affinity.cli import main

sys.exit(main())
