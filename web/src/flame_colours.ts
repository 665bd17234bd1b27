// Colours of a flame graph: by verdict, by how much is folded exactly, by the difference between two runs.
import type { Tree } from "./flame_model";
import { VERDICTS } from "./model";

export type Colouring = "verdict" | "affine" | "difference";

/** What a colour means: the style's variable, and words. */
export const COLOURS: Record<Colouring, [variable: string, label: string][]> = {
  verdict: [
    ["--parallel", "parallel"],
    ["--reduction", "reduction"],
    ["--transformed", "parallel after transformation"],
    ["--sequential", "sequential"],
    ["--unknown", "not modelled"],
    ["--call", "call"],
  ],
  affine: [
    ["--affine-100", "all folded exactly"],
    ["--affine-50", "half"],
    ["--affine-0", "none"],
    ["--unknown", "not modelled"],
  ],
  difference: [
    ["--less", "fewer operations"],
    ["--same", "about the same"],
    ["--more", "more operations"],
    ["--gone", "only before"],
    ["--fresh", "only after"],
  ],
};

const VERDICT_VARIABLES: Record<(typeof VERDICTS)[number], string> = {
  none: "--call",
  parallel: "--parallel",
  reduction: "--reduction",
  transformed: "--transformed",
  no: "--sequential",
  unknown: "--unknown",
  "not judged": "--unknown",
};

export function colourOf(tree: Tree, node: number, colouring: Colouring, value: (variable: string) => string): string {
  if (node < 0) return value("--gathered");
  if (colouring === "affine") {
    const affine = tree.affine(node);
    return affine < 0
      ? value("--unknown")
      : mixed(value("--affine-0"), value("--affine-50"), value("--affine-100"), affine / 100);
  }
  if (colouring === "difference") return value(differenceVariable(tree.before(node) ?? 0, tree.ops(node)));
  return value(VERDICT_VARIABLES[VERDICTS[tree.verdict(node)]!]);
}

/** Less than 5 % either way is about the same. */
export function differenceVariable(before: number, after: number): string {
  if (before === 0) return after === 0 ? "--same" : "--fresh";
  if (after === 0) return "--gone";
  const ratio = after / before;
  return ratio < 0.95 ? "--less" : ratio > 1.05 ? "--more" : "--same";
}

/** A colour on the way from none over half to all; colours are #rrggbb. */
export function mixed(none: string, half: string, all: string, share: number): string {
  const [from, to, way] = share < 0.5 ? [none, half, share * 2] : [half, all, share * 2 - 1];
  const channel = (text: string, at: number) => parseInt(text.trim().slice(1 + 2 * at, 3 + 2 * at), 16);
  const blend = [0, 1, 2].map((at) => Math.round(channel(from, at) + (channel(to, at) - channel(from, at)) * way));
  return `rgb(${blend.join(",")})`;
}
