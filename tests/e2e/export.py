"""`loopfold export` on a real program: isl reads the sets, a CSV reader the tables, and they are the profile's."""

import csv
import ctypes
import ctypes.util
import io
import json
import os
import re

import lf
import profile_document as document

suite = lf.Suite()

KERNEL = """
static double a[20], b[20];
int main(void) {
  for (int i = 0; i < 20; i++) a[i] = i; // @init
  for (int i = 0; i < 10; i++) b[i] = a[2 * i]; // @use
  return b[3] != 6;
}
"""
AT = document.lines(KERNEL)


class Isl:
    """Just enough of libisl to read unions and to compare them."""

    def __init__(self):
        name = ctypes.util.find_library("isl")
        self.library = ctypes.CDLL(name)
        for function in ("isl_ctx_alloc", "isl_union_map_read_from_str", "isl_union_set_read_from_str"):
            getattr(self.library, function).restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.library.isl_ctx_alloc())
        self.library.isl_options_set_on_error(self.context, 1)  # continue: a null pointer says that it failed

    def read(self, kind, text):
        read = getattr(self.library, f"isl_union_{kind}_read_from_str")
        return ctypes.c_void_p(read(self.context, text.encode()))

    def equal(self, kind, one, other):
        return getattr(self.library, f"isl_union_{kind}_is_equal")(one, other) == 1

    def subset(self, kind, one, other):
        return getattr(self.library, f"isl_union_{kind}_is_subset")(one, other) == 1


def definitions(text):
    return {name: body for name, body in re.findall(r"^(\w+) := (\{.*?^\});$", text, re.MULTILINE | re.DOTALL)}


def export(trace, kind, *options):
    return lf.run([lf.LOOPFOLD, "export", trace, "--format", kind, *options])


def formats(directory):
    program = document.build(directory, "kernel", KERNEL)
    trace = document.record(suite, directory, "trace", program)
    path = os.path.join(trace, "profile.json")
    result = export(trace, "json")
    suite.check("json: analysed first", result.status == 0 and os.path.exists(path), result)
    profile = document.load(suite, "json", path)
    suite.check("json: the profile", result.stdout.decode() == profile.text)
    check_isl(profile, export(trace, "isl"))
    check_csv(profile, export(trace, "csv"))
    check_dot(profile, export(trace, "dot"))
    files(directory, trace, profile)


def check_isl(profile, result):
    suite.check("isl: status", result.status == 0 and result.stderr == b"", result)
    found = definitions(result.stdout.decode())
    suite.check("isl: definitions", list(found) == ["Domain", "Read", "Write", "Register", "Memory", "Control",
                                                    "Environment"], list(found))
    isl = Isl()
    domain = isl.read("set", found.get("Domain", ""))
    suite.check("isl: Domain can be read", domain, found.get("Domain"))
    joined = "; ".join(s["domain"].strip("{} ") for s in profile.statements)
    suite.check("isl: Domain is that of the profile", domain and isl.equal("set", domain,
                                                                           isl.read("set", "{ " + joined + " }")))
    maps = {name: isl.read("map", found[name]) for name in found if name != "Domain"}
    for name, union in maps.items():
        suite.check(f"isl: {name} can be read", union, found[name][:3000])
    for name, kind in (("Register", "register"), ("Memory", "memory")):
        joined = "; ".join(d["map"].strip("{} ") for d in profile.dependences if d["kind"] == kind)
        suite.check(f"isl: {name} is that of the profile",
                    maps.get(name) and isl.equal("map", maps[name], isl.read("map", "{ " + joined + " }")))
    store = profile.at("accesses", AT["init"], kind="store")[0]
    load = profile.at("accesses", AT["use"], kind="load")[0]
    wanted = f"{{ S{store['statement']}[i] -> O{store['object']}[0, 8i] : 0 <= i < 20 }}"
    suite.check("isl: a[i] is written", isl.subset("map", isl.read("map", wanted), maps["Write"]), found["Write"])
    wanted = f"{{ S{load['statement']}[i] -> O{load['object']}[0, 16i] : 0 <= i < 10 }}"
    suite.check("isl: a[2i] is read", isl.subset("map", isl.read("map", wanted), maps["Read"]), found["Read"])
    wanted = f"{{ S{store['statement']}[j] -> S{load['statement']}[i] : j = 2i and 0 <= i < 10 }}"
    suite.check("isl: a flows", isl.subset("map", isl.read("map", wanted), maps["Memory"]), found["Memory"])


