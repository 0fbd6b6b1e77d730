#!/usr/bin/env python3
"""A process whose CLOCK_MONOTONIC is not the machine's is recorded as any other: from outside of its time namespace, and from inside."""
import contextlib
import json
import pathlib
import subprocess
import sys
import time

import attempts
import recorded
import skips

build = pathlib.Path(sys.argv[1])
AHEAD = 100_000  # s
PATIENCE = 30  # s
LENGTH = 0.5  # s


def offsets():
    """s, into the future and into the past: no clock may be before the machine's start."""
    return AHEAD, -int(min(AHEAD, time.monotonic() / 2))


def within(ahead, *words):
    return ["unshare", "--time", "--monotonic", str(ahead), "--boottime", str(ahead), "--fork", *map(str, words)]


def gnomon(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, (words, done)
    return done.stdout


def duration(experiment, *prefix):
    """s, by gnomon that runs where `prefix` brings it"""
    rows = json.loads(gnomon(*prefix, build / "bin/gnomon", "print", "-statistics", "--format", "json", experiment))["rows"]
    return next(row["process"] for row in rows if row["item"] == "Duration")


def all_is_there(experiment, what):
    """The clock's samples stand for the CPU time that the process used, none came late, and the recording took its time."""
    assert recorded.wait_until_closed(experiment), what
    table, notes = recorded.functions(build, experiment)
    used = recorded.used(experiment)
    assert 0 < used and 0.5 * used - 0.02 < table["<Total>"][0] < 1.2 * used + 0.05, (what, used, table, notes)
    assert not any("gnomon-sampler" in note for note in notes), (what, notes)
    assert LENGTH <= duration(experiment) < AHEAD / 10, (what, duration(experiment))


@contextlib.contextmanager
def steady(ahead):
    """The number of a process that computes in a time namespace of its own, and ends as it should."""
    with attempts.started(*within(ahead, build / "targets/steady"), stdin=subprocess.PIPE) as program:
        pid = int(program.stdout.readline())
        assert pid > 0
        yield pid
        said, _ = program.communicate(timeout=PATIENCE)
        assert said == "right\n", said


def seen_from_outside(work, ahead, clock):
    experiment = f"{work}/outside.{clock}.{ahead}.er"
    with steady(ahead) as pid:
        gnomon(build / "bin/gnomon", "collect", "-P", pid, "-k", clock, "-t", LENGTH, "-o", experiment)
        all_is_there(experiment, (ahead, clock))


def seen_from_inside(work, ahead):
    """With waits, which hooks time as well as the kernel."""
    experiment = f"{work}/inside.{ahead}.er"
    with steady(ahead) as pid:
        there = ["nsenter", "--time", "--target", str(pid)]
        words = ["-P", pid, "-k", "kernel", "-s", "all", "-o", experiment]
        with attempts.started(*there, build / "bin/gnomon", "collect", *words, stderr=subprocess.STDOUT) as recording:
            assert recorded.wait_for_samples(build, experiment, recording)
            attempts.wait_until(lambda: duration(experiment, *there) >= LENGTH, "half a second is recorded")
            gnomon(*there, build / "bin/gnomon", "collect", "-P", pid, "-e")
            said, _ = recording.communicate(timeout=PATIENCE)
            assert recording.returncode == 0, said
        all_is_there(experiment, ("inside", ahead))


def main():
    if not skips.runs(*within(AHEAD, "true")):
        skips.note("time_namespace", "all", skips.NO_TIME_NAMESPACE)
        return skips.STATUS
    with recorded.directory() as work:
        for ahead in offsets():
            for clock in ("signal", "kernel"):
                seen_from_outside(work, ahead, clock)
            seen_from_inside(work, ahead)
    return 0


sys.exit(main())
