"""`loopfold report`, and the loops of the source behind it: which loops are one row, options, formats, bad input."""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios

import lf
import profile_document as document

suite = lf.Suite()
UTF8 = dict(lf.ENVIRONMENT, LC_ALL="C.UTF-8")

# Sizes are such that a vectorised or unrolled loop leaves some iterations to the loop behind it.
COPIES = """
static double a[1000], b[1000];
static int c[1000];
__attribute__((noinline)) void scale(int n) {
  for (int i = 0; i < n; i++) // @scale
    a[i] = b[i] * 2.0 + 1.0;
}
__attribute__((noinline)) void two(int n) {
  for (int i = 0; i < n; i++) c[i] += 3; for (int i = 0; i < n; i++) b[i] += c[i]; // @two
}
__attribute__((noinline)) int chain(int n) {
  int s = 1;
  for (int i = 1; i < n; i++) // @chain
    s = s * 7 + c[i] % 5;
  return s;
}
__attribute__((noinline)) int sum(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) // @sum
    s += c[i];
  return s;
}
__attribute__((noinline)) void nest(int n) {
  for (int i = 0; i < n; i++) // @outer
    for (int j = 0; j < n; j++) // @inner
      a[i] += b[j];
}
static inline void add(int* p, int n) {
  for (int i = 0; i < n; i++) // @inlined
    p[i] ^= i;
}
__attribute__((noinline)) void twice(int n) {
  add(c, n);
  add(c, n);
}
int main(int argc, char** argv) {
  int n = 997 - (argc > 5);
  scale(n);
  two(n);
  nest(103 - (argc > 5));
  twice(n);
  volatile int used = chain(n) + sum(n) + (int)a[5];
  return used == 12345;
}
"""
AT = document.lines(COPIES)

SMALL = """
#include <stdio.h>
#include <stdlib.h>
static double a[64][64], x[64];
__attribute__((noinline)) double next(double v) { return v * 0.5; }
int main(int argc, char** argv) {
  for (int t = 0; t < 30; t++) // @time
    for (int i = 1; i < 63; i++) // @row
      for (int j = 1; j < 63; j++) // @column
        a[i][j] = 0.5 * (a[i - 1][j] + next(a[i][j]));
  for (int i = 0; i < argc + 2; i++) // @small
    x[i] += i;
  printf("%f\\n", a[5][5]);
  return 0;
}
"""
SMALL_AT = document.lines(SMALL)


def loopfold(*arguments, **more):
    return lf.run([lf.LOOPFOLD, *arguments], env=UTF8, **more)


def build(directory, name, compiler, *options, source=COPIES):
    folder = os.path.join(directory, name)
    os.makedirs(folder)
    with open(os.path.join(folder, "kernel.c"), "w") as file:
        file.write(source)
    built = lf.run([compiler, "-g", *options, "kernel.c", "-o", "program"], cwd=folder)
    if built.status != 0:
        raise RuntimeError(str(built))
    return os.path.join(folder, "program")


def loops_at(profile, line):
    """All rows of a line of the program, in the order of the tree."""
    rows = [(loop["node"], loop) for region in profile.regions for loop in region["loops"]
            if loop["source"] and loop["source"]["file"].endswith("kernel.c") and loop["source"]["line"] == line]
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def check_regions(name, profile):
    """What must be true of every profile."""
    regions = profile.regions
    suite.check(f"{name}: ids are places", [r["id"] for r in regions] == list(range(len(regions))))
    shares = [r["ops_percent"] for r in regions]
    suite.check(f"{name}: most operations first", shares == sorted(shares, reverse=True), shares)
    seen, loops = set(), 0
    for region in regions:
        first = region["loops"][0]
        suite.check(f"{name}: a region starts with its loop", (first["node"], first["depth"]) == (region["node"], 0), region)
        order = [loop["node"] for loop in region["loops"]]
        suite.check(f"{name}: loops in the order of the tree", order == sorted(order), order)
        for loop in region["loops"]:
            loops += 1
            around = [profile.tree[loop["node"]]["parent"]]  # of the loop, and of the loops that it is in
            while profile.tree[around[-1]]["kind"] == "loop":
                around.append(profile.tree[around[-1]]["parent"])
            suite.check(f"{name}: copies are siblings, or of a loop around",
                        all(profile.tree[node]["parent"] in around for node in loop["nodes"]), loop)
            suite.check(f"{name}: copies are loops", all(profile.tree[n]["kind"] == "loop" for n in loop["nodes"]), loop)
            suite.check(f"{name}: each loop once", not seen & set(loop["nodes"]), loop)
            seen |= set(loop["nodes"])
            suite.check(f"{name}: no reason is missing",
                        loop["parallel"] not in ("no", "unknown") or loop["blocking"] or loop["unknown"], loop)
            suite.check(f"{name}: a reduction is named", loop["parallel"] != "reduction" or loop["reductions"], loop)
    suite.check(f"{name}: there are loops", loops > 0)
    return seen


