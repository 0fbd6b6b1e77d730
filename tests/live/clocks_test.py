#!/usr/bin/env python3
"""The clock ticks at the interval asked where the kernel can, meets short threads as often as long ones, and leaves nothing to the program that is executed."""
import json
import pathlib
import subprocess
import sys
import time

import attempts
import recorded
import skips

build = pathlib.Path(sys.argv[1])
program = build / "targets/clocks"
KERNEL_TICK = int(time.clock_getres(6) * 1e9)  # CLOCK_MONOTONIC_COARSE
FINE = KERNEL_TICK // 16  # ns
EVENT, TIMER = "task-clock event", "thread CPU timer"


def run(work, *arguments, **settings):
    done, experiment = recorded.run(build, program, list(arguments), work, **settings)
    assert done.returncode == 0 and done.stderr == "", (arguments, done)
    header = json.loads((experiment / "header.json").read_text())
    return done.stdout, header["clock"]["timer"], experiment


def direct(*arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, (arguments, done)
    return done.stdout


def ticks(work):
    # Descriptors, rate, total.
    said, timer, experiment = run(work, "long", "1", interval=FINE)
    assert said == direct("long", "0"), said
    table, notes = recorded.functions(build, experiment)
    assert 0.97 < table["<Total>"][0] < 1.05, table
    samples = recorded.samples(build, experiment)
    # An event ticks sixteen times between two of the kernel's own ticks, a timer once.
    rate = samples * KERNEL_TICK / 1e9
    assert rate > 4 if timer == EVENT else rate < 2, (timer, samples)

    assert not any("came late" in note for note in notes), notes

    # A timer that ticks late gives way to an event.
    said, late_timer, experiment = run(work, "late", interval=10_000_000)
    assert late_timer == TIMER and said == ("timers 0\n" if timer == EVENT else "timers 1\n"), (said, timer)
    table, notes = recorded.functions(build, experiment)
    assert sum("came late" in note for note in notes) == 1 and 0.95 < table["<Total>"][0] < 1.06, (table, notes)

    # A program that does not end in order has not said what it used.
    done, experiment = recorded.run(build, "/bin/sh", ["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; kill -9 $$"], work)
    assert done.returncode == -9, done
    table, notes = recorded.functions(build, experiment)
    assert "<Total>" in table and sum("ended without saying how much CPU time it used" in note for note in notes) == 1, (table, notes)

    # Coarse intervals need no event.
    said, coarse_timer, _ = run(work, "long", "0.1", interval=2 * KERNEL_TICK)
    assert coarse_timer == TIMER, coarse_timer

    # 600 threads of 3 ms: every one is met with a chance of 3 in 10 and stands for 10 ms then. The bounds are far off,
    # as threads that others delay begin when the kernel has just ticked.
    # At a fine interval they are met more often, and no more time is counted.
    for interval in (10_000_000, 1_000_000):
        _, _, experiment = run(work, "short", "600", "0.003", interval=interval)
        table, _ = recorded.functions(build, experiment)
        assert 0.9 < table["brief"][1] < 2.45, (interval, table)

    # The program executed lives, and finds of SIGPROF what it would have found; a failed exec leaves the clock running.
    for way in ("execve", "execv", "execvp", "execvpe", "fexecve", "execveat", "execl", "execlp", "execle",
                "syscall execve", "syscall execveat"):
        said, _, experiment = run(work, "exec", way, interval=FINE)
        assert said == direct("exec", way), (way, said)
        assert recorded.status(build, experiment)["State"] == "ended; the program executed another (exec)", way
    for what in ("ignore", "block"):
        said, _, _ = run(work, what, "execv", interval=FINE)
        assert said == direct(what, "execv"), (what, said)
    for what in ("fail", "fork", "vfork"):
        said, _, experiment = run(work, what, "execl", interval=FINE)
        assert said == direct(what, "execl"), (what, said)
        table, _ = recorded.functions(build, experiment)
        assert recorded.status(build, experiment)["State"] == "ended", what
        assert 0.08 < table["after_exec_failed"][1] < 0.12, (what, table)
    print(f"{timer}: {samples} samples in a second")


def filtered(work):
    """Where the program's system calls are filtered none is tried that may be punished."""
    attempts.need(skips.in_a_child(skips.allow_everything), skips.NO_FILTER)
    _, timer, _ = run(work, "long", "0.1", interval=FINE, preexec_fn=skips.allow_everything)
    assert timer == TIMER, timer


attempts.try_cases(ticks, filtered)
