#!/usr/bin/env python3
"""Keeps docs/architecture.md true: who may include whom, and which folders exist."""
import pathlib
import re
import sys

# room -> our folders it may include (besides itself)
MAY_KNOW = {
    "plugin": {"commands", "injector", "reader/base"},
    "injector": {"libcollector/format", "reader/base"},
    "libcollector": set(),
    "reader": {"libcollector/format"},
    "commands": {"reader", "libcollector/format"},
}
# Inside a room: folder -> the others that it may include.
INNER = {
    "libcollector/format": set(),
    "libcollector/core": {"libcollector/format"},
    "libcollector/unwind": {"libcollector/core", "libcollector/format"},
    "libcollector/record": {"libcollector/core", "libcollector/format"},
    "libcollector/objects": {"libcollector/core", "libcollector/format", "libcollector/record", "libcollector/unwind"},
    "libcollector/hook": {"libcollector/core", "libcollector/format", "libcollector/objects"},
    "libcollector/target": {f"libcollector/{folder}" for folder in ("core", "format", "record", "objects", "unwind")},
    "libcollector/clock": {f"libcollector/{folder}" for folder in ("core", "format", "record", "unwind", "target")},
    "libcollector/program": {f"libcollector/{folder}" for folder in ("core", "format", "hook", "clock", "unwind", "target", "trace")},
    "libcollector/trace": {f"libcollector/{folder}" for folder in ("core", "format", "unwind", "record", "hook", "target")},
    "libcollector/attach": {f"libcollector/{folder}" for folder in ("core", "format", "record", "clock", "program", "target")},
    "libcollector/outside": {"libcollector/core", "libcollector/format", "libcollector/record", "libcollector/objects", "libcollector/unwind"},
    "libcollector/counters": {"libcollector/format"},
    "libcollector/sampler": {"libcollector/core", "libcollector/format", "libcollector/record", "libcollector/outside"},
    "libcollector/session": {f"libcollector/{folder}" for folder in
                             ("core", "format", "unwind", "record", "objects", "hook", "target", "clock", "program", "attach", "trace")},
    "injector/attach/gate": set(),
    "injector/attach/remote": {"injector/preflight.h"},
    "injector/attach/checks": {"injector/attach/remote", "injector/attach/ptrace", "injector/linkage.h", "injector/sanitizers.h"},
    "injector/attach/ptrace": {"injector/attach", "injector/preflight.h", "injector/recording.h", "injector/sampler.h", "injector/settings.h"},
}
# The program gnomon is more than its commands: file -> rooms that it may know as well.
FILES = dict.fromkeys(("commands/collect/collect.h", "commands/collect/collect.cpp", "commands/collect/collect_process.cpp",
                       "commands/collect/blocked_process.cpp"), {"injector"})
# foreign header prefix -> rooms that may include it
FOREIGN = {
    "lldb/": {"plugin", "injector"},
    "elfutils/": {"reader", "injector/attach", "libcollector/sampler"},
    "gelf.h": {"reader", "libcollector/sampler"},
    "libelf.h": {"reader", "libcollector/sampler"},
    "dwarf.h": {"reader", "libcollector/sampler"},
    "libunwind": {"libcollector"},
    "histedit.h": {"commands/print"},
    "perfmon/": {"libcollector/counters"},
    "papi.h": {"libcollector/counters"},
    "nlohmann/": {"plugin", "injector", "reader", "commands", "libcollector/outside"},
    "fmt/": {"plugin", "injector", "reader", "commands"},
    "tl/": {"plugin", "injector", "reader", "commands"},
}
FOLDERS = {"plugin", "injector", "libcollector", "reader", "commands", "tests", "docs"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def below(path, folders):
    return any(path == f or path.startswith(f + "/") for f in folders)


def faults_of(name, text):
    room = name.split("/")[0]
    for quote, header in INCLUDE.findall(text):
        if quote == '"' and not below(header, FOLDERS):
            yield f'{name}: "{header}" is not a path from the top of the tree'
        if quote == '"' and not below(header, MAY_KNOW[room] | {room} | FILES.get(name, set())):
            yield f"{name}: {room} may not know {header}"
        folder = name.rsplit("/", 1)[0]
        if quote == '"' and folder in INNER and below(header, {room}) and not below(header, INNER[folder] | {folder}):
            yield f"{name}: {folder} may not know {header}"
        for prefix, rooms in FOREIGN.items():
            if header.startswith(prefix) and not below(name, rooms):
                yield f"{name}: {header} belongs to {', '.join(sorted(rooms))}"
    if not text.startswith("//"):
        yield f"{name}: the first line says what the file does and in which context it runs"


def main(top):
    faults = []
    for folder in top.iterdir():
        if folder.is_dir() and not folder.name.startswith((".", "build")) and folder.name not in FOLDERS:
            faults.append(f"{folder.name}/: not a room of this project")
    seen = 0
    for room in MAY_KNOW:
        for path in sorted((top / room).rglob("*")):
            if path.suffix in {".cpp", ".h", ".S"}:
                seen += 1
                faults += faults_of(path.relative_to(top).as_posix(), path.read_text())
    built = (top / "tests/CMakeLists.txt").read_text()
    for path in sorted((top / "tests/unit").rglob("*_test.cpp")):
        name = path.relative_to(top / "tests").as_posix()
        if name not in built:
            faults.append(f"tests/{name}: not built by tests/CMakeLists.txt")
    # The rules themselves must bite.
    assert list(faults_of("reader/x.cpp", '// x\n#include <lldb/API/LLDB.h>\n'))
    assert list(faults_of("libcollector/core/x.cpp", '// x\n#include "reader/base/result.h"\n'))
    assert list(faults_of("libcollector/unwind/x.cpp", '// x\n#include "libcollector/session/session.h"\n'))
    assert list(faults_of("commands/x.cpp", '// x\n#include "injector/settings.h"\n'))
    assert not list(faults_of("reader/x.cpp", '// x\n#include "libcollector/format/control.h"\n'))
    assert seen > 0
    print("\n".join(faults) or f"{seen} files keep to their rooms")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
