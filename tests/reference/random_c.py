"""C programs made of random loop nests, for comparing analyses: python3 random_c.py SEED [NESTS] > program.c

A program is a function of its seed. It calls NESTS functions, each a nest of loops over a few global arrays of all
element types: bounds that are constant, triangular, strided or data, guards that are affine, modular or data, accesses
that are affine, wrapped or indirect, and in between whatever moves bytes in other ways: calls, function pointers,
recursion, unions, memcpy, heap blocks, libc, string instructions, vectors, x87, MMX, atomics, flags, signals, threads,
longjmp, coroutines; and whatever makes compilers copy values about: more live values than registers, values that live
over calls, that rotate, or are kept for the next iteration. It prints a checksum, so nothing is dead.

No behaviour is undefined: integers are computed as unsigned long, indices are proved to be in range by interval
arithmetic or masked, floating point is converted through a function that checks. (`make soak` runs them under
sanitizers; and the checksum must be the same at all levels of optimisation.)
"""

import random
import sys

PRELUDE = r"""
#define _GNU_SOURCE
#include <emmintrin.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned u32; typedef long i64; typedef unsigned long u64;
#define NOINLINE __attribute__((noinline, noclone))

static i8 A8[256]; static u8 U8[256]; static i16 A16[256]; static u16 U16[256]; static i32 A32[256]; static u32 U32[256];
static i64 A64[256]; static float F32[256]; static double F64[256]; static long double F80[32];
static i32 M32[16][16]; static double MF[16][16]; static u64 total; static volatile u64 hidden_zero;
static union { u8 b[256]; u16 h[128]; u32 w[64]; u64 d[32]; float f[64]; double g[32]; } mix;
static struct record { i8 c; i16 s; i32 i; double d; u8 tail[3]; } records[32];
struct node { struct node *next; i32 value; };
static volatile u64 handled; static u64 handler_data[16];
static jmp_buf back; static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE i64 to_int(double x) { return x > -1e15 && x < 1e15 ? (i64)x : 7; }
static NOINLINE u64 mixed(u64 a, u64 b) { return (a ^ b >> 3) * 31 + 7; }
static NOINLINE u64 twice(u64 a, u64 b) { return a + a + b; }
static NOINLINE u64 lesser(u64 a, u64 b) { return a < b ? a : b; }
static NOINLINE void put32(i32 *p, u64 v) { *p = (i32)(v + (u32)*p); }
static NOINLINE void put64(u64 *p, u64 v) { *p = *p * 3 + v; }
static NOINLINE double blend(double a, double b) { return a * 0.5 + b * 0.25; }
static NOINLINE long double halved(long double a, long double b) { return a * 0.5L - b; }
static NOINLINE u64 sum_to(u64 n) { return n == 0 ? 1 : n + sum_to(n - 1); }
static NOINLINE u64 fibonacci(u64 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
static u64 odd(u64 n);
static NOINLINE u64 even(u64 n) { A32[n & 255] += 1; return n == 0 ? 3 : odd(n - 1) * 2; }
static NOINLINE u64 odd(u64 n) { return n == 0 ? 5 : even(n - 1) + (u64)U8[n & 255]; }
static NOINLINE u64 walk_rows(u64 depth, u64 at) {
  u64 s = 0;
  for (u64 k = 0; k < 3; k++) s += (u64)M32[depth & 15][(at + k) & 15]++;
  return depth == 0 ? s : s + walk_rows(depth - 1, at + 1) + (depth & 1 ? walk_rows(depth / 2, at) : 0);
}
struct triple { u64 a; u32 b; double c; };
struct pair { u64 a, b; };
static NOINLINE struct triple turned(struct triple x, u64 by) {
  struct triple y = x;
  y.a = x.b + by; y.b = (u32)x.a; y.c = x.c * 0.5 + (double)(by & 7);
  return y;
}
static NOINLINE struct pair crossed(struct pair x) { return (struct pair){x.b, x.a + 1}; }
/// Keeps many values over calls: they are in registers that a callee saves.
static NOINLINE u64 keeper(u64 a, u64 b, u64 c, u64 d) {
  const u64 x = a * 3 + b, y = b ^ c, z = c - d, w = d + a;
  const u64 first = mixed(x, y);
  const u64 second = twice(first, z);
  return first + second * w + lesser(x, z) + y;
}
static NOINLINE u64 tree_sum(u64 depth, u64 at, u64 *best) {
  if (depth == 0) { if (U8[at & 255] > *best) *best = U8[at & 255]; return U8[at & 255]; }
  const u64 left = tree_sum(depth - 1, at * 2 + 1, best);
  const u64 right = tree_sum(depth - 1, at * 2 + 2, best);
  return left * 3 + right + at;
}
static NOINLINE void deep_jump(u64 depth, u64 value) {
  volatile u64 local[4] = {value, depth, 1, 2};
  if (depth == 0) longjmp(back, (int)(local[0] & 7) + 1);
  deep_jump(depth - 1, local[0] + local[1]);
  A64[depth & 15] += (i64)local[2];
}
static ucontext_t outside_context, inside_context; static u64 passed;
static void coroutine(void) {
  for (u64 k = 0;; k++) {
    u64 a = passed, b = k;
    for (u64 l = 0; l < 3; l++) { const u64 c = a; a = b; b = c + l; }
    passed = a * 5 + b;
    swapcontext(&inside_context, &outside_context);
  }
}
static u64 (*const functions[4])(u64, u64) = {mixed, twice, lesser, mixed};
static int by_value(const void *a, const void *b) {
  const i32 x = *(const i32 *)a, y = *(const i32 *)b;
  return x < y ? -1 : x > y;
}
static void on_signal(int number) {
  handled = handled + 1;
  for (int k = 0; k < 4; k++) handler_data[(handled + (u64)k) & 15] += (u64)number + U8[k];
}
static void start_values(void) {
  u64 x = SEEDu;
  for (int k = 0; k < 256; k++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    A8[k] = (i8)(x >> 33); U8[k] = (u8)(x >> 34); A16[k] = (i16)(x >> 35); U16[k] = (u16)(x >> 36);
    A32[k] = (i32)(x >> 37); U32[k] = (u32)(x >> 38); A64[k] = (i64)(x >> 39);
    F32[k] = (float)(x >> 50); F64[k] = (double)(x >> 45); mix.b[k] = (u8)(x >> 40);
  }
}
"""