def one_row_per_source_loop(directory):
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler) is None:
            print(f"{compiler} is not installed: not tested")
            continue
        for level in ("-O0", "-O2", "-O3"):
            name = f"{compiler}{level}"
            program = build(directory, name, compiler, level)
            trace = document.record(suite, directory, f"{name}.out", program)
            profile = document.analyze(suite, name, trace, "--min-percent", "0")
            if profile is None:
                continue
            seen = check_regions(name, profile)
            loops = {node["id"] for node in profile.tree if node["kind"] == "loop"}
            suite.check(f"{name}: every loop is in a region", seen == loops, loops - seen)
            for tag, rows in (("scale", 1), ("two", 2), ("chain", 1), ("sum", 1), ("outer", 1), ("inlined", 2)):
                found = loops_at(profile, AT[tag])
                suite.check(f"{name}: {tag}: {rows} row(s)", len(found) == rows, [row["nodes"] for row in found])
            check_nest(name, profile)
            merged = max(len(row["nodes"]) for tag in AT for row in loops_at(profile, AT[tag]))
            suite.check(f"{name}: no copies at -O0", level != "-O0" or merged == 1, merged)
            suite.check(f"{name}: a loop and what is left of it are one", (compiler, level) != ("clang", "-O3") or merged > 1,
                        merged)


def check_nest(name, profile):
    """Loops that are nested in each other are never one."""
    outer = loops_at(profile, AT["outer"])
    inner = loops_at(profile, AT["inner"])
    suite.check(f"{name}: the inner loop is in the outer one",
                outer and inner and outer[0]["depth"] == 0 and all(row["depth"] == 1 for row in inner), (outer, inner))
    region = next((r for r in profile.regions if outer and r["node"] == outer[0]["node"]), None)
    suite.check(f"{name}: the nest is a region of depth 2", region and region["depth_source"] == 2, region)


def small_trace(directory):
    trace = os.path.join(directory, "small.out")
    if not os.path.exists(trace):
        program = build(directory, "small", "gcc", "-O1", source=SMALL)
        document.record(suite, directory, "small.out", program)
    return trace


def regions_of_a_program(directory):
    trace = small_trace(directory)
    profile = document.analyze(suite, "small", trace)
    if profile is None:
        return
    check_regions("small", profile)
    rows = [loops_at(profile, SMALL_AT[tag]) for tag in ("time", "row", "column")]
    suite.check("the nest has three rows", [len(r) for r in rows] == [1, 1, 1], rows)
    suite.check("by depth", [r[0]["depth"] for r in rows] == [0, 1, 2], rows)
    suite.check("trips", [r[0]["trip"] for r in rows] == [
        {"min": n, "max": n, "mean": n} for n in (30, 62, 62)], rows)
    region = profile.regions[0]
    suite.check("it calls a function", region["interprocedural"], region)
    suite.check("it is exact", region["affine_percent"] > 99, region)
    suite.check("a small loop is no region", not loops_at(profile, SMALL_AT["small"]), profile.regions)
    suite.check("the default is 1 %", profile.regions_min_percent == 1)
    profile = document.analyze(suite, "all", trace, "--min-percent", "0")
    suite.check("--min-percent 0: every loop", profile and len(loops_at(profile, SMALL_AT["small"])) == 1,
                profile and profile.regions)


