"""`loopfold layout`: programs with directives are rewritten, built without warnings and run: the same output, bit for bit.

Every program of kernels/layout is generated in both forms, built by gcc with -Wall -Wextra -Werror, at -O2 and with
AddressSanitizer and UndefinedBehaviorSanitizer, and run with several sizes beside the original. The maps that
`layout check` prints are those of the program's `// map:` line. What was not the region's business is untouched. Then
come files that must be refused: with the place, and left as they were.
"""

import ctypes
import ctypes.util
import os
import re

import lf

suite = lf.Suite()
KERNELS = os.path.join(lf.SOURCE, "kernels", "layout")
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
SANITIZERS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
FORMS = ("field", "structs")
SIZES = {"gemm": [[], ["1", "1", "1"], ["33", "65", "3"]],
         "gemm_tiled": [[], ["1", "1", "1"], ["32", "64", "8"], ["33", "65", "2"]],
         "zipped": [[], ["1"], ["17"], ["0"]], "two_phases": [[], ["1", "9"], ["7", "1"]], "row_pointers": [[], ["1"]],
         "hot_field": [[], ["1"]], "mixed": [[], ["1"], ["2"]], "wavefront": [[], ["1"], ["2"]]}


class Isl:
    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library("isl"))
        for name in ("isl_ctx_alloc", "isl_map_read_from_str", "isl_map_get_tuple_name", "isl_map_intersect_domain",
                     "isl_map_domain"):
            getattr(self.library, name).restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.library.isl_ctx_alloc())
        self.library.isl_options_set_on_error(self.context, 1)

    def same_map(self, bounded, unbounded):
        """Is the first map the second one, on its own domain?"""
        read = lambda text: ctypes.c_void_p(self.library.isl_map_read_from_str(self.context, text.encode()))
        one, other, domain = read(bounded), read(unbounded), read(bounded)
        if not one.value or not other.value:
            return False
        domain = ctypes.c_void_p(self.library.isl_map_domain(domain))
        other = ctypes.c_void_p(self.library.isl_map_intersect_domain(other, domain))
        return self.library.isl_map_is_equal(one, other) == 1


ISL = Isl()


def compile_and_run(directory, name, source, options, runs):
    """The outputs of the runs, or a message."""
    program = os.path.join(directory, name)
    built = lf.run(["gcc", "-I", KERNELS, *WARNINGS, *options, source, "-o", program, "-lm"],
                   env={**os.environ, "LC_ALL": "C"})
    if built.status != 0:
        return f"does not build: {built}"
    outputs = []
    for arguments in runs:
        result = lf.run_native([program, *arguments], env={**lf.ENVIRONMENT, "ASAN_OPTIONS": "detect_leaks=1"})
        if result.status != 0:
            return f"{arguments}: {result}"
        outputs.append(result.stdout)
    return outputs


def generate(source, output, *options):
    return lf.run([lf.LOOPFOLD, "layout", "generate", source, "-o", output, "-I", KERNELS, *options])


def changed_lines(original, generated):
    """Lines of the original that have no subscripts and are no directive, and are not there again, in order."""
    kept = iter(generated.split("\n"))
    directive = False
    missing = []
    for line in original.split("\n"):
        directive, skip = ((line.lstrip().startswith("#pragma layout") or directive) and line.endswith("\\"),
                           line.lstrip().startswith("#pragma layout") or directive or "[" in line)
        if not skip and not any(candidate == line for candidate in kept):
            missing.append(line)
    return missing


