// What a suggestion asks its reader to write: one line of code or one sentence, by rule.
//
// A pragma is only given where the profile says that the change is legal, every variable that needs a clause has one,
// and the loop has a line to put it above. Otherwise a sentence says what to do, and what is needed stands beside it.
import { changedMaps, mapsOf, rewritten } from "./layout_model";
import type { Suggestion } from "./model";

export interface Action {
  code: string; // to be written; empty if a sentence says it
  above: boolean; // as a line above the loop
  text: string;
}

const SENTENCES: Record<string, string> = {
  "LF-PAR": "Let threads share the iterations of this loop.",
  "LF-RED": "Let threads share the iterations, each with a partial result; put those together at the end.",
  "LF-SIMD": "Let one vector instruction run several iterations.",
  "LF-ICH": "Exchange the heads of the loops; the body stays as it is.",
  "LF-TIL": "Cut the loops into blocks, and finish a block before the next one begins.",
  "LF-SKW": "Shift each row by the one before, cut the slanted nest into blocks, and run diagonals in parallel.",
  "LF-FUS": "Put the bodies into one loop.",
  "LF-DIS": "Split the body into loops of their own, in this order.",
  "LF-LAY": "Declare the array as the title says, and follow in its subscripts.",
  "LF-CON": "Keep only the elements that are still needed.",
  "LF-EXP": "Give every iteration its own element.",
  "LF-PRI": "Declare the variable inside of the loop.",
  "LF-SPC": "Write a version of the function for these arguments.",
};

const PRAGMAS: Record<string, [c: string, fortran: string]> = {
  "LF-PAR": ["#pragma omp parallel for", "!$omp parallel do"],
  "LF-RED": ["#pragma omp parallel for", "!$omp parallel do"],
  "LF-SIMD": ["#pragma omp simd", "!$omp simd"],
};

export function actionOf(suggestion: Suggestion): Action {
  const pragma = pragmaOf(suggestion);
  const code = pragma === "" ? rewritingOf(suggestion) : pragma;
  return { code, above: pragma !== "", text: SENTENCES[suggestion.rule] ?? "" };
}

/** Of another layout: how its elements are written. */
const rewritingOf = (suggestion: Suggestion): string =>
  changedMaps(mapsOf(suggestion))
    .map((map) => rewritten(map).join(" → "))
    .join("; ");

/** A compiler takes it: a clause has a name, and a step that is known. */
const isWhole = (clause: string): boolean => clause.includes("(") && !clause.includes("...");

function pragmaOf(suggestion: Suggestion): string {
  const pragma = PRAGMAS[suggestion.rule];
  if (pragma === undefined || suggestion.legal !== "yes" || !/:\d+$/.test(suggestion.lines)) return "";
  if (/innermost/.test(suggestion.title)) return "";
  if (suggestion.requires.some((one) => !isWhole(one.clause))) return "";
  if (suggestion.rule === "LF-RED" && suggestion.requires.length === 0) return "";
  const fortran = /\.f(or|tn|\d\d)?:\d+$/i.test(suggestion.lines);
  return [pragma[fortran ? 1 : 0], ...new Set(suggestion.requires.map((one) => one.clause))].join(" ");
}
