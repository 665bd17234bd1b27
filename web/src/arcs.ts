// Flow between lines, put together for drawing: what goes from one line to another through one object is one arc.
//
// From a region's dependences and from what blocks its loops. Lanes keep arcs apart: an arc takes the first lane in which
// no other arc covers one of its rows, short arcs first, so that long ones go round them.
import type { Blocking, Dependence, RegionDocument, Source } from "./model";
import { relevant } from "./slice_model";

export interface Arc {
  from: [file: number, line: number];
  to: [file: number, line: number];
  kind: Dependence["kind"];
  object: number | null;
  count: number;
  distances: string[]; // in iterations of the loop that carries it: "1", "1 to 10"
  carriers: number[]; // nodes of the tree
  blocking: boolean;
  texts: string[]; // what a verdict says of it
}

const keyOf = (from: Source, to: Source, kind: string, object: number | null): string =>
  [from, to, kind, object].map(String).join("|");

export function arcsOf(region: RegionDocument, registers: boolean): Arc[] {
  const arcs = new Map<string, Arc>();
  const arc = (from: Source, to: Source, kind: Dependence["kind"], object: number | null): Arc | null => {
    if (from === null || to === null) return null;
    const key = keyOf(from, to, kind, object);
    let one = arcs.get(key);
    if (one === undefined)
      arcs.set(
        key,
        (one = { from, to, kind, object, count: 0, distances: [], carriers: [], blocking: false, texts: [] }),
      );
    return one;
  };
  for (const dependence of region.dependences) {
    if (!registers && !relevant(dependence, region.loops)) continue;
    const one = arc(dependence.source_from, dependence.source_to, dependence.kind, dependence.object);
    if (one === null) continue;
    one.count += dependence.count;
    for (const [node] of dependence.carried) if (node !== null && !one.carriers.includes(node)) one.carriers.push(node);
    const distance = carriedDistance(dependence);
    if (distance !== "" && !one.distances.includes(distance)) one.distances.push(distance);
  }
  for (const loop of region.loops) {
    for (const blocking of loop.blocking) {
      const one = arc(blocking.from, blocking.to, blocking.kind, blocking.object);
      if (one === null) continue;
      one.blocking = true;
      one.count = Math.max(one.count, blocking.count);
      if (!one.carriers.includes(loop.node)) one.carriers.push(loop.node);
      const distance = blockingDistance(blocking);
      if (distance !== "" && !one.distances.includes(distance)) one.distances.push(distance);
      if (!one.texts.includes(blocking.text)) one.texts.push(blocking.text);
    }
  }
  return [...arcs.values()].sort((a, b) => Number(b.blocking) - Number(a.blocking) || b.count - a.count);
}

/** The distance in the loop that carries it; nothing if it stays within an iteration. */
function carriedDistance(dependence: Dependence): string {
  if (dependence.distance === null || dependence.carried.every(([node]) => node === null)) return "";
  const first = dependence.distance.find((one) => one !== 0);
  return first === undefined ? "" : first === null ? "varies" : String(first);
}

function blockingDistance(blocking: Blocking): string {
  if (blocking.distance !== null) return String(blocking.distance);
  if (blocking.least !== null && blocking.greatest !== null) return `${blocking.least} to ${blocking.greatest}`;
  return "";
}

export interface Placed<Item> {
  item: Item;
  top: number;
  bottom: number;
  lane: number;
}

/** Lanes for intervals of rows. */
export function placed<Item>(items: { item: Item; top: number; bottom: number }[]): Placed<Item>[] {
  const lanes: [number, number][][] = [];
  const bySize = items
    .map((one, at) => ({ ...one, at }))
    .sort((a, b) => a.bottom - a.top - (b.bottom - b.top) || a.top - b.top || a.at - b.at);
  return bySize.map(({ item, top, bottom }) => {
    let lane = 0;
    while (lanes[lane]?.some(([from, to]) => from <= bottom && top <= to)) lane++;
    (lanes[lane] ??= []).push([top, bottom]);
    return { item, top, bottom, lane };
  });
}

/** By line: percent of the region's operations. */
export function lineShares(region: RegionDocument): Map<string, number> {
  const shares = new Map<string, number>();
  let whole = 0;
  for (const statement of region.statements) {
    whole += statement.ops;
    statement.source.forEach((line, at) => {
      const key = line.join(":");
      shares.set(key, (shares.get(key) ?? 0) + (statement.line_ops[at] ?? 0));
    });
  }
  for (const [key, ops] of shares) shares.set(key, whole === 0 ? 0 : (100 * ops) / whole);
  return shares;
}
