// Points of isl sets, and producers of a consumer, for drawing: what lies in a window, found by trying.
//
// A window says of every coordinate from where to where it is looked at. Bounds that a piece has for a coordinate narrow
// that further, so that no more is tried than the window holds. Exact for what isl.ts reads.
import { holds, Unsupported, type Comparison, type Expression, type Piece, type Values } from "./isl";

export type Point = number[];
export type Interval = [low: number, high: number];

/** `factor * name + rest <= 0`, or `= 0`: what a comparison says of one variable. */
function bound(comparison: Comparison, name: string, ranges: Map<string, Interval>): Interval {
  const none: Interval = [-Infinity, Infinity];
  const left = comparison.left.affine;
  const right = comparison.right.affine;
  if (left === null || right === null || comparison.operator === "!=") return none;
  const flip = comparison.operator === ">" || comparison.operator === ">=";
  const [small, large] = flip ? [right, left] : [left, right];
  const strict = comparison.operator === "<" || comparison.operator === ">" ? 1 : 0;
  const factor = (small.coefficients.get(name) ?? 0) - (large.coefficients.get(name) ?? 0);
  if (factor === 0) return none;
  // factor * name + rest <= -strict
  let low = small.constant - large.constant;
  let high = low;
  for (const other of new Set([...small.coefficients.keys(), ...large.coefficients.keys()])) {
    if (other === name) continue;
    const by = (small.coefficients.get(other) ?? 0) - (large.coefficients.get(other) ?? 0);
    if (by === 0) continue;
    const range = ranges.get(other) ?? none;
    low += by > 0 ? by * range[0] : by * range[1];
    high += by > 0 ? by * range[1] : by * range[0];
  }
  const limit = (rest: number) => (-strict - rest) / factor;
  const upper: Interval = factor > 0 ? [-Infinity, Math.floor(limit(low))] : [Math.ceil(limit(low)), Infinity];
  if (comparison.operator !== "=") return upper;
  const lower: Interval = factor > 0 ? [Math.ceil(limit(high)), Infinity] : [-Infinity, Math.floor(limit(high))];
  return [Math.max(upper[0], lower[0]), Math.min(upper[1], lower[1])];
}

function nameOf(item: Expression): string | null {
  return item.variables.size === 1 &&
    item.affine !== null &&
    item.affine.constant === 0 &&
    item.affine.coefficients.get([...item.variables][0]!) === 1
    ? [...item.variables][0]!
    : null;
}

/** Variables in the order of the coordinates that they are. */
function coordinates(piece: Piece): string[] {
  const names: string[] = [];
  for (const item of piece.to.items) {
    const name = nameOf(item);
    if (name !== null && !names.includes(name)) names.push(name);
  }
  return names;
}

/** A box that holds the piece, by coordinate; infinite where a bound is missing. */
export function box(piece: Piece): Interval[] {
  const names = coordinates(piece);
  const ranges = new Map<string, Interval>(names.map((name) => [name, [-Infinity, Infinity]]));
  for (let round = 0; round < names.length + 1; round++) {
    for (const name of names) {
      const range = ranges.get(name)!;
      for (const comparison of piece.where) {
        const [low, high] = bound(comparison, name, ranges);
        range[0] = Math.max(range[0], low);
        range[1] = Math.min(range[1], high);
      }
    }
  }
  return piece.to.items.map((item) => {
    const name = nameOf(item);
    if (name !== null) return ranges.get(name)!;
    if (item.variables.size === 0) {
      const value = item.value(new Map());
      return [value, value] as Interval;
    }
    return [-Infinity, Infinity];
  });
}

/** The box of all pieces. */
export function boxOf(pieces: Piece[]): Interval[] {
  const boxes = pieces.map(box);
  return (boxes[0] ?? []).map((_, at) => [
    Math.min(...boxes.map((one) => one[at]![0])),
    Math.max(...boxes.map((one) => one[at]![1])),
  ]);
}

