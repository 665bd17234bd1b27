"""What the loop tree says of programs of known structure: calls, recursion, jumps out of frames, threads, signals.

For each program of tests/programs/structure: the kinds of nodes, how they are nested, and their counts, which the
program prints itself (`name number` per line). Loops are named by the tags in the source (`// @tag`).
"""

import os
import re
import traceback

import lf
import structure_tree
from structure_tree import describe, line_of, path_of

suite = lf.Suite()


class Case:
    """A recorded program, what it printed, and its tree."""

    def __init__(self, program, directory, options=(), status=0, name=None, trace=None):
        self.name = name or program
        source = os.path.join(structure_tree.SOURCES, "structure", program)
        extension = ".cc" if os.path.exists(f"{source}.cc") else ".c"
        self.file, self.shown = f"{program}{extension}", False
        self.tags = structure_tree.tags(os.path.join("structure", self.file))
        self.tag_of = {line: tag for tag, line in self.tags.items()}
        self.trace, self.printed = trace or os.path.join(directory, re.sub(r"\W+", "-", self.name)), {}
        if trace is None:
            result = lf.record(self.trace, [lf.program(os.path.join("structure", program))],
                               options=("--quiet", "--checksum", *options))
            suite.check(f"{self.name}: recorded", result.status == status, result)
            self.printed = structure_tree.facts(result.stdout)
        facts = suite.check_trace(self.name, self.trace) or {}
        suite.check_vectors(self.name, self.trace)
        self.tree = structure_tree.load(suite, self.name, self.trace)
        if self.tree is None:
            raise RuntimeError("no tree")
        structure_tree.check_invariants(suite, self.name, self.tree, facts.get("instructions"))

    def __getitem__(self, name):
        return self.printed[name]

    def check(self, what, condition, detail=""):
        """With the first failure, the tree is shown."""
        if not condition and not self.shown:
            detail, self.shown = f"{detail}\n{self.own_nodes()}", True
        return suite.check(f"{self.name}: {what}", condition, detail)

    def own_nodes(self):
        """The part of the tree that is about the program's own source, a line per node, with its depth."""
        own = [node for node in self.tree.nodes if structure_tree.file_of(node) == self.file]
        lines = [f"  {len(path_of(node)):3} {describe(node)}" for node in own]
        return f"the tree's nodes of {self.file}:\n" + "\n".join(lines[:40])

    def loops(self, tag):
        return self.tree.loops(self.tags[tag], self.file)

    def calls(self, function, kind="call"):
        return [node for node in self.tree.find(kind=kind, function=function)
                if plain(node["function"]).split("::")[-1] == function.split("::")[-1]]

    def shape(self, node):
        """The way to a node, from main if that is on it: `f()` for calls, `f()*` for recursion, `@tag` for loops."""
        words = []
        for step in path_of(node):
            if step["kind"] == "loop":
                words.append("@" + str(self.tag_of.get(line_of(step), f"{step['function']}:{line_of(step)}")))
            else:
                words.append(plain(step["function"]) + "()" + ("*" if step["kind"] == "recursion" else ""))
        return words[words.index("main()"):] if "main()" in words else words

    def loop(self, tag, trip, entries=None, nodes=None, shape=None):
        """The loops at a tag: their trips and entries add up; so many nodes; one of them is reached like that."""
        found = self.loops(tag)
        total = sum(node["trip"]["total"] for node in found)
        entered = sum(node["entries"] for node in found)
        shapes = [self.shape(node) for node in found]
        self.check(f"@{tag}: trips", total == trip, f"expected {trip}, the tree has {total}")
        if entries is not None:
            self.check(f"@{tag}: entries", entered == entries, f"expected {entries}, the tree has {entered}")
        if nodes is not None:
            self.check(f"@{tag}: nodes", len(found) == nodes, f"expected {nodes} contexts, the tree has {shapes}")
        if shape is not None:
            self.check(f"@{tag}: nesting", shape.split() in shapes, f"expected {shape}, the tree has {shapes}")
        return found

    def within(self, what, value, low, high):
        self.check(what, low <= value <= high, f"expected {low} to {high}, the tree has {value}")

    def bounded(self, node, most_nodes, most_depth):
        """A recursion's subtree is small, whatever the recursion's depth."""
        below = self.tree.find(under=node)
        depth = max(len(path_of(each)) for each in below) - len(path_of(node))
        self.within(f"nodes under {describe(node)}", len(below), 1, most_nodes)
        self.within(f"depth under {describe(node)}", depth, 0, most_depth)


