#!/usr/bin/env python3
"""`collector enable` in a process that LLDB has attached to while it is in malloc, dlopen, fork, a signal handler: it records, and the program does not notice."""
import pathlib
import re
import subprocess
import sys

import attempts
import kinds
import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
chosen = sys.argv[2].split(",") if len(sys.argv) > 2 else ("dlopens", "many")
ATTEMPTS = int(sys.argv[3]) if len(sys.argv) > 3 else 1
PATIENCE = 30  # s
TRIES = 3
LATE = "recorded, but later than LLDB waits"


def attempt(work, kind):
    """What went wrong, or None; how long the process was held, in ms."""
    program = subprocess.Popen(kinds.words(build, kind), cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        pid = int(program.stdout.readline().split()[0])
        assert pid > 0
        answers, errors = lldb_session.run(build, None, [f"process attach -p {pid}", "collector profile source signal", "collector enable", "detach"],
                                           work, check=False)
        said = dict(answers).get("collector enable", "")
        if "is still setting up the recording" in errors:  # on a busy machine; recording begins by itself
            fault = attempts.fault_of(build, f"{work}/test.1.er", program)
            return fault or LATE, None
        enabled = re.match(rf"Recording process {pid} to (.*): \d+ threads?, .*\. It was stopped for (\d+) ms\.\n", said)
        if not enabled:
            return f"{said} {errors}", None
        fault = attempts.fault_of(build, enabled.group(1), program)
        return f"{fault}; {said}" if fault else None, int(enabled.group(2))
    finally:
        if program.poll() is None and program.pid > 0:
            program.kill()
            program.wait(PATIENCE)


def session(work, words, commands, on_crash=(), sampled=False, timeout=100):
    """[(command, output)] of a session with a busy program, and errors; its exit status and what it printed."""
    program = subprocess.Popen([build / "targets" / words[0], *words[1:]], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        pid = int(program.stdout.readline().split()[0])
        assert pid > 0
        answers, errors = lldb_session.run(build, None, [f"process attach -p {pid}", *commands], work, check=False, on_crash=on_crash, timeout=timeout)
        assert not sampled or recorded.wait_for_samples(build, f"{work}/test.1.er", program), (answers, errors)
        printed, _ = program.communicate(timeout=PATIENCE)
        return answers[2:], errors, program.returncode, printed
    finally:
        if program.poll() is None and program.pid > 0:
            program.kill()
            program.wait(PATIENCE)


def in_place(work):
    """The only thread, at a breakpoint inside a `finish`: it is borrowed, and is where it was."""
    looks = ["frame info", "register read", "breakpoint list -b", "thread backtrace -c 4", "target stop-hook list"]
    commands = ["target stop-hook add -o 'script print(\"stopped\")'", "target stop-hook add -o 'script print(\"never\")'",
                "target stop-hook disable 2", "breakpoint set -n computes", "continue", "breakpoint set -n leaf", "finish", *looks,
                "collector enable", *looks, "breakpoint delete -f", "finish", "detach"]
    answers, _, status, said = session(work, ["busy", "compute"], commands)
    first = commands.index(looks[0])
    before = [re.sub("stop reason = .*", "", output) for _, output in answers[first:first + len(looks)]]
    command, enabled = answers[first + len(looks)]
    after = [re.sub("stop reason = .*", "", output) for _, output in answers[first + len(looks) + 1:][:len(looks)]]
    after[-1] = re.sub(r"\nHook: 3\n.*collector note-stop\n", "", after[-1], flags=re.S)  # the collector's own
    assert command == "collector enable" and enabled.startswith("Recording process ") and "hooked" not in enabled, answers
    assert "leaf" in before[0] and after == before, (before, after)
    assert "computes" in dict(answers)["finish"] and (status, said) == (0, "right\n"), (answers, status, said)


def executes(work):
    """It begins itself anew all the time, at which LLDB alone may lose it: recorded or not, it runs on."""
    for _ in range(3):
        try:
            answers, _, status, said = session(work, ["execs"], ["collector enable", "detach"], timeout=20)
            break
        except subprocess.TimeoutExpired as hang:
            assert "collector enable" not in hang.stdout.decode(), hang  # LLDB alone may wait in `process attach` for ever
    else:
        raise attempts.Skipped("LLDB did not attach")
    assert (status, said) == (0, "right\n"), (answers, status, said)


def allocates_itself(work):
    """Nothing tells whether one of its threads has its allocator's lock: recorded or not, it runs on."""
    answers, errors, status, said = session(work, ["busy_own", "arena"], ["collector enable", "detach"])
    assert "malloc is in the program itself" in errors or answers[0][1].startswith("Recording process "), (answers, errors)
    assert (status, said) == (0, "right\n"), (answers, status, said)


def at_signal(work):
    """The only thread, at a signal's delivery: its handler runs, and it is where it was; its stacks are whole afterwards."""
    looks = ["register read rip rsp rflags", "p (int)(*(int*)&handled)"]
    commands = [*looks, "collector enable", *looks, "detach"]
    answers, errors, status, said = session(work, ["busy", "signal"], ["continue"], on_crash=commands, sampled=True)
    assert "SIGVTALRM" in answers[0][1], answers
    place, calls = (output for _, output in answers[1:3])
    place_after, calls_after = (output for _, output in answers[4:6])
    assert answers[3][1].startswith("Recording process ") and place == place_after, (answers, errors)
    assert int(calls_after.split()[-1]) == int(calls.split()[-1]) + 1, answers
    functions, _ = recorded.functions(build, f"{work}/test.1.er")
    assert functions["_start"][1] > 0.9 * functions["<Total>"][1], functions
    assert (status, said) == (0, "right\n"), (status, said)


def stepped(work):
    """A thread was stopped in the midst of LLDB's step from a breakpoint, which goes on in what it is borrowed for."""
    commands = ["breakpoint set -n input_is_over", "continue", "script import os", "script os.kill(lldb.process.GetProcessID(), 19)",
                "continue", "breakpoint delete -f", "thread select 2", "collector enable", "thread list", "detach"]
    answers, errors, status, said = session(work, ["busy", "arena"], commands)
    assert "SIGSTOP" in answers[4][1] and "Recording process " in dict(answers)["collector enable"], (answers, errors)
    assert not re.search("trace|SIGTRAP", dict(answers)["thread list"]), answers
    assert (status, said) == (0, "right\n"), (answers, status, said)


def at_loader_breakpoint(work):
    """A thread has the loader's lock where LLDB alone has stopped it, by which it learns of libraries: it runs on."""
    commands = ["settings set target.process.stop-on-sharedlibrary-events true", "continue", "thread select 1", "collector enable",
                "settings set target.process.stop-on-sharedlibrary-events false", "detach"]
    answers, errors, status, said = session(work, ["busy", "dlopens"], commands)
    assert "shared-library-event" in answers[1][1], (answers, errors)
    # On a busy machine it may take longer than LLDB waits.
    assert "Recording process " in answers[3][1] or "is still setting up the recording" in errors, (answers, errors)
    assert (status, said) == (0, "right\n"), (answers, status, said)


def in_malloc(work):
    """The user has stopped the only thread inside malloc: it is not moved, also where the breakpoint is gone."""
    for breakpoint in ("breakpoint set -n malloc", "breakpoint set -o true -n malloc"):
        answers, errors, status, said = session(work, ["busy", "malloc"], [breakpoint, "continue", "collector enable"])
        assert "it stands inside a function of libc, of the loader or of the allocator; type `finish`, and repeat" in errors, (answers, errors)
        assert (status, said) == (0, "right\n"), (status, said)


def attempt_in_time(work, kind):
    """The same, tried again where it came late."""
    for number in range(TRIES):
        place = pathlib.Path(work) / str(number)
        place.mkdir()
        fault, ms = attempt(place, kind)
        if fault != LATE:
            break
    return fault, ms


faults = attempts.try_all(dict.fromkeys(chosen, ATTEMPTS), attempt_in_time)
if faults:
    sys.exit(1)
if len(sys.argv) == 2:
    attempts.try_cases(in_place, at_signal, stepped, at_loader_breakpoint, in_malloc, executes, allocates_itself)
