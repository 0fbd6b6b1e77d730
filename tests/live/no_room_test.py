#!/usr/bin/env python3
"""A file size limit and a full disk: the program runs as without us, and the reason is said."""
import pathlib
import resource
import subprocess
import sys

import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
split = build / "targets/split"


# In a mount namespace of its own: a small file system on the directory SMALL, and LLDB in it.
ON_SMALL_DISK = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=24k none "$0" && cd "$0" && exec "$@"']


def run_with(work, prepare=None, before=()):
    """What the program and the reports say; LLDB writes errors to stderr, so both are taken together."""
    words = [*before, lldb_session.LLDB, "--no-lldbinit", "-b", "-o", f"plugin load {build}/lib/lldb-gnomon.so"]
    for command in ("collector enable", "run", "collector functions"):
        words += ["-o", command]
    done = subprocess.run([*words, "--", str(split), "1"], cwd=work, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, preexec_fn=prepare)
    assert "exited with status = 0" in done.stdout, done
    return done.stdout + done.stderr


def limited(bytes_):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))


with recorded.directory() as work:
    said = run_with(work, limited(7 << 10))
    assert "recording could not begin: the program's file size limit was reached" in said, said
    said = run_with(work, limited(1 << 10))  # not even a control page fits
    assert "left no experiment" in said or "could not write" in said, said
    assert sorted(p.name for p in pathlib.Path(work).iterdir()) == ["test.1.er"]

    small = pathlib.Path(work) / "small"
    small.mkdir()
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0:
        said = run_with(work, before=[*ON_SMALL_DISK, str(small)])
        assert ": the file system of the experiment is full" in said, said
        for kilobytes in (4, 16):
            disk = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size={kilobytes}k none "$1" && cd "$1" && exec "$0" collect echo printed', build / "bin/gnomon", small]
            done = subprocess.run(disk, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
            # What is said depends on how long the program runs.
            full = ("the file system of the experiment is full", "it ended before its recording began", "No space left on device")
            assert (done.returncode, done.stdout, any(words in done.stderr for words in full)) == (0, "printed\n", True), done
    else:
        print("no right to make a mount namespace: the full disk was not tried")
print("no room is said, and does no harm")
