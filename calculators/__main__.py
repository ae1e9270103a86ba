"""``python -m calculators kv --layers 32``: the calculators in a terminal."""

import sys

from calculators.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
