#!/usr/bin/env python3
"""Reports about the place where a program has stopped, and the line that `stop-line` prints there."""
import json
import pathlib
import re
import sys

import lldb_session
from terminal import Terminal

build = pathlib.Path(sys.argv[1])
PROGRAM = build / "targets/rounds"  # calls checkpoint every tenth of a second
NO_CLOCK = "collector profile off"  # no signal can make LLDB stop twice at a breakpoint
LINE = r"Stopped(?: after (<= )?([\d.]+) (m?s)|(; since the process began)): CPU ([\d.]+) (m?s) \(this thread ([\d.]+) (m?s)\), (\d+) samples?\.\n"


def lines_of(text):
    """[(what stands before the time, time, CPU time, the thread's, samples)], times in seconds; None: since the process began."""
    def seconds(number, unit):
        return float(number) / (1 if unit == "s" else 1000)
    return [(sign, None if begun else seconds(wall, wall_unit), seconds(cpu, cpu_unit), seconds(own, own_unit), int(samples))
            for sign, wall, wall_unit, begun, cpu, cpu_unit, own, own_unit, samples in re.findall(LINE, text)]


def check_round(line, sign=""):
    before, wall, cpu, own, samples = line
    if cpu < 0.01:
        raise lldb_session.StoppedTwice(line)
    # CPU time is what the kernel says at both ends; the stop is known a moment later.
    assert before == sign and 0.03 < cpu < wall + 0.001 and own == cpu, line
    # Beside other work the kernel's ticks have come more often than its CPU time says, in one run of fifty.
    if cpu + 0.04 <= samples * 0.010007 < wall + 0.02:
        raise lldb_session.StoppedTwice(line)
    assert abs(samples * 0.010007 - cpu) < 0.04, line


def reports(work):
    answers, _ = lldb_session.run(build, PROGRAM, ["collector stop-line on", "collector enable", "breakpoint set --name checkpoint", "run", "continue", "continue",
                                                   "collector where --format json", "collector hot --format json", "up", "collector lines --here 2", "collector where",
                                                   "down", "collector functions --break 1", "collector stop-line", "finish", "collector stop-line off", "continue", "kill"],
                                  work, arguments=("9",))
    said = dict(answers)
    stops = [lines_of(output) for command, output in answers if command in ("run", "continue", "finish")]
    assert [len(lines) for lines in stops] == [1, 1, 1, 1, 0], answers
    assert stops[0][0][1] is None and stops[0][0][2] > 0, stops
    check_round(stops[1][0])
    check_round(stops[2][0])
    sign, wall, cpu, _, _ = stops[3][0]
    if "stop reason = breakpoint 1.1" in said["finish"]:
        raise lldb_session.StoppedTwice(said["finish"])
    assert sign == "" and cpu < 0.01, stops

    where = json.loads(said["collector where --format json"])["rows"]
    assert where[0]["name"].startswith("* #0 checkpoint at rounds.cpp:") and where[0]["path_totalcpu"] == 0, where
    main = next(row for row in where if " main at rounds.cpp:" in row["name"])
    assert main["inclusive_totalcpu"] == main["path_totalcpu"] == main["attributed_totalcpu"] > 0.1, main
    hot = json.loads(said["collector hot --format json"])["rows"]
    # A tick may have come before main.
    share = 100 * main["path_totalcpu"] / hot[0]["exclusive_totalcpu"]
    assert share > 90 and abs(main["path_totalcpu_percent"] - share) < 0.01, (where, hot)
    assert [row["name"].split("(")[0] for row in hot[:3]] == ["<Total>", "work::computes", "work::computes_less"], hot
    assert 0.3 < hot[1]["since_stop_totalcpu"] / hot[1]["exclusive_totalcpu"] < 0.7 and hot[1]["bar"] == "#" * 20, hot
    here = said["collector lines --here 2"].splitlines()
    at = next(i for i, line in enumerate(here) if "-> " in line)
    assert re.search(r"->\s+\d+\.\s+checkpoint\(round\);", here[at]) and "computes_less(work::computes" in here[at + 1], here
    assert re.search(r"^ .*\* #1 main at", said["collector where"], re.M), said["collector where"]
    assert re.fullmatch(r"Breakpoint 2 at work::computes\(unsigned int\), rounds.cpp:\d+\.\n", said["collector functions --break 1"]), said
    assert said["collector stop-line"] == "stop-line is on.\n"
    assert "stop reason = breakpoint 2.1" in answers[-2][1], answers[-2]


