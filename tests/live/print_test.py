#!/usr/bin/env python3
"""`gnomon print` as er_print works: scripts, defaults from files, output to files, and commands typed at a terminal."""
import json
import os
import pathlib
import re
import subprocess
import sys

import recorded
import terminal

build = pathlib.Path(sys.argv[1])
GNOMON = build / "bin/gnomon"
PROMPT = r"\(gnomon\) "


def gnomon(*words, work, stdin="", status=0):
    done = subprocess.run([GNOMON, *map(str, words)], capture_output=True, text=True, timeout=30, cwd=work, input=stdin, env={**os.environ, "HOME": str(work)})
    assert done.returncode == status, (words, done)
    return done.stdout, done.stderr


def scripts(work, experiment):
    (work / "script").write_text("# what is hot\nlimit 2\nfunctions\n\nmetrics 'i.totalcpu:name'  # as er_print\noutfile out\nfunctions\nappendfile out\ncallers-callees\n"
                                 "outfile -\nprintmode ;\nfsummary\nquit\nfunctions\n")
    out, error = gnomon("print", "-script", "script", experiment, work=work)
    # A limit leaves <Total> and one more, or the function that a group is about and one more.
    assert out.count("Functions sorted by metric") == 1 and out.count("more functions") == 1, out
    heads, *rows = out.split("\n\n")[-1].splitlines()
    assert heads.startswith("name;exclusive_totalcpu;") and rows[0].startswith("<Total>;") and len(rows) == 2, out
    table, groups = (work / "out").read_text().split("\n\nCallers and callees sorted by metric")
    assert table.startswith("Functions sorted by metric: Inclusive Total CPU Time\n") and "Excl." not in table, table
    assert "Incl." in groups and "Excl." not in groups and "*<Total>" in groups, groups
    assert re.fullmatch(r"gnomon: note: \d+ more functions; --limit 0 shows all.", error.splitlines()[-1]), error

    # The first line that fails ends a script, and is named.
    (work / "wrong").write_text("functions\nfunktions\nfunctions\n")
    out, error = gnomon("print", "-script", "wrong", experiment, work=work, status=1)
    assert out.count("Functions sorted by metric") == 1 and "wrong:2: there is no command -funktions; did you mean functions?" in error, (out, error)
    (work / "itself").write_text("script itself\n")
    _, error = gnomon("print", "-script", "itself", experiment, work=work, status=1)
    assert "is run by a script that it runs itself" in error and error.count("\n") == 1, error
    _, error = gnomon("print", "-outfile", "no/such/file", "-functions", experiment, work=work, status=1)
    assert "cannot write no/such/file: No such file or directory" in error, error


def piped(work, experiment):
    out, error = gnomon("print", work=work, stdin=f"functions\nopen_exp {experiment}\nfunctions --limit 1\nnonsense\n", status=1)
    assert out.count("Functions sorted by metric") == 1, out
    assert error.splitlines() == ["gnomon: no experiment is named; end the line with one, such as test.1.er.",
                                  "gnomon: there is no command -nonsense; `gnomon help` lists them all.", "gnomon: 2 of 4 lines could not be run."], error
    out, _ = gnomon("print", "-metrics", "e.totalcpu:name", "-", experiment, work=work, stdin="functions\n")
    assert "Functions sorted by metric: Exclusive" in out and "Incl." not in out, out


def defaults(work, experiment):
    (work / ".er.rc").write_text("dmetrics i.totalcpu:name\ndsort name\ntabs functions\nfunctions\nname wrong\n")
    out, error = gnomon("print", "-functions", experiment, work=work)
    assert out.startswith("Functions sorted by metric: Name") and "Excl." not in out, out
    assert len(error.splitlines()) == 2 and ".er.rc:4: functions is no command for such a file" in error and ".er.rc:5: name wrong is unknown" in error, error
    (work / ".er.rc").unlink()


def forms(work, experiment):
    html, _ = gnomon("print", "-printmode", "html", "-functions", "-outfile", "page.html", "-functions", experiment, work=work)
    page = (work / "page.html").read_text()
    assert page == html
    assert page.startswith("<!DOCTYPE html>") and page.count("<tr>") > 3 and "&lt;Total&gt;" in page
    assert page.endswith("</html>\n"), page
    cells, _ = gnomon("print", "-printmode", "|", "-functions", experiment, work=work)
    assert cells.splitlines()[0].count("|") == 4 and cells.splitlines()[1].endswith("|<Total>"), cells
    out, _ = gnomon("print", "-name", "short:soname", "-functions", experiment, work=work)
    assert " main (split)\n" in out, out


