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
# Inside a room: each folder, and the others of the room that it may include.
INNER = {
    "libcollector": {
        "format": "",
        "core": "format",
        "record": "core format",
        "unwind": "core format",
        "objects": "core format record unwind",
        "hook": "core format objects",
        "target": "core format record objects unwind",
        "clock": "core format record unwind target",
        "trace": "core format record unwind hook target",
        "trace/heap": "core format hook trace",
        "trace/io": "core format hook trace",
        "program": "core format hook clock unwind target trace",
        "attach": "core format record clock program target",
        "session": "core format record unwind objects hook target clock program attach trace",
        "outside": "core format record objects unwind",
        "sampler": "core format record outside",
        "counters": "format",
    },
    "injector": {
        "files": "",
        "attach/gate": "",
        "attach/remote": "files",
        "attach/thread": "attach/remote",
        "attach/checks": "files attach/remote attach/thread",
        "base": "files attach/remote",
        "lldb": "base attach/remote attach/checks",
        "attach": "base attach/checks attach/gate attach/remote attach/thread",
        "attach/ptrace": "base files attach attach/checks attach/remote attach/thread",
        "attach/lldb": "base lldb attach attach/checks attach/gate attach/remote",
        "launch": "base files lldb attach/remote",
    },
    "reader": {
        "base": "",
        "io": "base",
        "table": "base",
        "experiment": "base io",
        "symbols/elf": "base io experiment",
        "symbols": "base experiment symbols/elf",
        "lines": "base io symbols symbols/elf",
        "samples": "base experiment",
        "heap": "base experiment",
        "metrics": "base experiment",
        "filter": "base experiment lines samples symbols",
        "analysis": "base experiment filter heap lines metrics samples symbols",
        "report/base": "base experiment metrics samples symbols table analysis",
        "report/notes": "base experiment metrics samples analysis report/base",
        "report/asked": "base filter lines symbols table analysis report/base report/notes",
        "report/functions": "metrics analysis report/base report/notes report/asked",
        "report/traced": "base heap metrics symbols table analysis report/notes report/asked",
        "report/stop": "base table analysis report/notes report/asked",
        "report/lines": "symbols report/asked report/stop",
        "report/process": "base experiment io table analysis report/base report/notes report/asked report/traced",
        "export": "base table analysis report/base",
    },
    "commands": {
        "host": "",
        "base": "host",
        "reports": "host base",
        "stop": "host base reports",
        "print": "host base",
        "collect": "host base print",
        "": "host base print collect",
    },
    "plugin": {"": ""},
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


def folder_of(name):
    """Inside its room; empty: the room itself."""
    return "/".join(name.split("/")[1:-1])


def circles(known):
    """Folders of {folder: folders that it may include} that lead back to themselves."""
    def reached(folder):
        seen, todo = set(), [folder]
        while todo:
            for each in known[todo.pop()].split():
                if each not in seen:
                    seen.add(each)
                    todo.append(each)
        return seen
    return [folder for folder in known if folder in reached(folder)]


def faults_of(name, text):
    room = name.split("/")[0]
    for quote, header in INCLUDE.findall(text):
        if quote == '"' and not below(header, FOLDERS):
            yield f'{name}: "{header}" is not a path from the top of the tree'
        if quote == '"' and not below(header, MAY_KNOW[room] | {room} | FILES.get(name, set())):
            yield f"{name}: {room} may not know {header}"
        folder, known = folder_of(name), INNER[room].get(folder_of(name), "").split()
        if quote == '"' and header.split("/")[0] == room and folder_of(header) not in [folder, *known]:
            yield f"{name}: {room}/{folder} may not know {header}"
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
                folder = folder_of(path.relative_to(top).as_posix())
                if folder not in INNER[room]:
                    faults.append(f"{room}/{folder}: has no row of what it may include")
                faults += faults_of(path.relative_to(top).as_posix(), path.read_text())
        for folder in INNER[room]:
            if not (top / room / folder).is_dir():
                faults.append(f"{room}/{folder}: there is no such folder")
        for folder in circles(INNER[room]):
            faults.append(f"{room}/{folder}: what it may include leads back to it")
    built = (top / "tests/CMakeLists.txt").read_text()
    for path in sorted((top / "tests/unit").rglob("*_test.cpp")):
        name = path.relative_to(top / "tests").as_posix()
        if name not in built:
            faults.append(f"tests/{name}: not built by tests/CMakeLists.txt")
    # The rules themselves must bite.
    assert list(faults_of("reader/x.cpp", '// x\n#include <lldb/API/LLDB.h>\n'))
    assert list(faults_of("libcollector/core/x.cpp", '// x\n#include "reader/base/result.h"\n'))
    assert list(faults_of("libcollector/unwind/x.cpp", '// x\n#include "libcollector/session/session.h"\n'))
    assert list(faults_of("commands/x.cpp", '// x\n#include "injector/base/settings.h"\n'))
    assert list(faults_of("reader/io/x.cpp", '// x\n#include "reader/table/table.h"\n'))
    assert not list(faults_of("reader/x.cpp", '// x\n#include "libcollector/format/control.h"\n'))
    assert circles({"a": "b", "b": "c", "c": "b", "d": "a"}) == ["b", "c"]
    assert seen > 0
    print("\n".join(faults) or f"{seen} files keep to their rooms")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
