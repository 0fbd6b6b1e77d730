#!/usr/bin/env python3
"""enable, disable, pause and resume in each state of process and recording, the settings, and requests while the process runs."""
import json
import pathlib
import re
import resource
import subprocess
import sys

import lldb_session
import recorded
from terminal import PROMPT, Terminal

build = pathlib.Path(sys.argv[1])
ROUNDS = build / "targets/rounds"  # computes in rounds, each begun by checkpoint
SIGPROF = 1 << 26  # in SigCgt
OFF, NOT_RECORDED, SILENT, ANY = "error: the collector is not enabled", "error: no process is being recorded", "", None


def check(answers, expected):
    """expected: the commands and how each answer begins. "": nothing is printed. None: whatever."""
    assert [command for command, _ in answers] == [command for command, _ in expected], answers
    for (command, said), (_, begin) in zip(answers, expected):
        said = re.sub(r"Process \d+ exited .*\n", "", said)  # LLDB says so when it learns of it
        assert begin is None or (said.startswith(begin) if begin else said == ""), (command, said, begin)


def each_state(work):
    """No process; a process without an experiment; recorded; paused; with an experiment that has ended."""
    expected = [("collector disable", OFF), ("collector pause", NOT_RECORDED), ("collector resume", NOT_RECORDED),
                ("breakpoint set --name checkpoint", "Breakpoint 1"), ("run", "Process "),
                # a process without an experiment
                ("collector disable", OFF), ("collector pause", NOT_RECORDED), ("collector resume", NOT_RECORDED),
                ("collector enable", "Recording process "),
                # recorded
                ("collector enable", "Already enabled"), ("collector resume", SILENT), ("collector pause", "Paused: "),
                # paused
                ("collector enable", "Already enabled"), ("collector pause", SILENT), ("continue", "Process "), ("collector resume", "Resumed: "),
                # twice: a tick that comes while LLDB steps off a breakpoint makes LLDB stop at the same place again
                ("continue", "Process "), ("continue", "Process "), ("collector pause", "Paused: "), ("collector disable", "Disabled: process "),
                # ended
                ("collector disable", OFF), ("collector pause", NOT_RECORDED), ("collector resume", NOT_RECORDED),
                ("collector enable", "Recording process "), ("collector disable", "Disabled: process "), ("kill", ANY),
                # no process, and enabled for later runs
                ("collector enable", "Enabled: "), ("collector enable", "Already enabled"), ("collector pause", "Paused: every run"),
                # paused before it runs
                ("run", "Process "), ("collector resume", "Resumed: events"), ("kill", ANY), ("collector resume", "Resumed: every run"),
                ("collector disable", "Disabled: later runs")]
    answers = lldb_session.run_all(build, ROUNDS, [command for command, _ in expected], work)
    check(answers, expected)
    assert sorted(path.name for path in pathlib.Path(work).glob("*.er")) == ["test.1.er", "test.2.er", "test.3.er"]
    later = pathlib.Path(work) / "test.3.er"
    logged, sampled = ([json.loads(line)["event"] for line in (later / name).read_text().splitlines()] for name in ("log.jsonl", "overview"))
    assert "pause" in logged and "resume" in sampled and "pause" not in sampled, (logged, sampled)
    overview = [json.loads(line) for line in (pathlib.Path(work) / "test.1.er/overview").read_text().splitlines()]
    asked = [line for line in overview if line["event"] in ("pause", "resume")]
    assert [line["event"] for line in asked] == ["pause", "resume", "pause"], overview
    printed = subprocess.run([build / "bin/gnomon", "print", "--format", "json", "-dump", "clock", f"{work}/test.1.er"], capture_output=True, text=True,
                             check=True, timeout=30)
    events = json.loads(printed.stdout)
    start = next(line for line in overview if line["event"] == "start")["time"]
    first, second, third = ((line["time"] - start) / 1e9 for line in asked)
    times = [row["time"] for row in events["rows"] if row["rest"] == 0]
    assert len(times) > 3 and all(second - 0.01 <= time <= third for time in times), (first, second, third, times, answers)
    assert any("in which the recording was paused" in note for note in events["notes"]), events["notes"]


