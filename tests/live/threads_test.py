#!/usr/bin/env python3
"""Threads made in every way, by every version of the functions that make them, are sampled; a fork child is left alone."""
import json
import pathlib
import sys

import recorded

build = pathlib.Path(sys.argv[1])
WAYS = ("by_pthread", "by_old_pthread", "by_c11", "by_old_c11", "by_std", "cancelled")

with recorded.directory() as work:
    done, table, notes, experiment = recorded.run_within_its_time(build, build / "targets/threads", [], work)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
    for way in WAYS:
        found = sum(inclusive for name, (_, inclusive) in table.items() if way + "(" in name)
        # A thread's clock is looked at by the kernel's ticks only, at which others may have been running.
        assert 0 < found < 0.45, (way, table, notes)
    assert table["collector_root"][1] > 0.12 * len(WAYS), table
    assert not any("in_child" in name for name in table), table
    assert table.get("<Truncated-stack>", (0, 0))[1] < 0.02, table
    # The child shares no file with its parent: what it did is in no experiment, and the end is the parent's.
    log = [json.loads(line) for line in (experiment / "log.jsonl").read_text().splitlines()]
    assert [line["event"] for line in log] == ["end"], log
print("every thread is sampled")
