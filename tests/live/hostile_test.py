#!/usr/bin/env python3
"""The table of hostile programs: each ends, prints and finds its descriptors as without a collector, whatever is recorded of it, by whichever clock and
way, and whatever happens meanwhile to gnomon-sampler and to the disk.

hostile_test.py BUILD                                          each once; under GNOMON_TESTS=all in all ways
hostile_test.py BUILD soak SECONDS                             at random, until the time is over
hostile_test.py BUILD ROW [WAY TRACER CLOCK TROUBLE [S [N]]]   one row in all ways, or N times in that one, going on for S seconds"""
import concurrent.futures
import contextlib
import dataclasses
import functools
import itertools
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import time

import attempts
import recorded
import skips

build = pathlib.Path(sys.argv[1]).resolve()
GNOMON = build / "bin/gnomon"
HOSTILE = build / "targets/hostile"

# Row: its process ends in it, so nobody can say when.
ROWS = {words[0]: len(words) > 1 for words in map(str.split, subprocess.run([HOSTILE], capture_output=True, text=True, check=True).stdout.splitlines())}
TRACERS = {"nothing": (), "heap": ("-H", "on"), "locks": ("-s", "all"), "io": ("-i", "on"), "everything": ("-H", "on", "-s", "all", "-i", "on")}
CLOCKS = {"kernel": ("-k", "kernel"), "signal": ("-k", "signal", "-p", "hi"), "none": ("-p", "off")}
# launched, attached: until the program ends. cut: launched, and the recording ends before. visited: attached to, again and again.
WAYS = ("launched", "attached", "cut", "visited")
TROUBLES = ("none", "killed", "stopped", "full")  # of gnomon-sampler; of the disk

VISITS, VISIT = 3, "0.1"  # s
MOMENT = 0.2  # s that a program goes on after what has happened
MOMENTS = (MOMENT,) * 20 + (3, 90)  # in a soak
PATIENCE = 60  # s
KILOBYTES = 150  # of a disk that fills
REPORTS = {"nothing": ["-functions"], "heap": ["-allocs"], "locks": ["-sync"], "io": ["-ioactivity"],
           "everything": ["-functions", "-allocs", "-sync", "-ioactivity"]}
NOTHING = ("has no data", "no thread has waited", "has not allocated anything ", "has not done any I/O ")  # a report of nothing
# A refusal harms nobody. One that says so comes once; the other recording begins later.
AGAIN, LATER = "repeat", "recording begins by itself once it gets there"
# Rows that see the descriptors which are open for a moment while an injector comes in, or has come, beside them.
SEE_DESCRIPTORS = ("redirections", "lowest_numbers", "lowest_beside_threads", "lowest_after_all_are_closed", "lowest_beside_new_threads", "takes_numbers", "forks_beside_allocating", "descriptors", "daemon")


@dataclasses.dataclass(frozen=True)
class Run:
    row: str
    way: str
    tracer: str
    clock: str
    trouble: str = "none"
    moment: float = MOMENT

    def is_endless(self):
        return not ROWS[self.row] and (self.way in ("cut", "visited") or self.trouble != "none")

    def is_possible(self):
        if self.way == "visited" and self.trouble != "none":
            return False
        if self.way in ("attached", "visited") and self.is_endless() and self.row in SEE_DESCRIPTORS:
            return False
        return not (ROWS[self.row] and (self.way in ("cut", "visited") or self.trouble in ("killed", "stopped")))

    def program(self):
        return [HOSTILE, self.row, "0" if self.is_endless() else "1" if ROWS[self.row] else "2"]

    def collect(self, *more):
        return [GNOMON, "collect", *TRACERS[self.tracer], *CLOCKS[self.clock], *more]

    def __str__(self):
        return " ".join(map(str, dataclasses.astuple(self)))