def kernel(directory, name):
    source = os.path.join(KERNELS, f"{name}.c")
    text = open(source).read()
    runs = SIZES.get(name, [[]])
    wanted = compile_and_run(directory, f"{name}-original", source, ["-O2", "-Wno-unknown-pragmas"], runs)
    if not suite.check(f"{name}: the original runs", isinstance(wanted, list), wanted):
        return
    check = lf.run([lf.LOOPFOLD, "layout", "check", source, "-I", KERNELS])
    suite.check(f"{name}: check says yes", check.status == 0 and b"can be generated: yes" in check.stdout, check)
    expected = re.findall(r"\{[^}]*\}", re.search(r"^// map: (.*)$", text, re.MULTILINE).group(1))
    printed = re.findall(r"^ {9}(.*\{.*\})$", check.stdout.decode(), re.MULTILINE)
    suite.check(f"{name}: the maps", len(printed) == len(expected) and
                all(ISL.same_map(*pair) for pair in zip(printed, expected)), (printed, expected))
    for form in FORMS:
        output = os.path.join(directory, f"{name}-{form}.c")
        result = generate(source, output, "--form", form)
        if not suite.check(f"{name}, {form}: generated", result.status == 0, result):
            continue
        generated = open(output).read()
        suite.check(f"{name}, {form}: what stands before the directive",
                    generated.replace("#include <stdlib.h>\n", "", 1).startswith(text[:text.index("#pragma layout")]), generated)
        missing = changed_lines(text, generated)
        suite.check(f"{name}, {form}: the rest of the file is there", not missing, missing)
        for kind, options in (("O2", ["-O2"]), ("sanitized", SANITIZERS)):
            scop = ["-Wno-unknown-pragmas"] if "#pragma scop" in text else []
            found = compile_and_run(directory, f"{name}-{form}-{kind}", output, options + scop, runs)
            suite.check(f"{name}, {form}, {kind}: the same output", found == wanted, found if isinstance(found, str) else runs)
    suite.check(f"{name}: the source is as it was", open(source).read() == text)


# ---- byte for byte ----

EXACT = """\
/* first line, no include */
int printf(const char *, ...);\t// odd   spacing
#define TWICE(x) ((x) + (x))
static int A[4][5], idx[4];
int main(void) {
  if (idx[0] == 0)
\t#pragma layout map(inout: A(i,j) -> (j, i) : int[4, 5])
    for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) A [i] /* here */ [TWICE(j) - j] = TWICE(A[i][j]) + "A[i][j]"[0] + (int)sizeof A;
  else return 1;
  for (int i = 0; i < 4; i++) printf("%d %d\\n", A[i][0], A[i][4]);
  return 0;
}
"""
EXACT_LINE = ("    for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) _A (i, /* here */  TWICE(j) - j) = "
              "TWICE(_A(i, j)) + \"A[i][j]\"[0] + (int)sizeof A;\n")


def byte_for_byte(directory):
    source = os.path.join(directory, "exact.c")
    with open(source, "w") as file:
        file.write(EXACT)
    wanted = compile_and_run(directory, "exact", source, ["-Wno-unknown-pragmas", "-Wno-misleading-indentation"], [[]])
    for form in FORMS:
        with open(source, "w") as file:
            file.write(EXACT)
        result = lf.run([lf.LOOPFOLD, "layout", "generate", source, "--form", form])
        suite.check(f"in place, {form}: status", result.status == 0, result)
        text = open(source).read()
        before, behind = EXACT.split("\t#pragma", 1)[0], "\n" + EXACT.split("sizeof A;\n", 1)[1]
        suite.check(f"in place, {form}: what stands before", text.replace("#include <stdlib.h>\n", "").startswith(before), text)
        suite.check(f"in place, {form}: what stands behind", text.endswith(behind), text)
        # White space between the brackets stays; brackets become parentheses and commas.
        line = next((l + "\n" for l in text.split("\n") if "TWICE(j)" in l), "")
        squeezed = re.sub(r"\s+", "", line)
        suite.check(f"in place, {form}: the region", squeezed == re.sub(r"\s+", "", EXACT_LINE), line)
        found = compile_and_run(directory, f"exact-{form}", source, ["-O2"], [[]])
        suite.check(f"in place, {form}: runs", found == wanted, (found, wanted))
    result = lf.run([lf.LOOPFOLD, "layout", "generate", source])
    suite.check("in place: a second time there is nothing to do", result.status == 3 and b"no #pragma layout" in result.stderr,
                result)
    with open(source, "w") as file:
        file.write(EXACT)
    result = lf.run([lf.LOOPFOLD, "layout", "generate", source, "-o", "-"])
    suite.check("standard output: the text", result.status == 0 and b"#undef _A" in result.stdout, result)
    suite.check("standard output: the file stays", open(source).read() == EXACT)