def settings(work):
    """What is set says so, stands in `show`, is what the next run is recorded with, and cannot be changed meanwhile."""
    work = pathlib.Path(work).resolve()
    (work / "there").mkdir()
    answers = lldb_session.run_all(build, ROUNDS, [
        "collector profile off", "collector profile on", "collector profile timer hi", "collector profile on", "collector profile timer 1500u",
        "collector sample manual", "collector sample periodic", "collector sample period 0.5", "collector limit 5", "collector duration 1m-2m",
        "collector duration none", "collector store directory there", "collector store filename some.3.er", "collector store group all.erg",
        "collector enable", "collector profile timer 2m", "collector show", "breakpoint set --name checkpoint", "run", "collector profile timer 3m",
        "collector show profile", "collector status", "collector disable", "kill", "collector store experiment one.er", "collector enable", "run", "kill",
        "run", "collector status"], work)
    said = [output for _, output in answers]
    assert said[:14] == ["profile: off\n", "profile: 10.007 ms\n", "profile: 0.997 ms\n", "profile: 0.997 ms\n", "profile: 1.5 ms\n",
                         "sample period: off\n", "sample period: 1 s\n", "sample period: 0.5 s\n", "limit: 5 MB\n", "duration: 60-120 s\n",
                         "duration: unlimited\n", f"store directory: {work}/there\n", "store experiment: some.3.er\n", "store group: all.erg\n"], said
    assert said[14] == f"Enabled: every run from now on writes an experiment, {work}/there/some.N.er from 3 on.\n", said[14]
    shown = {line.split("  ")[0]: line.split("  ", 1)[1].strip().split("  ")[0] for line in said[16].splitlines()}
    assert shown["profile"] == "2 ms" and shown["limit"] == "5 MB" and shown["store group"] == "all.erg", said[16]
    assert said[19].startswith("error: process ") and "is being recorded with the settings that it began with" in said[19], said[19]
    assert re.match(r"profile +2 ms ", said[20]), said[20]
    assert f"{work}/there/some.3.er\n" in said[21] and "every 2.000 ms" in said[21], said[21]
    assert f"{work}/there/one.1.er\n" in said[-1], answers[22:]  # the name itself is that of the run before
    assert (work / "there/all.erg").read_text().splitlines() == ["#analyzer experiment group", "some.3.er", "one.er", "one.1.er"]


def caught_after(work, commands, prepare=None):
    """What LLDB said, and whether the program still had a handler of SIGPROF at its end."""
    answers = lldb_session.run_all(build, ROUNDS, ["breakpoint set --name checkpoint", *commands, "breakpoint delete 1", "continue"], work, ("3", "print"),
                                   prepare=prepare)
    mask = int(answers[-1][1].split("SigCgt:", 1)[1].split()[0], 16)
    return dict(answers), bool(mask & SIGPROF)


# A tick that comes while a thread leaves a breakpoint has it stop there once more (docs/troubleshooting.md).
TO_THE_NEXT_ROUND = ["breakpoint modify --condition 'round == 1' 1", "continue"]


def over_already(work):
    """A recording that failed, or whose time was over, gives the process back when it is disabled."""
    said, caught = caught_after(work, ["collector profile source signal", "collector profile timer 100u", "collector enable", "run", *TO_THE_NEXT_ROUND, "collector status", "collector disable"],
                                lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40 << 10, 40 << 10)))
    assert "the program's file size limit was reached" in said["collector status"], said
    assert "was over already" in said["collector disable"] and not caught, (said, caught)
    said, caught = caught_after(work, ["collector profile source signal", "collector duration 10ms", "collector enable", "run", *TO_THE_NEXT_ROUND, "collector status", "collector disable"])
    assert "ended; the program runs on" in said["collector status"], said
    assert "was over already" in said["collector disable"] and not caught, (said, caught)
    said, caught = caught_after(work, ["collector profile source signal", "collector enable", "run"])
    assert caught  # or the assertions above could not fail


