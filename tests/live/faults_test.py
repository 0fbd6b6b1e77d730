#!/usr/bin/env python3
"""Whatever ends while the kernel is the clock, program, debugger or sampler, at whatever instant: the others go on, nothing stays behind, and reports
tell what is missing. A recording survives its debugger."""
import contextlib
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import lldb_session
import recorded
import skips
import terminal
from attempts import IS_THOROUGH, PATIENCE, need, try_cases, wait_until
from kernel_clock import Lost, lost_records, unless_lost

build = pathlib.Path(sys.argv[1])
GNOMON = str(build / "bin/gnomon")
TARGETS = build / "targets"
STOPPED = r"stop reason = breakpoint.*?\n->.*?\n"  # LLDB may print no prompt afterwards


def named(name):
    """Processes of that name which have not ended."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == name[:15] and (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def kill(name, number=signal.SIGKILL):
    """The only process of that name."""
    wait_until(lambda: named(name), f"no {name}")
    (pid,) = named(name)
    assert pid > 1
    os.kill(pid, number)
    return pid


def nothing_is_left(*programs):
    """The sampler ends by itself."""
    for name in ("gnomon-sampler", "lldb-server", *programs):
        wait_until(lambda: not named(name), f"{name} stays")


def experiments(work):
    return sorted(pathlib.Path(work).glob("*.er"))


def wait_for_samples(work, count):
    """Of the first run."""
    def are_there():
        try:
            return recorded.samples(build, pathlib.Path(work) / "test.1.er") > count
        except (AssertionError, KeyError):  # it has not begun
            return False
    wait_until(are_there, "no samples")


def recorded_to_its_end(experiment, seconds, patience=PATIENCE):
    """All of the program's CPU time is told."""
    assert recorded.wait_until_closed(experiment, patience), "the experiment is not closed"
    table, notes = recorded.functions(build, experiment)
    lost = lost_records(notes)
    if lost != 0 and lost > recorded.samples(build, experiment) / 100:
        raise Lost(notes)
    assert not any(word in note for note in notes for word in ("was gone", "no longer runs", "cover")), notes
    assert abs(table["<Total>"][0] - seconds) < 0.05 * seconds + 0.02, (table["<Total>"], notes)


@contextlib.contextmanager
def typed(work, program, *arguments):
    """A user's session, in which the kernel is the clock and the program has a breakpoint."""
    session = terminal.Terminal(build, work, program, *arguments)
    try:
        session.answer("collector profile source kernel", "")
        session.answer("collector profile timer hi", "")
        session.answer("collector enable", "Enabled: ")
        yield session
    finally:
        session.close()


