#!/usr/bin/env python3
"""Libraries that come by dlopen: their functions are traced, and the loader finds them where it would without the collector."""
import json
import pathlib
import subprocess
import sys

import attempts
import recorded

build = pathlib.Path(sys.argv[1])
PROGRAM, FOLDER = build / "targets/late", build / "targets/late_libraries"


def calls(experiment):
    """How many calls of late_use were traced."""
    done = subprocess.run([build / "bin/gnomon", "print", "-functions", "--format", "json", "--metrics", "e.ioothercnt:name", experiment], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return {row["name"]: row["exclusive_ioothercnt"] for row in json.loads(done.stdout)["rows"]}.get("late_use", 0)


def launched(work, way):
    done, experiment = recorded.run(build, PROGRAM, [way, FOLDER], work, settings="I=1")
    assert (done.returncode, done.stdout) == (0, "right\n"), done
    return calls(experiment)


def by_path(work):
    assert launched(work, "path") == 100


def by_name(work):
    """The executable's search path counts for it alone; the library is looked at when a symbol of it is asked for."""
    assert launched(work, "name") == 100


def by_name_of_a_library(work):
    """Likewise a library's."""
    assert launched(work, "library") == 100


def attached(work):
    program = subprocess.Popen([PROGRAM, "path", FOLDER, "wait"], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        collect = subprocess.Popen([build / "bin/gnomon", "collect", "-i", "on", "-P", str(program.pid)], cwd=work, stdout=subprocess.PIPE, text=True)
        said = collect.stdout.readline()
        assert said.startswith(f"Recording process {program.pid}"), said
        assert program.communicate("\n", timeout=20)[0] == "right\n" and program.returncode == 0
        rest = collect.communicate(timeout=20)[0]
        assert collect.returncode == 0, rest
    finally:
        if program.poll() is None and program.pid > 0:
            program.kill()
            program.wait(20)
    assert calls(pathlib.Path(work) / "test.1.er") == 100


attempts.try_cases(by_path, by_name, by_name_of_a_library, attached)
