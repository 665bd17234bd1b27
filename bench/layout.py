"""What `loopfold layout search` chooses, beside what was measured: programs with every layout and order in reach,
natively, on one core.

    python3 bench/layout.py build/loopfold [--quick] [--update docs/layout.md]

Each program of bench/programs/layout is profiled on a small problem; the search is asked for the large one (--scale,
--cores 1). Then every combination of layout and order is built for the large problem (gcc -O2 with
vectors, without floating-point reassociation, so that all print the same, which is checked) and timed, copies included. Numbers
are ratios to the program as it is, in one run; tiles are not measured.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Callable

import measure

PROGRAMS = os.path.join(measure.HERE, "programs", "layout")
FLAGS = ["-O2", "-ftree-vectorize", "-march=native"]  # the compiler does not change the order of loops


def by_columns(names):
    """Of "A[72][84] of 8 bytes by columns; ...": a bit per array."""
    def layout(text):
        moved = {part.split("[")[0] for part in text.split("; ") if "by columns" in part}
        return sum(1 << bit for bit, name in enumerate(names) if name in moved)
    return layout


@dataclass
class Case:
    name: str
    small: int
    large: int
    layouts: list  # in words, by number
    layout_of: Callable  # from the search's words
    orders: list = None  # "i j k", by number; none: one

    def orders_or_one(self):
        return self.orders or [None]


def combinations(names):
    return [" and ".join(name for bit, name in enumerate(names) if number >> bit & 1) + " by columns" if number else
            "as they are" for number in range(1 << len(names))]


CASES = [
    Case("gemm", 72, 720, combinations("ABC"), by_columns("ABC"),
         ["i j k", "i k j", "j i k", "j k i", "k i j", "k j i"]),
    Case("columns", 100, 3000, ["as it is", "by columns"], lambda text: int("by columns" in text)),
    Case("hot_field", 2000, 400000, ["as it is", "fields apart"], lambda text: int("per field" in text)),
    Case("transposed_product", 70, 700, ["as they are", "B by columns"], by_columns("B"), ["i j k", "i k j"]),
    Case("padding", 64, 64, ["as it is", "longer rows", "by columns"],
         lambda text: 1 if "longer" in text else 2 if "by columns" in text else 0),
    Case("row_pointers", 120, 3000, ["as it is", "by columns"], lambda text: int("by columns" in text)),
]


def build(directory, case, *flags):
    binary = os.path.join(directory, "program")
    subprocess.run(["gcc", "-std=gnu17", *flags, os.path.join(PROGRAMS, case.name + ".c"), "-o", binary], check=True)
    return binary


def searched(loopfold, directory, case):
    """The search's answer for the nest with most operations."""
    binary = build(directory, case, "-O1", "-g", f"-DN={case.small}", "-DPROFILED")
    trace = os.path.join(directory, "trace")
    subprocess.run([loopfold, "record", "-q", "-o", trace, binary], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run([loopfold, "layout", "search", trace, "-q", "--cores", "1", "--format", "json", "--scale",
                           str(case.large / case.small)], check=True, capture_output=True, text=True).stdout
    return max(json.loads(text)["nests"], key=lambda nest: nest["share"])


def order_of(case, choice):
    """The number of the order that a choice names by lines."""
    if case.orders is None:
        return 0
    with open(os.path.join(PROGRAMS, case.name + ".c"), encoding="utf-8") as file:
        letters = {number: match[1] for number, line in enumerate(file, 1) if (match := re.search(r"// (\w)$", line))}
    lines = [int(line) for line in re.findall(r":(\d+)", choice["loops"])]
    return case.orders.index(" ".join(letters[line] for line in lines))


def timed(directory, case):
    """{(layout, order): seconds}."""
    times, outputs = {}, set()
    for layout, order in itertools.product(range(len(case.layouts)), range(len(case.orders_or_one()))):
        binary = build(directory, case, *FLAGS, f"-DN={case.large}", f"-DLAYOUT={layout}", f"-DORDER={order}")
        outputs.add(subprocess.run([binary], check=True, capture_output=True, text=True).stdout)
        times[layout, order] = measure.least(lambda: measure.spend([binary], 1), lambda cost: cost.cpu).cpu
    if len(outputs) != 1:
        sys.exit(f"{case.name}: not all versions print the same: {outputs}")
    return times


def described(case, layout, order):
    words = case.layouts[layout]
    return f"{words}, {case.orders[order]}" if case.orders else words


def measured_row(case, nest, times):
    place = lambda key: (case.layout_of(nest[key]["layouts"]), order_of(case, nest[key]))
    original = times[0, 0]
    cells = [f"{times[place(key)] / original:.2f} ({described(case, *place(key))})"
             for key in ("order_alone", "layout_alone", "both")]
    ranked = sorted(times.values())
    rank = ranked.index(times[place("both")]) + 1
    return (f"| {case.name.replace('_', ' ')} | {original:.2f} s | {' | '.join(cells)} | {rank} of {len(ranked)} | "
            f"{ranked[0] / original:.2f} |")


def ranking_rows(case, nest, times):
    """Of each combination of layouts: the search's cost, its order, and the best that was measured."""
    rows = []
    best_cost = nest["ranking"][0]["cost"]["total"]
    best = {layout: min((times[layout, order], order) for order in range(len(case.orders)))
            for layout in range(len(case.layouts))}
    measured = sorted(best, key=lambda layout: best[layout])
    for number, choice in enumerate(nest["ranking"], 1):
        layout = case.layout_of(choice["layouts"])
        order = order_of(case, choice)
        rows.append(f"| {number} | {case.layouts[layout]} | {choice['cost']['total'] / best_cost:.2f} | "
                    f"{case.orders[order]} | {times[layout, order] / times[0, 0]:.2f} | {case.orders[best[layout][1]]} | "
                    f"{best[layout][0] / times[0, 0]:.2f} | {measured.index(layout) + 1} |")
    return rows


def main():
    loopfold = os.path.abspath(sys.argv[1])
    lines = ["| program | as it is | best order alone | best layout alone | both | rank of both, measured | least measured |",
             "|---|---|---|---|---|---|---|"]
    ranking = ["| rank | layouts | cost | order chosen | measured | best order measured | measured | rank, measured |",
               "|---|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as directory:
        for case in CASES:
            nest = searched(loopfold, directory, case)
            times = timed(directory, case)
            lines.append(measured_row(case, nest, times))
            if case.name == "gemm":
                ranking += ranking_rows(case, nest, times)
    measure.publish({"layouts": lines, "ranking of layouts": ranking})


if __name__ == "__main__":
    main()
