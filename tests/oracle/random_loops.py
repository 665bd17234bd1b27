"""Random loop nests in C whose truth the program itself can find (kernels/verdicts/reality.h), from a seed.

    random_loops.py SEED [NESTS]         a program of so many nests (default 25)
    random_loops.py SEED --nest NUMBER   the same nest alone: each has random numbers of its own

A nest is a function of one to three loops. Bodies are made of actions: updates of arrays from themselves and from each
other at random distances, also distances that only some iterations have, subscripts from memory, accumulators of all
kinds with and without another use or a reset, scalars carried under a condition, elements kept for the next iteration,
exits, calls, accumulators behind a pointer, pointers that are swapped, loops with bounds of their own, while.

What makes the oracle's answer the truth:

- Every value counts. Data are mixed so that another operand gives another result, and what is computed is stored.
  What a maximum is taken of, or a conjunction, is not computed in the loop: its origin might not show.
- What is carried is data. A scalar that holds a function of the index alone would be carried in the source, and yet a
  compiler, or an analysis, may rightly compute it anew.
- REDUCTION stands before a loop for every variable that it changes by one operator alone and does not use otherwise.
  RELOAD stands where a plain element with an affine subscript is kept.
- Conditions on data look at numbers that were made to decide both ways, so that no branch goes one way by accident.
- Arrays are filled anew before each nest, and every function is called from one place.
"""

import random
import sys

MIDDLE = 96  # subscripts lie around here
HEAD = """// Made by tests/oracle/random_loops.py: {command}
#include "random_loops.h"

"""
TAIL = """

int main(int argc, char** argv) {{
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  allocate();
{calls}
  return 0;
}}
"""
# Types and first values of accumulators.
OPERATORS = {"ADD": ("unsigned", "0u"), "MUL": ("unsigned", "1u"), "XOR": ("unsigned", "0u"),
             "AND": ("unsigned", "~0u"), "OR": ("unsigned", "0u"), "MAX": ("unsigned", "0u"),
             "MIN": ("unsigned", "~0u"), "REAL_ADD": ("double", "0"), "REAL_MAX": ("double", "0"),
             "INT_MIN": ("int", "99999999"), "INT_MAX": ("int", "-99999999")}
HIDING = ("AND", "OR", "MAX", "MIN", "INT_MAX", "INT_MIN")  # where a value comes from may not show in the result
PLAIN_NAME = {"REAL_ADD": "ADD", "REAL_MAX": "MAX", "INT_MIN": "MIN", "INT_MAX": "MAX"}


class Effects:
    """What a piece of code does to variables and arrays."""

    def __init__(self):
        self.updates, self.uses, self.sets = {}, set(), set()

    def include(self, other):
        for name, operators in other.updates.items():
            self.updates.setdefault(name, set()).update(operators)
        self.uses |= other.uses
        self.sets |= other.sets

    def reductions(self):
        """Variables that are changed by one operator and are not seen otherwise."""
        return [(name, next(iter(operators))) for name, operators in sorted(self.updates.items())
                if len(operators) == 1 and name not in self.uses and name not in self.sets]