def as_text(directory):
    trace = small_trace(directory)
    profile_file = os.path.join(trace, "profile.json")
    if os.path.exists(profile_file):
        os.remove(profile_file)
    result = loopfold("report", trace)
    text = result.stdout.decode()
    suite.check("report: runs the analysis first", result.status == 0 and os.path.exists(profile_file), result)
    for part in ("Loops of ", "one run: what follows holds", "Region 0: kernel.c:", "ops %     trips  verdict",
                 f"kernel.c:{SMALL_AT['column']}  main", "Operations by verdict of", "verdict is unknown.",
                 f"Next: loopfold explain {trace} kernel.c:"):
        suite.check(f"report: says {part!r}", part in text, result)
    with open(profile_file, encoding="utf-8") as file:
        rows = {loop["source"]["line"]: loop for region in json.load(file)["regions"] for loop in region["loops"]}
    plain = {int(line) for line in re.findall(r"\bparallel(?!\*)\s+kernel\.c:(\d+)", text)}
    decided = {line for line, loop in rows.items() if loop["parallel"] == "yes" and loop["reuse"] == "none"}
    suite.check("report: a plain yes where nothing is reused, and nowhere else", plain == decided and plain, text)
    suite.check("report: no colour in a file", "\x1b" not in text, text)
    suite.check("report: colour if asked for", b"\x1b[" in loopfold("report", trace, "--color", "always").stdout)
    for columns in ("60", "80", "100", "300"):
        lines = lf.run([lf.LOOPFOLD, "report", trace], env=dict(UTF8, COLUMNS=columns)).stdout.decode().splitlines()
        widest = max(len(line) for line in lines if not line.startswith("Next: "))
        suite.check(f"report: fits into {columns} columns", widest <= min(int(columns), 100), widest)
    ascii_text = lf.run([lf.LOOPFOLD, "report", trace], env=dict(lf.ENVIRONMENT, LC_ALL="C")).stdout
    suite.check("report: ASCII in a plain locale", ascii_text.isascii(), ascii_text)
    top = loopfold("report", trace, "--top", "0").stdout.decode()
    suite.check("report: --top leaves out", "Region 0" not in top and "more region" in top, top)
    quiet = loopfold("report", "--quiet", trace)
    suite.check("report: --quiet has no legend", b"Next:" not in quiet.stdout and quiet.stderr == b"", quiet)


TABLE5 = ["Region", "#V", "#E", "%Aff", "%ops", "%Mops", "%FPops", "interproc.", "what would stop a static compiler", "skew",
          "%||ops", "%simdops", "%reuse", "%Preuse", "ld-src", "ld-bin", "TileD", "%Tilops", "C", "Comp.", "fusion"]


def table5(directory):
    trace = small_trace(directory)
    profile = document.analyze(suite, "small", trace)
    result = loopfold("report", trace, "--format", "markdown", "--table5")
    rows = [re.split(r"(?<!\\\\) \| ", line.strip("| ")) for line in result.stdout.decode().splitlines() if line.startswith("| ")]
    rows = [[cell.replace("\\", "").strip() for cell in row] for row in rows]
    suite.check("table5: the columns of the paper", rows and rows[0] == TABLE5, result)
    shown = [r for r in profile.regions if r["ops_percent"] >= 1]
    suite.check("table5: a row per region and the total", [row[0] for row in rows[1:]] ==
                [f"kernel.c:{r['source']['line']}" for r in shown] + ["total"], rows)
    suite.check("table5: the profile's numbers", [row[1:3] for row in rows[1:-1]] ==
                [[str(r["vertices"]), str(r["edges"])] for r in shown], rows)
    text = loopfold("report", trace, "--table5").stdout.decode()
    suite.check("table5: fits a terminal", max(map(len, text.splitlines())) <= 100 and "%||ops" in text, text)
    result = loopfold("report", trace, "--table5", "--format", "json")
    suite.check("table5: is no JSON", result.status == 2 and result.stdout == b"", result)


