"""Reality: the loops of kernels/verdicts are what their `// expect:` lines say.

No model of dependence is involved. Built with -DREALITY, a program finds out itself what is true of each of its loops,
by running every iteration alone on memory as it was at loop entry (reality_runtime.c, kernels/verdicts/reality.h).

- Truth and expectation agree for every loop, at -O0 and at -O2, over several inputs, and every loop ran at least twice.
- Every loop of every program has an expectation. Those that cannot be run this way say why (`// by-argument:`), and are
  few.
- Each expectation, made wrong, is noticed; with another operator, no reduction is one any more.
- What a loop changes is where it is seen: assigned variables are declared in the loop, static, or STATE.
- Built normally, by GCC and Clang at -O0 to -O3, a program prints the same.

    --table   prints every loop with its expectation and what gave the truth away
    LOOPFOLD_KERNELS  a regular expression: only the programs that it matches
"""

import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
os.environ.setdefault("LOOPFOLD", sys.executable)  # nothing of Loopfold itself is run
import lf  # noqa: E402
from expectations import loops_of, matching, normal, programs_in  # noqa: E402

PROGRAMS = os.path.join(lf.SOURCE, "kernels", "verdicts")
RUNTIME = os.path.join(HERE, "reality_runtime.c")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
INPUTS = [(13, 1), (16, 2), (12, 7), (43, 1)]  # size and seed; the last is what verdicts.py records
FEWEST_LOOPS, MOST_BY_ARGUMENT = 60, 8
SEVERITY = {"parallel": 0, "reduction": 1, "no": 2}
TYPE = r"(?:int|unsigned|long|char|float|double|uint16_t|struct \w+)"

suite = lf.Suite()
truths = {}  # program -> level -> {number of the loop: Truth}


class Truth:
    """What the runs of one build said of a loop: the worst of them."""

    def __init__(self):
        self.verdict, self.longest, self.why = "parallel", 0, ""

    def add(self, longest, verdict, why):
        if SEVERITY[verdict.split("(")[0]] > SEVERITY[self.verdict.split("(")[0]]:
            self.verdict, self.why = verdict, why
        self.longest = max(self.longest, longest)


def wrong_loops(loops, truth):
    """The studied loops of which the truth is not as expected."""
    return [loop for loop in loops if loop.studied and
            (loop.number not in truth or normal(truth[loop.number].verdict) != normal(loop.expected))]


def compile_program(command):
    result = lf.run(command, env={**lf.ENVIRONMENT, "PATH": os.environ["PATH"]})
    if result.status != 0:
        raise RuntimeError(str(result))


def build_reality(program, level, directory):
    """The sanitizer's calls are compiled in, its library is not linked."""
    binary = os.path.join(directory, f"{program.name}{level}.reality")
    flags = ["-g", "-DREALITY", program.standard(), "-fsanitize=thread"]
    compile_program([program.compiler("gcc"), level, *flags, "-c", "-o", binary + ".o", program.path])
    compile_program([program.compiler("gcc"), "-o", binary, binary + ".o", os.path.join(directory, "runtime.o"), "-lm"])
    return binary


def ask(program, binary, rotate=False):
    """Runs a build on all inputs and returns the truth about its loops."""
    truth = {}
    environment = {**lf.ENVIRONMENT, **({"REALITY_ROTATE": "1"} if rotate else {})}
    for size, seed in INPUTS[:1] if rotate else INPUTS:
        result = lf.run([binary, str(size), str(seed)], env=environment)
        suite.check(f"{program} {size} {seed}: studied", result.status == 0 and not result.stderr, result)
        for line in result.stdout.decode().splitlines():
            _, number, _, longest, verdict, why = line.split("\t")
            truth.setdefault(int(number), Truth()).add(int(longest), verdict, why)
    return truth


def check_truth(program, level, directory):
    binary = build_reality(program, level, directory)
    truth = truths.setdefault(program, {})[level] = ask(program, binary)
    wrong = wrong_loops(program.loops, truth)
    for loop in program.studied():
        found = truth.get(loop.number)
        said = f"{found.verdict}: {found.why}" if found else "nothing"
        suite.check(f"{program}:{loop.line} {level}: as expected", loop not in wrong,
                    f"{loop.text}\nexpected {loop.expected}, found {said}")
        suite.check(f"{program}:{loop.line} {level}: two iterations", found and found.longest >= 2, loop.text)
    if level == "-O2":
        rotated = ask(program, binary, rotate=True)
        for loop in program.studied():
            if loop.expected.startswith("reduction"):
                suite.check(f"{program}:{loop.line}: another operator", rotated[loop.number].verdict == "no", loop.text)


def flipped(verdict):
    """Other verdicts for a loop, all of them wrong if it is right."""
    others = ["parallel", "no", "reduction(+)", "reduction(max)"]
    return [other for other in others if normal(other) != normal(verdict)]


def check_flips(program, truth):
    """Each expectation is replaced in the source, and the loop in question, no other, must be found wrong."""
    lines = program.source.split("\n")
    for loop in program.studied():
        before, expectations = lines[loop.line - 1].split("// expect:")
        words = expectations.split(";")
        position = [other for other in program.loops if other.line == loop.line].index(loop)
        for other in flipped(loop.expected):
            changed = words[:position] + [f" {other}"] + words[position + 1:]
            text = [*lines[:loop.line - 1], before + "// expect:" + ";".join(changed), *lines[loop.line:]]
            wrong = wrong_loops(loops_of("\n".join(text)), truth)
            suite.check(f"{program}:{loop.line}: {other} instead of {loop.expected} is noticed",
                        [found.number for found in wrong] == [loop.number], [found.line for found in wrong])