def plain(function):
    """Without arguments, return type and a compiler's suffixes: `work` for `work.constprop.0`."""
    function = function.replace("(anonymous namespace)", "{anonymous}")
    return re.sub(r"\..*$", "", re.sub(r"\(.*$", "", function)).split(" ")[-1]


# ---- calls ----

def nest_through_call(directory):
    case = Case("nest_through_call", directory)
    outer, inner, again = case["outer"], case["inner"], case["again"]
    case.loop("outer", outer, 1, 1, "main() nest() @outer")
    found = case.loop("inner", outer * inner + again, outer + 1, 2, "main() nest() @outer work() @inner")
    case.loop("inner", outer * inner + again, shape="main() work() @inner")
    for node in found:
        nested = "@outer" in case.shape(node)
        trip, entries = (inner, outer) if nested else (again, 1)
        case.check("counts by context", (node["trip"]["min"], node["trip"]["max"], node["entries"])
                   == (trip, trip, entries), f"expected {entries} entries with {trip} each: {describe(node)}")
        case.check("the inner loop is one of its function", node["depth_binary"] == 1, describe(node))
        call = node["up"]
        case.check("call node", call["kind"] == "call" and call["entries"] == entries, describe(call))
        site = (call.get("call_site") or {}).get("line")
        expected = case.tags["outer" if nested else "again"]
        case.check("call site", site == expected, f"expected line {expected}, the tree has {site}")


def indirect_calls(directory):
    case = Case("indirect_calls", directory)
    callees(case, "calls", {"twos": "twos", "threes": "threes", "fives": "fives"})


def virtual_calls(directory):
    case = Case("virtual_calls", directory)
    callees(case, "calls", {"shapes::Circle::draw": "circle", "shapes::Square::draw": "square",
                            "shapes::Triangle::draw": "triangle"})


def callees(case, site, functions):
    """One loop with one call site and several callees: each is a child of its own, with a loop at a tag."""
    loops = case.loop(site, case["calls"], 1, 1)
    names = {plain(child["function"]): child for loop in loops for child in loop["children"] if child["kind"] == "call"}
    case.check("callees", set(names) >= set(functions), f"expected {sorted(functions)}, the tree has {sorted(names)}")
    for function, tag in functions.items():
        entries = case["calls"] // len(functions)
        found = case.loop(tag, case[tag], entries, 1)
        case.check(f"{function}: its loop is below it", function in names
                   and all(node["up"] is names[function] for node in found))
        case.check(f"{function}: calls", function in names and names[function]["entries"] == entries,
                   f"expected {entries}")


def deep_chain(directory):
    case = Case("deep_chain", directory)
    rounds, inner = case["rounds"], case["inner"]
    for node in case.loop("inner", rounds * inner, rounds, 1):
        shape = case.shape(node)
        expected = case["functions"] + 4  # main, its loop, the sixty, f0, its loop
        case.check("length of the way", len(shape) == expected, f"expected {expected}, the tree has {shape}")
        case.check("ends of the way", shape[:3] == ["main()", "@rounds", "f10()"] and shape[-2:] == ["f0()", "@inner"],
                   shape)
        case.check("calls on the way", all(step["entries"] == rounds for step in path_of(node) if step["kind"] == "call"
                                           and plain(step["function"]) != "main"))


