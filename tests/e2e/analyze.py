"""`loopfold analyze` on real programs: what the profile says, that it says the same every time, and bad input."""

import json
import os
import re
import shutil

import lf
import profile_document as document

suite = lf.Suite()

KERNEL = """
#include <stdlib.h>
static double a[40][48], y[40];
static int bins[16];
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20;
  double** rows = malloc(n * sizeof *rows);
  for (int i = 0; i < n; i++)
    rows[i] = malloc(48 * sizeof **rows); // @rows
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = i + j; // @init
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      rows[i][j] = a[i][j]; // @copy
  for (int i = 1; i < n; i++)
    y[i] = y[i - 1] + rows[i][0]; // @chain
  unsigned s = 1;
  for (int i = 0; i < 10 * n; i++) {
    s = s * 1103515245u + 12345u;
    bins[(s >> 16) & 15]++; // @hist
  }
  return y[n - 1] < 0;
}
"""
AT = document.lines(KERNEL)


def contents(directory):
    """What is known of a kernel is in its profile."""
    program = document.build(directory, "kernel", KERNEL)
    trace = document.record(suite, directory, "kernel-20", program, "20")
    profile = document.analyze(suite, "kernel", trace)
    if profile is None:
        return
    statements = profile.statements
    suite.check("ids are places", [s["id"] for s in statements] == list(range(len(statements))))
    suite.check("names", all(s["name"] == f"S{s['id']}" for s in statements))
    suite.check("statements account for all instructions",
                sum(s["ops"] for s in statements) == profile.program["instructions"],
                (sum(s["ops"] for s in statements), profile.program["instructions"]))
    per_node = {}
    for s in statements:
        per_node[s["node"]] = per_node.get(s["node"], 0) + s["ops"]
    wrong = [n["id"] for n in profile.tree if per_node.get(n["id"], 0) != n["self_ops"]]
    suite.check("statements account for the instructions of every node", not wrong, wrong)
    check_accesses(profile)
    check_dependences(profile)
    check_approximations(profile)
    check_objects(profile)


def check_accesses(profile):
    stores = profile.at("accesses", AT["init"], kind="store")
    suite.check("a[i][j]: one store", len(stores) == 1, stores)
    for store in stores:
        suite.check("a[i][j]: coefficients", store["coefficients"] == [48 * 8, 8] and store["constant"] == 0, store)
        suite.check("a[i][j]: affine and exact", store["affine"] and store["exact"], store)
        suite.check("a[i][j]: its object", profile.objects[store["object"]]["name"] == "a", store)
        suite.check("a[i][j]: as often as it ran", store["count"] == 400, store)
    copies = [s for s in profile.at("accesses", AT["copy"], kind="store") if len(s["coefficients"]) == 2]
    suite.check("rows[i][j]: one store", len(copies) == 1, copies)
    for store in copies:
        suite.check("rows[i][j]: a block per row", store["block_coefficients"] == [1, 0]
                    and store["coefficients"] == [0, 8] and store["affine"], store)
        domain = profile.statements[store["statement"]]["domain"]
        suite.check("rows[i][j]: a triangle", re.search(r"0 <= i1 <= i0\b", domain), domain)


def check_dependences(profile):
    chain = [d for d in profile.at("dependences", AT["chain"], "source_to", distance=[1])
             if d["source_from"] and d["source_from"]["line"] == AT["chain"]]
    suite.check("y[i - 1]: a chain of distance 1", chain, profile.at("dependences", AT["chain"], "source_to"))
    copy = [d for d in profile.at("dependences", AT["copy"], "source_to", kind="memory")
            if d["source_from"] and d["source_from"]["line"] == AT["init"]]
    suite.check("a[i][j]: from init to copy", len(copy) == 1 and copy[0]["exact"], copy)
    for dependence in copy:
        suite.check("a[i][j]: no loop in common", dependence["distance"] is None, dependence)
        suite.check("a[i][j]: its object",
                    dependence["object"] is not None and profile.objects[dependence["object"]]["name"] == "a", dependence)
    for dependence in profile.dependences:
        carried = sum(entry["count"] for entry in dependence["carried"])
        if carried != dependence["count"] and dependence["from"] is not None:
            suite.check("carried adds up", False, dependence)
    suite.check("every dependence was looked at", profile.dependences)


