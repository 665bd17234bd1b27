"""Profiles made wrong: claims that `loopfold verify` must find violated.

A corruption is only made where it is surely wrong. Of a verdict that is so by what the profile names as a reason. Of an
order it is looked up: an edit counts only if some instance of a dependence through an array on the heap or in a global
is the wrong way round by it. Instances come from the dependence's map in the profile, evaluated at random points; values
that can be computed anew do not pass through such arrays.
"""

import re

LARGE = 64  # bytes: an array, and no variable that may be a counter
POINTS = 60  # that are tried of each piece of a map
FARTHEST = 4  # that statements are shifted


class Corruption:
    """What was made wrong: the claim that it is in, and the lines of the source of which a violation must name one."""

    def __init__(self, what, key, lines):
        self.what, self.key, self.lines = what, key, lines

    def problems(self, claims):
        """`claims` are lists, by key: bands of several statements may have the same dimensions."""
        mine = claims.get(self.key, [])
        if not any(claim["outcome"] == "violated" for claim in mine):
            return [f"{self.what}: {self.key} is {[claim['outcome'] for claim in mine]}"]
        named = {place(end) for claim in mine for violation in claim["violations"]
                 for end in (violation["source_from"], violation["source_to"])}
        if not named & self.lines:
            return [f"{self.what}: {self.key} names {sorted(named)}, none of {sorted(self.lines)}"]
        return []


def place(source):
    return f"{source['file']}:{source['line']}" if source else "?"


# ---- Verdicts and reasons --------------------------------------------------------------------------------------------

def lines_of_blocking(loop):
    return {place(end) for block in loop["blocking"] for end in (block["source_from"], block["source_to"])}


def verdict(chance, region, loop):
    """A no or a reduction becomes a yes, or a no a reduction of another kind."""
    lines = lines_of_blocking(loop)
    if loop["parallel"] == "no" and chance.random() < 0.4:
        source = loop["blocking"][0]["source_to"]
        loop["parallel"], loop["blocking"] = "reduction", []
        loop["reductions"] = [{"operator": chance.choice("^&|"), "variable": "", "reassociates": False, "array": False,
                               "source": source}]
        if loop.get("blocks") == "reduction":
            loop["blocks"] = "unknown"
        return Corruption("no to reduction", ("reduction", region["id"], loop["node"], ""), lines)
    if loop["parallel"] == "no":
        what = "no to yes"
    elif loop["parallel"] == "reduction":
        lines = {place(reduction["source"]) for reduction in loop["reductions"]}
        what = "reduction to yes"
    else:
        return None
    loop["parallel"] = "yes"
    loop["blocking"], loop["reductions"] = [], []
    if loop.get("blocks") == "reduction":
        loop["blocks"] = "unknown"
    return Corruption(what, ("parallel", region["id"], loop["node"], ""), lines)


def reason(chance, profile, region, loop):
    """A reason for a no gets a line, a distance or an object that it has not."""
    if loop["parallel"] != "no" or not loop["blocking"]:
        return None
    block = chance.choice(loop["blocking"])
    ways = {"line": 1}
    if block["distance"] is not None:
        ways["distance"] = 1
    others = other_objects(profile, block)
    if others:
        ways["object"] = 2
    way = chance.choices(list(ways), list(ways.values()))[0]
    if way == "line":
        end = chance.choice(["source_from", "source_to"])
        block[end] = {"file": loop["source"]["file"] if loop["source"] else "none.c", "line": 100000}
    elif way == "distance":
        block["distance"] += 1000000
        block.pop("least", None), block.pop("greatest", None)
    else:
        block["object"] = chance.choice(others)
    ends = {place(block["source_from"]), place(block["source_to"])}
    return Corruption(f"reason with another {way}", ("no", region["id"], loop["node"], ""), ends)


def other_objects(profile, block):
    """Those that name and line tell from the right one: two blocks of one function's making cannot be told.

    A frame may hold copies of what is elsewhere, on its way between the same two lines.
    """
    if block["kind"] != "memory" or block["object"] is None:
        return []
    right = profile["objects"][block["object"]]
    kinds = {"heap": ("heap", "global"), "global": ("heap", "global"), "stack": ("heap", "global", "stack")}
    return [other["id"] for other in profile["objects"] if other["kind"] in kinds.get(right["kind"], ())
            and other["name"] != right["name"] and (other["source"] is None or other["source"] != right["source"])]


