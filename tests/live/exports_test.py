#!/usr/bin/env python3
"""What is exported for other tools has the structure that their formats ask for, and the weights of the experiment."""
import collections
import gzip
import json
import pathlib
import subprocess
import sys

import recorded

build = pathlib.Path(sys.argv[1])


def gnomon(*words, **settings):
    done = subprocess.run([build / "bin/gnomon", *map(str, words)], capture_output=True, timeout=30, **settings)
    assert done.returncode == 0, (words, done)
    return done.stdout


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def message(data):
    """{field: [value, ...]} of a protocol buffer without fixed fields."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        else:
            assert key & 7 == 0, key
        fields[key >> 3].append(value)
    return fields


def numbers(packed):
    values, at = [], 0
    while at < len(packed):
        value, at = varint(packed, at)
        values.append(value)
    return values


def collapsed(text):
    """{stack: weight}"""
    stacks = {}
    for line in text.decode().splitlines():
        stack, weight = line.rsplit(" ", 1)
        assert stack not in stacks
        stacks[stack] = int(weight)
    return stacks


def of_speedscope(text):
    whole = json.loads(text)
    assert whole["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames, (profile, *threads) = whole["shared"]["frames"], whole["profiles"]
    assert threads == [] or sum(sum(each["weights"]) for each in threads) == profile["endValue"], whole["profiles"]
    assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds" and profile["endValue"] == sum(profile["weights"])
    assert len(profile["samples"]) == len(profile["weights"])
    assert any(frame.get("file", "").endswith("split.cpp") and frame["line"] > 0 for frame in frames), frames
    return {";".join(frames[number]["name"] for number in stack): weight for stack, weight in zip(profile["samples"], profile["weights"])}


def of_pprof(data):
    whole = message(gzip.decompress(data))
    strings = [text.decode() for text in whole[6]]
    assert strings[0] == ""
    types = [(strings[each[1][0]], strings[each[2][0]]) for each in map(message, whole[1])]
    functions = {each[1][0]: strings[each[2][0]] for each in map(message, whole[5])}
    mappings = {each[1][0]: strings[each[5][0]] for each in map(message, whole[3])}
    locations = {}
    for location in map(message, whole[4]):
        [line] = map(message, location[4])
        locations[location[1][0]] = functions[line[1][0]]
        assert not location[2] or mappings[location[2][0]][0] in "/["
    assert strings[whole[14][0]] == "totalcpu" and types[0] == ("totalcpu", "nanoseconds") and whole[12] == [1_000_000], (types, whole[12])
    column = types.index(("totalcpu", "nanoseconds"))
    ticks = types.index(("ticks", "count"))
    stacks, count = {}, 0
    for sample in map(message, whole[2]):
        values = numbers(sample[2][0])
        assert len(values) == len(types)
        stacks[";".join(locations[number] for number in reversed(numbers(sample[1][0])))] = values[column]
        count += values[ticks]
    return stacks, count


def of_firefox(text):
    whole = json.loads(text)
    assert whole["meta"]["preprocessedProfileVersion"] == 47 and whole["meta"]["interval"] == 1
    stacks = collections.Counter()
    for thread in whole["threads"]:
        samples, table, frames, functions = thread["samples"], thread["stackTable"], thread["frameTable"], thread["funcTable"]
        for each in (samples, table, frames, functions, thread["resourceTable"], thread["markers"], thread["nativeSymbols"]):
            assert all(len(column) == each["length"] for column in each.values() if isinstance(column, list)), each
        assert samples["time"] == sorted(samples["time"]) and samples["weightType"] == "tracing-ms"
        for place, weight in zip(samples["stack"], samples["weight"]):
            names = []
            while place is not None:
                assert table["prefix"][place] is None or table["prefix"][place] < place
                names.append(thread["stringArray"][functions["name"][frames["func"][table["frame"][place]]]])
                place = table["prefix"][place]
            stacks[";".join(reversed(names))] += round(weight * 1e6)
    assert all(library["path"][0] in "/[" for library in whole["libs"])
    return dict(stacks)


with recorded.directory() as work:
    _, experiment = recorded.run(build, build / "targets/split", ["1"], work, interval=1_000_000)
    total = json.loads(gnomon("print", "-functions", "--format", "json", experiment))["rows"][0]["exclusive_totalcpu"]
    stacks = collapsed(gnomon("export", "--to", "collapsed", experiment))
    assert abs(sum(stacks.values()) / 1e9 - total) < 1e-6 and any(stack.endswith("main;run(int, bool);work::half(unsigned long)") for stack in stacks), (stacks, total)
    assert of_speedscope(gnomon("export", "--to", "speedscope", experiment)) == stacks
    gnomon("export", "--to", "pprof", "-o", f"{work}/profile.pb.gz", experiment)
    found, ticks = of_pprof(pathlib.Path(work, "profile.pb.gz").read_bytes())
    assert found == stacks
    assert of_firefox(gnomon("export", "--to", "firefox", experiment)) == stacks
    # Another metric, and a part of the events.
    assert sum(collapsed(gnomon("export", "--to", "collapsed", "ticks", experiment)).values()) == ticks
    part = collapsed(gnomon("export", "--to", "collapsed", "--function", "work::half", experiment))
    assert part and part.items() <= stacks.items() and all("half" in stack for stack in part)
print("collapsed, speedscope, pprof and firefox say the same")