def while_it_sleeps(work):
    """Requests reach a recording whose program does not run, nor stands at a stop."""
    session = Terminal(build, work, "/bin/sleep", "60")
    try:
        for line, said in [("collector enable", "Enabled"), ("process launch --no-stdio", "launched"), ("collector pause", "Paused: "),
                           ("collector sample record first", "Sample first recorded"), ("collector resume", "Resumed: "),
                           ("collector sample record second", "Sample second recorded"), ("collector disable", "Disabled: process ")]:
            session.type(line)
            session.until(said + r".*\n.*" + PROMPT)
            while line.startswith("process") and not re.search("State +recording", session.answer("collector status", "status\n[^\n]")):
                pass
        lines = [json.loads(line) for line in (pathlib.Path(work) / "test.1.er/overview").read_text().splitlines()]
        kept = [(line["event"], line.get("label", "")) for line in lines if line["event"] not in ("start", "baseline", "periodic")]
        assert kept == [("pause", ""), ("manual", "first"), ("resume", ""), ("manual", "second"), ("end", "")], lines
    finally:
        session.close()


HANDLING = "cannot record process \\d+: LLDB is still handling the stop of process \\d+, and cannot let it run meanwhile; .*"


def in_a_stop(work):
    """As a breakpoint's command: refused in a sentence, and LLDB goes on; `disable` of a launched recording is only asked for, and comes."""
    answers = lldb_session.run_all(build, ROUNDS, ["breakpoint set --name checkpoint", "breakpoint command add -o 'collector enable' 1", "run",
                                                   "breakpoint command delete 1", "collector enable", "script 0"], work)
    # What a breakpoint's commands say stands between.
    assert re.search("error: .*" + HANDLING, answers[3][1]) and answers[-1][1].startswith("Recording process "), answers
    answers = lldb_session.run_all(build, ROUNDS, ["collector enable", "breakpoint set --name checkpoint", "run", "breakpoint command add -o 'collector disable' 1",
                                                   "continue", "collector status", "script 0"], work)
    assert "Disabled: process " in answers[5][1] and "ended; the program runs on" in answers[-1][1], answers
    session = Terminal(build, work, ROUNDS)
    try:
        for line, said in [("breakpoint set --name checkpoint", "Breakpoint 1"), ("breakpoint command add -o 'collector enable' 1", ""),
                           ("process launch --no-stdio", HANDLING + "stop reason = breakpoint"), ("script print('go'+'es on')", "goes on")]:
            session.type(line)
            session.until(said)  # LLDB may print no prompt after a stop
    finally:
        session.close()


def two_targets(work):
    """Each keeps its own environment, whichever is selected."""
    answers = lldb_session.run_all(build, ROUNDS, [
        "settings set target.env-vars LD_PRELOAD=libm.so.6", "collector enable", f"target create {build}/targets/demo", "collector disable",
        "target select 0", "settings show target.env-vars", "collector enable", "settings set target.env-vars LD_PRELOAD=libdl.so.2",
        "collector disable", "settings show target.env-vars"], work)
    assert re.sub(r"\s", "", answers[5][1]) == "target.env-vars(dictionaryofstrings)=LD_PRELOAD=libm.so.6", answers[5]
    assert re.sub(r"\s", "", answers[9][1]) == "target.env-vars(dictionaryofstrings)=LD_PRELOAD=libdl.so.2", answers[9]


def main():
    for case in (in_a_stop, two_targets, each_state, settings, over_already, while_it_sleeps):
        with recorded.directory() as work:
            case(work)
            print(case.__name__, "ok", flush=True)


main()