def check_approximations(profile):
    found = profile.gave_up_on(f"address of the store at kernel.c:{AT['hist']}")
    suite.check("bins[...]: named", len(found) == 1 and 0 < found[0]["share"] < 0.5, profile.gave_up)
    suite.check("bins[...]: along which loop", found and "the loop at kernel.c:" in found[0]["why"], found)
    stores = profile.at("accesses", AT["hist"], kind="store")
    suite.check("bins[...]: not affine", stores and not stores[0]["affine"] and stores[0]["coefficients"] == [None],
                stores)
    suite.check("bins[...]: within its object", stores and (stores[0]["minimum"], stores[0]["maximum"]) == (0, 60),
                stores)
    shares = [entry["share"] for entry in profile.gave_up]
    suite.check("gave_up is sorted", shares == sorted(shares, reverse=True), shares)
    suite.check("quality says that something was given up", profile.has_quality("given up"), profile.quality)


def check_objects(profile):
    rows = [o for o in profile.objects if o["kind"] == "heap" and o["source"] and o["source"]["line"] == AT["rows"]]
    suite.check("rows: one object of 20 blocks", len(rows) == 1 and rows[0]["blocks"] == 20 and rows[0]["size"] == 384,
                rows)
    suite.check("0 is the environment, 1 is unknown",
                [o["kind"] for o in profile.objects[:2]] == ["environment", "unknown"], profile.objects[:2])


def same_for_all_jobs(trace):
    """With little memory, batches are small and threads start soon; with few statements, contexts must be chosen."""
    for options in ((), ("--by-events",), ("--max-memory", "3MB"), ("--max-memory", "300kB"), ("--max-statements", "30"),
                    ("--min-percent", "0")):
        texts = {}
        for jobs in (1, 2, 3, 8):
            profile = document.analyze(suite, f"--jobs {jobs}", trace, "--jobs", str(jobs), *options)
            texts[jobs] = profile and profile.text
        suite.check(f"the same for all jobs {' '.join(options)}", len(set(texts.values())) == 1,
                    [lf.difference(str(jobs), texts[1].encode(), text.encode()) for jobs, text in texts.items() if text])


def same_every_time(directory):
    program = document.build(directory, "kernel", KERNEL)
    first = document.record(suite, directory, "first", program, "20")
    texts = {}
    for name in ("once", "again"):
        profile = document.analyze(suite, name, first)
        texts[name] = profile and profile.text
    suite.check("the same trace gives the same profile", len(set(texts.values())) == 1,
                [lf.difference(name, texts["once"].encode(), text.encode()) for name, text in texts.items() if text])
    same_for_all_jobs(first)
    trace = document.record(suite, directory, "second", program, "20")
    profile = document.analyze(suite, "second", trace)
    suite.check("another recording gives the same profile", profile and profile.text == texts["once"],
                profile and lf.difference("profile", texts["once"].encode(), profile.text.encode()))


def size(directory):
    """The profile of a kernel does not grow with the problem."""
    program = document.build(directory, "kernel", KERNEL)
    sizes = {}
    for n in (12, 40):
        profile = document.analyze(suite, str(n), document.record(suite, directory, str(n), program, str(n)))
        sizes[n] = profile and (len(profile.text), len(profile.statements), len(profile.dependences))
    if None in sizes.values():
        return
    suite.check("as many statements", sizes[12][1] == sizes[40][1], sizes)
    suite.check("about as large", sizes[40][0] < sizes[12][0] * 1.05, sizes)


def variants(directory):
    program = document.build(directory, "kernel", KERNEL)
    trace = document.record(suite, directory, "trace", program, "20")
    points = set()
    for variant in ("F", "FW", "FGG", "FGGW", "auto"):
        stats = os.path.join(directory, "stats.json")
        profile = document.analyze(suite, variant, trace, "--fold", variant, "--stats-json", stats)
        if profile is None:
            continue
        with open(stats) as file:
            numbers = json.load(file)
        points.add((numbers["dependences"]["points"], numbers["instruction_streams"]["points"]))
        suite.check(f"{variant}: what was asked for", numbers["fold"] == variant, numbers)
        suite.check(f"{variant}: pieces", numbers["dependences"]["pieces"] >= numbers["dependences"]["streams"], numbers)
        suite.check(f"{variant}: affine points", 0 < numbers["dependences"]["affine_share"] <= 1, numbers)
        suite.check(f"{variant}: dependences add up",
                    sum(d["count"] * len(d["uses"]) for d in profile.dependences)
                    == numbers["dependences"]["points"], numbers)
        if variant == "F":
            inexact = [d for d in profile.dependences if not d["exact"]]
            suite.check("F: every dependence is exact", not inexact, inexact[:3])
    suite.check("the same points go into all of them", len(points) == 1, points)


