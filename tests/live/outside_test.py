#!/usr/bin/env python3
"""The kernel is the clock: its samples are read from outside, the program gets no signal and a debugger no stop."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import lldb_session
import recorded
from attempts import NOBODY, need_nobody, started, try_cases, wait_until
from kernel_clock import are_split, everyones, need_hidden_kernel, times, unless_lost

build = pathlib.Path(sys.argv[1])
GNOMON = str(build / "bin/gnomon")
TARGETS = build / "targets"


def collect(work, *words, interval="hi", under=(), gnomon=GNOMON):
    """What the program printed, and its experiment."""
    done = subprocess.run([*under, gnomon, "collect", "-p", interval, "-k", "kernel", *words], cwd=work, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    experiment = max(pathlib.Path(work).glob("*.er"), key=os.path.getmtime)
    said = [line for line in done.stderr.splitlines() if "recording process" not in line and "this machine's clock ticks" not in line]
    assert not said, said
    return done.stdout, experiment


def all_is_counted(experiment):
    """The CPU time is told, whatever was lost."""
    table, notes = recorded.functions(build, experiment)
    lost = sum(int(note.rsplit(" ", 1)[1].rstrip(".")) for note in notes if "did not come to read them in time" in note)
    assert 3.8 < table["<Total>"][0] < 4.3, (table, notes)
    assert lost < 0.9 * 4000, notes


def shares(work):
    """As many ticks as CPU time, on every thread, with whole call stacks."""
    said, experiment = collect(work, TARGETS / "split", "1", "4")
    all_is_counted(experiment)
    table, _ = times(build, experiment)
    total = table["<Total>"][0]
    assert said == "done\n" and 3.8 < total < 4.3, (said, table)
    are_split(table)
    status = recorded.status(build, experiment)
    assert status["State"] == "ended" and status["Clock"].startswith("kernel ("), status
    assert int(status["Threads"]) in (4, 5), status
    assert not (experiment / "lanes").exists(), "the experiment is not sealed"


def caught_signals(work):
    """The program's own, and no other."""
    direct = subprocess.run([TARGETS / "rounds", "1", "x"], capture_output=True, text=True, timeout=60)
    said, experiment = collect(work, TARGETS / "rounds", "1", "x")
    assert said == direct.stdout and "SigCgt" in said, (said, direct.stdout)
    assert recorded.samples(build, experiment) > 50


def reloaded(work):
    """An address means the code that lay there when the sample was taken."""
    order = ["a", "b", "b", "a", "b"]
    done = subprocess.run([TARGETS / "reload", TARGETS, *order], cwd=work, capture_output=True, text=True, timeout=60)
    assert done.returncode != 77, "the loader chose other addresses"
    _, experiment = collect(work, TARGETS / "reload", TARGETS, *order, interval="2m")
    table, _ = times(build, experiment)
    for letter in "ab":
        assert abs(table[f"work_of_{letter}"][1] - 0.1 * order.count(letter)) < 0.02, (letter, table)
    assert "<Unknown>" not in table, table


def children(work):
    """Are sampled by inheritance, counted, and left out."""
    _, experiment = collect(work, TARGETS / "family")
    table, notes = times(build, experiment)
    own = 1.5
    assert own * 0.95 < table["<Total>"][0] < own * 1.2, table
    counted = [int(note.rsplit(" ", 1)[1].rstrip(".")) for note in notes if note.startswith("clock samples of child processes")]
    assert len(counted) == 1 and 200 < counted[0] < 500, notes


