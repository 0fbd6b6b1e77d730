#!/usr/bin/env python3
"""Every subcommand of `collector` with wrong words, too many, too few and values out of range, in each state: one error that names a next step, and no
change of settings or of an open experiment."""
import pathlib
import sys

import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
ROUNDS = build / "targets/rounds"
SPANS = ("--since", "--since yesterday", "--since 0s", "--since sample", "--since sample nobody", "--between", "--between a", "--between nobody never",
         "--since 1s --since 2s", "--since stop --between a b")
SHOWN = ("--format", "--format xml", "--format=", "--width", "--width -1", "--width x", "--width=1.5", "--nothing")
LISTED = ("--limit", "--limit -1", "--limit many", "--limit=1e3", "--limit 99999999999999999999")
METRICS = ("--metrics", "--metrics nothing", "--metrics e.nothing", "--metrics x.totalcpu", "--metrics ::", "--sort", "--sort nothing", "--sort !totalcpu")
NO_COMMANDS = ["nonsense", "functons", "Enable", "-enable"]
WRONG = {
    "": NO_COMMANDS,
    "enable": ["now", "on", "--now", "a b"],
    "disable": ["now", "off", "--all"],
    "pause": ["now", "5", "--now"],
    "resume": ["now", "--now"],
    "attach": ["", "0", "-1", "x", "1x", "99999999999", "1 2", "4194304000"],
    "profile": ["", "maybe", "ON", "on off", "off now", "timer", "timer off", "timer x", "timer 5x", "timer 0", "timer -5", "timer 99u", "timer 1001",
                "timer 1e3", "timer nan", "timer inf", "timer 5 m", "timer 99999999999999999999999", "timre hi"],
    "sample": ["", "now", "record a b", "period", "period 0", "period -1", "period x", "period 5x", "period 3601", "period 99ms", "period on", "period off",
               "periodic 5", "manual 5", "off"],
    "dbxsample": ["", "maybe", "on off", "1"],
    "duration": ["", "x", "0", "-1", "5-5", "10-5", "5-", "5-x", "x-5", "1-2-3", "10h", "5 10", "9999999999"],
    "limit": ["", "0", "-1", "x", "5GB", "5 6", "0.5", "1e6", "99999999999999", "nan"],
    "store": ["", "directory", "directory /nowhere", "directory /etc/passwd", "directory a b", "experiment", "experiment name", "experiment .er",
              "experiment a.erg", "experiment /nowhere/a.er", "filename x", "group", "group x.er", "group .erg", "group x", "nothing x", "file a.er"],
    "show": ["nothing", "profile limit", "--format xml", "--limit 3"],
    "hwprofile": ["", "counter", "addcounter", "counter nonsense", "counter 5", "counter page-faults,0", "counter page-faults/1", "counter page-faults,page-faults", "list x", "off x"],
    "watch": ["", "nonsense", "--size 3 total", "--period 0 total", "total --read 5x"],
    "unwatch": ["", "x", "0", "99"],
    "accesses": ["--by x", "--limit x", "a b"],
    "calls": ["nonsense_function", "--by x", "a b"],
    "heaptrace": ["", "maybe", "on off", "on,stacks", "free-stacks", "0"],
    "synctrace": ["", "maybe", "on off", "5", "threshold", "threshold off", "threshold x", "threshold -1", "threshold 5m", "threshold 1000001", "threshold 5 us"],
    "iotrace": ["", "maybe", "on off", "5"],
    "mpitrace": ["on"],
    "tha": ["race"],
    "archive": ["", "on"],
    "metrics": ["nothing", "e.nothing", "x.totalcpu", "a b", ":"],
    "sort": ["nothing", "e.nothing", "a b"],
    "functions": [*SPANS, *SHOWN, *LISTED, *METRICS, "a.er b.er", "/nowhere.er", "/etc"],
    "callers-callees": [*SPANS, "/nowhere.er"],
    "csingle": [*SPANS, "a b c", "main x", "main 0"],
    "calltree": [*LISTED, *METRICS],
    "ioactivity": [*SPANS[:2], *LISTED, "/nowhere.er"],
    "iostat": ["--limit 3", "/nowhere.er"],
    "metric_list": ["--limit 3", "/nowhere.er"],
    "dump": ["nothing", "clock clock", *SPANS[:2], *LISTED],
    "header": ["/nowhere.er", "a b", "--sort name"],
    "overview": [*SPANS[:3], "--limit 2"],
    "samples": [*SPANS, "/nowhere.er"],
    "sample_detail": [*SPANS[:2]],
    "statistics": [*SPANS[:2], "--metrics default"],
    "status": ["--limit 3", "/nowhere.er", "a b"],
    "version": ["3", "--verbose"],
    "help": ["nothing", "a b"],
}
STATES = {
    "no process": [],
    "a process without an experiment": ["breakpoint set --name checkpoint", "run"],
    "recorded": ["collector enable", "continue"],
    "paused": ["collector pause"],
    "ended": ["collector disable"],
    "a second experiment": ["collector enable"],
}


def contents(experiment):
    return {name: (experiment / name).read_bytes() for name in ("log.jsonl", "overview", "profile", "map.jsonl") if (experiment / name).exists()}


def main():
    rows = [f"collector {command} {words}".replace("collector  ", "collector ").strip() for command, each in WRONG.items() for words in each]
    assert len(rows) >= 200 and len(set(rows)) == len(rows), len(rows)
    with recorded.directory() as work:
        commands = []
        for change in STATES.values():
            # gnomon-sampler writes its baseline and periodic samples by itself.
            save = f"platform shell cat {work}/*.er/log.jsonl {work}/*.er/overview | grep -v -e baseline -e periodic"
            commands += [*change, save, "collector show", *rows, "collector show", save]
        answers = lldb_session.run_all(build, ROUNDS, commands, work, ("4",), timeout=90)
        assert [command for command, _ in answers] == [" ".join(command.split(" ")) for command in commands], answers[-3:]
        at = 0
        for state, change in STATES.items():
            at += len(change)
            part = answers[at:at + len(rows) + 4]
            at += len(part)
            assert part[0] == part[-1] and part[1] == part[-2], (state, part[:2], part[-2:])
            for command, said in part[2:-2]:
                if command.split()[1] in NO_COMMANDS:
                    assert said == f"invalid command '{' '.join(command.split()[:2])}'.\n", said  # LLDB says so
                    continue
                assert said.startswith("error: ") and said.count("\n") == 1, (state, command, said)
                assert any(mark in said for mark in ("; ", "?", " needs ")), (state, command, said)
        print(f"{len(rows)} wrong lines in {len(STATES)} states")


main()