def explained(directory):
    trace = small_trace(directory)
    document.analyze(suite, "small", trace)
    line = SMALL_AT["time"]
    result = loopfold("explain", trace, f"kernel.c:{line}")
    text = result.stdout.decode()
    suite.check("explain: status", result.status == 0 and result.stderr == b"", result)
    for part in (f"Loop kernel.c:{line} in main, region 0", "for (int t = 0; t < 30; t++)", f"loop kernel.c:{line}  ×30  (this one)",
                 "30 iterations each time it is entered", "Can its iterations run in any order?\n  no\n", " a ",
                 "What its loads and stores do", "Suggestions"):
        suite.check(f"explain: says {part!r}", part in text, text)
    suite.check("explain: fits", max(map(len, text.splitlines())) <= 100, text)
    source = os.path.join(directory, "small", "kernel.c")
    for name in (source, "small/kernel.c", "./kernel.c"):
        suite.check(f"explain: {name}", loopfold("explain", trace, f"{name}:{line}").stdout.decode() == text)
    inside = loopfold("explain", trace, f"kernel.c:{SMALL_AT['column'] + 1}").stdout.decode()
    suite.check("explain: a line inside", f"Loop kernel.c:{SMALL_AT['column']} in main" in inside, inside)
    region = loopfold("explain", trace, "0").stdout.decode()
    suite.check("explain: a region", region.startswith(f"Region 0: kernel.c:{line} in main"), region)
    os.rename(source, source + ".away")
    gone = loopfold("explain", trace, f"kernel.c:{line}")
    suite.check("explain: no source", gone.status == 0 and b"was not found here" in gone.stdout, gone)
    os.rename(source + ".away", source)
    for target, words in ((f"kernel.c:{line + 300}", f"the nearest: kernel.c:{SMALL_AT['column']}"), ("other.c:1", "kernel.c"),
                          ("99", "no such region"), ("nonsense", "FILE:LINE"),
                          (f"kernel.c:{SMALL_AT['small']}", "--min-percent 0")):
        suite.check_error(f"explain {target}", loopfold("explain", trace, target), 2, words)
    suite.check_error("explain: which loop?", loopfold("explain", trace), 2, "which loop")
    suite.check_error("explain: no recording", loopfold("explain", os.path.join(directory, "nothing"), "0"), 3, "nothing")
    os.rename(trace, os.path.join(directory, "loopfold.out"))
    here = loopfold("explain", f"kernel.c:{line}", cwd=directory)
    suite.check("explain: DIR has a default", here.status == 0 and f"Loop kernel.c:{line}".encode() in here.stdout, here)


def run_in_one(directory):
    program = build(directory, "small", "gcc", "-O1", source=SMALL)
    out = os.path.join(directory, "run.out")
    native = lf.run([program])
    result = loopfold("run", "-o", out, "--min-percent", "5", "--jobs", "1", "--", program)
    text = result.stdout.decode()
    suite.check("run: the program's output comes first", result.status == 0 and text.startswith(native.stdout.decode()), result)
    suite.check("run: then the report", "Region 0: kernel.c:" in text and f"Next: loopfold explain {out} " in text, result)
    suite.check("run: one line about the recording, and no hint", result.stderr.count(b"\n") == 1 and
                b"recorded" in result.stderr and b"next:" not in result.stderr, result)
    profile = document.load(suite, "run", os.path.join(out, "profile.json"))
    suite.check("run: options of the analysis", profile.regions_min_percent == 5)
    again = loopfold("report", out, "--min-percent", "5").stdout.decode()
    suite.check("run: the same report as report's", text == native.stdout.decode() + again, again)
    quiet = loopfold("run", "-q", "-o", out, program)
    suite.check("run --quiet", quiet.status == 0 and quiet.stderr == b"" and b"Next:" not in quiet.stdout, quiet)
    partial = loopfold("run", "-q", "-o", out, "--max-instructions", "5000", "--", program)
    suite.check("run: options of the recording", b"not to the end:" in partial.stdout, partial)


