#!/usr/bin/env python3
"""Once a recording has been ended the process is as it was before, but for the library; and it can be recorded again."""
import pathlib
import re
import subprocess
import sys
import time

import attempts
import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
PATIENCE = 30  # s
# Threads of the program `masks` in the order in which it makes them; what awaits SIGPROF does not block it meanwhile.
BLOCKING = ("awaiting", "blocked", "blocked too", "waiting")
SIGUSR2, SIGPROF = 1 << 11, 1 << 26


class Process:
    """What of a process a collector may change."""

    def __init__(self, pid):
        at = pathlib.Path(f"/proc/{pid}")
        status = (at / "status").read_text()
        self.signals = {name: int(re.search(rf"^{name}:\s+(\w+)", status, re.M)[1], 16) for name in ("SigCgt", "SigIgn")}
        tasks = sorted(int(task.name) for task in (at / "task").iterdir())
        self.threads = len(tasks)
        masks = [int(re.search(r"^SigBlk:\s+(\w+)", (at / f"task/{task}/status").read_text(), re.M)[1], 16) for task in tasks[1:]]
        self.masks = dict(list(zip(BLOCKING, masks))[1:])
        self.timers = (at / "timers").read_text()
        self.files = sorted(file.name for file in (at / "fd").iterdir())
        self.mappings = len((at / "maps").read_text().splitlines())

    def __repr__(self):
        return str(self.__dict__)


def started(work, *words):
    return attempts.started(build / "targets" / words[0], *words[1:], cwd=work, stdin=subprocess.PIPE)


def by_ptrace(work, program, number):
    """Records it until those that block SIGPROF were met."""
    with attempts.started(build / "bin/gnomon", "collect", "-k", "signal", "-P", program.pid, cwd=work, stdin=subprocess.DEVNULL,
                          stderr=subprocess.STDOUT) as gnomon:
        line = gnomon.stdout.readline()
        assert line.startswith(f"Recording process {program.pid} to {work}/test.{number}.er"), line
        wait_for(lambda: "computes_blocked" in names(work, number))
        during = unblocked(program)
        gnomon.terminate()
        rest, _ = gnomon.communicate(timeout=PATIENCE)
        assert rest.endswith(f"`gnomon print -functions {work}/test.{number}.er` shows it.\n"), rest
    return during


def unblocked(program):
    """What it is like while recorded. A thread may be in the middle of a call into libc that blocks all signals for a moment. None: the thread got
    no CPU while the injector tried to take SIGPROF out of its mask."""
    limit = time.monotonic() + 3
    while time.monotonic() < limit:
        if not (now := Process(program.pid)).masks["blocked"] & SIGPROF:
            return now
        time.sleep(0.05)
    return None


def names(work, number):
    functions, _ = recorded.functions(build, f"{work}/test.{number}.er")
    return {re.sub(r".*::(\w+)\(\)$", r"\1", name) for name in functions}


def wait_for(what):
    limit = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < limit, "not in time"
        time.sleep(0.1)


def ends_right(program):
    printed, _ = program.communicate(timeout=PATIENCE)
    assert (program.returncode, printed) == (0, "right\n"), (program.returncode, printed)


def as_before(before, program):
    """A thread that computes for libc may be in the middle of a call with all signals blocked."""
    now = Process(program.pid)
    assert (now.signals, now.timers, now.files, now.threads) == (before.signals, "", before.files, before.threads), (before, now)
    assert all(mask & SIGPROF for mask in now.masks.values()), now


def by_lldb(work, program, number):
    """Records it in one LLDB, and ends the recording in another. None: that other was about to hand a thread a tick, or a thread that computes got no
    CPU to take its mask back; the collector then forwards, as it says."""
    attach = f"process attach -p {program.pid}"
    answers, _ = lldb_session.run(build, None, ["collector profile source signal", attach, "collector enable", "detach"], work)
    assert f"Recording process {program.pid} to {work}/test.{number}.er" in dict(answers)["collector enable"], answers
    wait_for(lambda: "computes_blocked" in names(work, number))
    during = unblocked(program)
    answers, errors = lldb_session.run(build, None, [attach, "collector disable", "detach"], work)
    said = dict(answers)["collector disable"]
    if re.search("a debugger holds one of its threads and may yet deliver a tick|could not be made to block it", said):
        return None
    assert said == f"Disabled: process {program.pid} runs on without being recorded.\n", (said, errors)
    return during


def masks_by_ptrace(work):
    masks(work, by_ptrace, 2)


def masks_by_lldb(work):
    masks(work, by_lldb, 2 if attempts.IS_THOROUGH else 1)


