"""``python -m calculators kv --layers 32``: the calculators in a terminal."""

import io
import sys

from calculators.command_line import main

if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Chinese gets escapes
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))
