"""Old captures stay readable: every trace in tests/traces is read as it was when it was made.

The number behind the name is the version of the format. A capture of a version that is read no more must be refused in
one line that says what to do. The binaries are gone, so that nothing has a name.
"""

import os

import lf

suite = lf.Suite()
TRACES = os.path.join(lf.SOURCE, "tests", "traces")
# instructions, and the (entries, trips) of all loops with at least 1 % of them, as the source of the demo has them
HEAT = (2_955_342, {(1, 64), (64, 64 * 64), (1, 20), (20, 20 * 62), (20 * 62, 20 * 62 * 62), (64 * 64, 64 * 64 * 64)})
EXPECTED = {"heat-3": HEAT}


def capture(name):
    instructions, loops = EXPECTED[name]
    directory = os.path.join(TRACES, name)
    suite.check_trace(name, directory)
    suite.check_vectors(name, directory)
    suite.check(f"{name}: instructions", lf.info(directory)["instructions"] == instructions, lf.info(directory))
    tree = lf.tree(directory)["tree"]
    found = {(node["entries"], node["trip"]["total"]) for node in tree
             if node["kind"] == "loop" and node["ops"] * 100 >= instructions}
    suite.check(f"{name}: loops", found == loops, f"expected {sorted(loops)}, the tree has {sorted(found)}")


suite.check("every capture is expected", sorted(os.listdir(TRACES)) == sorted(EXPECTED), os.listdir(TRACES))
suite.each(capture, EXPECTED)
suite.finish()
