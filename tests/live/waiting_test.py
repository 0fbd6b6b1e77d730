#!/usr/bin/env python3
"""What threads do off a CPU: the times of every thread add up to its life, and each is of what the thread waited for."""
import json
import math
import os
import pathlib
import re
import subprocess
import sys

import lldb_session
from attempts import NOBODY, started, try_cases, wait_until
from kernel_clock import Lost, everyones, lost_records, need_hidden_kernel, unless_lost

build = pathlib.Path(sys.argv[1])
METRICS = ("total", "totalcpu", "wait", "lock", "sleep", "owait", "blocked", "stop", "latency")


def collect(work, *words, under=(), place=build):
    """{thread: (name, at least so long it has lived, at most)} as the program says, and the experiment."""
    options = words[:2] if words[0] == "-w" else ()
    done = subprocess.run([*under, place / "bin/gnomon", "collect", "-p", "2m", "-k", "kernel", *options, place / "targets/waiting", *words[len(options):]],
                          cwd=work, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    experiment = next(pathlib.Path(work).glob("*.er"))
    wait_until(lambda: not (experiment / "ended").exists(), "gnomon-sampler still writes")
    return lives_in(done.stdout), experiment


def lives_in(text):
    return {int(thread): (name, float(least), float(most) or math.inf) for name, thread, least, most in re.findall(r"^(\w+) (\d+) ([\d.]+) ([\d.]+)$", text, re.M)}


def report(experiment, *words, most_lost=100):
    printed = subprocess.run([build / "bin/gnomon", "print", "-metrics", ":".join(f"e.{metric}" for metric in METRICS) + ":name", "-sort", "e.total",
                              *words, "--format", "json", experiment], capture_output=True, text=True, timeout=60)
    assert printed.returncode == 0, printed
    table = json.loads(printed.stdout[printed.stdout.index("{"):])
    if lost_records(table["notes"]) > most_lost:
        raise Lost(table["notes"])
    return {row["name"]: {metric: row.get(f"exclusive_{metric}", 0) for metric in METRICS} for row in table["rows"]}, table["notes"]


def of_threads(experiment, *words, most_lost=100):
    rows, _ = report(experiment, "-threads", *words, most_lost=most_lost)
    return {int(re.search(r"Thread (\d+)", name)[1]): row for name, row in rows.items() if "Thread" in name}


def slack(life):
    return 0.01 * life + 0.02


def add_up(threads, lives):
    """A thread lives longer than its own function takes, by as much as a busy machine makes it wait before and after."""
    for thread, (name, least, most) in lives.items():
        states = threads[thread]
        assert least - slack(least) < states["total"] < most + slack(most), (name, least, most, states)
        assert abs(states["totalcpu"] + states["wait"] + states["blocked"] - states["total"]) < 0.002, (name, states)


def share(threads, lives, name, *metrics):
    """The smallest of threads of that name."""
    return min(sum(threads[thread][metric] for metric in metrics) / life for thread, (of, life, _) in lives.items() if of == name)


def seen(work):
    """Who may see the kernel learns where and why, also of a part of the recording."""
    lives, experiment = collect(work, "1")
    threads = of_threads(experiment)
    add_up(threads, lives)
    for name, *metrics in (("sleeps", "sleep", "wait"), ("reads", "owait", "wait"), ("locks", "lock", "wait"), ("main", "sleep", "lock", "wait"),
                           ("computes", "totalcpu", "wait")):
        assert share(threads, lives, name, *metrics) > 0.9, (name, threads, lives)
    rows, _ = report(experiment, "-functions")
    everything = rows["<Total>"]
    assert rows.get("<Waiting>", everything)["blocked"] < 0.05 * everything["blocked"] or "<Waiting>" not in rows, rows
    assert rows["read"]["owait"] > 0.9 * everything["owait"] and 0.9 * everything["sleep"] < rows["clock_nanosleep"]["sleep"], rows
    # Of three threads that compute at least one has a CPU, and no more than there are.
    part = everything["latency"] / everything["totalcpu"]
    assert 0.95 / min(3, os.cpu_count()) < part < 1, everything
    half = of_threads(experiment, "--since", "0.5s")
    for thread, (name, *_) in lives.items():
        assert abs(half[thread]["total"] - 0.5) < 0.06, (name, half[thread])
    shares = [report(experiment, "-functions", "--parallelism", str(count))[0].get("<Total>") or dict.fromkeys(METRICS, 0) for count in range(1, os.cpu_count() + 1)]
    for count, states in enumerate(shares, 1):
        assert abs(states["latency"] - states["totalcpu"] / count) < 0.001 and states["blocked"] == 0, (count, states)
    assert shares[1]["totalcpu"] > 0 and abs(sum(states["totalcpu"] for states in shares) - everything["totalcpu"]) < 0.1 * everything["totalcpu"], shares


def unseen(work):
    """Who may not learns how long, and is told how to learn more."""
    need_hidden_kernel()
    place = everyones(build, work, "waiting")
    lives, experiment = collect(work, "1", under=NOBODY, place=place)
    threads = of_threads(experiment)
    add_up(threads, lives)
    for name, *metrics in (("sleeps", "blocked", "wait"), ("reads", "blocked", "wait"), ("computes", "totalcpu", "wait")):
        assert share(threads, lives, name, *metrics) > 0.9, (name, threads, lives)
    rows, notes = report(experiment, "-functions")
    assert rows["<Total>"]["lock"] == 0 and any("no data for the metric lock" in note for note in notes), notes
    assert any("have no call stack and no reason (<Waiting>)" in note and "perf_event_paranoid" in note for note in notes), notes


def under_way(work):
    """Waits that began before the recording have their places, and no thread is stopped for that."""
    with started(build / "targets/deadlock", "rests", cwd=work) as program:
        assert program.stdout.readline() == "all wait\n"
        done = subprocess.run([build / "bin/gnomon", "collect", "-P", str(program.pid), "-t", "1", "-k", "kernel"], cwd=work, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
    experiment = next(pathlib.Path(work).glob("*.er"))
    rows, notes = report(experiment, "-functions")
    length = rows["<Total>"]["total"] / 8
    printed = subprocess.run([build / "bin/gnomon", "print", "-metrics", "i.total:name", "-functions", "--format", "json", experiment], capture_output=True, text=True, timeout=60)
    found = {row["name"]: row["inclusive_total"] for row in json.loads(printed.stdout)["rows"]}
    for name in ("takes_a_number", "reads_table", "waits_for_news", "reads_pipe", "waits_for_all", "rests"):
        own = [time for function, time in found.items() if re.search(rf"\b{name}\(", function)]
        assert own and abs(own[0] - length) < 0.15 * length, (name, length, found, notes)
    assert found.get("<Waiting>", 0) < 0.1 * length, found


def by_calls(work):
    """Unless the program's own calls tell why."""
    need_hidden_kernel()
    place = everyones(build, work, "waiting")
    lives, experiment = collect(work, "-w", "on", "1", under=NOBODY, place=place)
    threads = of_threads(experiment)
    add_up(threads, lives)
    for name, *metrics in (("sleeps", "sleep", "wait"), ("reads", "owait", "wait"), ("locks", "lock", "sleep", "wait"), ("main", "sleep", "lock", "wait")):
        assert share(threads, lives, name, *metrics) > 0.85, (name, threads, lives)
    rows, _ = report(experiment, "-functions")
    everything = rows["<Total>"]
    assert next(row for name, row in rows.items() if "::reads()" in name)["owait"] > 0.85 * everything["owait"], rows


def at_a_stop(work):
    """Time at a stop of the debugger's is no thread's life."""
    commands = ["collector profile source kernel", "collector profile timer 2m", "collector enable", "breakpoint set -n usleep -i 10 -o true", "run", "platform shell sleep 0.5", "continue"]
    answers, errors = lldb_session.run(build, build / "targets/waiting", commands, work, arguments=["1"])
    text = "".join(text for _, text in answers)
    assert "error" not in errors and "exited with status = 0" in text, (errors, text)
    experiment = next(pathlib.Path(work).glob("*.er"))
    threads = of_threads(experiment)
    stops = [states["stop"] for states in threads.values()]
    assert min(stops) > 0.4, threads
    lives = {thread: (name, least - threads[thread]["stop"], most - threads[thread]["stop"]) for thread, (name, least, most) in lives_in(text).items()}
    add_up(threads, lives)
    assert share(threads, lives, "sleeps", "sleep", "wait") > 0.7, threads


def many_switches(work):
    """Of very many nothing but the times is known."""
    lives, experiment = collect(work, "switches", "100000")
    add_up(of_threads(experiment, most_lost=1000), lives)
    _, notes = report(experiment, "-functions", most_lost=1000)
    if (experiment / "log.jsonl").read_text().count('"waiting"'):
        assert any("records of switches between threads were given up" in note and "times a second" in note for note in notes), notes


try_cases(*map(unless_lost, (seen, unseen, under_way, by_calls, at_a_stop, many_switches)))
