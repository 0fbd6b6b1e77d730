#!/usr/bin/env python3
"""The end of a traced recording, wherever the threads of the program are at that moment: in hooks, for as long as a debugger likes, in a library that
comes or goes. And whoever waits for that end does not wait for ever."""
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys

import attempts
import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
STORM = build / "targets/storm"
IN_HOOK = "gnomon::collector::TracedCall::stack"
TRACED = ("-H", "on", "-s", "all", "-i", "on")


def ended(experiment):
    """The experiment, once gnomon-sampler has written its last."""
    attempts.wait_until(lambda: sampler_of(experiment) == 0, f"{experiment} is still written")
    return experiment


def notes_of(experiment):
    printed = subprocess.run([build / "bin/gnomon", "print", "-allocs", experiment], capture_output=True, text=True, timeout=60)
    assert printed.returncode == 0 and "call stacks, " in printed.stdout, printed
    return printed.stdout


def held_in_a_hook(work):
    """The debugger holds a thread in a traced call while the recording ends. Its lane stays until it has left that call."""
    commands = ["collector heaptrace on", "collector enable", "breakpoint set -n beat", "run", f"breakpoint set -n {IN_HOOK}", "breakpoint disable 1",
                "continue", "breakpoint disable 2", "collector disable", "collector allocs --limit 3", "breakpoint enable 1", "continue", "collector enable",
                "continue", "continue", "collector disable", "breakpoint disable 1", "continue"]
    answers = lldb_session.run_all(build, STORM, commands, work, ["2", "2", "join"])
    ends = [text for command, text in answers if command == "collector disable"]
    said = re.search(r"^(A|\d+) threads? (is|are) in the middle of a traced call: the last \d+ events? of it stay in the experiment's lanes, where reports "
                     r"find them\.$", ends[0], re.M)
    assert said and "runs on without being recorded" in ends[0], answers
    allocs = dict(answers)["collector allocs --limit 3"]
    count = said[1].replace("A", "1")
    assert f"threads that were in the middle of a traced call when the recording ended: {count};" in allocs, allocs
    assert int(re.search(r"call stacks, (\d+) allocations", allocs)[1]) > 1000, allocs
    assert ends[1].count("\n") == 1, ends[1]
    assert "exited with status = 0" in answers[-1][1] and "right" in answers[-1][1], answers[-1]
    for number in (1, 2):
        experiment = ended(pathlib.Path(work) / f"test.{number}.er")
        assert recorded.wait_until_closed(experiment)
        assert not (experiment / "lanes").exists() and "traced call" not in notes_of(experiment), list(experiment.iterdir())


def three_recordings(work):
    """A thread that made no traced call in the second has lanes of the first in the third."""
    commands = ["collector heaptrace on", "breakpoint set -n beat", "collector enable", "run", "collector disable", "collector heaptrace off",
                "collector enable", "continue", "collector disable", "collector heaptrace on", "collector enable", "continue", "collector allocs --limit 3",
                "collector disable", "breakpoint disable 1", "continue"]
    answers = lldb_session.run_all(build, STORM, commands, work, ["2", "1", "join"])
    allocs = dict(answers)["collector allocs --limit 3"]
    assert int(re.search(r"call stacks, (\d+) allocations", allocs)[1]) > 1000, answers
    assert "exited with status = 0" in answers[-1][1], answers[-1]
    for number in (1, 3):
        assert "missing" not in notes_of(ended(pathlib.Path(work) / f"test.{number}.er"))
    traced = pathlib.Path(work) / "test.2.er/heaptrace"
    assert not traced.exists() or traced.stat().st_size == 0, traced


def launched(work):
    """More threads than CPUs: some are always preempted in a hook."""
    for clock in ("signal", "kernel"):
        for seconds, how in ((0.5, "join"), (0.4, "leave")):
            done = subprocess.run([build / "bin/gnomon", "collect", *TRACED, "-k", clock, "-t", "0.3", STORM, "40", str(seconds), how], cwd=work,
                                  capture_output=True, text=True, timeout=60)
            assert (done.returncode, done.stdout) == (0, "right\n"), (clock, how, done)
    for experiment in pathlib.Path(work).glob("*.er"):
        notes_of(ended(experiment))


def leaves(work):
    """main() returns while they allocate."""
    for clock in ("signal", "kernel"):
        done = subprocess.run([build / "bin/gnomon", "collect", *TRACED, "-k", clock, STORM, "40", "0.4", "leave"], cwd=work, capture_output=True, text=True,
                              timeout=60)
        assert (done.returncode, done.stdout) == (0, "right\n"), (clock, done)


