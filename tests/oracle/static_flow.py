"""Static truth: the folded dependence graph of kernels/*.c equals isl's dataflow analysis of the same loops.

Every kernel is compiled by GCC, recorded and analysed, in its default sizes and in sizes twice and four times as large.

- Affine kernels (`// static:` lines): domains and flow between statements equal the description's as sets, and every
  piece is exact (static_flow.cc). This is asserted at -O1, and at -O0 where all values go through arrays; at -O2 it is
  only printed, with LOOPFOLD_O2=1. Where a kernel says `// limited:`, folding is known to have no form for it:
  everything is covered, and equality must fail, so that the line goes when the limit does.
- The same through the texts of profile.json, where values go through memory.
- The published ways of folding: F is equal as well, those that approximate contain everything.
- Their folded form does not grow: the streams, their numbers of pieces and their texts, constants apart, are the same
  for the two larger sizes (in small ones, two points make many lines).
- All kernels: the points of each stream are in its pieces, all of them.
- Irregular kernels (`// irregular:`): what is affine in them is found to be; pieces stay few.

    LOOPFOLD_STATIC_FLOW  the oracle (default: tests/oracle/static_flow beside the binary under test)
    LOOPFOLD_KERNELS      a regular expression: only the kernels that it matches
"""

import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import lf  # noqa: E402

ORACLE = os.environ.get("LOOPFOLD_STATIC_FLOW") or os.path.join(os.path.dirname(lf.LOOPFOLD), "tests", "oracle",
                                                                "static_flow")
KERNELS = os.path.join(lf.SOURCE, "kernels")
FLAGS = ["-std=gnu17", "-g", "-fno-inline", "-Wall", "-Wextra"]
MOST_PIECES = 16  # of one stream of an irregular kernel: fold::Options::max_pieces
FEWEST_AFFINE = 25  # kernels with static truth

lf.skip_library_debug_info()
suite = lf.Suite()


class Kernel:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)[:-2]
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.irregular = "\n// irregular:" in text
        self.limited = "\n// limited:" in text
        self.variables = re.search(r"// static: .*\[\](?! :)", text) is not None
        sizes = re.search(r": sizes (.*)", text).group(1)
        self.sizes = [int(size) for size in re.findall(r"\w+ = (\d+)", sizes)]

    def __str__(self):
        return self.name


class Run:
    """One recording of a kernel, and the oracle's view of it."""

    def __init__(self, kernel, directory, level, sizes):
        self.kernel, self.sizes = kernel, [str(size) for size in sizes]
        self.name = f"{kernel} {level} {' '.join(self.sizes)}"
        program = os.path.join(directory, f"{kernel}{level}".replace(" ", ""))
        self.trace = f"{program}-{'-'.join(self.sizes)}"
        built = lf.run(["gcc", *FLAGS, *level.split(), kernel.path, "-o", program, "-lm"],
                       env={"PATH": os.environ["PATH"]})
        recorded = lf.record(self.trace, [program, *self.sizes])
        self.sound = suite.check(f"{self.name}: builds", built.status == 0, built) and suite.check(
            f"{self.name}: records", recorded.status == 0, recorded)

    def oracle(self, command, fold="auto"):
        return lf.run([ORACLE, f"--fold={fold}", command, self.kernel.path, self.trace, *self.sizes])

    def streams(self):
        """What `static_flow list` says, or None."""
        result = self.oracle("list")
        if not suite.check(f"{self.name}: is listed", result.status == 0, result):
            return None
        return json.loads(result.stdout)


KINDS = ("domains", "accesses", "values", "dependences")


DATA_DECIDES = ("edit_distance", "lcs", "matrix_chain", "shortest_paths")  # what is read, unless it is optimised
INTEGER_KERNELS = ("lcs", "edit_distance")  # their integer values are data


