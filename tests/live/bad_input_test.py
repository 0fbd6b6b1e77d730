#!/usr/bin/env python3
"""Whatever is wrong gets one sentence on standard error, nothing on standard output, and status 1; in LLDB one error, and the session goes on."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])


def gnomon(*words, **settings):
    done = subprocess.run([build / "bin/gnomon", *map(str, words)], capture_output=True, text=True, timeout=30, **settings)
    return done.returncode, done.stdout, done.stderr


def refused(words, text):
    status, out, error = gnomon(*words)
    assert (status, out) == (1, ""), (words, status, out)
    assert error.startswith("gnomon: ") and error.count("\n") == 1 and text in error, (words, error)


with recorded.directory() as work:
    _, experiment = recorded.run(build, build / "targets/split", ["1"], work, interval=1_000_000)
    e = str(experiment)
    for words, text in [
            (["pint"], "did you mean print?"),
            (["print", "--limit", "3", e], "no report is named"),
            (["print", "-functions"], "no experiment is named"),
            (["print", "-funktions", e], "did you mean functions?"),
            (["print", "-c", e], "could be callers-callees, csingle, calltree"),
            (["print", "-enable", e], "there is no command -enable"),
            (["print", "-functions", "--format", "xml", e], "there is no format xml"),
            (["print", "-functions", "--format"], "--format needs a word"),
            (["print", "-functions", "--limit=-1", e], "-1 is not a number of rows"),
            (["print", "-functions", "--limit=99999999999999999999", e], "is not a number of rows"),
            (["print", "-functions", "--wdth=3", e], "did you mean --width?"),
            (["print", "-status", "--limit", "3", e], "status has no option --limit"),
            (["print", "-functions", "surplus", e], "unexpected argument surplus"),
            (["print", "-functions", work], "is not an experiment"),
            (["print", "-functions", f"{work}/test.9.er"], "there is no experiment"),
            (["print", "-functions", f"{e}/control"], "is not an experiment"),
            (["print", "-csingle", "half", "2", e], "means 1 function, not 2"),
            (["help", "funktions"], "did you mean functions?"),
            (["version", "3"], "version takes no arguments (got 3)")]:
        refused(words, text)

    # Names that are no text, empty words, very long ones.
    for word in ("", "\xff\xfe", "x" * 100_000, "%s%n", "--"):
        status, out, error = gnomon("print", "-functions", os.fsencode(word).decode("latin-1"), e)
        assert (status, out) == (1, "") and error.count("\n") == 1, (word[:9], status, error[:200])

    # Every file missing, empty, cut or a directory: a fault, or the same numbers where a file does not matter, or a note of what is missing.
    whole = gnomon("print", "-functions", e)[1]
    for name in sorted(os.listdir(e)):
        size = os.path.getsize(f"{e}/{name}")
        for harm in ("missing", "empty", "cut", "directory", "unreadable link"):
            copy = pathlib.Path(work) / "copy.er"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(e, copy)
            path = copy / name
            if harm in ("empty", "cut"):
                os.truncate(path, 0 if harm == "empty" else size // 2)
            else:
                path.unlink()
                if harm == "directory":
                    path.mkdir()
                elif harm == "unreadable link":
                    path.symlink_to(copy / name)
            status, out, error = gnomon("print", "-functions", copy)
            if name in ("log.jsonl", "overview"):  # what is said of functions does not depend on them, but pauses do
                rest = re.sub(r"Note: lines of log.jsonl that are damaged or missing: .*\n", "", out)
                assert (status, rest, error) == (0, whole, ""), (name, harm, out)
            elif name == "profile" and harm in ("empty", "cut"):
                assert status == 0 and re.search(r"Note: blocks of events that are (missing|damaged): [1-9] of [1-9];", out), (name, harm, out)
            else:
                assert (status, out) == (1, "") and error.count("\n") == 1, (name, harm, status, error)

    # Several reports, short names, options that not every one takes.
    status, out, error = gnomon("print", "--limit", "2", "-func", "-ctree", "-status", e)
    assert status == 0 and error == "" and out.count("--limit 0 shows all.") == 2 and "Samples" in out, (out, error)
    status, out, error = gnomon("print", "--format=csv", "--limit=2", "-functions", e)
    assert status == 0 and out.count("\n") == 3 and "more functions; --limit 0 shows all." in error, (out, error)
    with open("/dev/full", "w") as full:
        done = subprocess.run([build / "bin/gnomon", "print", "-functions", e], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
    assert done.returncode == 1 and "No space left" in done.stderr, done

    answers, errors = lldb_session.run(build, build / "targets/split", [
        "collector functions", "collector nonsense"], work, check=False)
    assert "nothing was recorded in this session; type `collector enable` and `run`" in errors, errors
    for words, text in [("functions --formt json", "did you mean --format?"), ("enable now", "enable takes no arguments (got now)"),
                        ("functions a.er b.er", "there is no experiment a.er"), ("help nonsense", "there is no command nonsense"),
                        ("csingle", "nothing was recorded in this session"), (f"csingle {e}", "no frame with a function is selected")]:
        _, errors = lldb_session.run(build, build / "targets/split", [f"collector {words}"], work, check=False)
        assert errors.count("error: ") == 1 and text in errors, (words, errors)
print("every fault is one sentence")
