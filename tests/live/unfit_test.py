#!/usr/bin/env python3
"""Processes that the collector cannot come into: where they are not to be recorded from outside, why is said in a sentence, by both ways in, and they are as they were."""
import contextlib
import ctypes
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import attempts
import lldb_session
import recorded
import skips
from kernel_clock import everyones

build = pathlib.Path(sys.argv[1])
LIBRARY = build / "lib/libcollector.so"
PATIENCE = 30  # s


@contextlib.contextmanager
def started(*words, ends=0, **more):
    """A program that says a number once it is there; it ends with its input, and by itself."""
    program = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)
    try:
        yield program, int(program.stdout.readline())
        program.stdin.close()
        assert program.wait(PATIENCE) == ends, (words, program.returncode)
    finally:
        if program.poll() is None and program.pid > 0:
            program.kill()
        program.wait(PATIENCE)


def unfit(*words, **more):
    return started(build / "targets/unfit", *words, **more)


def maps(pid):
    return pathlib.Path(f"/proc/{pid}/maps").read_text()


def by_gnomon(work, pid, text, *more, under=(), place=build, **how):
    done = subprocess.run([*under, place / "bin/gnomon", "collect", "-k", "signal", "-t", "1", "-P", str(pid), *more], cwd=work,
                          capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, **how)
    assert done.returncode == 1 and re.fullmatch(f"gnomon: {text}\n", done.stderr), (text, done)


def by_lldb(work, pid, text):
    commands = [f"process attach -p {pid}", "collector profile source signal", "collector enable"]
    answers, errors = lldb_session.run(build, None, commands, work, check=False)
    assert re.search(f"error: cannot record process {pid}: {text}$", errors, re.M), (text, answers, errors)


def is_said(work, pid, text, *ways):
    """The process is the same afterwards."""
    before = maps(pid)
    for way in ways or (by_gnomon, by_lldb):
        way(work, pid, text if way is by_lldb else rf"cannot record process {pid}: {text}")
    assert maps(pid) == before and not list(pathlib.Path(work).glob("*.er"))


def has_state(pid, letter):
    limit = time.monotonic() + PATIENCE
    while pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != letter:
        assert time.monotonic() < limit, letter
        time.sleep(0.01)
    return True


def reads_input(pid):
    limit = time.monotonic() + PATIENCE
    while not pathlib.Path(f"/proc/{pid}/syscall").read_text().startswith("0 0x0 "):
        assert time.monotonic() < limit
        time.sleep(0.01)
    return True


def not_there(work):
    with subprocess.Popen(["/bin/true"]) as ended:
        pid = ended.pid
        assert has_state(pid, "Z")
        by_gnomon(work, pid, rf"cannot record process {pid}: it has ended\.")
        ended.wait(PATIENCE)
        by_gnomon(work, pid, rf"cannot record process {pid}: there is no such process\.")
    by_gnomon(work, os.getpid(), r"there is no directory /nowhere; make it, or choose another\.", "-d", "/nowhere")
    by_gnomon(work, os.getpid(), r"0 is out of range for duration; .*", "-t", "0")


def held(work):
    """Stopped by a shell, held by a debugger."""
    with unfit() as (program, pid):
        program.send_signal(signal.SIGSTOP)
        assert has_state(pid, "T")
        is_said(work, pid, rf"it is stopped; let it run with `kill -CONT {pid}`, or `fg` in its shell\.", by_gnomon)
        assert has_state(pid, "T")
        program.send_signal(signal.SIGCONT)
        libc, PTRACE_SEIZE, PTRACE_DETACH, PTRACE_INTERRUPT = ctypes.CDLL(None, use_errno=True), 0x4206, 17, 0x4207
        assert libc.ptrace(PTRACE_SEIZE, pid, None, None) == 0
        is_said(work, pid, rf"a debugger holds it already \(process {os.getpid()}\); enable the collector there, or detach it\.", by_gnomon)
        assert libc.ptrace(PTRACE_INTERRUPT, pid, None, None) == 0 and os.waitpid(pid, 0)[0] == pid
        assert libc.ptrace(PTRACE_DETACH, pid, None, None) == 0


