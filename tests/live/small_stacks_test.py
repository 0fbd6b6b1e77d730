#!/usr/bin/env python3
"""Small alternate stacks and coroutines: nothing but their own memory is touched, and what cannot be sampled is said."""
import pathlib
import sys

import recorded

build = pathlib.Path(sys.argv[1])
target = build / "targets/small_stacks"

# way, size, CPU seconds at least and at most
WAYS = [("alternate", 65536, 0.6, 1), ("alternate", 8192, 0.6, 1), ("alternate", 2048, 0.25, 0.55), ("coroutine", 8192, 0.25, 1),
        ("handler", 4096, 0.35, 0.5), ("handler", 65536, 0.35, 0.5)]

with recorded.directory() as work:
    for way, size, least, most in WAYS:
        done, experiment = recorded.run(build, target, [way, str(size)], work)
        assert done.returncode == 0, (way, size, done)
        table, notes = recorded.functions(build, experiment)
        assert least <= table["<Total>"][0] <= most, (way, size, table)
        assert any("not sampled while their alternate signal stack was too small for it: 1." in note for note in notes) == (size == 2048), (way, size, notes)
print("small stacks stay whole")