def masks(work, record, times):
    """Threads that block SIGPROF have it blocked again."""
    with started(work, "masks") as program:
        assert int(program.stdout.readline().split()[0]) == program.pid > 0
        wait_for(lambda: (before := Process(program.pid)).signals["SigCgt"] & SIGUSR2 and all(mask & SIGPROF for mask in before.masks.values()))
        before = Process(program.pid)
        whole = 0
        for number in range(1, times + 5):
            if number > times and whole:
                break
            during = record(work, program, number)
            if not during:
                continue
            whole += 1
            assert during.signals["SigCgt"] & SIGPROF and during.timers, during
            as_before(before, program)
            state = recorded.status(build, f"{work}/test.{number}.er")["State"]
            assert state == "ended; the program runs on", state
        assert whole > 0
        ends_right(program)


def at_every_stop(work):
    """LLDB may hold a thread that is about to be handed a tick."""
    often = 8
    with started(work, "steady") as program:
        assert int(program.stdout.readline()) == program.pid > 0
        before = Process(program.pid)
        commands = ["collector profile source signal", f"process attach -p {program.pid}", *["collector enable", "collector disable"] * often, "detach"]
        answers, errors = lldb_session.run(build, None, commands, work)
        ended = [answer for command, answer in answers if command == "collector disable"]
        assert ended == [f"Disabled: process {program.pid} runs on without being recorded.\n"] * often, (ended, errors)
        as_before(before, program)
        ends_right(program)


def over_and_over(work):
    """What a recording leaves mapped serves the later ones."""
    with started(work, "steady") as program:
        assert int(program.stdout.readline()) == program.pid > 0
        before = Process(program.pid)
        for number in range(1, 6):
            with attempts.started(build / "bin/gnomon", "collect", "-k", "signal", "-P", program.pid, cwd=work, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.STDOUT) as gnomon:
                line = gnomon.stdout.readline()
                assert line.startswith(f"Recording process {program.pid} to {work}/test.{number}.er"), line
                gnomon.terminate()
                gnomon.communicate(timeout=PATIENCE)
            as_before(before, program)
            if number == 2:
                second = Process(program.pid)
        wait_for(lambda: Process(program.pid).mappings <= second.mappings)
        state = recorded.status(build, f"{work}/test.5.er")["State"]
        assert state == "ended; the program runs on", state
        ends_right(program)


def over_and_over_by_lldb(work):
    """The memory that one debugger's insertion needed serves that of the next."""
    with started(work, "steady") as program:
        assert int(program.stdout.readline()) == program.pid > 0
        for number in range(1, 5):
            commands = [f"process attach -p {program.pid}", "collector enable", "collector disable", "detach"]
            answers, errors = lldb_session.run(build, None, commands, work)
            assert not errors and dict(answers)["collector disable"].endswith("runs on without being recorded.\n"), (answers, errors)
            if number == 2:
                second = Process(program.pid)
        wait_for(lambda: Process(program.pid).mappings <= second.mappings)
        ends_right(program)


FORKS = """
import os, sys, time
sys.stdin.readline()
child = os.fork()
os.write(1, b"%d\\n" % child)  # one write: print may take two, between which the other process writes
while not os.path.exists("over"):
    bytearray(100000)
    time.sleep(0.001)
if child == 0:
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def child_of_a_recorded_process(work):
    """It inherits what the recording of its parent has bound; a recording of its own finds libc's functions behind that."""
    with attempts.started(sys.executable, "-c", FORKS, cwd=work, stdin=subprocess.PIPE) as program, attempts.started(
            build / "bin/gnomon", "collect", "-H", "on", "-i", "on", "-F", "off", "-P", program.pid, cwd=work, stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT) as gnomon:
        line = gnomon.stdout.readline()
        assert line.startswith(f"Recording process {program.pid} "), line
        program.stdin.write("\n")
        program.stdin.flush()
        child = max(int(program.stdout.readline()), int(program.stdout.readline()))
        done = subprocess.run([build / "bin/gnomon", "collect", "-H", "on", "-i", "on", "-t", "0.1", "-P", str(child)], cwd=work, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0 and f"process {child} runs on" in done.stdout, done
        pathlib.Path(work, "over").touch()
        printed, _ = program.communicate(timeout=PATIENCE)
        assert (program.returncode, printed) == (0, "3\n"), (program.returncode, printed)
        gnomon.communicate(timeout=PATIENCE)


by_plugin = [masks_by_lldb, at_every_stop, over_and_over_by_lldb] if (build / "lib/lldb-gnomon.so").exists() else []  # a sanitizer's build has none
attempts.try_cases(masks_by_ptrace, over_and_over, child_of_a_recorded_process, *by_plugin)
