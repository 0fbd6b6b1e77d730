"""Programs and profilers as the sections of bench.py run them; nothing here prints."""
import contextlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))
import recorded

BUILD = pathlib.Path(sys.argv[1])
GNOMON = BUILD / "bin/gnomon"
MILLISECOND = 1_000_000  # ns
PERF, GPROFNG, LLDB, HEAPTRACK = (shutil.which(name) for name in ("perf", "gprofng", "lldb-19", "heaptrack"))


def program(name):
    for place in ("bench", "targets"):
        if (BUILD / place / name).exists():
            return BUILD / place / name
    raise FileNotFoundError(name)


@contextlib.contextmanager
def place():
    """An empty directory for one run. Ends when gnomon-sampler has closed what it writes there, so that it disturbs no other run."""
    with recorded.directory() as path:
        yield pathlib.Path(path)
        for experiment in pathlib.Path(path).glob("*.er"):
            recorded.wait_until_closed(experiment)


def run(command, cwd, environment=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=300, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}: {done.stderr}")
    return done.stdout


def under(profiler, work, command):
    """What the program prints. profiler: None, ("collect", interval, clock), ("gnomon", ns between samples[, settings]): the library alone, ("heaptrack",),
    ("perf", samples a second, call graph or None), ("gprofng", options), ("lldb"[, the collector's commands]) or, with fixed_work, ("tick", ns between
    signals). What was recorded is in `work`: test.1.er or perf.data."""
    command = [str(word) for word in command]
    kind = profiler[0] if profiler else None
    if kind == "gnomon":
        return run(command, work, recorded.variables(BUILD, command[0], work, interval=profiler[1], settings="".join(profiler[2:])))
    if kind == "collect":
        return run([GNOMON, "collect", "-p", profiler[1], "-k", profiler[2], "-o", "test.1.er", *command], work)
    if kind == "perf":
        graph = ["--call-graph", profiler[2]] if profiler[2] else []
        return run([PERF, "record", "-q", "-e", "cpu-clock" if os.geteuid() == 0 else "cpu-clock:u", "-F", profiler[1], *graph, "-o", "perf.data", *command], work)
    if kind == "gprofng":
        return run([GPROFNG, "collect", "app", *profiler[1], "-o", "test.1.er", *command], work)
    if kind == "heaptrack":
        return run([HEAPTRACK, "-o", "heap", *command], work)
    if kind == "lldb":
        commands = [f"plugin load {BUILD}/lib/lldb-gnomon.so", *(f"collector {words}" for words in profiler[1:])] if profiler[1:] else []
        enable = [word for each in commands for word in ("-o", each)]
        return run([LLDB, "-b", "--no-lldbinit", *enable, "-o", "process launch", "--", *command], work)
    if kind == "tick":
        return run([*command, profiler[1]], work)
    return run(command, work)


def least(profilers, arguments, rounds):
    """{name: (least CPU ns, least elapsed ns)} of fixed_work, one run of each in turn, as often as `rounds` says: what disturbs a run only adds."""
    taken = {name: [] for name in profilers}
    for _ in range(rounds):
        for name, profiler in profilers.items():
            with place() as work:
                printed = under(profiler, work, [program("fixed_work"), *arguments])
                taken[name].append(tuple(map(int, re.search(r"^(\d+) (\d+) \d+\s*$", printed, re.M).groups())))
    return {name: tuple(min(run[i] for run in runs) for i in (0, 1)) for name, runs in taken.items()}


def size_of(path):
    path = pathlib.Path(path)
    return sum(file.stat().st_blocks * 512 for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())


def anonymous_kib(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"RssAnon:\s+(\d+)", text)
    return int(found[1]) if found else 0


def reading(command, cwd, rounds=3):
    """(median seconds, most MiB of memory that is not a mapped file), as seen every millisecond"""
    seconds, memory = [], 0
    for _ in range(rounds):
        begin = time.monotonic()
        reader = subprocess.Popen([str(word) for word in command], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  stdin=subprocess.DEVNULL)
        while reader.poll() is None:
            memory = max(memory, anonymous_kib(reader.pid))
            time.sleep(0.001)
        seconds.append(time.monotonic() - begin)
    return statistics.median(seconds), memory / 1024


def in_a_session(experiment, reports, cwd):
    """Of each report the seconds it takes first and again, in one process"""
    mark = "help metrics"  # whose first line no report prints
    with subprocess.Popen([GNOMON, "print", str(experiment)], cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        def seconds(command):
            begin = time.monotonic()
            session.stdin.write(f"{command}\n{mark}\n")
            session.stdin.flush()
            for line in session.stdout:
                if line.startswith("Choose the columns of reports."):
                    return time.monotonic() - begin
            raise RuntimeError(f"`{command}` ended the session")

        seconds("header")
        taken = [(seconds(report), min(seconds(report) for _ in range(3))) for report in reports]
        session.stdin.close()
    return taken


def table(head, rows):
    """Markdown."""
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)
