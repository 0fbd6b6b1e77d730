#!/usr/bin/env python3
"""Allocations of programs that were launched or attached to: each one, with its call stack; and none that is not the program's."""
import json
import pathlib
import re
import subprocess
import sys
import time

import recorded

build = pathlib.Path(sys.argv[1])
HEAP = build / "targets/heap"
GNOMON = build / "bin/gnomon"
METRICS = "i.heapalloccnt:i.heapallocbytes:i.heapleakcnt:i.heapleakbytes"


def table(experiment, *report):
    done = subprocess.run([GNOMON, "print", "--format", "json", *report, experiment], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def functions(experiment):
    """{function: (allocations, bytes, leaks, bytes leaked)}, inclusive"""
    printed = table(experiment, "-functions", "--metrics", METRICS)
    assert not any("wrong" in note for note in printed["notes"]), printed["notes"]
    values = ("heapalloccnt", "heapallocbytes", "heapleakcnt", "heapleakbytes")
    return {row["name"].split("::")[-1]: tuple(row[f"inclusive_{value}"] for value in values) for row in printed["rows"]}


def run(work, argument, program=HEAP, settings="H=1;V=1"):
    done, experiment = recorded.run(build, program, [argument], work, settings=settings)
    assert done.returncode == 0, done
    return experiment


GROWN = sum(range(100, 2001, 100))
ALL = {"temporaries()": (100, 6400, 0, 0), "leaks()": (10, 10_000, 10, 10_000), "grows()": (21, 60 + GROWN, 1, 2000),
       "aligned()": (5, 5 * 256, 0, 0), "by_libraries()": (2, 38, 0, 0), "strdup": (1, 6, 0, 0)}


def each_function(work):
    """malloc, calloc, realloc and the rest, by the program and by libraries; with and without a clock, and stacks of frees"""
    for settings in ("H=1;V=1", "H=3;V=1;p=0"):
        found = functions(run(work, "all", settings=settings))
        assert {name: found.get(name) for name in ALL} == ALL, found


def lists(work):
    """heap, allocs and leaks"""
    experiment = run(work, "all")
    rows = table(experiment, "-leaks")["rows"]
    first = [row for row in rows if row["stack"] == 1]
    assert (first[0]["exclusive_heapleakcnt"], first[0]["exclusive_heapleakbytes"]) == (10, 10_000), first
    assert [row["name"].split("::")[-1].split(",")[0].strip() for row in first] == ["leaks()", "all()", "main"], first
    assert 'line' in first[0]["name"] and first[1]["exclusive_heapleakcnt"] is None, first
    assert len(table(experiment, "-allocs")["rows"]) > len(rows)
    assert "exclusive_heapallocbytes" in table(experiment, "-heap")["rows"][0]


def threads(work):
    """Blocks that one thread allocates and another frees"""
    found = functions(run(work, "threads"))
    assert found["pass_on(void*)"] == (500, 24_000, 1, 48), found


def child(work):
    """What a fork child allocates is not the parent's"""
    found = functions(run(work, "child"))
    assert found["temporaries()"] == (200, 12_800, 0, 0) and found["in_child()"][0] == 100 + sum(v[0] for n, v in ALL.items() if n != "strdup"), found


def handlers(work):
    """Signal handlers that allocate, on an alternate stack within the thread's own, and that never return"""
    for how in ("handlers", "longjmp"):
        found = functions(run(work, how, build / "targets/heap_bump"))
        handler, total = found["in_handler(int)"], found["<Total>"]
        blocks = total[0] - handler[0]
        assert handler[1] == 16 * handler[0] and total[1] - handler[1] == 32 * blocks, found
        # What a handler allocates that interrupts an allocation is part of that. One that leaves what it interrupted can leave an allocation before
        # that is recorded.
        if how == "handlers":
            assert blocks % (40 * 50) == 0 and 1500 < handler[0] <= 2100 and total[2:] == (0, 0), found
        else:
            assert blocks > 2000 and 1900 < handler[0] < 2100, found


def fibers(work):
    """Stacks of the program's own"""
    found = functions(run(work, "fibers"))
    assert found["temporaries()"] == found["fiber(int)"] == (2000, 128_000, 0, 0), found


def operators(work):
    """An allocator that is a library, and that has C++ operators of its own"""
    found = functions(run(work, "all", build / "targets/heap_bump"))
    assert {name: found.get(name) for name in ALL if name != "strdup"} == {name: value for name, value in ALL.items() if name != "strdup"}, found
    assert "operator new[](unsigned long)" not in found, found


def sampled(work):
    """One allocation in 2 KiB: estimates. 20 000 are recorded, of leaks 200, so that chance is a tenth of what is allowed for"""
    experiment = run(work, "many", settings=f"H={2048 << 8 | 1};V=1")
    count, size, leaks, leaked = functions(experiment)["many()"]
    assert 0.9 < count / 200_000 < 1.1 and 0.9 < size / 40e6 < 1.1, (count, size)
    assert 0.3 < leaks / 2000 < 1.7 and 0.3 < leaked / 400e3 < 1.7, (leaks, leaked)
    notes = table(experiment, "-heap")["notes"]
    assert any("one allocation in 2048 bytes was recorded" in note for note in notes), notes
    recorded_ones = len(table(experiment, "-dump", "allocation")["rows"])
    assert 15_000 < recorded_ones < 25_000, recorded_ones


def crowd(work):
    """More threads at once than there are lanes: their events are not lost, but for a few on a machine with too few CPUs, which are counted"""
    experiment = run(work, "crowd", settings="H=1")
    notes = table(experiment, "-heap")["notes"]
    told = [re.fullmatch(r"events dropped because too many threads recorded at once: ([\d ]+)\.", note) for note in notes]
    lost = sum(int(note.group(1).replace(" ", "")) for note in told if note)
    blocks, size, leaks, leaked = functions(experiment)["each_in_crowd()"]
    assert 6 * 4200 - lost <= blocks <= 6 * 4200 and size == 100 * blocks, (blocks, size, notes)
    assert abs(leaks - 2 * 4200) <= lost <= 4200 // 4 and leaked == 100 * leaks, (leaks, leaked, notes)
    assert not any("blocks of events" in note for note in notes), notes


def own(work):
    """An allocator in the program itself: none of its calls is traced, which is said"""
    done = subprocess.run([GNOMON, "print", "-heap", run(work, "all", build / "targets/heap_own")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "the program has not allocated anything while it was recorded" in done.stderr, done
    notes = table(pathlib.Path(work) / "test.1.er", "-functions")["notes"]
    assert "functions that the program itself defines, so that its calls of them are not traced: 13." in notes, notes


def attached(work):
    """A program that runs already, and is left again"""
    program = subprocess.Popen([HEAP, "told"], cwd=work, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        collect = subprocess.Popen([GNOMON, "collect", "-H", "on", "-o", "told.er", "-P", str(program.pid)], cwd=work, stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + 20
        while time.monotonic() < limit and not (pathlib.Path(work) / "told.er/control").exists():
            time.sleep(0.01)
        time.sleep(0.2)
        (pathlib.Path(work) / "enough").touch()
        assert program.wait(timeout=20) == 0
        assert collect.wait(timeout=20) == 0, collect.stderr.read()
    finally:
        if program.poll() is None:
            program.kill()
    found = functions(pathlib.Path(work) / "told.er")
    assert found["leaks()"] == (10, 10_000, 10, 10_000), found
    temporaries = found["temporaries()"]
    assert temporaries[0] > 100 and temporaries[1] == 64 * temporaries[0] and temporaries[2] == 0, found


for case in [globals()[name] for name in sys.argv[2:]] or (each_function, lists, threads, child, handlers, fibers, operators, sampled, crowd, own, attached):
    with recorded.directory() as work:
        case(work)
        print(f"{case.__name__}: as it should be")
