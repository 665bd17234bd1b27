"""`loopfold verify` finds nothing wrong with profiles as they are, and everything that was made wrong in them.

Every program in kernels/ (with LOOPFOLD_SOAK those in kernels/verdicts too) is built by GCC, recorded, analysed and verified. Then its profile is corrupted, at random but
always in the same way, in as many claims as possible at once, and verified again: every corrupted claim is violated,
with a line of the source that belongs to it, and no other is.

    LOOPFOLD_KERNELS  a regular expression: only the programs that it matches
    LOOPFOLD_SOAK     more than 1: every program at every level, and more corruptions of each
    LOOPFOLD_SEED     moves the random choices
"""

import collections
import copy
import glob
import json
import os
import random
import re
import shutil

import lf

LEVELS = ("-O0", "-O1", "-O2")
FEWEST = 200  # corruptions
SEED = os.environ.get("LOOPFOLD_SEED", "1")

suite = lf.Suite()


# ---- Profiles -------------------------------------------------------------------------------------------------------

def build_and_analyse(source, level, directory):
    """The trace of a program, with its profile."""
    name = os.path.splitext(os.path.basename(source))[0] + level
    binary = os.path.join(directory, name)
    compiler = ["g++", "-std=c++17"] if source.endswith(".cc") else ["gcc", "-std=gnu11"]
    succeed(lf.run([*compiler, "-g", level, "-w", "-o", binary, source, "-lm", "-pthread"],
                   env={**lf.ENVIRONMENT, "PATH": os.environ["PATH"]}))
    arguments = ["43", "1"] if "/verdicts/" in source else []
    trace = binary + ".lf"
    succeed(lf.record(trace, [binary, *arguments], options=("--quiet",)))
    succeed(lf.run([lf.LOOPFOLD, "analyze", "--quiet", "--jobs", "1", "--min-percent", "0", trace]))
    with open(os.path.join(trace, "profile.json"), encoding="utf-8") as file:
        return trace, json.load(file)


def succeed(result):
    if result.status != 0:
        raise RuntimeError(str(result))


def verify(trace, profile=None):
    """The report as a dictionary, and the status. With `profile` in place of the trace's own."""
    directory = trace
    if profile is not None:
        directory = trace + ".corrupted"
        os.makedirs(directory)
        os.link(os.path.join(trace, "trace.lft"), os.path.join(directory, "trace.lft"))
        with open(os.path.join(directory, "profile.json"), "w", encoding="utf-8") as file:
            json.dump(profile, file)
    result = lf.run([lf.LOOPFOLD, "verify", "--format", "json", directory])
    if profile is not None:
        shutil.rmtree(directory)
    if result.status not in (0, 1):
        raise RuntimeError(str(result))
    return json.loads(result.stdout), result.status


def key_of(claim):
    return claim["kind"], claim["region"], claim["node"], claim["text"]


# ---- Corruptions ----------------------------------------------------------------------------------------------------

class Corruption:
    """What was made wrong: the claim that it is in, and the lines that a violation may name."""

    def __init__(self, what, key, lines):
        self.what, self.key, self.lines = what, key, lines

    def problems(self, claims):
        claim = claims.get(self.key)
        if claim is None:
            return [f"{self.what}: no claim {self.key}"]
        if claim["outcome"] != "violated":
            return [f"{self.what}: {self.key} is {claim['outcome']}"]
        named = {place(end) for violation in claim["violations"]
                 for end in (violation["source_from"], violation["source_to"])}
        if self.lines is not None and not named & self.lines:
            return [f"{self.what}: {self.key} names {sorted(named)}, none of {sorted(self.lines)}"]
        return []


def place(source):
    return f"{source['file']}:{source['line']}" if source else "?"


def lines_of_blocking(loop):
    return {place(end) for block in loop["blocking"] for end in (block["source_from"], block["source_to"])}


def corrupt_verdict(chance, region, loop):
    """A no or a reduction becomes a yes."""
    if loop["parallel"] == "no":
        lines = lines_of_blocking(loop)
        what = "no to yes"
    elif loop["parallel"] == "reduction":
        lines = {place(reduction["source"]) for reduction in loop["reductions"]}
        what = "reduction to yes"
    else:
        return None
    loop["parallel"] = "yes"
    loop["blocking"], loop["reductions"] = [], []
    return Corruption(what, ("parallel", region["id"], loop["node"], ""), lines)


