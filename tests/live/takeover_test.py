#!/usr/bin/env python3
"""A recording outlives who began it: a later debugger, or gnomon, finds it, shows it and ends it. That of a gnomon that is killed ends."""
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


def steady(work):
    return attempts.started(build / "targets/steady", cwd=work, stdin=subprocess.PIPE)


def number_of(program):
    number = int(program.stdout.readline())
    assert number == program.pid > 0
    return number


def wait_for(what):
    limit = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < limit, "not in time"
        time.sleep(0.05)


def in_lldb(work, pid, *commands):
    """{command: what it printed}"""
    answers, errors = lldb_session.run(build, None, [f"process attach -p {pid}", *commands, "detach"], work)
    assert not errors, errors
    return dict(answers)


def gnomon(*words):
    done = subprocess.run([build / "bin/gnomon", *map(str, words)], capture_output=True, text=True, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def timers(pid):
    return pathlib.Path(f"/proc/{pid}/timers").read_text()


def ends_right(program):
    printed, _ = program.communicate(timeout=PATIENCE)
    assert (program.returncode, printed) == (0, "right\n"), (program.returncode, printed)


def goes_on(work, number, program):
    path = f"{work}/test.{number}.er"
    before = recorded.samples(build, path)
    wait_for(lambda: recorded.samples(build, path) > before + 5)
    assert recorded.status(build, path)["State"] == "recording" and program.poll() is None


def two_debuggers(work):
    with steady(work) as program:
        pid = number_of(program)
        first = in_lldb(work, pid, "collector enable")["collector enable"]
        assert first.startswith(f"Recording process {pid} to {work}/test.1.er: 2 threads"), first
        goes_on(work, 1, program)
        # From another directory.
        elsewhere = pathlib.Path(work) / "elsewhere"
        elsewhere.mkdir()
        said = in_lldb(elsewhere, pid, "collector status", "collector functions", "collector enable", "collector functions --limit 1",
                       "collector disable", "collector functions --limit 2", "collector status", "collector enable")
        assert said["collector functions"].count("computes") == 1, said
        assert said["collector enable"].startswith(f"Recording process {pid} to {elsewhere}/test.1.er: 2 threads"), said
        assert said["collector disable"] == f"Disabled: process {pid} runs on without being recorded.\n", said
        assert "computes" in said["collector functions --limit 2"], said
        assert re.search(rf"Experiment +{work}/test.1.er\nState +ended; the program runs on", said["collector status"]), said
        goes_on(elsewhere, 1, program)
        # The first debugger comes before the process.
        said = in_lldb_by_collector(work, pid)
        assert said == f"Process {pid} is recorded already, to {elsewhere}/test.1.er.\n", said
        assert gnomon("collect", "-P", pid, "-d", work) == (
            1, f"gnomon: cannot record process {pid}: it is recorded already, to {elsewhere}/test.1.er; "
               f"`gnomon collect -P {pid} -e` ends that.\n")
        status, said = gnomon("collect", "-P", pid, "-e")
        assert (status, said) == (0, f"Recording of process {pid} has ended. `gnomon print -functions {elsewhere}/test.1.er` shows it.\n"), said
        assert timers(pid) == ""
        status, said = gnomon("collect", "-P", pid, "-e", "-t", 1)
        assert status != 0 and said.startswith("gnomon: -e records nothing, and goes with -P alone"), said
        assert gnomon("collect", "-P", pid, "-e") == (1, f"gnomon: process {pid} is not being recorded.\n")
        ends_right(program)


def in_lldb_by_collector(work, pid):
    """`collector attach`: what it says of the recording."""
    answers, errors = lldb_session.run(build, None, [f"collector attach {pid}", "detach"], work)
    assert not errors, errors
    return dict(answers)[f"collector attach {pid}"].splitlines(keepends=True)[0]


def tracer(pid):
    return int(re.search(r"^TracerPid:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1])


def debugger_is_killed(work):
    """While the process is stopped, and while it runs."""
    for number, runs in ((1, False), (2, True)):
        with steady(work) as program:
            pid = number_of(program)
            debugger = [lldb_session.LLDB, "--no-lldbinit", "-o", f"plugin load {build}/lib/lldb-gnomon.so", "-o", f"process attach -p {pid}",
                        "-o", "collector enable", *(["-o", "continue"] if runs else [])]
            with attempts.started(*debugger, cwd=work, stdin=subprocess.PIPE) as lldb:
                for line in lldb.stdout:
                    if line.startswith("Recording process"):
                        break
                assert f"to {work}/test.{number}.er" in line, line
                if runs:
                    goes_on(work, number, program)
                assert lldb.pid > 0 and tracer(pid) > 0
                lldb.kill()
            wait_for(lambda: tracer(pid) == 0)
            goes_on(work, number, program)
            said = in_lldb(work, pid, "collector disable")["collector disable"]
            assert said == f"Disabled: process {pid} runs on without being recorded.\n", said
            assert timers(pid) == "" and recorded.status(build, f"{work}/test.{number}.er")["State"] == "ended; the program runs on"
            ends_right(program)


def debugger_is_killed_once_it_has_stepped(work):
    """LLDB has a thread make room for the collector by stepping it: one that does not run before LLDB ends takes the process with it."""
    enabled, tries = 0, 10
    while enabled < 1 and (tries := tries - 1):
        with attempts.started(build / "targets/busy", "threads", cwd=work, stdin=subprocess.PIPE) as program:
            pid = int(program.stdout.readline().split()[0])
            debugger = [lldb_session.LLDB, "--no-lldbinit", "-b", "-o", f"plugin load {build}/lib/lldb-gnomon.so", "-o",
                        f"process attach -p {pid}", "-o", "collector enable", "-o", f"script import time; time.sleep({PATIENCE})"]
            with attempts.started(*debugger, cwd=work, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as lldb:
                if not any(line.startswith("Recording process") for line in lldb.stdout):
                    continue  # LLDB gave up attaching
                enabled += 1
                assert lldb.pid > 0 and tracer(pid) > 0
                lldb.kill()
            wait_for(lambda: tracer(pid) == 0)
            ends_right(program)
    assert enabled == 1, enabled


def gnomon_is_killed(work):
    with steady(work) as program:
        pid = number_of(program)
        with attempts.started(build / "bin/gnomon", "collect", "-P", pid, cwd=work, stdin=subprocess.DEVNULL) as collecting:
            line = collecting.stdout.readline()
            assert line.startswith(f"Recording process {pid} to {work}/test.1.er"), line
            goes_on(work, 1, program)
            assert collecting.pid > 0
            collecting.kill()
            # Nobody has its output any more once this has ended.
            rest = collecting.stdout.read()
            assert rest == "Ctrl-C ends the recording.\n", rest
        wait_for(lambda: recorded.status(build, f"{work}/test.1.er")["State"] == "ended; the program runs on")
        assert timers(pid) == ""
        limit = time.monotonic() + PATIENCE
        while True:  # gnomon-sampler may not be out of the process yet
            status, said = gnomon("collect", "-P", pid, "-t", 1, "-d", work)
            if "is beginning or ending a recording of it; try again" not in said or time.monotonic() > limit:
                break
        assert status == 0 and f"to {work}/test.2.er" in said, said
        ends_right(program)


attempts.try_cases(two_debuggers, debugger_is_killed, debugger_is_killed_once_it_has_stepped, gnomon_is_killed)
