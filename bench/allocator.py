"""CPU time of `loopfold analyze` with the allocator that it is linked with, and with that of the C library.

    python3 bench/allocator.py build/loopfold [--update docs/performance.md]

The other allocator is put before the linked one by LD_PRELOAD; the profiles must be the same file.
"""

import os
import subprocess
import sys
import tempfile

import analysis
import measure

PROGRAMS = [("stencil -O2", "stencil.c", ["-O2"], ["100", "10"]), ("stencil -O0", "stencil.c", ["-O0"], ["100", "10"]),
            ("std::map -O2", "map.cc", ["-O2"], ["2000"]), ("std::map -O0", "map.cc", ["-O0"], ["2000"])]
TEXT_LINES = 1000
SQL_ROWS = 20
ROUNDS = 3


def system_libraries(loopfold):
    """The C and C++ libraries that the binary uses: loaded first, their malloc and operator new are taken."""
    listed = subprocess.run(["ldd", loopfold], stdout=subprocess.PIPE, text=True, check=True).stdout
    paths = [line.split()[2] for line in listed.splitlines() if "=>" in line]
    if not any("mimalloc" in path for path in paths):
        sys.exit(f"{loopfold}: is not linked with mimalloc")
    return " ".join(path for path in paths if os.path.basename(path).startswith(("libc.so", "libstdc++.so")))


def analysed(loopfold, directory, preload):
    os.environ["LD_PRELOAD"] = preload
    try:
        return analysis.analyse(loopfold, directory, 1)
    finally:
        del os.environ["LD_PRELOAD"]


def row(loopfold, directory, name, command):
    analysis.record(loopfold, directory, command, 1)
    ways = {"": [], system_libraries(loopfold): []}
    for _ in range(ROUNDS):
        for preload, results in ways.items():
            results.append(analysed(loopfold, directory, preload))
    ours, theirs = (min(results, key=analysis.by_cpu) for results in ways.values())
    if ours.hash != theirs.hash:
        sys.exit(f"{name}: the profiles differ")
    return (f"| {name} | {ours.stats['instructions'] / 1e6:.1f} M | {theirs.cost.cpu:.2f} | {ours.cost.cpu:.2f} "
            f"| {theirs.cost.cpu / ours.cost.cpu:.2f} |")


def main():
    loopfold = os.path.realpath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        commands = [(name, [measure.compiled(directory, source, *options), *sizes])
                    for name, source, options, sizes in PROGRAMS]
        commands.append(("gzip", ["gzip", "-c", measure.text_file(directory, TEXT_LINES)]))
        commands.append(("sqlite3", measure.sqlite(directory, SQL_ROWS)))
        lines = ["| program | instructions | C library, s | mimalloc, s | times as fast |", "|---|---|---|---|---|"]
        lines += [row(loopfold, directory, name, command) for name, command in commands]
    measure.publish({"allocator": lines})


if __name__ == "__main__":
    main()
