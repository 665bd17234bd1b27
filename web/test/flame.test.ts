import assert from "node:assert/strict";
import { test } from "node:test";
import { framesFor, neighbour, search, Tree, type FlameNode } from "../src/flame_model";
import { treeExample, type Nested } from "./examples";

const example = (): Tree =>
  new Tree(treeExample(["root", 0, ["main", 10, ["loop a", 50, ["f", 20], ["loop b", 10]], ["g", 5, ["f", 5]]]]));

test("the tree is what its columns say", () => {
  const tree = example();
  assert.equal(tree.size, 7);
  assert.deepEqual([...tree.parent], [-1, 0, 1, 2, 2, 1, 5]);
  assert.deepEqual([...tree.children(2)].map(tree.name), ["f", "loop b"]);
  assert.deepEqual(tree.path(4).map(tree.name), ["root", "main", "loop a", "loop b"]);
  assert.equal(tree.place(4), 4);
  assert.equal(tree.place(99), 0);
});

test("frames: what is narrow is gathered, what is zoomed to fills the width", () => {
  const tree = example();
  const all = framesFor(tree, 0, 0);
  assert.equal(all.value, 100);
  assert.deepEqual(
    all.children[0]!.children.map((one) => one.name),
    ["loop a", "g"],
  );
  const narrow = framesFor(tree, 0, 0.15);
  assert.deepEqual(
    narrow.children[0]!.children.map((one) => one.name),
    ["loop a"],
  );
  assert.deepEqual(
    narrow.children[0]!.children[0]!.children.map((one) => one.name),
    ["f"],
  );
  const zoomed = framesFor(tree, 2, 0);
  assert.deepEqual([zoomed.name, zoomed.fade, zoomed.value], ["root", true, 80]);
  assert.deepEqual([zoomed.children[0]!.children[0]!.name, zoomed.children[0]!.children[0]!.fade], ["loop a", false]);
});

test("children never have more than their parent", () => {
  const check = (frame: FlameNode): void => {
    const sum = frame.children.reduce((total, one) => total + one.value, 0);
    assert.ok(sum <= frame.value);
    frame.children.forEach(check);
  };
  check(framesFor(example(), 0, 0.03));
  const document = treeExample(["root", 0, ["a", 10, ["b", 5]], ["c", 1]]);
  document.columns.before = [30, 4, 2, 26];
  const both = new Tree(document);
  check(framesFor(both, 0, 0));
  assert.equal(both.weight(3), 26);
  assert.ok(both.weight(0) >= both.weight(1) + both.weight(3));
});

test("search counts every operation once", () => {
  const tree = example();
  const found = search(tree, "F");
  assert.deepEqual([...found.nodes].map(tree.name), ["f", "f"]);
  assert.equal(found.ops, 25);
  assert.equal(search(tree, "loop").ops, 80, "a loop in a loop is not counted twice");
  assert.equal(search(tree, "  ").nodes.size, 0);
});

test("arrow keys", () => {
  const tree = example();
  const frames = framesFor(tree, 0, 0);
  assert.equal(neighbour(frames, 1, "ArrowUp"), 2, "the widest one");
  assert.equal(neighbour(frames, 2, "ArrowDown"), 1);
  assert.equal(neighbour(frames, 2, "ArrowRight"), 5);
  assert.equal(neighbour(frames, 5, "ArrowRight"), 5);
  assert.equal(neighbour(frames, 5, "ArrowLeft"), 2);
  assert.equal(neighbour(frames, 0, "ArrowDown"), 0);
});

test("a tree of any depth or width is drawn", () => {
  let deep: Nested = ["leaf", 1];
  for (let i = 0; i < 3000; i++) deep = [`f${i}`, 1, deep];
  const levels = (frame: FlameNode): number => 1 + Math.max(0, ...frame.children.map(levels));
  assert.ok(levels(framesFor(new Tree(treeExample(deep)), 0, 0)) < 400);
  const wide: Nested = ["root", 0, ...Array.from({ length: 20000 }, (_, i): Nested => [`f${i % 10}`, 1])];
  assert.equal(framesFor(new Tree(treeExample(wide)), 0, 0.001).children.length, 1, "all gathered in one");
});