def check_csv(profile, result):
    rows = list(csv.DictReader(io.StringIO(result.stdout.decode())))
    suite.check("csv: status", result.status == 0 and rows, result)
    for table in ("statements", "accesses", "values", "dependences", "objects", "gave_up"):
        mine = [row for row in rows if row["table"] == table]
        suite.check(f"csv: all of {table}", len(mine) == len(profile.document[table]), len(mine))
    suite.check("csv: no row too long or too short", all(None not in row and None not in row.values() for row in rows))
    domains = [row["domain"] for row in rows if row["table"] == "statements"]
    suite.check("csv: domains", domains == [s["domain"] for s in profile.statements])


def check_dot(profile, result):
    text = result.stdout.decode()
    suite.check("dot: status", result.status == 0 and text.startswith("digraph"), result)
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    suite.check("dot: braces and quotes are even", plain.count("{") == plain.count("}") and plain.count('"') % 2 == 0)
    boxes = re.findall(r"^  (S\d+) \[label", text, re.MULTILINE)
    suite.check("dot: every statement once", sorted(boxes) == sorted(s["name"] for s in profile.statements))
    arrows = set(re.findall(r"^  (S\d+) -> (S\d+) ", text, re.MULTILINE))
    suite.check("dot: every pair once", arrows == {(f"S{d['from']}", f"S{d['to']}") for d in profile.dependences})
    flow = [d for d in profile.dependences if d["kind"] == "memory" and d["source_to"]
            and d["source_to"]["line"] == AT["use"]][0]
    name = profile.objects[flow["object"]]["name"]
    suite.check("dot: memory is named", re.search(rf'S{flow["from"]} -> S{flow["to"]} \[label="{name}\\n×10"', text), text)
    suite.check("dot: a cluster per loop", all(f"kernel.c:{AT[tag]}" in text for tag in AT), text[:500])


def files(directory, trace, profile):
    path = os.path.join(directory, "out.isl")
    result = export(trace, "isl", "-o", path)
    suite.check("-o FILE", result.status == 0 and result.stdout == b"" and os.path.getsize(path) > 100, result)
    tables = os.path.join(directory, "tables")
    os.mkdir(tables)
    result = export(trace, "csv", "-o", tables, "--quiet")
    suite.check("csv -o DIR", result.status == 0 and result.stderr == b""
                and sorted(os.listdir(tables)) == ["accesses.csv", "dependences.csv", "gave_up.csv", "objects.csv",
                                                   "statements.csv", "values.csv"], os.listdir(tables))
    with open(os.path.join(tables, "objects.csv"), newline="") as file:
        suite.check("csv -o DIR: objects", [row["name"] for row in csv.DictReader(file)]
                    == [o["name"] for o in profile.objects])
    suite.check_error("a full disk", export(trace, "dot", "-o", "/dev/full"), 4, "/dev/full")
    suite.check_error("no such directory", export(trace, "dot", "-o", "/no/such/file"), 4, "/no/such/file")
    for options in (("--format", "nonsense"), ()):
        result = lf.run([lf.LOOPFOLD, "export", trace, *options])
        suite.check(f"export {options}: status 2", result.status == 2, result)


NEST = """
static double a[12][14], b[14][12], c[12][12];
__attribute__((noinline)) void product(int n, int m) {
  for (int i = 0; i < n; i++) // @i
    for (int j = 0; j <= i; j++) // @j
      for (int k = 0; k < m; k++) // @k
        c[i][j] += a[i][k] * b[k][j];
}
int main(int argc, char** argv) {
  product(11 + argc, 13 + argc);
  return c[2][1] != 0;
}
"""


