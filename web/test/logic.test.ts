import assert from "node:assert/strict";
import { test } from "node:test";
import { arcsOf, lineShares, placed } from "../src/arcs";
import { parseAst, tagsOf } from "../src/ast";
import { changeText, headline, type DiffMain } from "../src/diff_model";
import { differenceVariable, mixed } from "../src/flame_colours";
import { bytes, grouped, percent, plural, short, times } from "../src/format";
import { blocks, inlines } from "../src/markdown";
import { needRows, objectNames, strideRows } from "../src/memory";
import { parseRoute, routeText } from "../src/route";
import { firstChoice, relevant, sliceOf } from "../src/slice_model";
import { csv, filtered, parseOrder, sorted, type Column } from "../src/table";
import { regionExample } from "./examples";

test("numbers", () => {
  assert.deepEqual([0, 0.001, 0.04, 12.345, 99.97].map(percent), ["0", "<0.01", "0.04", "12.3", "100"]);
  assert.deepEqual([999, 1234567, 999999].map(short), ["999", "1.23 M", "1.00 M"]);
  assert.deepEqual([480, 73728, 1048576].map(bytes), ["480 B", "72 KiB", "1 MiB"]);
  assert.equal(grouped(1234567), "1,234,567");
  assert.equal(times(1.8402), "1.84×");
  assert.equal(plural(1, "loop") + plural(2, "loop"), "1 loop2 loops");
});

test("routes go there and back", () => {
  const text = routeText("flame", "", { node: 12, search: "a&b=c <script>", colour: null });
  const route = parseRoute(text);
  assert.equal(route.view, "flame");
  assert.equal(route.settings.get("search"), "a&b=c <script>");
  assert.equal(route.settings.has("colour"), false);
  assert.deepEqual([parseRoute("#/region/3").view, parseRoute("#/region/3").item], ["region", "3"]);
  assert.equal(parseRoute("").view, "overview");
  assert.equal(parseRoute("#/%E0%A4%A").view, "%E0%A4%A", "what cannot be decoded stays");
});

interface Row {
  name: string;
  size: number | null;
}
const columns: Column<Row>[] = [
  { key: "name", label: "name", value: (row) => row.name },
  { key: "size", label: "size, bytes", value: (row) => row.size, number: true },
];
const rows: Row[] = [
  { name: "b10", size: 1 },
  { name: "b9", size: null },
  { name: "a", size: 30 },
  { name: "c", size: 1 },
];

test("sorting", () => {
  assert.deepEqual(
    sorted(rows, columns, parseOrder("-size")).map((row) => row.name),
    ["a", "b10", "c", "b9"],
  );
  assert.deepEqual(
    sorted(rows, columns, parseOrder("size")).map((row) => row.name),
    ["b10", "c", "a", "b9"],
  );
  assert.deepEqual(
    sorted(rows, columns, parseOrder("name")).map((row) => row.name),
    ["a", "b9", "b10", "c"],
  );
  assert.deepEqual(sorted(rows, columns, parseOrder("nonsense")), rows);
});

test("filtering", () => {
  assert.deepEqual(
    filtered(rows, columns, "B 1").map((row) => row.name),
    ["b10"],
  );
  assert.equal(filtered(rows, columns, " ").length, 4);
});

test("CSV is quoted, and no formula", () => {
  const nasty: Row[] = [
    { name: '=1+1,"x"\n', size: -3 },
    { name: "@x", size: null },
  ];
  assert.equal(csv(nasty, columns), 'name,"size, bytes"\r\n"\'=1+1,""x""\n",-3\r\n\'@x,\r\n');
});