def corrupt_reason(chance, profile, region, loop):
    """A reason for a no gets a line, a distance or an object that it has not."""
    if loop["parallel"] != "no" or not loop["blocking"]:
        return None
    block = chance.choice(loop["blocking"])
    ways = ["line"]
    if block["distance"] is not None:
        ways.append("distance")
    way = chance.choice(ways)
    if way == "line":
        end = chance.choice(["source_from", "source_to"])
        block[end] = {"file": loop["source"]["file"] if loop["source"] else "none.c", "line": 100000}
    else:
        block["distance"] += 1000000
        block.pop("least", None), block.pop("greatest", None)
    ends = {place(block["source_from"]), place(block["source_to"])}
    return Corruption(f"reason with another {way}", ("no", region["id"], loop["node"], ""), ends)


def carries_for_sure(region, band, member):
    everything = set().union(*(other["statements"] for other in region["transformed"]["bands"]))
    if band["first"] != 0 or set(band["statements"]) != everything or len(member["terms"]) != 1:
        return False
    node = member["terms"][0]["node"]
    return any(node in loop["nodes"] and any(block["kind"] in ("memory", "register") for block in loop["blocking"])
               for loop in region["loops"])


def corrupt_order(chance, region):
    """A loop of the order that carries something is called parallel, or goes backwards.

    An order may call a loop sequential that is not: dependences are over-approximated, and what is distributed need not
    carry what the loop as written does. So it is an outermost loop around everything, with a reason in its verdict.
    """
    transformed = region.get("transformed")
    if not transformed or transformed["status"] == "gave up" or not transformed["schedule"]:
        return None
    found = []
    for band in transformed["bands"]:
        for number, member in enumerate(band["members"]):
            if member["parallel"] == "no" and number == 0 and carries_for_sure(region, band, member):
                found.append((band, number))
    if not found:
        return None
    band, number = chance.choice(found)
    dimension = band["first"] + number
    text = f"dimensions {band['first']} to {band['first'] + len(band['members']) - 1}"
    if chance.random() < 0.5:
        band["members"][number]["parallel"] = "yes"
        return Corruption("order with a false parallel loop", ("band", region["id"], region["node"], text), None)
    transformed["schedule"] = reversed_in(transformed["schedule"], dimension, band["statements"])
    return Corruption("order turned round", ("schedule", region["id"], region["node"], ""), None)


def reversed_in(schedule, dimension, statements):
    """{ S3[i0] -> [i0, 0]; ... } with one dimension negated for some statements."""
    entries = []
    for entry in schedule.strip().strip("{}").split(";"):
        domain, times = entry.split("->")
        parts = times.strip().strip("[]").split(",")
        if int(re.match(r"\s*S(\d+)", domain)[1]) in statements:
            parts[dimension] = f" -({parts[dimension].strip()})"
        entries.append(f"{domain.strip()} -> [{','.join(parts)}]")
    return "{ " + "; ".join(entries) + " }"


def corrupted(chance, profile, believed):
    """A profile with many claims made wrong, and what they are. Only claims that held before are touched."""
    profile = copy.deepcopy(profile)
    made = []
    for region in profile["regions"]:
        for loop in region["loops"]:
            if loop["node"] not in believed:
                continue
            if chance.random() < 0.5:
                made.append(corrupt_verdict(chance, region, loop))
            else:
                made.append(corrupt_reason(chance, profile, region, loop))
        made.append(corrupt_order(chance, region))
    return profile, [corruption for corruption in made if corruption]


# ---- The test -------------------------------------------------------------------------------------------------------

def believed_nodes(profile, source):
    """Loops of the program itself. What a library does may be looked at differently by the two."""
    names = {os.path.basename(source), "inputs.h", "kernel.h"}
    return {loop["node"] for region in profile["regions"] for loop in region["loops"]
            if loop["source"] and os.path.basename(loop["source"]["file"]) in names}