def debugger_killed(work):
    """The program runs on and is recorded to its end; where it had not begun, it ends, and there is nothing or what can be read."""
    instants = [random.uniform(0, 0.6) for _ in range(25)] if IS_THOROUGH else [0.1]
    for number, instant in enumerate([*instants, None]):
        place = pathlib.Path(work) / f"{number}"
        place.mkdir()
        commands = [f"plugin load {build}/lib/lldb-gnomon.so", "collector profile source kernel", "collector profile timer hi", "collector enable",
                    "process launch --no-stdio"]
        words = [lldb_session.LLDB, "--no-lldbinit", "-b", *(word for command in commands for word in ("-o", command)), "--", TARGETS / "split", "1"]
        with subprocess.Popen([str(word) for word in words], cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as debugger:
            wait_until(lambda: experiments(place), "no experiment")
            if instant is None:  # well into the run
                wait_for_samples(place, 100)
            else:
                time.sleep(instant)
            debugger.kill()
        wait_until(lambda: not named("split"), f"the program stays, {instant}")
        nothing_is_left("lldb-19")
        if instant is None:
            recorded_to_its_end(place / "test.1.er", 1)
        for experiment in experiments(place):
            subprocess.run([GNOMON, "print", "-status", experiment], check=True, capture_output=True, timeout=60)


def sampler_killed_in_lldb(work):
    """What there was up to then can be read, what comes after is missing, which reports say; commands do not wait for it; the next run is as always."""
    with typed(work, TARGETS / "rounds", "3") as session:
        session.answer("breakpoint set -n checkpoint", "Breakpoint 1")
        session.type("process launch --no-stdio")
        session.until(STOPPED)
        session.type("continue")
        session.until(STOPPED)
        kill("gnomon-sampler")
        began = time.monotonic()
        text = session.answer("collector functions", "<Total>")
        assert time.monotonic() - began < 5, text
        assert "computes" in text, text
        session.type("continue")
        session.until(STOPPED)
        text = session.answer("collector functions", "<Total>")
        assert "gnomon-sampler" in text, text
        text = session.answer("collector status", "Samples")
        session.answer("breakpoint delete -f", "")
        session.type("continue")
        session.until("exited with status = 0")
        session.answer("collector functions", "<Total>")
        session.type("process launch --no-stdio")
        session.until("exited with status = 0")
        text = session.answer("collector functions", "<Total>")
        assert "gnomon-sampler" not in text, text
    nothing_is_left("rounds", "lldb-19")


def sampler_killed(work):
    """At any instant: the program does not notice."""
    for number, instant in enumerate([random.uniform(0, 0.5) for _ in range(25)] if IS_THOROUGH else [0.2]):
        place = pathlib.Path(work) / f"{number}"
        place.mkdir()
        with subprocess.Popen([GNOMON, "collect", "-p", "hi", "-k", "kernel", TARGETS / "split", "1"], cwd=place, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
            wait_until(lambda: named("gnomon-sampler") or program.poll() is not None, "no sampler")
            time.sleep(instant)
            for pid in named("gnomon-sampler"):
                os.kill(pid, signal.SIGKILL)
            said, _ = program.communicate(timeout=PATIENCE)
            assert (program.returncode, said) == (0, "done\n"), (instant, program.returncode, said)
        nothing_is_left("split")
        for experiment in experiments(place):
            done = subprocess.run([GNOMON, "print", "-functions", experiment], capture_output=True, text=True, timeout=60)
            whole = re.search(r"^ +(\S+) .*<Total>$", done.stdout, re.M)  # the one that was killed may have been asked only what is possible
            assert "gnomon-sampler" in done.stdout + done.stderr or (whole and abs(float(whole[1]) - 1) < 0.1), (instant, done)


def program_killed(work):
    """LLDB says so, and everything up to then is there."""
    with typed(work, TARGETS / "split", "60") as session:
        session.type("process launch --no-stdio")
        wait_for_samples(work, 300)
        kill("split")
        session.until("exited with status = 9")
        text = session.answer("collector functions --format json", "<Total>")
        assert "was gone" not in text, text
    nothing_is_left("lldb-19")
    assert recorded.samples(build, work / "test.1.er") > 300
    assert recorded.status(build, work / "test.1.er")["State"].startswith("ended"), recorded.status(build, work / "test.1.er")


def interrupted(work):
    """Ctrl-C at LLDB's terminal stops the program, not the sampler: it goes on with it."""
    with typed(work, TARGETS / "split", "60") as session:
        counts = []
        session.type("process launch")
        for _ in range(3):
            before = counts[-1] if counts else 0
            wait_for_samples(work, before + 100)
            session.keys("\x03")
            session.until(r"stop reason = signal SIG(STOP|INT).*" + terminal.PROMPT)
            text = session.answer("collector status", "Samples +\\d+,")
            counts.append(int(re.search(r"Samples +(\d+),", text)[1]))
            session.type("continue")
            session.until("resuming")
        wait_for_samples(work, counts[-1] + 100)  # LLDB loses a Ctrl-C that comes before it is ready for it
        session.keys("\x03")
        session.until(r"stop reason = signal SIG(STOP|INT).*" + terminal.PROMPT)
        text = session.answer("collector functions", "<Total>")
        assert "gnomon-sampler" not in text, text
        session.type("process kill")
        session.until("exited with status = 9")
        nothing_is_left("split")
    nothing_is_left("lldb-19")
    assert recorded.status(build, work / "test.1.er")["State"].startswith("ended")


def detached(work):
    """The recording goes on without LLDB."""
    commands = ["collector profile source kernel", "collector profile timer hi", "collector enable", "breakpoint set -n checkpoint",
                "process launch --no-stdio", "breakpoint delete -f", "detach"]
    lldb_session.run(build, TARGETS / "rounds", commands, work, arguments=["6"])
    wait_until(lambda: not named("rounds"), "the program stays")
    nothing_is_left("lldb-19")
    assert recorded.wait_until_closed(work / "test.1.er")
    table, notes = recorded.functions(build, work / "test.1.er")
    assert not any(word in note for note in notes for word in ("was gone", "no longer runs", "cover")), notes
    assert sum(table[name][1] for name in table if name.startswith("work::computes")) > 0.5, table


def many_runs(work):
    """Of one session: LLDB holds no more descriptors and no more threads than after a few."""
    count = "script import os; print('has', len(os.listdir('/proc/self/fd')), len(os.listdir('/proc/self/task')))"
    runs = 50 if IS_THOROUGH else 10
    commands = ["collector profile source kernel", "collector enable", *["process launch --no-stdio"] * 5, count,
                *["process launch --no-stdio"] * (runs - 5), count]
    answers, errors = lldb_session.run(build, TARGETS / "counts", commands, work, arguments=["1"], timeout=200)
    early, late = [tuple(map(int, re.search(r"has (\d+) (\d+)", text).groups())) for command, text in answers if command == count]
    assert late[0] <= early[0] + 1 and late[1] <= early[1] + 8, (early, late)  # LLDB keeps some threads for later
    assert len(experiments(work)) == runs, experiments(work)
    nothing_is_left("lldb-19")
    for experiment in experiments(work):
        assert recorded.wait_until_closed(experiment), experiment


def disk_full(work):
    """The program runs as without us; what could not be written is counted, with the reason."""
    need(skips.runs("unshare", "--mount", "true"), skips.NO_MOUNT)
    small = work / "small"
    small.mkdir()
    look = '"$0" print -functions --limit 3 test.1.er; "$0" print -header test.1.er'
    script = f'mount -t tmpfs -o size=192k none "$1" && cd "$1" && "$0" collect -p 100u -k kernel "$2" 1; echo "ended $?"; while grep -qsx gnomon-sampler /proc/[0-9]*/comm; do sleep 0.05; done; {look}'
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, GNOMON, small, TARGETS / "split"], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    assert "done\nended 0\n" in done.stdout, done
    assert "the file system of the experiment is full" in done.stdout and re.search(r"Note: clock samples cover 0\.\d+ s", done.stdout), done
    nothing_is_left("split")


try_cases(*map(unless_lost, (debugger_killed, sampler_killed_in_lldb, sampler_killed, program_killed, interrupted, detached, many_runs, disk_full)))
