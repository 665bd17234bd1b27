"""Reading the loop tree: what the tests of the structure stage share.

A Tree is what `loopfold tree --format json --min-percent 0` printed. Its nodes are the dictionaries of the document,
with `children` (a list of nodes) and `up` (the parent, None for the root) added. A source line is given by a tag: the
comment `// @tag` at the end of a line of the program's source (`! @tag` in Fortran).
"""

import os
import re

import lf

KINDS = ("root", "call", "loop", "recursion")
COUNTS = ("ops", "self_ops", "mem_ops", "fp_ops", "entries", "iterations")
SOURCES = os.path.join(lf.SOURCE, "tests", "programs")


def tags(source):
    """Tag -> line, of a source file below tests/programs."""
    found = {}
    with open(os.path.join(SOURCES, source)) as file:
        for number, line in enumerate(file, 1):
            match = re.search(r"(?://|!) @(\w+)$", line.rstrip())
            if match:
                found[match.group(1)] = number
    return found


def facts(output):
    """What a program printed about itself: `name number` per line."""
    found = {}
    for line in output.decode(errors="replace").splitlines():
        match = re.fullmatch(r"(\w+) (-?\d+)", line)
        if match:
            found[match.group(1)] = int(match.group(2))
    return found


def file_of(node):
    return os.path.basename(node["source"]["file"]) if node.get("source") else None


def line_of(node):
    return node["source"]["line"] if node.get("source") else None


def path_of(node):
    """From the root's child down to the node."""
    path = []
    while node["up"] is not None:
        path.append(node)
        node = node["up"]
    return path[::-1]


def describe(node):
    where = f"{file_of(node)}:{line_of(node)}" if node.get("source") else "?"
    text = f"{node['kind']} {node['function']} ({where})"
    if node["kind"] in ("loop", "recursion"):
        text += f" entries {node['entries']}, iterations {node['iterations']}, trip {node.get('trip')}"
    else:
        text += f" entries {node['entries']}"
    return text + (f", origin {node['origin']}" if node.get("origin") else "")


class Tree:
    def __init__(self, document):
        self.document, self.program, self.quality = document, document["program"], document["quality"]
        self.nodes = document["tree"]
        by_id = {node["id"]: node for node in self.nodes}
        for node in self.nodes:
            node["children"] = []
            node["up"] = None
        for node in self.nodes:
            if node["parent"] is not None:
                node["up"] = by_id[node["parent"]]
                node["up"]["children"].append(node)
        self.root = self.nodes[0]

    def find(self, kind=None, function=None, line=None, file=None, under=None, origin=None):
        """Nodes that agree with all that is given. `function` is matched as a whole word of the demangled name."""
        found = []
        for node in self.nodes:
            if ((kind is None or node["kind"] == kind)
                    and (function is None or re.search(rf"(?<![\w]){re.escape(function)}(?![\w])", node["function"]))
                    and (line is None or line_of(node) == line)
                    and (file is None or file_of(node) == file)
                    and (origin is None or node.get("origin") == origin)
                    and (under is None or any(above is under for above in path_of(node)))):
                found.append(node)
        return found

    def loops(self, line, file):
        return self.find(kind="loop", line=line, file=file)

    def depth(self):
        return max(len(path_of(node)) for node in self.nodes)

    def show(self, under=None, limit=60):
        """The tree, indented, for a person who looks at a failure."""
        lines, later = [], [(under or self.root, 0)]
        while later:
            node, level = later.pop()
            lines.append("  " * level + describe(node))
            later.extend((child, level + 1) for child in reversed(node["children"]))
        more = len(lines) - limit
        return "\n".join(lines[:limit] + ([f"… and {more} more nodes"] if more > 0 else []))


def load(suite, name, trace, *options):
    """The trace's tree, or None (with a failed check) if there is none that can be read."""
    document = lf.tree(trace, *options)
    if not suite.check(f"{name}: loopfold tree", isinstance(document, dict), document):
        return None
    missing = [key for key in ("schema", "program", "quality", "tree") if key not in document]
    if not suite.check(f"{name}: the document has what it must", not missing and document["tree"],
                       f"missing: {missing}; found {list(document)}"):
        return None
    return Tree(document)


def check_invariants(suite, name, tree, instructions=None):
    """What must hold of any tree. `instructions`: what `trace info` counts."""
    wrong = []
    seen = set()
    for position, node in enumerate(tree.nodes):
        here = f"node {node['id']} ({describe(node)})"
        if node["kind"] not in KINDS:
            wrong.append(f"{here}: kind {node['kind']!r}")
        if position == 0 and (node["kind"] != "root" or node["parent"] is not None):
            wrong.append(f"{here}: the first node must be the root")
        if position > 0 and (node["kind"] == "root" or node["parent"] not in seen):
            wrong.append(f"{here}: its parent {node['parent']} does not come before it")
        seen.add(node["id"])
        negative = [key for key in COUNTS if node[key] < 0]
        if negative:
            wrong.append(f"{here}: negative {negative}")
        below = sum(child["ops"] for child in node["children"])
        if node["ops"] != node["self_ops"] + below:
            wrong.append(f"{here}: ops {node['ops']}, but self {node['self_ops']} + children {below}")
        for part in ("mem_ops", "fp_ops"):
            if sum(child[part] for child in node["children"]) > node[part]:
                wrong.append(f"{here}: {part} {node[part]}, less than its children's")
        if node["mem_ops"] > node["ops"]:
            wrong.append(f"{here}: mem_ops {node['mem_ops']} of {node['ops']} ops")
        if position > 0 and node["ops"] > 0 and node["entries"] == 0 and not node["children"]:
            wrong.append(f"{here}: it ran and was never entered")
        if node["kind"] in ("loop", "recursion"):
            wrong.extend(f"{here}: {text}" for text in wrong_counts(node))
    if len(seen) != len(tree.nodes):
        wrong.append("ids are not unique")
    suite.check(f"{name}: invariants of the tree", not wrong, "\n".join(wrong[:12]) + f"\n{len(wrong)} in all")
    suite.check(f"{name}: the root's ops are the program's instructions",
                tree.root["ops"] == tree.program["instructions"],
                f"root {tree.root['ops']}, program {tree.program['instructions']}")
    if instructions is not None:
        suite.check(f"{name}: as many instructions as in the trace", tree.root["ops"] == instructions,
                    f"tree {tree.root['ops']}, trace info {instructions}")


def wrong_counts(node):
    per_entry, trip = node["iterations_per_entry"], node["trip"]
    if not per_entry["min"] <= per_entry["max"] <= per_entry["total"]:
        yield f"iterations_per_entry {per_entry} is not in order"
    if per_entry["total"] != node["iterations"]:
        yield f"iterations_per_entry.total {per_entry['total']}, iterations {node['iterations']}"
    if not trip["min"] <= trip["max"] <= trip["total"] <= node["iterations"]:
        yield f"trip {trip} is not in order, iterations {node['iterations']}"
    if node["entries"] == 0:
        yield "never entered"
    elif not per_entry["min"] * node["entries"] <= per_entry["total"] <= per_entry["max"] * node["entries"]:
        yield f"iterations_per_entry {per_entry} cannot be of {node['entries']} entries"
    elif node["kind"] == "loop" and not (node["iterations"] - node["entries"] <= trip["total"]):
        yield f"trip.total {trip['total']} leaves out more than one iteration per entry"
    elif node["kind"] == "loop" and min(node["depth_source"], node["depth_binary"]) < 1:
        yield f"depth_source {node['depth_source']}, depth_binary {node['depth_binary']}"