/** Points of a set within a window, in lexicographic order, each once; at most `most`. */
export function pointsIn(pieces: Piece[], window: Interval[], most = 4000): Point[] {
  const found = new Map<string, Point>();
  for (const piece of pieces) {
    const names = coordinates(piece);
    const places = names.map((name) => piece.to.items.findIndex((item) => nameOf(item) === name));
    const values: Values = new Map();
    const visit = (at: number): void => {
      if (found.size >= most) return;
      if (at === names.length) {
        if (!piece.where.every((comparison) => holds(comparison, values))) return;
        const point = piece.to.items.map((item) => item.value(values));
        if (point.every((value, i) => value >= window[i]![0] && value <= window[i]![1])) found.set(point.join(), point);
        return;
      }
      const fixed = new Map<string, Interval>([...values].map(([name, value]) => [name, [value, value]]));
      let [low, high] = window[places[at]!]!;
      for (const comparison of piece.where) {
        const range = bound(comparison, names[at]!, fixed);
        low = Math.max(low, range[0]);
        high = Math.min(high, range[1]);
      }
      for (let value = low; value <= high; value++) {
        values.set(names[at]!, value);
        visit(at + 1);
      }
      values.delete(names[at]!);
    };
    visit(0);
  }
  return [...found.values()].sort(compare);
}

export function compare(a: Point, b: Point): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return 0;
}

/** Gives every variable of the producer a value by the equations that name it. False if one has none. */
function solve(piece: Piece, values: Values): boolean {
  const open = new Set(piece.from!.items.flatMap((item) => [...item.variables]).filter((name) => !values.has(name)));
  for (let progress = true; progress && open.size > 0;) {
    progress = false;
    for (const comparison of piece.where) {
      if (comparison.operator !== "=") continue;
      for (const [mine, other] of [
        [comparison.left, comparison.right],
        [comparison.right, comparison.left],
      ] as const) {
        const unknown = [...mine.variables].filter((name) => !values.has(name));
        if (unknown.length !== 1 || mine.affine === null || [...other.variables].some((name) => !values.has(name)))
          continue;
        let rest = other.value(values) - mine.affine.constant;
        for (const [name, factor] of mine.affine.coefficients)
          if (name !== unknown[0]) rest -= factor * values.get(name)!;
        const value = rest / mine.affine.coefficients.get(unknown[0]!)!;
        if (!Number.isInteger(value)) return false;
        values.set(unknown[0]!, value);
        open.delete(unknown[0]!);
        progress = true;
      }
    }
  }
  return open.size === 0;
}

/** Producers of a consumer by a map. A piece that leaves a choice (not affine) gives none; see hasChoice. */
export function producersOf(pieces: Piece[], consumer: Point): Point[] {
  const found: Point[] = [];
  for (const piece of pieces) {
    if (piece.from === null || piece.to.items.length !== consumer.length) continue;
    const values: Values = new Map();
    piece.to.items.forEach((item, i) => {
      const name = nameOf(item);
      if (name !== null && !values.has(name)) values.set(name, consumer[i]!);
    });
    try {
      if (!solve(piece, values)) continue;
      if (!piece.to.items.every((item, i) => item.value(values) === consumer[i])) continue;
      if (!piece.where.every((comparison) => holds(comparison, values))) continue;
      found.push(piece.from.items.map((item) => item.value(values)));
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
    }
  }
  return found;
}

/** Does a map leave open, for some consumer, which producer it is? */
export function hasChoice(pieces: Piece[]): boolean {
  return pieces.some((piece) => {
    const values: Values = new Map();
    for (const item of piece.to.items) for (const name of item.variables) values.set(name, 0);
    const known = new Set(values.keys());
    const named = new Set(
      piece.where
        .filter((one) => one.operator === "=")
        .flatMap((one) => [...one.left.variables, ...one.right.variables]),
    );
    return piece.from!.items.some((item) => [...item.variables].some((name) => !known.has(name) && !named.has(name)));
  });
}

/** The time of an instance by a schedule; null if the schedule does not name its statement. */
export function timeOf(schedule: Piece[], statement: string, point: Point): Point | null {
  for (const piece of schedule) {
    if (piece.from?.name !== statement || piece.from.items.length !== point.length) continue;
    const values: Values = new Map();
    piece.from.items.forEach((item, i) => {
      const name = nameOf(item);
      if (name !== null) values.set(name, point[i]!);
    });
    if (!piece.from.items.every((item, i) => item.value(values) === point[i])) continue;
    if (!piece.where.every((comparison) => holds(comparison, values))) continue;
    return piece.to.items.map((item) => item.value(values));
  }
  return null;
}
