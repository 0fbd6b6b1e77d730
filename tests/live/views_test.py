#!/usr/bin/env python3
"""Processes that see the machine otherwise than we do are recorded: other namespaces, another root, another user, a mount without execution."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import attempts
import lldb_session
import recorded
import skips

build = pathlib.Path(sys.argv[1])
LIBRARY = build / "lib/libcollector.so"
STEADY = build / "targets/steady"
PATIENCE = 30  # s


def need_namespaces(*what):
    attempts.need(skips.runs("unshare", *what, "true"), skips.NO_MOUNT if what == ("--mount",) else skips.NO_NAMESPACE)


def child_of(pid):
    limit = time.monotonic() + PATIENCE
    while not (children := pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        assert time.monotonic() < limit
        time.sleep(0.01)
    return int(children[0])


@contextlib.contextmanager
def steady(work, *words, forks=False, program=STEADY, says="right"):
    """The process and its number here; its start, and what it says at its end."""
    starter = subprocess.Popen([*map(str, words), str(program)], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert int(starter.stdout.readline()) > 0
        pid = child_of(starter.pid) if forks else starter.pid
        assert pid > 0
        yield starter, pid
        printed, _ = starter.communicate(timeout=PATIENCE)
        assert (starter.returncode, printed) == (0, f"{says}\n"), (starter.returncode, printed)
    finally:
        if starter.poll() is None and starter.pid > 0:
            starter.kill()
        starter.wait(PATIENCE)


def under_mounts(script):
    """Words that run a program in a mount namespace of its own, once the script has changed it."""
    return ["unshare", "--mount", "sh", "-ec", script + '\nexec "$0"']


def collect(work, pid, *under, source="auto", time="1"):
    """(exit status, all it said)"""
    done = subprocess.run([*under, build / "bin/gnomon", "collect", "-k", source, "-t", time, "-P", str(pid)], cwd=work, capture_output=True, text=True,
                          timeout=PATIENCE, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def descriptors(pid):
    return set(os.listdir(f"/proc/{pid}/fd"))


def is_recorded(work, pid, by_lldb=True):
    """By gnomon, then by LLDB; nothing of it stays open."""
    before = descriptors(pid)
    experiment = pathlib.Path(work) / "test.1.er"
    for seconds in ("0.3", "1", "4"):  # a busy machine may leave the program next to no CPU time
        shutil.rmtree(experiment, ignore_errors=True)
        status, said = collect(work, pid, time=seconds)
        assert status == 0 and f"Recording process {pid} to {experiment}: 2 threads" in said, said
        table, notes = recorded.functions(build, experiment)
        computed = sum(times[0] for name, times in table.items() if "computes" in name)
        if computed > 0.05:
            break
    assert computed > max(0.05, 0.9 * table["<Total>"][0]), (table, notes)
    header = json.loads((experiment / "header.json").read_text())
    assert header["pid"] == pid and header["process"]["pid_namespace"] == os.readlink("/proc/self/ns/pid"), header
    wait_for(lambda: descriptors(pid) == before)
    if not by_lldb:
        return
    commands = [f"process attach -p {pid}", "collector enable", "collector status", "collector disable", "detach"]
    answers, errors = lldb_session.run(build, None, commands, work)
    answers = [answer for _, answer in answers]
    assert f"Recording process {pid} to {pathlib.Path(work) / 'test.2.er'}: 2 threads" in answers[2], (answers, errors)
    assert re.search(rf"Process\s+{pid}", answers[3]), answers
    assert f"Disabled: process {pid} runs on" in answers[4], answers
    wait_for(lambda: descriptors(pid) == before)
    assert len(re.findall(r"r-xp .*/libcollector\.so$", pathlib.Path(f"/proc/{pid}/maps").read_text(), re.M)) == 1


def wait_for(condition):
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


def numbers(work):
    """In a pid namespace it has other numbers for itself and its threads."""
    words = ["unshare", "--pid", "--fork", "--mount-proc"]
    need_namespaces(*words[1:])
    with steady(work, *words, forks=True) as (_, pid):
        is_recorded(work, pid)


def hidden(work):
    """Library and directory are not in its mount namespace."""
    need_namespaces("--mount")
    with steady(work, *under_mounts(f"mount -t tmpfs none {LIBRARY.parent}; mount -t tmpfs none {work}")) as (_, pid):
        is_recorded(work, pid)


def not_executable(work):
    need_namespaces("--mount")
    folder = LIBRARY.parent
    with steady(work, *under_mounts(f"mount --bind {folder} {folder}; mount -o remount,bind,noexec {folder}")) as (_, pid):
        is_recorded(work, pid, by_lldb=False)


def with_root(work, *more):
    """Words that run /steady, which is nowhere else, with the root `work`/root."""
    root = pathlib.Path(work) / "root"
    for folder in ("lib", "lib64", "usr", "proc"):
        (root / folder).mkdir(parents=True)
    shutil.copy(STEADY, root)
    binds = [f"mount --rbind /{folder} {root}/{folder}" for folder in ("lib", "lib64", "usr", *more)]
    return ["unshare", "--mount", "sh", "-ec", "\n".join([*binds, f'exec {shutil.which("chroot")} {root} "$0"'])]


def other_root(work):
    """Its files are found through it as long as it runs."""
    need_namespaces("--mount")
    with steady(work, *with_root(work, "proc"), program="/steady") as (_, pid):
        is_recorded(work, pid)


def no_proc(work):
    """The collector needs it; gnomon-sampler has its own."""
    need_namespaces("--mount")
    with steady(work, *with_root(work), program="/steady") as (_, pid):
        is_recorded_from_outside(work, pid, "it sees no /proc of its own process namespace", "; mount one at ")
    need_namespaces("--pid", "--fork")
    with steady(work, "unshare", "--pid", "--fork", forks=True) as (_, pid):
        is_recorded_from_outside(work, pid, "the /proc that it sees is of another process namespace", "; ")


def is_recorded_from_outside(work, pid, why, cure):
    status, said = collect(work, pid, source="signal")
    assert status == 1 and why + cure in said, said
    assert not list(pathlib.Path(work).glob("*.er"))
    status, said = collect(work, pid, time="0.3")
    experiment = pathlib.Path(work) / "test.1.er"
    assert status == 0 and f"to {experiment} from outside, by the kernel's clock: {why}" in said, said
    functions, notes = recorded.functions(build, experiment)
    assert functions["(anonymous namespace)::computes(void*)"][1] > 0.5 * functions["<Total>"][1] > 0, (functions, notes)
    shutil.rmtree(experiment)


def own_users(work):
    words = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    need_namespaces(*words[1:])
    with steady(work, *words, forks=True) as (_, pid):
        is_recorded(work, pid)


@contextlib.contextmanager
def collecting(work, pid, time):
    """`gnomon collect` while it records."""
    with attempts.started(build / "bin/gnomon", "collect", "-t", time, "-P", pid, cwd=work, stdin=subprocess.DEVNULL) as gnomon:
        assert "Recording process" in gnomon.stdout.readline()
        yield gnomon


def other_user(work):
    """Its directory is not for that user; the experiment's is made for it."""
    attempts.need_nobody()
    with steady(work, *attempts.NOBODY) as (_, pid):
        is_recorded(work, pid)
        assert os.stat(f"{work}/test.1.er").st_uid == 65534 != os.stat(work).st_uid


