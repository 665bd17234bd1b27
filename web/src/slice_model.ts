// A two-dimensional slice of a statement's iterations: points and arrows, as written and in the new order.
//
// Two loops are the axes, the counters of the others are fixed. Of long loops a window of the first iterations is
// shown: what happens there happens everywhere, but for the borders. Arrows go from the iteration that produces a value
// to the one that uses it; those that leave the slice or the window are counted, not drawn. In the new order a point
// lies where the schedule puts it, along the two of its rows that tell the points of the slice apart best.
import { parseIsl, Unsupported, type Piece } from "./isl";
import type { Dependence, Loop, RegionDocument, Statement } from "./model";
import { boxOf, hasChoice, pointsIn, producersOf, timeOf, type Interval, type Point } from "./points";

export const WINDOW = 10;

export interface Arrow {
  from: number; // places in `points`
  to: number;
  kind: Dependence["kind"];
  label: string;
  blocking: boolean;
}

export interface Slice {
  points: Point[]; // whole iteration vectors
  arrows: Arrow[];
  leaving: number; // arrows that come from outside of what is drawn
  notDrawn: number; // dependences that could not be read, or that leave open where a value comes from
  before: [x: number, y: number][];
  after: [x: number, y: number][] | null; // null: the schedule has no such statement
  afterRows: [x: number, y: number] | null; // rows of the schedule; null with `after`
  truncated: boolean;
}

export interface Choice {
  statement: Statement;
  x: number; // coordinates; x < 0: the statement is in one loop only
  y: number;
  fixed: number[]; // by coordinate
}

/** Flow that matters for order: memory and control always, registers where a verdict speaks of their lines. */
export function relevant(dependence: Dependence, loops: Loop[]): boolean {
  if (dependence.kind !== "register") return true;
  if (dependence.address) return false;
  const same = (a: [number, number] | null, b: [number, number] | null) =>
    a !== null && b !== null && a[0] === b[0] && a[1] === b[1];
  return loops.some(
    (loop) =>
      loop.blocking.some(
        (one) =>
          one.kind === "register" && same(one.from, dependence.source_from) && same(one.to, dependence.source_to),
      ) ||
      loop.reductions.some((one) => same(one.source, dependence.source_from) && same(one.source, dependence.source_to)),
  );
}

function isBlocking(dependence: Dependence, loops: Loop[]): boolean {
  const same = (a: [number, number] | null, b: [number, number] | null) =>
    a !== null && b !== null && a[0] === b[0] && a[1] === b[1];
  const carriers = new Set(dependence.carried.map(([node]) => node));
  return loops.some(
    (loop) =>
      loop.parallel === "no" &&
      loop.nodes.some((node) => carriers.has(node)) &&
      loop.blocking.some(
        (one) =>
          one.kind === dependence.kind && same(one.from, dependence.source_from) && same(one.to, dependence.source_to),
      ),
  );
}

export function pieces(text: string): Piece[] | null {
  if (text === "") return null;
  try {
    return parseIsl(text);
  } catch (error) {
    if (error instanceof Unsupported) return null;
    throw error;
  }
}

/** Statements that can be drawn: in a loop, with a domain that can be read; most operations first. */
export function drawable(region: RegionDocument): Statement[] {
  return region.statements
    .filter((one) => one.loops.length > 0 && one.count > 1 && pieces(one.domain) !== null)
    .sort((a, b) => Math.min(2, b.loops.length) - Math.min(2, a.loops.length) || b.ops - a.ops || a.id - b.id);
}

/**
 * A statement's slice to begin with: two loops that a skew is about; else two that change places and between whose
 * iterations something flows; else those between whose iterations most flows.
 */
export function firstChoice(region: RegionDocument, statement: Statement): Choice {
  const domain = pieces(statement.domain)!;
  const fixed = boxOf(domain).map(([low, high]) =>
    Number.isFinite(low) ? (Number.isFinite(high) ? Math.floor((low + high) / 2) : low) : 0,
  );
  const depth = statement.loops.length;
  for (const [skewed, by] of region.transformed?.skew ?? []) {
    const [x, y] = [statement.loops.indexOf(skewed!), statement.loops.indexOf(by!)];
    if (x >= 0 && y >= 0) return { statement, x, y, fixed };
  }
  let best: Choice = { statement, x: depth - 1, y: depth - 2, fixed };
  let most = -1;
  for (let x = depth - 1; x > 0 && depth > 2; x--) {
    for (let y = x - 1; y >= 0; y--) {
      const slice = sliceOf(region, { statement, x, y, fixed });
      const flows = slice.arrows.length;
      const score = flows + (flows > 0 && changesOrder(slice) ? CHANGED : 0);
      if (score > most) [best, most] = [{ statement, x, y, fixed }, score];
    }
  }
  return best;
}

