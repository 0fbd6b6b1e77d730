#!/usr/bin/env python3
"""A program that was linked to libc before the collector came is bound to it: what it does from then on is followed."""
import ctypes
import pathlib
import re
import subprocess
import sys

import attempts
import recorded
import skips

build = pathlib.Path(sys.argv[1])
WAYS = ("lazy", "now", "no_plt", "fixed")
NAMES = ("pthread_create", "thrd_create", "raise", "pthread_sigmask", "execvpe", "dlclose", "execveat", "execl", "execle", "execlp", "execv",
         "execve", "execvp", "fexecve", "__sigaction", "__sysv_signal", "bsd_signal", "sigaction", "sigaltstack", "sigignore",
         "siginterrupt", "signal", "sigprocmask", "sigset", "sigtimedwait", "sigwait", "sigwaitinfo", "ssignal", "sysv_signal", "prctl",
         "syscall")
MSEAL = 462


def run(work, way, names, **more):
    targets = build / "targets"
    done = subprocess.run([targets / f"bound_{way}", build / "lib/libcollector.so", f"{work}/test", targets / "libbound_plugin.so", *names],
                          cwd=work, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **more)
    said = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (3, "") and said[0] == f"answer 1 threads 1 blocking 0 refused 0 error 0 {work}/test.1.er", done
    table, notes = recorded.functions(build, f"{work}/test.1.er")
    return said[1:], {name.split("::")[-1].split("(")[0]: seconds[1] for name, seconds in table.items()}, notes


def locked(maps):
    """[(begin, end, permissions)] of the parts of files that cannot be written."""
    found = re.findall(r"^(\w+)-(\w+) (.-..) \S+ \S+ \S+ +(/.*)$", pathlib.Path(maps).read_text(), re.M)
    return [(int(begin, 16), int(end, 16), permissions) for begin, end, permissions, path in found
            if "libcollector" not in path and "libbound_plugin" not in path]


def every_way(work, way):
    said, inclusive, notes = run(work, way, NAMES)
    # Its address is one in the executable, from which the slot leads to the collector.
    own = [f"pthread_create is in {build}/targets/bound_fixed"] if way == "fixed" else []
    assert said == own + ["released 7 unbound 0"], said
    for name, wanted in (("in_thread", 0.6), ("in_masked_thread", 0.3), ("in_plugin_thread", 0.3), ("in_constructor_thread", 0.3)):
        assert wanted - 0.1 < inclusive.get(name, 0) < wanted + 0.15, (way, inclusive)
    assert inclusive["main"] > 0.2 and "<Truncated-stack>" not in inclusive, inclusive
    assert not any("unsampled" in note or "go past" in note for note in notes), notes
    for maps in ("maps.after", "maps.released"):
        after = locked(f"{work}/{maps}")
        assert len(after) <= len(locked(f"{work}/maps.before")) + 2, (way, after)  # libc's symbols are a piece of their own
        for begin, end, permissions in locked(f"{work}/maps.before"):
            inside = [row for row in after if row[0] >= begin and row[1] <= end]
            assert sum(row[1] - row[0] for row in inside) == end - begin and all(row[2] == permissions for row in inside), (way, hex(begin), inside)


def between(work):
    """Who stands before libc already is left in place, and told of."""
    library = build / "targets/libbetween.so"
    said, inclusive, notes = run(work, "now", (), env={"LD_PRELOAD": str(library)})
    assert said == [f"unbound 0 {library}", "released 7 unbound 0"], said
    assert "in_thread" not in inclusive and inclusive["main"] > 0.2, inclusive
    assert "libraries with a pthread_create of their own, whose new threads are not sampled: 1." in notes, notes


def sealed(work):
    """What cannot be changed stays as it is, and is counted."""
    attempts.need(ctypes.CDLL(None).syscall(MSEAL, 0, 0, 0) == 0, skips.NO_SEALING)
    with attempts.started(build / "targets/steady", cwd=work, stdin=subprocess.PIPE, env={"LD_PRELOAD": str(build / "targets/libseals.so")}) as program:
        assert int(program.stdout.readline()) == program.pid > 0
        done = subprocess.run([build / "bin/gnomon", "collect", "-k", "signal", "-P", str(program.pid), "-t", "1"], cwd=work, capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL)
        said = re.search(r"^Not sampled: threads created from now on at (\d+) places in memory that cannot be changed\.$", done.stdout, re.M)
        assert (done.returncode, done.stderr) == (0, "") and said and int(said[1]) > 1, done
        table, notes = recorded.functions(build, f"{work}/test.1.er")
        assert any("computes" in name for name in table), table
        assert f"call sites that bypass the collector, because their memory cannot be changed: {said[1]}." in notes, notes
        assert program.communicate(timeout=60)[0] == "right\n" and program.returncode == 0, program


for kind in WAYS:
    with recorded.directory() as directory:
        every_way(directory, kind)
        print(f"{kind}: ok", flush=True)
attempts.try_cases(between, sealed)