# ---- random layouts of one program ----

RANDOM = """\
#include <stdio.h>
#include <stdlib.h>
static float f[5][11];
static double work(int n, int m, double A[n][m], int (*B)[m], short *c) {
  double sum = 0;
%s
  for (int t = 0; t < 3; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) {
        A[i][j] = 0.5 * A[(i + 3) %% n][j] + B[i][(j + t) %% m] + f[i %% 5][j %% 11];
        B[i][j] += c[(i * m + j) %% (n + m)]++;
        f[(i + j) %% 5][t] *= 0.75f;
        sum = sum * 0.875 + A[i][j] + B[n - 1 - i][m - 1 - j];
      }
  return sum;
}
int main(void) {
  double total = 0;
  for (int n = 1; n < 12; n += 5)
    for (int m = 1; m < 40; m += 18) {
      double A[n][m];
      int B[n][m];
      short *const c = malloc((n + m) * sizeof *c);
      for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[i][j] = i * 7 - j, A[i][j] = j * 0.5 - i;
      for (int i = 0; i < n + m; i++) c[i] = (short)(i * i);
      for (int i = 0; i < 5; i++) for (int j = 0; j < 11; j++) f[i][j] = (float)(i + j);
      total = total * 0.5 + work(n, m, A, B, c);
      for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) total = total * 0.5 + A[i][j] + B[i][j];
      for (int i = 0; i < n + m; i++) total += c[i];
      for (int i = 0; i < 5; i++) for (int j = 0; j < 11; j++) total += f[i][j];
      free(c);
    }
  printf("%%.17g\\n", total);
  return 0;
}
"""
ARRAYS = {"A": ("double", ["n", "m"]), "B": ("int", ["n", "m"]), "c": ("short", ["n + m"]), "f": ("float", ["5", "11"])}


def random_vector(random, sizes):
    """A vector that is one-to-one by construction: permutation, reversal, skewing, tiles."""
    parts = [f"e{i}" for i in range(len(sizes))]
    if random.random() < 0.3:
        i = random.randrange(len(parts))
        parts[i] = f"{sizes[i]} - 1 - e{i}"
    random.shuffle(parts)
    if len(parts) == 2 and random.random() < 0.4:
        parts[0] = f"{parts[0]} {random.choice('+-')} {random.choice(['', '2*'])}({parts[1]})"
    if random.random() < 0.5:
        i, size = random.randrange(len(parts)), random.choice([2, 3, 8])
        parts.append(f"({parts[i]}) % {size}")
        parts[i] = f"({parts[i]}) / {size}"
    return parts


def random_directive(random):
    maps, paddings = [], []
    chosen = random.sample(sorted(ARRAYS), random.randint(1, 4))
    together = random.random() < 0.5
    for number, name in enumerate(chosen):
        kind, sizes = ARRAYS[name]
        vector = random_vector(random, sizes)
        # Side by side behind the first dimension, or one behind the other; a vector of its own length each.
        vector.insert(1 if together else 0, str(number))
        indices = ", ".join(f"e{i}" for i in range(len(sizes)))
        maps.append(f"map(inout: {name}({indices}) -> ({', '.join(vector)}) : {kind}[{', '.join(sizes)}])")
        if random.random() < 0.3:
            paddings.append(f"pad({name}: {', '.join('0' if p.isdigit() else str(random.randint(0, 3)) for p in vector)})")
    return "#pragma layout " + " ".join(maps + paddings)


def random_layouts(directory):
    random = __import__("random").Random(4)
    source = os.path.join(directory, "random.c")
    with open(source, "w") as file:
        file.write(RANDOM % "")
    wanted = compile_and_run(directory, "random", source, ["-O1"], [[]])
    suite.check("random: the original runs", isinstance(wanted, list), wanted)
    for number in range(12):
        directive = random_directive(random)
        with open(source, "w") as file:
            file.write(RANDOM % directive)
        for form in FORMS:
            output = os.path.join(directory, f"random-{form}.c")
            result = generate(source, output, "--form", form)
            if suite.check(f"random {number}, {form}: generated", result.status == 0, (directive, result)):
                found = compile_and_run(directory, f"random-{form}", output, SANITIZERS, [[]])
                suite.check(f"random {number}, {form}: the same output", found == wanted, (directive, found))


