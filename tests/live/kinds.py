"""The programs that the collector is brought into while they run: what they are called, and the words that start them."""
WAITS = ("nanosleep", "clock_nanosleep", "poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "read", "recv", "accept", "pause",
         "sigtimedwait", "sigsuspend", "waitpid", "flock", "semop", "futex")
BUSY = ("compute", "vectors", "malloc", "arena", "arenas", "dlopen", "dlopens", "fork", "forks", "vfork", "spawn", "threads", "stdio", "handler", "handlers",
        "wakes", "pipes")
# What the tests take; the soak takes all: waits that the kernel begins anew in its different ways, and programs that contain the others.
FEW = ("nanosleep", "read", "futex", "dlopens", "forks", "handlers", "own_poll", "many")
OWN = ("own_poll", "own_futex")  # their malloc is in the program itself
OTHERS = ("masks", "many", "execs", "own_arena")


def words(build, kind):
    """Each says its number first, and "right" at its end if all was as it should be."""
    what = kind.removeprefix("own_")
    name = "waits" if what in WAITS else "busy" if what in BUSY else what
    return [str(build / "targets" / (name + ("_own" if kind != what else ""))), *([what] if what in (*WAITS, *BUSY) else [])]
