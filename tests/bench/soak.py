"""Brings the collector into busy programs over and over, beside the usual ways to get a library
into one: soak.py BUILD [ATTEMPTS [KINDS [WAYS [FILE]]]]
KINDS and WAYS: names with commas between them, or "all". FILE: every attempt is added to it, and
those that it has count; 0 attempts show them.
Prints one Markdown row a kind of program, then one a group of kinds. A cell says how often the
library was in and the program right afterwards, what went wrong else, and for how long the program
did not get on: median and 99th percentile, as it saw it itself.
Exit status: 0 if Gnomon's ways did no harm."""
import collections
import contextlib
import json
import math
import os
import pathlib
import random
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))
import kinds

BUILD = pathlib.Path(sys.argv[1]).resolve()
ATTEMPTS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
FILE = pathlib.Path(sys.argv[5]) if len(sys.argv) > 5 else None
OTHER = BUILD / "targets/libplugin_b.so"  # what the others load
PLUGIN = ["-o", f"plugin load {BUILD}/lib/lldb-gnomon.so"]
PATIENCE, RECORDED, WATCHED = 20, 0.2, 0.2  # s

SECONDS = "1"  # that a program computes beside one that waits
KINDS = {kind: [*kinds.words(BUILD, kind), *([SECONDS] if kind.removeprefix("own_") in kinds.WAITS else [])] for kind in (*kinds.WAITS, *kinds.BUSY, *kinds.OWN, *kinds.OTHERS)}

GROUPS = {
    "waits in a system call": kinds.WAITS,
    "computes": ("compute", "vectors"),
    "allocates": ("malloc", "arena", "arenas"),
    "loads and unloads libraries": ("dlopen", "dlopens"),
    "forks, spawns": ("fork", "forks", "vfork", "spawn"),
    "starts and ends threads": ("threads",),
    "holds the stdio lock": ("stdio",),
    "in signal handlers": ("handler", "handlers"),
    "wakes threads, pipes": ("wakes", "pipes"),
    "blocks SIGPROF": ("masks",),
    "has 2000 threads": ("many",),
    "executes itself": ("execs",),
    "malloc of its own": (*kinds.OWN, "own_arena"),
}

# What came of an attempt; harm comes first.
DIED, HUNG, WRONG, NOT, BEFORE, IN = "died", "hung", "wrong", "not in", "LLDB's attach failed", "in"
Attempt = collections.namedtuple("Attempt", "outcome gap said first why")  # ms, ms, ms, text


def end_gently(debugger):
    """A debugger that is killed leaves its breakpoints in the program."""
    for number, patience in ((signal.SIGINT, 3), (signal.SIGTERM, 3), (signal.SIGKILL, 10)):
        debugger.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return debugger.communicate(timeout=patience)[0]


