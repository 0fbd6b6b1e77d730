"""Many attempts at one thing, each in a directory of its own, and a line a kind of what came of them."""
import contextlib
import functools
import os
import pathlib
import subprocess
import sys
import time

import recorded
import skips
from skips import NOBODY

PATIENCE = 30  # s
# Under `./dev check`, which has the time, more is tried than where every change waits for it.
IS_THOROUGH = os.environ.get("GNOMON_TESTS") == "all"


def try_all(attempts, attempt):
    """attempts: {kind: how many}; attempt(work, kind) answers what went wrong, or None, and how long the program was held, in ms.
    How many went wrong."""
    faults = 0
    for kind, number in attempts.items():
        held, wrong = [], []
        for _ in range(number):
            with recorded.directory() as work:
                fault, ms = attempt(work, kind)
            if fault:
                wrong.append(fault)
            else:
                held.append(ms)
        print(f"{kind}: {len(held)} of {number}, held {sorted(held)} ms", *wrong, sep="\n  ", flush=True)
        faults += len(wrong)
    return faults


def fault_of(build, experiment, program):
    """What is wrong with a program being recorded, or None: it is sampled, and once its input is over it says "right" and ends."""
    if not recorded.wait_for_samples(build, experiment, program):
        status = program.poll()
        said = f": {program.stdout.read()}" if status is not None else ""
        return f"no samples; exit status {status}{said}; {recorded.status(build, experiment)}"
    try:
        printed, _ = program.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return "hangs"
    return None if (program.returncode, printed) == (0, "right\n") else f"ended with {program.returncode}: {printed}"


@contextlib.contextmanager
def started(*words, **more):
    """A program, ended by the end."""
    program = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True, **more)
    try:
        yield program
    finally:
        if program.poll() is None and program.pid > 0:
            program.kill()
        program.wait(PATIENCE)


class Skipped(Exception):
    """The case cannot be tried on this machine. The argument is one of the reasons in skips.py."""


def need(is_given, otherwise):
    if not is_given:
        raise Skipped(otherwise)


def need_nobody():
    """NOBODY's words run programs here."""
    need(skips.runs(*NOBODY, "/bin/true"), skips.NO_OTHER_USER)


def wait_until(condition, what):
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit, what
        time.sleep(0.01)


def again_at(kind, tries, last, facts=dict):
    """Makes of case(work) one that is tried again, in another folder, where it raises an exception of that kind. After the last try it raises
    one like `last`, which says as well why, and facts()."""
    def repeated(case):
        @functools.wraps(case)
        def tried(work):
            for attempt in range(tries):
                place = pathlib.Path(work) / str(attempt)
                place.mkdir()
                try:
                    return case(place)
                except kind as reason:
                    why = f"{reason} {facts() or ''}"
                    print(f"{case.__name__}: again, {why}", flush=True)
            raise type(last)(" ".join(f"{last}: {why}".split()))
        return tried
    return repeated


def try_cases(*cases):
    """Runs each case(work) in a folder of its own. If one was skipped the test ends here, with the status that says so."""
    skipped = [case for case in cases if not is_tried(case)]
    if skipped:
        sys.exit(skips.STATUS)


def is_tried(case):
    """Runs case(work); False: it was skipped."""
    began = time.monotonic()
    try:
        with recorded.directory() as work:
            case(work)
    except Skipped as reason:
        skips.note(pathlib.Path(sys.argv[0]).stem.removesuffix("_test"), case.__name__, reason.args[0])
        return False
    print(f"{case.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)
    return True