class Nest:
    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")
        self.number, self.names, self.slots = number, 0, 0
        self.effects = [Effects()]
        self.indices = []       # of the loops around, outermost first
        self.step = 1           # of the outermost loop's index
        self.states = []        # declarations of the variables that loops carry
        self.accumulators = []  # (name, operator) that can be updated here
        self.in_place = self.random.random() < 0.35  # else no array is both read and written
        self.readable, self.writable = ("ABC", "ABC") if self.in_place else ("A", "BC")
        self.deep = self.random.choice([1, 1, 2, 2, 2, 3])

    # Text

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def choose(self, *options):
        return self.random.choice(options)

    def chance(self, probability):
        return self.random.random() < probability

    def function(self):
        body = self.loop(1)
        finals = self.final_stores(self.accumulators)
        text = [f"KERNEL void nest_{self.number}(int n) {{", *indented(self.declarations()), *indented(body),
                *indented(finals), "}"]
        return "\n".join(text)

    def declarations(self):
        """The accumulators of the whole nest; drawn before the loops, see loop()."""
        return [f"STATE({OPERATORS[operator][0]}, {name}, {OPERATORS[operator][1]});"
                for name, operator in self.accumulators] + self.states

    def final_stores(self, accumulators):
        return [f"out[{self.slot()}] = (unsigned){name};" for name, _ in accumulators]

    def slot(self):
        self.slots += 1
        return self.slots

    # Effects

    def use(self, name):
        self.effects[-1].uses.add(name)

    def set(self, name):
        self.effects[-1].sets.add(name)

    def update(self, name, operator):
        self.effects[-1].updates.setdefault(name, set()).add(operator)

    # Expressions

    def subscript(self, spread=True):
        """Affine in the indices around, different for different values of the innermost one."""
        inner = self.indices[-1]
        delta = self.choose(0, 0, 0, 0, 1, -1, 2, -3) if spread else 0
        if len(self.indices) == 1:
            shape = self.choose("{i}", "{i}", "{i}", "2 * {i}", "40 - {i}")
        else:
            delta += self.choose(0, 0, 0, 16, -16) if spread else 0
            shape = self.choose("16 * {o} + {i}", "16 * {o} + {i}", "16 * {o} + {i}", "{i}", "{o} + {i}",
                                "16 * {i} + {o}")
        return shape.format(i=inner, o=self.indices[-2] if len(self.indices) > 1 else "") + f" + {MIDDLE + delta}"

    def element(self, arrays):
        array = self.random.choice(arrays)
        self.use(array)
        if array in "ABC" and self.chance(0.15):
            return f"{array}[{self.choose('once', 'many')}[{self.indices[-1]}] + {MIDDLE}]"
        return f"{array}[{self.subscript()}]"

    def value(self, arrays=None):
        """A number that data and, for most, the index have a part in."""
        arrays = tuple(arrays or self.readable)
        x, y = self.element(arrays), self.element((*arrays, "G"))
        i = f"(unsigned){self.indices[-1]}"
        return self.choose(x, f"{x} * 3u + {i}", f"{x} * 5u + ({y} ^ {i})", f"mixed({x}, {i})", f"busy({x}, {y}, {i})",
                           f"({x} >> 9) + {y} * 7u")

    def condition(self):
        i, limit = self.indices[-1], self.random.randint(2, 6)
        return self.choose(f"({i} & 1) == 0", f"{i} > {limit}", f"{i} % 3 == 1", self.data_condition(),
                           self.data_condition(), self.data_condition())

    def data_condition(self):
        return self.choose("(G[{}] & 1) == 0", "G[{}] & 2").format(self.subscript(spread=False))

    # Actions: lists of lines

    def loop(self, level):
        """A counted loop, with the accumulators that are declared before it."""
        declared = [(self.name("s"), self.random.choice(list(OPERATORS))) for _ in range(self.choose(0, 0, 1, 1, 2))]
        self.accumulators = self.accumulators + declared
        for name, _ in declared if level > 1 else []:
            self.set(name)
        index = "tijk"[level] if level < 4 else "l"
        head = self.bounds(index, level)
        self.indices.append(index)
        self.effects.append(Effects())
        body = []
        for _ in range(self.choose(1, 1, 2, 3)):
            body += self.action()
        if level < self.deep:
            inner = self.loop(level + 1)
            body = body + inner if self.chance(0.5) else inner + body
        for name, operator in declared:
            if name not in self.effects[-1].updates:
                body += self.accumulate(name, operator)
        if self.chance(0.08):
            body += self.leave()
        effects = self.effects.pop()
        self.indices.pop()
        self.effects[-1].include(effects)
        lines = [*self.annotations(effects), f"{head} {{", *indented(body), "}"]
        if level == 1:
            return lines
        self.accumulators = [known for known in self.accumulators if known not in declared]
        states = [f"STATE({OPERATORS[operator][0]}, {name}, {OPERATORS[operator][1]});" for name, operator in declared]
        return states + lines + [self.keep_result(name) for name, _ in declared]

    def keep_result(self, name):
        self.use(name)
        target = self.choose(*self.writable)
        self.set(target)
        return f"{target}[{self.subscript()}] = (unsigned){name};"

    def bounds(self, index, level):
        if level == 1:
            self.step = self.choose(1, 1, 1, 2, -1)
            return {1: f"FOR(int {index} = 0, {index} < n, {index}++)",
                    2: f"FOR(int {index} = 1, {index} < n, {index} += 2)",
                    -1: f"FOR(int {index} = n, {index} > 1, {index}--)"}[self.step]
        outer = self.indices[-1]
        small = [("0", "< 5"), ("0", "< n / 2"), ("0", f"<= {outer}"), (outer, "< n")]
        of_a_row = (f"row[{outer}]", f"< row[{outer} + 1]")
        first, condition = self.random.choice([*small, of_a_row] if level == 2 else small[:2])
        return f"FOR(int {index} = {first}, {index} {condition}, {index}++)"

    def annotations(self, effects):
        lines = []
        for name, operator in effects.reductions():
            plain = PLAIN_NAME.get(operator, operator)
            if name == "T":
                lines.append(f"REDUCTION_EACH({plain}, T, 8);")
            else:
                lines.append(f"REDUCTION({plain}, {name});")
        return lines

    def action(self):
        kinds = [self.assign, self.assign, self.assign, self.assign_real, self.accumulate_any, self.accumulate_any,
                 self.guarded, self.guarded, self.table, self.temporary, self.scatter]
        rare = [self.carried, self.carried_sometimes, self.kept_element, self.rotation, self.tick, self.chase,
                self.use_of_accumulator, self.reset, self.compact, self.walk_while, self.by_pointer, self.count,
                self.some_distances]
        return self.random.choice(rare if self.chance(0.14) else kinds)()

    def target(self):
        """An array to write to, and those to read from."""
        array = self.choose(*self.writable)
        others = tuple(other for other in self.readable if other != array)
        return array, self.readable if self.chance(0.5) else others

    def assign(self):
        array, sources = self.target()
        value = self.value(sources)
        self.set(array)
        return [f"{array}[{self.subscript()}] = {value};"]

    def assign_real(self):
        source = "Y" if self.in_place else "X"
        value = f"0.5 * {source}[{self.subscript()}] + 0.25 * X[{self.subscript()}]"
        self.use(source)
        self.set("Y")
        return [f"Y[{self.subscript()}] = {value};"]

    def some_distances(self):
        """A distance that only some of the iterations have."""
        array, i = self.choose("A", "B", "C"), self.indices[-1]
        self.use(array)
        self.set(array)
        here = f"{i} + {MIDDLE}"
        there = self.choose(f"({i} < 4 ? {i} : {i} - 3)", f"({i} & 1 ? {i} : {i} + 1)",
                            f"({i} > 5 ? {i} - 5 : {i} + 7)", f"({i} % 4 == 3 ? {i} - 1 : {i})")
        return [f"{array}[{here}] = {array}[{there} + {MIDDLE}] * 3u + {self.value('G')};"]

    def accumulate_any(self):
        if not self.accumulators:
            return self.assign()
        name, operator = self.random.choice(self.accumulators)
        return self.accumulate(name, operator)

    def accumulate(self, name, operator):
        self.update(name, operator)
        x = self.value("G" if self.in_place and operator in HIDING else None)
        if operator == "ADD" and self.chance(0.25):
            return [f"add_to((unsigned*)&{name}, {x});"]
        if operator == "MAX" and self.chance(0.2):
            return [f"{name} = larger({name}, {x});"]
        if operator in ("REAL_ADD", "REAL_MAX"):
            x = f"X[{self.subscript()}]"
        if operator in ("INT_MIN", "INT_MAX"):
            x = f"(int)(({x}) & 0xffff) - 30000"
        sign = {"MAX": ">", "MIN": "<", "INT_MAX": ">", "INT_MIN": "<", "REAL_MAX": ">"}.get(operator)
        if sign:
            kind, new = OPERATORS[operator][0], self.name("x")
            set_it = self.choose(f"if ({new} {sign} {name}) {name} = {new};",
                                 f"{name} = {new} {sign} {name} ? {new} : {name};")
            return [f"const {kind} {new} = {x};", set_it]
        text = {"ADD": self.choose("{s} += {x};", "{s} -= {x};"), "MUL": "{s} *= ({x}) | 1u;", "XOR": "{s} ^= {x};",
                "AND": "{s} &= ({x}) | 0x00ff00ffu;", "OR": "{s} |= ({x}) & 0x0f0f0f00u;", "REAL_ADD": "{s} += {x};"}
        line = text[operator].format(s=name, x=x)
        return [f"if ({self.condition()}) {line}"] if self.chance(0.2) else [line]

    def count(self):
        added = [(name, operator) for name, operator in self.accumulators if operator == "ADD"]
        if not added:
            return self.guarded()
        self.update(added[0][0], "ADD")
        return [f"if ({self.data_condition()}) {added[0][0]}++;"]

    def guarded(self):
        then = self.choose(self.assign, self.assign, self.assign_real, self.scatter)()
        otherwise = self.assign() if self.chance(0.3) else None
        lines = [f"if ({self.condition()}) {{", *indented(then), "}"]
        return lines[:-1] + ["} else {", *indented(otherwise), "}"] if otherwise else lines

    def table(self):
        """An array that is changed where data say."""
        value, i = self.value("A"), self.indices[-1]
        operator, sign = self.choose(("ADD", "+="), ("ADD", "+="), ("ADD", "-="), ("XOR", "^="))
        self.update("T", operator)
        lines = [f"T[many[{i}]] {sign} {value};"]
        if self.chance(0.2):
            self.use("T")
            lines.append(f"out[{i} + 128] = T[many[{i}]];")
        return lines

    def scatter(self):
        array, sources = self.target()
        value = self.value(sources)
        self.set(array)
        return [f"{array}[{self.choose('once', 'many')}[{self.indices[-1]}] + {MIDDLE}] = {value};"]

    def temporary(self):
        name, (array, sources) = self.state("t", "1u"), self.target()
        value = self.value(sources)
        self.set(name)
        self.set(array)
        return [f"{name} = {value};", f"{array}[{self.subscript()}] = {name} ^ {name} >> 5;"]

    def state(self, letter, value, kind="unsigned"):
        """A variable of the whole function."""
        name = self.name(letter)
        self.states.append(f"STATE({kind}, {name}, {value});")
        return name

    def carried(self):
        name, array = self.state("c", "7u"), self.choose(*self.writable)
        self.set(name)
        self.set(array)
        return [f"{array}[{self.subscript()}] = {name};", f"{name} = {name} * 3u + {self.value('G')};"]

    def carried_sometimes(self):
        name, array = self.state("c", "9u"), self.choose(*self.writable)
        self.set(array)
        return [f"if ({self.data_condition()}) {name} = 3u * ({self.value('G')});",
                f"{array}[{self.subscript()}] = {name} * 3u + {self.value('G')};"]

    def kept_element(self):
        """What was loaded is kept for the next iteration; the array may be written, then it is gone."""
        if len(self.indices) > 1:
            return self.assign()
        array, target = self.choose("A", "G"), self.choose(*self.writable)
        self.use(array)
        self.set(target)
        i = self.indices[-1]
        name, current = self.state("p", f"{array}[{MIDDLE} - 1]"), self.name("x")
        return [f"RELOAD({name}, {array}[{i} + {MIDDLE - self.step}]);",
                f"const unsigned {current} = {array}[{i} + {MIDDLE}];",
                f"{target}[{i} + {MIDDLE}] = {current} * 3u - {name};", f"{name} = {current};"]

    def rotation(self):
        a, b, t = self.state("a", "3u + G[5]"), self.state("b", "8u + G[9]"), self.name("x")
        array = self.choose(*self.writable)
        self.set(array)
        return [f"{array}[{self.subscript()}] = {a};", f"const unsigned {t} = {a};", f"{a} = {b};", f"{b} = {t};"]

    def tick(self):
        if self.chance(0.5):
            self.update("ticks", "ADD")
            return [f"count_ticks({self.value()});"]
        self.use("ticks")
        self.set("B")
        return [f"B[{self.subscript()}] = next_tick({self.value('A')});"]

    def chase(self):
        """Follows a cycle, from the last iteration's place or from one of its own."""
        i, array = self.indices[-1], self.choose("B", "C")
        self.set(array)
        if self.chance(0.5):
            at = self.state("k", "0", "int")
            return [f"{array}[{self.subscript()}] = G[{at}];", f"{at} = next_of[{at}];"]
        return [f"{array}[{self.subscript()}] = G[next_of[next_of[{i}]]];"]

    def use_of_accumulator(self):
        if not self.accumulators:
            return self.carried()
        name, _ = self.random.choice(self.accumulators)
        self.use(name)
        array = self.choose("B", "C")
        self.set(array)
        return [f"{array}[{self.subscript()}] = (unsigned){name};"]

    def reset(self):
        if not self.accumulators:
            return self.carried_sometimes()
        name, _ = self.random.choice(self.accumulators)
        self.set(name)
        return [f"if ({self.data_condition()}) {name} = 1;"]

    def compact(self):
        name = self.state("k", "0", "int")
        self.set("B")
        return [f"if (({self.data_condition()}) && {name} < 60) B[{name}++] = {self.value('A')};"]

    def walk_while(self):
        """An inner loop that data end."""
        array = self.choose("B", "C")
        self.set(array)
        x, steps = self.name("w"), self.name("w")
        divide = self.choose(f"{x} = {x} / 5 + {x} % 2", f"{x} >>= 3", f"{x} = {x} / 3")
        return [f"STATE(unsigned, {x}, {self.value('AG')});", f"STATE(unsigned, {steps}, 1u);",
                f"WHILE({x} > 2u) {{",
                f"  {steps} = {steps} * 3u + {x};", f"  {divide};", "}", f"{array}[{self.subscript()}] = {steps};"]

    def by_pointer(self):
        """Two pointers into one array."""
        i, delta = self.indices[-1], self.choose(-2, -1, 0, 1, 3, 40)
        p, q = self.name("p"), self.name("q")
        self.use("A")
        self.set("A")
        return [f"unsigned* const {p} = A + {MIDDLE};", f"const unsigned* const {q} = A + {MIDDLE + delta};",
                f"{p}[{i}] = {q}[{i}] * 3u + 1u;"]

    def leave(self):
        """A way out: taken somewhere, or never."""
        array = self.choose("G", "A")
        self.use(array)
        value = f"{array}[{self.subscript(spread=False)}]"
        return self.choose([f"if ({value} == 12345u) break;"], [f"if (is_above({value}, 0xfffffffeu)) break;"],
                           [f"if (is_above({value}, 0xd0000000u)) break;"], [f"if ({value} % 6 == 0) break;"])


