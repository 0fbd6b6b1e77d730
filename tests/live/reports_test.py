#!/usr/bin/env python3
"""callers-callees, csingle and calltree agree with functions, inside LLDB and outside; csingle without a name is about the selected frame."""
import collections
import json
import pathlib
import re
import subprocess
import sys

import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
split = build / "targets/split"


def printed(*words):
    done = subprocess.run([build / "bin/gnomon", "print", *words], capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout, done.stderr


def rows(experiment, *report):
    status, out, error = printed("--format", "json", *report, experiment)
    assert status == 0, error
    return json.loads(out)["rows"]


def near(a, b):
    return abs(a - b) < 1e-6


with recorded.directory() as work:
    answers, _ = lldb_session.run(build, split, [
        "collector enable", "breakpoint set -n checkpoint", "run", "frame select 1", "collector csingle", "collector csingle half", "collector source", "collector disasm spin",
        "collector calltree --limit 3", "collector callers-callees", "collector metrics e.ticks:size", "collector sort -name",
        "collector functions", "collector functions --metrics i%totalcpu --sort i.totalcpu", "continue"], work, arguments=["1"])
    by = dict(answers)
    assert "*run(int, bool)" in by["collector csingle"], by["collector csingle"]
    assert "*work::half(unsigned long)" in by["collector csingle half"], by["collector csingle half"]
    # The selected frame's function, from its first line to its last; the line that computes is marked.
    source = by["collector source"].splitlines()
    text = (pathlib.Path(__file__).parent.parent / "targets/split.cpp").read_text().splitlines()
    assert any("<Function: run(int, bool)>" in line for line in source), source
    marked = [line for line in source if line.startswith("##")]
    shown = [line for line in source if line[2:].strip()[:1].isdigit()]
    assert marked and shown and all(any(line.endswith(each) for each in text) for line in shown), source

    lines = [line.split("  ", 1)[-1] for line in by["collector calltree --limit 3"].splitlines() if "+-" in line]
    assert [line.split("+-")[1] for line in lines[:2]] == ["<Total>", "main"] and len(lines) == 3, lines
    assert "more calls; --limit 0 shows all." in by["collector calltree --limit 3"]
    assert "*work::half(unsigned long)" in by["collector callers-callees"]

    # A choice holds for the session, an option for its command.
    assert "Current metrics: e.ticks:size" in by["collector metrics e.ticks:size"], by["collector metrics e.ticks:size"]
    assert "Current Sort Metric: Name, reversed ( -name )" in by["collector sort -name"], by["collector sort -name"]
    assert "CPU Ticks" in by["collector functions"] and "Total CPU" not in by["collector functions"], by["collector functions"]
    once = by["collector functions --metrics i%totalcpu --sort i.totalcpu"]
    assert "Functions sorted by metric: Inclusive Total CPU Time" in once and "CPU Ticks" not in once, once

    experiment = f"{work}/test.1.er"
    functions = {row["name"]: row for row in rows(experiment, "-functions")}
    total = functions["<Total>"]["inclusive_totalcpu"]
    panels = collections.defaultdict(lambda: collections.defaultdict(float))
    for row in rows(experiment, "-callers-callees"):
        panels[row["function"]][row["role"]] += row["attributed_totalcpu"]
    assert panels.keys() == functions.keys(), panels.keys() ^ functions.keys()
    for name, panel in panels.items():
        inclusive = functions[name]["inclusive_totalcpu"]
        assert near(panel["function"] + panel["callee"], inclusive), (name, panel)
        assert name == "<Total>" or near(panel["caller"], inclusive), (name, panel)
        assert name == "<Total>" or near(panel["function"], functions[name]["exclusive_totalcpu"]), (name, panel)
    alone = rows(experiment, "-csingle", "half")
    assert alone == [row for row in rows(experiment, "-callers-callees") if row["function"] == "work::half(unsigned long)"], alone

    # Lines and instructions of a function add up to it, and addr2line knows them by the same lines: of what is inlined by the call's.
    pcs = rows(experiment, "-metrics", "address:e.totalcpu:i.totalcpu:name", "-pcs")
    for report in (rows(experiment, "-lines"), pcs):
        sums = collections.Counter()
        for row in report:
            sums[row["function"].split(" [clone")[0]] += row["exclusive_totalcpu"]
        for name, row in functions.items():
            assert near(sums[name.split(" [clone")[0]], row["exclusive_totalcpu"]), (name, row, sums)
    own = [row for row in pcs if row["load_object"] == str(split)]
    assert own, pcs
    for row in own:
        found = subprocess.run(["addr2line", "-i", "-e", split, row["address"]], capture_output=True, text=True, timeout=30).stdout
        outermost = found.splitlines()[-1].split(" (")[0]
        place = f"{row['source_file']}:{row['line']}" if row["source_file"] else "??:?"
        assert outermost in (place, place.replace("?:?", "?:0")), (row, found)

    # The instructions of a function are objdump's, and add up to it.
    name = "work::spin(unsigned long)"
    listed = [row for row in rows(experiment, "-disasm", "spin") if row["address"]]
    dumped = subprocess.run(["objdump", "-d", "-C", f"--disassemble={name}", split], capture_output=True, text=True, timeout=30).stdout
    known = [int(line.split(":")[0], 16) for line in dumped.splitlines() if re.match(r" +[0-9a-f]+:\t.*\t", line)]
    assert known and [int(row["address"], 16) for row in listed] == known, (listed, dumped)
    assert near(sum(row["exclusive_totalcpu"] for row in listed), functions[name]["exclusive_totalcpu"]), listed
    assert any(row["code"].startswith("callq") and row["code"].endswith("<clock_gettime@plt>") for row in listed), listed
    plain = [line.split(":  ")[1] for line in by["collector disasm spin"].splitlines() if ":  " in line and "] " in line]
    assert plain == [row["code"].rstrip() for row in listed], (plain, listed)

    tree = rows(experiment, "-calltree")
    assert near(tree[0]["attributed_totalcpu"], total) and tree[0]["name"] == "<Total>"
    path = []
    left = {}
    for at, row in enumerate(tree):
        del path[row["depth"]:]
        assert len(path) == row["depth"], row
        if path:
            left[path[-1]] -= row["attributed_totalcpu"]
        path.append(at)
        left[at] = row["attributed_totalcpu"]
    exclusive = collections.defaultdict(float)
    for at, rest in left.items():
        exclusive[tree[at]["name"]] += rest
    for name, row in functions.items():
        assert name == "<Total>" or near(exclusive[name], row["exclusive_totalcpu"]), name

    # An experiment that is named twice counts once.
    assert json.loads(printed("-functions", "--format", "json", experiment, experiment)[1]) == json.loads(printed("-functions", "--format", "json", experiment)[1])
    # A name that is met nowhere, a number that is none: one sentence and status 1.
    for words in (["-csingle", "nowhere", experiment], ["-csingle", "half", "2", experiment], ["-csingle", "half", "0", experiment],
                  ["-csingle", experiment], ["-calltree", "--limit", "few", experiment]):
        status, out, error = printed(*words)
        assert status == 1 and out == "" and error.count("\n") == 1 and error.startswith("gnomon: "), (words, status, out, error)
print(f"{len(functions)} functions and {len(tree)} calls add up")
