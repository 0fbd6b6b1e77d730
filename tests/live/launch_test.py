#!/usr/bin/env python3
"""Launches: the handshake, a collector that does not arrive, and a program that sees nothing of it."""
import json
import pathlib
import re
import subprocess
import sys

import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
targets = build / "targets"
library = build / "lib/libcollector.so"
libm = next(line.split("=>")[1].split()[0]
            for line in subprocess.run(["ldd", targets / "split"], capture_output=True, text=True).stdout.splitlines()
            if "libm.so" in line)
libasan = next(line.split()[0] for line in subprocess.run(["ldd", targets / "waits_address"], capture_output=True, text=True).stdout.splitlines()
               if "libasan.so" in line)


def log_of(experiment):
    return [json.loads(line) for line in (experiment / "log.jsonl").read_text().splitlines()]


def session(program, commands, work, **more):
    answers, errors = lldb_session.run(build, targets / program, commands, work, check=False, **more)
    return answers, errors


def experiments(work):
    return sorted(p.name for p in pathlib.Path(work).iterdir())


def handshake(work):
    """Twice `run`, through a shell, and stopped before the loader ran: each time the debugger answers."""
    session("split", ["collector enable", "run", "run", "process launch --shell /bin/sh -- 0", "process launch -s", "continue"],
            work, arguments=["0"])
    assert experiments(work) == [f"test.{n}.er" for n in (1, 2, 3, 4)], experiments(work)
    for name in experiments(work):
        begin, end = log_of(pathlib.Path(work) / name)
        assert begin["event"] == "begin" and 0 < begin["held"] < 2e9 and end["event"] == "end", (name, begin)


def absent(work):
    """The reason is said when the program starts, and again instead of a table; the program runs."""
    answers, errors = session("split", ["collector enable", f"process launch -E LD_PRELOAD={libm} -- 0", "collector functions"],
                              work)
    said = errors + "".join(output for _, output in answers)
    assert re.search(rf"warning: process \d+ is not recorded: its LD_PRELOAD lacks {library}; see", said), said
    assert re.search(r"error: process \d+ was not recorded: its LD_PRELOAD lacks", said), said
    assert "exited with status = 0" in said and experiments(work) == [], said


def static(work):
    answers, errors = session("alone", ["collector profile source signal", "collector enable"], work)
    assert "alone cannot be recorded: it is linked statically" in errors, (answers, errors)
    answers, errors = session("alone", ["run"], work)
    assert "exited with status = 0" in "".join(output for _, output in answers), answers


WITHOUT_LEAKS = "settings append target.env-vars ASAN_OPTIONS=detect_leaks=0"  # which no program under a debugger can look for


def sanitized(work):
    """AddressSanitizer wants to be first, ThreadSanitizer alone."""
    theirs = f"settings append target.env-vars LD_PRELOAD={libasan}:{libm}"
    for number, commands in enumerate(([], [theirs]), 1):
        answers, errors = session("waits_address", [WITHOUT_LEAKS, *commands, "collector enable", "run"], work, arguments=["poll"])
        said = dict(answers)["run"]
        assert "right" in said and "exited with status = 0" in said, (answers, errors)
        functions, _ = recorded.functions(build, pathlib.Path(work) / f"test.{number}.er")
        assert functions["(anonymous namespace)::computes()"][1] > 0.9 * functions["<Total>"][1] > 0.5, functions
    answers, errors = session("waits_thread", ["collector profile source signal", "collector enable"], work, arguments=["poll"])
    assert "waits_thread cannot be recorded: it is built with -fsanitize=thread, " in errors, (answers, errors)


def sanitized_meanwhile(work):
    """The collector comes into a program that runs already."""
    commands = [WITHOUT_LEAKS, "breakpoint set -n computes", "run", "collector enable", "breakpoint delete -f", "continue"]
    answers, errors = session("waits_address", commands, work, arguments=["poll"])
    assert "Recording process " in dict(answers)["collector enable"], (answers, errors)
    said = dict(answers)["continue"]
    assert "right" in said and "exited with status = 0" in said, (answers, errors)


def unanswered(work):
    """Without a debugger that answers the program is held as long as it was told, and then recorded."""
    done, experiment = recorded.run(build, targets / "split", ["0"], work, hold=30)
    assert done.returncode == 0, done
    begin = log_of(experiment)[0]
    assert begin["event"] == "begin unasked" and begin["held"] >= 30e6, begin


def seen(work, commands):
    """What the program prints of its surroundings, and which signals it catches. (SigQ counts the timer: not compared.)"""
    (pathlib.Path(work) / "input").write_text("one\ntwo\n")
    before = [f"settings set target.env-vars LD_PRELOAD={libm} \"WITH BLANK=a b\"", "settings set target.run-args \"a b\" '*' \"\""]
    answers, errors = session("surroundings", [*before, *commands, "process launch -i input"], work)
    said = "".join(output for _, output in answers)
    assert said.count("exited with status = 3") == 1, (said, errors)
    lines = [line for line in said.replace("\r", "").splitlines()
             if re.match(r"argument|environment|terminal|descriptor|Sig[PBIC]|ShdPnd|limit|errno|input", line)]
    # LLDB hands the environment on in an order that depends on what is in it.
    return sorted(line for line in lines if not line.startswith("SigCgt")), [line for line in lines if line.startswith("SigCgt")]


def untouched(work):
    bare, caught = seen(work, [])
    by_kernel, caught_by_none = seen(work, ["collector profile source kernel", "collector enable"])
    assert (bare, caught) == (by_kernel, caught_by_none), "\n".join(sorted(set(bare) ^ set(by_kernel)))
    ours, caught_with_us = seen(work, ["collector profile source signal", "collector enable"])
    assert bare == ours, "\n".join(sorted(set(bare) ^ set(ours)))
    assert "input two" in ours and "argument a b" in ours and f"environment LD_PRELOAD={libm}" in ours, ours
    sigprof = 1 << 26
    assert [int(line.split()[1], 16) ^ int(mine.split()[1], 16) for line, mine in zip(caught, caught_with_us)] == [sigprof] * len(
        caught), (caught, caught_with_us)


for test in (handshake, absent, static, sanitized, sanitized_meanwhile, unanswered, untouched):
    with recorded.directory() as place:
        test(place)
print("the collector arrives, or it is said why not")