# ---- Orders ----------------------------------------------------------------------------------------------------------

def to_python(text):
    """An expression of isl's as one of Python's; nothing if it has what Python has not."""
    if "exists" in text or "floor" in text or "//" in text:
        return None
    text = re.sub(r"(\d)([a-z(])", r"\1*\2", text.replace(" mod ", " % "))
    return re.sub(r"(?<![<>=])=(?!=)", "==", text)


class Order:
    """A schedule as it stands in a profile, that can be edited and asked for times."""

    def __init__(self, text):
        self.rows = {}  # by statement: its counters and the expressions of its time
        for entry in text.strip().strip("{}").split(";"):
            match = re.fullmatch(r"\s*S(\d+)\[([^]]*)\] -> \[([^]:]*)\]\s*", entry)
            if not match or to_python(match[3]) is None:
                raise ValueError(f"not a plain order: {entry}")
            self.rows[int(match[1])] = (match[2], [row.strip() for row in match[3].split(",")])
        self.length = len(next(iter(self.rows.values()))[1])

    def text(self):
        return "{ " + "; ".join(f"S{s}[{counters}] -> [{', '.join(rows)}]" for s, (counters, rows) in self.rows.items()) + " }"

    def time(self, statement, vector):
        counters, rows = self.rows[statement]
        names = [name.strip() for name in counters.split(",")] if counters else []
        known = dict(zip(names, vector))
        return [eval(to_python(row), {}, known) for row in rows]

    def edited(self, edit):
        """edit(statement, rows) gives other rows."""
        other = Order.__new__(Order)
        other.length = self.length
        other.rows = {s: (counters, edit(s, list(rows))) for s, (counters, rows) in self.rows.items()}
        return other


def instances(chance, text):
    """Some pairs (producer's vector, consumer's vector) that the map of a dependence has."""
    for piece in text.strip().strip("{}").split(";"):
        match = re.fullmatch(r"\s*S\d+\[([^]]*)\] -> S\d+\[([^]]*)\](?: : (.*?))?\s*", piece)
        condition = to_python(match[3] or "True") if match else None
        if condition is None:
            continue
        ends = [[part.strip() for part in match[k].split(",")] if match[k] else [] for k in (1, 2)]
        free = sorted({name for name in re.findall(r"i\d+", piece)})
        given = dict(re.findall(r"\b(o\d+) == ([^<>=]*?)(?= and |$)", condition))
        bounds = {name: (int(low), int(high))
                  for low, name, high in re.findall(r"(-?\d+) <= (i\d+) <= (\d+)", condition)}
        for _ in range(POINTS):
            point = {name: chance.randint(*sorted(bounds.get(name, (0, 40)))) for name in free}
            try:
                for name in given:
                    point[name] = eval(given[name], {}, point)
                if eval(condition, {}, point):
                    yield [[eval(to_python(part), {}, point) for part in end] for end in ends]
            except NameError:
                break  # a coordinate of the producer that is not a function of the consumer's


def certain_flow(chance, profile, region, order, files):
    """(dependence, producer's vector, consumer's vector) of values in arrays, in one entry of the region.

    Only of the program's own lines: the fields of a library's structure are no array.
    """
    if profile["tree"][region["node"]]["entries"] != 1:
        return []
    found = []
    for dependence in profile["dependences"]:
        if dependence["kind"] != "memory" or not dependence["affine"] or dependence["object"] is None:
            continue
        if not all(end and end["file"] in files for end in (dependence["source_from"], dependence["source_to"])):
            continue
        known = profile["objects"][dependence["object"]]
        if known["kind"] not in ("heap", "global") or known["size"] < LARGE:
            continue
        if dependence["from"] in order.rows and dependence["to"] in order.rows:
            found += [(dependence, *ends) for ends in instances(chance, dependence["map"])]
    return found


def lines_of(dependence):
    return {place(dependence["source_from"]), place(dependence["source_to"])}


def wrong_by(order, flow, is_wrong):
    """The lines of a flow for which is_wrong(producer's time, consumer's time, both statements) holds."""
    for dependence, producer, consumer in flow:
        ends = dependence["from"], dependence["to"]
        if is_wrong(order.time(ends[0], producer), order.time(ends[1], consumer), ends):
            return lines_of(dependence)
    return None


