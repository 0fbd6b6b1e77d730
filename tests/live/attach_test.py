#!/usr/bin/env python3
"""`collector enable` in a process that LLDB has attached to while it waits: it records, and the program does not notice."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading

import attempts
import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
RECORDING = (r"Recording process %d to (.*): 2 threads, by .*?\. It was stopped for \d+ ms\.\n"
             r"Every later run writes one, too: .*/test\.N\.er\.\n`detach` leaves this recording going on; `collector disable` ends it\.\n$")


def session(work, kind, commands, **more):
    """Attaches to a program that waits. ([(command, output)], its exit status, what it printed, its number). A stop by LLDB, without the collector,
    breaks some waits: where LLDB gave up attaching, the program may have failed. It waits for two seconds, in which LLDB may not have come to it."""
    for _ in range(3):
        *found, errors = attempt(work, kind, commands, **more)
        if not lldb_session.gave_up(errors) and f"process {found[3]} ended meanwhile" not in errors:
            break
        for left in pathlib.Path(work).glob("*.er"):
            shutil.rmtree(left)
    if errors:
        print(f"{kind}: {errors.strip()}", flush=True)
    return found


def attempt(work, kind, commands, seconds=1, **more):
    """The same, and LLDB's errors. It computes for some seconds only: each attempt at it has one of its own."""
    program = subprocess.Popen([build / "targets/waits", kind, str(seconds)], cwd=work, stdout=subprocess.PIPE, text=True,
                               stdin=subprocess.DEVNULL)
    try:
        pid = int(program.stdout.readline().split()[0])
        assert pid > 0
        answers, errors = lldb_session.run(build, None, [f"process attach -p {pid}", *commands], work, check=False, tries=1, **more)
        said = program.stdout.read()
        return answers[2:], program.wait(60), said, pid, errors
    finally:
        if program.poll() is None and program.pid > 0:
            program.kill()


def has_come_before():
    """Programs here wait and compute for seconds only. The first time a machine may take as long to read LLDB and the collector from its disk."""
    with recorded.directory() as work, attempts.started("sleep", "100", cwd=work) as program:
        lldb_session.run(build, None, [f"process attach -p {program.pid}", "collector enable"], work, check=False)


def experiments(work):
    return sorted(path.name for path in pathlib.Path(work).iterdir())


def computed(build_dir, experiment):
    return sum(seconds[0] for name, seconds in recorded.functions(build_dir, experiment)[0].items() if "part(" in name)


def waits(work):
    for kind in ("nanosleep", "semop"):
        shutil.rmtree(f"{work}/test.1.er", ignore_errors=True)
        answers, status, said, pid = session(work, kind, ["collector enable", "continue", "collector functions"])
        enabled = re.match(RECORDING % pid, dict(answers).get("collector enable", ""))
        assert enabled and enabled.group(1) == f"{work}/test.1.er", (kind, status, said, answers)
        assert (status, said) == (0, "right\n"), (kind, status, said, answers)
        rows = lldb_session.rows(answers[2][1])
        assert 0.05 < rows["(anonymous namespace)::part(unsigned long)"][0] < 2.1, (kind, rows)
        assert rows["clone3"][3] > 90, (kind, rows)  # whole stacks


def view(work):
    """At a breakpoint: nothing that the user sees has moved, and the other thread's wait goes on."""
    looks = ["thread list", "frame info", "breakpoint list -b", "thread backtrace", "register read rip rsp rax"]
    commands = ["breakpoint set -n part", "continue", "frame select 1", *looks, "collector enable", *looks,
                "breakpoint delete -f", "continue"]
    answers, status, said, pid = session(work, "poll", commands)
    before, after = answers[3:3 + len(looks)], answers[4 + len(looks):4 + 2 * len(looks)]
    # The stop shows in the stop reasons of the other threads.
    plain = [re.sub(r"(thread #1:.*), stop reason = .*", r"\1", output) for _, output in after]
    before = [re.sub(r"(thread #1:.*), stop reason = .*", r"\1", output) for _, output in before]
    before[0], plain[0] = (re.sub(r"0x[0-9a-f]+ libc", "libc", output) for output in (before[0], plain[0]))
    # Once in hundreds of times LLDB forgets why a thread has stopped that has not run since; its breakpoint's hits show that it has not.
    if plain[0] != before[0]:
        print("LLDB has forgotten the stop reason:", plain[0])
        before, plain = ([output.replace(", stop reason = breakpoint 1.1", "") for output in side] for side in (before, plain))
    assert plain == before, (before, plain)
    assert re.match(RECORDING % pid, answers[3 + len(looks)][1]) and (status, said) == (0, "right\n"), (answers, status, said)


def again(work):
    """Disabled and enabled anew: two experiments of one process; the time between is in neither."""
    stop = ["breakpoint set -n part -i 50", "continue", "breakpoint delete -f"]
    commands = ["collector enable", *stop, "collector disable", "collector status", *stop, "collector enable", "continue"]
    answers, status, said, pid = session(work, "read", commands)
    said_of = dict(answers)
    assert said_of["collector disable"] == f"Disabled: process {pid} runs on without being recorded.\n", answers
    assert re.search(r"^State +ended; the program runs on$", said_of["collector status"], re.M), answers
    assert (status, said) == (0, "right\n") and experiments(work) == ["test.1.er", "test.2.er"], (status, said, answers)
    for name in experiments(work):
        log = [json.loads(line)["event"] for line in (pathlib.Path(work) / name / "log.jsonl").read_text().splitlines()]
        assert [event for event in log if event != "stop"] == ["bind", "attach", "end"], (pathlib.Path(work) / name / "log.jsonl").read_text()
        assert 0.02 < computed(build, f"{work}/{name}") < 0.9, name


