#!/usr/bin/env python3
"""Keeps the documents true: docs/commands.md is what the program prints, docs/troubleshooting.md is found by the texts it prints."""
import pathlib
import re
import subprocess
import sys

gnomon, top = sys.argv[1], pathlib.Path(sys.argv[2])
printed = subprocess.run([gnomon, "help", "--markdown"], capture_output=True, text=True, timeout=20, check=True).stdout
assert (top / "docs/commands.md").read_text() == printed, "docs/commands.md is old: gnomon help --markdown > docs/commands.md"

literal = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
sources = ""
for room in ("plugin", "injector", "libcollector", "reader", "commands"):
    for path in sorted((top / room).rglob("*")):
        if path.suffix in {".cpp", ".h"}:
            # Neighbouring literals are one text.
            sources += re.sub(r'"\s*\+?\s*"', "", path.read_text()) + "\n"
texts = "\n".join(literal.findall(sources))
guide = (top / "docs/troubleshooting.md").read_text()
headings = re.findall(r"^### (.*)$", guide, re.M)
assert len(headings) > 20
assert len(set(headings)) == len(headings), sorted(headings)
for heading in headings:
    for part in heading.split("…"):
        part = part.strip()
        assert part in texts, f"docs/troubleshooting.md: nothing prints '{part}'"
control = re.sub(r'"\s*\n\s*"', "", (top / "libcollector/format/control.h").read_text())
rows = re.findall(r'(?:DropText|FailureText)\{\w+::\w+,\s*"([^"]*)"', control)
assert len(rows) >= 13, rows
for row in rows:
    assert f"### {row}\n" in guide, f"docs/troubleshooting.md does not explain '{row}'"
print(f"{len(headings)} texts explained")
