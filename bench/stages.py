"""Where the time of `loopfold analyze` goes: nanoseconds per instruction and stage, event by event
(--by-events) and many iterations at a time.

    python3 bench/stages.py build/loopfold [--update docs/performance.md]

Samples of `perf record`, on one core with --jobs 1. A sample belongs to the innermost function of ours that was inlined
there, and by the file of that function to a stage; so the binary needs its debug information. Callers are not sampled,
so what the C and C++ libraries and the kernel do is a row of its own. Shares are by samples, times from a run without
perf.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

import analysis
import measure

# The irregular ones run for longer than elsewhere: what is done once is to weigh little.
PROGRAMS = [("stencil", "stencil.c", ["300", "50"]), ("tiled product", "tiled.c", ["144"]),
            ("std::map", "map.cc", ["100000"])]
TEXT_LINES = 40000
OTHER = "the rest"
# The first that matches decides: module/file of ours, or the library.
STAGES = [
    ("reading the trace", r"trace/|libzstd|libxxhash|libZydis"),
    ("walk: loops and iteration vectors", r"structure/"),
    ("shadow memory and objects", r"ddg/(shadow_memory|shadow_memory_rows|row_memo|entries|address_map|objects)\b"),
    ("origins behind copies", r"ddg/(origin_\w+|spills|part_origins)\b"),
    ("streams", r"ddg/(streams\w*|stream_links|feed)\b"),
    ("folding", r"fold/"),
    ("dependence graph, the rest of it", r"ddg/"),
    ("names", r"symbols/|libdw|libelf|libz\."),
    ("description and verdicts", r"poly/"),
    ("advice and hidden loops", r"advise/|reconstruct/|libisl|libgmp"),
    ("writing the profile", r"profile/|support/atomic_file|libfmt|nlohmann"),
    ("C and C++ libraries, kernel", r"libc\.|libstdc|libgcc|libmimalloc|kernel"),
    (OTHER, r""),
]


def executable_segment(binary):
    """(offset in the file, address) of the code of a binary."""
    headers = subprocess.run(["readelf", "-lW", binary], stdout=subprocess.PIPE, text=True, check=True).stdout
    offset, address = re.search(r"LOAD +(0x\w+) (0x\w+) .* R E ", headers).groups()
    return int(offset, 16), int(address, 16)


def samples(data, binary):
    """Counts of samples in the binary by address, and elsewhere by library."""
    script = subprocess.run(["perf", "script", "-i", data, "--show-mmap-events", "-F", "ip,dso"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    offset, address = executable_segment(binary)
    start, inside, outside = 0, collections.Counter(), collections.Counter()
    for line in script.splitlines():
        mapped = re.search(r"MMAP2? .*\[(0x\w+)\(0x\w+\) @ (0x\w+|0) .*\]: r-xp (.*)$", line)
        if mapped:
            if os.path.realpath(mapped[3]) == binary:
                start = int(mapped[1], 16) - int(mapped[2], 16) + offset - address
            continue
        sample = re.match(r"\s*([0-9a-f]+) \((.*)\)$", line)
        if not sample:
            continue
        if os.path.realpath(sample[2]) == binary:
            inside[int(sample[1], 16) - start] += 1
        else:
            outside[os.path.basename(sample[2])] += 1
    return inside, outside


def files(binary, addresses):
    """For each address module/file of the innermost of our functions there."""
    done = subprocess.run(["addr2line", "-e", binary, "-a", "-i"], input="\n".join(map(hex, addresses)),
                          stdout=subprocess.PIPE, text=True, check=True)
    found, address = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            address = int(line, 16)
        elif address not in found:
            ours = re.search(r"/src/(\w+/\w+)\.|/(nlohmann)/", line)
            if ours:
                found[address] = ours[1] or ours[2]
    return found


def shares(data, binary):
    """The share of each stage."""
    inside, outside = samples(data, binary)
    where = files(binary, inside)
    if not where:
        sys.exit(f"{binary}: no samples in functions with debug information")
    counts = collections.Counter()
    for place, count in [*((where.get(address, ""), count) for address, count in inside.items()), *outside.items()]:
        counts[next(name for name, pattern in STAGES if re.search(pattern, place))] += count
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()}


def stages(loopfold, directory, *options):
    """Nanoseconds per instruction of each stage, on the trace that was recorded last."""
    analysed = measure.least(lambda: analysis.analyse(loopfold, directory, 1, *options), key=analysis.by_cpu)
    each = 1e9 * analysed.cost.cpu / analysed.stats["instructions"]
    data = os.path.join(directory, "perf.data")
    trace = os.path.join(directory, "trace")
    measure.spend(["perf", "record", "-q", "-F", "4000", "-o", data, "--",
                   loopfold, "analyze", "--quiet", "--jobs", "1", *options, trace], 1)
    return {name: share * each for name, share in shares(data, loopfold).items()}


def table(columns):
    names = [f"{program}, {when}" for program, _ in columns for when in ("by events", "at once")]
    cells = [column for _, pair in columns for column in pair]
    lines = ["| ns/instruction | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for stage, _ in STAGES:
        lines.append(f"| {stage} | " + " | ".join(f"{cell.get(stage, 0):.1f}" for cell in cells) + " |")
    return lines + ["| all | " + " | ".join(f"{sum(cell.values()):.1f}" for cell in cells) + " |"]


def main():
    if shutil.which("perf") is None:
        sys.exit("bench/stages.py: needs perf (Debian: linux-perf)")
    loopfold = os.path.realpath(sys.argv[1])
    columns = []
    with tempfile.TemporaryDirectory(prefix="loopfold-bench-") as directory:
        commands = [(name, [measure.compiled(directory, source), *arguments]) for name, source, arguments in PROGRAMS]
        commands.append(("gzip", ["gzip", "-c", measure.text_file(directory, TEXT_LINES)]))
        for name, command in commands:
            print(f"sampling {name} …", file=sys.stderr)
            analysis.record(loopfold, directory, command, None)
            columns.append((name, [stages(loopfold, directory, "--by-events"), stages(loopfold, directory)]))
    measure.publish({"stages": table(columns)})


if __name__ == "__main__":
    main()
