"""Measures what the collector and the reader cost, beside perf and gprofng where they are installed: bench.py BUILD [SECTION...]
Prints one Markdown table a section. Each figure of a table comes from the same run; compare ratios, not runs."""
import re
import sys

import clocks
import measure
import tracing
from measure import BUILD, GNOMON, GPROFNG, MILLISECOND, PERF, place, program, reading, recorded, run, size_of, table, under

NOTHING = 10_000 * MILLISECOND  # no tick comes of itself


def sample():
    """A sample, in CPU time of the thread it interrupts"""
    rows = []
    for depth in (5, 30, 60, 200):
        bare, collected = [], []
        for _ in range(7):
            with place() as work:
                command = [program("sample_cost"), depth, 20_000]
                bare.append(int(under(None, work, command)))
                collected.append(int(under(("gnomon", NOTHING), work, command)))
        bare, collected = sorted(bare)[3] / 1000, sorted(collected)[3] / 1000
        rows.append([depth, f"{bare:.2f}", f"{collected:.2f}", f"{collected - bare:.2f}"])
    table(["frames", "empty handler, us", "the collector, us", "a sample, us"], rows)


def profilers():
    some = {"alone": None, "gnomon, 1 ms": ("collect", "1", "auto"), "gnomon, 10 ms": ("collect", "10", "auto"), "gnomon, signals, 1 ms": ("collect", "1", "signal")}
    if GPROFNG:
        some["gprofng, -p hi"] = ("gprofng", ["-p", "hi"])
    if PERF:
        some["perf, 1000 Hz, frame pointers"] = ("perf", 1000, "fp")
        some["perf, 1000 Hz, DWARF"] = ("perf", 1000, "dwarf")
    return some


def gnomon_inclusive(work):
    recorded.wait_until_closed(work / "test.1.er")
    found, _ = recorded.functions(BUILD, work / "test.1.er")
    return {name: values[1] for name, values in found.items()}


def perf_inclusive(work):
    printed = run([PERF, "report", "-i", "perf.data", "--children", "-g", "none", "--sort", "sym", "--stdio"], work)
    total = sum(int(count) for count in re.findall(r"Event count.*?: (\d+)", printed)) / 1e9
    found = re.findall(r"^\s*([\d.]+)%\s+[\d.]+%\s+\[.\]\s+(\S+)", printed, re.M)
    return {"<Total>": total} | {name: float(share) / 100 * total for share, name in found}


def gprofng_inclusive(work):
    printed = run([GPROFNG, "display", "text", "-metrics", "i.totalcpu:name", "-functions", "test.1.er"], work)
    return {name: float(seconds) for seconds, name in re.findall(r"^\s*([\d.]+)(?:\s+[\d.]+)?\s+(\S+)$", printed, re.M)}


INCLUSIVE = {"collect": gnomon_inclusive, "perf": perf_inclusive, "gprofng": gprofng_inclusive}


def split():
    """A program that spends 50, 30 and 20 % of 4 seconds in three functions"""
    rows = []
    for name, profiler in profilers().items():
        if name == "alone" or "DWARF" in name:
            continue
        with place() as work:
            under(profiler, work, [program("split"), 4])
            found = INCLUSIVE[profiler[0]](work)
        shares = [100 * sum(value for key, value in found.items() if re.match(rf"work::{function}\b", key)) / found["<Total>"]
                  for function in ("half", "third", "fifth")]
        error = max(abs(a - b) for a, b in zip(shares, (50, 30, 20)))
        rows.append([name, " / ".join(f"{share:.2f}" for share in shares), f"{error:.2f} points"])
    table(["", "50 / 30 / 20 %", "worst error"], rows)


def total():
    """The sum of all samples, of what the process's CPU clock says"""
    rows = []
    for name, profiler in profilers().items():
        if name == "alone" or "DWARF" in name:
            continue
        cells = [name]
        for threads, millions in ((1, 8000), (8, 1000)):
            with place() as work:
                printed = under(profiler, work, [program("fixed_work"), "compute", 10, threads, millions])
                cpu = int(re.search(r"^\d+ \d+ (\d+)\s*$", printed, re.M)[1]) / 1e9
                cells.append(f"{100 * INCLUSIVE[profiler[0]](work)['<Total>'] / cpu:.2f} %")
        rows.append(cells)
    table(["", "1 thread", "8 threads"], rows)


