"""The `isomer` command that came with the package."""

import os
import pathlib
import shutil
import sys

from ._types import Error


def path():
    """Where the command is. Raises isomer.Error where this package was built without it."""
    own = pathlib.Path(__file__).parent / "_command_line" / "bin" / "isomer"
    if own.exists():
        return str(own)
    named = os.environ.get("ISOMER_COMMAND")
    found = shutil.which(named) if named else None
    if found:
        return found
    raise Error("isomer: this package was built without the command line (ISOMER_LAB=OFF); build it with it, or name an "
                "`isomer` program in ISOMER_COMMAND", "unsupported")


def main():
    try:
        command = path()
    except Error as error:
        print(error, file=sys.stderr)
        return 2
    os.execv(command, [command, *sys.argv[1:]])