const CHANGED = 1e6; // counts more than any number of arrows

/** Some point of the slice lies elsewhere in the new order. */
export const changesOrder = (slice: Slice): boolean =>
  slice.after !== null && JSON.stringify(slice.after) !== JSON.stringify(slice.before);

export function rangeOf(statement: Statement, coordinate: number): Interval {
  return boxOf(pieces(statement.domain)!)[coordinate]!;
}

export function sliceOf(region: RegionDocument, choice: Choice): Slice {
  const { statement } = choice;
  const domain = pieces(statement.domain)!;
  const whole = boxOf(domain);
  let truncated = false;
  const window = whole.map(([low, high], at): Interval => {
    if (at !== choice.x && at !== choice.y) return [choice.fixed[at]!, choice.fixed[at]!];
    const start = Number.isFinite(low) ? low : 0;
    if (high - start >= WINDOW) truncated = true;
    return [start, Math.min(high, start + WINDOW - 1)];
  });
  const points = pointsIn(domain, window);
  const place = new Map(points.map((point, i) => [point.join(), i]));
  const slice: Slice = {
    points,
    arrows: [],
    leaving: 0,
    notDrawn: 0,
    before: [],
    after: null,
    afterRows: null,
    truncated,
  };
  addArrows(slice, region, statement, place);
  slice.before = points.map((point) => [point[choice.x]!, choice.y < 0 ? 0 : point[choice.y]!]);
  addAfter(slice, region, choice);
  return slice;
}

function addArrows(slice: Slice, region: RegionDocument, statement: Statement, place: Map<string, number>): void {
  const seen = new Set<string>();
  for (const dependence of region.dependences) {
    if (dependence.to !== statement.id || dependence.from !== statement.id || !relevant(dependence, region.loops))
      continue;
    const map = pieces(dependence.map);
    if (map === null || hasChoice(map)) {
      slice.notDrawn++;
      continue;
    }
    const blocking = isBlocking(dependence, region.loops);
    slice.points.forEach((point, to) => {
      for (const producer of producersOf(map, point)) {
        const from = place.get(producer.join());
        if (from === undefined) slice.leaving++;
        else if (from !== to && !seen.has(`${from} ${to}`)) {
          seen.add(`${from} ${to}`);
          slice.arrows.push({ from, to, kind: dependence.kind, label: distanceText(dependence.distance), blocking });
        }
      }
    });
  }
}

export function distanceText(distance: (number | null)[] | null): string {
  if (distance === null) return "";
  const text = distance.map((one) => (one === null ? "varies" : String(one))).join(", ");
  return distance.length === 1 ? text : `(${text})`;
}

function addAfter(slice: Slice, region: RegionDocument, choice: Choice): void {
  const schedule = region.transformed === null ? null : pieces(region.transformed.schedule);
  if (schedule === null || slice.points.length === 0) return;
  const times = slice.points.map((point) => timeOf(schedule, `S${choice.statement.id}`, point));
  if (times.some((time) => time === null)) return;
  const rows = distinguishing(times as Point[], slice.points, choice);
  if (rows === null) return;
  slice.afterRows = rows;
  slice.after = (times as Point[]).map((time) => [time[rows[0]]!, rows[1] < 0 ? 0 : time[rows[1]]!]);
}

/**
 * Two rows of the schedule to draw: one that moves with the x axis as written and one that moves with y, such that most
 * points are told apart. The inner one lies across, as it runs.
 */
function distinguishing(times: Point[], points: Point[], choice: Choice): [number, number] | null {
  const depth = times[0]!.length;
  const kinds = (rows: number[]) => new Set(times.map((time) => rows.map((row) => time[row]).join())).size;
  const moves = (row: number, along: number, across: number) => {
    const known = new Map<number, number>();
    return points.some((point, i) => {
      const line = across < 0 ? 0 : point[across]!;
      const value = times[i]![row]!;
      if (!known.has(line)) known.set(line, value);
      return along >= 0 && known.get(line) !== value;
    });
  };
  const rows = Array.from({ length: depth }, (_, row) => ({
    row,
    x: moves(row, choice.x, choice.y),
    y: moves(row, choice.y, choice.x),
  }));
  let best: [number, number] | null = null;
  let most = 0;
  for (const a of rows) {
    if (!a.x) continue;
    if (choice.y < 0) return [a.row, -1];
    for (const b of rows) {
      if (a === b || !b.y) continue;
      const score = 4 * kinds([a.row, b.row]) + Number(!a.y) + Number(!b.x);
      if (score > most) [best, most] = [[Math.max(a.row, b.row), Math.min(a.row, b.row)], score];
    }
  }
  if (best !== null) return best;
  const single = rows.find((one) => one.x || one.y);
  return single === undefined ? null : [single.row, -1];
}
