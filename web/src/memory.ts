// What a region's loads and stores do along each of its loops, the objects that they touch, and what memory asks for.
import { h } from "./dom";
import { bytes, firstOf, grouped, plural } from "./format";
import type { Access, Loop, Near, ObjectRow, RegionDocument, Source, Touched } from "./model";

export interface StrideRow {
  source: Source;
  kind: Access["kind"];
  size: number;
  object: number;
  strides: (string | null)[]; // by loop of the region; null: not in that loop
  near: (Near | null)[];
  count: number;
}

/** Accesses of one line, kind, size, object and behaviour are one row; most instances first. */
export function strideRows(region: RegionDocument): StrideRow[] {
  const loopOf = new Map<number, number>();
  region.loops.forEach((loop, at) => loop.nodes.forEach((node) => loopOf.set(node, at)));
  const statements = new Map(region.statements.map((one) => [one.id, one]));
  const rows = new Map<string, StrideRow>();
  for (const access of region.accesses) {
    const statement = statements.get(access.statement);
    if (statement === undefined) continue;
    const row: StrideRow = {
      source: access.source,
      kind: access.kind,
      size: access.size,
      object: access.object,
      strides: region.loops.map(() => null),
      near: region.loops.map(() => null),
      count: access.count,
    };
    statement.loops.forEach((node, coordinate) => {
      const at = node === null ? undefined : loopOf.get(node);
      if (at === undefined) return;
      const [text, near] = access.strides[coordinate] ?? ["irregular", "irregular"];
      row.strides[at] = text;
      row.near[at] = near;
    });
    const key = JSON.stringify([row.source, row.kind, row.size, row.object, row.strides]);
    const known = rows.get(key);
    if (known === undefined) rows.set(key, row);
    else known.count += row.count;
  }
  return [...rows.values()].sort((a, b) => b.count - a.count);
}

const FIRST_ROWS = 14;
const MOST_COLUMNS = 5; // loops; with more, only the innermost of each access is shown

export function stridesSection(region: RegionDocument): HTMLElement {
  const section = h(
    "section",
    { id: "strides" },
    h("h2", {}, "Strides"),
    h(
      "p",
      { class: "dim" },
      "How far each load and store moves when a loop goes round once: ",
      h("span", { class: "stride near" }, "near"),
      " stays or moves by its own size, ",
      h("span", { class: "stride far" }, "far"),
      " touches another place each time, ",
      h("span", { class: "stride irregular" }, "irregular"),
      " is no affine function of the loop.",
    ),
  );
  const all = strideRows(region);
  const used = region.loops
    .map((loop, at) => ({ loop, at }))
    .filter(({ at }) => all.some((row) => row.strides[at] !== null));
  const rows = all.filter((row) => row.strides.some((one) => one !== null));
  if (rows.length === 0) {
    section.append(h("p", {}, "The region's loops neither load nor store."));
    return section;
  }
  const nameOf = objectNames(region);
  const wide = used.length > MOST_COLUMNS;
  const draw = (row: StrideRow) =>
    h(
      "tr",
      {},
      h("td", { class: "place" }, placeWords(region, row.source)),
      h("td", {}, row.kind),
      h("td", {}, nameOf(row.object)),
      h("td", { class: "number" }, `${row.size} B`),
      wide ? innermostCells(region, row) : used.map(({ at }) => strideCell(row, at)),
      h("td", { class: "number" }, grouped(row.count)),
    );
  const body = h("tbody", {}, rows.slice(0, FIRST_ROWS).map(draw));
  const rest = rows.slice(FIRST_ROWS);
  const more = h(
    "button",
    { onclick: () => (body.append(...rest.map(draw)), more.remove()) },
    `Show ${rest.length} more`,
  );
  section.append(
    h(
      "div",
      { class: "table-scroll" },
      h(
        "table",
        { class: "data strides" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", {}, "line"),
            h("th", {}, ""),
            h("th", {}, "object"),
            h("th", { class: "number" }, "size"),
            wide
              ? [h("th", {}, "innermost loop"), h("th", {}, "along it")]
              : used.map(({ loop }) => h("th", { title: loop.function }, "along", h("br"), h("code", {}, loop.where))),
            h("th", { class: "number" }, "times"),
          ),
        ),
        body,
      ),
    ),
  );
  if (rest.length > 0) section.append(more);
  return section;
}

