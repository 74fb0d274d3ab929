"""The command `bahsic` as `python -m bahsic`; without arguments it shows the demonstration."""

import sys

from bahsic.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["demo"]))
