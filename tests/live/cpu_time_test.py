#!/usr/bin/env python3
"""The times of a recording by the kernel's clock are the program's CPU time, in the kernel or not, however short its threads live."""
import json
import os
import pathlib
import re
import subprocess
import sys

import lldb_session
import recorded
from attempts import NOBODY, started, try_cases, wait_until
from kernel_clock import everyones, need_hidden_kernel, unless_lost

build = pathlib.Path(sys.argv[1])
METRICS = "e.totalcpu:e.user:e.system:e.ticks:name"


def collect(work, *words, under=(), place=build, source="kernel"):
    """What the program printed, as a number; its experiment."""
    done = subprocess.run([*under, place / "bin/gnomon", "collect", "-p", "4m", "-k", source, place / "targets/states", *words],
                          cwd=work, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return float(done.stdout), max(pathlib.Path(work).glob("*.er"), key=os.path.getmtime)


def times(experiment, *view):
    """{name: (total, user, system, ticks)}, and the notes."""
    printed = subprocess.run([build / "bin/gnomon", "print", "-metrics", METRICS, *view, "-functions", "--format", "json", experiment],
                             capture_output=True, text=True, timeout=60)
    report = json.loads(printed.stdout[printed.stdout.index("{"):])
    columns = [f"exclusive_{name}" for name in ("totalcpu", "user", "system", "ticks")]
    return {row["name"]: tuple(row.get(column, 0) for column in columns) for row in report["rows"]}, report["notes"]


def is_near(value, wanted, share):
    return abs(value - wanted) < share * wanted


def check_sums(table, used, experiment):
    """The times add up to what the kernel has counted, which is a little more than what the program has of itself."""
    total, user, system, _ = table["<Total>"]
    counted = recorded.used(experiment)
    tick = 0.004
    assert abs(total - counted) < 0.01 * counted + tick and total > 0.98 * used, (table, used, counted)
    unsampled = table.get("<Unsampled>", (0,))[0]
    assert is_near(user + system + unsampled, total, 0.001), table
    return unsampled


def seen(work):
    """Who may see the kernel has ticks in it."""
    used, experiment = collect(work, "0.3", "0.3", "0")
    table, _ = times(experiment)
    assert check_sums(table, used, experiment) < 0.004, table  # a tick may be that late
    assert is_near(table["<Total>"][2], 0.3, 0.25) and table["<Total>"][3] > 0.8 * used / 0.004, table
    assert is_near(table["read"][2], 0.3, 0.25) and "<System>" not in table, table
    if is_shown("/proc/kallsyms"):
        inside, _ = times(experiment, "-kernel", "on")
        assert is_near(inside["<Total>"][2], table["<Total>"][2], 0.001) and inside["read"][2] < 0.1 * table["read"][2], inside
        kernel = {line.split()[2] for line in open("/proc/kallsyms")}
        assert sum(system for name, (_, _, system, _) in inside.items() if name in kernel) > 0.8 * inside["<Total>"][2], inside


def is_shown(symbols):
    """Whether this user sees the kernel's addresses."""
    with open(symbols) as lines:
        return int(next(lines).split()[0], 16) != 0


def unseen(work):
    """Who may not has the CPU time that the ticks do not stand for."""
    need_hidden_kernel()
    place = everyones(build, work, "states")
    used, experiment = collect(work, "0.3", "0.3", "0", under=NOBODY, place=place)
    table, notes = times(experiment)
    check_sums(table, used, experiment)
    assert is_near(table["<System>"][2], 0.3, 0.25) and table["<System>"][1] == 0, table
    assert any("<System>" in note and "perf_event_paranoid" in note for note in notes), notes


def by_signals_too(work):
    """Unless its own signals tell what it was doing then."""
    need_hidden_kernel()
    place = everyones(build, work, "states")
    used, experiment = collect(work, "0.4", "0.2", "0", under=NOBODY, place=place, source="auto")
    table, notes = times(experiment)
    check_sums(table, used, experiment)
    assert is_near(table["<Total>"][2], 0.4, 0.25) and table["read"][2] > 0.5 * table["<Total>"][2] and table["read"][1] < 0.2 * table["read"][2], table
    clock = recorded.status(build, experiment)["Clock"]
    assert "SIGPROF every 10 ms, which shows system calls; chosen by auto: this user may not see time in the kernel" in clock, clock


def attached(work):
    """The same in a process that runs."""
    need_hidden_kernel()
    place = everyones(build, work, "states")
    with started(*NOBODY, place / "targets/states", "0", "20", "0", cwd=work) as program:
        wait_until(lambda: pathlib.Path(f"/proc/{program.pid}/exe").resolve().name == "states", "it does not begin")
        done = subprocess.run([*NOBODY, place / "bin/gnomon", "collect", "-P", str(program.pid), "-t", "0.5"], cwd=work, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        assert done.returncode == 0 and ": 1 thread, by the kernel's clock, and their system calls by signals." in done.stdout, done
        assert recorded.status(build, pathlib.Path(work) / "test.1.er")["Threads"] == "1"


def refused(work):
    """Where the kernel cannot be the clock, auto takes signals, and says why where it is asked."""
    few = [sys.executable, "-c", "import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); os.execvp(sys.argv[1], sys.argv[1:])"]
    for source, said in (("auto", False), ("kernel", True)):
        done = subprocess.run([*few, build / "bin/gnomon", "collect", "-k", source, build / "targets/states", "0", "0.1", "0"], cwd=work,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and ("The kernel cannot be the clock" in done.stderr) == said, done
        clock = recorded.status(build, max(pathlib.Path(work).glob("*.er"), key=os.path.getmtime))["Clock"]
        assert clock.startswith("signal (") and ("; chosen by auto: the process's 1 threads" in clock) != said, clock


def at_once(work):
    """A program may end before gnomon-sampler has looked at it."""
    for _ in range(3):
        done = subprocess.run([build / "bin/gnomon", "collect", "-k", "kernel", build / "targets/states"], cwd=work, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        experiment = max(pathlib.Path(work).glob("*.er"), key=os.path.getmtime)
        wait_until(lambda: not (experiment / "ended").exists(), f"{experiment} is not sealed")
        table, notes = times(experiment)
        assert table["<Total>"][0] < 0.02 and not any("gnomon-sampler" in note for note in notes), (table, notes)


def short_threads(work):
    """Which no tick meets."""
    used, experiment = collect(work, "0", "0.01", "2000")
    table, _ = times(experiment)
    check_sums(table, used, experiment)
    found = next((row for name, row in table.items() if "short_life" in name), (0, 0, 0))
    assert found[1] > 0.05 * used and found[0] > 0.25 * used, (table, used)
    assert table.get("<Short threads>", (0,))[0] < 0.1 * found[0], table


def at_a_stop(work):
    """The time of the kernel is there up to the stop."""
    commands = ["collector profile source kernel", "collector enable", "breakpoint set -n computes", "run", "collector metrics e.system:e.totalcpu:name",
                "collector functions", "continue"]
    answers, errors = lldb_session.run(build, build / "targets/states", commands, work, arguments=["0.3", "0.1", "0"])
    assert "error" not in errors, errors
    (text,) = (text for command, text in answers if command == "collector functions")
    total = re.search(r"^ *([\d.]+) +([\d.]+) +<Total>", text, re.M)
    assert is_near(float(total[1]), 0.3, 0.25) and is_near(float(total[2]), 0.3, 0.25), text


try_cases(*map(unless_lost, (seen, unseen, by_signals_too, attached, refused, at_once, short_threads, at_a_stop)))