def output(directory):
    """Where things go: the profile, the summary, statistics."""
    program = document.build(directory, "kernel", KERNEL)
    trace = document.record(suite, directory, "trace", program, "20")
    path = os.path.join(trace, "profile.json")
    result = lf.run([lf.LOOPFOLD, "analyze", trace])
    text = result.stdout.decode()
    suite.check("summary", result.status == 0 and result.stderr == b"", result)
    for part in (program, "statements", "accesses", "dependences", "Approximated", f"kernel.c:{AT['hist']}", "Next: loopfold"):
        suite.check(f"summary: says {part!r}", part in text, result)
    with open(path) as file:
        expected = file.read()
    result = lf.run([lf.LOOPFOLD, "analyze", trace, "-o", "-"])
    suite.check("-o -: the profile", result.stdout.decode() == expected, result)
    other = os.path.join(directory, "other.json")
    result = lf.run([lf.LOOPFOLD, "analyze", trace, "--quiet", "-o", other, "--stats"])
    suite.check("--quiet", result.status == 0 and result.stdout == b"", result)
    suite.check("--stats", re.search(rb"stats: [\d,]+ points in", result.stderr), result)
    with open(other) as file:
        suite.check("-o FILE", file.read() == expected)
    result = lf.run([lf.LOOPFOLD, "analyze", os.path.join(trace, "trace.lft"), "--quiet"])
    suite.check("a trace file", result.status == 0 and os.listdir(trace).count("profile.json") == 1, result)
    views(trace, path)


def views(trace, path):
    """Views read the profile if it is not older than the trace; a newer trace is looked at itself."""
    without = lf.tree(trace)
    os.remove(path)
    suite.check("tree: the same with and without a profile", isinstance(without, dict)
                and {k: v for k, v in lf.tree(trace).items() if k not in ("quality", "gave_up")}
                == {k: v for k, v in without.items() if k not in ("quality", "gave_up")}, without)
    with open(path, "w") as file:
        file.write("{}")
    os.utime(path, (1, 1))
    suite.check("tree: an old profile is not used", isinstance(lf.tree(trace), dict))


def memory(directory):
    """With hardly any memory, the analysis ends, and says what is missing."""
    program = document.build(directory, "kernel", KERNEL)
    trace = document.record(suite, directory, "trace", program, "40")
    profile = document.analyze(suite, "little memory", trace, "--max-memory", "20k")
    if profile is not None:
        suite.check("memory: gave_up says so", profile.gave_up_on("memory limit"), profile.gave_up)
        suite.check("memory: the counts are right", sum(s["ops"] for s in profile.statements)
                    == profile.program["instructions"], profile.program)


THREADS = """
#include <pthread.h>
static long data[64], sums[4];
static void* work(void* p) {
  long k = (long)p;
  for (int i = 0; i < 16; i++) sums[k] += data[16 * k + i]; // @sum
  return 0;
}
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 64; i++) data[i] = i; // @fill
  for (long k = 0; k < 4; k++) pthread_create(&t[k], 0, work, (void*)k);
  for (int k = 0; k < 4; k++) pthread_join(t[k], 0);
  return sums[0] == 0;
}
"""


def threads(directory):
    program = document.build(directory, "threads", THREADS, "-pthread")
    profile = document.analyze(suite, "threads", document.record(suite, directory, "trace", program))
    if profile is None:
        return
    at = document.lines(THREADS)
    suite.check("threads: quality says that values flow between them", profile.has_quality("cross-thread flow"),
                profile.quality)
    inner = [s for s in profile.at("statements", at["sum"]) if len(s["loops"]) == 2]
    suite.check("threads: the thread's number is a coordinate", inner and inner[0]["loops"][0] is None
                and inner[0]["count"] == 64, profile.at("statements", at["sum"]))
    loads = [a for a in profile.at("accesses", at["sum"], kind="load")
             if profile.objects[a["object"]]["name"] == "data"]
    # Which thread gets which number depends on the order in which they first run.
    suite.check("threads: each has its part", loads and loads[0]["coefficients"][1] == 8 and loads[0]["exact"]
                and loads[0]["count"] == 64 and (loads[0]["minimum"], loads[0]["maximum"]) == (0, 63 * 8), loads)


