"""The loop tree of what is not as it should be: cut-off traces, binaries that are gone or rebuilt, no trace at all."""

import os
import re
import shutil
import subprocess

import lf
import structure_tree

suite = lf.Suite()
CUTS = 24 * lf.SOAK  # places at which a trace is cut off


def record(directory, name, program, *arguments, status=0):
    trace = os.path.join(directory, name)
    result = lf.record(trace, [program, *arguments], options=("--quiet",))
    suite.check(f"{name}: recorded", result.status == status, result)
    return trace


def cut(trace, directory, name, size):
    """A copy of a trace of which only the first bytes are there."""
    copy = os.path.join(directory, name)
    os.makedirs(copy)
    with open(os.path.join(trace, "trace.lft"), "rb") as file:
        data = file.read(size)
    with open(os.path.join(copy, "trace.lft"), "wb") as file:
        file.write(data)
    return copy


def has_quality(tree, kind):
    return [entry for entry in tree.quality if re.search(kind, entry["kind"])]


def partial_traces(directory):
    """Every prefix of a trace has a tree of what is in it, which says that it is partial, or is no trace at all."""
    trace = record(directory, "long", lf.program("noise"), "120000", status=11)
    whole = structure_tree.load(suite, "whole", trace)
    size = os.path.getsize(os.path.join(trace, "trace.lft"))
    suite.check("whole: not partial", whole and whole.program["partial"] is False, whole and whole.program)
    suite.check("whole: quality does not say partial", whole and not has_quality(whole, "partial"))
    sizes = sorted({0, 1, 7, 64, size - 1, size - 9} | {size * i // CUTS for i in range(1, CUTS)})
    counts = []
    for at in sizes:
        copy = cut(trace, directory, f"cut-{at}", at)
        counts.append(check_prefix(f"cut at {at} of {size}", copy, whole))
        shutil.rmtree(copy)
    trees = [count for count in counts if count is not None]
    suite.check("some prefixes have a tree", len(trees) >= 3, counts)
    suite.check("longer prefixes have no less", trees == sorted(trees), trees)


def check_prefix(name, copy, whole):
    """The number of instructions in the tree, or None where there is no trace left to read."""
    facts = lf.info(copy)
    result = lf.run([lf.LOOPFOLD, "tree", "--format", "json", "--min-percent", "0", copy])
    if not isinstance(facts, dict):
        suite.check_error(name, result, 3)
        return None
    tree = structure_tree.load(suite, name, copy)
    if tree is None:
        return None
    structure_tree.check_invariants(suite, name, tree, facts["instructions"])
    suite.check(f"{name}: says partial", tree.program["partial"] is True, tree.program)
    suite.check(f"{name}: quality says partial", has_quality(tree, "partial"), tree.quality)
    suite.check(f"{name}: exit status is not known", tree.program["exit_status"] is None, tree.program)
    suite.check_vectors(name, copy)
    text = lf.run([lf.LOOPFOLD, "tree", copy])
    suite.check(f"{name}: the text says partial", text.status == 0
                and re.search(rb"partial", text.stdout + text.stderr), text)
    suite.check(f"{name}: no more than the whole", whole and tree.root["ops"] <= whole.root["ops"])
    return tree.root["ops"]


def killed(directory):
    """A program that never ends, and a recording that is killed: what was recorded until then."""
    trace = os.path.join(directory, "forever")
    process = subprocess.Popen([lf.LOOPFOLD, "record", "--quiet", "-o", trace, "--", lf.program("forever")],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=lf.ENVIRONMENT,
                               start_new_session=True)
    try:
        for _ in range(12):
            process.stdout.readline()
    finally:
        lf.kill_session(process.pid)
        process.wait()
        process.stdout.close()
    facts = lf.info(trace)
    tree = structure_tree.load(suite, "killed", trace)
    if tree is not None and suite.check("killed: trace info", isinstance(facts, dict), facts):
        structure_tree.check_invariants(suite, "killed", tree, facts["instructions"])
        suite.check("killed: says partial", tree.program["partial"] is True, tree.program)
        loops = tree.find(kind="loop", file="forever.c")
        suite.check("killed: its loops are there", loops and max(node["iterations"] for node in loops) > 1000,
                    tree.show())
        suite.check_vectors("killed", trace)


SOURCE = "int main(void) {{ volatile long s = 0; for (int i = 0; i < {n}; i++) s += i; return 0; }}\n"


def build(directory, name, rounds):
    path = os.path.join(directory, name)
    with open(path + ".c", "w") as file:
        file.write(SOURCE.format(n=rounds))
    subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id", path + ".c", "-o", path], check=True)
    return path


def binaries(directory):
    """Names need the binary that was recorded. Without it the tree is the same, with module+offset for names."""
    program = build(directory, "program", 1234)
    trace = record(directory, "with-binary", program)
    tree = structure_tree.load(suite, "with its binary", trace)
    named = tree and tree.find(kind="loop", file="program.c")
    suite.check("with its binary: the loop is named", named and named[0]["trip"]["total"] == 1234, tree and tree.show())
    changed = lf.run([lf.LOOPFOLD, "tree", "--format", "json", trace])
    suite.check("with its binary: no warning", not re.search(rb"warning", changed.stderr), changed)

    build(directory, "program", 999)
    check_unnamed("rebuilt", trace, tree, rb"warning: [^\n]*program[^\n]*(build-?id|rebuilt|changed|differ|another)")
    os.remove(program)
    check_unnamed("gone", trace, tree, rb"warning: [^\n]*program")


def check_unnamed(name, trace, before, warning):
    result = lf.run([lf.LOOPFOLD, "tree", "--format", "json", "--min-percent", "0", trace])
    suite.check(f"{name}: works", result.status == 0, result)
    suite.check(f"{name}: warned", re.search(warning, result.stderr), result)
    quiet = lf.run([lf.LOOPFOLD, "tree", "--quiet", "--format", "json", trace])
    suite.check(f"{name}: no warning if quiet", quiet.status == 0 and quiet.stderr == b"", quiet)
    tree = structure_tree.load(suite, name, trace)
    if tree is None or before is None:
        return
    structure_tree.check_invariants(suite, name, tree, before.root["ops"])
    suite.check(f"{name}: the loop has no line that may be wrong", not tree.find(kind="loop", file="program.c"),
                tree.show())
    loops = [node for node in tree.find(kind="loop") if node["trip"]["total"] == 1234]
    suite.check(f"{name}: the loop is module+offset", len(loops) == 1 and loops[0]["source"] is None
                and re.match(r"program\+0x[0-9a-f]+", loops[0]["function"]), tree.show())
    suite.check_vectors(name, trace)


def no_trace(directory):
    empty, garbage = os.path.join(directory, "empty"), os.path.join(directory, "garbage")
    os.mkdir(empty)
    os.mkdir(garbage)
    with open(os.path.join(garbage, "trace.lft"), "wb") as file:
        file.write(bytes(i * 13 % 251 for i in range(4000)))
    for name, path in (("missing", os.path.join(directory, "missing")), ("empty", empty), ("garbage", garbage)):
        for options in ((), ("--format", "json")):
            result = lf.run([lf.LOOPFOLD, "tree", *options, path])
            suite.check_error(f"tree {' '.join(options)}: {name}", result, 3, name)
            suite.check(f"tree {' '.join(options)}: {name}: nothing on stdout", result.stdout == b"", result)
        suite.check_error(f"iteration vectors: {name}", lf.trace("check", path, "--iteration-vectors"), 3, name)


def usage(directory):
    trace = record(directory, "small", lf.program("hello"))
    for options in (("--format", "nonsense"), ("--nonsense",), ("--min-percent", "many"), ("--depth", "-1")):
        result = lf.run([lf.LOOPFOLD, "tree", *options, trace])
        suite.check(f"tree {options}: status 2", result.status == 2, result)
        suite.check(f"tree {options}: says so", result.stderr.strip(), result)
    result = lf.run([lf.LOOPFOLD, "tree", "--help"])
    suite.check("tree --help", result.status == 0 and b"--min-percent" in result.stdout, result)


def run_case(function):
    with lf.Directory() as directory:
        function(directory)


suite.each(run_case, [partial_traces, killed, binaries, no_trace, usage])
suite.finish()