def run_status(directory):
    out = os.path.join(directory, "run.out")
    for command, status in (("exit 7", 7), ("exit 125", 125), ("kill -9 $$", 137), ("kill -TERM $$", 143)):
        result = loopfold("run", "-o", out, "--", "/bin/sh", "-c", command)
        suite.check(f"run {command!r}: status", result.status == status and b"Loops of " in result.stdout, result)
    before = os.stat(os.path.join(out, "trace.lft")).st_mtime_ns
    result = loopfold("run", "-o", out, "--", "/nonexistent/program")
    suite.check_error("run: no such program", result, 127, "/nonexistent/program")
    suite.check("run: the trace before is left alone, and not reported", result.stdout == b"" and
                os.stat(os.path.join(out, "trace.lft")).st_mtime_ns == before, result)
    text = os.path.join(directory, "text")
    with open(text, "w") as file:
        file.write("not a program")
    os.chmod(text, 0o644)
    suite.check_error("run: not executable", loopfold("run", "-o", out, "--", text), 126, "text")
    for arguments in ((), ("--nonsense", "--", "true"), ("--max-memory", "x", "--", "true"),
                      ("--max-instructions", "x", "--", "true"), ("--min-percent", "101", "--", "true")):
        result = loopfold("run", *arguments)
        suite.check(f"run {arguments}: 125", result.status == 125 and result.stdout == b"" and
                    result.stderr.count(b"\n") == 1, result)
    os.mkdir(os.path.join(directory, "kept"))
    full = lf.run(["/bin/sh", "-c", f"{lf.LOOPFOLD} run -q -o {out} -- true > /dev/full"], env=UTF8)
    suite.check("run: a report that cannot be written", full.status == 125 and b"standard output" in full.stderr, full)


def programs_with_little_to_say(directory):
    """Without loops; without debug information; a loop too small to count."""
    for name, source, options, words in (
            ("none", "int main(void) { return 0; }", ("-g",), "No loop"),
            ("bare", SMALL, ("-s", "-O1"), "no debug info"),
            ("few", "int main(int c, char** v) { volatile int s = 0; for (int i = 0; i < 3; i++) s += i; return 0; }", ("-g",),
             "Loops of ")):
        folder = os.path.join(directory, name)
        os.makedirs(folder)
        with open(os.path.join(folder, "kernel.c"), "w") as file:
            file.write(source)
        built = lf.run(["gcc", *options, "kernel.c", "-o", "program"], cwd=folder)
        out = os.path.join(folder, "out")
        result = loopfold("run", "-q", "--no-libs", "-o", out, os.path.join(folder, "program"))
        suite.check(f"{name}: run", built.status == 0 and result.status == 0 and words in result.stdout.decode(), result)
        for arguments in (("report", "--format", "markdown"), ("report", "--table5"), ("report", "--format", "json"),
                          ("ast",), ("ast", "--full"), ("export", "--format", "sarif"), ("export", "--format", "openscop")):
            shown = loopfold(arguments[0], out, *arguments[1:])
            suite.check(f"{name}: {arguments}", shown.status == 0 and shown.stdout, shown)
    bare = json.loads(loopfold("report", os.path.join(directory, "bare", "out"), "--format", "json").stdout)
    first = loopfold("explain", os.path.join(directory, "bare", "out"), str(bare["regions"][0]["id"]))
    suite.check("bare: a region is explained by number", first.status == 0 and b"Region 0" in first.stdout, first)
    suite.check_error("none: explain", loopfold("explain", os.path.join(directory, "none", "out"), "0"), 2, "no regions")


