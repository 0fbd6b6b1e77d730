#!/usr/bin/env python3
"""Programs that use SIGPROF and signal masks themselves behave as without us, and are sampled."""
import pathlib
import signal
import subprocess
import sys

import attempts
import recorded

build = pathlib.Path(sys.argv[1])
target = build / "targets/signals"

# way, CPU seconds at least in <Total>, of which below burn_masked
WAYS = [("own_handler", 0.6, 0), ("family", 0.35, 0), ("own_timer", 0.6, 0), ("blocked", 0.35, 0.35), ("waits", 0.3, 0.3), ("raises", 0.1, 0),
        ("raises_blocked", 0.1, 0), ("waited_for", 0, 0),
        ("suspends", 0.35, 0), ("born", 0.35, 0.35), ("unhandled", 0.35, 0), ("spawns", 0.2, 0.2), ("by_number", 0.3, 0.15), ("ends_reads", 0.15, 0),
        ("on_which_stack", 0.4, 0), ("raw", 0.25, 0)]

with recorded.directory() as work:
    for way, total, masked in WAYS:
        expected = -signal.SIGPROF if way == "unhandled" else 0
        if attempts.IS_THOROUGH:
            bare = subprocess.run([target, way], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
            assert bare.returncode == expected, (way, bare)
        done, table, notes, _ = recorded.run_within_its_time(build, target, [way], work)
        assert (done.returncode, done.stdout, done.stderr) == (expected, "", ""), (way, done)
        assert table["<Total>"][0] >= total, (way, table)
        found = sum(inclusive for name, (_, inclusive) in table.items() if "burn_masked" in name)
        assert found >= masked, (way, table)
        assert any("raw system call" in note for note in notes) == (way == "raw"), (way, notes)
print(f"{len(WAYS)} ways of using SIGPROF, as without us")
