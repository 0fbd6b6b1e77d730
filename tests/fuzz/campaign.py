#!/usr/bin/env python3
"""Damaged experiments and ELF files in great number, then libFuzzer, a minute each: BUILD [EXPERIMENTS [OBJECTS [SECONDS [RANDOM]]]]."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent / "live"))
import attempts  # noqa: E402
import recorded  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
experiments, objects, seconds, random = [int(word) for word in [*sys.argv[2:], *["20000", "1000", "60", "1"][len(sys.argv) - 2:]]]


def record(work):
    """One of each kind: closed, killed, attached with samples and children, with stops and pauses."""
    found = []

    def run(program, arguments, **more):
        place = pathlib.Path(work) / f"seed{len(found)}"
        place.mkdir()
        _, experiment = recorded.run(build, build / "targets" / program, arguments, place, session=len(found) + 1, **more)
        assert experiment, program
        found.append(experiment)

    run("anew_1", [])
    run("anew_1", ["dies"])
    run("threads", [])
    subprocess.run([build / "bin/gnomon", "collect", "-S", "1", "-C", "a note", build / "targets/family"], cwd=work, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for name, words in (("heap", ["-H", "on,4k,free-stacks", "-p", "1"]), ("locks", ["-s", "all", "-k", "signal"]), ("io", ["-i", "on"]),
                        ("threads", ["-h", "minor-faults,10"])):
        subprocess.run([build / "bin/gnomon", "collect", *words, "-o", f"{name}.er", build / "targets" / name], cwd=work, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with attempts.started(build / "targets/waits", "nanosleep", 5, cwd=work) as program:
        assert program.stdout.readline()
        subprocess.run([build / "bin/gnomon", "collect", "-P", str(program.pid), "-t", "1"], cwd=work, check=True, stdin=subprocess.DEVNULL)
    return [*found, *sorted(pathlib.Path(work).glob("*.er"))]


def elf_files(work):
    stripped = pathlib.Path(work) / "stripped"
    subprocess.run(["objcopy", "--strip-all", "--compress-debug-sections", build / "targets/anew_1", stripped], check=True)
    return [build / "targets/anew_1", build / "targets/libplugin_a.so", build / "targets/reload", stripped]


def packed(experiment):
    """As fuzz_experiment takes it."""
    return b"".join(f"{file.name} {file.stat().st_size}\n".encode() + file.read_bytes() for file in sorted(experiment.iterdir()) if file.is_file())


def unwind_tables(elf):
    """What lies from .eh_frame_hdr on, behind a pc of it."""
    sections = subprocess.run(["readelf", "-SW", elf], capture_output=True, text=True, check=True).stdout
    header = next(line.split("]", 1)[1].split() for line in sections.splitlines() if ".eh_frame_hdr" in line)
    place = int(header[3], 16)
    return struct.pack("<q", 0x1200 - int(header[2], 16)) + elf.read_bytes()[place:place + 8192]


def fuzz(name, seeds, work):
    corpus = pathlib.Path(work) / name
    corpus.mkdir()
    for number, seed in enumerate(seeds):
        (corpus / f"seed{number}").write_bytes(seed)
    words = [build / "fuzz/tests" / name, f"-max_total_time={seconds}", "-timeout=2", "-rss_limit_mb=1024", "-max_len=262144", "-verbosity=0",
             "-print_final_stats=1", f"-artifact_prefix={os.getcwd()}/", f"-seed={random}", corpus]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1"})
    print(name, *[line for line in done.stderr.splitlines() if "number_of_executed_units" in line or "ERROR" in line or "SUMMARY" in line], flush=True)
    return done.returncode


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as work:
        seeds = record(work)
        scratch = pathlib.Path(work) / "scratch"
        scratch.mkdir()
        faults = subprocess.run([build / "tests/mutate_experiments", scratch, str(experiments), str(random), *seeds]).returncode
        faults += subprocess.run([build / "tests/mutate_objects", scratch, str(objects), str(random), *elf_files(work)]).returncode
        if (build / "fuzz/tests/fuzz_cfa").exists() and seconds:
            faults += fuzz("fuzz_experiment", [packed(seed) for seed in seeds], work)
            faults += fuzz("fuzz_object", [file.read_bytes() for file in elf_files(work)], work)
            faults += fuzz("fuzz_cfa", [unwind_tables(file) for file in elf_files(work)[:3]], work)
        sys.exit(min(faults, 1))


main()
