#!/usr/bin/env python3
"""gnomon-sampler: samples of a launched and of an attached process. Nobody waits for it, it goes when its recording goes, and its death harms nothing."""
import concurrent.futures
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import attempts
import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
PATIENCE = 20  # s

# Works a little, as other tests measure CPU time meanwhile, for so many seconds; then says whether it has a child to wait for, and what it
# has used.
PROGRAM = """
import os, resource, sys, time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    sum(range(100000))
    time.sleep(0.02)
try: print("child", os.waitpid(-1, os.WNOHANG))
except ChildProcessError: print("no child")
usage = resource.getrusage(resource.RUSAGE_SELF)
print("used", usage.ru_utime + usage.ru_stime, flush=True)
if len(sys.argv) > 2: os.execv(sys.argv[2], sys.argv[2:])
"""


def program_in(work):
    """Its file: LLDB takes no argument of several lines."""
    path = pathlib.Path(work) / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def sampler_of(experiment):
    """Its number; 0: there is none yet."""
    return struct.unpack_from("<I", (experiment / "control").read_bytes(), 152)[0]


def runs(pid):
    """Nobody may wait for it here, so it may stay as a zombie."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):  # it may end between open and read
        return False


def lines(experiment):
    """In the order of time: two processes write them."""
    return sorted((json.loads(line) for line in (experiment / "overview").read_text().splitlines()), key=lambda line: line["time"])


def events(experiment):
    return [line["event"] for line in lines(experiment)]


def printed(experiment, report):
    done = subprocess.run([build / "bin/gnomon", "print", f"-{report}", "--format", "json", experiment], capture_output=True, text=True,
                          timeout=60, check=True)
    return json.loads(done.stdout)


def started(work, seconds, *then):
    return subprocess.Popen([sys.executable, program_in(work), str(seconds), *then], cwd=work, stdout=subprocess.PIPE, text=True)


def collecting(program, work, *more):
    """The process `gnomon collect`, once it records, and the experiment."""
    gnomon = subprocess.Popen([build / "bin/gnomon", "collect", "-P", str(program.pid), *more], cwd=work, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    line = gnomon.stdout.readline()
    assert line.startswith("Recording process "), line + gnomon.stdout.read()
    return gnomon, pathlib.Path(line.split(" to ", 1)[1].split(": ", 1)[0])


def launched(work):
    """Start, one each second, end; the figures are those the program has of itself; it has no child."""
    answers, errors = lldb_session.run(build, sys.executable, ["collector enable", "run", "collector samples", "collector statistics"], work,
                                       arguments=[program_in(work), "2.5"])
    text = "".join(output for _, output in answers)
    assert "no child" in text and "warning" not in errors, (text, errors)
    experiment = pathlib.Path(work) / "test.1.er"
    seen = events(experiment)
    # The program takes the first sample and the sampler the baseline, either first.
    assert sorted(seen[:2]) == ["baseline", "start"] and seen[2:4] == ["periodic", "periodic"] and seen[-1] == "end" and len(seen) < 8, (lines(experiment), text, errors)
    threads = [sample["of_threads"] for sample in lines(experiment) if sample["event"] == "periodic"]
    assert all(len(each) == 1 and each[0]["cpu"] > 1e7 for each in threads), threads
    used = float(text.split("used ", 1)[1].split()[0])
    last = lines(experiment)[-1]
    rest = 0.1 * used + 0.05  # the program ends after it has looked
    assert abs(last["cpu"] / 1e9 - used) < rest and abs((last["user"] + last["system"]) / 1e9 - used) < rest, (used, last)
    rows = {row["item"]: row for row in printed(experiment, "statistics")["rows"]}
    assert rows["CPU time"]["process"] > 0.05 and abs(rows["CPU time"]["process"] - rows["CPU time"]["total"]) < 0.1, rows
    assert rows["Threads"]["process"] == 1 and rows["Resident memory"]["process"] > 1e6, rows
    attempts.wait_until(lambda: sampler_of(experiment) == 0, "it stays after its recording")


def open_files(pid):
    links = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{number}"))
        except (FileNotFoundError, ProcessLookupError):  # it may end between open and read
            pass
    return sorted(links)


def family(experiment):
    """It is nobody's child whom it knows, and has a session and no terminal of its own."""
    attempts.wait_until(lambda: sampler_of(experiment) != 0, "no sampler")
    pid = sampler_of(experiment)
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    assert int(fields[1]) == 1 and int(fields[3]) != os.getsid(0) and int(fields[4]) == 0, fields
    # What it reads of /proc it has open for a moment.
    attempts.wait_until(lambda: [name for name in open_files(pid) if name != "anon_inode:[perf_event]"] ==
                        ["/dev/null"] * 3 + ["anon_inode:[eventfd]", "anon_inode:[pidfd]"], f"open: {open_files(pid)}")
    return pid


