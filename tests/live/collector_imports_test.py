#!/usr/bin/env python3
"""libcollector.so depends on libc alone, exports what it interposes and nothing else, and calls nothing that allocates, prints, or lets a thread be cancelled. A debugger finds no lines of it to step into."""
import re
import subprocess
import sys

EXPORTED = {"pthread_create@@GLIBC_2.34", "pthread_create@GLIBC_2.2.5",
            "__libc_start_main@@GLIBC_2.34", "__libc_start_main@GLIBC_2.2.5",
            "thrd_create@@GLIBC_2.34", "thrd_create@GLIBC_2.28", "raise@@GLIBC_2.2.5", "pthread_sigmask@@GLIBC_2.32", "pthread_sigmask@GLIBC_2.2.5",
            "gnomon_attach@@GNOMON_1", "gnomon_binding@@GNOMON_1", "gnomon_hook_table@@GNOMON_1", "gnomon_launch_state@@GNOMON_1", "gnomon_left_room@@GNOMON_1", "gnomon_release@@GNOMON_1", "execvpe@@GLIBC_2.11", "posix_spawn@@GLIBC_2.15", "posix_spawnp@@GLIBC_2.15", "dlclose@@GLIBC_2.34", "dlclose@GLIBC_2.2.5", "execveat@@GLIBC_2.34",
            *(f"{name}@@GLIBC_2.2.5" for name in (
                "execl", "execle", "execlp", "execv", "execve", "execvp", "fexecve",
                "__sigaction", "__sysv_signal", "bsd_signal", "sigaction", "sigaltstack", "sigignore", "siginterrupt", "signal",
                "clone", "fork", "vfork", "system", "popen", "daemon", "sigprocmask", "sigset", "sigtimedwait", "sigwait", "sigwaitinfo", "ssignal", "sysv_signal", "prctl", "syscall",
                "profil", "sprofil", "monstartup", "__monstartup", "moncontrol", "_mcleanup"))}
FORBIDDEN = re.compile(r"^(malloc|calloc|realloc|free|posix_memalign|aligned_alloc|pthread_getattr_np|dlopen|system|popen"
                       r"|.*printf.*|puts|fopen|fwrite|__cxa_(throw|begin_catch|guard_acquire)|_Zn.*|_Zd.*|pthread_mutex_.*|exit|abort|__assert_fail|__tls_get_addr"
                       r"|getrandom|open|close|read|write|poll|nanosleep|usleep|fallocate|fsync)$")


def readelf(*words):
    return subprocess.run(["readelf", "-W", *words], check=True, capture_output=True, text=True).stdout


library = sys.argv[1]
needed = re.findall(r"NEEDED.*\[(.*)\]", readelf("-d", library))
assert needed == ["libc.so.6"], needed
exported, imported = set(), set()
for line in readelf("--dyn-syms", library).splitlines():
    fields = line.split()
    if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[3] == "NOTYPE" and fields[4] == "LOCAL":
        continue
    if fields[6] == "UND":
        imported.add(fields[7].split("@")[0])
    elif fields[6] != "ABS":
        exported.add(fields[7])
assert exported == EXPORTED, exported ^ EXPORTED
assert "clock_gettime" in imported
bad = sorted(name for name in imported if FORBIDDEN.match(name))
assert not bad, f"calls what it must not: {bad}"
assert ".debug_line" not in readelf("-S", library)
print(f"{len(imported)} imports, all of libc, none forbidden")
