#!/usr/bin/env python3
"""Waits of threads for others: every kind of lock, against what the program measures itself; who held it; and deadlocks at a stop."""
import json
import pathlib
import re
import subprocess
import sys

import attempts
import recorded

build = pathlib.Path(sys.argv[1])
LOCKS = build / "targets/locks"
GNOMON = build / "bin/gnomon"
HELD = 0.03  # s of CPU time that a lock is held, each time
# What a way of waiting waits for, by the name it has in `sync`.
OBJECTS = {"mutex": "mutex ledger", "std::mutex": "mutex cpp_lock", "timedlock": "mutex ledger", "read": "read lock in a block of 56 bytes, allocated in ",
           "write": "write lock shared_lock", "spin": "spin lock spin", "condition": "condition queue_filled", "barrier": "barrier barrier",
           "semaphore": "semaphore posted", "std::counting_semaphore": "futex counted", "std::atomic": "futex flag", "mtx": "mutex c11_lock"}


def table(experiment, *report):
    done = subprocess.run([GNOMON, "print", "--format", "json", *report, experiment], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def run(work, setting):
    """(what the program measured: {object: (waits, seconds)}, the experiment)"""
    done, experiment = recorded.run(build, LOCKS, [], work, interval=1_000_000, settings=f"H=1;T={setting};V=1")
    assert done.returncode == 0, done
    measured = {}
    for line in done.stdout.splitlines():
        way, rounds, seconds = line.rsplit(" ", 2)
        before = measured.get(OBJECTS[way], (0, 0))
        measured[OBJECTS[way]] = (before[0] + int(rounds), before[1] + float(seconds))
    assert set(measured) == set(OBJECTS.values()), done.stdout
    return measured, experiment


def waits_of(experiment):
    """{object: (waits, seconds)}"""
    printed = table(experiment, "-sync")
    assert not any("wrong" in note for note in printed["notes"]), printed["notes"]
    return {row["name"]: (row["waits"], row["time"]) for row in printed["rows"] if row["place"] == 0}


def close(name, recorded_time, time):
    # The futex of an atomic is waited for only after a while of looking.
    begin = 0 if name.startswith("futex") else 0.95 * time - 0.01
    return begin <= recorded_time < 1.05 * time + 0.01


def tried(check):
    """Times are the program's own, taken around the calls: on a busy machine other work comes between, and a futex is often not waited for."""
    for attempt in range(10):
        wrong = check()
        if not wrong:
            return
        print(f"attempt {attempt}: {wrong}", flush=True)
    raise AssertionError(wrong)


def by_object(work):
    """Each is recorded under its name, as often and as long as the program itself measured"""
    def check():
        measured, experiment = run(work, 1)
        found = waits_of(experiment)
        assert "end of threads" in found, found
        wrong = []
        for name, (rounds, seconds) in measured.items():
            waits, time = next((value for each, value in found.items() if each.startswith(name)), (0, 0))
            # libstdc++ yields its CPU four times before it waits for a futex, which on a busy machine can be all the time.
            assert waits >= rounds or name.startswith("futex"), (name, rounds, found)
            if waits == 0 or not close(name, time, seconds):
                wrong.append((name, time, seconds))
        return wrong
    tried(check)


def every_call(work):
    """With `all` calls that do not wait are recorded as well"""
    measured, experiment = run(work, 2)
    waits, _ = waits_of(experiment)["mutex ledger"]
    # Both ways lock it twice a round: who holds it, and who waits.
    assert waits == 2 * measured["mutex ledger"][0], (waits, measured)


def by_function(work):
    """The metrics, and what the holder did meanwhile"""
    measured, experiment = run(work, 1)
    rows = table(experiment, "-functions", "--metrics", "i.sync:i.syncn")["rows"]
    total = next((row["inclusive_syncn"], row["inclusive_sync"]) for row in rows if row["name"] == "<Total>")
    waits = waits_of(experiment).values()
    assert total[0] == sum(count for count, _ in waits) and abs(total[1] - sum(time for _, time in waits)) < 1e-6, (total, waits)
    printed = table(experiment, "-blockers")["rows"]
    blamed = {}
    for stack in {row["stack"] for row in printed}:
        rows = [row for row in printed if row["stack"] == stack and row["time"] is not None]
        whole, shares = rows[0], rows[1:]
        assert abs(sum(row["time"] for row in shares) - whole["time"]) < 1e-6, (whole, shares)
        for row in shares:
            blamed[row["name"]] = blamed.get(row["name"], 0) + row["time"]
    # CPU time of those that others waited for. A spin lock has no holder.
    burned = HELD * sum(rounds for name, (rounds, _) in measured.items() if not name.startswith("spin"))
    worked = sum(time for name, time in blamed.items() if " ran in " in name)
    assert worked > 0.6 * burned, (blamed, burned)


def holders(work):
    """Who waits is told the holder's name, and what that did."""
    with attempts.started(build / "bin/gnomon", "collect", "-s", "on", "-k", "kernel", "-o", "holders.er", build / "targets/holders", cwd=work,
                          stdin=subprocess.PIPE) as program:
        experiment = pathlib.Path(work) / "holders.er"

        def has_names():
            shown = subprocess.run([build / "bin/gnomon", "print", "-blockers", experiment], capture_output=True, text=True, timeout=60).stdout
            return "sleeper" in shown and "reader" in shown
        attempts.wait_until(has_names, "the holders have no names")
        program.communicate(timeout=60)
        assert program.returncode == 0, program.returncode
    rows = table(experiment, "-blockers")["rows"]
    blamed = {row["name"]: row["time"] for row in rows if row["time"] is not None}
    slept, waited = (next((time for name, time in blamed.items() if re.match(words, name)), 0)
                     for words in (r"sleeper \(\d+\) slept in work::sleeps_with_it\(\)", r"reader \(\d+\) waited in \w*read"))
    assert 0.15 < slept < 0.25 and 0.15 < waited < 0.25, rows
    names = [row["name"] for row in rows]
    assert any(name.startswith("  called by work::reads_with_it()") for name in names), names
    held = [row["name"] for row in table(experiment, "-sync")["rows"] if row["time"] is not None]
    assert any(re.match(r"sleeper \(\d+\)", name) for name in held) and any(re.match(r"reader \(\d+\)", name) for name in held), held


def refusals(work):
    """Calls that libc refuses are refused, and what they would have waited for is as it was."""
    program = build / "targets/refusals"
    alone = subprocess.run([program], capture_output=True, text=True, timeout=60)
    for setting in (1, 2):
        done, _ = recorded.run(build, program, [], work, settings=f"T={setting}")
        assert (done.returncode, done.stdout) == (0, alone.stdout) and "sem_timedwait -1 22 1" in done.stdout, (done, alone)


for case in [globals()[name] for name in sys.argv[2:]] or (by_object, every_call, by_function, holders, refusals):
    with recorded.directory() as work:
        case(work)
        print(f"{case.__name__}: as it should be")
