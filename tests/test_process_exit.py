"""A process ends though threads are still at work, in whatever they are."""

from __future__ import annotations

import subprocess
import sys

import pytest

BUSY = """
import threading, time
import numpy as np
import tokenfst
from decoding.compiling import BackgroundCompiler
from tokenfst.vocabulary.all_bytes import ALL_BYTES
automaton = tokenfst.compile('"[^"]{500,90000}"', ALL_BYTES)
words = np.zeros((2000, 9), np.int32)
def compile():
    while True: tokenfst.compile("x|(a|b)*a(a|b){15}", ALL_BYTES)
def request():
    return BackgroundCompiler().submit("x|(a|b)*a(a|b){16}", ALL_BYTES)
def masks():
    while True: tokenfst.fill_bitmasks([automaton] * 2000, [automaton.start] * 2000, words, num_threads=2)
"""
ENDINGS = {
    "compiling": "for _ in range(2): threading.Thread(target=compile, daemon=True).start()\ntime.sleep(.2)",
    "masks": "for _ in range(2): threading.Thread(target=masks, daemon=True).start()\ntime.sleep(.2)",
    # The next turn of a compilation has no thread any more.
    "a request": "threading.Thread(target=request().exception).start()",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_threads_do_not_keep_a_process(ending: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BUSY + ENDINGS[ending]], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
