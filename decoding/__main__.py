"""Run the `tokenfst` command by `python -m decoding`."""

import sys

from decoding.command import main

if __name__ == "__main__":
    sys.exit(main())
