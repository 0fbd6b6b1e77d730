#!/usr/bin/env python3
"""An address means the code that lay there when the sample was taken: libraries come and go at one place."""
import json
import pathlib
import sys

import attempts
import recorded

build = pathlib.Path(sys.argv[1])

ORDER = "abbab"
# A sample may lie in the compiler's own start and end code (__do_global_dtors_aux), which has no unwind information, or in a stripped libstdc++'s.
RIGHT = "without unwind information", "libstdc++"


class Late(Exception):
    """On a crowded CPU a sample stands for what ran before it."""


@attempts.again_at(Late, 8, AssertionError("on this machine every run has a late sample"))
def libraries_at_one_address(work):
    done, experiment = recorded.run(build, build / "targets/reload", [str(build / "targets"), *ORDER], work, interval=5_000_000)
    assert done.returncode != 77, "the loader chose other addresses"
    assert done.returncode == 0 and done.stderr == "", done
    table, notes = recorded.functions(build, experiment)
    if any("came late" in note for note in notes):
        raise Late(notes)
    assert all(any(words in note for words in RIGHT) for note in notes), notes
    for letter in "ab":
        wanted = 0.1 * ORDER.count(letter)
        assert abs(table[f"work_of_{letter}"][1] - wanted) < 0.03, (letter, table)
    assert "<Unknown>" not in table and table.get("<Truncated-stack>", (0, 0))[1] < 0.03, table  # where such code was met
    lines = [json.loads(line) for line in (experiment / "map.jsonl").read_text().splitlines()]
    plugins = [(line["event"], line["epoch"]) for line in lines if "libplugin_" in line.get("path", "") or line["event"] == "unload"]
    assert plugins == [pair for i in range(5) for pair in (("load", i), ("unload", i + 1))], plugins


attempts.try_cases(libraries_at_one_address)
