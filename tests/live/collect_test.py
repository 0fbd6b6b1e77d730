#!/usr/bin/env python3
"""`gnomon collect -P PID`: a process that waits, or is in malloc, dlopen, fork, a handler, is recorded without a debugger; it does not notice."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import attempts
import kinds
import recorded

build = pathlib.Path(sys.argv[1])
chosen = sys.argv[2].split(",") if len(sys.argv) > 2 else kinds.FEW
ATTEMPTS = int(sys.argv[3]) if len(sys.argv) > 3 else 1
PATIENCE = 30  # s


def collecting(pid, work, *more):
    assert pid > 0
    return attempts.started(build / "bin/gnomon", "collect", "-k", "signal", "-P", pid, *more, cwd=work, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)


def number_of(program):
    """Its own, which it prints first."""
    return int(program.stdout.readline().split()[0])


def collect(pid, work, *more):
    """(exit status, what it printed)"""
    with collecting(pid, work, *more) as gnomon:
        said, _ = gnomon.communicate(timeout=PATIENCE)
        return gnomon.returncode, said


def gate_is_there(pid):
    """Executable memory of nobody's: what came in by it is not given back."""
    return re.search(r"^\S+ r-xp 00000000 00:00 0 *$", pathlib.Path(f"/proc/{pid}/maps").read_text(), re.M) is not None


REFUSED = "none of its threads reached a place where the collector can come in; repeat, or "


def attempt(work, kind):
    """What went wrong, or None; how long a thread was held, in ms. On a busy machine the collector may have to be asked again, as it says: whoever gives a
    number of attempts counts how often it does."""
    for _ in range(3 if ATTEMPTS == 1 else 1):
        fault, held = attempt_once(work, kind)
        if not fault or REFUSED not in fault:
            break
    return fault, held


def attempt_once(work, kind):
    with attempts.started(*kinds.words(build, kind), cwd=work, stdin=subprocess.PIPE) as program:
        pid = number_of(program)
        with collecting(pid, work) as gnomon:
            line = gnomon.stdout.readline()
            enabled = re.match(rf"Recording process {pid} to (.*): \d+ threads?, by (?:its|their) CPU clocks?\. "
                               r"One thread at a time was stopped, for (\d+\.\d) ms in all\.\n", line)
            if not enabled:
                return line + gnomon.stdout.read(), None
            experiment = enabled.group(1)
            has_gate = gate_is_there(pid)
            fault = attempts.fault_of(build, experiment, program)
            if fault:
                return fault, None
            rest, _ = gnomon.communicate(timeout=PATIENCE)
            if f"process {pid} has ended" not in rest or gnomon.returncode != 0:
                return rest, None
        if has_gate:
            return "its memory was not given back", None
        state, functions = recorded.status(build, experiment)["State"], recorded.functions(build, experiment)[0]
        if kind in kinds.WAITS and (state != "ended" or functions["clone3"][1] < 0.9 * functions["<Total>"][1]):
            return f"{state}: {functions}", None
        return None, float(enabled.group(2))


def told(work):
    """It ends by a signal and by the time given, and the process runs on."""
    with attempts.started(build / "targets/busy", "arena", cwd=work, stdin=subprocess.PIPE) as program:
        pid = number_of(program)
        with collecting(pid, work) as gnomon:
            threads = len(list(pathlib.Path(f"/proc/{pid}/task").iterdir()))
            line = gnomon.stdout.readline()
            assert threads > 2 and line.startswith(f"Recording process {pid} to {work}/test.1.er: {threads} threads, "), (threads, line)
            assert gnomon.stdout.readline() == "Ctrl-C ends the recording.\n"
            # One at a time.
            assert collect(pid, work) == (1, f"gnomon: cannot record process {pid}: it is recorded already, to {work}/test.1.er; "
                                             f"`gnomon collect -P {pid} -e` ends that.\n")
            gnomon.send_signal(signal.SIGINT)
            said, _ = gnomon.communicate(timeout=PATIENCE)
            assert re.match(rf"Recorded \d+\.\d s; process {pid} runs on\. `gnomon print -functions {work}/test.1.er` shows it\.\n$", said), said
            assert gnomon.returncode == 0
        begun = time.monotonic()
        status, said = collect(pid, work, "-t1s", "-d", work)
        assert status == 0 and f"to {work}/test.2.er: {threads} threads" in said and 1 <= time.monotonic() - begun < PATIENCE, said
        printed, _ = program.communicate(timeout=PATIENCE)
        assert (program.returncode, printed) == (0, "right\n"), printed
    for number in (1, 2):
        assert recorded.status(build, f"{work}/test.{number}.er")["State"].startswith("ended"), number
    assert 0.2 < recorded.functions(build, f"{work}/test.2.er")[0]["<Total>"][0] < 6


def named_pipe(work):
    """A pipe in the file system looks like a file by its name, and is waited for as well, inside stdio."""
    pipe = pathlib.Path(work) / "pipe"
    os.mkfifo(pipe)
    with attempts.started("sort", pipe, cwd=work) as program, pipe.open("w") as writer:
        assert program.pid > 0
        _, said = collect(program.pid, work, "-t", "1s")
        assert said.startswith("Recording process "), said
        writer.write("all of it\n")
        writer.close()
        said, _ = program.communicate(timeout=PATIENCE)
        assert (program.returncode, said) == (0, "all of it\n"), (program.returncode, said)


def executes(work):
    """It begins itself anew all the time: recorded for a moment or not, it runs on, and is told for what it is."""
    with attempts.started(*kinds.words(build, "execs"), cwd=work, stdin=subprocess.PIPE) as program:
        pid = number_of(program)
        for _ in range(2):
            _, said = collect(pid, work, "-t", "1s")
            meanwhile = f"gnomon: cannot record process {pid}: it has executed another program in the meantime; "
            assert said.startswith((meanwhile, f"Recording process {pid} to ")), said
        said, _ = program.communicate(timeout=PATIENCE)
        assert (program.returncode, said) == (0, "right\n"), (program.returncode, said)


faults = attempts.try_all(dict.fromkeys(chosen, ATTEMPTS), attempt)
if faults:
    sys.exit(1)
if len(sys.argv) == 2:
    attempts.try_cases(told, named_pipe, executes)
