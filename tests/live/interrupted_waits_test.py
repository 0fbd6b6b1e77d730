#!/usr/bin/env python3
"""A program that waits does not see the ticks that come meanwhile: no call fails with EINTR for them, and none is begun anew that a handler of its own has ended."""
import pathlib
import sys

import attempts
import recorded
import skips

build = pathlib.Path(sys.argv[1])
KINDS = ("poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "recv", "nanosleep", "usleep", "sigtimedwait", "semop", "msgrcv",
         "futex", "pause")
INTERVAL = 50_000_000  # ns; what ticks is a timer then, which a program can find


def waits(work):
    for kind in KINDS:
        done, experiment = recorded.run(build, build / "targets/interrupted_waits", [kind], work, interval=INTERVAL)
        attempts.need(done.returncode != skips.STATUS, skips.NO_TIMER_LIST)
        assert (done.returncode, done.stdout) == (0, "right\n"), (kind, done)
        number = recorded.samples(build, experiment)
        assert number >= 10, (kind, number)


attempts.try_cases(waits)
