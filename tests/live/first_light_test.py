#!/usr/bin/env python3
"""enable, break, run, functions, continue, functions: on a program with a known 50/30/20 split over 4 CPU seconds."""
import json
import pathlib
import subprocess
import sys

import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
split = build / "targets/split"


def near(value, wanted, name, points=3):
    assert abs(value - wanted) <= points, f"{name}: {value} %, not {wanted} %"


def check_split(table):
    names = list(table)
    assert names[0] == "<Total>", names
    exclusive = [row[0] for row in table.values()][1:]
    assert exclusive == sorted(exclusive, reverse=True), exclusive
    # Inclusive, because the clock is read in the vDSO below each of them.
    for name, wanted in (("half", 50), ("spin", 30), ("third", 30), ("fifth", 20)):
        near(table[f"work::{name}(unsigned long)"][3], wanted, name)
    # Built without frame pointers, and still the stacks reach main.
    assert table.get("<Truncated-stack>", (0, 0, 0, 0))[3] < 0.5, table
    assert table["main"][3] > 99, table


with recorded.directory() as work:
    answers, _ = lldb_session.run(build, split, [
        "collector status", "collector enable", "collector enable", "breakpoint set --one-shot true -n checkpoint", "run",
        "collector functions", "collector status", "continue", "collector functions", "collector functions --format json",
        "collector status", "collector disable", "settings show target.env-vars"], work)
    by = {}
    for command, output in answers:
        by.setdefault(command, []).append(output)
    assert "disabled" in by["collector status"][0]
    assert by["collector enable"][0].startswith("Enabled: "), by["collector enable"]
    assert by["collector enable"][1].startswith("Already enabled"), by["collector enable"]
    stopped, ended = (lldb_session.rows(text) for text in by["collector functions"])
    assert 1.0 < stopped["<Total>"][0] < 3.0, stopped
    assert 3.8 < ended["<Total>"][0] < 4.3, answers
    check_split(ended)
    assert "State" in by["collector status"][1] and "recording" in by["collector status"][1]
    assert "ended" in by["collector status"][2]
    assert "GNOMON" not in by["settings show target.env-vars"][0]
    assert "LD_PRELOAD" not in by["settings show target.env-vars"][0]
    table = json.loads(by["collector functions --format json"][0])
    assert table["rows"][0]["name"] == "<Total>"
    assert abs(table["rows"][0]["exclusive_totalcpu"] - ended["<Total>"][0]) < 0.001

    # Outside the debugger the same table; notes that a session has said before are not said again there.
    shell = subprocess.run([build / "bin/gnomon", "print", "-functions", "test.1.er"], cwd=work, capture_output=True,
                           text=True, timeout=30, check=True)
    without_notes = [[line for line in text.splitlines() if not line.startswith("Note:")] for text in (shell.stdout, by["collector functions"][1])]
    assert without_notes[0] == without_notes[1], (shell.stdout, by["collector functions"][1])

    # The next run writes the next experiment; one thread more, whose stacks end in collector_root.
    answers, _ = lldb_session.run(build, split, ["collector enable", "run", "collector functions", "collector status"], work,
                                  arguments=["1", "2"])
    by = dict(answers)
    assert sorted(p.name for p in pathlib.Path(work).iterdir()) == ["test.1.er", "test.2.er"]
    table = lldb_session.rows(by["collector functions"])
    assert 1.8 < table["<Total>"][0] < 2.3, table
    near(table["main"][3], 50, "main", 6)
    near(table["collector_root"][3], 50, "collector_root", 6)
    assert table.get("<Truncated-stack>", (0, 0, 0, 0))[3] < 0.5, table
    assert "Threads      2" in by["collector status"], by["collector status"]

    # Wrong words: one sentence, status 1, nothing else.
    for words in (["print", "-functionz", "test.1.er"], ["print", "-functions", "nothing.er"], ["print", "-functions", "/"],
                  ["print", "-functions"], ["prnt"], ["print", "-functions", "--format", "xml", "test.1.er"]):
        wrong = subprocess.run([build / "bin/gnomon", *words], cwd=work, capture_output=True, text=True, timeout=30)
        assert wrong.returncode == 1 and wrong.stdout == "" and wrong.stderr.count("\n") == 1, (words, wrong)
        assert wrong.stderr.startswith("gnomon: "), wrong
    (pathlib.Path(work) / "test.1.er/stacks").write_bytes(b"x")
    wrong = subprocess.run([build / "bin/gnomon", "print", "-functions", "test.1.er"], cwd=work, capture_output=True, text=True,
                           timeout=30)
    assert wrong.returncode == 1 and "damaged" in wrong.stderr, wrong
print("split, table and manners are as they should be")
