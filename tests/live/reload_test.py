#!/usr/bin/env python3
"""An address means the code that lay there when the sample was taken: libraries come and go at one place."""
import json
import pathlib
import sys

import recorded

build = pathlib.Path(sys.argv[1])

with recorded.directory() as work:
    order = ["a", "b", "b", "a", "b"]
    done, experiment = recorded.run(build, build / "targets/reload", [str(build / "targets"), *order], work, interval=5_000_000)
    assert done.returncode != 77, "the loader chose other addresses"
    assert done.returncode == 0 and done.stderr == "", done
    table, notes = recorded.functions(build, experiment)
    # The last sample may lie in the compiler's own start and end code (__do_global_dtors_aux), which has no unwind information.
    assert all("without unwind information" in note for note in notes), notes
    for letter in "ab":
        wanted = 0.1 * order.count(letter)
        assert abs(table[f"work_of_{letter}"][1] - wanted) < 0.03, (letter, table)
    assert "<Unknown>" not in table and "<Truncated-stack>" not in table, table
    lines = [json.loads(line) for line in (experiment / "map.jsonl").read_text().splitlines()]
    plugins = [(line["event"], line["epoch"]) for line in lines if "libplugin_" in line.get("path", "") or line["event"] == "unload"]
    assert plugins == [pair for i in range(5) for pair in (("load", i), ("unload", i + 1))], plugins
print("five libraries at one address told apart")
