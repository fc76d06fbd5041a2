"""Entry point of ``python -m poise``, which is the same as the command ``poise``."""

import sys

from poise.cli import main

if __name__ == "__main__":
    sys.exit(main())
