#!/usr/bin/env python3
"""What was changed since a recording is said: a program without a build-id that was built anew, files of another run, blocks that are gone."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import recorded

build = pathlib.Path(sys.argv[1])


def printed(experiment):
    """(exit status, output, errors) of the table of functions"""
    done = subprocess.run([build / "bin/gnomon", "print", "-functions", experiment], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def built_anew(work):
    program = f"{work}/program"
    shutil.copy2(build / "targets/anew_1", program)
    done, experiment = recorded.run(build, program, [], work)
    assert done.returncode == 0, done
    _, right, _ = printed(experiment)
    assert "of_the_first" in right and "build-id" not in right, right
    os.utime(program)
    _, touched, _ = printed(experiment)
    assert "of_the_first" in touched and f"names may be those of another build: {program} was changed since it was recorded" in touched, touched
    shutil.copy2(build / "targets/anew_2", program)
    _, anew, _ = printed(experiment)
    assert f"no symbols: {program} has changed since it was recorded" in anew and "of_the_" not in anew, anew
    os.unlink(program)
    _, gone, _ = printed(experiment)
    assert f"no symbols: cannot open {program}: No such file or directory" in gone, gone


def of_another_run(work):
    _, experiment = recorded.run(build, build / "targets/anew_1", [], work)
    _, other = recorded.run(build, build / "targets/anew_1", [], work, session=2)
    for name in ("map.jsonl", "control", "stacks"):
        copy = pathlib.Path(work) / "copy.er"
        shutil.copytree(experiment, copy)
        shutil.copy2(other / name, copy / name)
        status, out, errors = printed(copy)
        assert status == 1 and out == "" and errors.count("\n") == 1, (name, status, out, errors)
        shutil.rmtree(copy)
    copy = shutil.copytree(experiment, pathlib.Path(work) / "copy.er")
    # A busy machine gives a recording two blocks: no more than ours may come, and a second that does not come is missing.
    (copy / "profile").write_bytes((other / "profile").read_bytes()[:(experiment / "profile").stat().st_size])
    status, out, errors = printed(copy)
    not_ours = [int(number) for number in re.findall("Note: blocks of events that are (?:damaged|missing): ([1-9]) of [1-9];", out)]
    assert status == 0 and "are damaged:" in out and f" of {sum(not_ours)};" in out and "of_the_" not in out, (status, out, errors)


def killed(work):
    """A block that is gone of a program that was killed."""
    done, experiment = recorded.run(build, build / "targets/anew_1", ["dies"], work)
    assert done.returncode == -9, done
    _, right, _ = printed(experiment)
    assert "of_the_first" in right and "missing" not in right, right
    (experiment / "lanes").write_bytes(bytes((experiment / "lanes").stat().st_size))
    _, out, errors = printed(experiment)
    assert re.search("Note: blocks of events that are missing: [1-9] of [1-9];", out), (out, errors)


for case in (built_anew, of_another_run, killed):
    with recorded.directory() as place:
        case(place)
        print(f"{case.__name__}: ok", flush=True)
