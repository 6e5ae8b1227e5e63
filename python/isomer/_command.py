"""The `isomer` command that came with the package."""

import json
import os
import pathlib
import shutil
import subprocess
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


def json_of(words):
    """What the command prints with --json. Raises isomer.Error with its sentence where it prints none."""
    done = subprocess.run([path(), words[0], "--json", *words[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace")
    try:
        return json.loads(done.stdout)
    except ValueError:
        pass
    if done.returncode < 0:
        raise Error(f"isomer {words[0]}: the command was ended by signal {-done.returncode}", "internal")
    sentence = (done.stderr.strip().splitlines() or [f"{words[0]}: the command ended with status {done.returncode} and said "
                                                     "nothing"])[0].removeprefix("isomer: ")
    raise Error(sentence, "bad_argument" if done.returncode == 2 else "internal")


def main():
    try:
        command = path()
    except Error as error:
        print(error, file=sys.stderr)
        return 2
    os.execv(command, [command, *sys.argv[1:]])
