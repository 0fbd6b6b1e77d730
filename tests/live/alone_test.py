#!/usr/bin/env python3
"""Programs that the collector cannot come into are recorded from outside, by gnomon-sampler alone."""
import os
import pathlib
import re
import subprocess
import sys

import lldb_session
import recorded
import skips
from attempts import need, started, try_cases, wait_until
from kernel_clock import are_split, times, unless_lost

build = pathlib.Path(sys.argv[1])
GNOMON = build / "bin/gnomon"
TARGETS = build / "targets"
WHY = "it is linked statically, so no library can be loaded into it"


def gnomon(work, *words):
    return subprocess.run([GNOMON, *map(str, words)], cwd=work, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def is_sealed(experiment, state="ended"):
    """A program that is over at once may have ended before its recording has begun."""
    def has_state():
        try:
            return recorded.status(build, experiment)["State"] == state
        except AssertionError:
            return False
    wait_until(lambda: not (experiment / "lanes").exists() and has_state(), f"the experiment is not sealed: {os.listdir(experiment)}")


def launched(work):
    """From the first instruction on, with all CPU time and whole call stacks; what is missing is said."""
    done = gnomon(work, "collect", "-p", "hi", "-H", "on", TARGETS / "split_static", "1", "3")
    experiment = work / "test.1.er"
    assert done.returncode == 0 and done.stdout == "done\n", done
    assert re.fullmatch(rf"gnomon: recording process \d+ to {experiment} from outside, by the kernel's clock: {WHY}\n", done.stderr), done
    is_sealed(experiment)
    table, notes = times(build, experiment)
    assert 2.9 < table["<Total>"][0] < 3.2, table
    are_split(table, 0.03)
    assert not any("add up to" in note for note in notes), notes
    assert f"recorded from outside, without traces of memory, locks, input and output: {WHY}." in notes, notes
    status = recorded.status(build, experiment)
    assert status["Program"] == f"{TARGETS}/split_static 1 3" and status["Clock"].startswith("kernel ("), status
    refused = gnomon(work, "print", "-heap", experiment)
    assert refused.returncode == 1 and refused.stderr == f"gnomon: allocations were not recorded; the program was recorded from outside: {WHY}.\n", refused


def short(work):
    """One that has ended before anybody looks leaves a whole experiment."""
    assert gnomon(work, "collect", TARGETS / "alone").returncode == 0
    is_sealed(work / "test.1.er")
    assert recorded.status(build, work / "test.1.er")["Program"] == str(TARGETS / "alone")


def never_executed(work):
    """Nothing is left of a recording that did not begin."""
    program = work / "program"
    program.write_bytes((TARGETS / "split_static").read_bytes())
    program.chmod(0o755)
    with open(program, "r+b"):
        done = gnomon(work, "collect", program)
    assert done.returncode == 1 and done.stderr.endswith("Text file busy.\n"), done
    wait_until(lambda: not list(work.glob("*.er")), "an experiment is left")


def attached(work):
    """A process that runs; it is recorded once, is told to end, and is as it was."""
    with started(TARGETS / "rounds_static", "1000", stdin=subprocess.DEVNULL) as program, \
            started(GNOMON, "collect", "-p", "hi", "-P", program.pid, cwd=work) as collect:
        begun = collect.stdout.readline()
        experiment = work / "test.1.er"
        assert begun == f"Recording process {program.pid} to {experiment} from outside, by the kernel's clock: {WHY}.\n", begun
        assert recorded.wait_for_samples(build, experiment, program)
        again = gnomon(work, "collect", "-P", program.pid)
        assert again.returncode == 1 and f"it is recorded already, to {experiment}; `gnomon collect -P {program.pid} -e` ends that" in again.stderr, again
        ended = gnomon(work, "collect", "-P", program.pid, "-e")
        assert ended.returncode == 0 and ended.stdout.startswith(f"Recording of process {program.pid} has ended."), ended
        rest, _ = collect.communicate(timeout=30)
        assert collect.returncode == 0 and f"process {program.pid} runs on" in rest, rest
        is_sealed(experiment, "ended; the program runs on")
        assert program.poll() is None
        program.kill()
    table, _ = recorded.functions(build, experiment)
    assert table["work::computes(unsigned int)"][0] > 0.4 * table["<Total>"][0] > 0, table


def confined(work):
    """A filter of system calls that the collector does not bear is no obstacle."""
    filtered = [TARGETS / "filtered", "errno", "222"]  # timer_create
    need(subprocess.run([*filtered, "/bin/true"]).returncode != skips.STATUS, skips.NO_FILTER)
    with started(*filtered, TARGETS / "rounds", "1000", stdin=subprocess.DEVNULL) as program:
        wait_until(lambda: os.readlink(f"/proc/{program.pid}/exe").endswith("/rounds"), "the program is not executed")
        wait_until(lambda: "libc.so" in pathlib.Path(f"/proc/{program.pid}/maps").read_text(), "it has no libc")
        done = gnomon(work, "collect", "-p", "hi", "-t", "0.3", "-P", program.pid)
        program.kill()
    assert done.returncode == 0 and "from outside" in done.stdout and "does not let it call timer_create" in done.stdout, done
    experiment = work / "test.1.er"
    wait_until(lambda: not (experiment / "lanes").exists(), "the experiment is not sealed")
    assert recorded.samples(build, experiment) > 500 * recorded.used(experiment) > 5, recorded.status(build, experiment)


def in_lldb(work):
    """Launched under LLDB: at a stop everything up to the stop is there."""
    commands = ["collector profile timer hi", "collector enable", "breakpoint set -n checkpoint", "run", "continue", "collector functions",
                "collector status", "collector disable", "breakpoint delete -f", "continue"]
    answers, errors = lldb_session.run(build, TARGETS / "rounds_static", commands, work, arguments=["4"])
    said = dict(answers)
    assert "error" not in errors and "warning" not in errors, errors
    assert f"is recorded from outside, by the kernel's clock, and writes an experiment, {work}/test.N.er: {WHY}." in said["collector enable"], said
    assert "computes_less" in said["collector functions"] and "recorded from outside" in said["collector functions"], said
    assert re.search(r"^Clock +kernel", said["collector status"], re.M), said
    assert said["collector disable"].startswith("Disabled: process"), said
    assert "exited with status = 0" in "".join(text for command, text in answers if command == "continue"), answers


try_cases(*map(unless_lost, (launched, short, never_executed, attached, confined, in_lldb)))
