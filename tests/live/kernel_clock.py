"""What the tests of the kernel's clock have in common: what a busy machine may lose, and shares of time."""
import os
import pathlib
import re
import resource
import shutil
import tempfile

import recorded
import skips
from attempts import Skipped, again_at, need, need_nobody


class Lost(Exception):
    """The machine was too busy for gnomon-sampler, or for the kernel's timers, and the report says so."""


def times(build, experiment):
    """{name: (exclusive, inclusive)} in s, and the notes: none of time that is missing, or of many call stacks that are not whole."""
    table, notes = recorded.functions(build, experiment)
    lost = lost_records(notes)
    if any("samples cover" in note for note in notes) or lost != 0 and lost > recorded.samples(build, experiment) / 100:
        raise Lost(notes)
    notes = [note for note in notes if "did not come to read them in time" not in note]
    assert not any(word in note for note in notes for word in ("lost", "was gone")), notes
    assert all(float(re.search(r"\(([\d.]+) % of the time\)", note)[1]) < 1 for note in notes if " were cut " in note), notes
    return table, notes


def are_split(table, tolerance=0.02):
    """Whether the functions of targets/split have their shares."""
    total = table["<Total>"][0]
    for name, share in (("half", 0.5), ("third", 0.3), ("fifth", 0.2)):
        assert abs(table[f"work::{name}(unsigned long)"][1] / total - share) < tolerance, (name, table)


def machine():
    """What decides whether samples are lost."""
    facts = {"locked memory": resource.getrlimit(resource.RLIMIT_MEMLOCK), "CPUs": sorted(os.sched_getaffinity(0)), "nice": os.nice(0)}
    for path in ("/proc/loadavg", "/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory", "/proc/sys/kernel/perf_event_mlock_kb",
                 "/proc/sys/kernel/perf_event_paranoid", "/proc/sys/kernel/osrelease", "/proc/self/cgroup", "/proc/self/autogroup"):
        try:
            facts[path] = pathlib.Path(path).read_text().split("\n")[0]
        except OSError as error:
            facts[path] = error.strerror
    return facts


def lost_records(notes):
    """How many the report says are lost."""
    return sum(int(re.search(r"(\d+)\.$", note)[1]) for note in notes if "did not come to read them in time" in note)


# On a machine that has other things to do samples may be lost, which the report says. A few change no figure of a test.
unless_lost = again_at(Lost, 4, Skipped("samples are lost each time"), machine)


def need_hidden_kernel():
    """NOBODY may not see the kernel."""
    need(skips.paranoid() > 1, skips.KERNEL_VISIBLE)
    need_nobody()


def everyones(build, work, target):
    """Copies of the program and of a target, which anybody may read and execute: the build may be its owner's alone."""
    copy = pathlib.Path(work) / "copy"
    for folder in (pathlib.Path(work), *pathlib.Path(work).parents):
        if folder == pathlib.Path(tempfile.gettempdir()):
            break
        os.chmod(folder, 0o777)
    for name in ("bin/gnomon", "lib/libcollector.so", "lib/gnomon-sampler", "lib/gnomon-counters", "lib/lldb-gnomon.so", f"targets/{target}"):
        to = copy / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build / name, to)
        to.chmod(0o755)
    for folder in (copy, copy / "bin", copy / "lib", copy / "targets"):
        folder.chmod(0o755)
    return copy