def on_a_terminal(directory):
    trace = small_trace(directory)
    for environment, coloured in ((UTF8, True), (dict(UTF8, NO_COLOR="1"), False)):
        main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        with subprocess.Popen([lf.LOOPFOLD, "report", trace], stdout=other, env=environment) as process:
            os.close(other)
            text = b""
            while True:
                try:
                    part = os.read(main, 65536)
                except OSError:
                    break
                if not part:
                    break
                text += part
        os.close(main)
        suite.check("report: status on a terminal", process.returncode == 0, process.returncode)
        suite.check(f"report: colour on a terminal: {coloured}", (b"\x1b[" in text) == coloured, text)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text.decode())
        suite.check("report: fits the terminal", max(len(line.rstrip()) for line in plain.splitlines() if not line.startswith("Next: ")) <= 80, plain)


def as_json_and_markdown(directory):
    trace = small_trace(directory)
    profile = document.analyze(suite, "small", trace, "--min-percent", "0")
    result = loopfold("report", trace, "--format", "json")
    report = json.loads(result.stdout)
    suite.check("report: JSON has program, quality and regions", list(report) == ["program", "quality", "regions"], list(report))
    suite.check("report: JSON: regions as in the profile",
                [r["id"] for r in report["regions"]] == [r["id"] for r in profile.regions if r["ops_percent"] >= 1], report)
    loop = report["regions"][0]["loops"][0]
    suite.check("report: JSON: the contract's names", {"node", "nodes", "source", "trip", "parallel", "reuse", "reductions",
                "private", "expand", "reload", "assumes", "blocking", "stride01_percent"} <= set(loop), loop)
    every = json.loads(loopfold("report", trace, "--format", "json", "--min-percent", "0").stdout)
    suite.check("report: JSON: all of them", len(every["regions"]) == len(profile.regions), every)
    markdown = loopfold("report", trace, "--format", "markdown").stdout.decode()
    suite.check("report: Markdown has a table", "| loop | function | ops % | trips | verdict | why |" in markdown, markdown)
    suite.check("report: Markdown has a row per loop",
                all(f"kernel.c:{SMALL_AT[tag]} | main |" in markdown for tag in ("time", "row", "column")), markdown)


def smaller_regions_than_the_profile_has(directory):
    trace = small_trace(directory)
    document.analyze(suite, "small", trace, "--min-percent", "5")
    result = loopfold("report", trace, "--min-percent", "0")
    suite.check("report: says that small regions are missing", result.status == 0 and
                b"has regions from 5 % on only" in result.stderr and b"analyze" in result.stderr, result)
    result = loopfold("report", trace)
    suite.check("report: does not without being asked", result.stderr == b"", result)
    os.remove(os.path.join(trace, "profile.json"))
    result = loopfold("report", trace, "--min-percent", "0", "--quiet")
    suite.check("report: analyses with the share that is asked for",
                f"kernel.c:{SMALL_AT['small']}".encode() in result.stdout and result.stderr == b"", result)


def pure_functions(directory):
    trace = small_trace(directory)
    profile = document.analyze(suite, "pure", trace, "--pure", "next", "--pure", "printf")
    if profile is None:
        return
    found = [q for q in profile.quality if q["kind"] == "taken for pure"]
    suite.check("--pure: the profile says so", len(found) == 1 and "next, printf" in found[0]["text"] and
                0 < found[0]["share"] < 1, profile.quality)
    result = loopfold("analyze", trace, "--pure", "no_such", "--pure", "next")
    warnings = result.stderr.decode().splitlines()
    suite.check("--pure: a name that nothing has is one warning", result.status == 0 and
                [line for line in warnings if "--pure" in line] == [line for line in warnings if "no_such" in line] and
                sum("no_such" in line for line in warnings) == 1, result)
    plain = document.analyze(suite, "plain", trace)
    suite.check("without --pure nothing is taken for pure", plain and not plain.has_quality("taken for pure"))


LAST_VALUE = """
#include <stdio.h>
static int out[4000];
int main(int argc, char** argv) {
  int n = 4001 - argc, last = -1;
  for (int i = 0; i < n; i++) {
    out[i] = i * 7 % 31;
#ifdef KEEPS
    if (out[i] > 26) last = i;
#endif
  }
  printf("%d %d\\n", last, out[n / 2]);
  return 0;
}
"""


