#!/usr/bin/env python3
"""The collector comes by dlopen into a program that computes in several threads: those that ran before are sampled."""
import json
import pathlib
import re
import subprocess
import sys

import recorded

build = pathlib.Path(sys.argv[1])


def run(work, *then):
    done = subprocess.run([build / "targets/attached", build / "lib/libcollector.so", f"{work}/test", *then], cwd=work,
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    answers = [re.fullmatch(r"answer (\d+) threads (\d+) blocking (\d+) refused (\d+) error (\d+) (.*)", line).groups()
               for line in done.stdout.splitlines()]
    return done.returncode, [(*map(int, answer[:5]), answer[5]) for answer in answers]


def threads(work):
    """Main thread and another are sampled; the one that blocks SIGPROF is counted, and so is its time."""
    status, answers = run(work)
    assert (status, answers) == (3, [(1, 2, 1, 0, 0, f"{work}/test.1.er")]), (status, answers)
    table, notes = recorded.functions(build, f"{work}/test.1.er")
    inclusive = {name.split("::")[-1]: seconds[1] for name, seconds in table.items()}
    # They burn by the wall clock, on processors that others use, too.
    assert 0.25 < inclusive["in_main(double)"] < 0.6 and 0.25 < inclusive["in_thread(double)"], inclusive
    assert "in_blocking(double)" not in inclusive, inclusive
    for function, outermost in (("in_main(double)", "_start"), ("in_thread(double)", "clone3")):
        assert abs(inclusive[outermost] - inclusive[function]) < 0.05, inclusive
    assert "<Truncated-stack>" not in inclusive, inclusive
    assert "threads not sampled because they block SIGPROF or were in a signal handler: 1." in notes, notes
    log = [json.loads(line) for line in (pathlib.Path(work) / "test.1.er/log.jsonl").read_text().splitlines()]
    assert [(line["event"], line.get("threads")) for line in log] == [("bind", None), ("attach", 2), ("end", None)], log


def twice(work):
    status, answers = run(work, "again")
    assert status == 3 and [answer[0] for answer in answers] == [1, 2], (status, answers)
    assert {answer[5] for answer in answers} == {f"{work}/test.1.er"}, answers


def in_child(work):
    """A fork child has none of its parent's session, and may have its own."""
    status, answers = run(work, "fork")
    assert status == 7 and [answer[:2] for answer in answers] == [(1, 2), (1, 1)], (status, answers)
    table, _ = recorded.functions(build, f"{work}/test.2.er")
    assert 0.1 < sum(seconds[0] for name, seconds in table.items() if "in_main" in name) < 0.4, table


def no_room(work):
    """Where it may not write it says so, and the program runs on."""
    done = subprocess.run([build / "targets/attached", build / "lib/libcollector.so", "/proc/test"], cwd=work, capture_output=True,
                          text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 3 and done.stdout.startswith("answer 4 threads 0 blocking 0 refused 0 error 2 "), done


for case in (threads, twice, in_child, no_room):
    with recorded.directory() as work:
        case(work)
        print(f"{case.__name__}: ok")
