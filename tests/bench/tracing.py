"""What tracing costs: the sections of bench.py about it."""
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys

import recorded
from measure import BUILD, GNOMON, GPROFNG, HEAPTRACK, place, program, reading, run, size_of, table, under

HEAP, FREE_STACKS, SAMPLED = "H=1", "H=3", f"H={512 << 10 << 8 | 1}"
HEAPTRACK_LIBRARY = "/usr/lib/heaptrack/libheaptrack_preload.so"


def traced():
    """What tracing adds to a call, 10 frames deep, the least of five rounds; bytes on disk a call"""
    calls = {"malloc": 500_000, "lock": 5_000_000, "read": 200_000}
    some = {"malloc": {"gnomon": ("gnomon", 0, HEAP), "gnomon, frees with call stacks": ("gnomon", 0, FREE_STACKS),
                       "gnomon, one in 512 KiB": ("gnomon", 0, SAMPLED)},
            "lock": {"gnomon": ("gnomon", 0, "T=1"), "gnomon, every call": ("gnomon", 0, "T=2")},
            "read": {"gnomon": ("gnomon", 0, "I=1")}}
    if HEAPTRACK:
        some["malloc"]["heaptrack"] = ("heaptrack",)
    if GPROFNG:
        for what, option in (("malloc", "-H"), ("lock", "-s"), ("read", "-i")):
            some[what]["gprofng"] = ("gprofng", ["-p", "off", option, "on"])
    rows = []
    for what, profilers in some.items():
        title = {"malloc": "malloc and free", "lock": "lock and unlock, uncontended", "read": "pread of 4 KiB"}[what]
        for name, profiler in profilers.items():
            alone, taken, on_disk = [], [], 0
            for _ in range(3):
                with place() as work:
                    alone.append(float(under(None, work, [program("calls"), what, 10, calls[what]])))
                with place() as work:
                    taken.append(float(re.findall(r"^([\d.]+)$", under(profiler, work, [program("calls"), what, 10, calls[what]]), re.M)[0]))
                    on_disk = sum(size_of(path) for path in work.iterdir())
            rows.append([title, name, f"{min(alone):.1f} ns", f"{min(taken) - min(alone):+.1f} ns", f"{on_disk / calls[what] / 5:.1f}"])
    table(["", "", "alone", "added", "bytes a call"], rows)


def threads():
    """A call by 1 thread and by 2 at once, each with its own data, ns (least of five rounds)"""
    def least(what, settings, count):
        taken = []
        for _ in range(3):
            with place() as work:
                profiler = ("gnomon", 0, settings) if settings else None
                printed = under(profiler, work, [program("calls"), what, 10, 300_000, count])
                taken.append(float(re.findall(r"^([\d.]+)$", printed, re.M)[0]))
        return min(taken)

    rows = []
    for what, settings in (("malloc", HEAP), ("lock", "T=1"), ("lock", "T=2")):
        name = {HEAP: "malloc and free", "T=1": "lock and unlock", "T=2": "lock and unlock, every call recorded"}[settings]
        for title, given in (("alone", None), ("gnomon", settings)):
            rows.append([name, title, *(f"{least(what, given, count):.1f}" for count in (1, 2))])
    table(["", "", "1 thread", "2 threads"], rows)


def cpu_of(command, work, environment):
    """CPU seconds of a command, user and system"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, timeout=300, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


QUERY = """create table t(a, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) insert into t select i % 1000, printf('%d-%s', i, hex(i)) from n;
select count(*), sum(length(b)) from t where b like '%7A%';
select a, group_concat(b) from t where a < 50 group by a order by length(b) limit 1;
"""
UNIT = "#include <regex>\nbool f(const std::string& s) { return std::regex_match(s, std::regex(\"(a|b)*c\")); }\n"


def programs(work):
    """[(name, command)] of programs that nobody here wrote, as far as the machine has them"""
    found = []
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True).stdout.strip()
    if os.path.isabs(compiler):
        (work / "unit.cpp").write_text(UNIT)
        run(["g++", "-E", "-P", "unit.cpp", "-o", "unit.ii"], work)
        found.append(("cc1plus -O2, &lt;regex&gt;", [compiler, "-quiet", "-O2", "unit.ii", "-o", "/dev/null"]))
    if shutil.which("sqlite3"):
        (work / "query.sql").write_text(QUERY)
        found.append(("sqlite3, a recursive query", [shutil.which("sqlite3"), ":memory:", ".read query.sql"]))
    return found


def whole():
    """CPU time that heap tracing adds to whole programs, the median of five runs"""
    rows = []
    with place() as sources:
        for name, command in programs(sources):
            ways = {"alone": None, "gnomon": HEAP, "gnomon, frees with call stacks": FREE_STACKS, "gnomon, one in 512 KiB": SAMPLED}
            if os.path.exists(HEAPTRACK_LIBRARY):
                ways["heaptrack, its library alone"] = "heaptrack"
            taken, on_disk = {way: [] for way in ways}, {}
            for _ in range(5):
                for way, settings in ways.items():
                    with place() as work:
                        environment = {}
                        if settings == "heaptrack":
                            environment = {"LD_PRELOAD": HEAPTRACK_LIBRARY, "DUMP_HEAPTRACK_OUTPUT": str(work / "raw")}
                        elif settings:
                            environment = recorded.variables(BUILD, command[0], work, interval=0, settings=settings)
                        taken[way].append(cpu_of(command, sources, environment))
                        on_disk[way] = sum(size_of(path) for path in work.iterdir())
            alone = statistics.median(taken["alone"])
            for way in ways:
                spent = statistics.median(taken[way])
                rows.append([name, way, f"{spent:.2f} s", f"{100 * (spent / alone - 1):+.1f} %" if way != "alone" else "",
                             f"{on_disk[way] >> 10} KiB" if on_disk[way] else ""])
    table(["", "", "CPU time", "added", "on disk"], rows)


def heap():
    """`heap` of a million allocations that were freed again"""
    rows = []
    with place() as work:
        under(("gnomon", 0, HEAP), work, [program("calls"), "malloc", 10, 200_000])
        for report in ("heap", "leaks", "heapstat", "functions"):
            seconds, memory = reading([GNOMON, "print", f"-{report}", "test.1.er"], work)
            rows.append([f"`{report}`", f"{seconds:.2f} s", f"{memory:.0f} MiB"])
    table(["", "time", "memory beyond mapped files"], rows)
