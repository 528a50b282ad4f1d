"""Run the `tokenfst` command with `python -m decoding`."""

import sys

from decoding.command import main

if __name__ == "__main__":
    sys.exit(main())
