#!/usr/bin/env python3
"""Children that share the program's memory (vfork, clone) change nothing in what is recorded of the program, and are not recorded."""
import json
import os
import pathlib
import subprocess
import sys

import attempts
import recorded

build = pathlib.Path(sys.argv[1])


def activity(experiment):
    done = subprocess.run([build / "bin/gnomon", "print", "--format", "json", "-ioactivity", experiment], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    table = json.loads(done.stdout)
    assert not any("damaged" in note or "missing" in note or "dropped" in note for note in table["notes"]), table["notes"]
    return {os.path.basename(row["name"]): (row["written_bytes"], row["writes"], row["reads"]) for row in table["rows"]}


def check(work, way, writes, is_closed=True):
    for settings in ("I=1", "I=1;H=1;T=2;V=1"):
        done, experiment = recorded.run(build, build / "targets/sharing", [way], work, settings=settings)
        assert (done.returncode, done.stdout) == (0, "right\n"), done
        assert not is_closed or recorded.wait_until_closed(experiment), experiment
        files = activity(experiment)
        assert files["log"] == (10_100 + writes, 11 + writes, 0) and files["data"] == (20_200 + writes, 11 + writes, 0), files
        others = [row for name, row in files.items() if name not in ("log", "data")]
        assert all(row[0] == row[2] == 0 for row in others), files


def vfork(work):
    check(work, "vfork", 0)


def clone(work):
    check(work, "clone", 25_000)


def contexts(work):
    """A stack that the program has made is the program's."""
    check(work, "contexts", 25_000)


def exits(work):
    """What a child does at its end is not the program's end. It has run, and forgotten, what libc was to call at that."""
    check(work, "exits", 0, is_closed=False)


attempts.try_cases(vfork, clone, contexts, exits)
