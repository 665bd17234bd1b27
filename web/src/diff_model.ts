// The document of a page that compares two runs.
import type { Program } from "./model";

export interface Side {
  program: Program;
}
export interface DiffMain {
  kind: "diff";
  version: string;
  a: Side;
  b: Side;
}
