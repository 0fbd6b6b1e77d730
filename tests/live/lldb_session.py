"""Runs commands in a real lldb-19 with the plugin loaded, and hands back what each printed."""
import os
import pathlib
import re
import shutil
import subprocess

import attempts

LLDB = os.environ.get("GNOMON_LLDB", "lldb-19")
# As LLDB is, it reads all symbols of libc at each beginning, and of its debug information where that is installed.
QUICKLY = ("-O", "settings set target.preload-symbols false")


class StoppedTwice(Exception):
    """LLDB stops a second time at a breakpoint if a signal comes while it steps off: nothing has run in between."""


unless_stopped_twice = attempts.again_at(StoppedTwice, 5, AssertionError("LLDB stops twice each time"))


def try_cases(*cases):
    attempts.try_cases(*map(unless_stopped_twice, cases))


def gave_up(errors):
    """Whether LLDB itself failed: it could not attach, because it lost its server or a thread ended at that moment, or lost its server later."""
    return "error: attach failed: " in errors or "error sending the breakpoint request" in errors


def run(build, program, commands, cwd, arguments=(), timeout=100, check=True, on_crash=(), under=(), tries=3):
    """[(command, output)]; the program's own output is mixed in, as in a terminal. No program: the commands attach to one.
    tries: how often at most, where LLDB gives up attaching."""
    words = [*under, LLDB if not under else shutil.which(LLDB), "--no-lldbinit", "-b", *QUICKLY, "-o", f"plugin load {build}/lib/lldb-gnomon.so"]
    for command in commands:
        words += ["-o", command]
    for command in on_crash:
        words += ["-k", command]
    if program:
        words += ["--", str(program), *arguments]
    for _ in range(tries):
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        if not gave_up(done.stderr):
            break
        print("LLDB gave up attaching:", done.stderr.strip(), flush=True)
    if check and done.returncode != 0:
        raise AssertionError(f"lldb ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    parts = re.split(r"^\(lldb\) ", done.stdout, flags=re.M)[2:]  # without QUICKLY
    answers = [tuple(part.split("\n", 1)) if "\n" in part else (part, "") for part in parts]
    return [(command.strip(), output) for command, output in answers], done.stderr


def run_all(build, program, commands, cwd, arguments=(), timeout=100, prepare=None):
    """[(command, output)], errors among it: commands go on after one that fails. The file `commands` stays in cwd."""
    path = os.path.join(cwd, "commands")
    with open(path, "w") as file:
        file.write("".join(f"{command}\n" for command in commands))
    words = [LLDB, "--no-lldbinit", "-b", "-o", f"plugin load {build}/lib/lldb-gnomon.so", "-o",
             "settings set interpreter.stop-command-source-on-error false", "-o", f"command source {path}"]
    if program:
        words += ["--", str(program), *arguments]
    done = subprocess.run(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, preexec_fn=prepare)
    assert done.returncode == 0, done
    parts = re.split(r"^\(lldb\) ", done.stdout, flags=re.M)[1:]
    answers = [tuple(part.split("\n", 1)) if "\n" in part else (part, "") for part in parts]
    begin = next(i for i, (command, _) in enumerate(answers) if command.startswith("command source")) + 1
    return [(command.strip(), output) for command, output in answers[begin:begin + len(commands)]]


def rows(text):
    """{name: (exclusive s, exclusive %, inclusive s, inclusive %)} of a function table, in order."""
    found = {}
    for line in text.splitlines():
        m = re.match(r"\s*(\d+\.\d*)\s+(\d+\.\d*)\s+(\d+\.\d*)\s+(\d+\.\d*)\s+(\S.*)$", line)
        if m:
            found[m.group(5)] = tuple(float(m.group(i)) for i in range(1, 5))
    return found
