"""`python -m bahsic` shows the demonstration."""

import sys

from bahsic.demo import main

if __name__ == "__main__":
    sys.exit(main())
