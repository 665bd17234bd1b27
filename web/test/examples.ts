// A region as the page gets it: the line that is relaxed in place (kernels/advice/relaxation.c), and a made-up tree.
import type { Dependence, Loop, Near, RegionDocument, TreeDocument } from "../src/model";

const memory = (map: string, distance: number[], node: number, count: number): Dependence => ({
  from: 24,
  to: 24,
  kind: "memory",
  count,
  map,
  exact: true,
  source_from: [0, 15],
  source_to: [0, 15],
  object: 7,
  distance,
  carried: [[node, count]],
  address: false,
});

const loop = (node: number, line: number, depth: number, count: number): Loop => ({
  node,
  nodes: [node],
  source: [0, line],
  where: `relaxation.c:${line}`,
  function: "relax",
  depth,
  ops_percent: 60,
  trips: "12",
  parallel: "no",
  verdict: "no",
  reasons: [],
  stride01_percent: 100,
  reuse: "unknown",
  reuse_why: "",
  private: [],
  expand: [],
  reload: [],
  assumes: [],
  reductions: [],
  blocking: [
    {
      from: [0, 15],
      to: [0, 15],
      object: 7,
      distance: 1,
      least: null,
      greatest: null,
      count,
      kind: "memory",
      text: "reads what it wrote",
    },
  ],
});

export function regionExample(): RegionDocument {
  const bounds = "0 <= i0 <= 11 and 0 <= i1 <= 57";
  const access = {
    statement: 24,
    size: 8,
    object: 7,
    strides: [
      ["stays", "near"],
      ["next element", "near"],
    ] as [string, Near][],
    count: 696,
    source: [0, 15] as [number, number],
  };
  return {
    id: 0,
    loops: [loop(7, 12, 0, 1265), loop(8, 14, 1, 684)],
    transformed: {
      schedule: "{ S24[i0, i1] -> [i0, i0 + i1] }",
      steps: [],
      ast_before: "",
      ast: "",
      skew: [[8, 7, 1]],
      interchange: [],
      bands: [],
    },
    statements: [
      {
        id: 23,
        node: 7,
        loops: [7],
        source: [[0, 14]],
        line_ops: [36],
        domain: "{ S23[i0] : 0 <= i0 <= 11 }",
        exact: true,
        count: 12,
        ops: 36,
      },
      {
        id: 24,
        node: 8,
        loops: [7, 8],
        source: [
          [0, 15],
          [0, 14],
        ],
        line_ops: [4176, 1392],
        domain: `{ S24[i0, i1] : ${bounds} }`,
        exact: true,
        count: 696,
        ops: 5568,
      },
    ],
    accesses: [
      { ...access, kind: "load" },
      { ...access, kind: "load" },
      { ...access, kind: "load" },
      { ...access, kind: "store" },
    ],
    dependences: [
      memory("{ S24[i0, o1] -> S24[i0, i1] : 0 <= i0 <= 11 and 1 <= i1 <= 57 and o1 = i1 - 1 }", [0, 1], 8, 684),
      memory("{ S24[o0, i1] -> S24[i0, i1] : 1 <= i0 <= 11 and 0 <= i1 <= 57 and o0 = i0 - 1 }", [1, 0], 7, 638),
      memory(
        "{ S24[o0, o1] -> S24[i0, i1] : 1 <= i0 <= 11 and 0 <= i1 <= 56 and o0 = i0 - 1 and o1 = i1 + 1 }",
        [1, -1],
        7,
        627,
      ),
      {
        ...memory("{ S24[i0, o1] -> S24[i0, i1] : 0 <= i0 <= 11 and 1 <= i1 <= 57 and o1 = i1 - 1 }", [0, 1], 8, 684),
        kind: "register",
        object: null,
        source_from: [0, 14],
        source_to: [0, 14],
      },
    ],
    left_out: { statements: 0, accesses: 0, dependences: 0 },
    objects: [
      { id: 7, kind: "heap", name: "malloc in block_of", type: "", size: 480, blocks: 1, source: "kernel.h:28" },
    ],
    files: [{ name: "relaxation.c", path: "/x/relaxation.c", runs: [] }],
  };
}

/** A tree from nested lists: [name, own operations, ...children]. */
export type Nested = [name: string, self: number, ...children: Nested[]];

export function treeExample(root: Nested): TreeDocument {
  const names: string[] = [];
  const columns: TreeDocument["columns"] = {
    id: [],
    parent: [],
    kind: [],
    name: [],
    where: [],
    function: [],
    ops: [],
    self_ops: [],
    mem: [],
    fp: [],
    entries: [],
    rounds: [],
    verdict: [],
    affine: [],
    region: [],
  };
  const add = ([name, self, ...children]: Nested, parent: number): number => {
    const at = columns.id.length;
    if (!names.includes(name)) names.push(name);
    columns.id.push(at === 0 ? 0 : 1);
    columns.parent.push(at === 0 ? 0 : at - parent);
    for (const column of ["name", "where", "function"] as const) columns[column].push(names.indexOf(name));
    columns.kind.push(at === 0 ? 0 : name.startsWith("loop") ? 2 : 1);
    columns.self_ops.push(self);
    columns.ops.push(0);
    for (const column of ["mem", "fp", "entries", "rounds", "verdict", "affine", "region"] as const)
      columns[column].push(0);
    let ops = self;
    for (const child of children) ops += add(child, at);
    columns.ops[at] = ops;
    return ops;
  };
  add(root, 0);
  return { nodes: columns.id.length, left_out: 0, strings: names, columns };
}
