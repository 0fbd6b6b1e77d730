#!/usr/bin/env python3
"""What of a program is not recorded is said: child processes, started in every way, and a thread that libc does not know."""
import pathlib
import re
import subprocess
import sys

import attempts

build = pathlib.Path(sys.argv[1])
PATIENCE = 30  # s


def notes(work, *words):
    """What a program prints, and the notes above its table of functions."""
    done = subprocess.run([build / "bin/gnomon", "collect", "-k", "signal", "-S", "1", *words], cwd=work, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done
    printed = subprocess.run([build / "bin/gnomon", "print", "-functions", "test.1.er"], cwd=work, capture_output=True, text=True, timeout=PATIENCE)
    assert printed.returncode == 0, printed
    return done.stdout, printed.stdout


def children(work):
    said, printed = notes(work, build / "targets/family")
    assert said.startswith("all of it\n"), said
    note = re.search(r"Note: child processes that the program started are not recorded: 7 \((.*)\); those that have ended used (.*) s of CPU time\.", printed)
    assert note and "sleep" in note[1] and 0.3 <= float(note[2]) < 0.6, printed
    thread = re.search(r"Note: threads that have no clock sample: 1 \(family\), which used (.*) s of CPU time: the collector does not see", printed)
    assert thread and float(thread[1]) > 0.3, printed  # of 1.5 s; the last sample is up to a second old when the thread ends


def daemon(work):
    _, printed = notes(work, build / "targets/family", "daemon")
    assert "Note: child processes that the program started are not recorded: 1" in printed, printed


attempts.try_cases(children, daemon)