def attached(work):
    """Recorded again and again, while a library comes and goes."""
    times = 20 if attempts.IS_THOROUGH else 2
    with attempts.started(STORM, "8", "0", "join", build / "targets/storm_library.so", cwd=work, stdin=subprocess.PIPE) as program:
        for number in range(1, times + 1):
            done = collect(work, program, *TRACED, "-t", "0.2")
            assert program.poll() is None and done.returncode == 0, (number, program.poll(), done)
        printed, _ = program.communicate(timeout=attempts.PATIENCE)
        assert (program.returncode, printed) == (0, "right\n"), (program.returncode, printed)
    for number in range(1, times + 1):
        notes_of(ended(pathlib.Path(work) / f"test.{number}.er"))


def collect(work, program, *words):
    return subprocess.run([build / "bin/gnomon", "collect", *words, "-P", str(program.pid)], cwd=work, capture_output=True, text=True,
                          timeout=attempts.PATIENCE, stdin=subprocess.DEVNULL)


def without_sampler(work):
    """gnomon-sampler is to end the recording, but is killed, or stopped."""
    for number, (sent, why) in enumerate(((signal.SIGKILL, "it was killed"), (signal.SIGSTOP, "it is stopped")), 1):
        with attempts.started(STORM, "0", "0", "join", cwd=work, stdin=subprocess.PIPE) as program:
            gnomon = subprocess.Popen([build / "bin/gnomon", "collect", "-t", "0.4", "-P", str(program.pid)], cwd=work, stdout=subprocess.PIPE, text=True,
                                      stdin=subprocess.DEVNULL)
            assert gnomon.stdout.readline().startswith("Recording process")
            experiment = pathlib.Path(work) / f"test.{number}.er"
            attempts.wait_until(lambda: sampler_of(experiment) > 0, "no sampler")
            sampler = sampler_of(experiment)
            os.kill(sampler, sent)
            said, _ = gnomon.communicate(timeout=attempts.PATIENCE)
            if sent == signal.SIGSTOP:
                os.kill(sampler, signal.SIGKILL)
            assert gnomon.returncode == 0 and f"gnomon-sampler, which is to end the recording in time, has not done so: {why};" in said, said
            printed, _ = program.communicate(timeout=attempts.PATIENCE)
            assert (program.returncode, printed) == (0, "right\n"), (program.returncode, printed)


def sampler_of(experiment):
    """Its number; 0: there is none yet."""
    return struct.unpack_from("<I", (experiment / "control").read_bytes(), 152)[0]


def removed(work):
    """The experiment goes away while it is recorded."""
    with attempts.started(STORM, "0", "0", "join", cwd=work, stdin=subprocess.PIPE) as program:
        gnomon = subprocess.Popen([build / "bin/gnomon", "collect", "-P", str(program.pid)], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, stdin=subprocess.DEVNULL)
        assert gnomon.stdout.readline().startswith("Recording process")
        experiment = pathlib.Path(work) / "test.1.er"
        while experiment.exists():  # a file may be added meanwhile
            shutil.rmtree(experiment, ignore_errors=True)
        said, _ = gnomon.communicate(timeout=attempts.PATIENCE)
        assert gnomon.returncode != 0 and "was removed while it was recorded" in said, (gnomon.returncode, said)
        printed, _ = program.communicate(timeout=attempts.PATIENCE)
        assert (program.returncode, printed) == (0, "right\n"), (program.returncode, printed)


def cut(work):
    """The control page is cut short: whoever touches it would be ended by SIGBUS."""
    with attempts.started(STORM, "0", "0", "join", cwd=work, stdin=subprocess.PIPE) as program:
        gnomon = subprocess.Popen([build / "bin/gnomon", "collect", "-P", str(program.pid)], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, stdin=subprocess.DEVNULL)
        assert gnomon.stdout.readline().startswith("Recording process")
        os.truncate(pathlib.Path(work) / "test.1.er/control", 0)
        said, _ = gnomon.communicate(timeout=attempts.PATIENCE)
        assert gnomon.returncode == 1 and f"/control was cut short while it was recorded; process {program.pid}" in said, (gnomon.returncode, said)
        program.kill()


attempts.try_cases(held_in_a_hook, three_recordings, launched, leaves, attached, without_sampler, removed, cut)
