"""The rows that profile.json has for the loops of one source file, and which loop of the source each row speaks of.

A row's line is that of its back edge in the line table. That is the head's for nearly every loop; where a compiler took
the branch of another line for it, the innermost loop of the text that contains the line is meant. Where one row is
nested in another of the same line, the outer one belongs to the loop around; where two rows would be one loop, and one
is nested in the other, the inner one is one of the loops inside. Several loops on one line are told apart by their
order. Where a compiler left fewer or more rows of such a line than it has loops, the row may be any of them.
Hidden levels of a loop are no loops of the source: they are listed with the loop's row.
"""

import os

NAMES = {"yes": "parallel", "no": "no", "unknown": "unknown"}


class Row:
    """A loop of one context, as the profile has it, and the loops of the source that it may be."""

    def __init__(self, entry):
        self.entry, self.line, self.loops, self.levels = entry, entry["source"]["line"], [], []

    def nodes(self):
        return set(self.entry.get("nodes") or [self.entry["node"]])

    def verdict(self):
        parallel = self.entry["parallel"]
        if parallel != "reduction":
            return NAMES[parallel]
        return f"reduction({','.join(sorted({found['operator'] for found in self.entry['reductions']}))})"

    def why(self):
        """What the row says in support of its verdict, for a person."""
        words = []
        for block in self.entry["blocking"][:3]:
            words.append(f"{block.get('kind')} {place(block['source_from'])} -> {place(block['source_to'])}, "
                         f"object {block.get('object')}, distance {block.get('distance')}, {block.get('count')} times")
        words += [f"{doubt['why']} ({place(doubt.get('source'))})" for doubt in self.entry.get("unknown", [])[:3]]
        return "; ".join(words)


def place(source):
    return f"{os.path.basename(source['file'])}:{source['line']}" if source else "?"


def rows_of(profile, file_name, loops):
    """The rows of loops in the file, in the order of the loop tree, each with the loops that it may be."""
    tree = {node["id"]: node for node in profile["tree"]}
    rows = [Row(entry) for region in profile["regions"] for entry in region["loops"]
            if entry["source"] and os.path.basename(entry["source"]["file"]) == file_name]
    levels = [row for row in rows if row.entry.get("hidden")]
    rows = [row for row in rows if not row.entry.get("hidden")]
    rows.sort(key=lambda row: min(row.nodes()))
    for row in rows:
        row.levels = sorted((level for level in levels if loop_of(tree, level) in row.nodes()),
                            key=lambda level: min(level.nodes()))
    groups = {}
    for row in rows:
        groups.setdefault((calls_around(tree, row), row.line), []).append(row)
    for (_, line), group in groups.items():
        assign(tree, group, [loop for loop in loops if loop.line == line], loops)
    for row in rows:
        move_inwards(tree, row, rows, loops)
    return rows


def move_inwards(tree, row, rows, loops):
    """A row inside another row of the same loop, by a line that is not the head's: it is one of the loops inside."""
    around = set(ancestors(tree, row))
    if len(row.loops) == 1 and row.line != row.loops[0].line:
        loop = row.loops[0]
        if any(other.loops == [loop] and other.nodes() & around for other in rows):
            row.loops = [inner for inner in loops if inner.parent is loop]


def loop_of(tree, level):
    """The node of the loop that a hidden level is in."""
    return next(node for node in ancestors(tree, level) if not tree[node].get("hidden"))


def calls_around(tree, row):
    """The call that the row's loop runs in: the nearest node above it that is no loop."""
    return next((node for node in ancestors(tree, row) if tree[node]["kind"] != "loop"), None)


def ancestors(tree, row):
    node = tree[min(row.nodes())]["parent"]
    while node is not None:
        yield node
        node = tree[node]["parent"]


def assign(tree, group, heads, loops):
    if len(heads) > 1:
        for at, row in enumerate(group):
            row.loops = [heads[at]] if len(group) == len(heads) else heads
        return
    for row in group:
        loop = heads[0] if heads else innermost(loops, row.line)
        for other in group:
            if loop and loop.parent and other is not row and row.nodes() & set(ancestors(tree, other)):
                loop = loop.parent
        row.loops = [loop] if loop else []


def innermost(loops, line):
    containing = [loop for loop in loops if loop.line <= line <= loop.last_line]
    return containing[-1] if containing else None
