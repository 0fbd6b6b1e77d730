"""Runs a program with the collector and without a debugger, and reads what it recorded."""
import contextlib
import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time


@contextlib.contextmanager
def directory(patience=30):
    """One that goes at the end, though gnomon-sampler may still be closing an experiment in it."""
    path = tempfile.mkdtemp(prefix="gnomon-live-")
    try:
        yield path
    finally:
        limit = time.monotonic() + patience
        while os.path.exists(path) and time.monotonic() < limit:
            shutil.rmtree(path, ignore_errors=True)


def variables(build, program, work, interval=10_000_000, hold=0, settings="", session=1):
    library = str(build / "lib/libcollector.so")
    return {"LD_PRELOAD": library, "GNOMON_LIBRARY": library, "GNOMON_TARGET": str(pathlib.Path(program).resolve()),
            "GNOMON_SESSION": str(session), "GNOMON_STEM": f"{work}/test",
            "GNOMON_SETTINGS": f"p={interval};h={hold * 1_000_000};{settings}"}


def run(build, program, arguments, work, timeout=60, preexec_fn=None, **settings):
    """(what subprocess.run says, the experiment's directory)"""
    before = set(pathlib.Path(work).iterdir())
    done = subprocess.run([program, *arguments], env={**os.environ, **variables(build, program, work, **settings)}, cwd=work,
                          capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, preexec_fn=preexec_fn)
    fresh = [path for path in pathlib.Path(work).iterdir() if path not in before and path.suffix == ".er"]
    return done, fresh[0] if len(fresh) == 1 else None


def functions(build, experiment):
    """({name: (exclusive, inclusive)} in CPU seconds, the notes above the table)"""
    printed = subprocess.run([build / "bin/gnomon", "print", "-functions", "--format", "json", experiment], capture_output=True,
                             text=True, timeout=60)
    assert printed.returncode == 0, printed.stderr
    table = json.loads(printed.stdout)
    return {row["name"]: (row["exclusive_totalcpu"], row["inclusive_totalcpu"]) for row in table["rows"]}, table["notes"]


def run_within_its_time(build, program, arguments, work):
    """run(), and functions() of it: no more CPU time than the program has used by the kernel's accounts, its children's included."""
    used = -children_time()
    done, experiment = run(build, program, arguments, work)
    used += children_time()
    table, notes = functions(build, experiment)
    sampled = table.get("<Total>", (0, 0))[0]
    assert sampled <= 1.05 * used + 0.05, (arguments, sampled, used, table)
    return done, table, notes, experiment


def children_time():
    """CPU time of this process's children that have ended, in s."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def status(build, experiment):
    """{item: value}"""
    printed = subprocess.run([build / "bin/gnomon", "print", "-status", "--format", "json", experiment], capture_output=True,
                             text=True, timeout=60)
    assert printed.returncode == 0, printed.stderr
    return {row["item"]: row["value"] for row in json.loads(printed.stdout)["rows"]}


def used(experiment):
    """The CPU time of the process from the first sample of it to the last, in s: what the kernel says."""
    samples = [json.loads(line) for line in pathlib.Path(experiment, "overview").read_text().splitlines()]
    return (samples[-1]["cpu"] - samples[0]["cpu"]) / 1e9


def wait_until_closed(experiment, patience=30):
    """The sampler may still be writing what came last when the program has ended. False: in time (s) it was not done."""
    limit = time.monotonic() + patience
    while pathlib.Path(experiment, "ended").exists():
        if time.monotonic() > limit:
            return False
        time.sleep(0.005)
    return True


def samples(build, experiment):
    """How many there are."""
    return int(status(build, experiment)["Samples"].split(",")[0])


def wait_for_samples(build, experiment, program, patience=30):
    """False: there were only a few in time (s), or none when the program had ended."""
    limit = time.monotonic() + patience
    while True:
        running = program.poll() is None
        try:
            if samples(build, experiment) > (5 if running else 0):
                return True
        except (AssertionError, KeyError):
            pass
        if not running or time.monotonic() > limit:
            return False
        time.sleep(0.05)
