#!/usr/bin/env python3
"""Call stacks reach main where segments lie apart, unwind information is odd or missing, or say why they do not."""
import json
import pathlib
import struct
import subprocess
import sys

import recorded

build = pathlib.Path(sys.argv[1])
targets = build / "targets"


def with_moved_headers(library, to):
    """Puts a copy of the program headers behind everything else, as post-link optimisers do."""
    data = bytearray(library.read_bytes())
    begin, = struct.unpack_from("<Q", data, 0x20)  # e_phoff
    size, count = struct.unpack_from("<HH", data, 0x36)
    table = bytes(data[begin:begin + size * count])
    data[begin:begin + size * count] = bytes(size * count)
    data += bytes(-len(data) % 8)
    struct.pack_into("<Q", data, 0x20, len(data))
    to.write_bytes(data + table)


def tree(experiment):
    """{function: its caller}, of the call tree"""
    printed = subprocess.run([build / "bin/gnomon", "print", "-calltree", "--format", "json", experiment], capture_output=True, text=True,
                             timeout=60)
    assert printed.returncode == 0, printed.stderr
    callers, path = {}, []
    for row in json.loads(printed.stdout)["rows"]:
        path[row["depth"]:] = [row["name"]]
        callers[row["name"]] = path[-2] if len(path) > 1 else None
    return callers


def launched(work, program, way, *more, settings=""):
    done, experiment = recorded.run(build, targets / program, [way, *more], work, settings=settings)
    assert done.returncode == 0, done
    return experiment


def check(experiment, chain, note):
    """chain: the leaf, its caller and so on. note: a part of what is said of the walks; None: nothing is."""
    callers = tree(experiment)
    for callee, caller in zip(chain, chain[1:]):
        assert callers.get(callee) == caller, (chain, callers)
    table, notes = recorded.functions(build, experiment)
    assert table[chain[0]][0] > 0.5 * table["<Total>"][0], table
    said = [each for each in notes if "call stacks" in each]
    assert (not said) if note is None else any(note in each for each in said), (note, notes)


def attached(work, program):
    """The program waits for a line, so that it is attached to first."""
    with subprocess.Popen([targets / program, "waits"], stdin=subprocess.PIPE, text=True) as process:
        collect = [build / "bin/gnomon", "collect", "-P", str(process.pid), "-d", work, "-o", "attached.er"]
        with subprocess.Popen(collect, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as collector:
            said = collector.stdout.readline()
            process.stdin.write("\n")
            process.stdin.flush()
            process.wait(timeout=30)
            rest = collector.communicate(timeout=30)
            assert "Recording process" in said, (said, rest)
    return pathlib.Path(work) / "attached.er"


BURN = ["burn(double)", "burns"]
WHOLE = ["middle", "main", "<Total>"]
GUESSED = "have callers that are guessed"
with recorded.directory() as work:
    moved = pathlib.Path(work) / "moved.so"
    with_moved_headers(targets / "stacks_library.so", moved)
    for program in "stacks", "stacks_apart", "stacks_bare":
        check(launched(work, program, "plain"), BURN + WHOLE, None)
    for way, chain, note in (
            (("red_zone",), ["counts_in_red_zone"] + WHOLE, None),
            (("without_rule",), ["counts_without_rule"] + WHOLE, GUESSED),
            (("library", str(moved)), ["library_counts"] + WHOLE, None),
            # Another thread might be unloading the object that a guess reads.
            (("unload", str(targets / "stacks_library.so")), ["counts_without_rule", "<Truncated-stack>"],
             "cut at code without unwind information"),
            (("made",), ["<Unknown>", "<Truncated-stack>"], "cut at code of no load object"),
            (("deep",), BURN + ["recurses"], "cut at the limit of 1024 frames"),
            (("fiber",), BURN + ["begins_fiber"], "none of the thread's own, such as a coroutine's")):
        check(launched(work, "stacks", *way), chain, note)
    check(launched(work, "stacks", "deep", settings="d=16384;"), BURN + ["recurses"], None)
    check(attached(work, "stacks_start"), BURN + WHOLE[:-1], None)