const strideCell = (row: StrideRow, at: number): HTMLElement =>
  h(
    "td",
    { class: "stride-cell" },
    row.strides[at] === null ? "" : h("span", { class: `stride ${row.near[at]}` }, row.strides[at]!),
  );

/** With many loops, the one that goes round most often says most. Loops come outermost first. */
function innermostCells(region: RegionDocument, row: StrideRow): HTMLElement[] {
  const at = row.strides.reduce((last, one, here) => (one === null ? last : here), -1);
  return [h("td", { class: "place" }, h("code", {}, region.loops[at]?.where ?? "")), strideCell(row, at)];
}

function placeWords(region: RegionDocument, source: Source): string {
  return source === null ? "no line" : `${region.files[source[0]]?.name ?? "?"}:${source[1]}`;
}

/** Names of objects; where several of a region have one name, they are told apart by a number: "malloc in f (2)". */
export function objectNames(region: RegionDocument): (object: number | null) => string {
  const same = new Map<string, number[]>();
  for (const one of region.objects) same.set(one.name, [...(same.get(one.name) ?? []), one.id]);
  const names = new Map<number, string>();
  for (const [name, ids] of same)
    ids.forEach((id, at) => names.set(id, ids.length === 1 || name === "" ? name : `${name} (${at + 1})`));
  return (object) => (object === null ? "" : (names.get(object) ?? ""));
}


export function objectsSection(region: RegionDocument): HTMLElement {
  const loads = new Map<number, number>();
  const stores = new Map<number, number>();
  for (const access of region.accesses) {
    const counts = access.kind === "load" ? loads : stores;
    counts.set(access.object, (counts.get(access.object) ?? 0) + access.count);
  }
  const rows = region.objects
    .filter((one) => loads.has(one.id) || stores.has(one.id))
    .map((one) => ({ one, loads: loads.get(one.id) ?? 0, stores: stores.get(one.id) ?? 0 }))
    .sort((a, b) => b.loads + b.stores - a.loads - a.stores);
  const first = rows.slice(0, FIRST_ROWS);
  const nameOf = objectNames(region);
  const objectRow = (row: (typeof rows)[number]) => drawObject(row, nameOf(row.one.id));
  const section = h("section", { id: "objects" }, h("h2", {}, "Memory"), liveRanges(region));
  if (rows.length === 0) return section;
  section.append(
    h(
      "div",
      { class: "table-scroll" },
      h(
        "table",
        { class: "data objects all-objects" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["object", "kind", "type", "allocated or declared"].map((one) => h("th", {}, one)),
            ["size", "blocks", "loads", "stores"].map((one) => h("th", { class: "number" }, one)),
          ),
        ),
        h("tbody", {}, first.map(objectRow)),
      ),
    ),
  );
  const rest = rows.slice(FIRST_ROWS);
  const more = h(
    "button",
    { onclick: () => (section.querySelector(".all-objects tbody")!.append(...rest.map(objectRow)), more.remove()) },
    `Show ${plural(rest.length, "more object")}`,
  );
  if (rest.length > 0) section.append(more);
  return section;
}

function drawObject(
  { one, loads, stores }: { one: ObjectRow; loads: number; stores: number },
  name: string,
): HTMLElement {
  return h(
    "tr",
    {},
    h("td", {}, name),
    h("td", {}, one.kind),
    h("td", {}, one.type || "–"),
    h("td", {}, one.source ?? "–"),
    h("td", { class: "number" }, one.size > 0 ? bytes(one.size) : "–"),
    h("td", { class: "number" }, one.blocks > 0 ? grouped(one.blocks) : "–"),
    h("td", { class: "number" }, grouped(loads)),
    h("td", { class: "number" }, grouped(stores)),
  );
}

export interface NeedRow {
  what: string; // "t at heat.c:12"
  need: string;
  clause: string; // of OpenMP
  bytes: number; // of copies, the most that a loop needs; 0: not known, or none
  loops: string[];
}

const isOpen = (loop: Loop): boolean => loop.verdict.endsWith("*") && loop.reuse === "unknown";

