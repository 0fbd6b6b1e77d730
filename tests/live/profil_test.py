#!/usr/bin/env python3
"""A program built with -pg writes the gmon.out that it writes without us, and is sampled, launched or attached to."""
import pathlib
import struct
import subprocess
import sys

import recorded

build = pathlib.Path(sys.argv[1])
target = build / "targets/profil"


def seconds_in(gmon):
    """CPU seconds in the histograms of gmon.out (gmon_out.h)."""
    data, at, ticks, rate = gmon.read_bytes(), 20, 0, 1
    assert data[:4] == b"gmon"
    while at < len(data):
        tag, at = data[at], at + 1
        if tag == 1:  # an arc
            at += 20
            continue
        assert tag == 0, tag
        _, _, size, rate = struct.unpack_from("<QQII", data, at)
        at += 40
        ticks += sum(struct.unpack_from(f"<{size}H", data, at))
        at += 2 * size
    return ticks / rate


def check_profile(work, what):
    found = seconds_in(pathlib.Path(work) / "gmon.out")
    profiled = float((pathlib.Path(work) / "profiled").read_text())
    # Its clock ticks at the kernel's own, and misses some on a crowded CPU. Two clocks in one histogram would count twice.
    assert 0.7 < found / profiled < 1.3, (what, found, profiled)


def launched(work, way):
    done, experiment = recorded.run(build, target, [way], work)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (way, done)
    return experiment


def brought(work, way):
    done = subprocess.run([target, way, build / "lib/libcollector.so", f"{work}/test"], cwd=work, capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and done.stdout.startswith("answer 1 threads 1 ") and ("released 7 " in done.stdout) == (way == "released"), (way, done)
    return pathlib.Path(work) / "test.1.er"


# how it comes, way, CPU seconds sampled at least
for how, way, sampled in ((launched, "whole", 0.9), (launched, "switched", 1.15), (brought, "whole", 0.7), (brought, "switched", 1.0),
                          (brought, "released", 0.5)):
    with recorded.directory() as work:
        experiment = how(work, way)
        check_profile(work, (how.__name__, way))
        table, _ = recorded.functions(build, experiment)
        assert table["<Total>"][0] >= sampled - 0.1, (how.__name__, way, table)
        assert recorded.status(build, experiment)["State"] == "ended", recorded.status(build, experiment)
print("gmon.out as without us in 5 ways")
