#!/usr/bin/env python3
"""An attach reaches threads that block SIGPROF for all their life, by both ways in; each goes on seeing the mask that it has set."""
import contextlib
import os
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


def by_ptrace(work, program):
    """What was said."""
    with subprocess.Popen([build / "bin/gnomon", "collect", "-k", "signal", "-P", str(program.pid)], cwd=work, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as gnomon:
        said = gnomon.stdout.readline() + gnomon.stdout.readline()
        try:
            watched(work, program)
            return said + gnomon.communicate(timeout=PATIENCE)[0]
        finally:
            if gnomon.poll() is None and gnomon.pid > 0:
                gnomon.kill()


def by_lldb(work, program, before=(), after=()):
    commands = ["collector profile source signal", f"process attach -p {program.pid}", "process handle SIGUSR2 -s false -n false", *before, "collector enable", *after, "detach"]
    answers, errors = lldb_session.run(build, None, commands, work, check=False)
    said = dict(answers).get("collector enable", "")
    # What LLDB prints of a selected thread may come late.
    assert "\nRecording process " in f"\n{said}" and "Meanwhile" not in said, (answers, errors)
    watched(work, program)
    return answers[3:]


def watched(work, program):
    """Lets it run until those that block SIGPROF were met, and end."""
    limit = time.monotonic() + PATIENCE
    while "blocked" not in times_of(work) and time.monotonic() < limit:
        time.sleep(0.1)
    fault = attempts.fault_of(build, f"{work}/test.1.er", program)
    assert not fault, fault


def times_of(work):
    """Inclusive seconds of the program's functions."""
    functions, _ = recorded.functions(build, f"{work}/test.1.er")
    return {re.sub(r".*::(\w+)\(\)$", r"\1", name): inclusive for name, (_, inclusive) in functions.items()}


def reached(work, way):
    """Runs the program while way(work, program) records it."""
    program = subprocess.Popen([build / "targets/masks"], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert int(program.stdout.readline().split()[0]) == program.pid > 0
        answers = way(work, program)
    finally:
        if program.poll() is None and program.pid > 0:
            program.kill()
        program.wait(PATIENCE)
    times = times_of(work)
    assert times.get("blocked", 0) > 0 and times.get("waiting", 0) > 0.2 and "<Unknown>" not in times, times
    return answers


def collected(work):
    reached(work, by_ptrace)


def enabled(work):
    reached(work, by_lldb)


def looked_at(work):
    """The selected thread is one that blocks it; it is where it was."""
    looks = ["register read rip rsp rax rcx rdx r11 rflags", "thread backtrace", "breakpoint list"]
    answers = reached(work, lambda *program: by_lldb(*program, ["thread select 5", *looks], looks))

    # LLDB prints what was selected in time or late.
    def seen(part):
        return list(dict.fromkeys(re.findall(r"\w+ = 0x.*|frame #.*|.*breakpoints.*", "".join(output for _, output in part))))
    before, after = seen(answers[1:2 + len(looks)]), seen(answers[3 + len(looks):-1])
    assert any("waiting" in line for line in before) and sorted(after) == sorted(before), (before, after)


def of_allocator(work, record):
    """An allocator's own thread, whose stack is all of it."""
    with attempts.started(build / "targets/waits", "poll", "3", cwd=work, stdin=subprocess.PIPE,
                          env={**os.environ, "LD_PRELOAD": str(build / "targets/libown_malloc.so")}) as program:
        assert int(program.stdout.readline().split()[0]) == program.pid > 0
        said = record(program.pid)
        assert "Recording process" in said and ": 3 threads, " in said and "Not sampled" not in said, said
        fault = attempts.fault_of(build, f"{work}/test.1.er", program)
        assert not fault, fault


def of_allocator_collected(work):
    with contextlib.ExitStack() as ends:
        def record(pid):
            gnomon = ends.enter_context(attempts.started(build / "bin/gnomon", "collect", "-k", "signal", "-P", pid, cwd=work, stdin=subprocess.DEVNULL))
            return gnomon.stdout.readline() + gnomon.stdout.readline()
        of_allocator(work, record)


def of_allocator_enabled(work):
    def record(pid):
        answers, _ = lldb_session.run(build, None, ["collector profile source signal", f"process attach -p {pid}", "collector enable", "detach"], work, check=False)
        return dict(answers).get("collector enable", "")
    of_allocator(work, record)


attempts.try_cases(collected, enabled, looked_at, of_allocator_collected, *([of_allocator_enabled] if attempts.IS_THOROUGH else []))
