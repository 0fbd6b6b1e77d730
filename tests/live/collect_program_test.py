#!/usr/bin/env python3
"""`gnomon collect PROGRAM`: the program is what it is without, in its number, surroundings, signals and end; what cannot run is said before."""
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys

import attempts
import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
GNOMON = str(build / "bin/gnomon")
PATIENCE = 30  # s


def collect(work, *words, check=True, **more):
    """(exit status, output, errors); an argument of `more` stands for subprocess.run's."""
    more = {"stdin": subprocess.DEVNULL, "capture_output": True, **more}
    done = subprocess.run([GNOMON, "collect", *map(str, words)], cwd=work, text=True, timeout=PATIENCE, **more)
    assert not check or "is not recorded" not in (done.stderr or ""), done
    return done.returncode, done.stdout, done.stderr


def status(work, name="test.1.er"):
    return recorded.status(build, pathlib.Path(work) / name)


def report(work, name, experiment="test.1.er"):
    printed = subprocess.run([GNOMON, "print", f"-{name}", "--format", "json", f"{work}/{experiment}"], capture_output=True, text=True, timeout=PATIENCE)
    assert printed.returncode == 0, printed.stderr
    return json.loads(printed.stdout)


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0]


def catches_ticks(pid):
    caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M).group(1)
    return int(caught, 16) & 1 << (signal.SIGPROF - 1) != 0


def recorded_so_far(work):
    try:
        return status(work, "some.er")
    except AssertionError:
        return {}


def surroundings(work):
    """The same as without: environment, descriptors, limits, signals ignored, blocked and pending, and exit status 3."""
    def prepare():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGCHLD])
        os.kill(os.getpid(), signal.SIGUSR1)
        os.dup2(1, 9)

    def printed(words, **more):
        done = subprocess.run([*words, build / "targets/surroundings", "a word", ""], cwd=work, capture_output=True, text=True, input="one\ntwo\n",
                              timeout=PATIENCE, pass_fds=[9], preexec_fn=prepare, env={**os.environ, "LD_PRELOAD": "libm.so.6", "MORE": "a b"}, **more)
        assert done.returncode == 3, done
        lines = [line for line in done.stdout.splitlines() if not line.startswith("SigQ")]
        caught = int(next(line for line in lines if line.startswith("SigCgt")).split()[1], 16)
        return [line for line in lines if not line.startswith("SigCgt")], caught

    without, caught = printed([])
    assert len(without) > 15, without
    for source, more in (("kernel", 0), ("signal", 1 << (signal.SIGPROF - 1))):
        inside, its = printed([GNOMON, "collect", "-k", source, *(["-o", "some.er", "-t", "5-10", "-S", "off"] if more else [])])
        assert inside == without, set(inside) ^ set(without)
        assert its == caught | more, hex(its)
    assert status(work)["State"] == "ended" and status(work, "some.er")["State"] == "ended"


FAMILY = """
import os, sys
try: child = os.waitpid(-1, os.WNOHANG)
except ChildProcessError: child = None
print(os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0), child, sys.stdin is None, sys.argv[1:], flush=True)
"""


