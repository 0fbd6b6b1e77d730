"""The programs that the collector is brought into while they run: what they are called, and the words that start them."""
WAITS = ("nanosleep", "clock_nanosleep", "poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "read", "recv", "accept", "pause",
         "sigtimedwait", "sigsuspend", "waitpid", "flock", "semop", "futex")
BUSY = ("compute", "vectors", "malloc", "arena", "dlopen", "dlopens", "fork", "forks", "vfork", "spawn", "threads", "stdio", "handler", "handlers",
        "wakes")
OTHERS = ("masks", "many", "execs")


def words(build, kind):
    """Each says its number first, and "right" at its end if all was as it should be."""
    name = "waits" if kind in WAITS else "busy" if kind in BUSY else kind
    return [str(build / "targets" / name), *([] if kind in OTHERS else [kind])]
