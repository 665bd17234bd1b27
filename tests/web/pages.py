"""Profiles of real programs and made-up ones, as pages: what the browser tests and the screenshots look at."""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import lf  # noqa: E402

KERNELS = {
    "dgemm_ijk": "dgemm_ijk.c",
    "jacobi_1d": "jacobi_1d.c",
    "gauss_seidel": "gauss_seidel.c",
    "histogram": "histogram.c",
    "relaxation": "advice/relaxation.c",
    "backprop": "advice/backprop.c",
    "backprop_by_hand": "advice/backprop_by_hand.c",
    "heat": "../examples/demo/heat.c",
    "columns": "layout/search/columns.c",
}


def must(result):
    if result.status != 0:
        sys.exit(f"{result}")
    return result


def record(directory, name, command):
    """DIRECTORY/NAME.out and DIRECTORY/NAME.html."""
    out = os.path.join(directory, f"{name}.out")
    html = os.path.join(directory, f"{name}.html")
    return must(lf.run([lf.LOOPFOLD, "run", "-q", "-o", out, "--html", html, "--", *command], cwd=directory))


def kernel(directory, name):
    source = os.path.join(lf.SOURCE, "kernels", KERNELS[name])
    binary = os.path.join(directory, name)
    must(lf.run(["gcc", "-O1", "-g", source, "-o", binary, "-lm"]))
    record(directory, name, [binary])


def gzip(directory):
    """The system's gzip, without debug information, on text that repeats itself only a little."""
    path = os.path.join(directory, "words.txt")
    words = random.Random(1)
    with open(path, "w") as file:
        file.write(" ".join(str(words.randrange(2000)) for _ in range(6000)))
    record(directory, "gzip", ["gzip", "-k", "-f", "words.txt"])


def empty(directory):
    source = os.path.join(directory, "empty.c")
    with open(source, "w") as file:
        file.write("int main(void) { return 0; }\n")
    must(lf.run(["gcc", "-O1", "-g", source, "-o", os.path.join(directory, "empty")]))
    record(directory, "empty", [os.path.join(directory, "empty")])


SCRIPT = "<script>window.hacked=1</script>"
IMAGE = "\"><img src=x onerror=window.hacked=2>"


def made_up(directory, name, profile):
    """A page from a profile that no program left."""
    out = os.path.join(directory, f"{name}.out")
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "profile.json"), "w") as file:
        json.dump(profile, file)
    must(lf.run([lf.LOOPFOLD, "report", out, "-q", "--html", os.path.join(directory, f"{name}.html")], cwd=directory))


def hostile(directory):
    """The profile of a kernel with every name replaced by one that would act if it were let."""
    with open(os.path.join(directory, "relaxation.out", "profile.json")) as file:
        profile = json.load(file)

    def poison(value, key=""):
        if isinstance(value, dict):
            return {name: poison(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [poison(one, key) for one in value]
        if isinstance(value, str) and key in ("function", "title", "text", "what", "why", "estimate", "evidence",
                                              "steps", "argv", "variable", "clause", "type", "inlined", "call"):
            return SCRIPT + value
        if isinstance(value, str) and key in ("file", "module", "rule"):
            return value + IMAGE
        if isinstance(value, str) and key == "name" and not value.startswith("S"):
            return "javascript:alert(1)//" + SCRIPT
        if isinstance(value, str) and key in ("ast", "ast_before"):
            return value.replace("for ", "for " + SCRIPT)
        return value

    made_up(directory, "hostile", poison(profile))


def large(directory, nodes=100_000):
    """A tree of so many nodes, and nothing else that is large."""
    dice = random.Random(3)
    tree = [{"id": 0, "parent": None, "kind": "root", "function": "large", "source": None}]
    for node in range(1, nodes):
        parent = node - 1
        for _ in range(min(40, int(dice.expovariate(0.62)))):
            parent = tree[parent]["parent"] if tree[parent]["parent"] else parent
        loop = dice.random() < 0.4 and parent != 0
        line = dice.randrange(1, 4000)
        source = {"file": f"/src/module_{line % 211}.cc", "line": line}
        function = tree[parent]["function"] if loop else f"ns::Class{line % 97}::f{line % 1913}(int, char const*)"
        tree.append({"id": node, "parent": parent, "kind": "loop" if loop else "call", "function": function,
                     "source": source})
    for node in tree:
        own = int(dice.paretovariate(0.8) * 100) % 100_000_000
        node.update(ops=own, self_ops=own, mem_ops=own // 3, self_mem_ops=own // 3, fp_ops=0, self_fp_ops=0,
                    entries=dice.randrange(1, 500), iterations=0)
        if node["kind"] == "loop":
            trips = node["entries"] * 7
            node.update(iterations=trips, iterations_per_entry={"min": 7, "max": 7, "total": trips},
                        trip={"min": 7, "max": 7, "total": trips})
    children = {}
    for node in reversed(tree[1:]):
        above = tree[node["parent"]]
        for key in ("ops", "mem_ops", "fp_ops"):
            above[key] += node[key]
    for node in tree[1:]:
        node["index"] = children.get(node["parent"], 0)
        children[node["parent"]] = node["index"] + 1
    made_up(directory, "large", {
        "schema": "loopfold-profile/1",
        "program": {"argv": ["./large"], "exit_status": 0, "partial": False, "instructions": tree[0]["ops"], "threads": 1},
        "quality": [], "gave_up": [], "tree": tree, "code": [], "statements": [], "accesses": [], "values": [],
        "dependences": [], "objects": [
            {"id": 0, "kind": "environment", "name": "environment", "size": 0, "blocks": 0, "source": None},
            {"id": 1, "kind": "unknown", "name": "unknown", "size": 0, "blocks": 0, "source": None}],
        "regions_min_percent": 1, "regions": []})


def diff(directory):
    before, after = (os.path.join(directory, f"{name}.out") for name in ("backprop", "backprop_by_hand"))
    return must(lf.run([lf.LOOPFOLD, "diff", before, after, "-q", "--html", os.path.join(directory, "diff.html")]))


def all_pages(directory):
    for name in KERNELS:
        kernel(directory, name)
    gzip(directory)
    empty(directory)
    hostile(directory)
    large(directory)
    diff(directory)
