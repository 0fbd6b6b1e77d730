"""Sections of bench.py about the clocks: what they cost the program and beside it, and how much of a call stack they tell."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from measure import GNOMON, GPROFNG, LLDB, MILLISECOND, PERF, least, place, program, recorded, run, size_of, table

RATES = {100: "10", 1000: "1", 10_000: "100u"}  # samples a second of CPU time: gnomon's interval
NAMES = {100: "100 Hz", 1000: "1 kHz", 10_000: "10 kHz"}


def compared():
    """{name: profiler}, the same rates of all."""
    some = {"alone": None} | ({"LLDB alone": ("lldb",)} if LLDB else {})
    for rate, interval in RATES.items():
        for clock, name in (("kernel", "gnomon"), ("signal", "gnomon, signals")):
            some[f"{name}, {NAMES[rate]}"] = ("collect", interval, clock)
            if LLDB:
                some[f"{name} in LLDB, {NAMES[rate]}"] = ("lldb", f"profile timer {interval}", f"profile source {clock}", "enable")
        if PERF:
            some[f"perf, frame pointers, {NAMES[rate]}"] = ("perf", rate, "fp")
        if PERF and rate > 100:
            some[f"perf, DWARF, {NAMES[rate]}"] = ("perf", rate, "dwarf")
    if GPROFNG:
        some["gprofng, -p hi"] = ("gprofng", ["-p", "hi"])
    return some | {"an empty signal handler, 1 kHz": ("tick", MILLISECOND)}


def slow_down():
    """A program that computes, 60 frames deep"""
    some = compared()
    columns = [("1 thread", (1, 1000)), ("4 threads", (4, 300))]
    taken = [least(some, ["compute", 60, *arguments], 7) for _, arguments in columns]
    rows = []
    for name in some:
        cells = [name]
        for times in taken:
            for i in (0, 1):
                cells.append(f"{100 * (times[name][i] / times['alone'][i] - 1):+.2f} %" if name != "alone" else f"{times[name][i] / 1e9:.3f} s")
        rows.append(cells)
    table(["", *(f"{name}, {what}" for name, _ in columns for what in ("CPU time", "elapsed"))], rows)


def cpu_time(pid):
    """Of its living threads, ns."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir())


def process(name, experiment):
    """The one of that name that has been told that experiment's path or runs where it lies."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().startswith(name[:15]) and \
                    (str(experiment) in (entry / "cmdline").read_text() or (entry / "cwd").resolve() == experiment.parent):
                return int(entry.name)
        except OSError:
            pass
    raise ProcessLookupError(name)


def status(experiment):
    return {row["item"]: row["value"] for row in json.loads(run([GNOMON, "print", "-status", "--format", "json", experiment], experiment.parent))["rows"]}


def sampler():
    """The process beside the program, 60 frames"""
    rows = []
    for rate, interval in RATES.items():
        for threads, millions in ((1, 6000), (4, 3000)):
            with place() as work:
                experiment = work / "test.1.er"
                command = [GNOMON, "collect", "-p", interval, "-k", "kernel", "-o", experiment, program("fixed_work"), "compute", 60, threads, millions]
                with subprocess.Popen([str(word) for word in command], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as collect:
                    time.sleep(1.3)  # what is done once, and the first larger copies, are not a sample's
                    beside, target = process("gnomon-sampler", experiment), process("fixed_work", experiment)
                    before = cpu_time(beside), cpu_time(target)
                    time.sleep(2)
                    after = cpu_time(beside), cpu_time(target)
                recorded.wait_until_closed(experiment)
                samples = (after[1] - before[1]) / 1e9 * rate
                count = int(status(experiment)["Samples"].split(",")[0].replace(" ", ""))
                rows.append([f"{NAMES[rate]}, {threads} thread{'s' * (threads > 1)}", f"{(after[0] - before[0]) / 1000 / samples:.1f} us",
                             f"{(after[0] - before[0]) / 2e7:.2f} %", f"{(experiment / 'profile').stat().st_size / count:.1f}",
                             f"{size_of(experiment) // 1024} KiB of {count}"])
    table(["", "its CPU time a sample", "of one CPU", "bytes a sample", "experiment on disk, samples"], rows)


PYTHON = """
import ast, json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
text = open(json.__file__).read() + open(re.__file__).read()
for i in range(45):
    tree = ast.parse(text); ast.dump(tree); fib(20)
    json.loads(json.dumps([{str(k): [k, str(k)] for k in range(300)} for _ in range(60)])); re.findall(r"(\\w+)\\s*=\\s*([^\\n]+)", text * 4)