INTEGERS = {"A8": "i8", "U8": "u8", "A16": "i16", "U16": "u16", "A32": "i32", "U32": "u32", "A64": "i64"}
FLOATS = {"F32": "float", "F64": "double"}


class Nest:
    """One function. `self.variables` holds the counters in scope with the range that each is in, ends included."""

    def __init__(self, rng, number):
        self.rng, self.number, self.lines, self.indent = rng, number, [], 1
        self.variables, self.names = [], 0
        self.statements = [
            (8, self.integer_store), (4, self.integer_update), (4, self.accumulate), (4, self.float_store),
            (3, self.float_accumulate), (3, self.matrix), (2, self.guard), (2, self.select), (3, self.call),
            (1, self.call_pointer), (1, self.recurse), (3, self.partial), (2, self.copy_small), (2, self.record),
            (2, self.indirect), (2, self.libc), (2, self.repeat_string), (3, self.vector), (1, self.vector_float),
            (1, self.atomic), (2, self.extended), (1, self.wide_add), (1, self.bytes_of_register), (1, self.mmx),
            (1, self.switch), (1, self.heap_in_loop), (1, self.shifts), (1, self.local_array), (2, self.flags)]

    # ---- Text ----

    def line(self, text):
        self.lines.append("  " * self.indent + text)

    def block(self, head, body):
        self.line(head + " {")
        self.indent += 1
        body()
        self.indent -= 1
        self.line("}")

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def chance(self, probability):
        return self.rng.random() < probability

    # ---- Expressions ----

    def index(self, size, span=1):
        """An index below size - span + 1: affine if interval arithmetic says that it fits, else masked."""
        room = size - span
        terms, low, high = [], 0, 0
        for name, first, last in self.rng.sample(self.variables, min(len(self.variables), self.rng.randint(1, 2))):
            factor = self.rng.choice([1, 1, 1, 2, 3, -1, 8])
            terms.append(f"{factor} * (int){name}" if factor != 1 else f"(int){name}")
            ends = (factor * first, factor * last)
            low, high = low + min(ends), high + max(ends)
        if not terms:
            return str(self.rng.randint(0, room))
        text = " + ".join(terms)
        if high - low <= room and self.chance(0.9):
            return f"{text} + {-low + self.rng.randint(0, room - (high - low))}"
        mask = 1
        while mask * 2 <= room + 1:
            mask *= 2
        return f"(u32)({text}) & {mask - 1}"

    def integer(self, depth=2):
        """A u64."""
        kinds = [self.load, self.load, self.counter, self.constant, self.scalar]
        if depth > 0:
            kinds += [lambda: self.operation(depth)] * 4
        return self.rng.choice(kinds)()

    def load(self):
        array = self.rng.choice(list(INTEGERS))
        return f"(u64){array}[{self.index(256)}]"

    def counter(self):
        return f"(u64){self.rng.choice(self.variables)[0]}" if self.variables else self.constant()

    def constant(self):
        return f"{self.rng.choice([0, 1, 2, 3, 5, 17, 255, 4096, 65537])}ul"

    def scalar(self):
        return self.rng.choice(["s", "t"])

    def operation(self, depth):
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        kind = self.rng.randint(0, 9)
        if kind < 7:
            return f"({a} {self.rng.choice(['+', '-', '*', '^', '&', '|', '+'])} {b})"
        if kind == 7:
            return f"({a} / (({b}) % 7 + 1))"
        if kind == 8:
            return f"({a} >> {self.rng.randint(1, 9)})"
        return f"(u64)({a} {self.rng.choice(['<', '==', '>='])} {b})"

    def floating(self, depth=2):
        kind = self.rng.randint(0, 5 if depth > 0 else 2)
        if kind == 0:
            return f"(double)({self.integer(0)} & 1023)"
        if kind == 1:
            return self.rng.choice(["f", "0.5", "1.25"])
        if kind == 2:
            return f"(double){self.rng.choice(list(FLOATS))}[{self.index(256)}]"
        if kind == 3:
            return f"({self.floating(depth - 1)} * 0.25 + {self.floating(depth - 1)} * 0.5)"
        return f"({self.floating(depth - 1)} {self.rng.choice(['-', '+'])} {self.floating(depth - 1)}) * 0.5"

    def condition(self):
        kind = self.rng.randint(0, 4)
        if kind == 0 or not self.variables:
            return f"({self.load()} & {self.rng.choice([1, 3, 64])}) {self.rng.choice(['==', '!='])} 0"
        a, first, last = self.rng.choice(self.variables)
        if kind == 1:
            return f"(int){a} {self.rng.choice(['<', '>', '<=', '!='])} {self.rng.randint(first, last)}"
        if kind == 2:
            b = self.rng.choice(self.variables)[0]
            return f"(int){a} {self.rng.choice(['<', '>=', '=='])} (int){b} + {self.rng.randint(-2, 2)}"
        if kind == 3:
            b = self.rng.choice(self.variables)[0]
            return f"((u32){a} + (u32){b}) % {self.rng.randint(2, 4)} == {self.rng.randint(0, 1)}"
        return f"{self.floating(1)} < {self.floating(1)}"

    # ---- Statements ----

    def integer_store(self):
        array = self.rng.choice(list(INTEGERS))
        self.line(f"{array}[{self.index(256)}] = ({INTEGERS[array]})({self.integer()});")

    def integer_update(self):
        array, at = self.rng.choice(list(INTEGERS)), self.name("x")
        self.line(f"const u32 {at} = {self.index(256)};")
        self.line(f"{array}[{at}] = ({INTEGERS[array]})((u64){array}[{at}] "
                  f"{self.rng.choice(['+', '-', '*', '^'])} {self.integer(1)});")

    def accumulate(self):
        self.line(f"{self.scalar()} {self.rng.choice(['+=', '-=', '^=', '*=', '='])} {self.integer()};")

    def float_store(self):
        array = self.rng.choice(list(FLOATS))
        self.line(f"{array}[{self.index(256)}] = ({FLOATS[array]})({self.floating()});")

    def float_accumulate(self):
        self.line(f"f = f * 0.5 + {self.floating()};")

    def matrix(self):
        array, kind = self.rng.choice([("M32", "i32"), ("MF", "double")])
        a, b, c, d = (self.index(16) for _ in range(4))
        if kind == "i32":
            self.line(f"{array}[{a}][{b}] = (i32)((u64){array}[{c}][{d}] + {self.integer(1)});")
        else:
            self.line(f"{array}[{a}][{b}] = {array}[{c}][{d}] * 0.5 + {self.floating(1)};")

    def guard(self):
        self.block(f"if ({self.condition()})", lambda: self.some(1, 2))
        if self.chance(0.5):
            self.block("else", lambda: self.some(1, 2))

    def select(self):
        if self.chance(0.5):
            self.line(f"s = {self.condition()} ? {self.integer(1)} : t;")
        else:
            self.line(f"f = f < {self.floating(1)} ? f * 0.5 : {self.floating(1)};")

    def call(self):
        kind = self.rng.randint(0, 4)
        if kind == 0:
            self.line(f"s += {self.rng.choice(['mixed', 'twice', 'lesser'])}({self.integer(1)}, {self.integer(1)});")
        elif kind == 1:
            self.line(f"put32(&A32[{self.index(256)}], {self.integer(1)});")
        elif kind == 2:
            self.line(f"put64(&{self.rng.choice(['s', 't', 'mix.d[' + self.index(32) + ']'])}, {self.integer(1)});")
        elif kind == 3:
            self.line(f"f = blend(f, {self.floating(1)});")
        else:
            self.line(f"t ^= (u64)to_int({self.floating(1)});")

    def call_pointer(self):
        self.line(f"t += functions[{self.integer(1)} & 3]({self.integer(1)}, s);")

    def recurse(self):
        what = self.rng.choice(["sum_to({} & 3)", "fibonacci({} & 3)", "even({} & 3)", "odd({} & 3)",
                                "walk_rows({} & 1, t)"])
        self.line("s += " + what.format(self.integer(1)) + ";")

    def partial(self):
        """Bytes that are written in one size and read in another."""
        sizes = {"b": 1, "h": 2, "w": 4, "d": 8}
        to, source = self.rng.sample(sorted(sizes), 2)
        types = {"b": "u8", "h": "u16", "w": "u32", "d": "u64"}
        self.line(f"mix.{to}[{self.index(256 // sizes[to])}] = ({types[to]})({self.integer(1)} + "
                  f"mix.{source}[{self.index(256 // sizes[source])}]);")
        if self.chance(0.3):
            self.line(f"s += mix.{self.rng.choice('bhwd')}[{self.index(32)}];")

    def copy_small(self):
        size = self.rng.choice([2, 3, 4, 8, 12, 16])
        kind = self.rng.choice(["A8", "mix.b", "U8"])
        if self.chance(0.5):
            value = self.name("m")
            self.line(f"u64 {value} = {self.integer(1)};")
            self.line(f"memcpy(&{kind}[{self.index(256, 8)}], &{value}, {min(size, 8)});")
            self.line(f"memcpy(&{value}, &{kind}[{self.index(256, 8)}], {min(size, 8)}); s ^= {value};")
        else:
            self.line(f"memmove(&{kind}[{self.index(256, 16)}], &{kind}[{self.index(256, 16)}], {size});")

    def record(self):
        a, b = f"records[{self.index(32)}]", f"records[{self.index(32)}]"
        kind = self.rng.randint(0, 3)
        if kind == 0:
            self.line(f"{a}.i = (i32)((u64){b}.s + {self.integer(1)}); {a}.c = (i8)s;")
        elif kind == 1:
            self.line(f"{a}.s = (i16)((u64){b}.c + {self.integer(1)}); {b}.tail[1] = (u8)t;")
        elif kind == 2:
            self.line(f"{a} = {b};")
        else:
            self.line(f"{a}.d = {b}.d * 0.5 + {self.floating(1)};")

    def indirect(self):
        array = self.rng.choice(list(INTEGERS))
        self.line(f"{array}[U8[{self.index(256)}]] = ({INTEGERS[array]})((u64){array}[(u32){self.load()} & 255] + s);")

    def libc(self):
        kind = self.rng.randint(0, 5)
        size = f"({self.integer(0)} & 15)"
        if kind == 0:
            self.line(f"memset(&U8[{self.index(256, 16)}], (int)(s & 127), hidden_zero + {size});")
        elif kind == 1:
            self.line(f"memcpy(&A8[{self.index(256, 16)}], &mix.b[{self.index(256, 16)}], hidden_zero + {size});")
        elif kind == 2:
            text = self.name("text")
            self.line(f"char {text}[24]; memset({text}, 'x', sizeof {text}); {text}[{size}] = 0;")
            self.line(f"s += strlen({text});")
        elif kind == 3:
            self.line(f"s += (u64)(memcmp(&A8[{self.index(256, 16)}], &U8[{self.index(256, 16)}], {size}) > 0);")
        elif kind == 4 and self.chance(0.3):
            text = self.name("text")
            self.line(f"char {text}[32]; snprintf({text}, sizeof {text}, \"%d\", (int)(s & 1023)); t += (u8){text}[0];")
        else:
            self.line(f"memmove(&A32[{self.index(256, 16)}], &A32[{self.index(256, 16)}], 4 * {size});")

    def repeat_string(self):
        d, n = self.name("to"), self.name("n")
        width = self.rng.choice([("b", 1), ("w", 2), ("l", 4), ("q", 8)])
        count = self.rng.randint(1, 4)
        self.line(f"{{ u8 *{d} = &mix.b[{self.index(256, 32)}]; u64 {n} = {count};")
        if self.chance(0.6):
            source = self.name("from")
            self.line(f"  const u8 *{source} = &U8[{self.index(256, 32)}];")
            self.line(f"  __asm__ volatile(\"rep movs{width[0]}\" : \"+D\"({d}), \"+S\"({source}), \"+c\"({n}) : : "
                      "\"memory\"); }")
        else:
            self.line(f"  __asm__ volatile(\"rep stos{width[0]}\" : \"+D\"({d}), \"+c\"({n}) : \"a\"(s) : "
                      "\"memory\"); }")

    def vector(self):
        """Vectors over what scalars wrote, and the reverse, not aligned."""
        array = self.rng.choice(["A32", "U32"])
        a, b, c = (self.index(256, 4) for _ in range(3))
        v = self.name("v")
        load = f"_mm_loadu_si128((const __m128i *)&{array}[{a}])"
        kind = self.rng.randint(0, 4)
        if kind == 0:
            self.line(f"const __m128i {v} = _mm_add_epi32({load}, _mm_set1_epi32((int)(u32)s));")
        elif kind == 1:
            self.line(f"const __m128i {v} = _mm_shuffle_epi32({load}, {self.rng.randint(0, 255)});")
        elif kind == 2:
            self.line(f"const __m128i {v} = _mm_unpacklo_epi32({load}, "
                      f"_mm_loadl_epi64((const __m128i *)&{array}[{b}]));")
        elif kind == 3:
            self.line(f"const __m128i {v} = _mm_xor_si128({load}, _mm_loadu_si128((const __m128i *)&mix.b["
                      f"{self.index(256, 16)}]));")
        else:
            self.line(f"const __m128i {v} = _mm_cvtsi64_si128((long long)t);")
        if self.chance(0.5):
            self.line(f"_mm_storeu_si128((__m128i *)&{array}[{c}], {v});")
        else:
            self.line(f"_mm_storel_epi64((__m128i *)&mix.b[{self.index(256, 8)}], {v}); "
                      f"s += (u32)_mm_cvtsi128_si32({v});")

    def vector_float(self):
        v = self.name("v")
        if self.chance(0.5):
            self.line(f"__m128 {v} = _mm_loadu_ps(&F32[{self.index(256, 4)}]);")
            self.line(f"{v} = _mm_mul_ps(_mm_add_ss({v}, _mm_set_ss((float)f)), _mm_set1_ps(0.5f));")
            self.line(f"_mm_storeu_ps(&F32[{self.index(256, 4)}], {v});")
        else:
            self.line(f"__m128d {v} = _mm_loadh_pd(_mm_load_sd(&F64[{self.index(256)}]), &F64[{self.index(256)}]);")
            self.line(f"{v} = _mm_add_pd(_mm_mul_pd({v}, _mm_set1_pd(0.25)), _mm_set1_pd(f));")
            self.line(f"_mm_storel_pd(&F64[{self.index(256)}], {v}); _mm_storeh_pd(&F64[{self.index(256)}], {v});")

    def atomic(self):
        kind = self.rng.randint(0, 2)
        cell = f"A32[{self.index(256)}]"
        if kind == 0:
            self.line(f"s += (u64)__atomic_fetch_add(&{cell}, (i32)(t & 255), __ATOMIC_SEQ_CST);")
        elif kind == 1:
            old = self.name("old")
            self.line(f"i32 {old} = (i32)(s & 1); t += __atomic_compare_exchange_n(&{cell}, &{old}, (i32)(t & 7), 0, "
                      "__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);")
        else:
            self.line(f"t ^= __atomic_exchange_n(&mix.d[{self.index(32)}], s, __ATOMIC_SEQ_CST);")

    def extended(self):
        kind = self.rng.randint(0, 3)
        if kind == 0:
            self.line(f"ld = halved(ld, halved((long double)F64[{self.index(256)}], F80[{self.index(32)}]));")
        elif kind == 1:
            self.x87_stack()
        elif kind == 2:
            self.line(f"F80[{self.index(32)}] = F80[{self.index(32)}] * 0.5L + (long double){self.floating(1)};")
        else:
            self.line(f"ld = ld * 0.25L + (long double)F64[{self.index(256)}] - (long double)A16[{self.index(256)}];")

    def x87_stack(self):
        """Loops that push and pop, so that the top of the x87 stack differs from iteration to iteration."""
        n, r = self.name("n"), self.name("r")
        self.line(f"double {r} = {self.floating(0)}; u32 {n} = {self.rng.randint(1, 5)} - ((u32)s & 0);")
        self.line(f"__asm__ volatile(\"fldl %0\\n\\tmovl %1, %%ecx\\n1:\\tfld %%st(0)\\n\\tfadd %%st(1), %%st\\n\\tdecl "
                  f"%%ecx\\n\\tjnz 1b\\n2:\\tfxch\\n\\tfsubrp\\n\\tdecl %1\\n\\tjnz 2b\\n\\tfstpl %0\" : \"+m\"({r}), "
                  f"\"+r\"({n}) : : \"ecx\", \"cc\", \"st\", \"st(1)\", \"st(2)\", \"st(3)\", \"st(4)\", \"st(5)\", \"st(6)\", "
                  f"\"st(7)\"); f = f * 0.5 + {r} * 0.25;")

    def wide_add(self):
        v = self.name("wide")
        self.line(f"unsigned __int128 {v} = ((unsigned __int128)t << 64 | s) + ({self.integer(1)});")
        self.line(f"{v} -= (unsigned __int128)({self.integer(0)}) << 60; s = (u64){v}; t = (u64)({v} >> 64);")

    def bytes_of_register(self):
        v = self.name("r")
        self.line(f"u32 {v} = (u32)({self.integer(1)});")
        self.line(f"__asm__ volatile(\"movb %%al, %%ah\\n\\taddb $3, %%al\\n\\txorb %%ah, %%al\" : \"+a\"({v}) : : "
                  f"\"cc\"); s += {v};")

    def mmx(self):
        v = self.name("r")
        self.line(f"u64 {v} = {self.integer(1)};")
        self.line(f"__asm__ volatile(\"movq %0, %%mm3\\n\\tpaddd %%mm3, %%mm3\\n\\tmovq %%mm3, %0\\n\\temms\" : "
                  f"\"+r\"({v}) : : \"mm3\", \"st\", \"st(1)\", \"st(2)\", \"st(3)\", \"st(4)\", \"st(5)\", \"st(6)\", "
                  f"\"st(7)\"); t += {v};")

    def switch(self):
        def cases():
            for value in range(5):
                self.line(f"case {value}:")
                self.indent += 1
                self.simple()
                self.line("break;")
                self.indent -= 1
            self.line("default: s += 1;")
        what = f"(u32)({self.integer(1)}) % 6" if self.chance(0.5) or not self.variables else \
            f"(u32){self.rng.choice(self.variables)[0]} % 6"
        self.block(f"switch ({what})", lambda: self.scoped(cases))

    def scoped(self, body):
        body()

    def heap_in_loop(self):
        p = self.name("p")
        kind = self.rng.randint(0, 2)
        if kind == 0:
            self.line(f"u64 *{p} = malloc(64); {p}[s & 7] = t; {p}[(s + 1) & 7] = 1; s += {p}[s & 7]; free({p});")
        elif kind == 1:
            self.line(f"u32 *{p} = calloc(8, 4); {p}[t & 7] += (u32)s; t += {p}[(t + 1) & 7]; free({p});")
        else:
            self.line(f"u16 *{p} = malloc(8); {p}[3] = (u16)s; {p} = realloc({p}, 40); {p}[7] = {p}[3]; s += {p}[7]; "
                      f"free({p});")

    def shifts(self):
        self.line(f"s = s << (t & 31) | s >> (64 - (t & 31) - 1); t = (t >> (s & 15)) + "
                  f"(u64)__builtin_popcountl(t) + (u64)__builtin_ctzl(s | 1);")

    def flags(self):
        a, b = self.name("r"), self.name("r")
        kind = self.rng.randint(0, 2)
        self.line(f"u64 {a} = {self.integer(1)}, {b} = {self.integer(0)};")
        if kind == 0:
            self.line(f"__asm__ volatile(\"addq %1, %0\\n\\tadcq $0, %1\\n\\tinc %0\\n\\tsbbq %0, %1\" : \"+r\"({a}), "
                      f"\"+r\"({b}) : : \"cc\"); s ^= {a} + {b};")
        elif kind == 1:
            self.line(f"__asm__ volatile(\"cmpq %1, %0\\n\\tseta %b0\\n\\tcmovbe %1, %0\\n\\tsetp %b1\" : \"+q\"({a}), "
                      f"\"+q\"({b}) : : \"cc\"); t += {a} ^ {b};")
        else:
            self.line(f"__asm__ volatile(\"shlq %%cl, %0\\n\\trclq $1, %1\\n\\tsetl %b1\" : \"+q\"({a}), \"+q\"({b}) : "
                      f"\"c\"((s & 7) + 1) : \"cc\"); t += {a} ^ {b};")

    def local_array(self):
        array, k = self.name("local"), self.name("k")
        self.line(f"i32 {array}[8]; for (int {k} = 0; {k} < 8; {k}++) {array}[{k}] = (i32)(s >> {k});")
        self.line(f"t += (u64){array}[t & 7] + (u64){array}[{self.index(8)}];")

    def simple(self):
        self.rng.choice([self.integer_store, self.accumulate, self.float_store, self.accumulate])()

    def some(self, least, most):
        weights = [weight for weight, _ in self.statements]
        for _ in range(self.rng.randint(least, most)):
            statement = self.rng.choices([s for _, s in self.statements], weights)[0]
            if len(self.lines) > 60:
                statement = self.simple
            self.line("{")
            self.indent += 1
            statement()
            self.indent -= 1
            self.line("}")

    # ---- Loops ----

    def loop(self, depth, budget):
        """A loop with at most `budget` iterations of what is in it."""
        trip = self.rng.randint(2, max(2, min(12, int(budget ** (1 / depth)) + 1)))
        v = self.name("c")
        kind = self.rng.choice(self.rng.choice(["int", "int", "long", "u32"]).split())
        outer = self.rng.choice(self.variables) if self.variables else None
        shape = self.rng.randint(0, 7)
        if shape == 1 and outer and outer[2] <= 14 and outer[1] >= 0:
            head, first, last = f"for ({kind} {v} = 0; {v} <= ({kind}){outer[0]}; {v}++)", 0, outer[2]
        elif shape == 2 and outer and outer[2] <= 14 and outer[1] >= 0:
            end = outer[2] + self.rng.randint(0, 2)
            head = f"for ({kind} {v} = ({kind}){outer[0]}; {v} <= {end}; {v} += {self.rng.randint(1, 2)})"
            first, last = outer[1], end
        elif shape == 3:
            step = self.rng.randint(2, 3)
            head, first, last = f"for ({kind} {v} = 1; {v} <= {trip * step}; {v} += {step})", 1, trip * step
        elif shape == 4:
            head, first, last = f"for (int {v} = {trip}; {v} >= 0; {v}--)", 0, trip
        elif shape == 5:
            bound = self.rng.choice(["U8", "U16", "U32"])
            head = f"for ({kind} {v} = 0; {v} < ({kind})({bound}[{self.index(256)}] & 7); {v}++)"
            first, last = 0, 7
        else:
            start = self.rng.choice([0, 0, 0, 1, 2])
            head, first, last = f"for ({kind} {v} = {start}; {v} < {start + trip}; {v}++)", start, start + trip - 1

        def body():
            self.variables.append((v, first, last))
            left = budget / max(2, trip)
            if depth > 1:
                if self.chance(0.4):
                    self.some(1, 2)
                self.loop(depth - 1, left)
                if self.chance(0.3):
                    self.some(1, 1)
                if self.chance(0.15):
                    self.loop(1, left)
            else:
                self.some(1, 4)
            if self.chance(0.1):
                self.line(f"if ({self.condition()}) {self.rng.choice(['continue', 'break'])};")
            self.variables.pop()
        self.block(head, body)

    def nest(self):
        depth = self.rng.choice([1, 1, 2, 2, 2, 3, 3, 4])
        self.loop(depth, self.rng.choice([30, 60, 150]))

    # ---- Whole functions of a special kind ----

    def swapped_buffers(self):
        kind = self.rng.choice(["i32", "double", "u16"])
        self.line(f"{kind} one[24], two[24], *p = one, *q = two;")
        self.line(f"for (int k = 0; k < 24; k++) one[k] = ({kind})U8[k], two[k] = 0;")
        self.line(f"for (int time = 0; time < {self.rng.randint(2, 5)}; time++) {{")
        self.line(f"  for (int k = 1; k < 23; k++) q[k] = ({kind})((p[k - 1] + p[k + 1]) / 2 + p[k] / 4);")
        self.line(f"  {kind} *const old = p; p = q; q = old;")
        self.line("}")
        self.line("s += (u64)(i64)p[5] + (u64)(i64)q[7];")

    def rows(self):
        kind, count = self.rng.choice(["i32", "float", "i64", "i16"]), self.rng.randint(2, 6)
        self.line(f"{kind} *row[{count}];")
        self.line(f"for (int k = 0; k < {count}; k++) row[k] = malloc({self.rng.randint(8, 12)} * sizeof({kind}) + k * "
                  f"{self.rng.choice([0, 0, 16])});")
        self.line(f"for (int k = 0; k < {count}; k++) for (int l = 0; l < 8; l++) row[k][l] = ({kind})(k * 8 + l);")
        self.line(f"for (int k = 1; k < {count}; k++) for (int l = 0; l < 7; l++) row[k][l] = "
                  f"({kind})(row[k - 1][l + 1] / 2 + row[k][l] / 4);")
        self.line(f"s += (u64)(i64)row[{count - 1}][3];")
        self.line(f"for (int k = 0; k < {count}; k++) free(row[k]);")

    def growing(self):
        self.line("i32 *all = NULL; int used = 0, room = 0;")
        self.line(f"for (int k = 0; k < {self.rng.randint(10, 40)}; k++) {{")
        self.line("  if (used == room) { room = room * 2 + 2; all = realloc(all, (size_t)room * sizeof *all); }")
        self.line("  all[used] = (i32)(U8[k] + (used > 0 ? all[used - 1] / 2 : 0)); used++;")
        self.line("}")
        self.line("for (int k = 0; k < used; k++) s = s * 3 + (u64)all[k];")
        self.line("free(all);")

    def list_walk(self):
        self.line("struct node *head = NULL;")
        self.line(f"for (int k = 0; k < {self.rng.randint(3, 12)}; k++) {{ struct node *n = malloc(sizeof *n); n->next = "
                  "head; n->value = A32[k] / 2; head = n; }")
        self.line(f"for (int k = 0; k < {self.rng.randint(1, 3)}; k++) for (struct node *n = head; n; n = n->next) "
                  "{ s += (u64)n->value; n->value = (i32)(s & 1023); }")
        self.line("while (head) { struct node *n = head; head = n->next; free(n); }")

    def jumps(self):
        self.line("volatile int round = 0; volatile u64 kept = s;")
        self.line("if (setjmp(back) != 0) kept = kept + 1;")
        self.line(f"while (round < {self.rng.randint(2, 4)}) {{")
        self.line("  round = round + 1;")
        self.line("  for (int k = 0; k < 6; k++) { A32[k] = (i32)(kept + (u64)k); if (k == round) longjmp(back, 1); "
                  "kept = kept + U8[k]; }")
        self.line("}")
        self.line("s += kept;")

    def signals(self):
        self.line("signal(SIGUSR1, on_signal);")
        self.line(f"for (int k = 0; k < {self.rng.randint(2, 4)}; k++) {{ A64[k] = (i64)(s & 255); raise(SIGUSR1); "
                  "s += handler_data[k] + (u64)A64[k]; }")

    def threads(self):
        self.line(f"pthread_t id[{self.rng.randint(2, 3)}];")
        self.line("u64 *parts = calloc(4, sizeof *parts);")
        self.line("for (u64 k = 0; k < sizeof id / sizeof *id; k++) { parts[k] = s + k; "
                  "pthread_create(&id[k], NULL, work, &parts[k]); }")
        self.line("for (u64 k = 0; k < sizeof id / sizeof *id; k++) { pthread_join(id[k], NULL); s += parts[k]; }")
        self.line("free(parts);")

    def sorting(self):
        self.line(f"qsort(A32, {self.rng.randint(8, 20)}, sizeof *A32, by_value);")
        self.line("for (int k = 0; k < 20; k++) s = s * 5 + (u64)A32[k];")

    def mapped(self):
        self.line("u32 *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);")
        self.line("if (page == MAP_FAILED) return;")
        self.line("for (int k = 0; k < 40; k++) page[k * 37] = (u32)k + U8[k];")
        self.line("u32 *more = mremap(page, 8192, 16384, MREMAP_MAYMOVE);")
        self.line("if (more == MAP_FAILED) return;")
        self.line("for (int k = 0; k < 40; k++) { s += more[k * 37] + more[k * 50 + 1]; more[k * 90] = (u32)s; }")
        self.line("u32 *place = mmap(NULL, 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);")
        self.line("if (place == MAP_FAILED) return;")
        self.line("u32 *moved = mremap(more, 16384, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, place);")
        self.line("if (moved == MAP_FAILED) return;")
        self.line("for (int k = 0; k < 20; k++) { s += moved[k * 37] + moved[k * 90]; moved[k] = (u32)s; }")
        self.line("munmap(moved, 8192);")

    def gathered(self):
        count = self.rng.randint(60, 140)
        self.line(f"struct iovec part[{count}]; const int file = open(\"/dev/null\", O_WRONLY);")
        self.line(f"for (int k = 0; k < {count}; k++) part[k] = (struct iovec){{&mix.b[k], 1 + (size_t)k % 9}};")
        self.line("mix.h[3] = (u16)s; mix.d[4] = t; U8[9] = 1;")
        self.line(f"s += (u64)writev(file, part, {count}); close(file);")

    def pipes(self):
        self.line("int end[2]; if (pipe(end) != 0) return;")
        self.line(f"for (int k = 0; k < {self.rng.randint(2, 5)}; k++) {{")
        self.line("  i32 in[16]; A32[k] = (i32)(s & 4095); U16[2 * k] = (u16)t;")
        self.line("  if (write(end[1], A32, 32) != 32 || write(end[1], U16, 32) != 32) return;")
        self.line("  if (read(end[0], in, 64) != 64) return;")
        self.line("  for (int l = 0; l < 16; l++) s = s * 3 + (u64)in[l];")
        self.line("}")
        self.line("close(end[0]); close(end[1]);")

    def output(self):
        self.line(f"for (int k = 0; k < 2; k++) printf(\"%d %.3f %s\\n\", k + {self.number}, F64[k] / 1e9, "
                  "k ? \"odd\" : \"even\");")
        self.line("fflush(stdout);")
        self.line("for (int k = 0; k < 3; k++) if (write(1, \"xyz\\n\" + k, 1) != 1) return;")

    def words(self):
        self.line("char text[40]; for (int k = 0; k < 39; k++) text[k] = (char)('a' + (U8[k] & 15)); text[39] = 0;")
        self.line("for (char *p = text; *p; p++) if (*p == 'c') *p = ' ';")
        self.line("for (char *p = strchr(text, ' '); p; p = strchr(p + 1, ' ')) s += (u64)(p - text);")
        self.line("s += strlen(text); char other[40]; strcpy(other, text); s += (u64)(strcmp(text, other) == 0);")

    # ---- Whole functions that make compilers copy ----

    def many_live(self):
        """More accumulators than registers, and calls between their uses."""
        count = self.rng.randint(9, 20)
        kind = self.rng.choice(["u64", "u64", "u32", "double"])
        one = "(double)U8[k]" if kind == "double" else f"({kind})U16[k]"
        self.line(" ".join(f"{kind} r{n} = ({kind}){n};" for n in range(count)))
        self.line(f"for (int k = 0; k < {self.rng.randint(3, 9)}; k++) {{")
        for n in range(count):
            other = self.rng.randrange(count)
            change = f"r{n} * 0.5 + r{other}" if kind == "double" else f"r{n} * 3 + r{other}"
            self.line(f"  r{n} = {change} + {one};")
            if self.chance(0.15):
                self.line(f"  t = mixed(t, (u64)k + {n});")
        self.line("}")
        if kind == "double":
            self.line(f"f += {' + '.join(f'r{n} * 1e-6' for n in range(count))};")
        else:
            self.line(f"s += {' ^ '.join(f'(u64)r{n}' for n in range(count))};")

    def over_calls(self):
        self.line("u64 a = s, b = t + 1, c = 5; double x = f;")
        self.line(f"for (u64 k = 0; k < {self.rng.randint(3, 8)}; k++) {{")
        for _ in range(self.rng.randint(2, 4)):
            self.line("  " + self.rng.choice([
                "a += keeper(b, k, c, 3);", "b ^= mixed(c, k);", "x = blend(x, 0.5);", "c = twice(k, c) - b;",
                "A64[k] = (i64)(a + keeper(k, a, b, c));", "x += (double)(lesser(k, c) & 15);", "a += 1;"]))
        self.line("}")
        self.line("s += a + b * c; f += x * 1e-6;")

    def rotation(self):
        kind = self.rng.choice(["u64", "double", "u32"])
        names = ["a", "b", "c", "d"][:self.rng.randint(2, 4)]
        self.line(" ".join(f"{kind} {n} = ({kind})U8[{i}];" for i, n in enumerate(names)))
        source = self.rng.choice(["", f" + ({kind})U8[k]"])
        self.line(f"for (int k = 0; k < {self.rng.randint(2, 10)}; k++) {{ const {kind} first = {names[0]};")
        for to, source_name in zip(names, names[1:]):
            self.line(f"  {to} = {source_name};")
        last = {0: "first", 1: f"first{source}", 2: f"first + {names[0]}"}[self.rng.randint(0, 2)]
        self.line(f"  {names[-1]} = {last};")
        if self.chance(0.6):
            self.line(f"  F64[k] += (double){names[0]} * 0.5;")
        self.line("}")
        self.line(f"f += {' + '.join(f'(double){n} * 1e-6' for n in names)};")

    def kept_for_later(self):
        """Loaded in some iterations, used in others."""
        kind, array = self.rng.choice([("u64", "A64"), ("double", "F64"), ("u32", "U32")])
        self.line(f"{kind} kept = 1, best = 0; int at = 0;")
        self.line(f"for (int k = 0; k < {self.rng.randint(6, 20)}; k++) {{")
        self.line(f"  if ({self.rng.choice(['U8[k] & 1', 'k % 3 == 0', 'k == 2', 'U8[k] > 128'])}) "
                  f"kept = ({kind}){array}[{self.rng.choice(['k', 'k + 1', 'U8[k]', '3'])}];")
        if self.chance(0.5):
            self.line(f"  if (({kind}){array}[k] > best) {{ best = ({kind}){array}[k]; at = k; }}")
        if self.chance(0.5):
            self.line(f"  {array}[k + 2] = ({array}[k] / 2);")
        self.line("  F64[40 + k] = (double)kept * 0.5 + (double)at;")
        self.line("}")
        self.line("f += F64[43] * 1e-9 + (double)best * 1e-9;")

    def stencil(self):
        """Neighbours that compilers keep for the next iteration, in place or not, in one or two dimensions."""
        kind, array = self.rng.choice([("double", "F64"), ("i32", "A32"), ("u16", "U16"), ("float", "F32")])
        to = self.rng.choice([array, array, "F64", "A32"])
        shift = self.rng.choice([-1, 0, 1, 2])
        expression = f"{array}[k - 1] / 4 + {array}[k] / 4 + {array}[k + 1] / 4"
        if self.chance(0.4):
            array2, n = self.rng.choice([("MF", 16), ("M32", 16)])
            self.line(f"for (int l = 1; l < {self.rng.randint(3, 6)}; l++) for (int k = 1; k < {n - 1}; k++)")
            self.line(f"  {array2}[l][k] = {array2}[l - 1][k] / 4 + {array2}[l][k - 1] / 4 + {array2}[l][k + 1] / 4 + "
                      f"{array2}[l + 1][k] / 4;")
        self.line(f"for (int time = 0; time < {self.rng.randint(1, 3)}; time++)")
        value = {"F64": f"(double)({expression})", "A32": f"(i32)to_int((double)({expression}))"}
        self.line(f"  for (int k = 2; k < {self.rng.randint(6, 20)}; k++) {to}[k + {shift}] = "
                  f"{value.get(to, f'({kind})({expression})')};")

    def by_value(self):
        """Structures that are passed, returned, swapped and kept in arrays."""
        self.line("struct triple x = {s, 2, 0.5}, rows[4] = {{1, 2, 3}, {4, 5, 6}}; struct pair p = {t, s};")
        self.line(f"for (u64 k = 0; k < {self.rng.randint(3, 8)}; k++) {{")
        for _ in range(self.rng.randint(2, 4)):
            self.line("  " + self.rng.choice([
                "x = turned(x, k);", "p = crossed(p);", "rows[k & 3] = x;", "x = rows[(k + 1) & 3];",
                "{ const struct triple y = rows[0]; rows[0] = rows[k & 3]; rows[k & 3] = y; }",
                "{ const struct pair q = p; p.a = q.b; p.b = q.a; }", "x.a += p.a;", "rows[k & 1].b++;"]))
        self.line("}")
        self.line("s += x.a + x.b + p.a + rows[1].b; f += (x.c + rows[2].c) * 1e-6;")

    def punned(self):
        """What is stored in one size, or as one type, and loaded in another, on the stack."""
        self.line("volatile union { u64 d; u32 w[2]; u16 h[4]; u8 b[8]; double g; float e[2]; } u; u.d = s;")
        self.line(f"for (u32 k = 0; k < {self.rng.randint(3, 9)}; k++) {{")
        for _ in range(self.rng.randint(2, 5)):
            self.line("  " + self.rng.choice([
                "u.d = t + k;", "t += u.w[0];", "u.w[1] = k;", "t ^= u.d;", "u.b[k & 7] = (u8)k;", "t += u.h[1];",
                "u.g = (double)k;", "t += u.d >> 40;", "u.d = 0;", "u.w[0] = 7;", "t += u.b[0];",
                "{ volatile u64 v = t; t = (u32)v; }", "{ volatile u32 v = k; volatile u32 v2 = v; t += v2; }"]))
        self.line("}")
        self.line("s += u.d + t;")

    def swapped_pointers(self):
        self.line("u64 one[12] = {1}, two[12] = {2}, three[12] = {3}, *p = one, *q = two, *r = three;")
        self.line(f"for (int time = 0; time < {self.rng.randint(2, 6)}; time++) {{")
        self.line(f"  for (int k = 1; k < {self.rng.randint(4, 11)}; k++) p[k] = q[k - 1] + r[k] * 3 + (u64)k;")
        if self.chance(0.4):
            self.line("  t = keeper(t, p[1], q[2], r[3]);")
        self.line("  u64 *const old = p; p = q; q = r; r = old;" if self.chance(0.5) else
                  "  u64 *const old = p; p = q; q = old;")
        self.line("}")
        self.line("s += p[3] + q[4] * 5 + r[5] * 7;")

    def deep_jumps(self):
        self.line("volatile u64 kept = s, times = 0;")
        self.line("const int way = setjmp(back); kept = kept * 3 + (u64)way; times = times + 1;")
        self.line(f"if (times < {self.rng.randint(2, 4)}) deep_jump(times & 3, kept);")
        self.line("s += kept + times;")

    def trees(self):
        self.line("u64 best = 0;")
        self.line(f"for (u64 k = 0; k < {self.rng.randint(2, 4)}; k++) s = s * 3 + tree_sum(k & 3, s & 63, &best);")
        self.line("t += best;")

    def vectors_over_calls(self):
        """All vector registers belong to callees: what lives over a call is spilled whole."""
        self.line("__m128i v = _mm_set1_epi32((int)(u32)s), w = _mm_setzero_si128(); __m128d x = _mm_set1_pd(0.5);")
        self.line(f"for (u32 k = 0; k < {self.rng.randint(3, 8)}; k++) {{")
        for _ in range(self.rng.randint(2, 4)):
            self.line("  " + self.rng.choice([
                "t = mixed(t, k);", "v = _mm_add_epi32(v, w);", "w = v;", "f = blend(f, 0.25);",
                "{ const __m128i old = v; v = w; w = old; }", "x = _mm_add_sd(x, _mm_set_sd(f * 1e-9));",
                "w = _mm_loadu_si128((const __m128i *)&U32[k]);", "_mm_storeu_si128((__m128i *)&A32[k + 8], v);",
                "x = _mm_unpackhi_pd(x, x);"]))
        self.line("}")
        self.line("s += (u32)_mm_cvtsi128_si32(v) + (u32)_mm_cvtsi128_si32(w); f += _mm_cvtsd_f64(x);")

    def coroutines(self):
        self.line("char *const stack = malloc(65536); if (!stack || getcontext(&inside_context) != 0) return;")
        self.line("inside_context.uc_stack.ss_sp = stack; inside_context.uc_stack.ss_size = 65536;")
        self.line("inside_context.uc_link = NULL; makecontext(&inside_context, coroutine, 0); u64 a = s, b = 1;")
        self.line(f"for (u64 k = 0; k < {self.rng.randint(2, 5)}; k++) {{ passed = a + k; "
                  "swapcontext(&outside_context, &inside_context); const u64 c = a; a = b + passed; b = c; }")
        self.line("s += a + b; free(stack);")

    SPECIAL = [many_live, many_live, over_calls, over_calls, rotation, rotation, kept_for_later, kept_for_later, stencil,
               stencil, by_value, by_value, punned, punned, swapped_pointers, deep_jumps, trees, vectors_over_calls,
               coroutines, swapped_buffers, swapped_buffers, rows, rows, growing, list_walk, jumps, signals, threads, sorting, mapped,
               output, words, gathered, pipes, mapped]

    def write(self, special):
        if special is not None:
            special(self)
        else:
            for _ in range(self.rng.choice([1, 1, 2])):
                self.nest()
        head = f"static NOINLINE void nest{self.number}(void) {{"
        first = ["  u64 s = total, t = 1; double f = 1.0; long double ld = 0.0L; (void)t; (void)f; (void)ld;"]
        last = ["  total = total * 31 + s + t + (u64)to_int(f) + (u64)to_int((double)ld);", "}", ""]
        return "\n".join([head] + first + self.lines + last)


WORK = """
static void *work(void *argument) {
  u64 *part = argument;
  for (u64 k = 0; k < 12; k++) {
    *part += U8[k] * k;
    if (k % 4 == 0) { pthread_mutex_lock(&lock); A64[k] += (i64)(*part & 15); pthread_mutex_unlock(&lock); }
    __atomic_fetch_add(&A32[k & 1], 1, __ATOMIC_SEQ_CST);
  }
  return NULL;
}
"""


def generate(seed, nests=20):
    rng = random.Random(seed)
    special = list(Nest.SPECIAL)
    rng.shuffle(special)
    parts = [f"// {nests} random loop nests, seed {seed}.", PRELUDE.replace("SEEDu", f"{rng.getrandbits(32)}u"), WORK]
    for number in range(nests):
        kind = special.pop() if special and number % 3 != 0 else None
        parts.append(Nest(rng, number).write(kind))
    parts.append("int main(void) {\n  start_values();")
    for number in range(nests):
        parts.append(f"  nest{number}();")
    parts.append('  printf("%lx\\n", total);\n  return 0;\n}')
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(generate(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20))
