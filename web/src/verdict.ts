// Words and colours of verdicts, in one place.
import { h } from "./dom";

/** What a share of operations is, and the class that colours it. */
export const SHARE_WORDS = [
  ["parallel", "parallel as written", "Some loop around these operations may run its iterations in any order."],
  [
    "transformed",
    "parallel after transformation",
    "No loop around them is parallel as written; in the order that was found one is, or tiles along a wavefront are.",
  ],
  ["sequential", "sequential", "Every loop around them is blocked, and no order was found that changes this."],
  ["unknown", "not modelled", "A loop around them could not be judged, or is too small to have been looked at."],
  ["none", "in no loop", "Straight-line code, or loops that never go round more than once."],
] as const;

/** By the word of a verdict, "parallel*", "reduction(+)*", "no", "unknown". */
export function verdictClass(verdict: string): string {
  if (verdict.startsWith("parallel")) return "parallel";
  if (verdict.startsWith("reduction")) return "reduction";
  if (verdict === "no") return "sequential";
  return "unknown";
}

/** A badge. The asterisk of an undecided verdict is explained where the pointer is. */
export function verdictBadge(verdict: string): HTMLElement {
  const open = verdict.endsWith("*");
  const text = verdict === "no" ? "sequential" : verdict;
  return h(
    "span",
    {
      class: `badge ${verdictClass(verdict)}`,
      title: open
        ? "No value goes from one iteration to another. Iterations need memory of their own, or it is not decided whether they do: see Memory."
        : null,
    },
    text,
  );
}