def killed(work):
    """What the kernel's rings held when the program was killed is in the experiment as soon as anybody reads it."""
    script = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; kill -9 $$"
    done = subprocess.run([GNOMON, "collect", "-p", "hi", "-k", "kernel", "/bin/sh", "-c", script], cwd=work, capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done
    experiment = pathlib.Path(work) / "test.1.er"
    table, notes = recorded.functions(build, experiment)
    used = recorded.used(experiment)
    assert used > 0.1 and is_all(table, experiment), (table["<Total>"], used, notes)


def is_all(table, experiment, notes=()):
    """Whether the table has the CPU time that the process has used meanwhile. On a busy machine the events of a process that runs are there a tenth
    of a second after the recording has begun: then a note says how much the table has."""
    used = recorded.used(experiment)
    missing = used - table["<Total>"][0]
    is_said = any(f"clock samples cover {table['<Total>'][0]:.3f} s of the process's {used:.3f} s" in note for note in notes)
    return abs(missing) < 0.03 * used + 0.005 or is_said and 0 < missing < max(0.2, 0.15 * used)


def attach(work, program, interval="hi"):
    """Records a program that runs, until it ends; the experiment, and what was said at its beginning."""
    done = subprocess.run([GNOMON, "collect", "-p", interval, "-k", "kernel", "-P", str(program.pid)], cwd=work, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    begun = done.stdout.splitlines()
    assert begun[0].startswith("Recording process") and "by the kernel's clock" in begun[0], begun
    return max(pathlib.Path(work).glob("*.er"), key=os.path.getmtime), begun


def attached(work):
    """The threads that run are sampled, and those that they make."""
    with started(TARGETS / "split", "1", "4") as program:
        wait_until(lambda: len(os.listdir(f"/proc/{program.pid}/task")) >= 4, "the threads are not there")
        experiment, _ = attach(work, program)
    table, notes = recorded.functions(build, experiment)
    assert recorded.used(experiment) > 0.5 and is_all(table, experiment, notes), (table, recorded.used(experiment), notes)
    are_split(table, 0.1)
    status = recorded.status(build, experiment)
    assert status["State"] == "ended" and status["Clock"].startswith("kernel ("), status


def limited(work):
    """A recording that ends by its time is complete, though the program runs on."""
    with started(TARGETS / "split", "30") as program:
        done = subprocess.run([GNOMON, "collect", "-t", "1.5s", "-k", "kernel", "-P", str(program.pid)], cwd=work, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "runs on" in done.stdout, done
    experiment = pathlib.Path(work) / "test.1.er"
    table, notes = recorded.functions(build, experiment)
    used = recorded.used(experiment)
    assert not any("add up" in note for note in notes) and 0.1 < used < 1.6 and is_all(table, experiment, notes), (table["<Total>"], used, notes)


def attached_amid_births(work):
    """No thread is sampled twice that another one made while the events were being opened."""
    with started(TARGETS / "chains", "6", "1", "5000") as program:
        assert program.stdout.readline() == "ready\n"
        experiment, _ = attach(work, program)
        used = float(program.stdout.read())
    table, _ = recorded.functions(build, experiment)
    assert 0.2 < table["<Total>"][0] < used, (table, used)


def whole_share(experiment, *words, function="work::outermost(int, double)"):
    """Which part of the time in targets/deep's innermost function has its call stack from there on: what begins and ends its threads has not."""
    printed = subprocess.run([GNOMON, "print", "-functions", "--format", "json", *words, experiment], capture_output=True, text=True, timeout=60)
    rows = {row["name"]: row for row in json.loads(printed.stdout)["rows"]}
    total = rows["burn(double)"]["inclusive_totalcpu"]
    assert total > 0.1, printed
    return rows.get(function, {"inclusive_totalcpu": 0})["inclusive_totalcpu"] / total


def deep_stacks(work):
    """At the usual interval 64 KiB of the stack are copied from the first sample on."""
    _, experiment = collect(work, TARGETS / "deep", "0.5", "80", interval="on")
    assert whole_share(experiment) > 0.98, recorded.functions(build, experiment)


def stacks_with_holes(work):
    """A page that nothing has used yet does not end the copy: at launch, and once it has been seen."""
    _, experiment = collect(work, TARGETS / "deep", "0.3", "2", "main", interval="on")
    assert whole_share(experiment, function="work::beyond_the_hole(int, double)") > 0.95, recorded.functions(build, experiment)
    _, experiment = collect(work, TARGETS / "deep", "1", "2", "thread", interval="on")
    assert whole_share(experiment, "--since", "0.5s", function="work::beyond_the_hole(int, double)") > 0.95, recorded.functions(build, experiment)
    _, notes = recorded.functions(build, experiment)
    assert not any("coroutine" in note for note in notes), notes


def deeper_stacks(work):
    """More of the stack is copied once that shows to be needed, if an ordinary user's ring has room."""
    need_nobody()
    copy = everyones(build, work, "deep")
    _, experiment = collect(work, copy / "targets/deep", "1.2", "80", interval="8", under=(*NOBODY, "prlimit", "--memlock=0"), gnomon=copy / "bin/gnomon")
    assert whole_share(experiment, "--since", "0.5s") > 0.95, recorded.functions(build, experiment)
    _, notes = recorded.functions(build, experiment)
    assert any("what the kernel copied of the stack" in note or "the stack that the kernel copied" in note for note in notes), ("nothing was cut at first", notes)


def user_time(work):
    """Where the kernel shows only user time the header says so."""
    need_hidden_kernel()
    copy = everyones(build, work, "rounds")
    _, experiment = collect(work, copy / "targets/rounds", "1", under=NOBODY, gnomon=copy / "bin/gnomon")
    assert recorded.status(build, experiment)["Clock"].endswith("ms of a thread's user CPU time"), recorded.status(build, experiment)
    table, _ = recorded.functions(build, experiment)
    assert table["work::computes(unsigned int)"][0] > 0.5 * table["<Total>"][0] > 0.05, table


def refused(work):
    """Where the user has no memory left for rings signals are the clock, and the reason is said."""
    need_nobody()
    copy = everyones(build, work, "rounds")
    poor = [*NOBODY, "prlimit", "--memlock=0", copy / "bin/gnomon", "collect", "-p", "hi", "-k", "kernel"]
    with started(*poor, "-o", "first.er", "/bin/sh", "-c", "read x", cwd=work, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL):
        wait_until(lambda: clock_of(pathlib.Path(work) / "first.er").startswith("kernel"), "the first one has no ring")
        done = subprocess.run([*poor, "-o", "second.er", copy / "targets/rounds", "1"], cwd=work, capture_output=True, text=True, timeout=60)
    assert "The kernel cannot be the clock: other recordings, or perf, have taken all the memory" in done.stderr, done
    assert "the program's own threads sample by signals" in done.stderr, done
    second = pathlib.Path(work) / "second.er"
    assert clock_of(second).startswith("signal") and recorded.samples(build, second) > 5, recorded.status(build, second)


def clock_of(experiment):
    try:
        return recorded.status(build, experiment).get("Clock", "")
    except AssertionError:  # it is not there yet
        return ""


def samples_in(text):
    return int(re.search(r"^Samples +(\d+),", text, re.M).group(1))


def in_lldb(work):
    """At a stop everything up to the stop is there; nothing is recorded during a pause; no signal stops LLDB."""
    commands = ["collector profile source kernel", "collector profile timer hi", "collector enable", "breakpoint set -n checkpoint", "run", "continue",
                "collector functions", "collector status", "collector pause", "continue", "collector status", "collector resume", "continue",
                "collector status", "breakpoint delete -f", "continue", "collector functions"]
    answers, errors = lldb_session.run(build, TARGETS / "rounds", commands, work, arguments=["4"])
    assert "error" not in errors, errors
    at_stop, whole = (text for command, text in answers if command == "collector functions")
    first, paused, resumed = (text for command, text in answers if command == "collector status")
    assert "cover" not in at_stop and "computes_less" in at_stop, at_stop
    assert re.search(r"^Clock +kernel", first, re.M), first
    one_round = samples_in(first)
    assert one_round > 50 and samples_in(paused) == one_round, (first, paused)
    assert samples_in(resumed) > 1.5 * one_round, (first, resumed)
    assert "cover" not in whole and "<Total>" in whole, whole


try_cases(*map(unless_lost, (shares, attached, limited, attached_amid_births, deep_stacks, stacks_with_holes, deeper_stacks, caught_signals, reloaded, children, killed, user_time, refused,
                             in_lldb)))
