"""`loopfold layout search`: programs with known answers, in kernels/layout/search.

A comment in the source names a region (`// region walk` behind its outermost loop) and says what is expected of it:

    // search: OPTIONS                                      of the command
    // expect-layout: region R layouts none | "REGEX"       what the best of both changes
    // expect-layout: region R conclusion "REGEX"
    // expect-layout: region R without "REGEX"              an array that has no layouts, and why
    // expect-layout: region R directive "TEXT"             contained in the directive
    // expect-layout: region R combinations N               in the ranking
    // expect-layout: region R better-than-either           order and layout together gain more than one of them

Where the search writes a directive, it is put in front of the region, `layout generate` rewrites the file, and the
result must print what the original does.
"""

import json
import os
import re

import lf

suite = lf.Suite()
KERNELS = os.path.join(lf.SOURCE, "kernels", "layout", "search")


def named_regions(text):
    """Lines by name."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.search(r"\S.*// region (\w+)$", line):
            found[match[1]] = number
    return found


def nest_at(answer, name, line):
    for nest in answer["nests"]:
        if nest["loop"] == f"{name}.c:{line}":
            return nest
    return None


def total(choice):
    return choice["cost"]["total"]


def holds(nest, kind, value):
    """None, or what is wrong."""
    if kind == "layouts":
        found = nest["both"]["layouts"]
        ok = found == "" if value == "none" else re.search(value, found)
        return None if ok else f"layouts are {found!r}"
    if kind == "conclusion":
        return None if re.search(value, nest["conclusion"]) else f"conclusion is {nest['conclusion']!r}"
    if kind == "without":
        return None if any(re.search(value, one) for one in nest["without"]) else f"without: {nest['without']}"
    if kind == "directive":
        return None if value in nest["directive"] else f"directive is {nest['directive']!r}"
    if kind == "combinations":
        return None if len(nest["ranking"]) == int(value) else f"{len(nest['ranking'])} combinations"
    if kind == "better-than-either":
        best = min(total(nest["order_alone"]), total(nest["layout_alone"]))
        return None if total(nest["both"]) < 0.95 * best else "both are no better than one"
    return f"no such expectation: {kind}"


def check_costs(name, answer):
    """What must be so whatever the program."""
    for nest in answer["nests"]:
        where = f"{name}: region {nest['region']}"
        costs = [total(choice) for choice in nest["ranking"]]
        suite.check(f"{where}: the ranking is sorted, the best first",
                    costs == sorted(costs) and costs[0] == total(nest["both"]), str(costs[:4]))
        least = min(total(nest[key]) for key in ("written", "order_alone", "layout_alone"))
        suite.check(f"{where}: both are at least as good as each alone", total(nest["both"]) <= least * 1.000001,
                    f"{total(nest['both'])} and {least}")
        suite.check(f"{where}: nothing is worse than as it is",
                    max(total(nest[key]) for key in ("order_alone", "layout_alone")) <= total(nest["written"]) * 1.000001)


def check_generated(directory, name, text, lines, answer):
    for region, line in lines.items():
        nest = nest_at(answer, name, line)
        if nest is None or not nest["directive"]:
            continue
        rows = text.splitlines(keepends=True)
        rows.insert(line - 1, nest["directive"] + "\n")
        source = os.path.join(directory, f"{name}_new.c")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(rows)
        made = lf.run([lf.LOOPFOLD, "layout", "generate", source, "-o", os.path.join(directory, "made.c")])
        if not suite.check(f"{name}: the directive of {region} is taken by layout generate", made.status == 0, str(made)):
            continue
        outputs = []
        for which in (os.path.join(KERNELS, f"{name}.c"), os.path.join(directory, "made.c")):
            program = os.path.join(directory, "program")
            built = lf.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", which, "-o", program])
            outputs.append(lf.run_native([program]).stdout if built.status == 0 else f"does not build: {built}")
        suite.check(f"{name}: stored as {region} asks for, it prints the same", outputs[0] == outputs[1], str(outputs))


def check_kernel(name):
    path = os.path.join(KERNELS, f"{name}.c")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = named_regions(text)
    options = re.search(r"// search: (.*)", text)[1].split()
    expected = re.findall(r'^// expect-layout: region (\w+) ([\w-]+)(?: (?:"(.*)"|(\S+)))?$', text, re.M)
    assert expected, path
    with lf.Directory() as directory:
        program = os.path.join(directory, name)
        built = lf.run(["gcc", "-O1", "-g", path, "-o", program])
        trace = os.path.join(directory, "trace")
        recorded = lf.run([lf.LOOPFOLD, "record", "-q", "-o", trace, program])
        if not suite.check(f"{name}: builds and runs", built.status == 0 and recorded.status == 0, str(recorded)):
            return
        found = lf.run([lf.LOOPFOLD, "layout", "search", trace, "-q", "--format", "json", *options])
        if not suite.check(f"{name}: is searched", found.status == 0, str(found)):
            return
        answer = json.loads(found.stdout)
        for region, kind, quoted, plain in expected:
            nest = nest_at(answer, name, lines[region])
            wrong = f"no nest at line {lines[region]}" if nest is None else holds(nest, kind, quoted or plain)
            suite.check(f"{name}: region {region}: {kind} {quoted or plain}", wrong is None, str(wrong))
        check_costs(name, answer)
        check_generated(directory, name, text, lines, answer)
        shown = lf.run([lf.LOOPFOLD, "layout", "search", trace, "-q", *options])
        suite.check(f"{name}: in words", shown.status == 0 and b"Region 0: " in shown.stdout, str(shown))


def check_bad_input():
    with lf.Directory() as directory:
        missing = lf.run([lf.LOOPFOLD, "layout", "search", os.path.join(directory, "nothing")])
        suite.check("a trace that is not there: one line, status of bad input",
                    missing.status == 3 and missing.stderr.count(b"\n") == 1, str(missing))
        odd = lf.run([lf.LOOPFOLD, "layout", "search", directory, "--cores", "0"])
        suite.check("no cores: usage", odd.status == 2, str(odd))


suite.each(check_kernel, sorted(name[:-2] for name in os.listdir(KERNELS) if name.endswith(".c")))
check_bad_input()
suite.finish()