def signalled(work):
    """At a signal, which is delivered once afterwards; at a crash it refuses, and the program ends by that."""
    answers, status, said, pid = session(work, "caught", ["continue"], on_crash=["collector enable", "continue"])
    said_of = dict(answers)
    assert "collector enable" in said_of, answers
    recording = (RECORDING % pid).replace("2 threads", "[23] threads")  # the one that computes may have ended
    assert re.match(recording, said_of["collector enable"]) and (status, said) == (0, "right\n"), (answers, status, said)
    answers, status, said, pid = session(work, "crash", ["continue"], on_crash=["collector enable", "continue"])
    assert status == -signal.SIGSEGV and experiments(work) == ["test.1.er"], (answers, status)


def detached(work):
    """The process runs on, and so does the recording."""
    answers, status, said, pid = session(work, "accept", ["collector enable", "detach"])
    assert (status, said) == (0, "right\n"), (status, said, answers)
    assert recorded.status(build, f"{work}/test.1.er")["State"] == "ended"
    assert 0.1 < computed(build, f"{work}/test.1.er") < 2.1


@contextlib.contextmanager
def waiting(work, **environment):
    """A program that was started without LLDB, and what it says."""
    with (open(f"{work}/said", "w") as said,
          subprocess.Popen([build / "targets/waits", "poll", "2"], cwd=work, stdout=said, env=os.environ | environment) as program):
        try:
            assert program.pid > 0
            yield program, pathlib.Path(said.name)
        finally:
            if program.poll() is None:
                program.kill()


def by_number(work):
    """`collector attach`: the collector first, LLDB after it."""
    with waiting(work) as (program, said):
        commands = [f"collector attach {program.pid}", "continue", "collector functions"]
        answers, _ = lldb_session.run(build, None, commands, work)
        status = program.wait(60)
    text = answers[1][1]
    assert re.match(rf"Recording process {program.pid} to {work}/test\.1\.er: 2 threads, .*\. One thread at a time was stopped, for \d+\.\d ms in all\.\n"
                    rf"Process {program.pid} stopped\n", text) and "Executable module set" in text, text
    assert (status, said.read_text().splitlines()[-1]) == (0, "right"), (status, answers)
    assert 0.1 < lldb_session.rows(answers[3][1])["(anonymous namespace)::part(unsigned long)"][0] < 3.1, answers


def by_number_refused(work):
    """LLDB holds one, or may have none."""
    with waiting(work) as (program, _):
        answers, errors = lldb_session.run(build, None, [f"process attach -p {program.pid}", "collector attach 1"], work, check=False)
        assert f"LLDB has process {program.pid} already; `collector enable` records that" in errors, (answers, errors)


def by_name(work):
    """`collector attach NAME`: of the only process that is called so, or with --waitfor of the next one."""
    name = "gnomon-deep"
    shutil.copy(build / "targets/deep", f"{work}/{name}")
    started, begun = [], threading.Event()

    def start():
        started.append(subprocess.Popen([f"{work}/{name}", "8", "2"], cwd=work))

    def start_when_awaited():
        while not begun.wait(0.5):
            if os.path.exists(f"{work}/awaited") and len(started) < 20:
                start()

    awaiting = threading.Thread(target=start_when_awaited)
    recorded_one = rf"Recording process (\d+) to {work}/test\.\d\.er: "
    try:
        start()
        answers, _ = lldb_session.run(build, None, [f"collector attach {name}", "process status"], work)
        assert int(re.match(recorded_one, answers[1][1])[1]) == started[0].pid, answers
        end(started)
        refused, errors = lldb_session.run(build, None, [f"collector attach {name}"], work, check=False)
        assert f"no process is called {name}; `ps` lists them; --waitfor waits for one" in errors, (refused, errors)
        awaiting.start()
        answers, _ = lldb_session.run(build, None, ["script open('awaited', 'w').close()", f"collector attach {name} --waitfor", "process status"], work)
        assert int(re.match(recorded_one, answers[2][1])[1]) in [one.pid for one in started], answers
    finally:
        begun.set()
        if awaiting.ident:
            awaiting.join()
        end(started)


def end(programs):
    for program in programs:
        if program.poll() is None and program.pid > 0:
            program.kill()
        program.wait(60)
    programs.clear()


def java(work):
    """What a recording of a Java VM does not show, and the signal that it lives by, unless LLDB lets that pass."""
    shutil.copy(build / "targets/libplugin_a.so", f"{work}/libjvm.so")
    methods = "Java methods are shown as <Unknown>, only native functions by name; async-profiler names both.\n"
    stops = "LLDB stops at every SIGSEGV, which the Java VM uses internally: `process handle SIGSEGV -s false -n false` lets them pass.\n"
    with waiting(work, LD_PRELOAD=f"{work}/libjvm.so") as (program, _):
        commands = [f"process attach -p {program.pid}", "collector enable", "collector disable",
                    "process handle SIGSEGV -s false -n false", "collector enable"]
        answers, _ = lldb_session.run(build, None, commands, work)
    first, second = [text for command, text in answers if command == "collector enable"]
    assert methods + stops in first, answers
    assert methods in second and stops not in second, answers


has_come_before()
for case in (waits, view, again, signalled, detached, by_number, by_number_refused, by_name, java):
    with recorded.directory() as work:
        case(work)
        print(f"{case.__name__}: ok", flush=True)
