import assert from "node:assert/strict";
import { test } from "node:test";
import { holds, parseIsl, Unsupported, type Piece } from "../src/isl";
import { boxOf, hasChoice, pointsIn, producersOf, timeOf, type Interval, type Point } from "../src/points";

const wide: Interval[] = [
  [-100, 100],
  [-100, 100],
  [-100, 100],
];

test("a rectangle has its points", () => {
  const set = parseIsl("{ S24[i0, i1] : 0 <= i0 <= 2 and 0 <= i1 <= 1 }");
  assert.deepEqual(pointsIn(set, wide), [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
    [2, 0],
    [2, 1],
  ]);
  assert.deepEqual(boxOf(set), [
    [0, 2],
    [0, 1],
  ]);
});

test("bounds may depend on outer counters", () => {
  const set = parseIsl("{ S3[i0, i1] : 0 <= i0 <= 3 and i0 <= i1 <= -i0 + 3 }");
  assert.deepEqual(pointsIn(set, wide), [
    [0, 0],
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 1],
    [1, 2],
  ]);
});

test("numbers in the vector, strides, several pieces", () => {
  const set = parseIsl(
    "{ S1[0, i1] : 0 <= i1 <= 6 and i1 mod 3 = 1; S1[2, 5]; S1[i0, i1] : 7 <= i0 <= 8 and 0 <= i1 <= 2 and (i1 - i0) mod 2 = 0 }",
  );
  assert.deepEqual(pointsIn(set, wide), [
    [0, 1],
    [0, 4],
    [2, 5],
    [7, 1],
    [8, 0],
    [8, 2],
  ]);
});

test("a statement in no loop, and nothing at all", () => {
  assert.deepEqual(pointsIn(parseIsl("{ S7[] }"), []), [[]]);
  assert.deepEqual(parseIsl("{ }"), []);
});

test("or, floor, products with parentheses", () => {
  const set = parseIsl("{ S1[i0] : (0 <= i0 <= 1 or 5 <= i0 <= 6); S1[i0] : 10 <= i0 <= 14 and 2*floor((i0)/2) = i0 }");
  assert.deepEqual(pointsIn(set, wide), [[0], [1], [5], [6], [10], [12], [14]]);
});

test("only what the window holds is looked at", () => {
  const set = parseIsl("{ S1[i0, i1] : 0 <= i0 <= 1000000000 and 0 <= i1 <= 1000000000 }");
  assert.equal(
    pointsIn(set, [
      [5, 6],
      [0, 2],
    ]).length,
    6,
  );
});

test("producers of a consumer", () => {
  const map = parseIsl(
    "{ S24[o0, o1] -> S24[i0, i1] : 1 <= i0 <= 11 and 0 <= i1 <= 56 and o0 = i0 - 1 and o1 = i1 + 1 }",
  );
  assert.deepEqual(producersOf(map, [3, 4]), [[2, 5]]);
  assert.deepEqual(producersOf(map, [0, 4]), []);
  assert.equal(hasChoice(map), false);
});

test("shared names, numbers, divisors and moduli", () => {
  assert.deepEqual(producersOf(parseIsl("{ S1[i0] -> S2[i0, 0] : 0 <= i0 <= 3 }"), [2, 0]), [[2]]);
  assert.deepEqual(producersOf(parseIsl("{ S1[i0] -> S2[i0, 0] : 0 <= i0 <= 3 }"), [2, 1]), []);
  const halves = parseIsl("{ S1[o0] -> S2[i0] : 0 <= i0 <= 9 and 2o0 = i0 }");
  assert.deepEqual(producersOf(halves, [6]), [[3]]);
  assert.deepEqual(producersOf(halves, [7]), []);
  assert.deepEqual(producersOf(parseIsl("{ S1[o0] -> S2[i0] : 0 <= i0 <= 9 and o0 = 1 + (i0 - 1) mod 4 }"), [7]), [
    [3],
  ]);
});

test("a map that leaves a choice says so, and gives no producer", () => {
  const map = parseIsl("{ S1[o0] -> S2[i0] : 1 <= i0 <= 9 and 0 <= o0 <= 4 and o0 < i0 }");
  assert.equal(hasChoice(map), true);
  assert.deepEqual(producersOf(map, [5]), []);
});

test("a schedule gives times", () => {
  const schedule = parseIsl("{ S19[i0, i1] -> [i0, i0 + i1, i0, 0]; S20[i0, i1, i2] -> [i0, i0 + i1, i0 + i2, 1] }");
  assert.deepEqual(timeOf(schedule, "S20", [1, 2, 3]), [1, 3, 4, 1]);
  assert.deepEqual(timeOf(schedule, "S19", [1, 2]), [1, 3, 1, 0]);
  assert.equal(timeOf(schedule, "S21", [1, 2]), null);
});

test("what it does not know is unsupported, never a crash", () => {
  for (const text of [
    "{ S1[i0] : exists h : i0 = 2h }",
    "{ S1[i0",
    "S1[i0]",
    "{ S1[i0] : i0 * i0 <= 3 }",
    "{ S1[i0] : i0 }",
    "",
    "{ S1[i0] $ }",
    "[n] -> { S1[i0] : i0 < n }",
  ])
    assert.throws(() => parseIsl(text), Unsupported, text);
});

/** Every point of a box, tested one by one: slow, and right. */
function slow(pieces: Piece[], box: Interval[]): Point[] {
  const found = new Set<string>();
  const visit = (point: Point): void => {
    if (point.length < box.length) {
      for (let value = box[point.length]![0]; value <= box[point.length]![1]; value++) visit([...point, value]);
      return;
    }
    for (const piece of pieces) {
      const values = new Map(point.map((value, i) => [`i${i}`, value] as const));
      const same = piece.to.items.every((item, i) => item.value(values) === point[i]);
      if (same && piece.where.every((comparison) => holds(comparison, values))) found.add(point.join());
    }
  };
  visit([]);
  return [...found].map((text) => text.split(",").map(Number)).sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
}

test("random sets have the points that trying all finds", () => {
  let seed = 12345;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  const affine = () => `${random(5) - 2}i0 + ${random(9) - 4}`.replace("+ -", "- ");
  for (let i = 0; i < 300; i++) {
    const pieces = Array.from({ length: 1 + random(3) }, () => {
      const strides = random(2) === 0 ? ` and i1 mod ${2 + random(3)} = ${random(2)}` : "";
      return `S1[i0, i1] : ${random(6) - 3} <= i0 <= ${random(7)} and ${affine()} <= i1 <= ${affine()}${strides}`;
    });
    const text = `{ ${pieces.join("; ")} }`;
    const box: Interval[] = [
      [-5, 8],
      [-20, 20],
    ];
    assert.deepEqual(pointsIn(parseIsl(text), box), slow(parseIsl(text), box), text);
  }
});
