"""C programs of loops that are hard to take many iterations at a time: python3 random_strides.py SEED [LOOPS]

    random_strides.py SEED [LOOPS]          a program of so many functions (default 50)
    random_strides.py SEED --only NUMBER    the same function alone: each has random numbers of its own

A function is one or two nests over a pool of bytes, whose accesses have any size, stride and distance from each other:
they overlap in part, run towards each other, stand still, write bytes of words and read words of bytes. Around them is
what else ends, splits or disturbs a stretch of iterations: paths that alternate or flip after many iterations, exits,
calls, indices that wrap around in 8, 16 and 32 bits, subscripts that are even but for a few in the middle, pointers and
registers that are passed round, neighbours kept for the next iteration, blocks of the heap and variables that one loop
walks over, arrays on the stack of this function and of its caller, block copies.

All addresses are in range by construction: strides are at most kStride bytes, trips at most kTrips, and the pool is
larger than all of that to both sides of its middle. Only walks over several blocks or variables leave what C calls an
object, on purpose, and only to read. What is computed is meant to be followed, not to mean anything.
"""

import random
import sys

STRIDE, TRIPS, SPREAD = 40, 300, 200
PRELUDE = r"""// Made by tests/oracle/random_strides.py: %(command)s
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#define ANY __attribute__((aligned(1), may_alias))
typedef uint8_t ANY u8; typedef uint16_t ANY u16; typedef uint32_t ANY u32; typedef uint64_t ANY u64;
typedef int8_t ANY i8; typedef int16_t ANY i16; typedef int32_t ANY i32; typedef float ANY f32; typedef double ANY f64;
typedef struct { uint64_t a, b, c, d; } ANY block32; typedef struct { uint8_t b[12]; } ANY block12;
#ifdef __SANITIZE_ADDRESS__
#define FAR(bytes) ((bytes) * 0)  // walks over several variables stay at the first
#else
#define FAR(bytes) (bytes)
#endif
typedef uint32_t vector16 __attribute__((vector_size(16), aligned(1), may_alias));

enum { kHalf = 1 << 14, kBlocks = 12, kBlock = 88 };
static unsigned char* pool;             // its middle; kHalf bytes to both sides
static unsigned char* blocks[kBlocks];  // of the heap, kBlock bytes each
static unsigned char* rows[kBlocks];    // the same in another order
static uint32_t one[24], two[40]; static uint8_t three[100]; static double four[16]; static uint32_t five[32];
static uint32_t same[400], most[400], some[400];  // subscripts: i; i but for a few in the middle; any
static struct node { struct node* next; uint32_t value; } nodes[64];
static uint64_t total; static volatile int nothing;

static NOINLINE uint64_t mixed(uint64_t a, uint64_t b) { return (a ^ b >> 3) * 31 + 7; }
static NOINLINE void put(void* p, uint64_t x) { *(u32*)p = (uint32_t)x + *(u32*)p; }
static NOINLINE uint64_t kept(uint64_t a, uint64_t b, uint64_t c) { return mixed(a, b) + c * mixed(b, c) + a; }
static inline uint64_t inlined(uint64_t a, unsigned char* p) { return a > 1000 ? a - *(u16*)p : a + p[3]; }
static NOINLINE uint64_t sum_words(const void* p, int n) {
  uint64_t s = 0;
  for (int i = 0; i < n; i++) s += ((const u32*)p)[i];
  return s;
}
static NOINLINE void copy_words(void* to, const void* from, int n) {
  for (int i = 0; i < n; i++) ((u32*)to)[i] = ((const u32*)from)[i];
}
static NOINLINE void start(void) {
  pool = (unsigned char*)malloc(2 * kHalf) + kHalf;
  for (int i = -kHalf; i < kHalf; i += 8) *(u64*)(pool + i) = mixed((uint64_t)i, 5) | 1;
  for (int i = 0; i < kBlocks; i++) blocks[i] = malloc(kBlock);
  for (int i = 0; i < kBlocks; i++) rows[i] = memset(blocks[i * 5 %% kBlocks], i, kBlock);
  for (int i = 0; i < 400; i++) {
    same[i] = most[i] = (uint32_t)i;
    some[i] = (uint32_t)(mixed((uint64_t)i, 3) %% 400);
  }
  for (int i = 20; i < 400; i += 61) most[i] = (uint32_t)i + 1, most[i + 1] = (uint32_t)i;
  for (int i = 0; i < 63; i++) nodes[i].next = &nodes[i + 1], nodes[i].value = (uint32_t)i * 3;
}
"""
SIZES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "f64": 8}
INTEGERS = [name for name in SIZES if name[0] != "f"]


