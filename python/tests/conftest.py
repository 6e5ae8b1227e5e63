"""Counts the bad calls that were refused: prints the number, and leaves it where `isomer test` adds such numbers up."""

import os
import pathlib

import pytest

import isomer

_refused = 0


@pytest.fixture
def refuses():
    """refuses(call, *words): the call raises the library's sentence, which has the words."""

    def check(call, *words, of=isomer.Error, code="bad_argument"):
        global _refused
        with pytest.raises(of) as raised:
            call()
        sentence = str(raised.value)
        assert "\n" not in sentence, sentence
        for word in words:
            assert word in sentence, sentence
        if of is isomer.Error:
            assert raised.value.code == code, sentence
        _refused += 1
        return sentence

    return check


def pytest_terminal_summary(terminalreporter):
    if not _refused:
        return
    terminalreporter.write_line(f"bad calls refused: {_refused}")
    tally = os.environ.get("ISOMER_TALLY")
    if tally:
        folder = pathlib.Path(tally)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"python.{os.getpid()}").write_text(f"{_refused}\n")