def edits(chance, order):
    """Ways to change an order, most of them wrong. Few orders cannot be interchanged, so that is tried first."""
    every = list(range(order.length))

    def swap(rows, a, b):
        rows[a], rows[b] = rows[b], rows[a]
        return rows

    def replace(rows, row, by):
        rows[row] = by
        return rows

    pairs = [(a, b) for a in every for b in every if a < b]
    for a, b in chance.sample(pairs, len(pairs)):
        yield "order interchanged", lambda s, rows: swap(rows, a, b)
    row = chance.choice(every)
    for moved in chance.sample(list(order.rows), min(len(order.rows), FARTHEST)):
        by = chance.choice([k for k in range(-FARTHEST, FARTHEST + 1) if k])
        yield "order shifted", lambda s, rows: replace(rows, row, f"{rows[row]} + {by}") if s == moved else rows
    yield "order turned round", lambda s, rows: replace(rows, row, f"-({rows[row]})")


def order_edited(chance, region, order, flow):
    for what, edit in edits(chance, order):
        other = order.edited(edit)
        lines = wrong_by(other, flow, lambda before, after, ends: after < before)
        if lines:
            region["transformed"]["schedule"] = other.text()
            return Corruption(what, ("schedule", region["id"], region["node"], ""), lines)
    return None


def band_key(region, band):
    text = f"dimensions {band['first']} to {band['first'] + len(band['members']) - 1}"
    return "band", region["id"], region["node"], text


def parallel_member(chance, region, order, flow):
    """A loop of the order that carries something is called parallel."""
    members = [(band, k) for band in region["transformed"]["bands"] for k in range(len(band["members"]))
               if band["members"][k]["parallel"] != "yes"]
    chance.shuffle(members)
    for band, number in members:
        row = band["first"] + number
        lines = wrong_by(order, flow, lambda before, after, ends: set(ends) <= set(band["statements"])
                         and before[:row] == after[:row] and before[row] != after[row])
        if lines:
            band["members"][number]["parallel"] = "yes"
            return Corruption("order with a false parallel loop", band_key(region, band), lines)
    return None


def permutable_band(chance, region, order, flow):
    """Two bands, one inside the other, are called one, though something goes backwards in the inner one."""
    bands = region["transformed"]["bands"]
    pairs = [(outer, inner) for outer in bands for inner in bands
             if outer["first"] + len(outer["members"]) == inner["first"]
             and set(inner["statements"]) <= set(outer["statements"])]
    chance.shuffle(pairs)
    for outer, inner in pairs:
        first, rows = outer["first"], range(inner["first"], inner["first"] + len(inner["members"]))
        lines = wrong_by(order, flow, lambda before, after, ends: set(ends) <= set(inner["statements"])
                         and before[:first] == after[:first] and any(after[row] < before[row] for row in rows))
        if lines:
            outer["members"] += inner["members"]
            outer["statements"] = inner["statements"]
            for member in outer["members"]:
                member["parallel"] = "no"
            bands.remove(inner)
            return Corruption("band that is not permutable", band_key(region, outer), lines)
    return None


def skewed_band(chance, region, order, flow):
    """A row of a band is skewed by one before it, so that something goes backwards in it. The order stays legal."""
    ways = [(band, earlier, row, by) for band in region["transformed"]["bands"] for by in (1, 2)
            for row in range(band["first"], band["first"] + len(band["members"])) for earlier in range(band["first"], row)]
    chance.shuffle(ways)
    for band, earlier, row, by in ways:
        mine, first = set(band["statements"]), band["first"]

        def skewed(statement, rows):
            if statement in mine:
                rows[row] = f"{rows[row]} - {by} * ({rows[earlier]})"
            return rows

        other = order.edited(skewed)
        lines = wrong_by(other, flow, lambda before, after, ends: set(ends) <= mine
                         and before[:first] == after[:first] and after[row] < before[row])
        if lines:
            region["transformed"]["schedule"] = other.text()
            return Corruption("band that is not permutable", band_key(region, band), lines)
    return None


def an_order(chance, profile, region, files):
    """Something about the order of a region becomes wrong, if that is certain."""
    transformed = region.get("transformed")
    if not transformed or transformed["status"] == "gave up" or not transformed["schedule"]:
        return None
    try:
        order = Order(transformed["schedule"])
    except ValueError:
        return None
    flow = certain_flow(chance, profile, region, order, files)
    ways = [order_edited, parallel_member, skewed_band]
    chance.shuffle(ways)
    return next((made for made in (way(chance, region, order, flow) for way in (permutable_band, *ways)) if made), None)