def bad_input(directory):
    empty, garbage = os.path.join(directory, "empty"), os.path.join(directory, "garbage")
    os.mkdir(empty)
    os.mkdir(garbage)
    with open(os.path.join(garbage, "trace.lft"), "wb") as file:
        file.write(bytes(i * 13 % 251 for i in range(4000)))
    for path in (os.path.join(directory, "missing"), empty, garbage):
        result = lf.run([lf.LOOPFOLD, "analyze", path])
        suite.check_error(os.path.basename(path), result, 3, os.path.basename(path))
        suite.check(f"{path}: no profile", not os.path.exists(os.path.join(path, "profile.json")))
    program = document.build(directory, "kernel", KERNEL)
    trace = document.record(suite, directory, "trace", program, "20")
    for options in (("--fold", "X"), ("--jobs", "0"), ("--jobs", "many"), ("--max-memory", "lots"),
                    ("--max-memory", "0"), ("--nonsense",)):
        result = lf.run([lf.LOOPFOLD, "analyze", trace, *options])
        suite.check(f"{options}: status 2", result.status == 2 and result.stdout == b"", result)
        suite.check(f"{options}: one line", result.stderr.startswith(b"loopfold: error: ")
                    and result.stderr.count(b"\n") == 1, result)
    for path in ("/dev/full", os.path.join(directory, "no", "such", "file")):
        suite.check_error(f"-o {path}", lf.run([lf.LOOPFOLD, "analyze", trace, "-q", "-o", path]), 4, "cannot be written")
    os.mkdir(os.path.join(trace, "profile.json"))
    suite.check_error("a directory in the way", lf.run([lf.LOOPFOLD, "analyze", trace]), 4, "profile.json")
    os.rmdir(os.path.join(trace, "profile.json"))
    suite.check("nothing half-written", os.listdir(trace) == ["trace.lft"], os.listdir(trace))
    truncated(directory, trace)


