"""`loopfold verify` finds nothing wrong with profiles as they are, and everything that was made wrong in them.

Every program in kernels/, kernels/verdicts, kernels/advice and kernels/hidden is built by GCC, recorded, analysed and verified. Then its
profile is corrupted (verify_corruptions.py), at random but always in the same way, in as many claims as possible at once,
and verified again: every corrupted claim is violated, with a line of the source that belongs to it, and no other is.

Each program is built at one level of optimisation, those in kernels/verdicts at two, -O1 being one of them. One of kernels/moved has
loops that follow each other in a loop that stays as it is.

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
import verify_corruptions as corrupt

COMPILERS = {".c": ["gcc", "-std=gnu11"], ".cc": ["g++", "-std=c++17"], ".f90": ["gfortran"]}
LEVELS = ("-O0", "-O1", "-O2")
FEWEST = 400  # corruptions
KINDS = {  # and of each kind
    "no to yes": 40, "no to reduction": 30, "reduction to yes": 15, "reason with another line": 20,
    "reason with another distance": 15, "reason with another object": 20, "order turned round": 10,
    "order interchanged": 8, "order shifted": 4, "order with a false parallel loop": 20, "band that is not permutable": 8,
}
SEED = os.environ.get("LOOPFOLD_SEED", "1")

suite = lf.Suite()


# ---- Profiles -------------------------------------------------------------------------------------------------------

def build_and_analyse(source, level, directory):
    """The trace of a program, with its profile."""
    name = os.path.splitext(os.path.basename(source))[0] + level
    binary = os.path.join(directory, name)
    compiler = COMPILERS[os.path.splitext(source)[1]]
    succeed(lf.run([*compiler, "-g", level, "-w", "-o", binary, source, "-lm", "-pthread"],
                   env={**lf.ENVIRONMENT, "PATH": os.environ["PATH"]}))
    trace = binary + ".lf"
    succeed(lf.record(trace, [binary, *arguments_of(source)], options=("--quiet",)))
    succeed(lf.run([lf.LOOPFOLD, "analyze", "--quiet", "--jobs", "1", "--min-percent", "0", trace]))
    with open(os.path.join(trace, "profile.json"), encoding="utf-8") as file:
        return trace, json.load(file)


def arguments_of(source):
    """Of kernels/advice and kernels/hidden, what the program says itself; `verify: run` if it takes too long otherwise."""
    if "/verdicts/" in source:
        return ["43", "1"]
    with open(source, encoding="utf-8") as file:
        text = file.read() if re.search("/(advice|hidden)/", source) else ""
    said = re.search(r"verify: run (.*)", text) or re.search(r"advice: run (.*)", text)
    return said[1].split() if said else []


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


# ---- The test -------------------------------------------------------------------------------------------------------

def corrupted(chance, profile, believed):
    """A profile with many claims made wrong, and what they are."""
    profile = copy.deepcopy(profile)
    files = {loop["source"]["file"] for region in profile["regions"] for loop in region["loops"]
             if loop["node"] in believed}
    made = []
    for region in profile["regions"]:
        if region["node"] in believed:
            made.append(corrupt.an_order(chance, profile, region, files))
        for loop in region["loops"]:
            if loop["node"] not in believed:
                continue
            if chance.random() < 0.5:
                made.append(corrupt.verdict(chance, region, loop))
            else:
                made.append(corrupt.reason(chance, profile, region, loop))
    return profile, [corruption for corruption in made if corruption]


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
    for trial in range(min(2 * lf.SOAK, 5) if lf.SOAK > 1 or "/verdicts/" not in source else 1):
        chance = random.Random(f"{SEED} {name} {trial}")
        profile_made_wrong, corruptions = corrupted(chance, profile, believed_nodes(profile, source))
        if not corruptions:
            continue
        report, status = verify(trace, profile_made_wrong)
        claims = collections.defaultdict(list)
        for claim in report["claims"]:
            claims[key_of(claim)].append(claim)
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


def levels_of(number, source):
    if lf.SOAK > 1:
        return LEVELS
    if "/verdicts/" in source:
        return ("-O1", ("-O2", "-O0")[number % 2])
    if "/hidden/" in source:
        return (LEVELS[number % len(LEVELS)], LEVELS[(number + 1) % len(LEVELS)])
    return (LEVELS[number % len(LEVELS)],)


def cases():
    every = []
    for pattern in ("verdicts/*.c*", "*.c", "advice/*.[cf]*", "hidden/*.c"):
        sources = sorted(glob.glob(os.path.join(lf.SOURCE, "kernels", pattern)))
        sources = [source for source in sources if shutil.which(COMPILERS[os.path.splitext(source)[1]][0])]
        every += [(source, level) for number, source in enumerate(sources) for level in levels_of(number, source)]
    every.append((os.path.join(lf.SOURCE, "kernels", "moved", "blocked_lu.c"), "-O3"))
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


# Copied by one instruction that repeats itself, in the C library.
LARGE_COPY = """#include <stdio.h>
#include <string.h>
static double a[20000], b[20000];
int main(void) {
  for (int i = 0; i < 20000; i++) a[i] = i * 0.5;
  memcpy(b, a, sizeof a);
  double s = 0;
  for (int i = 0; i < 20000; i++) s += b[i];
  printf("%g\\n", s);
  return 0;
}
"""


def check_large_copy(directory):
    """What a repeated instruction stores does not decide how often it is repeated."""
    source = os.path.join(directory, "large_copy.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(LARGE_COPY)
    trace, _ = build_and_analyse(source, "-O1", directory)
    report, status = verify(trace)
    suite.check("a large copy: all holds", status == 0 and report["holds"] and len(report["claims"]) >= 3, str(report))


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
        print(f"{tally.claims} claims, {len(tally.made)} made wrong:")
        for kind, count in sorted(kinds.items()):
            print(f"{count:6}  {kind}")
        if not os.environ.get("LOOPFOLD_KERNELS"):
            suite.check(f"at least {FEWEST} were made wrong", len(tally.made) >= FEWEST, kinds)
            suite.check("in every way", all(kinds[kind] >= fewest for kind, fewest in KINDS.items()), kinds)
        check_bad_input(directory)
        check_large_copy(directory)
    suite.finish()


if __name__ == "__main__":
    main()