def attached(work):
    """A recording that is told to end has its last sample at that moment. The sampler goes with it, the program runs on."""
    with started(work, 3) as program:
        gnomon, experiment = collecting(program, work, "-t", "1s")
        pid = family(experiment)
        said, _ = gnomon.communicate(timeout=PATIENCE)
        assert gnomon.returncode == 0, said
        assert "start" in events(experiment)[:2] and events(experiment)[-1] == "end", events(experiment)
        attempts.wait_until(lambda: not runs(pid), "it stays after its recording")
        span = lines(experiment)[-1]["time"] - lines(experiment)[0]["time"]
        assert 0.9e9 < span < 2e9, span
        assert "no child" in program.communicate(timeout=PATIENCE)[0] and program.returncode == 0


def killed(work):
    """The program is killed: it goes. It is killed: the recording goes on to its end, and reports say since when samples are missing."""
    with started(work, 60) as victim, started(work, 5.5) as other:
        first, first_experiment = collecting(victim, work)
        second, second_experiment = collecting(other, work, "-k", "signal")
        pids = family(first_experiment), family(second_experiment)
        attempts.wait_until(lambda: "periodic" in events(second_experiment), "no sample")
        os.kill(pids[1], signal.SIGKILL)
        victim.kill()
        for process in (victim, first):
            process.communicate(timeout=PATIENCE)
        attempts.wait_until(lambda: not runs(pids[0]), "it stays after its program")
        assert "no child" in other.communicate(timeout=PATIENCE)[0] and other.returncode == 0
        second.communicate(timeout=PATIENCE)
        assert second.returncode == 0
    notes = printed(second_experiment, "samples")["notes"]
    assert len(notes) == 1 and notes[0].startswith("gnomon-sampler was gone from "), notes
    rows = {row["item"]: row for row in printed(second_experiment, "statistics")["rows"]}
    assert abs(rows["CPU time"]["process"] - rows["CPU time"]["total"]) < 0.2 and rows["CPU time"]["process"] > 0.05, rows


def executes(work):
    """The last sample is from before the other program, and nobody watches that."""
    with started(work, 0.5, "/bin/sleep", "30") as program:
        gnomon, experiment = collecting(program, work)
        pid = family(experiment)
        attempts.wait_until(lambda: not runs(pid), "it watches another program")
        program.kill()
        gnomon.communicate(timeout=PATIENCE)
        assert events(experiment)[-1] == "exec", events(experiment)


def without_lldb(work):
    """LLDB is killed: the program and the sampler go on. The program loads nothing any more: LLDB's breakpoint in the loader stays in it."""
    script = ["-o", f"plugin load {build}/lib/lldb-gnomon.so", "-o", "collector enable", "-o", "run"]
    debugger = subprocess.Popen([lldb_session.LLDB, "--no-lldbinit", "-b", *script, "--", build / "targets/split", "2"], cwd=work,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    experiment = pathlib.Path(work) / "test.1.er"
    attempts.wait_until(lambda: (experiment / "overview").exists() and "periodic" in events(experiment), "no sampler")
    pid = sampler_of(experiment)
    debugger.kill()
    debugger.wait()
    attempts.wait_until(lambda: not runs(pid), "it stays after its recording")
    assert events(experiment)[-1] == "end", events(experiment)


def ranks(pid):
    """The nice values of a process and of its session; the latter is None where sessions have none."""
    try:
        words = pathlib.Path(f"/proc/{pid}/autogroup").read_text().split()
    except FileNotFoundError:
        words = []
    return os.getpriority(os.PRIO_PROCESS, pid), int(words[-1]) if words else None


def ranked(place):
    """Neither it nor its session ranks below the program: a program that computes would leave nothing to it."""
    program = started(place, 60)
    try:
        os.setpriority(os.PRIO_PROCESS, program.pid, -5)
    except PermissionError:
        program.kill()
        raise attempts.Skipped(skips.NO_RANK) from None
    gnomon, experiment = collecting(program, place)
    attempts.wait_until(lambda: sampler_of(experiment) != 0, "no sampler")
    own, session = ranks(sampler_of(experiment))
    nice, above = ranks(program.pid)
    assert own == nice == -5, (own, nice)
    assert session is None or session == (nice if above is None else min(0, above)), (session, nice, above)
    program.kill()
    program.wait()
    assert gnomon.wait(PATIENCE) == 0, gnomon.stdout.read()


# They wait more than they work.
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    cases = [case for case in (killed, launched, attached, executes, without_lldb, ranked) if case.__name__ in (sys.argv[2:] or case.__name__)]
    if not all(list(pool.map(attempts.is_tried, cases))):
        sys.exit(skips.STATUS)