def key(stream):
    """What a stream is, whatever the sizes are."""
    names = ("where", "depth", "from_where", "kind", "operand", "lane", "store", "size", "register", "index")
    return (*(str(stream.get(name)) for name in names), stream.get("object", {}).get("name"))


def without_constants(text):
    """The form of a text: what is left of it if every number is the same number."""
    return re.sub(r"(?<![\w])-?\d+", "#", text)


def describe(stream):
    return (f"{stream['where']}" + (f" from {stream['from_where']}" if "from_where" in stream else "") +
            f", depth {stream['depth']}: {stream['pieces']} pieces, {stream['points']} points, "
            f"{'exact' if stream['exact'] else 'not exact ' + stream['why']}\n  {stream['text'][:600]}")


def check_points(run, listing):
    """Every point that went into a stream is in one of its pieces."""
    for kind in KINDS:
        for stream in listing[kind]:
            complete = stream["covered"] and stream["points"] == stream["piece_points"]
            suite.check(f"{run.name}: {kind}: all points are in pieces", complete, describe(stream))
    for stream in listing["domains"]:
        suite.check(f"{run.name}: as many points as instances", stream["points"] == stream["count"], describe(stream))


def check_growth(kernel, small, large):
    """Equal streams, piece counts and forms for two sizes."""
    for kind in KINDS[:2] + KINDS[3:] if kernel.name in INTEGER_KERNELS else KINDS:
        before = {key(stream): stream for stream in small[kind]}
        after = {key(stream): stream for stream in large[kind]}
        if not suite.check(f"{kernel}: the same {kind} in both sizes", before.keys() == after.keys(),
                           "\n".join(map(str, sorted(before.keys() ^ after.keys())))):
            continue
        suite.check(f"{kernel}: {kind} are told apart", len(before) == len(small[kind]), len(before))
        for name, stream in before.items():
            same = (stream["pieces"] == after[name]["pieces"]
                    and without_constants(stream["text"]) == without_constants(after[name]["text"]))
            suite.check(f"{kernel}: {kind}: the same form in both sizes", same,
                        f"{describe(stream)}\n{describe(after[name])}")


def check_equal(run):
    result = run.oracle("compare")
    suite.check(f"{run.name}: equals the static flow", result.status == 0, (result.stdout + result.stderr).decode())


def check_profile(run):
    """The texts of profile.json say the same about what goes through memory."""
    analysed = lf.run([lf.LOOPFOLD, "analyze", "--quiet", run.trace])
    suite.check(f"{run.name}: analyze", analysed.status == 0, analysed)
    result = run.oracle("profile")
    suite.check(f"{run.name}: profile.json equals the static flow", result.status == 0, result)


def check_limited(kernel):
    with lf.Directory() as directory:
        run = Run(kernel, directory, "-O1", [size * 4 for size in kernel.sizes])
        result = run.oracle("compare")
        suite.check(f"{run.name}: is limited", result.status == 1, f"// limited: is no longer true\n{result}")
        check_variants(run)
        result = run.oracle("covers")
        suite.check(f"{run.name}: covers the static flow", result.status == 0, result)


def check_affine(kernel):
    with lf.Directory() as directory:
        runs = [Run(kernel, directory, "-O1", [size * factor for size in kernel.sizes]) for factor in (1, 2, 4)]
        if not all(run.sound for run in runs):
            return
        check_equal(runs[0])
        check_equal(runs[2])
        check_variants(runs[0])
        check_profile(runs[0])
        if not kernel.variables and kernel.name not in DATA_DECIDES:
            check_equal(Run(kernel, directory, "-O0", kernel.sizes))
        listings = [run.streams() for run in runs]
        if not all(listings):
            return
        for run, listing in zip(runs, listings):
            check_points(run, listing)
        check_growth(kernel, *listings[1:])
        for kind in ("domains", "accesses"):
            for stream in listings[0][kind]:
                suite.check(f"{kernel}: {kind}: exact", stream["exact"], describe(stream))
        SPECIAL.get(kernel.name, nothing)(kernel, listings[0])
        if os.environ.get("LOOPFOLD_O2"):
            print_optimised(kernel, directory)


