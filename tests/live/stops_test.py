#!/usr/bin/env python3
"""Each stop that the user of a debugger sees is noted, and `--since stop` is about what ran in between: in synchronous, asynchronous and lldb-dap
sessions."""
import json
import pathlib
import re
import subprocess
import sys

import lldb_session
from terminal import Terminal

build = pathlib.Path(sys.argv[1])
PROGRAM = build / "targets/rounds"  # calls checkpoint every tenth of a second
INTERVAL = 0.010007  # s
TICK = 0.01  # s, of the kernel's, at most
QUESTIONS = ("functions --since stop", "statistics --since stop", "samples")


def check(answers, work, stops=2):
    """The answers to the questions at the second stop, as JSON."""
    functions, statistics, samples = (json.loads(each) for each in answers)
    assert "stop: breakpoint 1.1" in functions["notes"][0], functions["notes"]
    total = functions["rows"][0]["exclusive_totalcpu"]
    names = {re.sub(r"\(.*", "", row["name"]) for row in functions["rows"]}
    if total < 2 * INTERVAL and not any(name.startswith("work::") for name in names):
        raise lldb_session.StoppedTwice(functions)
    assert {"work::computes", "work::computes_less"} <= names, functions
    process = next(row["process"] for row in statistics["rows"] if row["item"] == "CPU time")
    assert abs(total - process) < INTERVAL + TICK, (total, process)
    assert process > 0.04, process
    of_stops = [row["label"] for row in samples["rows"] if row["event"] == "stop"]
    assert of_stops == ["breakpoint 1.1"] * stops, samples
    log = [json.loads(line) for line in (pathlib.Path(work) / "test.1.er/log.jsonl").read_text().splitlines()]
    assert [line["reason"] for line in log if line["event"] == "stop"] == ["breakpoint 1.1"] * stops, log


def batch(work):
    """Synchronous. Threads that stop at once are one stop, and the user's own hook runs as ever."""
    questions = [f"collector {each} --format json" for each in QUESTIONS]
    answers, _ = lldb_session.run(build, PROGRAM, ["collector enable", "target stop-hook add -o 'version'", "breakpoint set --name checkpoint", "run",
                                                   "continue", *questions, "collector dbxsample off", "continue", "collector samples --format json",
                                                   "collector functions --since 'sample' 'breakpoint 1.1' --format json", "target stop-hook list",
                                                   "collector disable", "target stop-hook list", "kill"],
                                  work, arguments=("5",))
    said = dict(answers)
    first = next(output for command, output in answers if command == "run")
    assert "stop reason = breakpoint" in first, first
    assert "lldb version" in first, first
    (pathlib.Path(work) / "after").write_text(said["collector samples --format json"])
    log = pathlib.Path(work) / "test.1.er/log.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    stops = [line for line in lines if '"event":"stop"' in line]
    assert len(stops) == 3, stops  # the third without a sample
    log.write_text("".join(line for line in lines if line != stops[2]))
    check([said[each] for each in questions[:2]] + [said["collector samples --format json"]], work)
    lists = [output for command, output in answers if command == "target stop-hook list"]
    assert "note-stop" in lists[0] and "note-stop" not in lists[1] and "version" in lists[1], lists


def terminal(work):
    session = Terminal(build, work, PROGRAM, "5")
    try:
        for line in ("collector enable", "breakpoint set --name checkpoint"):
            session.type(line)
            session.until(r"\n.*\(lldb\) ")
        for command in ("run", "continue"):
            session.type(command)
            session.until(r"stop reason = breakpoint 1.1.*\(lldb\) ")  # LLDB drops what is typed before its prompt
        check([session.ask(f"collector {each} --format json") for each in QUESTIONS], work)
        session.type("kill")
        session.until("exited")
    finally:
        session.close()


class Dap:
    """A client of the Debug Adapter Protocol, as editors are."""

    def __init__(self, work):
        self.process = subprocess.Popen(["lldb-dap-19"], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.sent = 0
        self.seen = []

    def send(self, command, **arguments):
        self.sent += 1
        body = json.dumps({"seq": self.sent, "type": "request", "command": command, "arguments": arguments})
        self.process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        self.process.stdin.flush()
        return self.sent

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            length = int(line.split(b":")[1])
        assert length, "lldb-dap has ended"
        return json.loads(self.process.stdout.read(length))

    def until(self, fits):
        """The first message that fits; what came before is kept."""
        while True:
            for at, message in enumerate(self.seen):
                if fits(message):
                    return self.seen.pop(at)
            self.seen.append(self.receive())

    def event(self, name):
        return self.until(lambda message: message.get("event") == name)

    def printed_until(self, text):
        """What was printed up to a line with the text; the adapter tells of a stop before it runs the user's commands for the stop."""
        printed = ""
        while text not in printed:
            printed += self.event("output")["body"]["output"]
        return printed

    def ask(self, command, **arguments):
        number = self.send(command, **arguments)
        answer = self.until(lambda message: message.get("request_seq") == number)
        assert answer["success"], answer
        return answer.get("body", {})


def dap(work):
    session = Dap(work)
    try:
        session.ask("initialize", adapterID="lldb", linesStartAt1=True)
        launched = session.send("launch", program=str(PROGRAM), args=["5"], cwd=str(work),
                                preRunCommands=[f"plugin load {build}/lib/lldb-gnomon.so", "collector enable", "collector stop-line on"], stopCommands=["collector stop-line last", "collector hot"])
        session.event("initialized")
        session.ask("setFunctionBreakpoints", breakpoints=[{"name": "checkpoint"}])
        session.ask("configurationDone")
        session.until(lambda message: message.get("request_seq") == launched)
        session.event("stopped")
        session.printed_until("<Total>")
        thread = session.ask("threads")["threads"][0]["id"]
        session.ask("continue", threadId=thread)
        session.event("stopped")
        printed = session.printed_until("<Total>")
        answers = [session.ask("evaluate", expression=f"`collector {each} --format json", context="repl")["result"] for each in QUESTIONS]
        check([each[each.index("{"):] for each in answers], work)
        assert re.search(r"Stopped after <= [\d.]+ m?s: CPU [\d.]+ ms", printed) and "The hottest functions" in printed, printed
        for command in ("where", "hot", "lines --here", "source main", "disasm main", "callers-callees", "calltree", "pcs", "fsummary", "objects", "threads", "doctor",
                        "filters FNAME(main) IN STACK", "header", "status", "stop-line off", "help where"):
            answer = session.ask("evaluate", expression=f"`collector {command}", context="repl")["result"]
            assert "error: " not in answer and (command.startswith(("filters", "stop-line")) or answer.strip()), (command, answer)
        session.ask("disconnect", terminateDebuggee=True)
    finally:
        session.process.kill()
        session.process.wait()


lldb_session.try_cases(batch, terminal, dap)