def run(words, work):
    """All that it said; that it was too late is said, too."""
    words = list(map(str, words))
    with subprocess.Popen(words, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as debugger:
        try:
            if debugger.args[0].endswith("/gnomon") and select.select([debugger.stdout], [], [], PATIENCE)[0]:
                time.sleep(RECORDED)
                debugger.send_signal(signal.SIGINT)
            return debugger.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            return f"{end_gently(debugger)}\n{words[0]} was not done in time"


def lldb(*commands):
    return lambda pid: ["lldb-19", "--no-lldbinit", "-b", *(word for command in commands for word in ("-o", command.format(pid=pid)))]


CLOCK = "script import time"  # beforehand: it takes a while
STAMP = "script print('begins', time.monotonic_ns())"

# Words that bring a library in, and which.
LIBRARY = "libcollector.so"
WAYS = {
    "alone": (lambda pid: ["sleep", "0.3"], None),
    "gnomon collect": (lambda pid: [BUILD / "bin/gnomon", "collect", "-P", pid], LIBRARY),
    "collector attach": (lambda pid: lldb(PLUGIN[1], CLOCK, STAMP, "collector attach {pid}", "detach")(pid), LIBRARY),
    "collector enable": (lambda pid: lldb(PLUGIN[1], CLOCK, "process attach -p {pid}", STAMP, "collector enable", "detach")(pid), LIBRARY),
    "LLDB alone": (lldb("process attach -p {pid}", "detach"), None),
    "process load": (lldb("process attach -p {pid}", f"process load {OTHER}", "detach"), OTHER.name),
    "expr dlopen": (lldb("process attach -p {pid}", f'expr -l c -- (void*)dlopen("{OTHER}", 2)', "detach"), OTHER.name),
    "gdb alone": (lambda pid: ["gdb", "-nx", "-batch", "-p", pid, "-ex", "detach"], None),
    "gdb call dlopen": (lambda pid: ["gdb", "-nx", "-batch", "-p", pid, "-ex", f'call (void*)dlopen("{OTHER}", 2)', "-ex", "detach"], OTHER.name),
}
OURS = tuple(name for name, (_, library) in WAYS.items() if library == LIBRARY)


def has_loaded(pid, library):
    try:
        return library is None or f"/{library}\n" in pathlib.Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def first_sample(experiment, begin):
    """ms from then, on CLOCK_MONOTONIC in ns, to the first sample; None: there is none. docs/format.md."""
    with contextlib.suppress(OSError):
        data, times = (experiment / "profile").read_bytes(), []
        for block in range(0, len(data), 65536):
            at = block + 32
            while at + 8 <= block + 65536 and data[at]:
                times.append(struct.unpack_from("<Q", data, at + 8)[0])
                at += 8 * data[at + 1]
        return (min(times) - begin) / 1e6 if times else None
    return None


@contextlib.contextmanager
def started(kind, work):
    program = subprocess.Popen(KINDS[kind], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env={**os.environ, "SAY_GAP": "1"})
    try:
        pid = int(program.stdout.readline().split()[0])
        assert pid == program.pid > 0
        yield program, pid
    finally:
        if program.poll() is None:
            program.kill()
        program.communicate(timeout=PATIENCE)


def is_stopped(pid):
    """Left so by its debugger."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] in "tT"
    return False


def end_of(program):
    """(what of DIED, HUNG, WRONG or None, what it said, its longest gap in ms)"""
    try:
        said, more = program.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return HUNG, "hangs", None
    gap = re.search(r"longest gap ([\d.]+) ms", more)
    status = program.returncode
    harm = None if (status, said) == (0, "right\n") else WRONG if status == 1 and said.startswith("wrong") else DIED
    return harm, f"ended with {status}: {said}", float(gap[1]) if gap else None


def attempt(kind, way):
    words, library = WAYS[way]
    with tempfile.TemporaryDirectory(prefix="gnomon-soak-") as work, started(kind, work) as (program, pid):
        time.sleep(random.uniform(0, 0.05))
        begin = time.monotonic_ns()
        debugger = run(words(pid), work)
        loaded = has_loaded(pid, library)
        stamp = re.search(r"^begins (\d+)$", debugger, re.MULTILINE)
        first = first_sample(pathlib.Path(work) / "test.1.er", int(stamp[1]) if stamp else begin)
        time.sleep(WATCHED)
        if STAMP in map(str, words(pid)) and not stamp:  # not ours yet
            return Attempt(BEFORE, None, None, None, debugger)
        if program.poll() is None and is_stopped(pid):
            return Attempt(HUNG, None, None, None, f"is left stopped: {debugger}")
        harm, why, gap = end_of(program)
        held = re.search(r"was stopped,? for ([\d.]+) ms", debugger)
        said = float(held[1]) if held else None
        if harm:
            return Attempt(harm, gap, said, first, f"{why}\n{debugger}")
        if "LLDB cannot attach" in debugger:
            return Attempt(BEFORE, gap, said, first, debugger)
        if not loaded or "attach failed" in debugger or (library == LIBRARY and "Recording process" not in debugger):
            return Attempt(NOT, gap, said, first, debugger)
        return Attempt(IN, gap, said, first, "")


def spread(values):
    """Median and 99th percentile."""
    values = sorted(value for value in values if value is not None)
    return f"{statistics.median(values):.1f} / {values[math.ceil(0.99 * len(values)) - 1]:.0f} ms" if values else ""


def cell(attempts):
    if not attempts:
        return ""
    count = collections.Counter(one.outcome for one in attempts)
    faults = ", ".join(f"{count[what]} {what}" for what in (DIED, HUNG, WRONG, BEFORE, NOT) if count[what])
    gaps = spread(one.gap for one in attempts if one.outcome == IN)
    return "; ".join(text for text in (f"{count[IN]} of {len(attempts)}", faults, gaps) if text)


def shortened(text, most=300):
    """Its beginning and its end."""
    return text if len(text) <= 2 * most else f"{text[:most]}\n...\n{text[-most:]}"


def chosen(argument, names):
    wanted = sys.argv[argument].split(",") if len(sys.argv) > argument and sys.argv[argument] != "all" else list(names)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        sys.exit(f"soak: there is no {unknown[0]}; there are {', '.join(names)}")
    return wanted


def attempts_before():
    """{(kind, way): [Attempt]} of the file."""
    done = collections.defaultdict(list)
    if FILE and FILE.exists():
        for kind, way, *one in map(json.loads, FILE.read_text().splitlines()):
            done[kind, way].append(Attempt(*one))
    return done


def attempts_now(kind, way):
    for _ in range(ATTEMPTS):
        one = attempt(kind, way)
        if one.why and way in OURS:
            print(f"{kind}, {way}: {one.outcome}: {shortened(one.why)}", file=sys.stderr, flush=True)
        if FILE:
            with FILE.open("a") as file:
                file.write(json.dumps([kind, way, *one]) + "\n")
        yield one


def head(first, ways):
    return f"| {first} | " + " | ".join(ways) + " |\n|" + "---|" * (1 + len(ways))


def row(name, names, ways, done):
    return f"| {name} | " + " | ".join(cell([one for kind in names for one in done[kind, way]]) for way in ways) + " |"


def main():
    done, all_kinds = attempts_before(), chosen(3, KINDS)
    ways = [way for way in chosen(4, WAYS) if shutil.which(str(WAYS[way][0](1)[0]))]
    print(head("program", ways), flush=True)
    for kind in all_kinds:
        for way in ways:
            done[kind, way] += attempts_now(kind, way)
        print(row(kind, [kind], ways, done), flush=True)
    print(f"\n{head('group', ways)}")
    for name, names in GROUPS.items():
        if any(kind in all_kinds for kind in names):
            print(row(name, [kind for kind in names if kind in all_kinds], ways, done))
    print(f"{row('all', all_kinds, ways, done)}\n")
    for way in ways:
        attempts = [one for kind in all_kinds for one in done[kind, way]]
        if way in OURS and attempts:
            print(f"{way}: stopped by its own account {spread(one.said for one in attempts)}; "
                  f"first sample after {spread(one.first for one in attempts)}")
    sys.exit(any(one.outcome in (DIED, HUNG, WRONG) for way in ways if way in OURS for kind in all_kinds for one in done[kind, way]))


if __name__ == "__main__":
    main()
