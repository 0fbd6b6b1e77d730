#!/usr/bin/env python3
"""An experiment is read over and over while a crowd of threads writes it, past its end in order or by a kill: never a fault."""
import json
import os
import pathlib
import subprocess
import sys
import time

import recorded

build = pathlib.Path(sys.argv[1])
REPORTS = ("functions", "calltree", "callers-callees", "status")
NOT_YET = ("there is no experiment", "is not an experiment", "holds nothing")


def start(work):
    program = build / "targets/crowd"
    settings = recorded.variables(build, program, work, interval=100_000)
    return subprocess.Popen([program, build / "targets"], env={**os.environ, **settings}, cwd=work, stdin=subprocess.PIPE)


def read(report, experiment):
    return subprocess.run([build / "bin/gnomon", "print", f"-{report}", "--format", "json", experiment], capture_output=True,
                          text=True, timeout=60)


def total(experiment, whole=False):
    """CPU seconds so far; None: no experiment yet. Whole: every frame has its load object, whose line comes a moment later."""
    read_now = read("functions", experiment)
    if read_now.returncode != 0:
        assert any(text in read_now.stderr for text in NOT_YET), read_now.stderr
        return None
    rows = json.loads(read_now.stdout)["rows"]
    assert rows[0]["name"] == "<Total>", rows[0]
    parts = sum(row["exclusive_totalcpu"] for row in rows[1:])
    assert abs(parts - rows[0]["exclusive_totalcpu"]) < 1e-6, (parts, rows[0])
    assert not (whole and any(row["name"] == "<Unknown>" for row in rows)), rows
    return rows[0]["exclusive_totalcpu"]


def storm(program, experiment):
    deadline = time.monotonic() + 60
    last, reads = 0, 0
    while last < 1 or reads < 3 * len(REPORTS):
        assert time.monotonic() < deadline and program.poll() is None, (last, reads)
        now = total(experiment)
        if now is None:
            assert reads == 0
            continue
        assert now >= last, (now, last)
        last = now
        done = read(REPORTS[reads % len(REPORTS)], experiment)
        assert done.returncode == 0, done.stderr
        reads += 1
    return last


def state(experiment):
    return recorded.status(build, experiment)["State"]


for ending in ("in order", "killed"):
    with recorded.directory() as work:
        program = start(work)
        experiment = f"{work}/test.1.er"
        before = storm(program, experiment)
        assert state(experiment) == "recording", state(experiment)
        if ending == "killed":
            program.kill()
        else:
            program.stdin.close()
        while program.poll() is None:
            total(experiment)
        assert program.returncode == (-9 if ending == "killed" else 0), program.returncode
        assert total(experiment, whole=ending == "in order") >= before
        wanted = "ended; the program ended without" if ending == "killed" else "ended"
        assert state(experiment).startswith(wanted), state(experiment)
print("an experiment is readable at every moment")
