"""Measures `loopfold analyze`: instructions per second, many iterations at a time and event by event, on one core and
on two; recording and analysis together against the program by itself; memory, streams, size of the profile; how all of
that grows with the problem; what the compiler's options matter; and folding by itself.

    python3 bench/analysis.py build/loopfold [--quick] [--update docs/performance.md]

Read ratios between columns rather than seconds. "On one core" is pinned to one, with --jobs 1, and the least CPU time
counts; "on two" is pinned to two, with --jobs 2, and the least elapsed time counts. Both ways of analysis get the same
trace, and must give the same profile. --quick measures everything once, and leaves out what verdicts cost.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import measure
from measure import Cost, least, spend

# name, source, arguments
PROGRAMS = [
    ("dgemm", "dgemm.c", ["200"]),
    ("stencil", "stencil.c", ["300", "55"]),
    ("columns", "columns.c", ["200"]),
    ("sweep in place", "sweep.c", ["300", "40"]),
    ("LU", "lu.c", ["270"]),
    ("tiled product", "tiled.c", ["208"]),
    ("convolution", "convolution.c", ["250", "2"]),
    ("dynamic programming", "dynamic.c", ["2300"]),
    ("FDTD", "fdtd.c", ["210", "41"]),
    ("sparse product", "sparse.c", ["8000", "15"]),
    ("branches", "branches.c", ["10000", "80"]),
    ("std::map", "map.cc", ["20000"]),
]
# What the compiler makes of some of them.
with open("/proc/cpuinfo") as _file:
    AVX2 = [["-O3", "-mavx2", "-mfma"]] if " avx2 " in _file.read() else []
LEVELS = [["-O0"], ["-O1"], ["-O2"], ["-O3"], *AVX2]
AT_LEVELS = ("dgemm", "stencil", "LU", "FDTD", "tiled product")
TEXT_LINES = {"gzip": 8000, "bzip2": 3000}
ROWS = 900
NATIVE_REPEAT = 10  # it takes milliseconds
# Arguments that make the work twice as much each time.
GROWTH = [
    ("dgemm", "dgemm.c", [["150"], ["189"], ["238"], ["300"], ["378"], ["476"], ["600"]]),
    ("stencil", "stencil.c", [["200", "30"], ["200", "60"], ["400", "30"], ["400", "60"], ["800", "30"], ["800", "60"]]),
    ("LU", "lu.c", [["180"], ["227"], ["286"], ["360"], ["454"], ["572"]]),
    ("FDTD", "fdtd.c", [["150", "25"], ["150", "50"], ["300", "25"], ["300", "50"], ["600", "25"], ["600", "50"]]),
    ("dynamic programming", "dynamic.c", [["700"], ["990"], ["1400"], ["1980"]]),
]


@dataclass
class Analysed:
    """One `analyze`: its cost, what --stats-json says, size and hash of the profile."""
    cost: Cost
    stats: dict
    profile: int
    hash: str

    def speed(self, seconds):
        return self.stats["instructions"] / max(seconds, 1e-3) / 1e6

    def pass2(self):
        return self.speed(self.stats["seconds"]["pass2"])


def commands(directory):
    """(name, command) of every program."""
    for name, source, arguments in PROGRAMS:
        yield name, [measure.compiled(directory, source), *arguments]
    for name, lines in TEXT_LINES.items():
        yield name, [name, "-c", measure.text_file(directory, lines)]
    yield "sqlite3", measure.sqlite(directory, ROWS)


def record(loopfold, directory, command, cores, *options):
    """The cost of recording; the trace stays."""
    out = os.path.join(directory, "trace")
    shutil.rmtree(out, ignore_errors=True)
    return spend([loopfold, "record", *options, "-o", out, "--", *command], cores)


def analyse(loopfold, directory, cores, *options):
    out = os.path.join(directory, "trace")
    file = os.path.join(directory, "stats.json")
    cost = spend([loopfold, "analyze", "--quiet", "--jobs", str(cores), "--stats-json", file, *options, out], cores)
    with open(file) as stats:
        return Analysed(cost, json.load(stats), *measure.size_and_hash(os.path.join(out, "profile.json")))


def by_cpu(analysed):
    return analysed.cost.cpu


def by_wall(analysed):
    return analysed.cost.wall


def measure_program(loopfold, directory, command):
    """Everything about one program. Two cores are left out where there is one."""
    none = ["valgrind", "-q", "--tool=none", *command]
    result = {"native": least(lambda: spend(command, 1), lambda cost: cost.cpu, NATIVE_REPEAT),
              "none": least(lambda: spend(none, 1), key=lambda cost: cost.cpu)}
    if len(measure.CORES) > 1:
        result["record2"] = least(lambda: record(loopfold, directory, command, 2), key=lambda cost: cost.wall)
        result["two"] = least(lambda: analyse(loopfold, directory, 2), key=by_wall)
    result["record1"] = least(lambda: record(loopfold, directory, command, 1), key=lambda cost: cost.cpu)
    result["one"] = least(lambda: analyse(loopfold, directory, 1), key=by_cpu)
    result["events"] = least(lambda: analyse(loopfold, directory, 1, "--by-events"), key=by_cpu)
    if result["one"].hash != result["events"].hash:
        sys.exit(f"{' '.join(command)}: another profile with --by-events")
    result["plain"] = least(lambda: analyse(loopfold, directory, 1, "--no-verdicts"), key=by_cpu)
    return result


def speed_table(rows):
    lines = ["| program | instructions | analyze, M instructions/s | pass 2 | --by-events: analyze | pass 2 | "
             "times as fast | wall, one core | wall, two cores | peak, MB | profile, kB |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for name, r in rows:
        one, events = r["one"], r["events"]
        two = f"{r['two'].speed(r['two'].cost.wall):.1f}" if "two" in r else "–"
        speed, before = one.speed(one.cost.cpu), events.speed(events.cost.cpu)
        lines.append(f"| {name} | {one.stats['instructions'] / 1e6:.1f} M | {speed:.1f} | {one.pass2():.1f} | "
                     f"{before:.1f} | {events.pass2():.1f} | "
                     f"{speed / before:.1f} | {one.speed(one.cost.wall):.1f} | {two} | {one.cost.megabytes()} | "
                     f"{one.profile / 1e3:.0f} |")
    return lines + ["", "M instructions/s of CPU time on one core, of the whole command and of its second pass; "
                    "the columns *wall* are M instructions/s of elapsed time. Both ways read the same trace."]


def end_to_end_table(rows):
    lines = ["| program | native, s | none, s | record + analyze, CPU: s | over native | over none | "
             "wall, one core: s | over native | over none | wall, two cores: s | over native | over none |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for name, r in rows:
        native, none, one = r["native"], r["none"], r["record1"] + r["one"].cost
        two = r["record2"] + r["two"].cost if "two" in r else None
        ratios = lambda seconds, of: f"{seconds:.2f} | {seconds / of(native):.0f} | {seconds / of(none):.1f}"
        cpu, wall = (lambda cost: cost.cpu), (lambda cost: cost.wall)
        lines.append(f"| {name} | {native.cpu:.3f} | {none.cpu:.2f} | {ratios(one.cpu, cpu)} | "
                     f"{ratios(one.wall, wall)} | {ratios(two.wall, wall) if two else '– | – | –'} |")
    return lines


def volume_table(rows):
    lines = ["| program | M points/s in pass 2 | with verdicts / without | streams | pieces | shadow, MB | "
             "streams, MB |", "|---|---|---|---|---|---|---|"]
    for name, r in rows:
        stats = r["one"].stats
        pieces = sum(stats[kind]["pieces"] for kind in ("domains", "accesses", "values", "dependences"))
        verdicts = f"{r['one'].cost.cpu / r['plain'].cost.cpu:.2f}"
        lines.append(f"| {name} | {stats['points'] / stats['seconds']['pass2'] / 1e6:.1f} | {verdicts} | "
                     f"{stats['streams']} | {pieces} | {stats['bytes']['shadow'] / 1e6:.1f} | "
                     f"{stats['bytes']['streams'] / 1e6:.1f} |")
    return lines


def growth_table(rows):
    lines = ["| program | arguments | instructions | pass 2, ns/instruction | streams, MB | peak, MB | "
             "profile, bytes |", "|---|---|---|---|---|---|---|"]
    for name, arguments, r in rows:
        instructions, seconds = r.stats["instructions"], r.stats["seconds"]["pass2"]
        lines.append(f"| {name} | {' '.join(arguments)} | {instructions / 1e6:.1f} M | "
                     f"{1e9 * seconds / instructions:.1f} | {r.stats['bytes']['streams'] / 1e6:.2f} | "
                     f"{r.cost.megabytes()} | {r.profile} |")
    return lines


def level_table(rows):
    lines = ["| program | built with | instructions | analyze, s | pass 2, M instructions/s | exact |",
             "|---|---|---|---|---|---|"]
    for name, options, r, exact in rows:
        lines.append(f"| {name} | {' '.join(options)} | {r.stats['instructions'] / 1e6:.1f} M | {r.cost.cpu:.2f} | "
                     f"{r.pass2():.1f} | {100 * exact:.1f} % |")
    return lines


def exact_share(directory):
    """Of the instructions: those of which nothing was approximated."""
    with open(os.path.join(directory, "trace", "profile.json")) as file:
        quality = json.load(file)["quality"]
    return 1 - max((entry["share"] for entry in quality if entry["kind"] == "given up"), default=0)


def measure_levels(loopfold, directory):
    for name, source, arguments in PROGRAMS:
        for options in LEVELS if name in AT_LEVELS else []:
            record(loopfold, directory, [measure.compiled(directory, source, *options), *arguments], None)
            yield name, options, least(lambda: analyse(loopfold, directory, 1), key=by_cpu), exact_share(directory)


def fold_table(binary):
    """Points per second of folding by itself, from the benchmark of the library."""
    if not os.path.exists(binary):
        return []
    done = subprocess.run([binary, "--benchmark_filter=fold_stream", "--benchmark_format=json",
                           "--benchmark_min_time=0.1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    rates = {}
    for entry in json.loads(done.stdout)["benchmarks"]:
        if "items_per_second" in entry:
            stream, variant = entry["label"].rsplit(", ", 1)
            rates.setdefault(stream, {})[variant] = entry["items_per_second"] / 1e6
    variants = list(next(iter(rates.values()), {}))
    lines = ["| M points/s | " + " | ".join(variants) + " |", "|---" * (len(variants) + 1) + "|"]
    for stream, found in rates.items():
        lines.append(f"| {stream} | " + " | ".join(f"{found[variant]:.0f}" for variant in variants) + " |")
    return lines


def main():
    loopfold = sys.argv[1]
    rows, growth = [], []
    with tempfile.TemporaryDirectory(prefix="loopfold-bench-") as directory:
        for name, command in commands(directory):
            print(f"analysing {name} …", file=sys.stderr)
            rows.append((name, measure_program(loopfold, directory, command)))
        for name, source, sizes in GROWTH:
            print(f"growing {name} …", file=sys.stderr)
            for arguments in sizes:
                # Without libraries: what printf does depends on the number that it prints.
                record(loopfold, directory, [measure.compiled(directory, source), *arguments], None, "--no-libs")
                growth.append((name, arguments, least(lambda: analyse(loopfold, directory, 1), key=by_cpu)))
        print("as the compiler makes them …", file=sys.stderr)
        levels = list(measure_levels(loopfold, directory))
    measure.publish({"analysis": speed_table(rows), "end to end": end_to_end_table(rows), "volume": volume_table(rows),
                     "growth": growth_table(growth), "levels": level_table(levels),
                     "folding": fold_table(os.path.join(os.path.dirname(loopfold), "benchmarks"))})


if __name__ == "__main__":
    main()
