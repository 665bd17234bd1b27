#!/usr/bin/env python3
"""Measures reconstruction on all kernels and puts the tables into docs/reconstruct.md.

    bench/reconstruct.py [build directory] [--sizes 1e6,1e8,1e9] [--results FILE] [--print]

Needs the target reconstruct_bench. The tables stand between the lines `<!-- bench -->` and `<!-- end of bench -->`.
"""

import argparse
import json
import os
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(SOURCE, "docs", "reconstruct.md")
BEGIN, END = "<!-- bench -->", "<!-- end of bench -->"


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "an unknown processor"


def power(number):
    return f"10^{len(f'{float(number):.0f}') - 1}"


def table(kernels, sizes):
    head = ["kernel", "references", "loops"] + [f"{power(size)}: M/s" for size in sizes] + \
           [f"{power(sizes[0])} without γ: M/s", "predicted %", "with stride %", "memory kB"]
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    for kernel in kernels:
        runs = kernel["runs"]
        cells = [kernel["name"].replace("_", " "), kernel["references"], runs[0]["levels"]]
        cells += [f"{run['per_second'] / 1e6:,.0f}" for run in runs]
        cells.append(f"{kernel['without_gamma']['per_second'] / 1e6:,.1f}")
        cells += [f"{100 * runs[0]['predicted']:.2f}", f"{100 * runs[0]['predicted_single_stride']:.2f}",
                  f"{max(run['bytes'] for run in runs) / 1e3:,.0f}"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def summary(kernels, sizes):
    last = [(kernel["runs"][-1]["per_second"], kernel["name"].replace("_", " ")) for kernel in kernels]
    slowest, fastest = min(last), max(last)
    every = [run for kernel in kernels for run in kernel["runs"] + [kernel["without_gamma"]]]
    right = sum(run["right"] for run in every)
    return [f"Slowest at {power(sizes[-1])} addresses: {slowest[1]}, {slowest[0] / 1e6:,.0f} M/s; fastest: "
            f"{fastest[1]}, {fastest[0] / 1e6:,.0f} M/s. "
            f"{right} of {len(every)} runs gave one nest per reference, not deeper than its "
            f"source, with the right number of addresses. Least predicted of any kernel, with the stride: "
            f"{100 * min(run['predicted_single_stride'] for run in every):.2f} %. Largest search: "
            f"{max(run['bytes'] for run in every) / 1e3:,.0f} kB."]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--sizes", default="1e6,1e8,1e9")
    parser.add_argument("--results", help="what reconstruct_bench printed for these sizes, instead of running it")
    parser.add_argument("--print", action="store_true", dest="only_print", help="do not change the page")
    options = parser.parse_args()
    sizes = options.sizes.split(",")
    if options.results:
        with open(options.results) as file:
            kernels = json.load(file)
    else:
        bench = os.path.join(options.build, "reconstruct_bench")
        kernels = json.loads(subprocess.run([bench, *sizes], stdout=subprocess.PIPE, check=True).stdout)
    text = "\n".join([f"One thread of {processor()}; millions of addresses per second, by number of addresses.", "",
                      *table(kernels, sizes), "", *summary(kernels, sizes)])
    if options.only_print:
        print(text)
        return
    with open(PAGE) as file:
        page = file.read()
    if BEGIN not in page or END not in page:
        sys.exit(f"{PAGE}: has no lines {BEGIN} and {END}")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    with open(PAGE, "w") as file:
        file.write(f"{before}{BEGIN}\n{text}\n{END}{after}")
    print(f"wrote the tables of {PAGE}")


if __name__ == "__main__":
    main()
