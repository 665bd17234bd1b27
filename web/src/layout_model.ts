// What a suggestion of another data layout (LF-LAY) says, taken out of its sentences: the maps, the bytes, the costs.
//
// A profile has these as evidence in words (src/advise/layouts.cc). What cannot be read is left out here, and stands
// as it is in the suggestion's card. Each access fetches the cache lines that it is the first to touch, so bytes
// fetched for bytes used say how densely the innermost loop's accesses lie.
import type { RegionDocument, Suggestion } from "./model";

export const LINE_BYTES = 64;
export const SHOWN_ITERATIONS = 16;

export interface LayoutMap {
  array: string;
  from: string[];
  to: string[];
}

export interface LayoutCosts {
  written: number;
  order: number;
  layout: number;
  both: number;
}

export interface LayoutAdvice {
  suggestion: Suggestion;
  maps: LayoutMap[];
  objects: Set<number>; // of the region, that the maps are about
  fetched: number; // bytes, as it is; 0: not known
  used: number;
  fetchedAfter: number;
  costs: LayoutCosts | null;
}

const sanitized = (name: string): string => name.replace(/[^0-9A-Za-z]/g, "_");

/** The maps of its evidence: "{ A[i0, i1] -> [i1, i0] } is one-to-one". */
export function mapsOf(suggestion: Suggestion): LayoutMap[] {
  if (suggestion.rule !== "LF-LAY") return [];
  return suggestion.evidence.flatMap((text) => {
    const map = /^\{ (\w+)\[([^\]]*)\] -> \[([^\]]*)\] \}/.exec(text);
    return map === null ? [] : [{ array: map[1]!, from: map[2]!.split(", "), to: map[3]!.split(", ") }];
  });
}

export function layoutAdvice(region: RegionDocument, suggestion: Suggestion): LayoutAdvice {
  const maps = mapsOf(suggestion);
  const arrays = new Set(maps.map((map) => map.array));
  const objects = new Set(region.objects.filter((one) => arrays.has(sanitized(one.name))).map((one) => one.id));
  let [fetched, used, fetchedAfter] = [0, 0, 0];
  for (const text of suggestion.evidence) {
    const bytes = /^bytes fetched for those used: (\S+) for (\S+) as it is, (\S+) then/.exec(text);
    if (bytes !== null) [fetched, used, fetchedAfter] = bytes.slice(1, 4).map(Number) as [number, number, number];
  }
  return { suggestion, maps, objects, fetched, used, fetchedAfter, costs: costsOf(suggestion.estimate) };
}

function costsOf(estimate: string): LayoutCosts | null {
  const found =
    /: (\S+) as it is, (\S+)\s+with the best order alone, (\S+) with the best layout alone, (\S+) with both/.exec(
      estimate,
    );
  if (found === null) return null;
  const [written, order, layout, both] = found.slice(1, 5).map(Number) as [number, number, number, number];
  return { written, order, layout, both };
}

/** "A[i0][i1]" of subscripts. */
export const reference = (array: string, subscripts: string[]): string =>
  array +
  subscripts
    .filter((one) => one !== "field")
    .map((one) => `[${one}]`)
    .join("");

/** How an access is written before and after: "p[i0].field", "p_field[i0]". */
export function rewritten({ array, from, to }: LayoutMap): [before: string, after: string] {
  const structure = from.includes("field");
  const before = reference(array, from) + (structure ? ".field" : "");
  if (!structure) return [before, reference(array, to)];
  return [before, to[0] === "field" ? reference(`${array}_field`, to) : `${reference(array, to)}.field`];
}

/** A profile's numbers have three digits: 63.7 bytes are 64. */
function snapped(each: number): number {
  const whole = Math.round(each / 4) * 4;
  return Math.abs(each - whole) < 0.02 * each ? whole : each;
}

/** Those that change how an element is written; padding does not. */
export const changedMaps = (maps: LayoutMap[]): LayoutMap[] =>
  maps.filter((map) => rewritten(map)[0] !== rewritten(map)[1]);

export interface Mark {
  line: number;
  from: number; // bytes in the line
  to: number;
}

/**
 * Where consecutive iterations of the innermost loop fall, in cache lines: so many bytes are fetched for each that
 * uses `size`. Lines between those touched are not drawn.
 */
export function marks(fetchedEach: number, size: number, iterations = SHOWN_ITERATIONS): Mark[] {
  const step = Math.max(1, Math.min(LINE_BYTES, snapped(fetchedEach)));
  return Array.from({ length: iterations }, (_, i) => {
    const at = i * step;
    const line = Math.floor(at / LINE_BYTES + 1e-9);
    const from = at - line * LINE_BYTES;
    return { line, from, to: Math.min(LINE_BYTES, from + size) };
  });
}
