#!/usr/bin/env python3
"""A program that confines its system calls lives on: recording ends before, keeps what it has, and says why."""
import json
import pathlib
import subprocess
import sys

import attempts
import recorded
import skips

build = pathlib.Path(sys.argv[1])
program = build / "targets/confined"
SENTENCE = "recording stopped early: the program confined its system calls (seccomp)"


def direct(way):
    return subprocess.run([program, way], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def confines_itself(work):
    attempts.need(direct("prctl").returncode != skips.STATUS, skips.NO_FILTER)
    for way in ("prctl", "prctl-by-number", "syscall", "strict", "threads"):
        for interval in (10_000_000, 500_000):
            done, experiment = recorded.run(build, program, [way], work, interval=interval)
            without = direct(way)
            assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "") == (without.returncode, without.stdout, without.stderr), (way, done)
            table, notes = recorded.functions(build, experiment)
            assert any(SENTENCE in note for note in notes), (way, notes)
            before = table.get("before_filter_in_threads" if way == "threads" else "before_filter", (0, 0))[1]
            assert 0.06 < before < (9 if way == "threads" else 0.14) and "after_filter" not in table, (way, interval, table, notes)
            log = [json.loads(line)["event"] for line in (experiment / "log.jsonl").read_text().splitlines()]
            assert log == ["end"], log
    for way in ("probe", "fork", "vfork"):
        done, experiment = recorded.run(build, program, [way], work)
        assert done.returncode == 0, (way, done)
        table, notes = recorded.functions(build, experiment)
        assert not any(SENTENCE in note for note in notes), (way, notes)
        assert 0.06 < table["after_probe"][1] < 0.14, (way, table)


def works_on(work):
    """Hooks make no system call of their own once a filter is set; if nothing sees it come, not until a lane is full."""
    walled = build / "targets/walled"
    attempts.need(subprocess.run([walled, "prctl", "1"], capture_output=True, timeout=60).returncode != skips.STATUS, skips.NO_FILTER)
    everything = ("-H", "on", "-s", "all", "-i", "on")
    for tracing in ((), ("-H", "on"), ("-s", "all"), ("-i", "on"), everything):
        for clock, way, times in (("-k", "kernel"), "prctl", 100_000), (("-k", "signal"), "prctl", 100_000), (("-p", "off"), "inline", 100):
            done = subprocess.run([build / "bin/gnomon", "collect", *clock, *tracing, walled, way, str(times)], cwd=work, capture_output=True, text=True, timeout=60)
            assert (done.returncode, done.stdout) == (0, "right\n"), (tracing, way, clock, done)


attempts.try_cases(confines_itself, works_on)
