#!/usr/bin/env python3
"""I/O of a program that knows what it does: bytes and calls of each file, by descriptors and by streams, nothing twice and nothing missing."""
import json
import os
import pathlib
import subprocess
import sys

import recorded

build = pathlib.Path(sys.argv[1])
GNOMON = build / "bin/gnomon"


def table(experiment, *report):
    done = subprocess.run([GNOMON, "print", "--format", "json", *report, experiment], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def run(work, program="io", settings="I=1;V=1"):
    """(lines that the program printed, the experiment)"""
    done, experiment = recorded.run(build, build / "targets" / program, [], work, settings=settings)
    assert done.returncode == 0, done
    return [line.split() for line in done.stdout.splitlines()], experiment


def check_files(work, program):
    printed, experiment = run(work, program)
    activity = table(experiment, "-ioactivity")
    assert not any("wrong" in note for note in activity["notes"]), activity["notes"]
    found = {os.path.basename(row["name"]): row for row in activity["rows"]}
    # The child's part is printed as well, and is not recorded.
    for name, *numbers in {tuple(words[1:]) for words in printed if words[0] == "file"}:
        read_bytes, reads, written_bytes, writes = map(int, numbers)
        row = found[name]
        assert (row["read_bytes"], row["written_bytes"]) == (read_bytes, written_bytes), (name, row)
        if reads or writes:
            assert (row["reads"], row["writes"]) == (reads, writes), (name, row)
        else:
            assert 0 < row["reads"] < 40 and 0 < row["writes"] < 40, (name, row)
    missing = found["there"]
    assert missing["failed"] == 4 and missing["reads"] == 0, missing
    peer = next(words for words in printed if words[0] == "peer")
    client = [row for row in activity["rows"] if row["name"] == "socket to " + peer[1]]
    assert client and client[0]["written_bytes"] == int(peer[2]), (peer, activity["rows"])
    # Another one is the program's output.
    pipe = [row for row in activity["rows"] if row["name"].startswith("pipe:") and row["reads"]]
    pipes = next(tuple(map(int, words[1:])) for words in printed if words[0] == "pipes")
    assert (sum(row["read_bytes"] for row in pipe), sum(row["written_bytes"] for row in pipe)) == pipes, (pipe, pipes)


def by_file(work):
    """Bytes and calls"""
    check_files(work, "io")


def checked(work):
    """The forms of a program that was compiled with _FORTIFY_SOURCE"""
    check_files(work, "io_checked")


def by_descriptor(work):
    """Each opening is a row; `plain` and its parts"""
    _, experiment = run(work)
    rows = [row for row in table(experiment, "-iodetail")["rows"] if os.path.basename(row["name"]) == "twice"]
    assert len(rows) == 4 and sorted(row["written_bytes"] for row in rows) == [10, 10, 20, 20], rows
    assert all(row["descriptor"] > 2 for row in rows), rows
    operations = {row["operation"]: row for row in table(experiment, "-iostat")["rows"]}
    assert operations["sync"]["calls"] == 1 and operations["connect"]["calls"] == operations["accept"]["calls"] == 1, operations
    assert operations["open: No such file or directory"]["calls"] == 4, operations
    assert operations["read: Bad file descriptor"]["calls"] == operations["close: Bad file descriptor"]["calls"] == 1, operations


def by_function(work):
    """The metrics, by function and by call stack"""
    _, experiment = run(work)
    rows = table(experiment, "-functions", "--metrics", "i.ioreadbytes:i.ioreadcnt:i.iowritebytes:i.iowritecnt:i.ioerrorcnt")["rows"]
    found = {row["name"].replace("(anonymous namespace)::", ""): [row[f"inclusive_{metric}"] for metric in
                                                                   ("ioreadbytes", "ioreadcnt", "iowritebytes", "iowritecnt", "ioerrorcnt")] for row in rows}
    assert found["by_descriptors()"] == [6000, 7, 11500, 12, 0], found["by_descriptors()"]
    assert found["misses()"] == [0, 0, 0, 0, 6], found["misses()"]
    assert found["between_descriptors()"] == [2900 + 400 + 400 + 500, 6, 3000 + 1000 + 1500 + 400 + 400 + 400 + 100, 7, 0], found["between_descriptors()"]
    assert found["several_at_once()"] == [30 + 8, 2, 30 + 8, 2, 0], found["several_at_once()"]
    stacks = table(experiment, "-iocallstack")["rows"]
    assert sum(row["written_bytes"] or 0 for row in stacks) == found["<Total>"][2], stacks


for case in [globals()[name] for name in sys.argv[2:]] or (by_file, checked, by_descriptor, by_function):
    with recorded.directory() as work:
        case(work)
        print(f"{case.__name__}: as it should be")
