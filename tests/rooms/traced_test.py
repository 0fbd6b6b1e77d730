#!/usr/bin/env python3
"""Keeps docs/traced.md true: it names each function that hooks trace, and for each other function of libc that reads, writes, waits or allocates, why it is not traced."""
import fnmatch
import pathlib
import re
import struct
import sys

top, collector = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
GROUPS = {1: "Memory", 2: "Locks", 3: "Input and output", 4: "Other waits", 5: "Input and output"}  # format::HookGroup
ROW = 64  # bytes of collector::Hook
KNOWN = (2, 36)  # the libc whose functions docs/traced.md decides on
# What a function is called that reads, writes, waits, allocates, or changes files.
SUSPECT = re.compile("read|write|recv|send|open|close|sync|poll|select|wait|sleep|splice|tee|copy_file|mq_|sem_|aio|lio_|msgsnd|msgrcv|semop|semtimedop|alloc|free|memalign|dup|pipe|"
                     "socket|accept|connect|lock|mutex|cond_|cnd_|mtx_|barrier|join|once|dents|dir|truncate|fallocate|fadvise|seek|ioctl|fcntl|fd_create|eventfd|signalfd|inotify|"
                     "pause|suspend|get[cw]|gets|getline|getdelim|put[cw]|puts|printf|scanf|flush|link|rename|stat|chmod|chown|access|utime|tmpfile|temp|shm_|xattr|setxid|pclose|system")


class Elf:
    """A shared object of this machine's kind (System V ABI, AMD64)."""

    def __init__(self, path):
        self.data = path.read_bytes()
        begin, = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, begin + i * size) for i in range(count)]
        self.sections = {self.text(headers[names][4] + each[0]): each for each in headers}

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    def at(self, address):
        """The place in the file."""
        return next(each[4] + address - each[3] for each in self.sections.values() if each[3] and each[3] <= address < each[3] + each[5])

    def relocated(self):
        """{address: what the loader stores there, less where the object lies}"""
        _, _, _, _, begin, size, *_ = self.sections[".rela.dyn"]
        rows = struct.iter_unpack("<QQq", self.data[begin:begin + size])
        return {address: addend for address, kind, addend in rows if kind == 8}  # R_X86_64_RELATIVE

    def functions(self):
        """Those that it exports for everybody, and the known libc does."""
        begin, size, strings = *self.sections[".dynsym"][4:6], self.sections[".dynstr"][4]
        versions = self.sections[".gnu.version"][4]
        others = self.other_versions()
        for i, (name, kind, _, section, _, _) in enumerate(struct.iter_unpack("<IBBHQQ", self.data[begin:begin + size])):
            version, = struct.unpack_from("<H", self.data, versions + 2 * i)
            if kind & 15 in (2, 10) and section != 0 and version >> 15 == 0 and version not in others:  # STT_FUNC, STT_GNU_IFUNC; VERSYM_HIDDEN
                yield self.text(strings + name)

    def other_versions(self):
        at, strings, others = self.sections[".gnu.version_d"][4], self.sections[".dynstr"][4], set()
        while True:
            _, _, index, _, _, name, following = struct.unpack_from("<HHHHIII", self.data, at)
            first, = struct.unpack_from("<I", self.data, at + name)
            number = self.text(strings + first).removeprefix("GLIBC_").split(".")
            if number[0] != "2" or tuple(map(int, number[:2])) > KNOWN:
                others.add(index)
            if following == 0:
                return others
            at += following


def traced():
    """{function: heading}, as the collector's table of hooks has them."""
    elf = Elf(collector)
    values, (_, _, _, begin, _, size, *_) = elf.relocated(), elf.sections["gnomon_hooks"]
    found = {}
    for row in range(begin, begin + size, ROW):
        group = elf.data[elf.at(row) + 24]
        if row in values and group in GROUPS:
            found[elf.text(elf.at(values[values[row + 16]]))] = GROUPS[group]
    return found


def libc():
    maps = pathlib.Path("/proc/self/maps").read_text()
    return Elf(pathlib.Path(next(line.split()[-1] for line in maps.splitlines() if "/libc.so" in line or "/libc-2" in line)))


def named():
    """[(heading, name or pattern)]"""
    heading = ""
    for line in (top / "docs/traced.md").read_text().splitlines():
        heading = line[3:] if line.startswith("## ") else heading
        names = line if heading != "What is not traced" else line.split("|")[1] if line.startswith("|") else ""
        yield from ((heading, name) for name in re.findall(r"`([^`\s]+)`", names))


hooks, decided = traced(), list(named())
assert len(hooks) > 200, hooks
faults = [f"{name} is traced, and does not stand under {heading}" for name, heading in hooks.items() if (heading, name) not in decided]
faults += [f"{name} stands under {heading}, and is not traced" for heading, name in decided if heading in GROUPS.values() and hooks.get(name) != heading]
without = [name for heading, name in decided if heading == "What is not traced"]
for name in sorted(set(libc().functions())):
    reasons = [pattern for pattern in without if fnmatch.fnmatchcase(name, pattern)]
    if name in hooks and reasons:
        faults.append(f"{name} is traced, and {reasons[0]} is said not to be")
    if name not in hooks and not reasons and SUSPECT.search(name):
        faults.append(f"{name} is neither traced nor said not to be")
print("\n".join(faults) or f"{len(hooks)} functions are traced")
sys.exit(1 if faults else 0)