def qsort_callback(directory):
    for options in ((), ("--no-libs",)):
        case = Case("qsort_callback", directory, options, name=" ".join(("qsort_callback", *options)))
        case.loop("items", case["items"], 1, 1, "main() @items")
        case.loop("letters", case["letters"], case["items"], 1, "main() @items @letters")
        case.loop("compare", case["compared"], case["comparisons"])
        calls = case.calls("by_letters")
        entries = sum(node["entries"] for node in calls)
        case.check("calls of the comparison", entries == case["comparisons"],
                   f"expected {case['comparisons']}, the tree has {entries}")
        below_main = [node for node in case.loops("compare") if "main()" in case.shape(node)]
        case.check("called back below main", below_main == case.loops("compare"))
        case.within("contexts of the comparison", len(calls), 1, 12)


def alloca_loop(directory):
    case = Case("alloca_loop", directory)
    case.loop("outer", case["outer"], 1, 1, "main() grow() @outer")
    case.loop("touch", case["filled"], case["outer"], 1, "main() grow() @outer touch() @touch")


def tail_calls(directory):
    case = Case("tail_calls", directory)
    for names, steps in ((("step_even", "step_odd"), case["steps"]),
                         (("state_a", "state_b", "state_c"), case["states"])):
        found = [node for node in case.tree.nodes if node["kind"] in ("loop", "recursion")
                 and plain(node["function"]) in names]
        total = sum(node["iterations"] for node in found)
        case.within(f"{names}: iterations", total, steps // len(names) - 1, 2 * steps + 4)
    own = [node for node in case.tree.nodes if structure_tree.file_of(node) == case.file]
    case.within("nodes of the program's own code", len(own), 4, 60)
    case.within("depth of the program's own code", max(len(path_of(node)) for node in own), 2, 20)
    case.loop("calls", case["calls"], 1, 1, "main() @calls")
    case.loop("inner", case["calls"] * (2 * case["inner"] - 1), 2 * case["calls"])
    case.check("the inner loop is inside the loop of the calls",
               all("@calls" in case.shape(node) for node in case.loops("inner")))


# ---- recursion ----

def recursion_linear(directory):
    case = Case("recursion_linear", directory)
    calls = case["depth"] + 1
    recursion(case, "depth", calls)
    case.within("depth of the tree", case.tree.depth(), 2, 40)


def recursion_tree(directory):
    case = Case("recursion_tree", directory)
    recursion(case, "fibonacci", case["calls"])


def recursion(case, function, calls):
    """One recursive component, entered once; calls and returns are its steps."""
    found = case.calls(function, "recursion")
    if case.check("one recursion", len(found) == 1, f"expected one of {function}, found {list(map(describe, found))}"):
        case.check("entered once", found[0]["entries"] == 1, describe(found[0]))
        case.within("steps", found[0]["iterations"], calls, 2 * calls + 1)
        case.bounded(found[0], 8, 4)


def recursion_mutual(directory):
    case = Case("recursion_mutual", directory)
    found = case.calls("is_even", "recursion") + case.calls("is_odd", "recursion")
    case.check("entered at two places", len(found) == 2, list(map(describe, found)))
    for node in found:
        case.check("entered once each", node["entries"] == 1, describe(node))
        case.bounded(node, 16, 8)
    # Each call or return of a header is a step; one of the two functions, or both, may be headers.
    calls = case["even"] + case["odd"]
    case.within("steps", sum(node["iterations"] for node in found), min(case["even"], case["odd"]), 2 * calls + 2)


def recursion_loop(directory):
    case = Case("recursion_loop", directory)
    for function, tag, rounds in (("permute", "permute", case["swaps"]), ("walk", "walk", case["children"])):
        found = case.calls(function, "recursion")
        if case.check(f"{function}: one recursion, entered once",
                      len(found) == 1 and found[0]["entries"] == 1, list(map(describe, found))):
            case.bounded(found[0], 24, 10)
            loops = case.loops(tag)
            case.check(f"{function}: its loop is in the recursion",
                       loops and all(found[0] in path_of(node) for node in loops), list(map(case.shape, loops)))
            # A caller's loop is entered again when a recursive call returns into it: its header runs as often as in
            # the source, and what is left of the iteration may count again.
            case.within(f"{function}: iterations", sum(node["iterations"] for node in loops), rounds, 4 * rounds)


# ---- jumps out of frames, other stacks ----

def longjmp_nest(directory):
    case = Case("longjmp_nest", directory)
    case.loop("rounds", case["rounds"], 1, 1, "main() @rounds")
    case.loop("i", case["i"], case["rounds"], 1)
    case.loop("j", case["j"], case["i"], 1)
    # The second return of setjmp is not the first one: there is no loop between the two.
    case.loop("k", case["k"], case["j"], 1, "main() @rounds three() @i @j @k")


def setjmp_loop(directory):
    case = Case("setjmp_loop", directory)
    case.loop("rounds", case["rounds"], 1, 1, "main() @rounds")
    for node in case.loop("inner", case["inner"], case["backs"], 1):
        way_back(case, node, case["backs"])


def way_back(case, node, iterations):
    """Every longjmp leads back to where setjmp returned: a loop in main, around `node`, though no statement says so."""
    around = [step for step in path_of(node) if step["kind"] == "loop" and step["function"] == "main"
              and (step["iterations"], step["entries"]) == (iterations, case["rounds"])]
    case.check("the way back is a loop", len(around) == 1,
               f"expected one in main with {case['rounds']} entries, {iterations} iterations; {case.shape(node)}")


def throw_through_frames(directory):
    case = Case("throw_through_frames", directory)
    case.loop("rounds", case["rounds"], 1, 1, "main() @rounds")
    middle = case.loop("middle", case["middle"], case["rounds"], 1)
    inner = case.loop("inner", case["inner"], case["middle"], 1)
    case.check("one nest through two frames", middle and inner and middle[0] in path_of(inner[0])
               and "@rounds" in case.shape(middle[0]), list(map(case.shape, middle + inner)))


def signal_in_loop(directory):
    case = Case("signal_in_loop", directory)
    case.loop("outer", case["outer"], 1, 1, "main() nest() @outer")
    case.loop("inner", case["outer"] * case["inner"], case["outer"], 1, "main() nest() @outer @inner")
    found = case.loop("handler", case["handled"], case["handled"] // case["per_signal"], 1)
    for node in found:
        top = path_of(node)[0]
        case.check("the handler has a tree of its own", top.get("origin") == "signal handler",
                   f"its way: {case.shape(node)}, from {describe(top)}")
        case.check("every signal is an entry", top["entries"] == case["handled"] // case["per_signal"], describe(top))


def coroutine_pair(directory):
    case = Case("coroutine_pair", directory)
    case.loop("setup", case["setup"], 1, 1, "main() @setup")
    case.loop("after", case["after"], 1, 1, "main() @after")
    found = case.loop("ping", case["ping"], 1, 1) + case.loop("pong", case["pong"], 1, 1)
    found += case.loop("inner", case["ping"] * case["inner"], case["ping"], 1)
    for node in found:
        top = path_of(node)[0]
        case.check(f"@{case.tag_of[line_of(node)]}: a tree of its own", top.get("origin") == "coroutine",
                   f"its way: {case.shape(node)}, from {describe(top)}")


# ---- control flow in one function ----

def threaded_code(directory):
    case = Case("threaded_code", directory)
    loops = [node for node in case.tree.find(kind="loop") if plain(node["function"]) == "run"]
    outermost = [node for node in loops if node["up"]["kind"] != "loop"]
    case.check("one outermost loop", len(outermost) == 1 and outermost[0]["entries"] == 1,
               list(map(describe, outermost)))
    case.within("loops", len(loops), 1, 8)
    case.within("iterations", sum(node["iterations"] for node in outermost), case["rounds"], case["steps"])
    inside = sum(node["ops"] for node in outermost)
    case.check("it holds all steps", inside >= 3 * (case["steps"] - 2), f"{inside} instructions")


def irreducible(directory):
    case = Case("irreducible", directory)
    case.loop("calls", case["calls"], 1, 1, "main() @calls")
    loops = [node for node in case.tree.find(kind="loop") if plain(node["function"]) == "walk"]
    case.check("one loop, and it is irreducible", len(loops) == 1 and loops[0]["irreducible"],
               list(map(describe, loops)))
    for node in loops:
        case.check("entries", node["entries"] == case["calls"], describe(node))
        case.check("its header is one of its two parts", node["iterations"] in (case["first"], case["second"]),
                   f"expected {case['first']} or {case['second']}")
    others = [node for node in case.tree.find(kind="loop", file=case.file) if node not in loops and node["irreducible"]]
    case.check("no other loop is", not others, list(map(describe, others)))


# ---- threads and processes ----

def worker_pool(directory):
    case = Case("worker_pool", directory)
    threads, outer, inner = case["threads"], case["outer"], case["inner"]
    case.loop("create", threads, 1, 1, "main() @create")
    case.loop("join", threads, 1, 1, "main() @join")
    case.loop("outer", threads * outer, threads, 1)
    found = case.loop("inner", threads * outer * inner, threads * outer, 1)
    for node in found:
        top = path_of(node)[0]
        case.check("the threads share a tree", top.get("origin") == "thread" and top["entries"] == threads,
                   f"{case.shape(node)}, from {describe(top)}")
    case.check("threads are counted", case.tree.program["threads"] == threads + 1, case.tree.program)


def spinning_worker(directory):
    case = Case("spinning_worker", directory)
    case.loop("main", case["main"], 1, 1, "main() @main")
    found = case.loops("spin")
    case.check("the thread's loop", len(found) == 1 and found[0]["entries"] == 1 and found[0]["iterations"] >= 20,
               list(map(describe, found)))
    case.check("the recording is whole", case.tree.program["partial"] is False, case.tree.program)


def fork_loop(directory):
    case = Case("fork_loop", directory, ("--follow-children",))
    case.loop("fork", case["children"], 1, 1, "main() @fork")
    case.loop("compute", case["children"] * case["parent"], case["children"], 1, "main() @fork compute() @compute")
    children = sorted(name for name in os.listdir(directory) if name.startswith(os.path.basename(case.trace) + "."))
    case.check("children are recorded apart", len(children) == case["children"], children)
    for child in children:
        own = Case("fork_loop", directory, name=child, trace=os.path.join(directory, child))
        own.loop("compute", case["work"], 1, 1)


def crash_in_nest(directory):
    case = Case("crash_in_nest", directory, status=139)
    case.loop("rows", case["rows"], 1, 1, "main() fill() @rows")
    case.loop("columns", case["cells"], case["rows"], 1, "main() fill() @rows @columns")
    case.check("exit status", case.tree.program["exit_status"] == 139, case.tree.program)


def scope(directory):
    case = Case("scoped", directory, ("--only", "kernel"), name="scoped --only")
    calls, rows, columns = case["kernels"], case["rows"], case["columns"]
    case.loop("kernel", calls * rows, calls, 1)
    case.loop("row", calls * rows * columns, calls * rows, 1)
    for tag in ("before", "after", "kernels"):
        case.check(f"@{tag} is outside", not case.loops(tag))
    case.check("calls", sum(node["entries"] for node in case.calls("kernel")) == calls)
    case = Case("scoped", directory, ("--from", "kernel"), name="scoped --from")
    case.loop("kernel", calls * rows, calls)
    case.loop("row", calls * rows * columns, calls * rows)
    case.loop("after", case["after"], 1, 1)
    case.check("@before is outside", not case.loops("before"))


CASES = [nest_through_call, indirect_calls, virtual_calls, deep_chain, qsort_callback, alloca_loop, tail_calls,
         recursion_linear, recursion_tree, recursion_mutual, recursion_loop, longjmp_nest, setjmp_loop,
         throw_through_frames, signal_in_loop, coroutine_pair, threaded_code, irreducible, worker_pool, spinning_worker,
         fork_loop, crash_in_nest, scope]


def run_case(function):
    try:
        with lf.Directory() as directory:
            function(directory)
    except Exception:  # reported with where it happened, and the other cases go on
        suite.check(function.__name__, False, traceback.format_exc(limit=-3))


suite.each(run_case, CASES)
suite.finish()
