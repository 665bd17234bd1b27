"""What following the advice on kernels/advice/backprop.c brings: nanoseconds per weight of its two kernels as written,
and as in backprop_by_hand.c (loops interchanged, the sum expanded).

    bench/backprop.py [--update docs/rules/LF-ICH.md]

First both programs must print the same. Numbers are the least of many times, natively, on one core: read ratios. They
depend on sizes: with 16 outputs a row of weights is two cache lines, and the column of a large layer touches as many
lines as there are inputs.
"""

import os
import subprocess
import tempfile

import measure

KERNELS = os.path.join(os.path.dirname(measure.HERE), "kernels", "advice")
VERSIONS = ("backprop.c", "backprop_by_hand.c")
FLAGS = [["-O2", "-fno-tree-vectorize"], ["-O3", "-march=native"]]
SIZES = [(4096, 16, 60), (65536, 16, 20), (4096, 512, 10)]  # inputs, outputs, how often


def built(directory, source, *flags):
    binary = os.path.join(directory, "program")
    subprocess.run(["gcc", "-std=gnu17", *flags, source, "-o", binary, "-lm"], check=True)
    return binary


def output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_equal(directory):
    texts = {output([built(directory, os.path.join(KERNELS, version), "-O1"), "300", "40"]) for version in VERSIONS}
    if len(texts) != 1:
        raise SystemExit("the two versions print different results")


def nanoseconds(directory, version, flags, sizes):
    """(forward, adjust), of one version."""
    kernel = f'-DKERNEL_FILE="{os.path.join(KERNELS, version)}"'
    binary = built(directory, os.path.join(measure.HERE, "programs", "backprop.c"), *flags, kernel)
    command = ["taskset", "-c", str(measure.CORES[0]), binary, *map(str, sizes)]
    return tuple(map(float, output(command).split()))


def table(directory):
    lines = ["| flags | inputs × outputs | forward | by hand | times | adjust | by hand | times |",
             "|---|---|---|---|---|---|---|---|"]
    for flags in FLAGS:
        for sizes in SIZES:
            before, after = (nanoseconds(directory, version, flags, sizes) for version in VERSIONS)
            cells = [f"{old:.2f} | {new:.2f} | {old / new:.1f}" for old, new in zip(before, after)]
            lines.append(f"| {' '.join(flags)} | {sizes[0]} × {sizes[1]} | {' | '.join(cells)} |")
    return lines


def main():
    with tempfile.TemporaryDirectory() as directory:
        check_equal(directory)
        measure.publish({"backprop": table(directory)})


main()