test("lanes keep arcs apart", () => {
  const spans = placed([
    { item: "long", top: 0, bottom: 9 },
    { item: "a", top: 1, bottom: 3 },
    { item: "b", top: 3, bottom: 5 },
    { item: "c", top: 6, bottom: 8 },
  ]);
  for (const one of spans)
    for (const other of spans)
      if (one !== other && one.lane === other.lane)
        assert.ok(one.bottom < other.top || other.bottom < one.top, `${one.item} ${other.item}`);
  assert.equal(spans.find((one) => one.item === "a")!.lane, 0);
  assert.equal(spans.find((one) => one.item === "long")!.lane, 2);
});

test("nests as text are read back", () => {
  const ast = parseAst(
    "for a.c:12  12 trips  [tile 32]\n  for a.c:14 + a.c:12  [parallel, tile 32, vector]\n    a.c:14,15\nfor a b.c:3  ~5.5 trips\n",
  );
  assert.deepEqual(ast[0], { level: 0, loop: "a.c:12", trips: "12 trips", tags: ["tile 32"], statements: "" });
  assert.deepEqual(ast[1]!.tags, ["parallel", "tile 32", "vector"]);
  assert.deepEqual(
    [ast[1]!.loop, ast[1]!.trips, ast[2]!.statements, ast[2]!.level],
    ["a.c:14 + a.c:12", "", "a.c:14,15", 2],
  );
  assert.deepEqual([ast[3]!.loop, ast[3]!.trips], ["a b.c:3", "~5.5 trips"]);
  assert.deepEqual(tagsOf(ast, "a.c:14"), ["parallel", "tile 32", "vector"]);
  assert.deepEqual(tagsOf(ast, "a.c:15"), []);
});

test("markdown", () => {
  assert.deepEqual(inlines("a **b** `c` [d](e.md)"), [
    { kind: "text", text: "a " },
    { kind: "bold", text: "b" },
    { kind: "text", text: " " },
    { kind: "code", text: "c" },
    { kind: "text", text: " " },
    { kind: "link", text: "d", target: "e.md" },
  ]);
  const kinds = blocks(
    "# T\n\ntwo\nlines\n\n    code\n\n    more\n\n- a\n  b\n- c\n\n| x | y |\n|---|---|\n| 1 | 2 |\n",
  ).map((block) => block.kind);
  assert.deepEqual(kinds, ["heading", "paragraph", "code", "list", "table"]);
});

test("accesses that do the same are one row", () => {
  const list = strideRows(regionExample());
  assert.deepEqual(
    list.map((row) => [row.kind, row.strides, row.count]),
    [
      ["load", ["stays", "next element"], 2088],
      ["store", ["stays", "next element"], 696],
    ],
  );
});

test("what iterations need of their own", () => {
  const region = regionExample();
  const one = { source: [0, 15] as [number, number], object: 7, variable: "", clause: "", bytes: null };
  for (const loop of region.loops) loop.private = [one];
  region.loops[0]!.expand = [{ ...one, variable: "t", clause: "private(t)", bytes: 4096 }];
  assert.deepEqual(needRows(region), [
    {
      what: "malloc in block_of at relaxation.c:15",
      need: "a copy for each iteration",
      clause: "",
      bytes: 0,
      loops: region.loops.map((loop) => loop.where),
    },
    {
      what: "t at relaxation.c:15",
      need: "an element for each iteration",
      clause: "private(t)",
      bytes: 4096,
      loops: [region.loops[0]!.where],
    },
  ]);
  region.objects.push({ ...region.objects[0]!, id: 99 });
  assert.deepEqual([7, 99, null].map(objectNames(region)), ["malloc in block_of (1)", "malloc in block_of (2)", ""]);
});

test("arcs: one per pair of lines and object, blocking first", () => {
  const arcs = arcsOf(regionExample(), false);
  assert.equal(arcs.length, 1);
  assert.deepEqual(
    [arcs[0]!.blocking, arcs[0]!.count, arcs[0]!.distances, arcs[0]!.kind],
    [true, 684 + 638 + 627, ["1"], "memory"],
  );
  assert.ok(arcsOf(regionExample(), true).length > 1, "with registers there are more");
});