# ---- what is refused ----

HEAD = "int rand(void); double sqrt(double); void use(double*); double sink;\n"
MAP = "#pragma layout map(inout: A(i,j) -> (j, i) : double[n, 4])\n"


def region(body, pragma=MAP, before="", parameters="int n, double A[n][4], int k, double *q"):
    return f"{HEAD}{before}void f({parameters}) {{\n{pragma}{body}\n}}\n"


GLOBAL = "static double G[8][4];\n"
GLOBAL_MAP = "#pragma layout map(inout: G(i,j) -> (j, i) : double[8, 4])\n"

# name: (source, status of generate, status of check, place, text of the message)
BAD = {
    "syntax": (region("for (;;) A[0][0] = 1;", "#pragma layout map(inout: A(i,j) -> (j i) : double[n, 4])\n"), 3, 3,
               "3:40", "expected ',' or ')', found 'i'"),
    "unknown array": (region("for (;;) ;", "#pragma layout map(in: Z(i) -> (i) : double[n])\n"), 3, 3, "3:24",
                      "no array 'Z' is known here"),
    "unknown size": (region("for (;;) ;", "#pragma layout map(in: q(i) -> (i) : double[m])\n"), 3, 3, "3:1",
                     "no integer 'm' is known here"),
    "unknown type": (region("for (;;) ;", "#pragma layout map(in: q(i) -> (i) : dubble[n])\n"), 3, 3, "3:24",
                     "'dubble' is not a type here"),
    "other type": (region("for (;;) ;", "#pragma layout map(in: q(i) -> (i) : float[n])\n"), 3, 3, "3:38",
                   "the elements of 'q' are of type double, not float"),
    "dimensions": (region("for (;;) ;", "#pragma layout map(in: A(i) -> (i) : double[n])\n"), 3, 3, "3:38",
                   "of type double"),
    "too many dimensions": (region("for (;;) ;", "#pragma layout map(in: q(i,j) -> (i,j) : double[n, n])\n"), 3, 3,
                            "3:24", "'q' does not have 2 dimensions"),
    "sizes": (region("for (;;) A[0][0] = 1;", "#pragma layout map(inout: A(i,j) -> (j, i) : double[n, 5])\n"), 3, 3,
              "3:27", "size 2 of 'A' is 4 in its declaration, and 5 here"),
    "other sizes": (region("for (;;) A[0][0] = 1;", "#pragma layout map(inout: A(i,j) -> (j, i) : double[k, 4])\n"), 3, 3,
                    "3:27", "size 1 of 'A' is n in its declaration, and k here"),
    "not one-to-one": (region("for (;;) A[0][0] = 1;", "#pragma layout map(inout: A(i,j) -> (i + j) : double[n, 4])\n"), 3, 1,
                       "3:1", "would be in the same place"),
    "two in one place": (region("for (;;) A[0][0] = q[0];",
                                "#pragma layout map(inout: A(i,j) -> (0, i, j) : double[n, 4]) "
                                "map(in: q(e) -> (0, e, 0) : double[n])\n"), 3, 1, "3:1", "would be in the same place"),
    "no tree": (region("for (;;) A[0][0] = q[0];", "#pragma layout map(inout: A(i,j) -> (0, i, j) : double[n, 4]) "
                       "map(in: q(e) -> (e, 1) : double[n])\n"), 3, 3, "3:1", "dimension 1 is a number for A"),
    "address": (region("for (;;) { sink = *&A[1][2]; }"), 3, 1, "4:21", "the address of an element of 'A' is taken"),
    "passed": (region("for (;;) use(A[1]);"), 3, 1, "4:14", "'A' is passed to use"),
    "row": (region("for (;;) { double *row = A[1]; row[2] = 3; }"), 3, 1, "4:26", "1 of its 2 subscripts"),
    "arithmetic": (region("for (;;) sink = *(*(A + 1) + 2);"), 3, 1, "4:21", "its address escapes"),
    "alias": (region("for (;;) A[0][0] = p[3];", "  double *p = A[0];\n" + MAP), 3, 1, "5:20", "'p' may lead into 'A'"),
    "made from": (region("for (;;) B[0][0] = q[3];", "  double (*B)[4] = (double (*)[4])q;\n" + MAP.replace("A(", "B(")), 3, 1,
                  "5:20", "'q' may lead into 'B'"),
    "macro": (region("for (;;) AT(1, 2) = 3;", before="#define AT(i, j) A[i][j]\n"), 3, 1, "5:10", "through a macro"),
    "call": (region("for (;;) { A[0][0] = 1; rand(); outside(); }", before="void outside(void);\n"), 3, 1, "5:33",
             "the call of outside may use"),
    "call by name": (region("for (;;) { G[0] = sqrt(2); inside(); }",
                            "#pragma layout map(inout: G(i) -> (i) : double[8])\n",
                            "static double G[8];\nstatic void inside(void) { sink = G[1]; }\n"), 3, 1, "6:28",
                     "it names G"),
    "return": (region("for (;;) { if (A[0][0] > 1) return; }"), 3, 1, "4:29", "return leaves the region"),
    "break": (region("for (;;) {\n" + MAP + "{ A[0][0] = 1; break; } }", ""), 3, 1, "5:16", "break leaves the region"),
    "goto": (region("for (;;) { A[0][0] = 1; goto out; }\nout:;"), 3, 1, "4:25", "goto leaves the region"),
    "only copied in": (region("for (;;) { (A[1][2])++; }", MAP.replace("inout", "in")), 3, 1, "4:13",
                       "is written here, but only copied in"),
    "only copied out": (region("for (;;) { A[1][2] += 1; }", MAP.replace("inout", "out")), 3, 1, "4:12",
                        "'A' is read here, but not copied in"),
    "copied out and read": (region("for (;;) { A[1][2] = 1; sink = A[0][0]; }", MAP.replace("inout", "out")), 3, 1, "4:32",
                            "'A' is read here, but not copied in"),
    "const": (region("for (;;) ;", "#pragma layout map(out: c(i) -> (i) : int[3])\n", "static const int c[3];\n"), 3, 3, "4:25",
              "'c' is const"),
    "side effects": (region("for (;;) A[k++][0] = 1;", MAP.replace("(j, i)", "(j, i/2, i%2)")), 3, 1, "4:11", "side effects"),
    "pragma": (region("for (;;) {\n#pragma omp atomic update(A)\nA[0][0] = 1; }"), 3, 1, "5:27", "named in a #pragma"),
    "written in a macro": (region("for (;;) SET(A[0][0], 3);", MAP.replace("inout", "in"),
                                  "#define SET(x, v) (x) = (v)\n"), 3, 1, "5:14", "is written here, but only copied in"),
    "written behind a comment": (region("for (;;) ++ /* here */ A[0][0];", MAP.replace("inout", "in")), 3, 1, "4:24",
                                 "is written here, but only copied in"),
    "side effects of a macro": (region("for (;;) A[INC(k)][0] = 1;", MAP.replace("(j, i)", "(j, i/2, i%2)"),
                                       "#define INC(x) ((x)++)\n"), 3, 1, "5:11", "side effects"),
    "included": (region("for (;;) {\n#include <limits.h>\nA[0][0] = 1; }"), 3, 1, "5:1", "an #include in the region"),
    "left out": (region("for (;;) { A[0][0] = 1;\n#ifdef DEBUG\nA[0][1] = 2;\n#endif\n}"), 3, 1, "6:1",
                 "named in what the preprocessor leaves out"),
    "text shown": (region("for (;;) SHOW(A[0][1]);",
                          before='int printf(const char *, ...);\n#define SHOW(x) printf(#x "%f", x)\n'), 3, 1, "6:15",
                   "a macro that shows the text of its arguments"),
    "argument dropped": (region("for (;;) { DROP(A[0][1]); A[1][1] = 0; }", before="#define DROP(x) ((void)0)\n"), 3, 1,
                         "5:17", "in a way that cannot be followed"),
    "pasted": (region("for (;;) JOIN(, A)[0][1] = 0;", before="#define JOIN(a, b) a##b\n"), 3, 1, "5:17", "through a macro"),
    "_Pragma": (region("for (;;) { _Pragma(\"omp atomic update(A)\") A[0][0] += 1; }"), 3, 1, "4:39", "named in a _Pragma"),
    "under a pragma": (region("for (int i = 0; i < n; i++) A[i][0] = 1;", "#pragma omp parallel for\n" + MAP), 3, 3, "4:1",
                       "belongs to the same statement"),
    "in threads": (region("{\n" + MAP + "for (int i = 0; i < n; i++) A[i][0] += 1; }", "#pragma omp parallel\n"), 3, 3, "5:1",
                   "several threads may run this"),
    "global pointer": (region("for (;;) G[0][0] = p[1];", GLOBAL_MAP, GLOBAL + "static double *p = G[0];\n"), 3, 1, "6:20",
                       "'p' may lead into 'G'"),
    "global pointer, set elsewhere": (region("for (;;) G[0][0] = p[1];", GLOBAL_MAP,
                                             GLOBAL + "static double *p;\nvoid init(void) { p = &G[1][0]; }\n"), 3, 1, "7:20",
                                      "'p' may lead into 'G'"),
    "pointer of a callee": (region("for (;;) G[0][0] = get();", GLOBAL_MAP, GLOBAL + "static double *p = G[0];\n"
                                   "static double get(void) { return p[1]; }\n"), 3, 1, "7:20", "its p may lead into G"),
    "kept by a callee": (region("for (;;) kept[1] = A[0][0];", "keep(A[0]);\n" + MAP,
                                "static double *kept;\nstatic void keep(double *x) { kept = x; }\n"), 3, 1, "7:10",
                         "'kept' may lead into 'A'"),
    "called with one array twice": (region("for (;;) A[0][0] = q[1];") + "void g(int n, double M[n][4]) { f(n, M, 0, M[1]); }\n",
                                    3, 1, "4:20", "'q' may lead into 'A'"),
    "the same memory": (region("for (;;) A[0][0] = q[1];", "#pragma layout map(inout: A(i,j) -> (0, j, i) : double[n, 4]) "
                               "map(in: q(i) -> (1, i) : double[4])\n") +
                        "void g(int n, double M[n][4]) { f(n, M, 0, M[1]); }\n", 3, 1, "3:71", "may be the same memory"),
    "called with a global": (region("for (;;) A[0][0] = G[1][2];", MAP, GLOBAL) + "void g(void) { f(8, G, 0, 0); }\n", 3, 1,
                             "5:20", "'G' may lead into 'A'"),
    "a global as parameter": (region("for (;;) G[0][0] = q[1];", GLOBAL_MAP, GLOBAL) + "void g(void) { f(8, 0, 0, &G[2][0]); }\n",
                              3, 1, "5:20", "'q' may lead into 'G'"),
    "address in an integer": (region("for (;;) ((double *)u)[1] = A[0][0];", "unsigned long u = (unsigned long)A;\n" + MAP), 3, 1,
                              "5:21", "'u' may lead into 'A'"),
    "address in a structure": (region("for (;;) s.p[1] = A[0][0];", "struct { double *p; } s; s.p = A[0];\n" + MAP), 3, 1, "5:10",
                               "'s' may lead into 'A'"),
    "address behind a pointer": (region("for (;;) (*pp)[1] = A[0][0];", "double *t = 0, **pp = &t; *pp = A[0];\n" + MAP), 3, 1,
                                 "5:12", "'pp' may lead into 'A'"),
    "address copied": (region("for (;;) t[1] = A[0][0];",
                              "double *t, *r = A[0]; __builtin_memcpy(&t, &r, sizeof t);\n" + MAP), 3, 1, "5:10",
                       "'t' may lead into 'A'"),
    "address returned": (region("for (;;) t[1] = A[0][0];", "double *t = same(A[0]);\n" + MAP,
                                "static double *same(double *x) { return x; }\n"), 3, 1, "6:10", "'t' may lead into 'A'"),
    "address handed out": (region("for (;;) t[1] = A[0][0];", "double *t; set(&t, A[0]);\n" + MAP,
                                  "static void set(double **o, double *x) { *o = x; }\n"), 3, 1, "6:10", "'t' may lead into 'A'"),
    "union": (region("for (;;) { P[0].u.a = 1; sink = P[0].u.b; }", "#pragma layout map(inout: P.u.a(i) -> (i) : double[n])\n",
                     "struct s { union { double a; long b; } u; };\n", "int n, struct s *P"), 3, 3, "4:27", "is in a union"),
    "bit-field": (region("for (;;) P[0].b = 9;", "#pragma layout map(inout: P.b(i) -> (i) : int[n])\n",
                         "struct s { int b : 2; };\n", "int n, struct s *P"), 3, 3, "4:27", "has no field 'b'"),
    "hidden before the copy": (region("{\n#pragma scop\n" + MAP + "for (;;) A[0][0] = 1;\ndouble A[3];\nA[0] = 2; sink = A[0];\n"
                                      "#pragma endscop\n}", ""), 3, 1, "7:1", "hides the array that is copied back"),
    "pointer named as a function": (region("for (;;) A[0][0] = exp(1);", parameters="int n, double A[n][4], double (*exp)(double)"),
                                    3, 1, "4:20", "a function pointer"),
    "builtin that leaves": (region("for (;;) { A[0][0] = 1; __builtin_longjmp((void **)q, 1); }"), 3, 1, "4:25",
                            "the call of __builtin_longjmp"),
    "no statement": (region("int x = 1; (void)x;"), 3, 3, "3:1", "expected in front of a loop or a block"),
    "not in a function": ("double A[3][4];\n#pragma layout map(in: A(i,j) -> (j, i) : double[3, 4])\nint x;\n", 3, 3, "2:1",
                          "expected inside a function"),
    "redist in a loop": (region("{ A[0][0] = 1; for (;;) {\n" + MAP.replace("inout", "redist") + "A[0][0] = 2; } }"), 3, 3,
                         "5:1", "redist must stand directly"),
    "redist of nothing": (region("for (;;) ;", MAP.replace("inout", "redist")), 3, 3, "3:1", "there is none here"),
    "does not compile": ("int f(void) { return nonsense; }\n" + "#pragma layout map(in: A(i) -> (i) : int[3])\n", 3, 3, "1:22",
                         "it does not compile"),
    "nothing to do": ("int f(void) { return 0; }\n", 3, 3, "", "has no #pragma layout"),
}


