"""Whether the facts of a kernel (advice_lines.py) are true of a profile.

A fact of a loop is compared with the loop's rows, one of a region with every region that has such a row. A region that
has no `transformed`, or a profile without suggestions, says nothing about advice: that is told apart from being wrong,
so that the caller can decide.
"""

import os

from rows import ancestors, rows_of

SILENT = "nothing is said about advice"


class Finding:
    """What one row or region says about a fact: `problem` is None if it is as expected."""

    def __init__(self, fact, problem):
        self.fact, self.problem = fact, problem


class Profile:
    """The part of a profile that speaks of one kernel."""

    def __init__(self, profile, kernel):
        self.kernel, self.regions = kernel, profile["regions"]
        self.tree = {node["id"]: node for node in profile["tree"]}
        self.rows = rows_of(profile, kernel.name, kernel.loops)

    def advises(self):
        return any("transformed" in region for region in self.regions)

    def rows_for(self, fact):
        rows = [row for row in self.rows if row.loops == [fact.loop]]
        return [row for row in rows if fact.call is None or self.goes_through(row, fact.call)]

    def goes_through(self, row, line):
        """Whether a call in this line of the kernel leads to the row."""
        sites = [self.tree[node].get("call_site") for node in ancestors(self.tree, row)]
        return any(site and site["line"] == line and os.path.basename(site["file"]) == self.kernel.name
                   for site in sites)

    def regions_for(self, fact):
        nodes = {node for row in self.rows_for(fact) for node in row.nodes()}
        return [region for region in self.regions
                if nodes & {node for loop in region["loops"] for node in loop.get("nodes") or [loop["node"]]}]

    def lines_of(self, nodes):
        """The loops of the source that nodes of the tree stand for, as the lines of their heads."""
        return {loop.line for row in self.rows if row.nodes() & set(nodes) for loop in row.loops}

    def findings(self, fact):
        places = self.rows_for(fact) if fact.of_loop() else self.regions_for(fact)
        if not places:
            return [Finding(fact, "no such loop in the profile")]
        check = of_loop if fact.of_loop() else of_region
        return [Finding(fact, check(fact, place, self)) for place in places]


def of_loop(fact, row, _):
    """The problem with a fact of a loop, or None."""
    entry, (wanted, *_) = row.entry, fact.values or (None,)
    if fact.kind == "stride01":
        return outside(wanted, entry["stride01_percent"])
    if fact.kind == "hidden":
        found = tuple(level.entry["period"] for level in row.levels)
        return None if found == fact.values else f"its hidden loops are {list(found)}"
    if fact.kind == "blocks":
        return None if entry.get("blocks") == wanted else f"it is {entry.get('blocks')}"
    if fact.kind == "trip":
        return outside(wanted, entry["trip"]["min"]) or outside(wanted, entry["trip"]["max"])
    found = [block for block in entry["blocking"] if blocks(block, fact.values)]
    return None if found else f"blocking is {row.why() or 'empty'}"


def outside(wanted, number):
    return None if wanted.holds(number) else f"it is {number:g}"


def blocks(block, values):
    producer, consumer, distance = values
    lines = tuple(block[end] and block[end]["line"] for end in ("source_from", "source_to"))
    return lines == (producer, consumer) and distance in (None, block["distance"])


def of_region(fact, region, profile):
    """The problem with a fact of a region, or None."""
    if fact.kind == "interprocedural":
        return None if region["interprocedural"] == (fact.values[0] == "yes") else "it is not so"
    if fact.kind == "obstacles":
        found = "".join(text[0] for text in region["static_obstacles"])
        return None if found == fact.values[0] else f"they are {found or 'none'}: {region['static_obstacles']}"
    if fact.kind == "affine":
        return outside(fact.values[0], region["affine_percent"])
    if "transformed" not in region:
        return SILENT
    if fact.kind in ("suggests", "never", "others"):
        return {"suggests": suggests, "never": never, "others": others}[fact.kind](fact, region, profile)
    made, (wanted, *_) = region["transformed"], fact.values or (None,)
    if fact.kind in ("status", "fusion"):
        return None if made[fact.kind] == wanted else f"it is {made[fact.kind]}: {made.get('why', '')}"
    if fact.kind == "skew":
        return None if bool(made["skew"]) == (wanted == "yes") else f"skew is {made['skew']}"
    if fact.kind == "tile_depth":
        return outside(wanted, made["tile_depth"])
    if fact.kind == "components":
        found = (made["components_before"], made["components_after"])
        return None if found == fact.values else f"it is {found[0]} -> {found[1]}"
    if fact.kind == "interchange":
        return interchange(fact, made["interchange"], profile)
    return outside(wanted, made[fact.kind + "_percent"])


def interchange(fact, pairs, profile):
    lines = [[profile.lines_of([node]) for node in pair] for pair in pairs]
    if not fact.values:
        return None if not pairs else f"it is {lines}"
    wanted = [{loop.line} for loop in fact.values]
    return None if wanted in lines else f"it is {lines or 'none'}"


def concerns(suggestion, rule, loops, profile):
    """Whether it is of the rule and about (at least) these loops."""
    lines = profile.lines_of(suggestion.get("loops", [])) | {
        place["line"] for place in suggestion["where"] if os.path.basename(place["file"]) == profile.kernel.name}
    return suggestion["rule"] == rule and {loop.line for loop in loops} <= lines


def suggests(fact, region, profile):
    """Legality: where something is needed first, `yes` without naming it is wrong; `unknown` is not."""
    rule, loops, needs, legal = fact.values
    found = [each for each in region["suggestions"] if rule is None or concerns(each, rule, loops, profile)]
    if rule is None:
        return f"it does: {summary(found, profile)}" if found else None
    if not found:
        return f"it suggests {summary(region['suggestions'], profile) or 'nothing'}"
    fitting = [each for each in found if legal in (None, each["legal"]) and names_needs(each, needs)]
    return None if fitting else f"it suggests {summary(found, profile)}"


def names_needs(suggestion, needs):
    return suggestion["legal"] == "unknown" or set(needs) <= {each["kind"] for each in suggestion["requires"]}


def never(fact, region, profile):
    rule, loops, _, _ = fact.values
    found = [each for each in region["suggestions"]
             if each["legal"] != "no" and concerns(each, rule, loops, profile)]
    return f"it suggests {summary(found, profile)}" if found else None


def others(_, region, profile):
    """What no line of the kernel asks for is not called legal."""
    wanted = [fact.values for fact in profile.kernel.facts if fact.kind == "suggests"]
    bold = [each for each in region["suggestions"] if each["legal"] == "yes" and
            not any(rule and concerns(each, rule, loops, profile) for rule, loops, _, _ in wanted)]
    return f"it calls legal: {summary(bold, profile)}" if bold else None


def summary(suggestions, profile):
    return "; ".join(
        f"{each['rule']} {' '.join(str(line) for line in sorted(profile.lines_of(each.get('loops', []))))} "
        f"(legal {each['legal']}, requires {[need['kind'] for need in each['requires']]}, gain {each['gain']:.2f})"
        for each in suggestions)
