#!/usr/bin/env python3
"""What addresses mean, against addr2line: each recorded instruction's line and function, on programs of much inlining. And every report adds up."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import recorded

build = pathlib.Path(sys.argv[1])
GNOMON = build / "bin/gnomon"


def rows(experiment, *report):
    done = subprocess.run([GNOMON, "print", "-name", "mangled", "--format", "json", *report, experiment], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return json.loads(done.stdout)["rows"]


def addr2line(path, addresses):
    """{address: (function, name of the file, line)} of the outermost function at each, as it calls what is inlined there."""
    done = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", path, *map(hex, addresses)], capture_output=True, text=True, timeout=60)
    found = {}
    for block in re.split(r"^0x", done.stdout, flags=re.M)[1:]:
        address, *pairs = block.splitlines()
        function, place = pairs[-2:]
        file, _, line = place.split(" (discriminator")[0].rpartition(":")
        found[int(address, 16)] = (function, os.path.basename(file), int(line) if line.isdigit() else 0)
    return found


def source_name(symbol):
    """The function that it is, or is a copy of."""
    shown = subprocess.run(["c++filt", symbol], capture_output=True, text=True, timeout=20, check=True).stdout if symbol.startswith("_Z") else symbol
    return shown.split(" [clone")[0].strip()


def is_named(row, function):
    """True if the report calls the function as DWARF does. Those of the C library have many names each."""
    if build not in pathlib.Path(row["load_object"]).parents:
        return True
    plain = [re.sub(r"([CD])[1-4](?=[EI])", r"\1", name.split(".")[0]) for name in (row["function"], function)]
    # Where DWARF has no symbol, addr2line prints the source's name: f<T>.
    return plain[0] == plain[1] or function.split("<")[0] in row["function"]


def check_mapping(experiment):
    """Each recorded instruction of a file with lines. How many events were compared."""
    by_object = collections.defaultdict(dict)
    for row in rows(experiment, "-pcs", "--metrics", "e.ticks:address"):
        if row["load_object"].startswith("/") and row["exclusive_ticks"] and row["line"] is not None:
            by_object[row["load_object"]][int(row["address"], 16)] = row
    compared, wrong = 0, []
    for path, instructions in by_object.items():
        for address, (function, file, line) in addr2line(path, instructions).items():
            row = instructions[address]
            if line == 0:
                continue
            compared += row["exclusive_ticks"]
            if (os.path.basename(row["source_file"]), row["line"]) != (file, line) or not is_named(row, function):
                wrong.append((row["exclusive_ticks"], row, function, file, line))
    # addr2line and libdw may choose otherwise where a compiler gives two rows for one address.
    assert sum(each[0] for each in wrong) <= max(2, 0.01 * compared), (compared, wrong[:5])
    return compared


def check_sums(experiment):
    """Sum of callers = inclusive = exclusive + sum of callees; lines of a function and threads sum up."""
    functions = {row["name"]: row for row in rows(experiment, "-functions", "--metrics", "ei.ticks")}
    total = functions["<Total>"]["exclusive_ticks"]
    by_function = collections.defaultdict(lambda: [0, 0])
    for row in rows(experiment, "-callers-callees", "--metrics", "a.ticks:ei.ticks"):
        by_function[row["function"]][0 if row["role"] == "caller" else 1] += row["attributed_ticks"]
    for name, (callers, rest) in by_function.items():
        inclusive = functions[name]["inclusive_ticks"] if name != "<Total>" else total
        assert rest == inclusive and (name == "<Total>" or callers == inclusive), (name, callers, rest, inclusive)
    # A name that several functions share is marked where a report knows more than one of them: among lines it knows inlined ones, too.
    # Lines of a copy that a compiler has made are the function's own, whose name may be known from its source alone.
    def unmarked(name):
        return source_name(name.split(" (")[0])
    lines, all_functions = collections.Counter(), collections.Counter()
    for row in rows(experiment, "-lines", "--metrics", "e.ticks"):
        if row["name"] != "<Total>":
            lines[unmarked(row["function"])] += row["exclusive_ticks"]
    for name, row in functions.items():
        if name != "<Total>":
            all_functions[unmarked(name)] += row["exclusive_ticks"]
    assert +lines == +all_functions, (lines - all_functions, all_functions - lines)
    assert sum(row["exclusive_ticks"] for row in rows(experiment, "-threads", "--metrics", "e.ticks")[1:]) == total
    return len(functions)


with recorded.directory() as work:
    _, first = recorded.run(build, build / "targets/split", ["1"], work, interval=1_000_000)
    compared = check_mapping(first)
    for program, arguments in ((build / "targets/demo", []), (GNOMON, ["print", "-lines", "-callers-callees", "-source", "main", first])):
        _, experiment = recorded.run(build, program, arguments, work, interval=500_000)
        compared += check_mapping(experiment)
        check_sums(experiment)
    print(f"{check_sums(first)} functions add up, {compared} events are where addr2line has them")
