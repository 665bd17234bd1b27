"""Measures recording, reading and finding loops, in one run, as CPU time: native, valgrind --tool=none, record,
record --naive, lackey.

    python3 bench/run.py build/loopfold [--quick] [--update docs/performance.md]

Machines are noisy, so read ratios, not seconds: every program's times are taken one after the other, the best of three.
Lackey writes a line per access and is far slower; it gets a smaller problem, and its time is given per instruction.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import measure
from measure import REPEAT

# name, source, arguments, arguments for lackey
PROGRAMS = [
    ("dgemm", "dgemm.c", ["300"], ["40"]),
    ("stencil", "stencil.c", ["500", "60"], ["60", "20"]),
    ("LU", "lu.c", ["320"], ["50"]),
    ("tiled product", "tiled.c", ["256"], ["48"]),
    ("dynamic programming", "dynamic.c", ["3000"], ["200"]),
    ("FDTD", "fdtd.c", ["300", "40"], ["50", "10"]),
    ("sparse product", "sparse.c", ["20000", "20"], ["500", "10"]),
    ("std::map", "map.cc", ["150000"], ["1500"]),
    ("gzip", None, None, None),
    ("python3", None, None, None),
]
# What the interpreter gets to do: dictionaries, strings, calls.
SCRIPT = "n = %d\nd = {str(i): [i, i * i] for i in range(n)}\nprint(sum(len(k) + v[1] %% 7 for k, v in d.items()))"


def cpu(command):
    """CPU seconds of a command and what it starts, and what it wrote to stderr."""
    cost = measure.spend(command)
    return cost.cpu, cost.stderr


def best(function):
    return min((function() for _ in range(REPEAT)), key=lambda result: result if isinstance(result, float) else result[0])


def build(directory):
    built = {}
    for name, source, arguments, small in PROGRAMS:
        if source is None:
            continue
        binary = measure.compiled(directory, source)
        built[name] = ([binary, *arguments], [binary, *small])
    for file, size in (("large", 3_000_000), ("small", 30_000)):
        with open(os.path.join(directory, file), "w") as text:
            seed = 1
            for i in range(size // 6):  # never the whole text in memory: see measure.Cost
                seed = (seed * 1103515245 + 12345) % 2**31
                text.write((" " if i else "") + f"{(seed >> 8) % 5000:x}" + (" \n"[seed % 17 == 0]))
    built["gzip"] = (["gzip", "-c", os.path.join(directory, "large")], ["gzip", "-c", os.path.join(directory, "small")])
    built["python3"] = tuple([sys.executable, "-S", "-c", SCRIPT % count] for count in (60_000, 100))
    return built


def record(loopfold, directory, command, *options):
    """(program's CPU, recording process's CPU, megabytes, instructions, bytes) of one recording."""
    out = os.path.join(directory, "trace")
    shutil.rmtree(out, ignore_errors=True)
    text = cpu([loopfold, "record", "--stats", *options, "-o", out, "--", *command])[1]
    times = re.search(r"CPU time +([\d.]+) s in the program, ([\d.]+) s in the recording process \((\d+) MB\)", text)
    instructions = int(re.search(r"instructions +(\d+) recorded", text).group(1))
    size = os.path.getsize(os.path.join(out, "trace.lft"))
    return float(times.group(1)), float(times.group(2)), int(times.group(3)), instructions, size


def lackey(loopfold, directory, small):
    """Nanoseconds per instruction of lackey --trace-mem=yes on the small problem."""
    instructions = record(loopfold, directory, small, "--from-start")[3]
    command = ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=/dev/null", *small]
    return 1e9 * cpu(command)[0] / instructions


def runs(loopfold, directory):
    """Shares of instructions in long runs, and how fast the reader is."""
    done = subprocess.run([loopfold, "trace", "info", "--runs", "--format", "json", os.path.join(directory, "trace")],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["runs"]


def structure(loopfold, directory):
    """(contexts, instructions per second of pass 1, of pass 2, seconds for names, megabytes) of finding loops."""
    text = cpu([loopfold, "tree", "--quiet", "--stats", os.path.join(directory, "trace")])[1].replace(",", "")
    contexts, memory = re.search(r"(\d+) contexts (\d+) MB", text).groups()
    first, second = re.findall(r"pass \d [\d.]+ s \((\d+) M instructions/s\)", text)
    names = re.search(r"names ([\d.]+) s", text).group(1)
    return int(contexts), int(first), int(second), float(names), int(memory)


def measure_program(loopfold, directory, command, small):
    native = best(lambda: cpu(command)[0])
    none = best(lambda: cpu(["valgrind", "-q", "--tool=none", *command])[0])
    naive = best(lambda: record(loopfold, directory, command, "--naive"))
    fast = best(lambda: record(loopfold, directory, command))
    return {"native": native, "none": none, "naive": naive, "record": fast, "runs": runs(loopfold, directory),
            "structure": max((structure(loopfold, directory) for _ in range(REPEAT)), key=lambda result: result[2]),
            "lackey": lackey(loopfold, directory, small)}


def table(results):
    lines = ["| program | instructions | native | none | record: program | + recording process | --naive: program | "
             "+ recording process | lackey |", "|---|---|---|---|---|---|---|---|---|"]
    for name, r in results.items():
        none, count = r["none"], r["record"][3]
        per = lambda seconds: f"{seconds / none:.2f}"
        lines.append(f"| {name} | {count / 1e6:.0f} M | {per(r['native'])} | 1 | {per(r['record'][0])} | "
                     f"{per(r['record'][0] + r['record'][1])} | {per(r['naive'][0])} | "
                     f"{per(r['naive'][0] + r['naive'][1])} | {r['lackey'] * count / 1e9 / none:.0f} |")
    lines += ["", "CPU time as a multiple of `valgrind --tool=none` on the same program in the same run. Lackey "
              "(`--trace-mem=yes`) is measured on a smaller problem and scaled by instructions.", "",
              "| program | bytes/instruction | --naive | in runs ≥ 4 | ≥ 16 | ≥ 64 | reader, M instructions/s: runs | "
              "control only | events | recording process, MB |", "|---|---|---|---|---|---|---|---|---|---|"]
    for name, r in results.items():
        count, runs_of = r["record"][3], r["runs"]
        share = lambda least: f"{runs_of['share'][least]:.2f}"
        speed = lambda what: f"{runs_of['speed'][what] / 1e6:.0f}"
        lines.append(f"| {name} | {r['record'][4] / count:.4f} | {r['naive'][4] / r['naive'][3]:.4f} | {share('4')} | "
                     f"{share('16')} | {share('64')} | {speed('runs')} | {speed('control')} | {speed('events')} | "
                     f"{r['record'][2]} |")
    lines += ["", "| program | contexts | pass 1, M instructions/s | pass 2, M instructions/s | names, s | MB |",
              "|---|---|---|---|---|---|"]
    for name, r in results.items():
        contexts, first, second, names, memory = r["structure"]
        lines.append(f"| {name} | {contexts} | {first} | {second} | {names:.2f} | {memory} |")
    return lines


def main():
    loopfold = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="loopfold-bench-") as directory:
        results = {}
        for name, (command, small) in build(directory).items():
            print(f"measuring {name} …", file=sys.stderr)
            results[name] = measure_program(loopfold, directory, command, small)
    measure.publish({"recording": table(results)})


if __name__ == "__main__":
    main()