@functools.cache
def alone(row):
    """(exit status, output)"""
    with recorded.directory() as work:
        done = subprocess.run([HOSTILE, row, "1"], cwd=work, input="\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    assert ROWS[row] or done.stdout, done
    return done.returncode, done.stdout


def control_of(experiment, layout, offset):
    """A word of the control page (docs/format.md); 0 before there is one."""
    try:
        return struct.unpack_from(layout, (experiment / "control").read_bytes(), offset)[0]
    except (FileNotFoundError, struct.error):
        return 0


def sampler_of(experiment):
    """gnomon-sampler's number; 0: it is not there."""
    return control_of(experiment, "<I", 152)


def has_ended(experiment):
    return control_of(experiment, "<Q", 40) != 0


def make_trouble(run, place):
    """Returns what ends it."""
    if run.trouble not in ("killed", "stopped"):
        return lambda: None
    experiment = place / "test.1.er"
    attempts.wait_until(lambda: sampler_of(experiment) > 0 or has_ended(experiment), "no sampler")
    sampler = sampler_of(experiment)
    with contextlib.suppress(ProcessLookupError):  # a recording that is cut may be over
        if sampler > 0:
            os.kill(sampler, signal.SIGKILL if run.trouble == "killed" else signal.SIGSTOP)
            return (lambda: None) if run.trouble == "killed" else (lambda: os.kill(sampler, signal.SIGCONT))
    return lambda: None


def begin(run, work, place):
    """The program, at work, and the collector that was attached to it, if one was."""
    pipes = {"cwd": work, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    collector = None
    if run.way in ("launched", "cut"):
        program = subprocess.Popen([*run.collect("-d", place, *(["-t", VISIT] if run.way == "cut" else [])), *run.program()], **pipes)
    else:
        program = subprocess.Popen(run.program(), **pipes)
    if run.way == "attached":
        for _ in range(5):
            collector = subprocess.Popen(run.collect("-d", place, "-P", str(program.pid)), cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True)
            line = collector.stdout.readline()
            if line.startswith("Recording process"):
                break
            said = line + collector.communicate()[0]
            assert AGAIN in said or LATER in said or run.trouble == "full", said
    program.stdin.write("\n")
    program.stdin.flush()
    return program, collector


def visit(run, work, place, program):
    visits = 0
    for _ in range(4 * VISITS):
        done = subprocess.run(run.collect("-d", place, "-t", VISIT, "-P", str(program.pid)), cwd=work, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE)
        assert program.poll() is None, ("the program has ended", program.returncode, program.communicate(), done)
        visits += done.returncode == 0
        assert done.returncode == 0 or AGAIN in done.stderr or LATER in done.stderr, done
        if visits == VISITS or LATER in done.stderr:
            return


def check(run):
    """What has gone wrong, or None."""
    with recorded.directory() as work:
        place = pathlib.Path(work) / "experiments"
        place.mkdir()
        if run.trouble == "full":
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={KILOBYTES}k", "none", place], check=True)
        try:
            return fault_of(run, work, place)
        except (AssertionError, subprocess.TimeoutExpired) as reason:
            return f"{type(reason).__name__}: {reason}"
        finally:
            if run.trouble == "full":
                subprocess.run(["umount", "-l", place], check=True)


def fault_of(run, work, place):
    program, collector = begin(run, work, place)
    try:
        end_trouble = make_trouble(run, place)
        if run.way == "visited":
            visit(run, work, place, program)
        if run.is_endless():
            time.sleep(run.moment)
            pathlib.Path(work, "over").touch()
        try:
            printed, said = program.communicate(timeout=PATIENCE)
        finally:
            end_trouble()
        if (program.returncode, printed) != alone(run.row):
            return f"status {program.returncode}, alone {alone(run.row)[0]}\n{printed}alone:\n{alone(run.row)[1]}{said}"
        if collector:
            collector.communicate(timeout=PATIENCE)
    finally:
        for process in (program, collector):
            if process and process.poll() is None and process.pid > 0:
                process.kill()
                process.communicate()
    if run.trouble == "full":
        return None
    if run.way != "visited" and not list(place.glob("*.er")):
        return "no experiment"
    return unreadable(place, run)


def unreadable(place, run):
    """Each experiment can be read; one of a long run has gigabytes of traced calls."""
    patience = max(PATIENCE, 4 * run.moment)
    for experiment in place.glob("*.er"):
        attempts.wait_until(lambda: not recorded_still(experiment), f"{experiment} is still written")
        for report in REPORTS[run.tracer] if attempts.IS_THOROUGH else ["-functions"]:
            done = subprocess.run([GNOMON, "print", report, experiment], capture_output=True, text=True, timeout=patience)
            if done.returncode != 0 and not any(words in done.stderr for words in NOTHING):
                return f"{report} cannot be read: {done.stderr}"
    return None


def recorded_still(experiment):
    sampler = sampler_of(experiment)
    return sampler > 0 and pathlib.Path(f"/proc/{sampler}").exists()


def some():
    """Each row once, and each way, clock and trouble in its turn."""
    for number, (row, ends) in enumerate(ROWS.items()):
        yield Run(row, "attached" if number % 3 == 0 and not ends else "launched", "everything", "kernel" if number % 2 else "signal")
    yield Run("crowd", "visited", "everything", "kernel")
    yield Run("libraries", "cut", "everything", "signal")
    yield Run("returns", "attached", "everything", "signal")
    for number, trouble in enumerate(("killed", "stopped", "full")):
        yield Run("crowd", ("launched", "attached")[number % 2], "everything", ("kernel", "signal")[number % 2], trouble)


def all_of(row):
    clocks = itertools.cycle(CLOCKS)
    for way, trouble in itertools.product(WAYS, TROUBLES):
        if way == "cut" and trouble != "none":
            continue
        for tracer in TRACERS if trouble == "none" else ["everything"]:
            for clock in CLOCKS if tracer == "everything" and trouble == "none" else [next(clocks)]:
                yield Run(row, way, tracer, clock, trouble)


def at_random(seconds):
    seed = time.time_ns()
    print(f"seed {seed}", flush=True)
    chance, limit = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < limit:
        yield Run(*map(chance.choice, map(list, (ROWS, WAYS, TRACERS, CLOCKS, TROUBLES, MOMENTS))))


def can_mount():
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


def chosen(words):
    if words[:1] == ["soak"]:
        return at_random(float(words[1]))
    if len(words) > 1:
        return [Run(*words[:5], *map(float, words[5:6]))] * (int(words[6]) if len(words) > 6 else 1)
    if words:
        return all_of(words[0])
    return itertools.chain.from_iterable(map(all_of, ROWS)) if attempts.IS_THOROUGH else some()


def main(words):
    """The exit status."""
    is_mounting = can_mount()
    if is_mounting and "GNOMON_MOUNTS" not in os.environ:  # nobody else is to see the small disks
        os.execvpe("unshare", ["unshare", "--mount", sys.executable, *sys.argv], {**os.environ, "GNOMON_MOUNTS": "1"})
    if not is_mounting:
        skips.note("hostile", "full", skips.NO_MOUNT)
    runs = (run for run in chosen(words) if run.is_possible() and (is_mounting or run.trouble != "full"))
    faults = count = 0
    with concurrent.futures.ThreadPoolExecutor(3 if attempts.IS_THOROUGH or words else 2) as pool:
        for run, fault in pool.map(lambda run: (run, check(run)), runs) if words[:1] != ["soak"] else in_turn(pool, runs):
            count += 1
            if fault:
                faults += 1
                print(f"{run}: {fault}", flush=True)
    print(f"{count} runs, {faults} went wrong")
    return 1 if faults else 0 if is_mounting else skips.STATUS


def in_turn(pool, runs):
    """As map(), which would take all of an endless sequence first."""
    pending = set()
    for run in runs:
        pending.add(pool.submit(lambda run=run: (run, check(run))))
        while len(pending) >= 3:
            done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            yield from (each.result() for each in done)
    for each in concurrent.futures.as_completed(pending):
        yield each.result()


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