def truncated(directory, trace):
    with open(os.path.join(trace, "trace.lft"), "rb") as file:
        data = file.read()
    partial = 0
    for cut in (len(data) // 3, len(data) * 2 // 3, len(data) - 1):
        copy = os.path.join(directory, f"cut-{cut}")
        os.mkdir(copy)
        with open(os.path.join(copy, "trace.lft"), "wb") as file:
            file.write(data[:cut])
        if not isinstance(lf.info(copy), dict):
            suite.check_error(f"cut at {cut}", lf.run([lf.LOOPFOLD, "analyze", copy]), 3)
            continue
        profile = document.analyze(suite, f"cut at {cut}", copy)
        partial += 1
        suite.check(f"cut at {cut}: partial", profile and profile.program["partial"] is True
                    and profile.has_quality("partial"), profile and profile.quality)
        shutil.rmtree(copy)
    suite.check("some cut traces can be analysed", partial)


def irregular(directory):
    """A program without lines and with little that is affine: the profile stays small, and says briefly what it is not."""
    trace = document.record(suite, directory, "gzip", "gzip", "-c", stdin=b"".join(b"%d squared is %d\n" % (i, i * i)
                                                                                 for i in range(150)))
    profile = document.analyze(suite, "gzip", trace)
    if profile is None:
        return
    elements = sum(len(profile.document[name]) for name in ("statements", "accesses", "dependences"))
    suite.check("gzip: bytes per element", len(profile.text) < 350 * elements, (len(profile.text), elements))
    defaults_are_left_out(profile)
    references(profile)
    shares = [entry["share"] for entry in profile.gave_up]
    suite.check("gzip: gave_up can be read", 0 < len(shares) <= 50, len(shares))
    suite.check("gzip: shares", shares == sorted(shares, reverse=True) and 0 <= shares[-1] and shares[0] <= 1, shares)
    unnamed = [entry for entry in profile.gave_up if not re.search(r":\d+|in \S+\+0x|in \S.* \(|as a whole", entry["what"])]
    suite.check("gzip: gave_up names lines or functions", not unnamed, unnamed[:5])
    whole = [entry["share"] for entry in profile.quality if entry["kind"] == "given up"]
    domains = [entry["share"] for entry in profile.gave_up if "domain" in entry["what"]]
    suite.check("gzip: no part is larger than the whole", whole and domains and max(domains) <= whole[0] <= 1,
                (whole, domains))


def defaults_are_left_out(profile):
    found = []
    for section, definition in (("statements", "statement"), ("accesses", "access"), ("values", "value"),
                                ("dependences", "dependence"), ("tree", "node")):
        rules = document.SCHEMA["definitions"][definition]
        defaults = {name: rule["default"] for name, rule in rules["properties"].items()
                    if "default" in rule and name not in rules["required"]}
        found += [(section, name) for element in profile.plain[section] for name, value in element.items()
                  if name in defaults and value == defaults[name] and type(value) is type(defaults[name])]
    suite.check("defaults are left out", not found, found[:5])


def references(profile):
    """Instructions of statements, accesses and dependences are in the table of code."""
    def instructions(statement):
        code = profile.statements[statement]["code"]
        return 0 if code is None else len(profile.code[code]["addresses"])
    wrong = [s for s in profile.statements if s["kind"] == "code" and s["ops"] != instructions(s["id"]) * s["count"]]
    wrong += [a for a in profile.accesses if not a["instruction"] < max(1, instructions(a["statement"]))]
    wrong += [d for d in profile.dependences for use in d["uses"] if not use["to"] < max(1, instructions(d["to"]))]
    wrong += [d for d in profile.dependences for use in d["uses"]
              if d["from"] is not None and not use["from"] < max(1, instructions(d["from"]))]
    suite.check("code: instructions are there", not wrong, wrong[:3])
    unshared = len({json.dumps(code) for code in profile.code}) != len(profile.code)
    suite.check("code: said once", not unshared)
    flows = [json.dumps([value for name, value in d.items() if name not in ("uses",)]) for d in profile.dependences]
    suite.check("dependences: said once", len(set(flows)) == len(flows), len(flows) - len(set(flows)))


TRIANGLE = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noipa)) void lower(int n, double (*a)[n]) {
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      a[i][k] /= a[k][k];
      for (int j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j]; // @update
    }
}
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 70;
  double (*a)[n] = malloc(sizeof(double) * n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = i == j ? n : 1.0 / (1 + i + j);
  lower(n, a);
  printf("%g\\n", a[n - 1][n - 1]);
  return 0;
}
"""


def vectorised_triangle(directory):
    """Rows that are done several elements at a time are as exact as others, and their nest has an order."""
    update = document.lines(TRIANGLE)["update"]
    for level in ("-O0", "-O2", "-O3"):
        program = document.build(directory, "triangle" + level, TRIANGLE, level, "-fno-unroll-loops")
        trace = document.record(suite, directory, "triangle70" + level, program, "70")
        profile = document.analyze(suite, "triangle " + level, trace)
        if profile is None:
            continue
        lost = max((entry["share"] for entry in profile.quality if entry["kind"] == "given up"), default=0)
        suite.check(f"triangle {level}: nearly all of it is exact", lost < 0.05, (lost, profile.gave_up[:4]))
        failed = [entry for entry in profile.gave_up if entry["what"].startswith("schedule of")]
        suite.check(f"triangle {level}: the scheduler finds orders", not failed, failed)
        domains = [s["domain"] for s in profile.statements if s["ops"] > profile.program["instructions"] / 20]
        halves = [domain for domain in domains if re.search(r" <= 2i\d <= ", domain) and "mod 2" in domain]
        suite.check(f"triangle {level}: rows of pairs have halves as bounds", bool(halves) == (level == "-O3"), domains)
        stores = [a for a in profile.at("accesses", update, kind="store") if a["count"] > 10000]
        suite.check(f"triangle {level}: the update's addresses are affine", stores and all(s["affine"] for s in stores),
                    stores)


def run_case(function):
    with lf.Directory() as directory:
        function(directory)


suite.each(run_case, [contents, same_every_time, size, irregular, variants, output, memory, threads, bad_input,
                      vectorised_triangle])
suite.finish()
