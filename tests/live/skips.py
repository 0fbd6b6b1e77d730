#!/usr/bin/env python3
"""What a machine may lack, so that a case of a test cannot be tried on it. A skip for any other reason, or for one that does not hold here, is a failure.

skips.py FILE checks what the tests appended to the file that GNOMON_SKIPS named: lines of test, case and reason."""
import ctypes
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys

STATUS = 77  # of a test of which something was skipped

NOT_ROOT = "not root"
NO_OTHER_USER = "no right to be another user"
KERNEL_VISIBLE = "the kernel shows itself to every user"
NO_FILTER = "no right to set a filter of system calls"
NO_MOUNT = "no right to mount a file system"
NO_NAMESPACE = "no right to make namespaces"
NO_TIME_NAMESPACE = "no right to make a time namespace"
NO_RANK = "no right to raise a process's rank"
NO_SEALING = "the kernel seals no memory"
NO_REGISTERS = "the machine has no breakpoint registers"
NO_TIMER_LIST = "the kernel does not list the timers of a process"
NO_RINGS = "the kernel gives no rings of events"

NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def runs(*words):
    return shutil.which(words[0]) is not None and subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def paranoid():
    return int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())


def in_a_child(action):
    """Whether `action` answers True in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if action() else 1)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def allow_everything():
    """Sets a filter of system calls; answers whether the kernel has taken it."""
    code = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000))  # return SECCOMP_RET_ALLOW
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    return libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def raise_rank():
    os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1)
    return True


def meet_breakpoint():
    """Sets a breakpoint on a word, writes the word and answers whether that was counted: some virtual machines count nothing."""
    watched = ctypes.c_uint64(0)
    attributes = bytearray(128)
    struct.pack_into("IIQQ", attributes, 0, 5, len(attributes), 0, 1)  # PERF_TYPE_BREAKPOINT, its size, config, period
    struct.pack_into("QIIQQ", attributes, 40, 0b1100000, 0, 2, ctypes.addressof(watched), 8)  # no kernel, no hypervisor; HW_BREAKPOINT_W
    event = ctypes.CDLL(None).syscall(298, ctypes.create_string_buffer(bytes(attributes)), 0, -1, -1, 0)  # perf_event_open
    if event < 0:
        return False
    watched.value = 1
    return struct.unpack("Q", os.read(event, 8))[0] > 0


# Whether this machine lacks what the reason says, found out by other means than the tests' own.
LACKS = {
    NOT_ROOT: lambda: os.geteuid() != 0,
    NO_OTHER_USER: lambda: not runs(*NOBODY, "/bin/true"),
    KERNEL_VISIBLE: lambda: paranoid() <= 1,
    NO_FILTER: lambda: not in_a_child(allow_everything),
    NO_MOUNT: lambda: not runs("unshare", "--mount", "true"),
    NO_NAMESPACE: lambda: not runs("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "true"),
    NO_TIME_NAMESPACE: lambda: not runs("unshare", "--time", "--fork", "true"),
    NO_RANK: lambda: not in_a_child(raise_rank),
    NO_SEALING: lambda: tuple(map(int, re.findall(r"\d+", platform.release())[:2])) < (6, 10),
    NO_REGISTERS: lambda: not in_a_child(meet_breakpoint),
    NO_TIMER_LIST: lambda: not os.path.exists("/proc/self/timers"),
    NO_RINGS: lambda: os.geteuid() != 0 and paranoid() > 2,
}


def note(test, case, reason):
    """Tells `./dev test` and whoever reads the output."""
    print(f"{case}: SKIPPED: {reason}", flush=True)
    if path := os.environ.get("GNOMON_SKIPS"):
        with open(path, "a") as skips:
            skips.write(f"{test}\t{case}\t{reason}\n")


def main(path):
    """The exit status: 1 if anything was skipped that can be tried on this machine."""
    skipped = sorted(set(path.read_text().splitlines())) if path.exists() else []
    wrong = 0
    for line in skipped:
        test, case, reason = line.split("\t")
        is_right = reason in LACKS and LACKS[reason]()
        wrong += not is_right
        print(f"not tested: {test}, {case}: {reason}{'' if is_right else '. THIS MACHINE COULD: the test is at fault, or the machine was too busy'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