class SwapNest(Nest):
    """Time steps over two buffers that are swapped by pointer, or chosen by the parity of the step."""

    def function(self):
        inner = self.choose("from[i - 1] * 3u + from[i + 1]", "from[i] * 3u + G[i]", "from[2 * MIDDLE - i] + 1u")
        inner = inner.replace("MIDDLE", str(MIDDLE))
        store = self.choose("to[i]", "to[i]", "from[i]", "to[i + 1]")
        swap = self.choose(["to = a;", "from = b;"], ["to = a;", "from = b;"], ["to = b;", "from = a;"])
        read = inner.replace("from", "a")
        write = store.replace("from", "a").replace("to", "b")
        return "\n".join([
            f"KERNEL void nest_{self.number}(int n) {{", "  STATE(unsigned*, from, A);", "  STATE(unsigned*, to, B);",
            "  FOR(int t = 0, t < n / 2, t++) {", "    unsigned* const a = from;", "    unsigned* const b = to;",
            f"    FOR(int i = {MIDDLE}, i < {MIDDLE} + n, i++) {{", f"      {write} = {read} + (unsigned)t;", "    }",
            *(f"    {line}" for line in swap), "  }", "  out[1] = from[100] ^ to[101] * 3u;", "}"])


def indented(lines):
    return ["  " + line for line in lines]


def make_nest(seed, number):
    swap = random.Random(f"{seed}/{number}/kind").random() < 0.04
    return (SwapNest if swap else Nest)(seed, number)


def generate(seed, nests):
    """The text of a program of these nests (numbers)."""
    numbers = list(nests)
    command = f"{seed} --nest {numbers[0]}" if len(numbers) == 1 else f"{seed} {len(numbers)}"
    functions = [make_nest(seed, number).function() for number in numbers]
    calls = "\n".join(f"  refill({seed % 100000 * 100 + number}u + input_seed);\n  nest_{number}(n);\n  show({number});"
                      for number in numbers)
    return HEAD.format(command=command) + "\n\n".join(functions) + TAIL.format(calls=calls)


def main():
    seed = int(sys.argv[1])
    if "--nest" in sys.argv:
        print(generate(seed, [int(sys.argv[3])]), end="")
    else:
        print(generate(seed, range(int(sys.argv[2]) if len(sys.argv) > 2 else 25)), end="")


if __name__ == "__main__":
    main()
