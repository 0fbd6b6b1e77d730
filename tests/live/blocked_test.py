#!/usr/bin/env python3
"""`collector blocked`: what each thread of a stopped program waits for, and a deadlock, with and without a recording."""
import json
import pathlib
import re
import subprocess
import sys

import lldb_session
import recorded
from attempts import started

build = pathlib.Path(sys.argv[1])
PROGRAM = build / "targets/deadlock"
# What waits for what, by the function that waits.
WAITS = {"waits_for_all": "the end of thread #2", "takes_both": "mutex", "takes_a_number": "semaphore", "reads_table": "read lock",
         "waits_for_news": "condition", "reads_pipe": "read"}


def blocked(work, *begin):
    answers, _ = lldb_session.run(build, PROGRAM, [*begin, "breakpoint set --name checkpoint", "run", "collector blocked", "collector blocked --format json", "kill"], work)
    said = dict(answers)
    print(said["collector blocked"])
    return json.loads(said["collector blocked --format json"])


def check(table, is_recorded):
    rows = [row for row in table["rows"] if not row["place"].startswith("(anonymous namespace)::watches")]
    assert len(rows) == 7 and table["title"].startswith("7 of 8 threads"), table
    for row in rows:
        function = re.search(r"(\w+)\(", row["place"].replace("(anonymous namespace)", ""))[1]
        assert row["object"].startswith(WAITS[function]), (function, row)
    deadlock = [note for note in table["notes"] if note.startswith("Deadlock")]
    assert deadlock == ["Deadlock: thread #2 waits for mutex right_lock, which thread #3 has; thread #3 waits for mutex left_lock, which thread #2 has."], table["notes"]
    assert [row["index"] for row in rows if row["index"].endswith(" customer")] == ["#4 customer"], rows
    for row in rows:
        row["index"] = row["index"].split()[0]
    holders = {row["index"]: row["held_by"] for row in rows}
    assert (holders["#1"], holders["#2"], holders["#3"], holders["#4"], holders["#5"]) == ("#2", "#3", "#2", "", "#1"), holders
    objects = {row["index"]: row["object"] for row in rows}
    if is_recorded:
        assert (objects["#4"], objects["#5"], objects["#6"]) == ("semaphore empty", "read lock table_lock", "condition never"), objects
    timed = {row["index"] for row in rows if row["since"] is not None}
    assert timed == ({"#1", "#2", "#3", "#4", "#5", "#6"} if is_recorded else set()), (timed, table)


def alone(work):
    """Of a program that nothing records"""
    check(blocked(work), False)


def traced(work):
    """With synctrace: since when, too"""
    check(blocked(work, "collector synctrace on", "collector enable"), True)


def from_outside(work):
    """A process that runs is not stopped: `gnomon blocked -P` names the kernel's numbers of threads, and their names."""
    with started(PROGRAM, "rests", cwd=work) as program:
        assert program.stdout.readline() == "all wait\n"
        done = subprocess.run([build / "bin/gnomon", "blocked", "-P", str(program.pid), "--format", "json"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        table = json.loads(done.stdout)
    rows = {re.search(r"(\w+)\(", row["place"].replace("(anonymous namespace)", ""))[1]: row for row in table["rows"]}
    wanted = WAITS | {"waits_for_all": "the end of a thread", "rests": "pause"}
    assert len(table["rows"]) == 8 and table["title"] == "8 of 8 threads wait", table
    assert all(rows[function]["object"].startswith(object) for function, object in wanted.items()), rows
    assert rows["takes_a_number"]["index"].endswith(" customer") and rows["rests"]["index"].isdigit(), rows
    assert rows["reads_table"]["held_by"] == str(program.pid), rows
    assert re.fullmatch(r"Deadlock: thread \d+ waits for mutex right_lock, which thread \d+ has; thread \d+ waits for mutex left_lock, which thread \d+ has\.",
                        table["notes"][0]), table
    for words, said in ((["-P", "0"], "-P needs the number of a process"), ([], "no process is named"), (["-P", "999999999"], "there is no process 999999999")):
        done = subprocess.run([build / "bin/gnomon", "blocked", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and said in done.stderr, done


for case in [globals()[name] for name in sys.argv[2:]] or (alone, traced, from_outside):
    with recorded.directory() as work:
        case(work)
        print(f"{case.__name__}: as it should be")
