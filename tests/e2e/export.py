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


suite.each(run_case, [formats, other_profiles])
suite.finish()