def run_ast(suite, name, folder, text, statements):
    """Compiles a complete program; how often each statement ran, and where."""
    source = os.path.join(folder, f"{name}.c")
    with open(source, "w") as file:
        file.write("#include <stdio.h>\n#define min(a, b) ((a) < (b) ? (a) : (b))\n#define max(a, b) ((a) > (b) ? (a) : (b))\n")
        file.write("#define floord(a, b) (((a) < 0 ? (a) - (b) + 1 : (a)) / (b))\n")
        file.write("static long numbers[8];\n#define RUN(id, ...) do { long v[] = {id, ##__VA_ARGS__}; "
                   "for (unsigned i = 0; i < sizeof v / sizeof *v; i++) printf(\"%ld \", v[i]); puts(\"\"); } while (0)\n")
        for statement in statements:
            file.write(f"#define S{statement['id']}(...) RUN({statement['id']}, ##__VA_ARGS__)\n")
        file.write("int main(void) {\n(void)numbers;\n" + text + "return 0;\n}\n")
    built = lf.run(["gcc", "-std=gnu11", source, "-o", source[:-2]])
    if not suite.check(f"{name}: it is C", built.status == 0, built):
        return []
    return [tuple(map(int, line.split())) for line in lf.run([source[:-2]]).stdout.decode().splitlines()]


def nests_as_programs(directory):
    """`ast --full` is a program: run, it does what ran, in an order that keeps all dependences."""
    program = document.build(directory, "nest", NEST)
    trace = document.record(suite, directory, "nest.out", program)
    path = os.path.join(trace, "profile.json")
    profile = document.analyze(suite, "nest", trace)
    region = profile.regions[0]
    inside = {region["node"]}
    for node in profile.tree:
        if node["parent"] in inside:
            inside.add(node["id"])
    statements = [s for s in profile.statements if s["node"] in inside]
    result = lf.run([lf.LOOPFOLD, "ast", trace, "--region", "0", "--full"])
    suite.check("ast --full: status", result.status == 0 and result.stderr == b"", result)
    ran = run_ast(suite, "written", directory, result.stdout.decode(), statements)
    for statement in statements:
        suite.check(f"ast --full: {statement['name']}: {statement['count']} instances",
                    sum(1 for event in ran if event[0] == statement["id"]) == statement["count"], result)
    suite.check("ast --full: each once", len(set(ran)) == len(ran))
    when = {event: time for time, event in enumerate(ran)}
    kept = 0
    for dependence in profile.dependences:
        if not (dependence["from"] in {s["id"] for s in statements} and dependence["to"] in {s["id"] for s in statements}):
            continue
        distance = dependence["distance"]
        if distance is None or None in distance:
            continue
        shared = len(distance)
        for event in ran:
            if event[0] != dependence["to"]:
                continue
            start = tuple(i - d for i, d in zip(event[1:], distance))
            for other in [e for e in when if e[0] == dependence["from"] and len(e) == 1 + shared and e[1:] == start]:
                kept += 1
                suite.check("ast --full: keeps dependences", when[other] <= when[event], (dependence, other, event))
    suite.check("ast --full: there are dependences", kept > 100, kept)
    with open(path) as file:
        edited = json.load(file)
    deepest = max(statements, key=lambda s: len(s["loops"]))
    edited["regions"][0]["transformed"] = {
        "status": "found", "parallel_ops_percent": 100, "simd_ops_percent": 0, "reuse_percent": 0,
        "potential_reuse_percent": 0, "tile_depth": 3, "tilable_ops_percent": 100, "skew": [], "interchange": [],
        "fusion": "none", "components_before": 1, "components_after": 1,
        "schedule": f"{{ {deepest['name']}[i0, i1, i2] -> [i2, i1, i0] }}",
        "bands": [{"first": 0, "statements": [deepest["id"]], "members": [
            {"terms": [], "parallel": "no"}, {"terms": [], "parallel": "yes"}]}],
        "steps": [], "ast_before": "for x\n", "ast": "for y\n"}
    with open(path, "w") as file:
        json.dump(edited, file)
    result = lf.run([lf.LOOPFOLD, "ast", trace, "--region", "0", "--full", "--transformed"])
    ran = run_ast(suite, "transformed", directory, result.stdout.decode(), statements)
    suite.check("ast --full --transformed: each instance once", len(ran) == len(set(ran)) == deepest["count"], result)
    suite.check("ast --full --transformed: in the new order", ran == sorted(ran, key=lambda e: e[:0:-1]), ran[:20])
    suite.check("ast --full --transformed: one loop is parallel", result.stdout.count(b"// parallel") == 1, result)
    short = lf.run([lf.LOOPFOLD, "ast", trace, "--region", "0"]).stdout
    suite.check("ast: simplified", short.endswith(b"for x\n"), short)
    short = lf.run([lf.LOOPFOLD, "ast", trace, "--transformed"]).stdout
    suite.check("ast: simplified, transformed", b"for y\n" in short, short)
    suite.check_error("ast: no such region", lf.run([lf.LOOPFOLD, "ast", trace, "--region", "99"]), 2, "no such region")


