"""The reading of `// expect-advice:` lines and their comparison with profiles, tested on a made-up kernel.

The kernel is a nest of two loops, called from two places. Each fact is true of a made-up region, and false of others
that differ in one thing. No program is run.
"""

import copy

from advice_facts import SILENT, Profile
from advice_lines import Kernel

SOURCE = """// advice: run 4
// expect-advice{prefix}: {facts}
for (int i = 0; i < n; i++) {{  // expect: parallel
  for (int j = 0; j < n; j++) {{  // expect: no: so
    a[j] = a[j - 1];  // S:
  }}
}}
other();  // first:
other();  // second:
"""
FORTRAN = """! advice: run 4
! expect-advice: tile_depth 2; interchange i j
do i = 1, n  ! expect: parallel
  do j = 1, n
    a(i, j) = 1
  end do
end do
"""

REFUSED = ["", "tile_depth", "tile_depth two", "tile_depth 3..2", "skew maybe", "interchange i", "interchange i k",
           "reuse", "suggests", "suggests LF-XXX", "suggests LF-PAR k", "suggests LF-PAR i needs luck", "never",
           "suggests LF-PAR i legal maybe", "blocking S", "blocking S -> T", "blocking S -> S distance x",
           "components 2", "others known", "depth 3", "tile_depth 2,skew no", "fusion", "status good",
           "suggests LF-PAR j.2", "hidden", "hidden x", "blocks", "blocks maybe", "affine"]


def here(line):
    return {"file": "/somewhere/made_up.c", "line": line}


def made_up_profile():
    """Two calls, each with a region: the loops in lines 3 and 4."""
    tree, regions = [{"id": 0, "parent": None, "kind": "root"}], []
    for call_line in (8, 9):
        call = len(tree)
        tree += [{"id": call, "parent": 0, "kind": "call", "call_site": here(call_line)},
                 {"id": call + 1, "parent": call, "kind": "loop"}, {"id": call + 2, "parent": call + 1, "kind": "loop"}]
        rows = [{"node": call + 1, "nodes": [call + 1], "source": here(3), "parallel": "yes", "blocking": [],
                 "stride01_percent": 0, "trip": {"min": 4, "max": 4}, "reductions": []},
                {"node": call + 2, "nodes": [call + 2], "source": here(4), "parallel": "no", "reductions": [],
                 "blocking": [{"source_from": here(5), "source_to": here(5), "distance": 1, "count": 3}],
                 "stride01_percent": 50, "trip": {"min": 4, "max": 4}}]
        regions.append({"loops": rows, "interprocedural": False, "affine_percent": 99.9, "static_obstacles": ["R: calls f", "F: x"], "transformed": {
            "status": "found", "parallel_ops_percent": 95.0, "simd_ops_percent": 0.0, "reuse_percent": 50.4,
            "potential_reuse_percent": 100.0, "tilable_ops_percent": 90.0, "tile_depth": 2, "skew": [],
            "interchange": [[call + 1, call + 2]], "fusion": "max", "components_before": 2, "components_after": 1},
            "suggestions": [{"rule": "LF-PAR", "where": [here(3)], "legal": "yes", "gain": 2, "loops": [call + 1],
                             "requires": [{"kind": "private"}]},
                            {"rule": "LF-ICH", "where": [here(3)], "legal": "unknown", "gain": 2,
                             "loops": [call + 1, call + 2], "requires": []}]})
    return {"tree": tree, "regions": regions}


TRUE = ["tile_depth 2", "tile_depth >= 2", "tile_depth 1..2", "skew no", "interchange i j", "parallel_ops >= 90",
        "simd_ops <= 10", "reuse 50", "potential_reuse 100", "tilable_ops 85..95", "fusion max", "components 2 -> 1",
        "status found", "suggests LF-PAR i", "suggests LF-PAR i needs private legal yes", "suggests LF-ICH i j",
        "suggests LF-ICH i j needs expand", "never LF-SKW", "never LF-PAR j", "interprocedural no", "stride01 0",
        "trip 4", "obstacles RF", "affine >= 99", "hidden none"]
FALSE = ["tile_depth 3", "tile_depth >= 3", "tile_depth 0..1", "skew yes", "interchange j i", "interchange none",
         "parallel_ops >= 96", "simd_ops >= 1", "reuse 52", "potential_reuse <= 98", "fusion none",
         "components 2 -> 2", "status original", "status gave up", "suggests LF-PAR j",
         "suggests LF-PAR i needs expand", "suggests LF-TIL i", "suggests LF-PAR i legal no", "suggests nothing",
         "never LF-PAR", "never LF-PAR i", "never LF-ICH", "stride01 50", "others unknown", "interprocedural yes",
         "trip 5", "blocking S -> S", "obstacles none", "obstacles R", "obstacles RFA",
         "affine <= 90", "hidden 4", "blocks yes"]