"""
NODE = """
let s = 0;
for (let k = 0; k < 50; k++) {
  const a = [];
  for (let i = 0; i < 200000; i++) a.push({x: (i * 7919) % 200003, y: "s" + i});
  s += JSON.stringify(a).length; a.sort((p, q) => p.x - q.x); s += require("zlib").deflateSync(JSON.stringify(a.slice(0, 20000))).length;
}
"""
RUST = """
use std::collections::HashMap;
fn fib(n: u64) -> u64 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }
fn main() {
    let mut total = 0u64;
    for round in 0..12u64 {
        let mut words: Vec<String> = (0..200_000u64).map(|i| format!("{:016x}", i.wrapping_mul(0x9E3779B97F4A7C15) ^ round)).collect();
        words.sort();
        let mut seen: HashMap<String, u64> = HashMap::new();
        for word in &words { *seen.entry(word[..4].to_string()).or_insert(0) += 1; }
        total += seen.len() as u64 + fib(27);
    }
    println!("{}", total);
}
"""


def whole_programs(work):
    """(name, command) of those that are installed."""
    (work / "work.py").write_text(PYTHON)
    (work / "work.js").write_text(NODE)
    (work / "work.rs").write_text(RUST)
    python = next((path for path in ("/usr/bin/python3.11", "/usr/bin/python3") if os.path.exists(path)), None)
    if python:
        yield "python3", [python, "work.py"]
    if shutil.which("node"):
        yield "node", ["node", "work.js"]
    if shutil.which("xz"):
        (work / "text").write_bytes(pathlib.Path(GNOMON).read_bytes()[:9 << 20])
        yield "xz -6 -T2", ["xz", "-6", "-T2", "-k", "-f", "text"]
    if shutil.which("rustc") and subprocess.run(["rustc", "-O", "work.rs", "-o", "work_rs"], cwd=work, capture_output=True).returncode == 0:
        yield "Rust: sort, hash, fib", ["./work_rs"]
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True).stdout.strip() if shutil.which("g++") else ""
    if os.path.exists(compiler):
        (work / "work.cpp").write_text("#include <regex>\n#include <string>\nbool f(const std::string& s) { return std::regex_match(s, std::regex(\"a*(b|c)+\")); }\n")
        run(["g++", "-std=c++20", "-E", "work.cpp", "-o", "work.ii"], work)
        yield "cc1plus -O2, &lt;regex&gt;", [compiler, "-quiet", "-fpreprocessed", "-std=c++20", "-O2", "-o", "work.s", "work.ii"]


def stacks_of(name, experiment):
    printed = run([GNOMON, "print", "-functions", "--limit", "1", experiment], experiment.parent)
    samples = int(status(experiment)["Samples"].split(",")[0].replace(" ", ""))
    cut = re.search(r"(\d+) of \d+ call stacks \([^)]*\) were cut (.*?):", printed)
    guessed = re.search(r"(\d+) of \d+ call stacks \([^)]*\) have callers that are guessed", printed)
    lost = re.search(r"^Note: (.*lost.*)$", printed, re.M)
    return [name, samples, f"{100 - 100 * (int(cut[1]) if cut else 0) / max(samples, 1):.2f} %", (cut[2] if cut else "") + (f"; {lost[1]}" if lost else ""),
            f"{100 * int(guessed[1]) / samples:.0f} %" if guessed else ""]


def redis(work):
    """redis-server while redis-benchmark asks."""
    experiment, socket = work / "redis.er", work / "socket"
    server = subprocess.Popen([str(word) for word in (GNOMON, "collect", "-p", "1", "-k", "kernel", "-o", experiment, shutil.which("redis-server"), "--port", "0",
                                                      "--unixsocket", socket, "--save", "")], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    limit = time.monotonic() + 20
    while not socket.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    run(["redis-benchmark", "-s", socket, "-q", "-n", 150_000, "-t", "set,get,lpush,lrange_100,zadd"], work)
    run(["redis-cli", "-s", socket, "shutdown", "nosave"], work)
    server.wait(30)
    recorded.wait_until_closed(experiment)
    return stacks_of("redis-server", experiment)


def whole_stacks():
    """Call stacks of whole programs, 1 kHz, with the usual copy of the stack"""
    rows = []
    with place() as work:
        for name, command in whole_programs(work):
            experiment = work / f"{len(rows)}.er"
            run([GNOMON, "collect", "-p", "1", "-k", "kernel", "-o", experiment, *command], work)
            recorded.wait_until_closed(experiment)
            rows.append(stacks_of(name, experiment))
        if shutil.which("redis-server") and shutil.which("redis-benchmark"):
            rows.append(redis(work))
    table(["", "samples", "to the outermost frame", "the rest ends", "a caller was guessed"], rows)