/** What memory asks for before a loop's iterations may run in another order; the same for several loops is one row. */
export function needRows(region: RegionDocument): NeedRow[] {
  const rows = new Map<string, NeedRow>();
  const name = objectNames(region);
  const add = (loop: Loop, one: Touched, need: string) => {
    const place = one.source === null ? "" : placeWords(region, one.source);
    const what = [one.variable !== "" ? one.variable : name(one.object), place].filter((word) => word !== "");
    const row: NeedRow = {
      what: what.join(" at ") || "a value",
      need,
      clause: one.clause,
      bytes: one.bytes ?? 0,
      loops: [loop.where],
    };
    const key = JSON.stringify([row.what, need, row.clause]);
    const known = rows.get(key);
    if (known === undefined) rows.set(key, row);
    else {
      known.bytes = Math.max(known.bytes, row.bytes);
      if (!known.loops.includes(loop.where)) known.loops.push(loop.where);
    }
  };
  for (const loop of region.loops) {
    for (const one of loop.private) add(loop, one, "a copy for each iteration");
    for (const one of loop.expand) add(loop, one, "an element for each iteration");
    for (const one of loop.reload) add(loop, one, "to be loaded again by each iteration");
  }
  return [...rows.values()];
}

const FIRST_NEEDS = 8;
const FIRST_LOOPS = 4;

/** What iterations need of their own before they may run in another order, and what is not decided. */
function liveRanges(region: RegionDocument): HTMLElement {
  const needs = needRows(region);
  const undecided = [
    ...new Set(
      region.loops
        .filter((loop) => isOpen(loop) && loop.reuse_why !== "")
        .map((loop) => `${loop.where}: not decided, ${loop.reuse_why}`),
    ),
  ];
  const open = region.loops.some((loop) => isOpen(loop) && loop.reuse_why === "");
  return h(
    "div",
    { class: "live-ranges" },
    needs.length > 0 ? needsTable(needs) : null,
    undecided.length > 0
      ? listed(
          undecided.map((text) => h("li", { class: "dim" }, text)),
          "not decided",
        )
      : null,
    open
      ? h(
          "p",
          { class: "dim" },
          "Whether iterations of the loops marked * put different values into the same memory, " +
            "and so need copies of their own, is not decided in this profile.",
        )
      : null,
  );
}

/** The first few, the others on demand. */
function listed(items: HTMLElement[], what: string): HTMLElement {
  const list = h("ul", {}, items.slice(0, FIRST_NEEDS));
  const rest = items.slice(FIRST_NEEDS);
  const more = h(
    "button",
    { onclick: () => (list.append(...rest), more.remove()) },
    `Show ${grouped(rest.length)} more ${what}`,
  );
  return h("div", {}, list, rest.length > 0 ? more : null);
}

function needsTable(needs: NeedRow[]): HTMLElement {
  const draw = (row: NeedRow) =>
    h(
      "tr",
      {},
      h("td", { class: "place" }, row.what),
      h("td", {}, row.need),
      h("td", {}, row.clause === "" ? "" : h("code", {}, row.clause)),
      h("td", { class: "number" }, row.bytes > 0 ? bytes(row.bytes) : ""),
      h(
        "td",
        { class: "place", title: row.loops.length > FIRST_LOOPS ? row.loops.join(", ") : null },
        firstOf(row.loops, FIRST_LOOPS),
      ),
    );
  const body = h("tbody", {}, needs.slice(0, FIRST_NEEDS).map(draw));
  const rest = needs.slice(FIRST_NEEDS);
  const more = h(
    "button",
    { onclick: () => (body.append(...rest.map(draw)), more.remove()) },
    `Show ${grouped(rest.length)} more`,
  );
  return h(
    "div",
    { class: "needs-table" },
    h("h3", {}, "Before iterations may run in another order"),
    h(
      "div",
      { class: "table-scroll" },
      h(
        "table",
        { class: "data objects" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", {}, "memory"),
            h("th", {}, "needs"),
            h("th", {}, "OpenMP clause"),
            h("th", { class: "number" }, "copies"),
            h("th", {}, "in the loops"),
          ),
        ),
        body,
      ),
    ),
    rest.length > 0 ? more : null,
  );
}