def family(work):
    """The process itself is the program: its number, its parent, no child, also if orphans come to it; also without standard files."""
    def adopt():
        import ctypes
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER

    script = pathlib.Path(work) / "family"
    script.write_text(f"#!/usr/bin/env {os.path.basename(sys.executable)}\n{FAMILY}")
    script.chmod(0o755)
    for prepare in (None, adopt):
        with attempts.started(GNOMON, "collect", script, "-n", "--", "x", cwd=work, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=prepare) as program:
            said, errors = program.communicate(timeout=PATIENCE)
            assert said == f"{program.pid} {os.getpid()} {os.getpgid(0)} {os.getsid(0)} None False ['-n', '--', 'x']\n", said
            assert re.fullmatch(rf"gnomon: recording process {program.pid} to {work}/test\.\d\.er\n", errors), errors
    done = subprocess.run(["sh", "-c", f"exec {GNOMON} collect {script} y 0<&- 2>&-"], cwd=work, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and " None True ['y']" in done.stdout, done
    for number in (1, 2, 3):
        assert status(work, f"test.{number}.er")["State"] == "ended", number
    header = {row["item"]: row["value"] for row in report(work, "header")["rows"]}
    assert header["Executable"].startswith(os.path.realpath(sys.executable)), header


def ends(work):
    """Exit statuses, deaths by signals, and Ctrl-C in a terminal, which the program alone gets."""
    assert collect(work, "sh", "-c", "exit 7")[0] == 7
    assert collect(work, "sh", "-c", "kill -SEGV $$")[0] == -signal.SIGSEGV
    master, slave = pty.openpty()
    with attempts.started(GNOMON, "collect", "-o", "cut.er", "-S", "0.1", sys.executable, "-c", "print('ready')\nwhile True: pass", cwd=work, stdin=slave, stderr=subprocess.PIPE,
                          preexec_fn=lambda: (os.setsid(), os.open(os.ttyname(0), os.O_RDWR))) as program:
        experiment = re.fullmatch(r"gnomon: recording process \d+ to (.*)\n", program.stderr.readline()).group(1)
        assert recorded.wait_for_samples(build, experiment, program), "no samples"
        attempts.wait_until(lambda: report(work, "samples", "cut.er")["rows"][-1]["event"] == "periodic", "gnomon-sampler is not there")
        os.write(master, b"\x03")
        assert program.wait(PATIENCE) == -signal.SIGINT, program.returncode
    os.close(slave)
    os.close(master)
    attempts.wait_until(lambda: report(work, "samples", "cut.er")["rows"][-1]["event"] == "end", "no last sample")
    assert status(work, "cut.er")["State"].startswith("ended; "), status(work, "cut.er")
    assert recorded.functions(build, experiment)[0]["<Total>"][0] > 0.04


# Asks by signals, each time once gnomon-sampler has done what was asked before.
ASKS = """
import os, time
for number, (asked, done) in enumerate([(10, '"resume"'), (12, '"manual"'), (12, '"manual"'), (10, '"pause"')]):
    os.kill(os.getpid(), asked)
    limit = time.monotonic() + 30
    while open("test.1.er/overview").read().count(done) < (2 if number == 2 else 1):
        assert time.monotonic() < limit
        time.sleep(0.01)
"""


def spans(work):
    """Only from here to there, and by signals: what they pause has no events, and each sample that they ask for is there."""
    burns = "import time\nend = time.monotonic() + 1.2\nwhile time.monotonic() < end: pass"
    assert collect(work, "-p", "1m", "-t", "0.4-0.8", "-C", "first try", "-C", "second", "-g", "all.erg", "-d", work, sys.executable, "-c", burns)[0] == 0
    total = recorded.functions(build, f"{work}/all.1.er")[0]["<Total>"][0]
    assert 0.05 < total < 0.5, total
    notes = report(work, "header", "all.1.er")["notes"]
    assert notes[:2] == ["first try", "second"], notes
    assert (pathlib.Path(work) / "all.erg").read_text().endswith("\nall.1.er\n")
    assert collect(work, "-y", "10", "-l", "USR2", "-S", "off", "-o", "test.1.er", sys.executable, "-c", ASKS)[0] == 0
    events = [row["event"] for row in report(work, "samples")["rows"]]
    assert events == ["start", "resume", "manual", "manual", "pause", "end"], events


def attached_before_begin(work):
    """What LLDB answered, and the stops that it made."""
    with attempts.started(GNOMON, "collect", "-x", "-O", "stopped.er", build / "targets/rounds", "2", cwd=work, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as program:
        said = [program.stderr.readline() for _ in range(2)]
        assert f"process {program.pid} is stopped before it begins" in said[1], said
        assert state_of(program.pid) == "T"
        commands = [f"process attach -p {program.pid}", "collector enable", "breakpoint set -n checkpoint", *["continue"] * 3, "collector functions --since stop", "detach"]
        answers, errors = lldb_session.run(build, None, commands, work)
        printed, _ = program.communicate(timeout=PATIENCE)
        assert (program.returncode, printed) == (0, "done\n"), (program.returncode, printed)
    assert status(work, "stopped.er")["State"] == "ended", status(work, "stopped.er")
    return answers, errors, [answer.split("checkpoint(round=")[1][0] for _, answer in answers if "checkpoint(round=" in answer]


def stopped(work):
    """-x: a debugger attaches before the program begins, and finds it recorded."""
    for _ in range(5):
        answers, errors, rounds = attached_before_begin(work)
        # LLDB stops again at a breakpoint if a signal comes while it steps off.
        if len(set(rounds)) == len(rounds):
            break
    assert "work::computes" in dict(answers)["collector functions --since stop"], (answers, errors)


def overwritten(work):
    """-o never, -O an experiment and nothing else, and none that is being written."""
    assert collect(work, "-o", "a.er", "true")[0] == 0
    assert recorded.wait_until_closed(f"{work}/a.er")
    first = status(work, "a.er")
    assert collect(work, "-o", "a.er", "true") == (1, "", f"gnomon: {work}/a.er exists already; choose another name; -O writes over an experiment.\n")
    assert status(work, "a.er") == first
    assert collect(work, "-O", "a.er", "sh", "-c", "exit 4")[0] == 4
    assert status(work, "a.er")["Program"] == "sh -c exit 4"
    (pathlib.Path(work) / "b.er").mkdir()
    (pathlib.Path(work) / "b.er/mine").write_text("")
    assert collect(work, "-O", "b.er", "true") == (1, "", f"gnomon: {work}/b.er is not an experiment, so it is not written over; choose another name.\n")
    with attempts.started(GNOMON, "collect", "-O", "c.er", "cat", cwd=work, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stderr.readline()
        assert collect(work, "-O", "c.er", "true") == (1, "", f"gnomon: {work}/c.er is being recorded; end that first, or choose another name.\n")
        program.communicate(timeout=PATIENCE)
    assert (pathlib.Path(work) / "b.er/mine").exists() and status(work, "c.er")["State"] == "ended"


def with_loader(work, name, loader):
    """A program that names another loader: of the same length, so that the text in the file can be replaced."""
    path = pathlib.Path(work) / name
    old = b"/lib64/ld-linux-x86-64.so.2"
    assert len(loader) == len(old)
    path.write_bytes((build / "targets/rounds").read_bytes().replace(old, loader, 1))
    path.chmod(0o755)


def unfit(work):
    """One sentence, and nothing runs and nothing is written."""
    def file(name, text, mode):
        path = pathlib.Path(work) / name
        path.write_text(text)
        path.chmod(mode)

    file("plain", "echo ran\n", 0o644)
    file("lost", "#!/no/such/interpreter -x\n", 0o755)
    file("lost_env", "#!/usr/bin/env nosuchinterpreter\n", 0o755)
    file("round", f"#!{work}/round\n", 0o755)
    with_loader(work, "no_loader", b"/lib64/ld-linux-x86-64.so.9")
    shutil.copy(build / "targets/surroundings", f"{work}/grown")
    rows = {("nosuchprogram",): "there is no program nosuchprogram in PATH; give its path, such as ./nosuchprogram",
            ("",): "there is no program  in PATH; name a program",
            ("./missing",): "there is no program ./missing; see whether the path is right",
            (work,): f"{work} is a directory; name a program",
            ("./plain",): "./plain may not be executed; see its permissions: `ls -l` shows them",
            ("./lost",): "./lost needs the interpreter /no/such/interpreter, which is missing or may not be executed; see its first line",
            ("./lost_env",): "./lost_env needs an interpreter: there is no program nosuchinterpreter in PATH; see its first line",
            ("./round",): "./round is a script of too many interpreters; see their first lines",
            ("-k", "signal", build / "targets/unfit_static"): f"{build}/targets/unfit_static cannot be recorded: it is linked statically, so no library can be loaded into it; link it "
                                               "without -static; `profile source kernel` (-k kernel) records it from outside",
            ("./no_loader",): f"{work}/no_loader cannot be recorded: its loader /lib64/ld-linux-x86-64.so.9 is missing; install the libraries that it was built for"}
    if os.getuid() == 0 and not os.statvfs(work).f_flag & os.ST_NOSUID:
        os.chown(f"{work}/grown", 65534, 65534)
        os.chmod(f"{work}/grown", 0o755 | stat.S_ISUID)
        rows[("./grown",)] = (f"{work}/grown cannot be recorded: it changes its user, its group or its capabilities, and the loader preloads nothing into such a "
                              "program; start it as the user that it becomes")
    for words, text in rows.items():
        said = collect(work, *words)
        assert said == (1, "", f"gnomon: {text}.\n"), (words, said)
    with open(f"{work}/plain", "a") as busy:
        os.chmod(f"{work}/plain", 0o755)
        busy.write("#")
        busy.flush()
        shutil.copy(build / "targets/rounds", f"{work}/open")
        with open(f"{work}/open", "r+b"):
            assert collect(work, "./open") == (1, "", "gnomon: cannot execute ./open: Text file busy.\n")
    assert not list(pathlib.Path(work).glob("*.er"))
    # A script without a first line runs in the shell, as everywhere.
    assert collect(work, "./plain")[:2] == (0, "ran\n") and status(work)["State"].startswith("ended")
    said = collect(work, "-n", "-p", "hi", "true")
    assert said[0] == 0 and "0.997 ms" in said[1] and "would record true" in said[1] and not os.path.exists(f"{work}/test.2.er"), said


def process(work):
    """-P takes the same settings; a recording that has failed is given back, and its end says why."""
    with attempts.started(build / "targets/waits", "pause", cwd=work, stdin=subprocess.PIPE) as program:
        pid = int(program.stdout.readline().split()[0])
        said = collect(work, "-P", pid, "-t", "0.3", "-o", "some.er", "-C", "by number", "-p", "lo")
        assert said[0] == 0 and re.search(rf"Recorded \d\.\d s; process {pid} runs on\. `gnomon print -functions {work}/some.er` shows it\.\n$", said[1]), said
        header = report(work, "header", "some.er")
        assert header["notes"][0] == "by number" and "100.003 ms" in json.dumps(header), header
        assert collect(work, "-P", pid, "-e") == (1, "", f"gnomon: process {pid} is not being recorded.\n")
        program.kill()
    limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40 << 10, 40 << 10))}
    failed = "the program's file size limit was reached"
    with attempts.started(build / "targets/rounds", "1000", cwd=work, stdin=subprocess.DEVNULL, **limited) as program:
        said = collect(work, "-k", "signal", "-P", program.pid, "-p", "0.1")[1]
        assert f"No events since: {failed}" in said and not catches_ticks(program.pid), said
        program.kill()
    with attempts.started(GNOMON, "collect", "-k", "signal", "-O", "some.er", "-p", "0.1", build / "targets/rounds", "1000", cwd=work, stdin=subprocess.DEVNULL, **limited) as program:
        attempts.wait_until(lambda: recorded_so_far(work).get("State") == "stopped early", "it does not fail")
        assert catches_ticks(program.pid)
        said = collect(work, "-P", program.pid, "-e")[1]
        assert f"of process {program.pid} had failed already" in said and not catches_ticks(program.pid), said
        said = dict(lldb_session.run(build, None, [f"process attach -p {program.pid}", "collector disable", "detach"], work)[0])["collector disable"]
        assert said.startswith(f"Disabled: the recording of process {program.pid} was over already; "), said
        program.kill()


def main():
    attempts.try_cases(surroundings, family, ends, spans, stopped, overwritten, unfit, process)


main()