def check_variants(run):
    """The published algorithm without approximation is exact too; with it, nothing is lost."""
    for command, fold in (("compare", "F"), ("covers", "FW"), ("covers", "FGG"), ("covers", "FGGW")):
        result = run.oracle(command, fold)
        suite.check(f"{run.name}: {command} with {fold}", result.status == 0, (result.stdout + result.stderr).decode())


def print_optimised(kernel, directory):
    """-O2 moves loads between iterations and duplicates code; what differs then is no error."""
    run = Run(kernel, directory, "-O2 -fno-tree-vectorize", kernel.sizes)
    result = run.oracle("compare")
    print(f"{run.name}: {(result.stdout + result.stderr).decode()}", flush=True)


def nothing(kernel, listing):
    pass


def check_wrong_descriptions(kernels):
    """The oracle notices a description that is wrong: an access, a bound, the order, a tag."""
    kernel = next(kernel for kernel in kernels if kernel.name == "lu")
    with open(kernel.path, encoding="utf-8") as file:
        right = file.read()
    with lf.Directory() as directory:
        run = Run(kernel, directory, "-O1", kernel.sizes)
        for old, new in (("reads A[k + 1 + i, k + 1 + j], ", "reads A[k + 1 + i, k + j], "),
                         ("reads A[k + 1 + i, k], A[k, k]", "reads A[k + 1 + i, k]"),
                         ("D[k, i] : 0 <= k < N and 0 <= i < N - 1 - k", "D[k, i] : 0 <= k < N and 0 <= i < N - k"),
                         ("order [k, i, 0]", "order [k, i, 2]"),
                         ("// static:   writes A[k + 1 + i, k]\n", "")):
            wrong = os.path.join(directory, "lu.c")
            with open(wrong, "w", encoding="utf-8") as file:
                file.write(right.replace(old, new))
            result = lf.run([ORACLE, "compare", wrong, run.trace, *run.sizes])
            suite.check(f"wrong description noticed: {new!r}", right.count(old) == 1 and result.status == 1, result)


def at(listing, streams, tag, **wanted):
    """Streams of one kind on the line of a tag."""
    return [stream for stream in listing[streams]
            if stream["line"] == listing["tags"][tag] and all(stream[name] == value for name, value in wanted.items())]


def check_all_exact(kernel, listing):
    """Nothing is given up or widened in the kernel's own function."""
    for kind in KINDS:
        for stream in listing[kind]:
            suite.check(f"{kernel}: {kind}: exact", stream["exact"], describe(stream))


def check_rows(kernel, listing):
    """conn[k][j], rows by separate mallocs: the block follows the row, the offset the column."""
    loads = [load for load in at(listing, "accesses", "S", store=False, depth=2, size=8)
             if load["object"]["blocks"] > 1]
    suite.check(f"{kernel}: one load goes through the rows", len(loads) == 1, "\n".join(map(describe, loads)))
    for load in loads:
        suite.check(f"{kernel}: conn[k][j] is affine", load["exact"] and load["pieces"] == 1, describe(load))
        suite.check(f"{kernel}: the row is k", load["block_coefficients"] == [0, 1], load)
        suite.check(f"{kernel}: the column is j", load["coefficients"] == [8, 0], load)
    check_all_exact(kernel, listing)


SPECIAL = {
    "layer_forward": check_rows,
    "stride2_guard": check_all_exact,
    "step3": check_all_exact,
    "circular": check_all_exact,
}


def check_affine_access(kernel, listing, tag, count, **wanted):
    """`count` accesses on the line of the tag are like this, in one exact piece each."""
    found = [access for access in at(listing, "accesses", tag, **wanted) if access["exact"] and access["pieces"] == 1]
    suite.check(f"{kernel}: {tag}: {count} affine accesses {wanted}", len(found) == count,
                "\n".join(map(describe, at(listing, "accesses", tag))))