def scop_words(text):
    return [word for line in text.splitlines() for word in line.partition("#")[0].split()]


def read_scop(text):
    """By statement name: its relations, as (kind, isl text over outputs and inputs)."""
    words, at, found = scop_words(text), 0, {}

    def take():
        nonlocal at
        at += 1
        return words[at - 1]

    def part():
        rows, columns, outputs, inputs, local, parameters = (int(take()) for _ in range(6))
        names = [f"x{i}" for i in range(outputs + inputs)]
        locals_ = [f"l{i}" for i in range(local)]
        conditions = ["0 = 0"]
        for _ in range(rows):
            relation = ">=" if take() == "1" else "="
            sum_ = " + ".join(f"{take()} {name}" for name in names + locals_) or "0"
            conditions.append(f"{sum_} + {take()} {relation} 0")
        where = " and ".join(conditions)
        return f"[{', '.join(names)}] : " + (f"exists ({', '.join(locals_)}: {where})" if locals_ else where)

    while take() != "<OpenScop>":
        pass
    while take() != "CONTEXT":
        pass
    at += 7
    for _ in range(int(take())):
        relations = []
        for _ in range(int(take())):
            kind = take()
            numbers = [int(word) for word in words[at:at + 6]]
            parts = 1
            if numbers[1] != sum(numbers[2:]) + 2:
                parts = int(take())
            relations.append((kind, "{ " + "; ".join(part() for _ in range(parts)) + " }"))
        while words[at] != "</body>":
            at += 1
        found[words[at - 1].partition("(")[0] if "(" in words[at - 1] else
              next(w.partition("(")[0] for w in reversed(words[:at]) if "(" in w)] = relations
        at += 1
    return found


def openscop(directory):
    program = document.build(directory, "nest", NEST)
    trace = document.record(suite, directory, "nest.out", program)
    profile = document.analyze(suite, "nest", trace)
    result = export(trace, "openscop", "--quiet")
    suite.check("openscop: status", result.status == 0 and result.stderr == b"", result)
    text = result.stdout.decode()
    suite.check("openscop: whole documents", text.count("<OpenScop>") == text.count("</OpenScop>") > 0, text[:300])
    scop = read_scop(text)
    isl = Isl()

    def same(one, other):
        first, second = isl.read("set", one), isl.read("set", other)
        return first and second and isl.equal("set", first, second)

    for name, relations in scop.items():
        statement = profile.statements[int(name[1:])]
        domain = re.sub(rf"{name}\[", "[", statement["domain"])
        suite.check(f"openscop: domain of {name}", relations[0][0] == "DOMAIN" and same(relations[0][1], domain), relations[0])
        accesses = [a for a in profile.accesses if a["statement"] == statement["id"]]
        memory = relations[2:2 + len(accesses)]
        suite.check(f"openscop: accesses of {name}", [kind for kind, _ in memory] ==
                    [{"load": "READ", "store": "WRITE"}[a["kind"]] for a in accesses], relations)
        for access, (_, relation) in zip(accesses, memory):
            counters = [f"i{i}" for i in range(len(statement["loops"]))]
            offset = " + ".join([str(access["constant"])] + [f"{c} {i}" for c, i in zip(access["coefficients"], counters)])
            wanted = f"{{ [{access['object'] + 1}, x, {', '.join(counters)}] : {access['size']} x = {offset} }}"
            if access["affine"] and profile.objects[access["object"]]["blocks"] <= 1:
                suite.check(f"openscop: {name} {access['kind']}", same(relation, wanted), (relation, wanted))


