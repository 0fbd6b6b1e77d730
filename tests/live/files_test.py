#!/usr/bin/env python3
"""Files of load objects: where debug files are found, names that are no text, files that are no object or expand to too much, numbers of no process here."""
import lzma
import os
import pathlib
import shutil
import subprocess
import sys

import attempts
import lldb_session
import recorded

build = pathlib.Path(sys.argv[1])
LOADER = "/lib64/ld-linux-x86-64.so.2"
PATIENCE = 60  # s


def gnomon(work, *words, **more):
    return subprocess.run([build / "bin/gnomon", *words], cwd=work, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, **more)


def printed(work, experiment="test.1.er"):
    """The table of functions, and the memory that printing took, bytes."""
    with subprocess.Popen([build / "bin/gnomon", "print", "-functions", experiment], cwd=work, stdout=subprocess.PIPE, text=True) as program:
        out = program.stdout.read()
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    assert program.returncode == 0, out
    return out, usage.ru_maxrss * 1024


def recorded_program(work, name="anew_1"):
    program = shutil.copy2(build / "targets" / name, f"{work}/program")
    done, experiment = recorded.run(build, program, [], work)
    assert done.returncode == 0 and experiment, done
    return program


def split(work):
    """A program without its symbols, and a file that has them."""
    whole = shutil.copy2(build / "targets/anew_1", f"{work}/program.debug")
    subprocess.run(["objcopy", "--only-keep-debug", whole], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={whole}", build / "targets/anew_1", f"{work}/program"], check=True, cwd=work)
    os.mkdir(f"{work}/elsewhere")
    return f"{work}/program", pathlib.Path(shutil.move(whole, f"{work}/elsewhere"))


def debug_link(work):
    program, debug = split(work)
    _, experiment = recorded.run(build, program, [], work)
    without, _ = printed(work)
    assert "of_the_first" not in without and f"{program} has no symbol table, and no debug file of it was found" in without, without
    for place in (work, f"{work}/.debug"):
        os.makedirs(place, exist_ok=True)
        beside = shutil.copy2(debug, place)
        names, _ = printed(work)
        assert "of_the_first" in names and "no debug file" not in names, (place, names)
        shutil.copy2(build / "targets/anew_2", beside)
        other, _ = printed(work)
        assert "of_the_" not in other and "no debug file" in other, (place, other)
        os.unlink(beside)
    answers, _ = lldb_session.run(build, program, [f"collector functions {experiment}", f"target symbols add {debug}", f"collector functions {experiment}"], work)
    before, _, after = [output for _, output in answers[-3:]]
    assert "of_the_first" not in before and "of_the_first" in after, (before, after)


def names_of_bytes(work):
    """Paths that are relative, or not UTF-8."""
    place = os.path.join(os.fsencode(work), b"caf\xe9\n")
    os.mkdir(place)
    plugin = shutil.copy2(os.fsencode(build / "targets/libplugin_a.so"), place)
    for directory in (place, b"../" + os.path.basename(work.encode()) + b"/" + os.path.basename(place)):
        done = gnomon(work, "collect", build / "targets/reload", directory, "a")
        assert done.returncode == 0, done
        functions, notes = recorded.functions(build, f"{work}/{'test.1.er' if directory == place else 'test.2.er'}")
        assert functions["work_of_a"][1] > 0.05 and "no symbols" not in str(notes), (functions, notes)
    os.unlink(plugin)
    gone, _ = printed(work)
    assert "/caf\\xe9\\n/libplugin_a.so: No such file" in gone, gone


def explicit_loader(work):
    done = gnomon(work, "collect", LOADER, build / "targets/anew_1")
    assert done.returncode == 0, done
    functions, notes = recorded.functions(build, f"{work}/test.1.er")
    assert functions["of_the_first"][1] > 0.1 and "no symbols" not in str(notes), (functions, notes)
    with attempts.started(LOADER, build / "targets/waits", "nanosleep", 5) as program:
        assert program.stdout.readline()
        done = gnomon(work, "collect", "-t", "1", "-P", str(program.pid))
        assert done.returncode == 0, done
    functions, notes = recorded.functions(build, f"{work}/test.2.er")
    assert any("part(" in name for name in functions) and "no symbols" not in str(notes), (functions, notes)


def no_objects(work):
    """What takes the place of a load object's file keeps no report from coming, in little memory."""
    program = recorded_program(work)
    os.unlink(program)
    os.mkfifo(program)
    out, _ = printed(work)
    assert f"no symbols: {program} is not a regular file" in out, out
    os.unlink(program)
    subprocess.run(["gzip", "-c", build / "targets/anew_1"], stdout=open(program, "wb"), check=True)
    out, _ = printed(work)
    assert f"no symbols: {program} is not an ELF file" in out, out
    shutil.copy2(build / "targets/anew_1", program)
    os.truncate(program, 1 << 40)
    out, memory = printed(work)
    assert "of_the_first" in out or "no symbols" in out, out
    assert memory < 256 << 20, memory
    packed = lzma.LZMACompressor(preset=0)
    with open(f"{work}/packed", "wb") as file:
        for _ in range(300):
            file.write(packed.compress(bytes(1 << 20)))
        file.write(packed.flush())
    subprocess.run(["objcopy", "--strip-all", "--add-section", f".gnu_debugdata={work}/packed", build / "targets/anew_1", program], check=True)
    out, memory = printed(work)
    assert f"no symbols: {program} has compressed symbols of more than 256 MB" in out, out
    assert memory < 256 << 20, memory


def no_process_here(work):
    """A thread, a core file, a process of another process namespace."""
    with attempts.started(build / "targets/waits", "nanosleep", "5") as program:
        assert program.stdout.readline()
        thread = max(int(task.name) for task in pathlib.Path(f"/proc/{program.pid}/task").iterdir())
        assert thread != program.pid
        done = gnomon(work, "collect", "-P", str(thread), "-t", "1")
        assert done.returncode == 1 and f"it is a thread of process {program.pid}; name that number" in done.stderr, done
    answers = dict(lldb_session.run_all(build, build / "targets/anew_1", ["breakpoint set -n main", "run", "process save-core --style=stack core", "kill"], work))
    assert os.path.exists(f"{work}/core"), answers
    answers = dict(lldb_session.run_all(build, None, [f"target create --core core {build}/targets/anew_1", "collector enable", "collector disable"], work))
    os.unlink(f"{work}/core")
    assert answers["collector enable"].startswith("Enabled: every run from now on writes"), answers


attempts.try_cases(debug_link, names_of_bytes, explicit_loader, no_objects, no_process_here)