def recorded_twice(work):
    """Where to is said by the path that we know it by; the second one leaves nothing."""
    attempts.need_nobody()
    with steady(work, *attempts.NOBODY) as (_, pid):
        before = descriptors(pid)
        with collecting(work, pid, "3s") as gnomon:
            status, said = collect(work, pid)
            assert status == 1 and f"it is recorded already, to {work}/test.1.er" in said, said
            gnomon.communicate(timeout=PATIENCE)
        wait_for(lambda: descriptors(pid) == before)
    assert [path.name for path in pathlib.Path(work).glob("*.er")] == ["test.1.er"]
    assert recorded.samples(build, f"{work}/test.1.er") > 20


def dropped(work):
    """It has become another user since it was started, so most of /proc/self is root's."""
    attempts.need(os.geteuid() == 0, skips.NOT_ROOT)
    with steady(work, STEADY, program="drops") as (_, pid):
        is_recorded(work, pid, by_lldb=False)


def deleted(work):
    """Its file is gone, and another has its name."""
    program = pathlib.Path(work) / "steady"
    shutil.copy(STEADY, program)
    with steady(work, program=program) as (_, pid):
        program.unlink()
        shutil.copy("/bin/true", program)
        is_recorded(work, pid, by_lldb=False)


def no_room(work):
    """No directory can be made here for a process that sees another one there: it is not kept waiting for it."""
    need_namespaces("--mount")
    with steady(work) as (_, pid):
        before = descriptors(pid)
        place = f'cd /; mount -t tmpfs -o nr_inodes=1 none {work}; cd {work}; exec "$0" "$@"'
        start = time.monotonic()
        status, said = collect(work, pid, "unshare", "--mount", "sh", "-ec", place)
        assert status == 1 and f"no experiment can be made at {work}/test.N.er (No space left on device); " in said, said
        assert time.monotonic() - start < 3
        wait_for(lambda: descriptors(pid) == before)


def closes_all(work):
    """A program may close what is not its own: nothing is written to another file of that number."""
    attempts.need_nobody()
    with steady(work, *attempts.NOBODY) as (starter, pid):
        before = descriptors(pid)
        with collecting(work, pid, "2s") as gnomon:
            wait_for(lambda: len(descriptors(pid) - before) == 1)
            starter.stdin.write("c")
            starter.stdin.flush()
            wait_for(lambda: descriptors(pid) == before)
            gnomon.communicate(timeout=PATIENCE)
    # What it has open already suffices for a while.
    _, notes = recorded.functions(build, f"{work}/test.1.er")
    said = [note for note in notes if "the program could not open the experiment's files" in note]
    assert said or recorded.samples(build, f"{work}/test.1.er") > 5, notes


attempts.try_cases(numbers, hidden, not_executable, other_root, no_proc, own_users, other_user, dropped, deleted, recorded_twice, no_room, closes_all)
