#!/usr/bin/env python3
"""The collector's library is not there, or cannot be loaded: that is said, and the process runs on."""
import pathlib
import re
import shutil
import subprocess
import sys

import attempts

build = pathlib.Path(sys.argv[1])
PATIENCE = 30  # s


def installed(work):
    """A Gnomon of its own."""
    place = pathlib.Path(work) / "place"
    for name in ("bin", "lib"):
        (place / name).mkdir(parents=True)
    shutil.copy(build / "bin/gnomon", place / "bin")
    return place, place / "lib/libcollector.so"


def is_refused(work, place, text):
    with attempts.started(build / "targets/steady", cwd=work, stdin=subprocess.PIPE) as program:
        pid = int(program.stdout.readline())
        done = subprocess.run([place / "bin/gnomon", "collect", "-P", str(pid), "-t", "1"], cwd=work, capture_output=True, text=True,
                              timeout=PATIENCE, stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stdout) == (1, "") and re.fullmatch(rf"gnomon: {text}\n", done.stderr), done
        printed, _ = program.communicate(timeout=PATIENCE)
        assert (program.returncode, printed) == (0, "right\n"), (program.returncode, printed)
    assert not list(pathlib.Path(work).glob("*.er"))


def missing(work):
    place, library = installed(work)
    is_refused(work, place, r"cannot read \S*/libcollector\.so; reinstall Gnomon\.")


def damaged(work):
    """Cut short, and so that it wants what is nowhere."""
    place, library = installed(work)
    whole = (build / "lib/libcollector.so").read_bytes()
    for length in (0, 1000, len(whole) // 2, len(whole) - 1):
        library.write_bytes(whole[:length])
        is_refused(work, place, rf"{library} is damaged, or another library; reinstall Gnomon\.")
    library.write_bytes(whole.replace(b"libc.so.6\0", b"libz.so.x\0"))
    is_refused(work, place, r"cannot record process \d+: the process could not load libcollector\.so: libz\.so\.x: cannot open shared object "
               r"file: No such file or directory; start the program from the debugger instead\.")


def another(work):
    """What has that name is another library."""
    place, library = installed(work)
    shutil.copy(build / "targets/libplugin_a.so", library)
    is_refused(work, place, rf"{library} is damaged, or another library; reinstall Gnomon\.")


attempts.try_cases(missing, damaged, another)