def sarif(directory):
    """Made-up suggestions; where[] of the first is the location."""
    program = document.build(directory, "nest", NEST)
    trace = document.record(suite, directory, "nest.out", program)
    document.analyze(suite, "nest", trace)
    path = os.path.join(trace, "profile.json")
    result = export(trace, "sarif")
    with open(path) as file:
        profile = json.load(file)
    found = [s for region in profile["regions"] for s in region.get("suggestions", []) if s["legal"] != "no"]
    log = json.loads(result.stdout)
    suite.check("sarif: version", result.status == 0 and log["version"] == "2.1.0", result)
    suite.check("sarif: a result per suggestion", len(log["runs"][0]["results"]) == len(found), log)
    source = profile["regions"][0]["source"]
    profile["regions"][0]["suggestions"] = [
        {"rule": "LF-PAR", "title": "Run it in parallel", "where": [source], "legal": "yes", "requires": [], "gain": 2.5,
         "estimate": "Amdahl", "evidence": ["none carried"]},
        {"rule": "LF-TIL", "title": "Tile it", "where": [source, source], "legal": "unknown", "requires": [], "gain": 3,
         "estimate": "", "evidence": []}]
    with open(path, "w") as file:
        json.dump(profile, file)
    run = json.loads(export(trace, "sarif").stdout)["runs"][0]
    suite.check("sarif: best first", [r["ruleId"] for r in run["results"]][:2] == ["LF-TIL", "LF-PAR"], run["results"])
    suite.check("sarif: levels", [r["level"] for r in run["results"]][:2] == ["note", "warning"], run["results"])
    place = run["results"][1]["locations"][0]["physicalLocation"]
    suite.check("sarif: location", place["artifactLocation"]["uri"] == "file://" + source["file"] and
                place["region"]["startLine"] == source["line"], place)
    rules = run["tool"]["driver"]["rules"]
    suite.check("sarif: rules", all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"]), rules)


def other_profiles(directory):
    """Profiles that are there already: with a loop tree only, damaged, or without a trace."""
    program = document.build(directory, "kernel", KERNEL)
    trace = document.record(suite, directory, "trace", program)
    tree = lf.tree(trace)
    path = os.path.join(trace, "profile.json")
    with open(path, "w") as file:
        json.dump(tree, file)
    result = export(trace, "json", "--quiet")
    suite.check("a loop tree only: analysed", result.status == 0 and b'"statements"' in result.stdout, result)
    suite.check("a loop tree only: replaced", b'"statements"' in open(path, "rb").read())
    alone = os.path.join(directory, "alone")
    os.mkdir(alone)
    os.link(path, os.path.join(alone, "profile.json"))
    result = export(alone, "csv")
    suite.check("a profile without a trace is enough", result.status == 0 and b"statements" in result.stdout, result)
    os.remove(os.path.join(alone, "profile.json"))
    with open(os.path.join(alone, "profile.json"), "w") as file:
        json.dump(tree, file)
    suite.check_error("a loop tree without a trace", export(alone, "csv"), 3, "loop tree only")
    with open(path, "w") as file:
        file.write("{")
    suite.check_error("damaged", export(trace, "csv"), 3, "profile.json")
    suite.check_error("missing", export(os.path.join(directory, "missing"), "csv"), 3, "missing")


def run_case(function):
    with lf.Directory() as directory:
        function(directory)


suite.each(run_case, [formats, nests_as_programs, openscop, sarif, other_profiles])
suite.finish()
