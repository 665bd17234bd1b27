// What a region's loads and stores do along each of its loops, the objects that they touch, and what memory asks for.
import { h } from "./dom";
import { bytes, grouped, plural } from "./format";
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
const MOST_COLUMNS = 8;

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
  const columns = used.slice(0, MOST_COLUMNS);
  const rows = all.filter((row) => columns.some(({ at }) => row.strides[at] !== null));
  if (rows.length === 0) {
    section.append(h("p", {}, "The region's loops neither load nor store."));
    return section;
  }
  const draw = (row: StrideRow) =>
    h(
      "tr",
      {},
      h("td", { class: "place" }, placeWords(region, row.source)),
      h("td", {}, row.kind),
      h("td", {}, objectName(region, row.object)),
      h("td", { class: "number" }, `${row.size} B`),
      columns.map(({ at }) =>
        h(
          "td",
          { class: "stride-cell" },
          row.strides[at] === null ? "" : h("span", { class: `stride ${row.near[at]}` }, row.strides[at]!),
        ),
      ),
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
            columns.map(({ loop }) => h("th", { title: loop.function }, "along", h("br"), h("code", {}, loop.where))),
            h("th", { class: "number" }, "times"),
          ),
        ),
        body,
      ),
    ),
  );
  if (rest.length > 0) section.append(more);
  if (columns.length < used.length)
    section.append(h("p", { class: "dim" }, `The first ${MOST_COLUMNS} of ${used.length} loops; the profile has all.`));
  return section;
}

function placeWords(region: RegionDocument, source: Source): string {
  return source === null ? "no line" : `${region.files[source[0]]?.name ?? "?"}:${source[1]}`;
}

function objectName(region: RegionDocument, object: number | null): string {
  return object === null ? "" : (region.objects.find((one) => one.id === object)?.name ?? "");
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
  const section = h("section", { id: "objects" }, h("h2", {}, "Memory"), liveRanges(region));
  if (rows.length === 0) return section;
  section.append(
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
    { onclick: () => (section.querySelector("tbody")!.append(...rest.map(objectRow)), more.remove()) },
    `Show ${plural(rest.length, "more object")}`,
  );
  if (rest.length > 0) section.append(more);
  return section;
}

function objectRow({ one, loads, stores }: { one: ObjectRow; loads: number; stores: number }): HTMLElement {
  return h(
    "tr",
    {},
    h("td", {}, one.name),
    h("td", {}, one.kind),
    h("td", {}, one.type || "–"),
    h("td", {}, one.source ?? "–"),
    h("td", { class: "number" }, one.size > 0 ? bytes(one.size) : "–"),
    h("td", { class: "number" }, one.blocks > 0 ? grouped(one.blocks) : "–"),
    h("td", { class: "number" }, grouped(loads)),
    h("td", { class: "number" }, grouped(stores)),
  );
}

/** "t at heat.c:12: private(t)". */
export function touchedWords(region: RegionDocument, one: Touched): string {
  const name = one.variable !== "" ? one.variable : objectName(region, one.object);
  const place = one.source === null ? "" : placeWords(region, one.source);
  const clause = one.clause === "" ? "" : `: ${one.clause}`;
  const size = one.bytes === null ? "" : `, ${bytes(one.bytes)}`;
  return [name, place].filter((word) => word !== "").join(" at ") + size + clause;
}

const isOpen = (loop: Loop): boolean => loop.verdict.endsWith("*") && loop.reuse === "unknown";

/** What iterations need of their own before they may run in another order. */
function liveRanges(region: RegionDocument): HTMLElement {
  const items: HTMLElement[] = [];
  const say = (loop: Loop, list: Touched[], words: string) => {
    if (list.length === 0) return;
    const names = [...new Set(list.map((one) => touchedWords(region, one)))];
    items.push(h("li", {}, h("code", {}, loop.where), `: ${words} `, h("strong", {}, names.join("; "))));
  };
  for (const loop of region.loops) {
    say(loop, loop.private, "each iteration needs its own copy of");
    say(loop, loop.expand, "to be expanded to one element per iteration:");
    say(loop, loop.reload, "to be loaded again by each iteration:");
    if (isOpen(loop) && loop.reuse_why !== "")
      items.push(h("li", { class: "dim" }, h("code", {}, loop.where), `: not decided, ${loop.reuse_why}`));
  }
  const open = region.loops.some((loop) => isOpen(loop) && loop.reuse_why === "");
  return h(
    "div",
    { class: "live-ranges" },
    items.length > 0 ? h("ul", {}, items) : null,
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