def unseen_variables(source):
    """Variables that a studied loop assigns although nothing would show it: (line of the loop, name)."""
    text = re.sub(r"//.*", "", source)
    seen = set(re.findall(r"\bSTATE\([^,]+,\s*(\w+)", text))
    seen |= set(re.findall(r"^static [^(\n]*?(\w+)(?:\[\w+\])*(?: =.*)?;", text, re.MULTILINE))
    local_arrays = set(re.findall(rf"^\s+{TYPE} (\w+)\[", text, re.MULTILINE))
    found = []
    for head in re.finditer(r"\b(?:FOR|WHILE|WHILE_INDEX)\s*(\()", text):
        end = matching(text, head.start(1), "(", ")")
        body = text[end + 1:matching(text, text.index("{", end), "{", "}") + 1]
        body = re.sub(r"\b(?:REDUCTION|REDUCTION_EACH)\(.*", "", body)
        inside = set(re.findall(rf"{TYPE}\b[\s*]*(?:const\s+)?(\w+)", text[head.start(1):end] + body))
        inside |= set(re.findall(r"(\w+)(?:\+\+|--| [-+]=)", text[head.start(1):end]))
        inner_heads = re.findall(r"\bWHILE_INDEX\(.*", body)
        inside |= {name for inner in inner_heads for name in re.findall(r"(\w+)(?:\+\+|--)", inner)}
        assigned = set(re.findall(r"(?<![\w.>*\]])(\w+)\s*(?:[-+*/%^&|]|<<|>>)?=(?!=)", body))
        assigned |= set(re.findall(r"(?<![\w.>*])(\w+)(?:\+\+|--)", body))
        assigned |= set(re.findall(r"(?:\+\+|--)(\w+)\b(?![.\[-])", body))
        assigned |= set(re.findall(r"(?<=[(,\s])&(\w+)\b(?![.\[-])", body))
        assigned |= {name for name in local_arrays if re.search(rf"\b{name}\b", body)}
        line = text.count("\n", 0, head.start()) + 1
        found += [(line, name) for name in sorted(assigned - inside - seen)]
    return found


def check_source(program):
    suite.check(f"{program}: all that loops change is seen", not unseen_variables(program.source),
                unseen_variables(program.source))


def check_lint():
    """The check above can fail."""
    for statement in ("s += i", "s[i] = i", "add(&s, i)", "b[s++] = i"):
        variable = "s[9]" if statement[1] == "[" else "s"
        source = f"int f(int n) {{\n  int {variable};\n  FOR(int i = 0, i < n, i++) {{ {statement}; }}\n}}\n"
        suite.check(f"hidden in {statement}", unseen_variables(source) == [(3, "s")], unseen_variables(source))
    for wrong in ("  FOR(int i = 0, i < n, i++) {", "  for (;;) {  // expect: no", "  WHILE(x) {  // expect: maybe"):
        try:
            loops_of("{\n" + wrong)
            suite.check(f"refused: {wrong}", False)
        except ValueError:
            suite.check(f"refused: {wrong}", True)


def check_outputs(program, directory):
    """Built normally, without warnings: the same output from every compiler and level, other input gives another."""
    outputs = {}
    for compiler in [name for name in ("gcc", "clang") if shutil.which(name)]:
        for level in ("-O0", "-O1", "-O2", "-O3"):
            binary = os.path.join(directory, f"{program.name}.{compiler}{level}")
            compile_program([program.compiler(compiler), program.standard(), level, *WARNINGS, "-o", binary,
                             program.path, "-lm", "-pthread"])
            results = [lf.run([binary, str(size), str(seed)]) for size, seed in INPUTS]
            failed = [result for result in results if result.status != 0]
            suite.check(f"{program} {compiler} {level}: runs", not failed, *failed[:1])
            outputs[compiler, level] = [result.stdout for result in results]
    first = outputs["gcc", "-O0"]
    for build, output in outputs.items():
        suite.check(f"{program} {build}: same output", output == first, f"{first}\n{output}")
    suite.check(f"{program}: output depends on the input", len(set(first)) == len(INPUTS), first)


def print_table(programs):
    for program in programs:
        for loop in program.loops:
            if loop.argued:
                verdict, longest, why = "by argument", "", ""
            else:
                truth = truths[program]["-O2"].get(loop.number, Truth())
                verdict, longest, why = truth.verdict, truth.longest, truth.why
            print(f"{program.name + ':' + str(loop.line):22} {loop.expected:20} {verdict:20} {longest:>4}  {why}")


def main():
    wanted = os.environ.get("LOOPFOLD_KERNELS", "")
    programs = programs_in(PROGRAMS, wanted)
    loops = [loop for program in programs for loop in program.loops]
    argued = sum(loop.argued for loop in loops)
    if not wanted:
        suite.check("enough loops", len(loops) - argued >= FEWEST_LOOPS, len(loops))
        suite.check("few by argument", argued <= MOST_BY_ARGUMENT, argued)
    check_lint()
    with lf.Directory() as directory:
        compile_program(["gcc", "-O1", *WARNINGS, "-I", PROGRAMS, "-c", "-o", os.path.join(directory, "runtime.o"),
                         RUNTIME])
        studied = [program for program in programs if program.studied()]
        suite.each(lambda case: check_truth(*case, directory),
                   [(program, level) for program in studied for level in ("-O0", "-O2")])
        suite.each(lambda program: check_outputs(program, directory), programs)
    for program in programs:
        check_source(program)
        check_flips(program, truths.get(program, {}).get("-O2", {}))
    if "--table" in sys.argv:
        print_table(programs)
    print(f"{len(loops)} loops in {len(programs)} programs, {argued} by argument")
    suite.finish()


if __name__ == "__main__":
    main()