def refused(directory):
    for name, (text, generate_status, check_status, place, message) in BAD.items():
        source = os.path.join(directory, name.replace(" ", "-") + ".c")
        with open(source, "w") as file:
            file.write(text)
        result = lf.run([lf.LOOPFOLD, "layout", "generate", source])
        error = result.stderr.decode()
        suite.check(f"{name}: generate's status", result.status == generate_status, result)
        suite.check(f"{name}: the place", place == "" or f"{source}:{place}: " in error, (place, error))
        suite.check(f"{name}: the message", message in error and error.count("\n") == 1 and
                    error.startswith("loopfold: error: "), (message, error))
        suite.check(f"{name}: the file is as it was", open(source).read() == text)
        check = lf.run([lf.LOOPFOLD, "layout", "check", source])
        said = check.stdout if check_status == 1 else check.stderr
        suite.check(f"{name}: check", check.status == check_status and message.encode() in said, check)
    missing = lf.run([lf.LOOPFOLD, "layout", "check", os.path.join(directory, "absent.c")])
    suite.check("absent file", missing.status == 3 and missing.stderr.count(b"\n") == 1, missing)
    usage = lf.run([lf.LOOPFOLD, "layout"])
    suite.check("no subcommand", usage.status == 2, usage)


def kernels(directory):
    for name in sorted(os.listdir(KERNELS)):
        if name.endswith(".c"):
            kernel(directory, name[:-2])


def run_case(function):
    with lf.Directory() as directory:
        function(directory)


suite.each(run_case, [kernels, random_layouts, byte_for_byte, refused])
suite.finish()
