// The loop tree in memory, and what a flame graph of it draws.
//
// Columns stay columns: a hundred thousand nodes are a few typed arrays. A drawing is made on demand for the frame that is
// zoomed to: its ancestors as full-width frames, then every frame below it that is wide enough to be seen. A frame that
// is too narrow hides all that is above it, so the cost is that of what is seen, whatever the size of the tree.
import type { TreeDocument } from "./model";

export interface FlameNode {
  name: string;
  value: number;
  node: number; // place in the tree; -1 for what is gathered of frames too narrow to be seen
  fade: boolean;
  children: FlameNode[];
}

export class Tree {
  readonly size: number;
  readonly leftOut: number;
  readonly parent: Int32Array;
  readonly id: Int32Array;
  readonly region: Int32Array; // of the node or of one around it; -1: in none
  private readonly first: Int32Array; // by node: where its children start in the list
  private readonly list: Int32Array;
  private readonly weights: Float64Array;

  constructor(private readonly document: TreeDocument) {
    const { columns } = document;
    this.size = document.nodes;
    this.leftOut = document.left_out;
    this.parent = new Int32Array(this.size);
    this.id = new Int32Array(this.size);
    this.region = new Int32Array(this.size);
    this.first = new Int32Array(this.size + 1);
    for (let i = 0; i < this.size; i++) {
      this.parent[i] = i === 0 ? -1 : i - columns.parent[i]!;
      this.id[i] = columns.id[i]! + (i === 0 ? 0 : this.id[i - 1]!);
      this.region[i] = columns.region[i]! > 0 ? columns.region[i]! - 1 : i === 0 ? -1 : this.region[this.parent[i]!]!;
      if (i > 0) this.first[this.parent[i]! + 1]!++;
    }
    for (let i = 0; i < this.size; i++) this.first[i + 1]! += this.first[i]!;
    const next = this.first.slice(0, this.size);
    this.list = new Int32Array(Math.max(0, this.size - 1));
    for (let i = 1; i < this.size; i++) this.list[next[this.parent[i]!]!++] = i;
    this.weights = new Float64Array(this.size);
    const below = new Float64Array(this.size);
    for (let i = this.size - 1; i >= 0; i--) {
      this.weights[i] = Math.max(
        columns.ops[i]!,
        columns.before?.[i] ?? 0,
        columns.before === undefined ? 0 : below[i]!,
      );
      if (i > 0) below[this.parent[i]!]! += this.weights[i]!;
    }
  }

  children(node: number): Int32Array {
    return this.list.subarray(this.first[node]!, this.first[node + 1]!);
  }

  name = (node: number): string => this.document.strings[this.document.columns.name[node]!]!;
  where = (node: number): string => this.document.strings[this.document.columns.where[node]!]!;
  functionOf = (node: number): string => this.document.strings[this.document.columns.function[node]!]!;
  ops = (node: number): number => this.document.columns.ops[node]!;
  selfOps = (node: number): number => this.document.columns.self_ops[node]!;
  kind = (node: number): number => this.document.columns.kind[node]!;
  verdict = (node: number): number => this.document.columns.verdict[node]!;
  affine = (node: number): number => this.document.columns.affine[node]!;
  mem = (node: number): number => this.document.columns.mem[node]!;
  fp = (node: number): number => this.document.columns.fp[node]!;
  entries = (node: number): number => this.document.columns.entries[node]!;
  rounds = (node: number): number => this.document.columns.rounds[node]!;
  /** Operations in the first of two runs; undefined if there is only one. */
  before = (node: number): number | undefined => this.document.columns.before?.[node];
  /** What decides a frame's width: in a page of two runs the larger one, so that what vanished is seen too. */
  weight = (node: number): number => this.weights[node]!;

  /** The place of a node by its id in the profile; the root if it was left out. */
  place(id: number): number {
    let low = 0;
    let high = this.size - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.id[middle] === id) return middle;
      if (this.id[middle]! < id) low = middle + 1;
      else high = middle - 1;
    }
    return 0;
  }

  path(node: number): number[] {
    const path: number[] = [];
    for (let at = node; at >= 0; at = this.parent[at]!) path.unshift(at);
    return path;
  }
}

const TOGETHER_NAME = "…";
const MOST_LEVELS = 250; // above the zoomed frame: deeper ones are gathered, and are there after zooming in
const MOST_BELOW = 40; // of the frames that lead to it

/** The frames to draw for a zoom: nothing narrower than `least` of the whole width. */
export function framesFor(tree: Tree, zoomed: number, least: number): FlameNode {
  const whole = Math.max(1, tree.weight(zoomed));
  const below = (node: number, levels: number): FlameNode => {
    const frame: FlameNode = { name: tree.name(node), value: tree.weight(node), node, fade: false, children: [] };
    let hidden = 0;
    let room = tree.weight(node);
    for (const child of tree.children(node)) {
      const weight = Math.min(tree.weight(child), room);
      room -= weight;
      if (weight / whole >= least && levels > 0) {
        const one = below(child, levels - 1);
        one.value = weight;
        frame.children.push(one);
      } else {
        hidden += weight;
      }
    }
    if (hidden > 0 && hidden / whole >= least)
      frame.children.push({ name: TOGETHER_NAME, value: hidden, node: -1, fade: false, children: [] });
    return frame;
  };
  let root = below(zoomed, MOST_LEVELS);
  for (const node of tree.path(zoomed).slice(0, -1).slice(-MOST_BELOW).reverse())
    root = { name: tree.name(node), value: whole, node, fade: true, children: [root] };
  return root;
}

export interface Found {
  nodes: Set<number>;
  ops: number; // every operation once, however many of the frames around it were found
}

/** Nodes whose name, place or function holds the text, whatever its case. */
export function search(tree: Tree, text: string): Found {
  const nodes = new Set<number>();
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return { nodes, ops: 0 };
  const matches = new Map<string, boolean>();
  const holds = (name: string) => {
    let is = matches.get(name);
    if (is === undefined) matches.set(name, (is = name.toLowerCase().includes(wanted)));
    return is;
  };
  let ops = 0;
  const inside = new Uint8Array(tree.size);
  for (let i = 0; i < tree.size; i++) {
    inside[i] = i > 0 ? inside[tree.parent[i]!]! : 0;
    if (!(holds(tree.name(i)) || holds(tree.where(i)) || holds(tree.functionOf(i)))) continue;
    nodes.add(i);
    if (inside[i] === 0) ops += tree.ops(i);
    inside[i] = 1;
  }
  return { nodes, ops };
}

/** Where an arrow key leads from a frame, among those that are drawn. */
export function neighbour(root: FlameNode, node: number, key: string): number {
  const find = (frame: FlameNode, above: FlameNode | null): [FlameNode, FlameNode | null] | null => {
    if (frame.node === node) return [frame, above];
    for (const child of frame.children) {
      const found = find(child, frame);
      if (found) return found;
    }
    return null;
  };
  const found = find(root, null);
  if (found === null) return root.node;
  const [frame, above] = found;
  const real = (list: FlameNode[]) => list.filter((one) => one.node >= 0);
  if (key === "ArrowUp") {
    const widest = real(frame.children).sort((a, b) => b.value - a.value)[0];
    return widest ? widest.node : node;
  }
  if (above === null) return node;
  if (key === "ArrowDown") return above.node;
  const siblings = real(above.children);
  const at = siblings.findIndex((one) => one.node === node) + (key === "ArrowLeft" ? -1 : 1);
  return siblings[at]?.node ?? node;
}
