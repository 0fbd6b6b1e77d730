#!/usr/bin/env python3
"""Which recording reports are about: of a process that LLDB was connected or attached to after `collector enable`, and of several targets."""
import contextlib
import pathlib
import re
import socket
import subprocess
import sys

import attempts
import lldb_session
from terminal import Terminal

build = pathlib.Path(sys.argv[1])


def free_port():
    with contextlib.closing(socket.socket()) as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def is_listening(port):
    """On 127.0.0.1: a connection would be the one that the server waits for."""
    wanted, listening = f"0100007F:{port:04X}", "0A"
    return any(line.split()[1] == wanted and line.split()[3] == listening for line in pathlib.Path("/proc/net/tcp").read_text().splitlines())


def ask(work, commands, program=None):
    return lldb_session.run_all(build, program, commands, work)


def output_of(answers, command):
    """Of the last such command."""
    return [output for asked, output in answers if asked == command][-1]


def connected(work):
    """A server launches the program without the environment that was prepared."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    with attempts.started("lldb-server-19", "gdbserver", address, "--", build / "targets/demo", cwd=work, stderr=subprocess.DEVNULL):
        attempts.wait_until(lambda: is_listening(port), "the server does not listen")
        answers = ask(work, ["collector enable", f"gdb-remote {address}", "breakpoint set -n checkpoint", "continue",
                             "collector functions", "collector enable", "continue", "collector functions --limit 3", "collector status", "kill"],
                      build / "targets/demo")
    before = [output for asked, output in answers if asked == "collector functions"][0]
    assert re.search(r"process \d+ is not recorded: its LD_PRELOAD lacks .*`collector enable` records it, too", before), before
    assert "<Total>" in output_of(answers, "collector functions --limit 3"), answers
    assert "Samples" in output_of(answers, "collector status"), answers


def attached(work):
    with attempts.started(build / "targets/waits", "nanosleep", "5", cwd=work) as program:
        assert program.stdout.readline()
        answers = ask(work, ["collector enable", f"process attach -p {program.pid}", "collector functions", "collector enable", "collector functions --limit 3",
                             "collector status", "detach"], build / "targets/waits")
    assert f"process {program.pid} is not recorded; type `collector enable`" in output_of(answers, "collector functions"), answers
    assert "<Total>" in output_of(answers, "collector functions --limit 3"), answers
    assert "Recording process" in output_of(answers, "collector enable"), answers


def two_targets(work):
    """Reports are about the selected one's, and say so."""
    answers = ask(work, ["collector enable", "run", "collector functions", f"target create {build}/targets/anew_2", "collector functions", "collector enable",
                         "run", "collector functions --limit 9", "target select 0", "collector functions --limit 8", "collector calltree"], build / "targets/anew_1")
    assert "of_the_first" in output_of(answers, "collector functions --limit 8"), answers
    assert "of_the_second" in output_of(answers, "collector functions --limit 9"), answers
    first, other = [output for asked, output in answers if asked == "collector functions"]
    assert first.startswith("Functions sorted by"), first
    assert "nothing was recorded yet of the selected target; type `run`" in other, other
    assert re.match(r".*/test\.1\.er: .*/anew_1, process \d+\nFunctions Call Tree", output_of(answers, "collector calltree")), answers


def in_a_terminal(work):
    """Enter prints a report again, and does nothing else twice; `apropos profile` finds the command."""
    terminal = Terminal(build, work, build / "targets/anew_1")
    try:
        assert re.search(r"collector +-- Profile", terminal.answer("apropos profile", "collector"))
        terminal.answer("collector enable", "Enabled: ")
        assert "No auto repeat" in terminal.answer("", "error: ")
        terminal.type("process launch --no-stdio")
        terminal.until(r"exited with status = 0 .*?\n")  # LLDB may print no prompt afterwards
        terminal.answer("collector functions --limit 1", "<Total>")
        terminal.answer("", "<Total>")
    finally:
        terminal.close()


attempts.try_cases(connected, attached, two_targets, in_a_terminal)
