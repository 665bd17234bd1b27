// The document of a page that compares two runs (src/views/html_diff.cc), and what its tables are made of.
import type { Program, Shares } from "./model";

export interface Run {
  program: Program;
  shares: Shares;
}

export interface LoopSide {
  where: string;
  function: string;
  ops: number;
  ops_percent: number;
  trips: string;
  verdict: string;
  near: number;
  depth: number;
  strides: string[];
}

export interface LoopPair {
  before: LoopSide | null;
  after: LoopSide | null;
  changes: string[];
}

/** What happened to a nest of loops, in a few sentences. */
export interface NestStory {
  function: string;
  before: string;
  after: string;
  sentences: string[];
  ops: number;
}

export interface SuggestionChange {
  rule: string;
  title: string;
  gain: number;
  function: string;
}

export interface DiffMain {
  kind: "diff";
  version: string;
  a: Run;
  b: Run;
  loops: LoopPair[];
  nests: NestStory[];
  gone: SuggestionChange[];
  fresh: SuggestionChange[];
}

/** "−12.5 %", "+3 %", "the same", "× 4.2". */
export function changeText(before: number, after: number): string {
  if (before === after) return "the same";
  if (before === 0) return "new";
  if (after === 0) return "gone";
  const ratio = after / before;
  if (ratio >= 4) return `× ${ratio.toFixed(1)}`;
  const percent = 100 * (ratio - 1);
  if (Math.abs(percent) < 0.05) return "the same";
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent).toFixed(1)} %`;
}

/** What to read first about two runs. */
export function headline(main: DiffMain): string {
  const before = main.a.program.instructions;
  const after = main.b.program.instructions;
  const change = changeText(before, after);
  const first =
    change === "the same"
      ? "As many instructions as before"
      : after < before
        ? `${change.replace("−", "")} fewer instructions`
        : change.startsWith("×")
          ? `${change} as many instructions`
          : `${change.replace("+", "")} more instructions`;
  const changed = main.loops.filter((pair) => pair.changes.length > 0);
  const swapped = changed.filter((pair) => pair.changes.some((text) => text.startsWith("changed places"))).length;
  const loops = (count: number, what: string) => `${count} ${count === 1 ? "loop" : "loops"} ${what}`;
  if (changed.length === 0) return `${first}, and no loop changed.`;
  if (swapped === changed.length) return `${first}; ${loops(swapped, "changed places")}.`;
  return `${first}; ${loops(changed.length, "changed")}${swapped === 0 ? "" : `, ${swapped} of them changed places`}.`;
}