def others(work):
    """Without the right to debug it."""
    attempts.need(os.geteuid() == 0, skips.NOT_ROOT)
    place = everyones(build, work, "unfit")
    with unfit() as (_, pid):
        by_gnomon(work, pid, rf"cannot record process {pid}: it runs as user 0, you are user 65534; be that user, or root\.", place=place, user=65534)


def not_linked_to_it(work):
    with started(build / "targets/unfit_static") as (_, pid):
        is_said(work, pid, r"it is linked statically, so no library can be loaded into it; link it without -static; `profile source kernel` \(-k kernel\) records it from outside\.")


def watched_for_races(work):
    """Its runtime does not bear every layout of memory, and says so."""
    with subprocess.Popen([build / "targets/waits_thread", "poll"], stdout=subprocess.PIPE, text=True) as program:
        first = program.stdout.readline().split()
        if first and first[0].isdigit():
            by_gnomon(work, program.pid, rf"cannot record process {program.pid}: it is built with -fsanitize=thread, whose .*; build it without that\.")
        else:
            print("ThreadSanitizer does not run here:", *first)


def shares_memory(work):
    with unfit("vfork") as (program, child):
        is_said(work, child, rf"it still shares the memory of process {program.pid}, which made it \(vfork\); repeat once it runs a program of its own\.", by_gnomon)
        is_said(work, program.pid, r"all its threads wait uninterruptibly in the kernel, for a disk or for a child made by vfork; repeat once that is over\.", by_gnomon)