def kernel_with(facts, prefix=""):
    kernel = Kernel.__new__(Kernel)
    kernel.read("/somewhere/made_up.c", SOURCE.format(facts=facts, prefix=prefix))
    return kernel


def problems(facts, profile, prefix=""):
    kernel = kernel_with(facts, prefix)
    found = Profile(profile, kernel)
    return [finding.problem for fact in kernel.facts for finding in found.findings(fact)]


def is_refused(facts, prefix=""):
    try:
        kernel_with(facts, prefix)
    except ValueError:
        return True
    return False


def run(suite):
    for facts in REFUSED:
        suite.check(f"refused: {facts!r}", is_refused(facts))
    suite.check("refused: a call without a tag", is_refused("skew no", " at third"))
    suite.check("refused: a strange build", is_refused("skew no", " -O9"))
    profile = made_up_profile()
    for facts in TRUE:
        suite.check(f"true: {facts}", problems(facts, profile) == [None, None], problems(facts, profile))
    for facts in FALSE:
        found = problems(facts, profile)
        suite.check(f"false: {facts}", len(found) == 2 and None not in found and SILENT not in found, found)
    check_context(suite, profile)
    check_silence(suite, profile)
    check_hidden(suite, profile)
    check_fortran(suite)


def check_context(suite, profile):
    """`at` a call means its region alone; `others` spares what was asked for."""
    spoiled = copy.deepcopy(profile)
    spoiled["regions"][1]["transformed"]["tile_depth"] = 1
    suite.check("at first", problems("tile_depth 2", spoiled, " at first") == [None])
    suite.check("at second", problems("tile_depth 2", spoiled, " at second") == ["it is 1"])
    suite.check("a level", kernel_with("skew no", " -O2 at first").facts[0].level == "-O2")
    found = problems("suggests LF-PAR i; others unknown", profile)
    suite.check("others unknown", found == [None] * 4, found)
    inner = kernel_with("skew no")
    inner.read(inner.path, inner.source.replace("  for", "  // expect-advice: blocking S -> S distance 1\n  for"))
    suite.check("an inner loop", inner.facts[1].loop is inner.loops[1] and inner.facts[1].values == (6, 6, 1),
                inner.facts[1].values)
    no_rows = {"tree": profile["tree"], "regions": []}
    suite.check("no loop", problems("skew no", no_rows) == ["no such loop in the profile"])


def check_silence(suite, profile):
    silent = copy.deepcopy(profile)
    for region in silent["regions"]:
        del region["transformed"], region["suggestions"]
    suite.check("silence is told apart", problems("skew no; suggests nothing", silent) == [SILENT] * 4)
    suite.check("loops are not silent", problems("trip 4; stride01 50", silent) == [None, None, "it is 0", "it is 0"])


def check_hidden(suite, profile):
    """Levels of the outer loop: no loops of the source, but listed with its row."""
    split = copy.deepcopy(profile)
    split["regions"] = split["regions"][:1]
    outer, inner = split["regions"][0]["loops"]
    split["tree"][inner["node"]]["parent"] = len(split["tree"]) + 1
    for period in (3, 2):
        node = len(split["tree"])
        parent = outer["node"] if period == 3 else node - 1
        split["tree"].append({"id": node, "parent": parent, "kind": "loop", "hidden": True, "period": period})
        split["regions"][0]["loops"].append({**outer, "node": node, "nodes": [node], "hidden": True, "period": period})
    outer["blocks"] = "no"
    suite.check("hidden levels", problems("hidden 3 2; blocks no; trip 4", split) == [None] * 3,
                problems("hidden 3 2; blocks no; trip 4", split))
    suite.check("other hidden levels", None not in problems("hidden 2 3; hidden 3; hidden none; blocks yes", split))


def check_fortran(suite):
    kernel = Kernel.__new__(Kernel)
    kernel.read("/somewhere/made_up.f90", FORTRAN)
    outer, inner = kernel.loops
    suite.check("Fortran loops", (outer.line, outer.last_line, inner.line, inner.last_line) == (3, 7, 4, 6))
    suite.check("Fortran nests", inner.parent is outer and kernel.judged() == [outer])
    suite.check("Fortran facts", kernel.facts[1].values == (outer, inner), kernel.facts)
