"""Measures `loopfold analyze`: instructions per second, streams, memory, size of the profile; how all of that grows with
the problem; and folding by itself.

    bench/analysis.py build/loopfold [--quick] [--update docs/performance.md]

CPU time, so read ratios between rows rather than seconds. Slowdown is analysis over the native program's CPU time. "With
verdicts / without" is against `analyze --no-verdicts` in the same minute.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import run

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK = "--quick" in sys.argv

# name, source, arguments: smaller than for recording, since analysis looks at every operand of every instance.
PROGRAMS = [
    ("dgemm", "dgemm.c", ["120"]),
    ("stencil", "stencil.c", ["200", "20"]),
    ("LU", "lu.c", ["120"]),
    ("tiled product", "tiled.c", ["96"]),
    ("dynamic programming", "dynamic.c", ["700"]),
    ("std::map", "map.cc", ["10000"]),
]
# Arguments that make the work 1, 2, 4 and 8 times as much.
GROWTH = [
    ("dgemm", "dgemm.c", [["60"], ["76"], ["95"], ["120"]]),
    ("stencil", "stencil.c", [["100", "10"], ["100", "20"], ["200", "10"], ["200", "20"]]),
    ("LU", "lu.c", [["60"], ["76"], ["95"], ["120"]]),
    ("dynamic programming", "dynamic.c", [["250"], ["354"], ["500"], ["707"]]),
]


def compile_all(directory):
    for name, source, _ in PROGRAMS:
        compiler = ["g++", "-std=c++17"] if source.endswith(".cc") else ["gcc", "-std=gnu17"]
        subprocess.run([*compiler, "-O2", "-g", os.path.join(HERE, "programs", source), "-o",
                        os.path.join(directory, source.split(".")[0])], check=True)


def analyse(loopfold, directory, command, *record_options):
    """What `analyze --stats-json` says, with the size of the profile, and the native program's CPU time."""
    native = min(run.cpu(command)[0] for _ in range(3))
    out = os.path.join(directory, "trace")
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([loopfold, "record", "-q", *record_options, "-o", out, "--", *command], stdout=subprocess.DEVNULL, check=True)
    stats = os.path.join(directory, "stats.json")
    best = None
    for _ in range(1 if QUICK else 3):
        subprocess.run([loopfold, "analyze", "--quiet", "--stats-json", stats, out], stdout=subprocess.DEVNULL,
                       check=True)
        with open(stats) as file:
            found = json.load(file)
        if best is None or found["seconds"]["all"] < best["seconds"]["all"]:
            best = found
    plain = []
    for _ in range(1 if QUICK else 3):
        subprocess.run([loopfold, "analyze", "--quiet", "--no-verdicts", "--stats-json", stats, out],
                       stdout=subprocess.DEVNULL, check=True)
        with open(stats) as file:
            plain.append(json.load(file)["seconds"]["all"])
    best["plain"] = min(plain)
    subprocess.run([loopfold, "analyze", "--quiet", out], stdout=subprocess.DEVNULL, check=True)
    best["native"] = native
    best["profile"] = os.path.getsize(os.path.join(out, "profile.json"))
    return best


def speed_table(rows):
    lines = ["| program | instructions | analyze, M instructions/s | M points/s in pass 2 | over native | with verdicts / without | streams | pieces | "
             "shadow, MB | streams, MB | peak, MB | profile, kB |", "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for name, r in rows:
        pieces = sum(r[kind]["pieces"] for kind in ("domains", "accesses", "values", "dependences"))
        seconds = r["seconds"]
        lines.append(f"| {name} | {r['instructions'] / 1e6:.1f} M | {r['instructions'] / seconds['all'] / 1e6:.1f} | "
                     f"{r['points'] / seconds['pass2'] / 1e6:.1f} | {seconds['all'] / max(r['native'], 1e-3):.0f} | "
                     f"{seconds['all'] / r['plain']:.2f} | {r['streams']} | {pieces} | {r['bytes']['shadow'] / 1e6:.1f} | {r['bytes']['streams'] / 1e6:.1f} | "
                     f"{r['bytes']['peak'] / 1e6:.0f} | {r['profile'] / 1e3:.0f} |")
    return lines


def growth_table(rows):
    lines = ["| program | arguments | instructions | pass 2, ns/instruction | streams, MB | profile, bytes |",
             "|---|---|---|---|---|---|"]
    for name, arguments, r in rows:
        lines.append(f"| {name} | {' '.join(arguments)} | {r['instructions'] / 1e6:.2f} M | "
                     f"{1e9 * r['seconds']['pass2'] / r['instructions']:.0f} | {r['bytes']['streams'] / 1e6:.2f} | "
                     f"{r['profile']} |")
    return lines


def fold_table(binary):
    """Points per second of folding by itself, from the benchmark of the library."""
    if not os.path.exists(binary):
        return []
    done = subprocess.run([binary, "--benchmark_filter=fold_stream", "--benchmark_format=json", "--benchmark_min_time=0.1"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True)
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
    with tempfile.TemporaryDirectory(prefix="loopfold-bench-") as directory:
        compile_all(directory)
        speed, growth = [], []
        for name, source, arguments in PROGRAMS:
            print(f"analysing {name} …", file=sys.stderr)
            speed.append((name, analyse(loopfold, directory, [os.path.join(directory, source.split(".")[0]), *arguments])))
        text = os.path.join(directory, "text")
        with open(text, "w") as file:
            file.write("\n".join(f"{i * i % 977:x} {i % 13} line" for i in range(6000)))
        print("analysing gzip …", file=sys.stderr)
        speed.append(("gzip", analyse(loopfold, directory, ["gzip", "-c", text])))
        for name, source, sizes in GROWTH:
            print(f"growing {name} …", file=sys.stderr)
            for arguments in sizes:
                command = [os.path.join(directory, source.split(".")[0]), *arguments]
                # Without libraries: what printf does depends on the number that it prints.
                growth.append((name, arguments, analyse(loopfold, directory, command, "--no-libs")))
    sections = {"analysis": speed_table(speed), "growth": growth_table(growth),
                "folding": fold_table(os.path.join(os.path.dirname(loopfold), "benchmarks"))}
    for lines in sections.values():
        print("\n".join(lines) + "\n")
    if "--update" in sys.argv:
        path = sys.argv[sys.argv.index("--update") + 1]
        with open(path) as file:
            document = file.read()
        for name, lines in sections.items():
            document = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)",
                              lambda m, lines=lines: m[1] + "\n".join(lines) + "\n" + m[2], document, flags=re.S)
        with open(path, "w") as file:
            file.write(document)


main()
