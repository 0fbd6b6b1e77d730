#!/usr/bin/env python3
"""Signals that came while a debugger held the process are still handled, each once, after the collector has come in."""
import os
import pathlib
import signal
import subprocess
import sys

import attempts
import lldb_session

build = pathlib.Path(sys.argv[1])
SENT = (signal.SIGUSR1, signal.SIGALRM)


def session(work, arguments, sent, enable="collector enable"):
    """([(command, output)], LLDB's errors, what the program printed). Its input is over once the collector has been asked."""
    for _ in range(3):
        with attempts.started(build / "targets/counts", *arguments, cwd=work, stdin=subprocess.PIPE) as program:
            pid = int(program.stdout.readline())
            assert pid == program.pid > 0
            if arguments:
                attempts.wait_until(lambda: pathlib.Path(f"/proc/{pid}/syscall").read_text().startswith("0 "), "it does not wait in read(2)")
            send = "; ".join(["import os", *(f"os.kill({pid}, {int(number)})" for number in sent)])
            end = f"script os.kill({os.getpid()}, {int(signal.SIGUSR2)})"
            signal.signal(signal.SIGUSR2, lambda *_: program.stdin.close())
            answers, errors = lldb_session.run(build, None, [f"process attach -p {pid}", f"script {send}", enable, end, "continue"],
                                               work, check=False, tries=1)
            if lldb_session.gave_up(errors):
                continue
            program.stdin.close()  # LLDB ends at the first command that fails
            return answers[3:], errors, program.stdout.read()
    raise AssertionError("LLDB cannot attach")


def computes(work):
    answers, errors, said = session(work, [], SENT)
    assert "Recording process " in dict(answers)["collector enable"], (answers, errors)
    assert said == "1 1\n", (answers, errors, said)


def waits(work):
    answers, errors, said = session(work, ["waits"], [signal.SIGALRM])
    assert "Recording process " in dict(answers)["collector enable"], (answers, errors)
    assert said == "0 1\n", (answers, errors, said)


def stops(work):
    """LLDB stops at this one, in a call that holds who knows what; on a busy machine the thread may have left that before."""
    for _ in range(5):
        answers, errors, said = session(work, ["waits"], [signal.SIGUSR1], 'script lldb.debugger.HandleCommand("collector enable")')
        assert said == "1 0\n", (answers, errors, said)
        if "it is about to handle a signal (SIGUSR1); let it run, stop it again and repeat." in errors:
            break
        assert "Recording process " in str(answers), (answers, errors)
    else:
        raise AssertionError("no thread was about to handle the signal")


attempts.try_cases(computes, waits, stops)