def last_values_without_debug_information(directory):
    """What a loop leaves in a register may be a variable's last value, if there is nothing that says which."""
    for name, options in (("kept", ["-DKEEPS"]), ("not kept", [])):
        program = build(directory, name, "gcc", "-O1", "-s", *options, source=LAST_VALUE)
        trace = os.path.join(directory, name + ".trace")
        lf.record(trace, [program])
        result = loopfold("report", trace)
        legal = re.findall(r"LF-PAR Run.*?legal +(\w+)", result.stdout.decode(), re.DOTALL)
        suite.check(f"stripped, last value {name}", legal[:1] == (["unknown"] if options else ["yes"]), result)


ALIAS = """
#include <stdio.h>
#define N 1000
static double x[N + 1], y[N + 1];
__attribute__((noinline)) void step(double *d, const double *s, int n) {
  for (int i = 0; i < n; i++) {
    d[i] = s[i] * 0.5 + 1;
  }
}
int main(void) {
  for (int i = 0; i <= N; i++) x[i] = i * 37 % 101;
  step(y, x, N);
  step(x + 1, x, N);
  printf("%g\\n", x[N] + y[0]);
  return 0;
}
"""


def a_loop_with_two_answers(directory):
    """Parallel by one call, in order by another: whoever changes the loop changes it for both."""
    for options in (["-O0"], ["-O2"]):
        program = build(directory, "alias" + options[0], "gcc", *options, source=ALIAS)
        trace = program + ".trace"
        lf.record(trace, [program])
        says = "a copy of step for the call at kernel.c:12: no when called at kernel.c:13"
        for command in (["report", trace], ["report", "--format", "markdown", trace], ["explain", trace, "kernel.c:6"]):
            result = loopfold(*command)
            text = " ".join(result.stdout.decode().split())
            suite.check(f"two answers, {options[0]}, {command[0]}", says in text, result)


def bad_input(directory):
    nothing = os.path.join(directory, "nothing")
    result = loopfold("report", nothing)
    suite.check("report: no such directory", result.status == 3 and result.stderr.count(b"\n") == 1, result)
    for arguments in (("--format", "pdf"), ("--min-percent", "101"), ("--min-percent", "x"), ("--top", "-1")):
        result = loopfold("report", *arguments)
        suite.check(f"report {arguments}: usage", result.status == 2 and result.stdout == b"", result)
    result = loopfold("analyze", "--min-percent", "-1")
    suite.check("analyze --min-percent -1: usage", result.status == 2, result)
    trace = small_trace(directory)
    document.analyze(suite, "small", trace)
    path = os.path.join(trace, "profile.json")
    with open(path) as file:
        good = json.load(file)
    alone = os.path.join(directory, "alone")
    os.makedirs(alone)

    def with_profile(profile):
        with open(os.path.join(alone, "profile.json"), "w") as file:
            json.dump(profile, file)
        return loopfold("report", alone)

    suite.check("report: a profile without its trace is enough", with_profile(good).status == 0)
    old = {name: value for name, value in good.items() if not name.startswith("regions")}
    result = with_profile(old)
    suite.check("report: no verdicts and no trace", result.status == 3 and b"no verdicts" in result.stderr, result)
    bad = json.loads(json.dumps(good))
    bad["regions"][0]["loops"][0]["nodes"] = [10 ** 6]
    result = with_profile(bad)
    suite.check("report: a loop that is not there", result.status == 3 and result.stderr.count(b"\n") == 1, result)


def run_case(function):
    with lf.Directory() as directory:
        function(directory)


suite.each(run_case, [one_row_per_source_loop, regions_of_a_program, as_text, table5, explained, run_in_one, run_status,
                      programs_with_little_to_say, on_a_terminal, as_json_and_markdown,
                      smaller_regions_than_the_profile_has, pure_functions, last_values_without_debug_information,
                      a_loop_with_two_answers, bad_input])
suite.finish()
