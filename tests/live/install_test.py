#!/usr/bin/env python3
"""What `cmake --install` leaves works from where it is; an LLDB of another version is told so in one line."""
import os
import pathlib
import subprocess
import sys

import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **more)


with recorded.directory() as work:
    prefix = pathlib.Path(work) / "prefix"
    installed = run("cmake", "--install", build, "--prefix", prefix)
    assert installed.returncode == 0, installed.stderr
    plugin = next(prefix.rglob("lldb-gnomon.so"))
    assert (plugin.parent / "libcollector.so").exists()
    # Every name the plugin uses is looked up at once, so that none is missing.
    session = run(lldb_session.LLDB, "--no-lldbinit", "-b", "-o", f"plugin load {plugin}", "-o", "collector enable", "-o", "run", "-o",
                  "collector functions", "--", build / "targets/split", 1, cwd=work, env={**os.environ, "LD_BIND_NOW": "1"})
    assert session.returncode == 0, session.stderr
    rows = lldb_session.rows(session.stdout)
    assert 0.8 < rows["<Total>"][0] < 1.2, session.stdout
    printed = run(prefix / "bin/gnomon", "print", "-functions", "test.1.er", cwd=work)
    assert lldb_session.rows(printed.stdout) == rows, printed.stdout

    decoded = run(prefix / "bin/gnomon", "print", "-disasm", "half", "test.1.er", cwd=work)
    assert "retq" in decoded.stdout, decoded

    with subprocess.Popen(["sleep", "100"]) as sleeper:
        try:
            collected = run(prefix / "bin/gnomon", "collect", "-P", sleeper.pid, "-t", 1, cwd=work)
        finally:
            sleeper.kill()
    assert collected.returncode == 0 and f"to {work}/test.2.er: 1 thread, " in collected.stdout, collected

    other = run(build / "targets/other_lldb", plugin)
    assert other.stdout == "refused\n", other
    lines = other.stderr.splitlines()
    assert len(lines) == 1 and "built for LLDB 19" in lines[0] and "LLDB 14.0.6;" in lines[0], other.stderr