def check(source, level, directory):
    """What is wrong, how many claims were verified, and what was corrupted."""
    name = f"{os.path.basename(source)} {level}"
    trace, profile = build_and_analyse(source, level, directory)
    report, status = verify(trace)
    wrong = [f"{name}: {key_of(claim)} {claim['why']} {[v['text'] for v in claim['violations']][:3]}"
             for claim in report["claims"] if claim["outcome"] != "ok"]
    if (status == 0) != report["holds"] or report["holds"] != (not wrong):
        wrong.append(f"{name}: status {status}, but holds is {report['holds']}")
    made = []
    for trial in range(min(2 * lf.SOAK, 5)):
        chance = random.Random(f"{SEED} {name} {trial}")
        profile_made_wrong, corruptions = corrupted(chance, profile, believed_nodes(profile, source))
        if not corruptions:
            continue
        report, status = verify(trace, profile_made_wrong)
        claims = {key_of(claim): claim for claim in report["claims"]}
        for corruption in corruptions:
            wrong += [f"{name}: not noticed: {problem}" for problem in corruption.problems(claims)]
        if status != 1:
            wrong.append(f"{name}: status {status} for a profile made wrong")
        touched = {corruption.key for corruption in corruptions}
        turned = {key[1] for key in touched if key[0] in ("schedule", "band")}
        wrong += [f"{name}: noticed without reason: {key_of(claim)}" for claim in report["claims"]
                  if claim["outcome"] != "ok" and key_of(claim) not in touched
                  and not (claim["kind"] in ("schedule", "band") and claim["region"] in turned)]
        made += corruptions
    shutil.rmtree(trace)
    return wrong, len(report["claims"]), made


def cases():
    verdicts = sorted(glob.glob(os.path.join(lf.SOURCE, "kernels", "verdicts", "*.c*")))
    kernels = sorted(glob.glob(os.path.join(lf.SOURCE, "kernels", "*.c")))
    every = [(source, level) for source in verdicts for level in LEVELS] if lf.SOAK > 1 else []
    for number, source in enumerate(kernels):
        every += [(source, level) for level in (LEVELS if lf.SOAK > 1 else (LEVELS[number % len(LEVELS)],))]
    wanted = os.environ.get("LOOPFOLD_KERNELS", "")
    return [case for case in every if re.search(wanted, os.path.basename(case[0]))]


def check_bad_input(directory):
    """A profile of another run is refused; so is one that is no profile."""
    source = os.path.join(lf.SOURCE, "kernels", "dot.c")
    trace, profile = build_and_analyse(source, "-O1", directory)
    other = copy.deepcopy(profile)
    other["tree"][-1]["address"] += 1
    for what, text, status in (("another program's profile", json.dumps(other), 3), ("no profile", "{", 3)):
        with open(os.path.join(trace, "profile.json"), "w", encoding="utf-8") as file:
            file.write(text)
        result = lf.run([lf.LOOPFOLD, "verify", trace])
        suite.check(f"{what} is refused", result.status == status and result.stderr.count(b"\n") == 1, str(result))
    os.remove(os.path.join(trace, "profile.json"))
    result = lf.run([lf.LOOPFOLD, "verify", "--quiet", trace])
    suite.check("without a profile the trace is analysed", result.status == 0 and result.stdout == b"", str(result))
    with open(os.path.join(trace, "trace.lft"), "r+b") as file:
        file.truncate(os.path.getsize(file.name) - 40)
    result = lf.run([lf.LOOPFOLD, "analyze", "--quiet", trace])
    result = lf.run([lf.LOOPFOLD, "verify", trace])
    suite.check("a sound partial trace is verified", result.status == 0 and b"partial" in result.stdout, str(result))


class Tally:
    def __init__(self):
        self.claims, self.made = 0, []


def check_case(case, directory, tally):
    wrong, claims, made = check(*case, directory)
    name = f"{os.path.basename(case[0])} {case[1]}"
    suite.check(f"{name}: nothing is violated but what was made wrong", not wrong, "\n".join(wrong))
    with suite.lock:
        tally.claims += claims
        tally.made += made


def main():
    tally = Tally()
    with lf.Directory() as directory:
        suite.each(lambda case: check_case(case, directory, tally), cases())
        kinds = collections.Counter(corruption.what for corruption in tally.made)
        print(f"{tally.claims} claims, {len(tally.made)} made wrong: {dict(kinds)}")
        if not os.environ.get("LOOPFOLD_KERNELS"):
            suite.check(f"at least {FEWEST} were made wrong", len(tally.made) >= FEWEST, kinds)
            suite.check("in every way", len(kinds) >= 6, kinds)
        check_bad_input(directory)
    suite.finish()


if __name__ == "__main__":
    main()
