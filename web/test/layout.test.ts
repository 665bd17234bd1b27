import assert from "node:assert/strict";
import { test } from "node:test";
import { actionOf } from "../src/action";
import { readable } from "../src/format";
import { layoutAdvice, marks, rewritten } from "../src/layout_model";
import type { Suggestion } from "../src/model";
import { regionExample } from "./examples";

const base: Suggestion = {
  region: 0,
  rule: "LF-PAR",
  title: "Run the iterations of a.c:7 in parallel",
  lines: "a.c:7",
  legal: "yes",
  requires: [],
  gain: 2,
  estimate: "",
  evidence: [],
  loops: [7],
};

const layout: Suggestion = {
  ...base,
  rule: "LF-LAY",
  title: "Store malloc in block_of[64][64] of 8 bytes by columns",
  estimate:
    "71.8 % of the operations; instructions, 8 for each cache line touched, and copying: 4.48e+06 as it is, 2.91e+06 " +
    "with the best order alone, 2.69e+06 with the best layout alone, 2.91e+06 with both (for data beyond the cache)",
  evidence: [
    "{ malloc_in_block_of[i0, i1] -> [i1, i0] } is one-to-one: every element has a place of its own",
    "bytes fetched for those used: 1.68e+07 for 2.1e+06 as it is, 2.1e+06 then",
  ],
};

test("a pragma only where nothing is left open", () => {
  const code = (change: Partial<Suggestion>) => actionOf({ ...base, ...change }).code;
  assert.equal(code({}), "#pragma omp parallel for");
  assert.equal(code({ lines: "a.f90:7" }), "!$omp parallel do");
  assert.equal(code({ legal: "unknown" }), "");
  assert.equal(code({ lines: "libblas.so.3+0x30f50" }), "");
  assert.equal(
    code({ requires: [{ kind: "private", text: "a private copy of t", clause: "private(t)" }] }),
    "#pragma omp parallel for private(t)",
  );
  const clause = (text: string) => code({ requires: [{ kind: "private", text: "a private copy of a value", clause: text }] });
  assert.equal(clause("lastprivate"), "", "a clause without a name is none");
  assert.equal(clause("linear(k:...)"), "", "nor is one without a step");
  assert.equal(code({ requires: [{ kind: "reload", text: "x loaded again", clause: "" }] }), "");
  assert.equal(code({ rule: "LF-RED" }), "", "a reduction without its clause would be wrong");
  assert.equal(code({ rule: "LF-SIMD", title: "Vectorise a.c:7, once it is innermost" }), "");
  assert.equal(actionOf({ ...base, rule: "LF-ICH" }).above, false);
});

test("a layout's sentences are read", () => {
  const advice = layoutAdvice(regionExample(), layout);
  assert.deepEqual([advice.fetched, advice.used, advice.fetchedAfter], [16.8e6, 2.1e6, 2.1e6]);
  assert.deepEqual(advice.costs, { written: 4.48e6, order: 2.91e6, layout: 2.69e6, both: 2.91e6 });
  assert.deepEqual([...advice.objects], [7]);
  assert.deepEqual(rewritten(advice.maps[0]!), ["malloc_in_block_of[i0][i1]", "malloc_in_block_of[i1][i0]"]);
  assert.equal(actionOf(layout).code, "malloc_in_block_of[i0][i1] → malloc_in_block_of[i1][i0]");
  const apart = { array: "p", from: ["i0", "field"], to: ["field", "i0"] };
  assert.deepEqual(rewritten(apart), ["p[i0].field", "p_field[i0]"]);
  const padded = { ...layout, evidence: ["{ A[i0, i1] -> [i0, i1] } is one-to-one"] };
  assert.equal(actionOf(padded).code, "", "padding does not change how elements are written");
  const other = layoutAdvice(regionExample(), { ...layout, evidence: ["something else"], estimate: "none" });
  assert.deepEqual([other.maps, other.fetched, other.costs], [[], 0, null]);
});

test("where accesses fall in lines", () => {
  assert.deepEqual(marks(64, 8, 2), [
    { line: 0, from: 0, to: 8 },
    { line: 1, from: 0, to: 8 },
  ]);
  assert.deepEqual(marks(63.7, 8, 9)[8], { line: 8, from: 0, to: 8 }, "numbers with three digits");
  assert.equal(new Set(marks(8, 8, 16).map((one) => one.line)).size, 2, "sixteen of eight bytes are two lines");
  assert.equal(new Set(marks(32, 4, 16).map((one) => one.line)).size, 8);
});

test("numbers in sentences", () => {
  assert.equal(readable("4.48e+06 as it is, 12 then"), "4.48 M as it is, 12 then");
  assert.equal(readable("tiles of 32 save 4.02e+04"), "tiles of 32 save 40.2 k");
  assert.equal(readable("e+06 of f1e+3x"), "e+06 of f1e+3x");
});
