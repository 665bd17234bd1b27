// The documents that `loopfold report --html` and `loopfold diff --html` put into the page (src/views/html_*.cc).

export type Source = [file: number, line: number] | null;

export interface Program {
  command: string;
  instructions: number;
  threads: number;
  exit_status: number | null;
  partial: boolean;
}

export interface Shares {
  parallel: number;
  transformed: number;
  sequential: number;
  unknown: number;
  none: number;
}

export interface TransformedRow {
  status: "found" | "original" | "gave up";
  why: string;
  parallel_ops_percent: number;
  simd_ops_percent: number;
  reuse_percent: number;
  potential_reuse_percent: number;
  tile_depth: number;
  tilable_ops_percent: number;
  skew: boolean;
  interchange: boolean;
  fusion: "max" | "smart" | "none";
  components_before: number;
  components_after: number;
}

export interface RegionRow {
  id: number;
  node: number;
  where: string;
  function: string;
  ops_percent: number;
  mem_percent: number;
  fp_percent: number;
  affine_percent: number;
  vertices: number;
  edges: number;
  interprocedural: boolean;
  depth_source: number;
  depth_binary: number;
  static_obstacles: string[];
  loops: number;
  verdict: string;
  parallel: string;
  simd: string;
  interchange: string;
  tile: string;
  skew: string;
  fuse: string;
  why_not: string[];
  transformed: TransformedRow | null;
}

export interface Suggestion {
  region: number;
  rule: string;
  title: string;
  lines: string;
  legal: string;
  requires: { kind: string; text: string; clause: string }[];
  gain: number;
  estimate: string;
  evidence: string[];
  loops: number[];
}

export interface ReportMain {
  kind: "report";
  version: string;
  program: Program;
  judged: boolean;
  quality: { kind: string; text: string; share: number }[];
  gave_up: { what: string; why: string; share: number }[];
  gave_up_count: number;
  shares: Shares;
  regions_min_percent: number;
  tree_nodes: number;
  regions: RegionRow[];
  suggestions: Suggestion[];
}

/** The loop tree in columns; parents are distances to the left, ids differences, regions one more than the id or 0. */
export interface TreeDocument {
  nodes: number;
  left_out: number;
  strings: string[];
  columns: {
    id: number[];
    parent: number[];
    kind: number[];
    name: number[];
    where: number[];
    function: number[];
    ops: number[];
    self_ops: number[];
    mem: number[];
    fp: number[];
    entries: number[];
    rounds: number[];
    verdict: number[];
    affine: number[];
    region: number[];
    before?: number[]; // a page of two runs: operations of the first one
  };
}

export interface Blocking {
  from: Source;
  to: Source;
  object: number | null;
  distance: number | null;
  least: number | null;
  greatest: number | null;
  count: number;
  kind: "register" | "memory" | "environment" | "control";
  text: string;
}

export interface Touched {
  source: Source;
  object: number | null;
  variable: string; // as the source calls it; empty if that is not known
  clause: string; // of OpenMP
  bytes: number | null; // of the copies that an expansion needs
}

export interface Loop {
  node: number;
  nodes: number[];
  source: Source;
  where: string;
  function: string;
  depth: number;
  ops_percent: number;
  trips: string;
  parallel: "yes" | "no" | "reduction" | "unknown";
  verdict: string;
  reasons: string[];
  stride01_percent: number;
  reuse: "none" | "private" | "expand" | "unknown"; // what memory that iterations share asks for
  reuse_why: string; // why it is not known what memory asks for
  private: Touched[];
  expand: Touched[];
  reload: Touched[];
  assumes: Source[];
  blocking: Blocking[];
  reductions: { operator: string; variable: string; array: boolean; source: Source }[];
}

export interface Band {
  first: number;
  statements: number[];
  members: { terms: [node: number, factor: number][]; parallel: string }[];
}

export interface Transformed {
  schedule: string;
  steps: string[];
  ast_before: string;
  ast: string;
  skew: number[][];
  interchange: number[][];
  bands: Band[];
}

export interface Statement {
  id: number;
  node: number;
  loops: (number | null)[];
  source: [file: number, line: number][];
  line_ops: number[]; // of source: operations of each line
  domain: string;
  exact: boolean;
  count: number;
  ops: number;
}

export interface Access {
  statement: number;
  kind: "load" | "store";
  size: number;
  object: number;
  strides: [text: string, near: Near][]; // by coordinate of the statement
  count: number;
  source: Source;
}

export type Near = "near" | "far" | "irregular";

export interface Dependence {
  from: number;
  to: number;
  kind: "register" | "memory" | "control" | "environment";
  count: number;
  map: string;
  exact: boolean;
  source_from: Source;
  source_to: Source;
  object: number | null;
  distance: (number | null)[] | null;
  carried: [node: number | null, count: number][];
  address: boolean;
}

export interface ObjectRow {
  id: number;
  kind: string;
  name: string;
  type: string;
  size: number;
  blocks: number;
  source: string | null;
}

export interface SourceFile {
  name: string;
  path: string;
  changed?: boolean;
  runs: { first: number; lines: string[] }[];
}

export interface RegionDocument {
  id: number;
  loops: Loop[];
  transformed: Transformed | null;
  statements: Statement[];
  accesses: Access[];
  dependences: Dependence[];
  left_out: { statements: number; accesses: number; dependences: number };
  objects: ObjectRow[];
  files: SourceFile[];
}

/** What is said of a node of the tree; the order is that of NodeVerdict in src/views/html_shares.h. */
export const VERDICTS = ["none", "parallel", "reduction", "transformed", "no", "unknown", "not judged"] as const;
export const KINDS = ["root", "call", "loop", "recursion"] as const;