def check_reads(kernel, listing, tag, count):
    """Each memory operand on the line of the tag found a producer in each of `count` instances."""
    operands = {}
    for stream in at(listing, "dependences", tag, kind="memory"):
        operands.setdefault((stream["where"], stream["operand"]), []).append(stream["points"])
    suite.check(f"{kernel}: {tag}: loads with producers", operands, at(listing, "dependences", tag))
    for operand, points in operands.items():
        suite.check(f"{kernel}: {tag}: {operand}: a producer in each instance", sum(points) == count, points)


def check_chain(kernel, listing, tag):
    """The statement of the tag depends on itself, one iteration earlier, and that is exact."""
    chains = [stream for stream in at(listing, "dependences", tag)
              if stream["from_line"] == listing["tags"][tag] and stream["carried"][1] > 0 and stream["exact"]]
    suite.check(f"{kernel}: {tag}: a chain from one iteration to the next", chains,
                "\n".join(map(describe, at(listing, "dependences", tag))))


def histogram(kernel, listing):
    check_affine_access(kernel, listing, "S", 1, store=False, size=4, coefficients=[4])
    check_reads(kernel, listing, "S", kernel.sizes[0])


def list_sum(kernel, listing):
    check_chain(kernel, listing, "P")
    check_chain(kernel, listing, "S")
    check_reads(kernel, listing, "P", kernel.sizes[0])


def hash_join(kernel, listing):
    check_affine_access(kernel, listing, "K", 1, store=False, coefficients=[4])
    check_affine_access(kernel, listing, "N", 1, store=True, coefficients=[4])
    check_affine_access(kernel, listing, "Q", 1, store=False, coefficients=[4])
    check_reads(kernel, listing, "K", kernel.sizes[0])
    check_reads(kernel, listing, "Q", kernel.sizes[1])


def sparse_matvec(kernel, listing):
    """start[i], start[i + 1] are affine; column[k] and value[k] along a row; y[i] wherever it is."""
    check_affine_access(kernel, listing, "B", 1, store=False, coefficients=[4])
    for count, wanted in ((1, {"size": 4, "coefficients": [None, 4]}), (1, {"size": 8, "coefficients": [None, 8]}),
                          (1, {"size": 8, "coefficients": [None, None]}), (2, {"size": 8, "coefficients": [8, 0]})):
        found = at(listing, "accesses", "S", depth=2, pieces=1, **wanted)
        suite.check(f"{kernel}: {count} accesses {wanted}", len(found) == count,
                    "\n".join(map(describe, at(listing, "accesses", "S"))))


IRREGULAR = {"histogram": histogram, "list_sum": list_sum, "hash_join": hash_join, "sparse_matvec": sparse_matvec}


def check_irregular(kernel):
    with lf.Directory() as directory:
        run = Run(kernel, directory, "-O1", kernel.sizes)
        listing = run.streams() if run.sound else None
        if listing is None:
            return
        check_points(run, listing)
        for kind in KINDS:
            for stream in listing[kind]:
                suite.check(f"{kernel}: {kind}: few pieces", stream["pieces"] <= MOST_PIECES, describe(stream))
        IRREGULAR[kernel.name](kernel, listing)


def check(kernel):
    (check_irregular if kernel.irregular else check_limited if kernel.limited else check_affine)(kernel)


def main():
    kernels = [Kernel(path) for path in sorted(glob.glob(os.path.join(KERNELS, "*.c")))]
    suite.check("enough kernels", sum(not kernel.irregular for kernel in kernels) >= FEWEST_AFFINE, len(kernels))
    wanted = os.environ.get("LOOPFOLD_KERNELS", "")
    suite.each(check, [kernel for kernel in kernels if re.search(wanted, kernel.name)])
    check_wrong_descriptions(kernels)
    suite.finish()


main()