def command():
    """Start and end of a command that does nothing, and bytes on disk"""
    rows = []
    for name, profiler in profilers().items():
        spent = []
        for _ in range(9):
            with place() as work:
                begin = measure.time.monotonic()
                under(profiler, work, [program("fixed_work"), "compute", 1, 1, 0])
                spent.append(measure.time.monotonic() - begin)
        with place() as work:
            under(profiler, work, [program("fixed_work"), "compute", 60, 1, 1500])
            bytes_ = sum(size_of(path) for path in work.iterdir())
        rows.append([name, f"{1000 * sorted(spent)[4]:.1f} ms", f"{bytes_ // 1024} KiB" if bytes_ else ""])
    table(["", "nothing, start to end", "experiment of about a second"], rows)


def write(work, events, stacks, depth, objects=()):
    path = work / f"{events}-{stacks}.er"
    path.mkdir()
    run([program("write_experiment"), path, events, stacks, depth, *objects], work)
    return path


def objects(work, count):
    """Shared objects of 40 functions each, with line tables"""
    body = "".join(f"\n  x = x * {3 + line} + t[x & 63];" for line in range(12))
    code = "".join(f"\nlong PREFIX(f{i})(long x, const long* t) {{{body}\n  return x;\n}}" for i in range(40))
    (work / "object.c").write_text(f"#define JOIN(a, b) a##b\n#define JOIN2(a, b) JOIN(a, b)\n#define PREFIX(name) JOIN2(NAME, name){code}\n")
    for i in range(count):
        run(["cc", "-g", "-O1", "-shared", "-fPIC", f"-DNAME=object{i}_", "object.c", "-o", f"object{i}.so"], work)
        yield work / f"object{i}.so"


def reader():
    """`functions` of what was recorded"""
    rows = []

    def add(what, events, command, work):
        seconds, memory = reading(command, work)
        rows.append([what, f"{events / 1e6:.3g} M", f"{seconds:.2f} s", f"{1e6 * seconds / events:.2f} us", f"{memory:.0f} MiB"])

    for events in (1_000_000, 10_000_000):
        with place() as work:
            path = write(work, events, 2000, 30)
            add("gnomon, 2000 call stacks of 30", events, [GNOMON, "print", "-functions", path], work)
    if PERF:
        with place() as work:
            under(("perf", 20_000, "fp"), work, [program("fixed_work"), "compute", 30, 1, 8000])
            events = run([PERF, "script", "-i", "perf.data", "-F", "pid", "-G"], work).count("\n")
            add("perf, 1 call stack of 30", events, [PERF, "report", "-i", "perf.data", "--stdio", "-g", "none"], work)
    if GPROFNG:
        with place() as work:
            under(("gprofng", ["-p", "off", "-H", "on"]), work, [program("fixed_work"), "allocate", 500_000])
            add("gprofng, heap events, 2 call stacks", 1_000_000, [GPROFNG, "display", "text", "-functions", "test.1.er"], work)
    table(["", "events", "time", "an event", "memory beyond mapped files"], rows)


def wide():
    """10 M events on 100 000 call stacks of 40 frames, in 50 load objects with line tables"""
    reports = ("functions", "lines", "callers-callees", "source object0_f1")
    with place() as work:
        path = write(work, 10_000_000, 100_000, 40, objects(work, 50))
        rows = []
        for report in reports:
            seconds, memory = reading([GNOMON, "print", f"-{report}", path] if " " not in report else [GNOMON, "print", "-source", report.split()[1], path], work)
            rows.append([f"`{report}`", f"{seconds:.2f} s", f"{memory:.0f} MiB"])
        for row, (first, again) in zip(rows, measure.in_a_session(path, reports, work)):
            row[2:2] = [f"{first:.2f} s", f"{1000 * again:.0f} ms"]
        rows.append(["experiment on disk", "", "", "", f"{size_of(path) >> 20} MiB"])
    table(["", "alone", "in a session, in this order", "again", "memory beyond mapped files"], rows)


SECTIONS = (sample, clocks.slow_down, clocks.sampler, clocks.whole_stacks, split, total, command, tracing.traced, tracing.threads, tracing.whole, tracing.heap, reader, wide)

if __name__ == "__main__":
    names = {section.__name__: section for section in SECTIONS}
    unknown = [name for name in sys.argv[2:] if name not in names]
    if unknown:
        sys.exit(f"bench: no section {unknown[0]}; there are {', '.join(names)}")
    for section in SECTIONS:
        if len(sys.argv) == 2 or section.__name__ in sys.argv[2:]:
            print(f"### {section.__doc__} (`{section.__name__}`)\n", flush=True)
            section()