def terminal(work):
    session = Terminal(build, work, PROGRAM, "9")
    try:
        for line in ("collector stop-line on", "collector enable", "breakpoint set --name checkpoint"):
            session.type(line)
            session.until(r"\n.*\(lldb\) ")
        for command in ("run", "c", "c"):
            session.type(command)
            said = session.until(r"stop reason = breakpoint 1.1.*\(lldb\) ")
        [line] = lines_of(said)
        check_round(line)
        session.type("kill")
        session.until("exited")
    finally:
        session.close()


def heap(work):
    """What is allocated at a stop, and what a pointer leads to"""
    commands = [NO_CLOCK, "collector heaptrace on,free-stacks", "collector enable", "breakpoint set -n in_child", "run", "finish", "collector heap --live",
                "collector heap --live --since stop", "collector heap --older-than 50s", "collector heap --address 'sink'", "collector heapstat",
                "collector heaptrace free-only", "continue", "collector leaks", "collector status"]
    answers, _ = lldb_session.run(build, build / "targets/heap", commands, work, arguments=("child",))
    said = dict(answers)
    assert ": 2 call stacks, 11 blocks, 12000 bytes\n" in said["collector heap --live"], said
    assert said["collector heap --live"].index("leaks(), line") < said["collector heap --live"].index("grows(), line"), said
    assert ": 2 call stacks, 11 blocks, 12000 bytes\n" in said["collector heap --live --since stop"], said
    assert ": 0 call stacks, 0 blocks, 0 bytes\n" in said["collector heap --older-than 50s"], said
    freed = said["collector heap --address 'sink'"]
    assert re.match(r"0x[0-9a-f]+ lies 0 bytes into a block of 64 bytes at 0x[0-9a-f]+, which was freed", freed), freed
    assert re.search(r"Allocated +at .*\n.*temporaries\(\), line(.*\n)+Freed +at .*\n.*temporaries\(\), line", freed), freed
    assert re.search(r"Peak +\d+ blocks, \d+ bytes, at ", said["collector heapstat"]), said
    assert said["collector heaptrace free-only"].startswith("Allocations are no longer recorded"), said
    assert "allocations were recorded up to" in said["collector leaks"] and ", 11 leaks, 12000 bytes\n" in said["collector leaks"], said
    assert re.search(r"Allocations +238, 45178 bytes", said["collector status"]), said


def traced(work):
    """Everything at once: the line of a stop says what its span allocated, waited for, read and wrote"""
    commands = [NO_CLOCK, "collector heaptrace on", "collector synctrace on", "collector iotrace on", "collector stop-line on", "collector enable",
                "breakpoint set -n by_pipe -n by_socket", "run", "continue", "collector stop-line off", "continue", "collector status"]
    answers, _ = lldb_session.run(build, build / "targets/io", commands, work)
    line = next(output for command, output in answers if command == "continue")
    assert "; 0 allocations of 0 bytes, heap +0 bytes; 0 waits, 0.000 ms; 123 bytes read, 123 written.\n" in line, answers
    status = answers[-1][1]
    assert re.search(r"^Allocations +\d{2}", status, re.M) and re.search(r"^I/O +\d{5,} bytes read, \d{5,} written$", status, re.M), status
    assert re.search(r"^Waits +\d+, ", status, re.M), status


lldb_session.try_cases(reports, terminal, heap, traced)