test("shares of lines add up to the whole", () => {
  const shares = lineShares(regionExample());
  const sum = [...shares.values()].reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - 100) < 1e-9);
  assert.equal(shares.get("0:15"), (100 * 4176) / 5604, "a line has the operations of its instructions");
});

test("register flow matters where a verdict speaks of it", () => {
  const region = regionExample();
  const register = region.dependences.find((one) => one.kind === "register" && !one.address)!;
  assert.equal(relevant(register, region.loops), false);
  region.loops[1]!.blocking.push({
    ...region.loops[1]!.blocking[0]!,
    kind: "register",
    from: register.source_from,
    to: register.source_to,
  });
  assert.equal(relevant(register, region.loops), true);
});

test("a skewed slice: arrows that went backwards do not any more", () => {
  const region = regionExample();
  const slice = sliceOf(
    region,
    firstChoice(
      region,
      region.statements.find((one) => one.id === 24)!,
    ),
  );
  assert.equal(slice.points.length, 100);
  assert.equal(slice.notDrawn, 0);
  const backwards = (places: [number, number][]) =>
    slice.arrows.filter((arrow) => places[arrow.to]![0] < places[arrow.from]![0]).length;
  assert.ok(slice.arrows.every((arrow) => arrow.blocking));
  assert.equal(backwards(slice.before), 9 * 9, "the right neighbour of the sweep before");
  assert.equal(backwards(slice.after!), 0);
  assert.deepEqual(slice.afterRows, [1, 0]);
});

test("the first slice is one in which something flows", () => {
  const region = regionExample();
  region.transformed = null;
  const cube = region.statements[1]!;
  cube.loops = [7, 8, 9];
  cube.domain = "{ S24[i0, i1, i2] : 0 <= i0 <= 5 and 0 <= i1 <= 5 and 0 <= i2 <= 5 }";
  region.dependences = [
    {
      ...region.dependences[0]!,
      map: "{ S24[o0, i1, i2] -> S24[i0, i1, i2] : 1 <= i0 <= 5 and 0 <= i1 <= 5 and 0 <= i2 <= 5 and o0 = i0 - 1 }",
    },
  ];
  const choice = firstChoice(region, cube);
  assert.equal(choice.y, 0, "the loop that carries it");
  assert.deepEqual(choice.fixed, [2, 2, 2]);
  assert.equal(sliceOf(region, choice).arrows.length, 30);
});

test("difference colours and mixtures", () => {
  assert.deepEqual(
    [
      [0, 5],
      [5, 0],
      [100, 100],
      [100, 50],
      [100, 120],
      [0, 0],
    ].map(([a, b]) => differenceVariable(a!, b!)),
    ["--fresh", "--gone", "--same", "--less", "--more", "--same"],
  );
  assert.equal(mixed("#000000", "#808080", "#ffffff", 0), "rgb(0,0,0)");
  assert.equal(mixed("#000000", "#808080", "#ffffff", 1), "rgb(255,255,255)");
});

test("two runs in words", () => {
  assert.deepEqual(
    [changeText(100, 75), changeText(100, 150), changeText(100, 500), changeText(0, 1), changeText(5, 5)],
    ["−25.0 %", "+50.0 %", "× 5.0", "new", "the same"],
  );
  const main = {
    a: { program: { instructions: 100 } },
    b: { program: { instructions: 80 } },
    loops: [{ changes: ["changed places with x"] }, { changes: ["trips"] }, { changes: [] }],
  } as unknown as DiffMain;
  assert.equal(headline(main), "20.0 % fewer instructions; 2 loops changed, 1 of them changed places.");
  main.loops.splice(1, 1);
  assert.equal(headline(main), "20.0 % fewer instructions; 1 loop changed places.");
  main.loops.splice(0, 1);
  main.b.program.instructions = 100;
  assert.equal(headline(main), "As many instructions as before, and no loop changed.");
});