def before_main(work):
    """libc is there, but the loader has not made it ready: a call of its functions would end the program."""
    program = subprocess.Popen([build / "targets/begins"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=0)
    try:
        assert program.pid > 0 and reads_input(program.pid)
        is_said(work, program.pid, r"its libraries are not ready yet; repeat once it runs in its main function\.", by_gnomon)
        program.stdin.write("x")
        assert int(program.stdout.readline()) == program.pid
        done = subprocess.run([build / "bin/gnomon", "collect", "-t", "1", "-P", str(program.pid)], cwd=work, capture_output=True, text=True,
                              timeout=PATIENCE, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done
        program.stdin.close()
        assert (program.stdout.read(), program.wait(PATIENCE)) == ("right\n", 0)
    finally:
        if program.poll() is None and program.pid > 0:
            program.kill()
        program.wait(PATIENCE)


def at_its_start(work):
    """Its loader waits for a library, and no libc is there."""
    pipe = f"{work}/library.so"
    os.mkfifo(pipe)
    with subprocess.Popen([build / "targets/unfit"], env={**os.environ, "LD_PRELOAD": pipe}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as program:
        try:
            assert has_state(program.pid, "S")  # in its open of the pipe; until then its map changes
            is_said(work, program.pid, r"it has no libc, or has not loaded it yet; repeat once it runs in its main function\.")
            os.close(os.open(pipe, os.O_WRONLY))
            assert int(program.stdout.readline()) == program.pid
        finally:
            if program.poll() is None:
                program.kill()


def leaderless(work):
    with unfit("leaderless") as (_, pid):
        assert has_state(pid, "Z")
        by_gnomon(work, pid, rf"cannot record process {pid}: its first thread has ended, and Linux shows little of what runs on; .*")


def inside(work):
    """A collector of another make, or of another build of ours."""
    for source, name, text in (
            (build / "targets/libplugin_a.so", "libgp-collector.so", r"it is recorded by gprofng, which needs SIGPROF, too; .*"),
            (build / "targets/libplugin_a.so", "libcollector.so", r"another collector is in it \(.*/libcollector\.so\); .*"),
            (LIBRARY, "libcollector.so", r"the libcollector\.so in it is not that of this Gnomon \(.*\); .*")):
        shutil.copy(source, f"{work}/{name}")
        with unfit(env={**os.environ, "LD_PRELOAD": f"{work}/{name}"}) as (_, pid):
            is_said(work, pid, text, by_gnomon)


def left_breakpoint(work):
    """A debugger that was killed has left its breakpoint in the loader; the command that is offered takes it away."""
    with unfit() as (_, pid):
        loader = re.search(r"^([0-9a-f]+)-\S+ r--p 00000000 .* (/\S*/ld-linux-x86-64\.so\.2)$", maps(pid), re.M)
        symbols = subprocess.run(["nm", "-D", loader[2]], capture_output=True, text=True, check=True).stdout
        offset = int(re.search(r"^(\S+) T _dl_debug_state", symbols, re.M)[1], 16)
        with open(f"/proc/{pid}/mem", "r+b", 0) as memory:
            memory.seek(int(loader[1], 16) + offset)
            memory.write(b"\xcc")
        text = rf"a debugger that was killed has left a breakpoint in it, at {re.escape(loader[2])}\+0x{offset:x}, and .*; restart it, or .*"
        is_said(work, pid, text, by_gnomon)
        said = subprocess.run([build / "bin/gnomon", "collect", "-t", "1", "-P", str(pid)], cwd=work, capture_output=True, text=True,
                              timeout=PATIENCE, stdin=subprocess.DEVNULL).stderr
        subprocess.run(["bash", "-c", said.split("`")[1]], check=True, timeout=PATIENCE, stderr=subprocess.DEVNULL)
        done = subprocess.run([build / "bin/gnomon", "collect", "-t", "1", "-P", str(pid)], cwd=work, capture_output=True, text=True,
                              timeout=PATIENCE, stdin=subprocess.DEVNULL)
        assert done.returncode == 0 and "Recording process" in done.stdout, done


TIMER_CREATE, MEMFD_CREATE = "222", "319"


def under(action, *numbers):
    """The words that run a program under a seccomp filter."""
    return [build / "targets/filtered", action, ",".join(numbers)]


def recorded_under(words, work):
    """The process under `words` is recorded, by LLDB and by gnomon under the same."""
    for way in (by_gnomon, by_lldb):
        with started(*words, build / "targets/unfit") as (_, pid):
            if way is by_gnomon:
                done = subprocess.run([*words, build / "bin/gnomon", "collect", "-t", "1", "-P", str(pid)], cwd=work, capture_output=True,
                                      text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
                said = done.stdout + done.stderr
            else:
                said = str(lldb_session.run(build, None, [f"process attach -p {pid}", "collector enable", "detach"], work, check=False,
                                            under=words))
            assert f"Recording process {pid} to " in said, (words, said)


def need_filter():
    attempts.need(subprocess.run([*under("errno", MEMFD_CREATE), "/bin/true"]).returncode != skips.STATUS, skips.NO_FILTER)


def nothing_else(work):
    """Where all is forbidden but what a program needs itself and what the table says, it lives."""
    need_filter()
    table = (pathlib.Path(__file__).parents[2] / "injector/attach/checks/needed_calls.h").read_text()
    needed = set(re.findall(r"\bSYS_(\w+)", table))
    of_its_own = {"execve", "brk", "arch_prctl", "access", "set_tid_address", "exit_group", "poll", "pipe", "pipe2", "fstat", "restart_syscall"}
    words = "".join(f"gnomon_{name} SYS_{name}\n" for name in needed | of_its_own)
    said = subprocess.run(["cpp", "-P", "-"], input="#include <sys/syscall.h>\n" + words, capture_output=True, text=True, check=True).stdout
    numbers = re.findall(r"^gnomon_\w+ (\d+)$", said, re.M)
    assert len(numbers) == len(needed | of_its_own) > 40, said
    for name in ("filtered", "waits"):
        shutil.copy(build / "targets" / name, work)
    os.chmod(work, 0o755)
    # Files are handed to another user's.
    attempts.need_nobody()
    for number, words in enumerate([[], attempts.NOBODY], 1):
        program = subprocess.Popen([*words, f"{work}/filtered", "allow", ",".join(numbers), f"{work}/waits", "poll"], stdout=subprocess.PIPE,
                                   text=True)
        try:
            pid = int(program.stdout.readline().split()[0])
            done = subprocess.run([build / "bin/gnomon", "collect", "-P", str(pid)], cwd=work, capture_output=True, text=True,
                                  timeout=PATIENCE, stdin=subprocess.DEVNULL)
            assert done.returncode == 0 and program.wait(PATIENCE) == 0 and program.stdout.read() == "right\n", (done, program.returncode)
            assert recorded.samples(build, f"{work}/test.{number}.er") > 10
        finally:
            if program.poll() is None and program.pid > 0:
                program.kill()
            program.wait(PATIENCE)


def filters(work):
    """What a filter would do is read from it, and not tried in the process."""
    need_filter()
    for action, number, text in (("kill", TIMER_CREATE, "its seccomp filter would end it for calling timer_create; .*"),
                                 ("errno", TIMER_CREATE, "its seccomp filter does not let it call timer_create; .*"),
                                 ("kill", MEMFD_CREATE, None)):
        with started(*under(action, number), build / "targets/unfit") as (_, pid):
            if text:
                is_said(work, pid, text, by_gnomon)
                is_said(work, pid, text, lambda *words: by_gnomon(*words, under=under(action, number)))
            else:
                done = subprocess.run([build / "bin/gnomon", "collect", "-t", "1", "-P", str(pid)], cwd=work, capture_output=True, text=True,
                                      timeout=PATIENCE, stdin=subprocess.DEVNULL)
                assert done.returncode == 0 and "Recording process" in done.stdout, done
                shutil.rmtree(f"{work}/test.1.er")
            if action == "errno" or attempts.IS_THOROUGH:
                is_said(work, pid, rf".*nobody can read the filter while a debugger holds it; `detach`, then `collector attach {pid}` reads it first\.", by_lldb)
    for kind, text in (("filtered-thread", "its seccomp filter would end it for calling timer_settime; .*"),
                       ("strict", r"thread \d+ may do nothing but read and write \(seccomp's strict mode\); .*")):
        with unfit(kind) as (program, _):
            is_said(work, program.pid, text, by_gnomon)
    # As in a container: all that runs there has its filter.
    recorded_under(under("errno", MEMFD_CREATE), work)


def limits(work):
    with unfit() as (_, pid):
        for which, value, text in ((resource.RLIMIT_FSIZE, 10_000, r"its limit of 10000 bytes a file leaves no room for an experiment; .*"),
                                   (resource.RLIMIT_NOFILE, 4, r"it may open no more files \(its limit is 4\); .*")):
            before = resource.prlimit(pid, which)
            resource.prlimit(pid, which, (value, before[1]))
            is_said(work, pid, text, by_gnomon)
            resource.prlimit(pid, which, before)
        # A limit that is met on the way: what was brought in is taken out again.
        size = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[0]) * 4096
        resource.prlimit(pid, resource.RLIMIT_AS, (size + (2 << 20), resource.RLIM_INFINITY))
        is_said(work, pid, r"the process could not make a thread \(.*\); see its limits in .*", by_gnomon)
        resource.prlimit(pid, resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))
        is_said(work, pid, r"it cannot get memory \(.*\); see its limits in .*", by_gnomon)


attempts.try_cases(not_there, held, others, not_linked_to_it, watched_for_races, shares_memory, at_its_start, before_main, leaderless, inside, left_breakpoint, filters, nothing_else, limits)