class Function:
    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")
        self.number, self.names = number, 0
        self.indices, self.trips = [], []

    # ---- Text ----

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def chance(self, probability):
        return self.random.random() < probability

    def choose(self, *options):
        return self.random.choice(options)

    def text(self):
        lines = ["uint64_t s = total, t = 3; double f = 0.5; unsigned char *p = pool, *q = pool + 64;"]
        lines += self.choose(self.function_nests, self.function_nests, self.function_nests, self.function_special)()
        lines += ["total = total * 31 + s + t + (uint64_t)(f > 1 && f < 1e9 ? f : 1) + *p + *q;"]
        return f"static NOINLINE void loop{self.number}(void) {{\n" + "\n".join(indented(lines)) + "\n}\n"

    def function_nests(self):
        return [line for _ in range(self.choose(1, 1, 2)) for line in self.nest(1)]

    def function_special(self):
        return self.random.choice(self.SPECIAL)(self)

    # ---- Loops ----

    def nest(self, level):
        """A loop; the one outside of another is short."""
        deep = level < 3 and self.chance(0.3 if level == 1 else 0.15)
        trips = self.random.randint(2, 9) if deep else self.choose(
            self.random.randint(3, 12), self.random.randint(8, 60), self.random.randint(30, TRIPS))
        if level > 1:
            trips = min(trips, 40)
        index = self.name("n")
        head, factor = self.head(index, trips)
        self.indices.append((index, trips * factor))
        body = [line for _ in range(self.choose(1, 2, 2, 3, 4)) for line in self.statement()]
        if deep:
            inner = self.nest(level + 1)
            body = body + inner if self.chance(0.5) else inner + body
        self.indices.pop()
        return [head + " {", *indented(body), "}"]

    def head(self, index, trips):
        """And by how much the index may be greater than the trips."""
        kind = self.random.randint(0, 6)
        if kind == 0:
            return f"for (int {index} = {trips - 1}; {index} >= 0; {index}--)", 1
        if kind == 1:
            return f"for (unsigned {index} = 0; {index} < {2 * trips}u; {index} += 2)", 2
        if kind == 2 and self.indices:
            return f"for (int {index} = 0; {index} < {trips} - (int){self.indices[-1][0]}; {index}++)", 1
        if kind == 3:
            return f"for (int64_t {index} = 0; {index} < {trips} + nothing; {index}++)", 1
        if kind == 4 and trips < 256:
            return f"for (uint8_t {index} = 0; {index} < {trips}; {index}++)", 1
        return f"for (int {index} = 0; {index} < {trips}; {index}++)", 1

    def statement(self):
        kinds = [self.overlap] * 8 + [self.kept_load, self.sum_up, self.constant_store, self.branch, self.branch,
                                      self.leave, self.call, self.wrap, self.wrap, self.gather, self.gather,
                                      self.block_copy, self.across_blocks, self.row, self.float_overlap,
                                      self.float_overlap, self.swap, self.string, self.vector]
        return self.random.choice(kinds)()

    # ---- Places: an address in the pool ----

    def stride(self, size):
        """In bytes, of one index; all indices together stay within the pool."""
        stride = self.choose(size, size, size, -size, 2 * size, 0, self.random.randint(-STRIDE, STRIDE))
        return max(-STRIDE, min(STRIDE, stride))

    def place(self, size, base="pool"):
        terms = []
        for at, (index, reach) in enumerate(self.indices):
            inner = at == len(self.indices) - 1
            stride = self.stride(size) if inner or self.chance(0.6) else 0
            while abs(stride) * reach > STRIDE * TRIPS // (1 if inner else 4):
                stride //= 2
                stride += stride == -1
            terms.append(f"{stride} * (long){index}")
        return f"{base} + ({' + '.join(terms)} + {self.random.randint(0, SPREAD)})"

    def cell(self, kind):
        return f"*({kind}*)({self.place(SIZES[kind])})"

    def amount(self):
        index = self.indices[-1][0]
        return self.choose("s", "t", f"(uint64_t){index}", "7", f"(uint64_t){index} * 3 + 1")

    # ---- Statements ----

    def overlap(self):
        to, source = self.choose(*INTEGERS), self.choose(*INTEGERS)
        if self.chance(0.4):
            source = to
        return [f"{self.cell(to)} = ({to})({self.cell(source)} {self.choose('+', '^', '-')} {self.amount()});"
                if self.chance(0.7) else f"{self.cell(to)} = ({to}){self.cell(source)};"]

    def float_overlap(self):
        to, source = self.choose("f32", "f64"), self.choose("f32", "f64", "f64", "i32")
        return [f"{self.cell(to)} = ({to})(({to}){self.cell(source)} * 0.5f);" if self.chance(0.6) else
                f"f = f * 0.5 + (double){self.cell(source)};"]

    def sum_up(self):
        return [f"s {self.choose('+=', '^=', '-=')} (uint64_t){self.cell(self.choose(*INTEGERS))};"]

    def constant_store(self):
        kind = self.choose(*INTEGERS)
        return [f"{self.cell(kind)} = ({kind}){self.amount()};"]

    def kept_load(self):
        """A value that is used behind a store, or in the next iteration."""
        name, kind = self.name("k"), self.choose("u32", "u64", "u8", "u16")
        first = f"const {kind} {name} = {self.cell(kind)};"
        return [first, *self.statement(), f"{self.cell(kind)} = {name};", f"t += {name};"]

    def condition(self):
        index, reach = self.indices[-1]
        return self.choose(f"({index} & 1) == 0", f"{index} < {self.random.randint(0, reach)}",
                           f"{index} % 3 == 1", f"{index} == {self.random.randint(0, reach)}",
                           f"({self.cell('u8')} & {self.choose(1, 3, 128)}) == 0", f"{index} % 16 < 13")

    def branch(self):
        lines = [f"if ({self.condition()}) {{", *indented(self.statement()), "}"]
        if self.chance(0.5):
            lines += ["else {", *indented(self.statement()), "}"]
        return lines

    def leave(self):
        index, reach = self.indices[-1]
        return [self.choose(f"if ({index} == {self.random.randint(0, reach)}) break;",
                            f"if ({self.cell('u8')} == {self.random.randint(0, 255)}) break;",
                            f"if ({self.cell('u8')} == {self.random.randint(0, 255)}) continue;")]

    def call(self):
        return [self.choose(f"s = mixed(s, {self.amount()});", f"put({self.place(4)}, {self.amount()});",
                            f"t += kept(s, t, {self.amount()});", f"t = inlined(t, {self.place(2)});",
                            f"s += sum_words({self.place(4)}, {self.random.randint(2, 12)});",
                            f"copy_words({self.place(4)}, {self.place(4)}, {self.random.randint(2, 12)});")]

    def wrap(self):
        """An index that wraps around, computed from the loop's or carried."""
        kind = self.choose("uint8_t", "uint16_t", "int8_t", "int16_t", "uint32_t")
        begin, step, index = self.random.randint(0, 70000), self.choose(1, 1, 3, 7, 251, 999, -1, -5), self.indices[-1][0]
        name = self.name("w")
        mask = {"uint8_t": "", "int8_t": "", "uint16_t": " / 8", "int16_t": " / 8", "uint32_t": " % 1024"}[kind]
        if kind == "uint32_t":
            begin = self.choose(0xffffff00, 0xfffffff0, 5)
        to = self.choose("u8", "u16", "u32")
        lines = [f"const {kind} {name} = ({kind})({begin}u + (unsigned){index} * {step}u);"]
        if self.chance(0.3):
            lines = [f"static {kind} {name} = ({kind}){begin}u; {name} = ({kind})({name} + {step});"]
        return lines + [f"*({to}*)(pool + {self.choose(1, 2, 4) if not mask else 1} * (long)({name}{mask})) "
                        f"{self.choose('=', '+=', '^=')} ({to}){self.amount()};"]

    def gather(self):
        """Subscripts from memory, even but for some, or not at all."""
        index, reach = self.indices[-1]
        at = f"{self.choose('same', 'most', 'most', 'some')}[{index} % 400]"
        kind = self.choose("u8", "u32", "u64")
        cell = f"*({kind}*)(pool + {SIZES[kind]} * (long){at} + {self.random.randint(0, SPREAD)})"
        name = self.name("g")
        return [self.choose(f"s += {cell};", f"{cell} = ({kind}){self.amount()};", f"{cell} += ({kind})1;",
                            f"const {kind} {name} = {cell}; if ({self.condition()}) s += {name}; t ^= {name};")]

    def block_copy(self):
        size = self.choose(3, 12, 16, 24, 32, 7)
        return [self.choose(f"memmove({self.place(size)}, {self.place(size)}, {size});",
                            f"memset({self.place(size)}, (int){self.amount()}, {size});",
                            f"*(block32*)({self.place(32)}) = *(block32*)({self.place(8)});",
                            f"*(block12*)({self.place(12)}) = *(block12*)({self.place(4)});")]

    def vector(self):
        return [f"*(vector16*)({self.place(16)}) = *(vector16*)({self.place(4)})"
                + self.choose("", " + 1", " * 3") + ";"]

    def string(self):
        size = self.choose(1, 5, 8, 20)
        name = self.name("r")
        return [f"void *{name}a = {self.place(size)}, *{name}b = {self.place(size)}; long {name}n = {size};",
                self.choose(f'__asm__ volatile("rep movsb" : "+D"({name}a), "+S"({name}b), "+c"({name}n) : : "memory");',
                            f'__asm__ volatile("rep stosb" : "+D"({name}a), "+c"({name}n) : "a"(s) : "memory");')]

    def across_blocks(self):
        """Even addresses that are in another block, or another variable, each time or now and then."""
        index, reach = self.indices[-1]
        kind = self.choose("u8", "u32", "u64")
        if self.chance(0.5):
            step = self.choose(8, 16, 32, 36)
            last = f"(kBlock * (kBlocks - 1)) / {step}"
            return [f"s += *({kind}*)(blocks[0] + FAR({step} * (long)({index} % ({last}))));"]
        step = self.choose(4, 8, 12)
        return [f"{{ const unsigned char* low = (unsigned char*)one < three ? (unsigned char*)one : three; "
                f"s += *({kind}*)(low + FAR({step} * (long)({index} % {240 // step}))); }}"]

    def row(self):
        index = self.indices[-1][0]
        row = f"{self.choose('rows', 'blocks')}[{self.choose('{i} % kBlocks', '{i} / 16 % kBlocks').format(i=index)}]"
        kind = self.choose("u8", "u16", "u32")
        at = f"*({kind}*)({row} + {self.choose('{i} % 16 * 4', '8', '{i} % 80').format(i=index)})"
        return [self.choose(f"s += {at};", f"{at} = ({kind}){self.amount()};", f"{at} += ({kind})3;")]

    def swap(self):
        return [self.choose("{ unsigned char* const old = p; p = q; q = old; }",
                            "{ const uint64_t old = s; s = t; t = old; }"),
                f"*(u32*)p = *(u32*)q + (uint32_t){self.amount()};"]

    # ---- Whole functions ----

    def rotation(self):
        names = ["a", "b", "c", "d"][:self.random.randint(2, 4)]
        kind, trips = self.choose("uint64_t", "uint32_t", "double"), self.random.randint(6, TRIPS)
        lines = [" ".join(f"{kind} {n} = ({kind})pool[{i}];" for i, n in enumerate(names)),
                 f"for (int i = 0; i < {trips}; i++) {{", f"  const {kind} first = {names[0]};"]
        lines += [f"  {to} = {source};" for to, source in zip(names, names[1:])]
        last = self.choose("first", f"({kind})*(u32*)(pool + 4 * i)", f"first + {names[0]}", f"({kind})i")
        lines += [f"  {names[-1]} = {last};"]
        if self.chance(0.4):
            lines += [f"  if (i % {self.choose(2, 5, 16)} == 1) {{ {names[0]} = ({kind})*(u16*)(pool + 2 * i); }}"]
        if self.chance(0.7):
            lines += [f"  *(f64*)(pool + {self.choose(8, 8, 4, 0)} * i + 2000) = (double){names[0]};"]
        return lines + ["}", "s += (uint64_t)(" + " + ".join(f"(double){n} * 1e-9" for n in names) + ");"]

    def neighbours(self):
        kind, trips = self.choose("f64", "i32", "u16", "f32", "u8"), self.random.randint(8, TRIPS)
        shift = self.choose(-2, -1, 0, 1, 2, 600)
        return [f"{kind}* const a = ({kind}*)(pool + {self.random.randint(0, 9)});",
                f"for (int time = 0; time < {self.random.randint(1, 4)}; time++)",
                f"  for (int i = 1; i < {trips}; i++) a[i + {shift}] = ({kind})((a[i - 1] + a[i] + a[i + 1]) / 3);"]

    def carried_scalar(self):
        trips = self.random.randint(8, TRIPS)
        return ["u32* const a = (u32*)pool; uint32_t before = a[0], best = 0;",
                f"for (int i = 1; i < {trips}; i++) {{", "  const uint32_t now = a[i];",
                f"  {self.choose('a[i - 1]', 'a[i + 500]', 'a[i]', 'a[2 * i]')} = before + now;",
                f"  {self.choose('if (now > best) best = now;', 'best ^= before;', 'if (i % 7 == 3) best = before;')}",
                f"  {self.choose('before = now;', 'before = now;', 'if (i & 1) before = now;', 'before = a[i];')}", "}",
                "s += best;"]

    def halves(self):
        """Written by some iterations of a loop and read by others of the same, along another path."""
        trips = self.random.randint(20, 150)
        at = self.choose("i + {0}", "2 * i", "{0} - i", "i + {1}").format(trips, trips // 2)
        last = self.choose("", "  *(u32*)(pool + 4 * i + 4000) = b;")
        return ["uint32_t b = 1;", f"for (int i = 0; i < {2 * trips}; i++) {{",
                f"  if (i < {trips}) {{ *(u32*)(pool + 4 * ({at})) = (uint32_t)i; continue; }}",
                "  const uint32_t c = *(u32*)(pool + 4 * i);", f"  s += c + b; {self.choose('b = c;', '')}", last, "}"]

    def on_the_stack(self):
        """Local arrays: written here, read here or by a function; also what only looks like a spill."""
        trips, size = self.random.randint(8, 60), self.choose("uint32_t", "uint64_t", "uint8_t")
        lines = [f"{size} a[64] = {{0}}, b[64]; uint32_t c[64] = {{1}};",
                 f"for (int i = 0; i < {trips}; i++) a[i] = ({size}){self.choose('i', 'pool[i]', '*(u32*)(pool + 4 * i)')};",
                 f"for (int i = 0; i < {trips}; i++) b[i] = a[{self.choose('i', f'{trips - 1} - i', 'i / 2')}];",
                 f"for (int i = 1; i < {trips}; i++) {{ c[i] = c[i - 1] + (uint32_t)b[i]; s += c[i]; }}"]
        lines += self.choose(["copy_words(c, pool, 60); s += sum_words(c, 60);"], ["s += sum_words(pool + 100, 50);"],
                             ["s += sum_words(a, 16); copy_words(pool, c, 50); s += sum_words(pool, 50);"],
                             ["for (int i = 0; i < 50; i++) c[i] = *(u32*)(pool + 4 * i);", "s += sum_words(c, 50);"])
        return lines + ["s += a[3] + b[2];"]

    def half_written(self):
        """Reads of what is there in the middle only; then the same loop on something else."""
        first, last = self.random.randint(3, 40), self.random.randint(50, 90)
        return ["uint32_t* const fresh = calloc(200, 4); uint32_t c[100];",
                f"for (int i = {first}; i < {last}; i++) fresh[i] = (uint32_t)s + (uint32_t)i;",
                "s += sum_words(fresh, 100);", "for (int i = 0; i < 100; i++) c[i] = *(u32*)(pool + 4 * i);",
                f"s += sum_words({self.choose('c', '(char*)c + 2')}, 90); free(fresh);"]

    def pointers(self):
        trips = self.random.randint(8, 100)
        return ["u32 *a = (u32*)pool, *b = (u32*)(pool + 1000), *c = (u32*)(pool + 2000);",
                f"for (int time = 0; time < {self.random.randint(2, 12)}; time++) {{",
                f"  for (int i = 1; i < {trips}; i++) a[i] = b[i - 1] + {self.choose('c[i]', 'a[i - 1]', '1')};",
                "  u32* const old = a; a = b; " + self.choose("b = c; c = old;", "b = old;"), "}", "s += a[3] + b[4];"]

    def moving(self):
        """Pointers that are loop variables, of different steps; a loop that ends where they meet."""
        return [f"unsigned char *a = pool, *b = pool + {self.random.randint(900, 2000)};",
                f"while (a < b) {{ {self.choose('*a ^= *b;', '*(u32*)a = *(u32*)b;', '*(u16*)b = (uint16_t)(*a + 1);')} "
                f"a += {self.random.randint(1, 9)}; b -= {self.random.randint(0, 7)}; }}"]

    def listed(self):
        return [f"for (int time = 0; time < {self.random.randint(1, 4)}; time++)",
                "  for (struct node* n = nodes; n; n = n->next) { s += n->value; n->value = (uint32_t)"
                + self.choose("s", "t", "n[0].value * 3") + "; }"]

    def triangle(self):
        n = self.random.randint(8, 30)
        return ["f64* const m = (f64*)pool;", f"for (int k = 0; k < {n}; k++)",
                f"  for (int i = k + 1; i < {n}; i++) {{ m[i * 30 + k] *= 0.5;",
                f"    for (int j = k + 1; j < {n}; j++) m[i * 30 + j] -= m[i * 30 + k] * m[k * 30 + j] * 1e-3; }}"]

    def many_live(self):
        """More values than registers: some live in the frame."""
        count, trips = self.random.randint(12, 22), self.random.randint(8, 90)
        lines = [" ".join(f"uint64_t r{n} = {n};" for n in range(count)), f"for (int i = 0; i < {trips}; i++) {{"]
        for n in range(count):
            source = self.choose("pool[i]", "(uint64_t)i", f"r{self.random.randrange(count)}", "*(u32*)(pool + 4 * i)")
            lines += [f"  r{n} = " + self.choose(f"r{n} * 3 + {source};", f"{source};", f"{source} + r{n};")]
            if self.chance(0.1):
                lines += [f"  *(u32*)(pool + {self.choose(4, 8, -4)} * i + {self.random.randint(0, 99)}) = (uint32_t)r{n};"]
        return lines + ["}", "s += " + " ^ ".join(f"r{n}" for n in range(count)) + ";"]

    def extended(self):
        trips = self.random.randint(8, 60)
        return ["long double x = 1.0L; f64* const a = (f64*)pool;",
                f"for (int i = 0; i < {trips}; i++) {{ a[i] = 0.5 * i; {self.choose('x = x * 0.5L + a[i];', '')} "
                f"if (i % {self.choose(2, 9, 30)} == 5) x += a[i / 2]; a[i + 1] = (double)i; }}", "f += (double)x;"]

    def growing(self):
        trips = self.random.randint(30, 120)
        return ["uint32_t* v = NULL; int room = 0;", f"for (int i = 0; i < {trips}; i++) {{",
                "  if (i == room) v = realloc(v, (size_t)(room = room * 2 + 4) * 4);",
                f"  v[i] = (uint32_t)i; s += v[i {self.choose('/ 2', '- (i > 0)', '* 0')}];", "}", "free(v);"]

    SPECIAL = [rotation, rotation, neighbours, neighbours, carried_scalar, carried_scalar, halves, halves, on_the_stack,
               on_the_stack, half_written, pointers, moving, listed, triangle, many_live, many_live, extended, growing]


def indented(lines):
    return ["  " + line for line in lines]


def generate(seed, numbers, command=""):
    functions = [Function(seed, number).text() for number in numbers]
    calls = "\n".join(f"  loop{number}();" for number in numbers)
    return (PRELUDE % {"command": command or f"seed {seed}"} + "\n" + "\n".join(functions)
            + f"\nint main(void) {{\n  start();\n{calls}\n  printf(\"%lx\\n\", (unsigned long)total);\n  return 0;\n}}\n")


def main():
    seed = int(sys.argv[1])
    if "--only" in sys.argv:
        numbers = [int(sys.argv[3])]
    else:
        numbers = range(int(sys.argv[2]) if len(sys.argv) > 2 else 50)
    print(generate(seed, numbers, " ".join(sys.argv[1:])), end="")


if __name__ == "__main__":
    main()