def several(work, experiment):
    """Experiments are summed, or stand beside each other; a group is read as one."""
    _, other = recorded.run(build, build / "targets/split", ["1"], str(work), interval=1_000_000)
    (work / "all.erg").write_text(f"#analyzer experiment group\n{experiment.name}\n{other.name}\n")

    def rows(*words, **settings):
        out, _ = gnomon("print", "-printmode", "json", *words, work=work, **settings)
        return {row["name"]: row for row in json.loads(out)["rows"]}

    one, two = rows("-functions", experiment), rows("-functions", other)
    for both in (rows("-functions", experiment, other), rows("-functions", "all.erg"), rows("-", experiment, stdin=f"add_exp {other}\nfunctions\n"),
                 rows("-", "all.erg", stdin=f"add_exp {other}\ndrop_exp all.erg\nadd_exp {experiment}\nfunctions\n")):
        for name in set(one) | set(two):
            for column in ("exclusive_totalcpu", "inclusive_totalcpu"):
                assert abs(both[name][column] - sum(each[name][column] for each in (one, two) if name in each)) < 1e-6, (name, both, one, two)
    assert len(rows("-threads", experiment, other)) == len(rows("-threads", experiment)) + len(rows("-threads", other)) - 1
    assert rows("-functions", "--filter", "EXPID == 2", experiment, other)["<Total>"]["exclusive_totalcpu"] == two["<Total>"]["exclusive_totalcpu"]
    lines = rows("-lines", experiment, other)
    assert abs(lines["<Total>"]["exclusive_totalcpu"] - one["<Total>"]["exclusive_totalcpu"] - two["<Total>"]["exclusive_totalcpu"]) < 1e-6

    for how, compares in (("on", lambda a, b: b), ("delta", lambda a, b: b - a), ("ratio", lambda a, b: b / a if a else None)):
        for name, row in rows("-compare", how, "-functions", experiment, other).items():
            a, b = (each.get(name, {}).get("exclusive_totalcpu", 0) for each in (one, two))
            shown, wanted = row["exclusive_totalcpu_2"], compares(a, b)
            assert row["exclusive_totalcpu_1"] == a and (shown == wanted or abs(shown - wanted) < 1e-3), (how, name, row, a, b)
    text, _ = gnomon("print", "-compare", "delta", "-functions", experiment, other, work=work)
    assert f"1: {experiment}\n2: {other}\n" in text and "%" not in text.split("\n\n", 1)[1], text
    out, _ = gnomon("print", "-header", "all.erg", work=work)
    assert out.startswith(f"Experiment: {experiment.name}\n") and f"\n\nExperiment: {other.name}\n" in out and out.count("\nProgram ") == 2, out
    _, error = gnomon("print", "-functions", experiment, f"{work}/none.er", work=work, status=1)
    assert "there is no experiment" in error, error


def typed(work, experiment):
    there = terminal.Typed([GNOMON, "print", experiment], work, HOME=str(work))
    try:
        there.until(PROMPT)
        there.type("fsingle nowhere")
        assert "gnomon: no sample has a function nowhere" in there.until(r"\n.*" + PROMPT)
        # TAB completes what only one command begins with, and the name of a function.
        there.keys("callers\t\n")
        assert "Callers and callees sorted" in there.until(r"\*main.*\n.*" + PROMPT)
        there.keys("csingle mai\t\n")
        assert "*main" in there.until(r"\*main.*\n.*" + PROMPT)
        there.keys("func\t--lim\t1\n")
        there.until(r"<Total>.*\n.*more functions.*\n.*" + PROMPT)
        there.type("quit")
        assert there.process.wait(timeout=30) == 0
    finally:
        there.close()
    # What was typed is there the next time.
    there = terminal.Typed([GNOMON, "print", experiment], work, HOME=str(work))
    try:
        there.until(PROMPT)
        there.keys("\x10\x10\n")
        assert "--limit 1" in there.until(r"more functions.*\n.*" + PROMPT)
        there.keys("\x04")
        assert there.process.wait(timeout=30) == 0
    finally:
        there.close()


with recorded.directory() as directory:
    place = pathlib.Path(directory)
    _, recording = recorded.run(build, build / "targets/split", ["1"], directory, interval=1_000_000)
    for check in (scripts, piped, defaults, forms, several, typed):
        check(place, recording)
print("scripts, files of defaults, output files and a terminal work")
