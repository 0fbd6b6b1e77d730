#!/usr/bin/env python3
"""Counters: what the kernel counts is in the report, to the last event, in the right function, whoever asks and however the program is run."""
import json
import pathlib
import re
import subprocess
import sys

import lldb_session
from attempts import NOBODY, try_cases, wait_until
from kernel_clock import everyones, need_hidden_kernel

build = pathlib.Path(sys.argv[1])
N = 3000
TARGET = build / "targets/touches"


def collect(work, *words, under=(), place=build, target="touches", verb="once"):
    done = subprocess.run([*under, place / "bin/gnomon", "collect", *words, place / "targets" / target, verb, str(N)], cwd=work, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done
    experiment = next(pathlib.Path(work).glob("*.er"))
    wait_until(lambda: not (experiment / "ended").exists() and not (experiment / "lanes").exists(), "gnomon-sampler still writes")
    return experiment


def report(experiment, *words, metrics=None):
    """({name: row}, notes)"""
    chosen = ["-metrics", metrics] if metrics else []
    printed = subprocess.run([build / "bin/gnomon", "print", *chosen, *words, "--format", "json", experiment], capture_output=True, text=True, timeout=60)
    assert printed.returncode == 0, printed
    table = json.loads(printed.stdout[printed.stdout.index("{"):])
    return {row["name"]: row for row in table["rows"]}, table["notes"]


def last_figures(experiment):
    """{counter: what was counted} as gnomon-sampler says."""
    lines = [json.loads(line) for line in (experiment / "counters.jsonl").read_text().splitlines()]
    return {line["counter"]: line["counted"] for line in lines if "counted" in line}


def are_right(experiment, key="page-faults", interval=97, most=1.15):
    """Two threads touch N pages each; what is left of the program and its libraries touches a few."""
    rows, notes = report(experiment, "-functions")
    count = f"exclusive_{key}"
    everything = rows["<Total>"][count]
    assert everything == last_figures(experiment)[0], (everything, last_figures(experiment))
    assert sum(row[count] for name, row in rows.items() if name != "<Total>") == everything, rows
    assert 2 * N <= everything < 2 * N * most, everything
    assert abs(rows["touch"][count] - 2 * N) <= 12 * interval, rows["touch"]
    assert rows.get("collector_final_counters", {count: 0})[count] < 12 * interval, rows
    return rows, notes


def alone(work):
    """Without a clock the counter is what is shown."""
    experiment = collect(work, "-h", "page-faults")
    rows, _ = are_right(experiment)
    assert "exclusive_totalcpu" not in rows["<Total>"], rows
    lines, _ = report(experiment, "-lines")
    assert any(name.startswith("touch, line") for name in lines), lines
    only, _ = report(experiment, "-functions", "--filter", "LEAF IN FNAME(touch) && VADDR != 0", metrics="e.page-faults:name")
    assert only["<Total>"]["exclusive_page-faults"] == rows["touch"]["exclusive_page-faults"], only


def beside_clocks(work):
    """Counters beside either clock."""
    for name, words in (("kernel", ("-p", "2m")), ("signal", ("-p", "2m", "-k", "signal"))):
        place = pathlib.Path(work) / name
        place.mkdir()
        experiment = collect(place, *words, "-h", "page-faults,on,minor-faults,0x61")
        rows, _ = are_right(experiment)
        assert "exclusive_totalcpu" in rows["<Total>"], rows
        assert abs(rows["touch"]["exclusive_minor-faults"] - 2 * N) <= 12 * 97, rows["touch"]


def beside_switches(work):
    """The clock samples switches as well, at the same moments: each count has its call stack all the same."""
    for interval in (1, 10):
        place = pathlib.Path(work) / str(interval)
        place.mkdir()
        experiment = collect(place, "-p", "on", "-h", f"context-switches,{interval}", verb="naps")
        rows, notes = report(experiment, "-functions", metrics="i.context-switches:name")
        key, lost = "inclusive_context-switches", interval * sum(int(note.split()[0]) for note in notes if "samples of context-switches were lost" in note)
        assert rows["<Total>"][key] == last_figures(experiment)[0] >= N, (rows, last_figures(experiment))
        assert rows["naps"][key] + lost > 0.9 * N, (interval, rows, notes)


def from_outside(work):
    """A program that no collector comes into."""
    experiment = collect(work, "-h", "page-faults", target="touches_static")
    are_right(experiment, most=1.3)


def executed(work):
    """A recording from outside ends where another program is executed, whose counts are not of it."""
    rows, _ = report(collect(work, "-h", "page-faults", target="touches_static", verb="execs"), "-functions")
    final = rows.get("collector_final_counters", {"exclusive_page-faults": 0})["exclusive_page-faults"]
    assert abs(rows["<Total>"]["exclusive_page-faults"] - 2 * N) < 12 * 97 and final < 12 * 97, rows


def unprivileged(work):
    """Who may not see the kernel counts the program's own events, and is told so."""
    need_hidden_kernel()
    place = everyones(build, work, "touches")
    experiment = collect(work, "-h", "page-faults", under=NOBODY, place=place)
    _, notes = are_right(experiment)
    assert any("page-faults counts what happens in the program's code alone" in note for note in notes), notes


def in_lldb(work):
    """A stop shows what was counted up to it; other settings have to wait."""
    commands = ["collector hwprofile list", "collector hwprofile counter page-faults", "collector hwprofile addcounter minor-faults,lo", "collector show hwprofile",
                "collector hwprofile counter nonsense", "collector hwprofile", "collector profile on", "collector enable", "breakpoint set -n checkpoint", "run",
                "continue", "collector functions --format json", "collector hwprofile off", "continue", "collector functions --format json --metrics e.page-faults:name",
                "collector disable"]
    answers = lldb_session.run_all(build, TARGET, commands, work, arguments=["once", str(N)])
    said = [text for _, text in answers]
    assert re.search(r"^  page-faults,97 \('Page Faults', alias for PERF_COUNT_SW_PAGE_FAULTS; load-store events\)$", said[0], re.M), said[0]
    assert said[1].startswith("hwprofile: page-faults,97\n") and "the clock is off" in said[1], said[1]
    assert said[3].split()[1] == "page-faults,97,minor-faults,970", said[3]
    assert "there is no counter nonsense" in said[4] and "hwprofile needs a word" in said[5], said[4:6]
    rows = {row["name"]: row for row in json.loads(said[11])["rows"]}
    assert rows["<Total>"]["exclusive_page-faults"] >= 2 * N and "exclusive_totalcpu" in rows["touch"], rows
    assert "is being recorded with the settings that it began with" in said[12], said[12]
    rows = {row["name"]: row for row in json.loads(said[14])["rows"]}
    experiment = next(pathlib.Path(work).glob("*.er"))
    assert rows["<Total>"]["exclusive_page-faults"] == last_figures(experiment)[0], rows


def listed(work):
    """`-h` alone lists what counts; what does not is refused before the program runs."""
    lists = subprocess.run([build / "bin/gnomon", "collect", "-h"], capture_output=True, text=True, timeout=60)
    assert lists.returncode == 0 and "Aliased counters:" in lists.stdout and "Raw counters:" in lists.stdout and "  minor-faults,97 (" in lists.stdout, lists
    for words, what in ((["-h", "nonsense"], "there is no counter nonsense"), (["-h", "page-faults,page-faults"], "is named twice"),
                        (["-h", "page-faults/2"], "names a register")):
        refused = subprocess.run([build / "bin/gnomon", "collect", *words, TARGET, "once", "1"], cwd=work, capture_output=True, text=True, timeout=60)
        assert refused.returncode != 0 and what in refused.stderr and "checkpoint" not in refused.stdout, refused
    if "Hardware events: none" in lists.stdout:
        refused = subprocess.run([build / "bin/gnomon", "collect", "-h", "on", TARGET], cwd=work, capture_output=True, text=True, timeout=60)
        assert refused.returncode != 0 and "the processors of this machine count no events for programs" in refused.stderr, refused


try_cases(listed, alone, beside_clocks, beside_switches, from_outside, executed, unprivileged, in_lldb)
