// Source lines of a region with their share of its operations, and flow between lines as arcs beside them.
import { arcsOf, lineShares, placed, type Arc } from "./arcs";
import { h, s, title } from "./dom";
import { firstOf, grouped, percent, plural } from "./format";
import { objectNames } from "./memory";
import type { RegionDocument, SourceFile } from "./model";

const ROW = 20;
const LANE = 11;
const MOST_LANES = 24;
const MOST_ARCS = 60;
const OPEN_FILES = 2;
const FIRST_FILES = 6;
const FIRST_WORDS = 2; // of the loops that carry a flow, and of its distances
const LITTLE = 1; // percent of the region: a file with less is shown on demand

interface Row {
  line: number; // 0: a gap
  text: string;
}

export function sourceSection(region: RegionDocument): HTMLElement {
  const place = h("div");
  const registers = h("input", { type: "checkbox", onchange: () => draw() });
  const draw = () => {
    const arcs = arcsOf(region, registers.checked);
    const shares = lineShares(region);
    const files = region.files
      .map((file, number) => ({ file, number, share: shareOf(shares, number) }))
      .filter((one) => one.share > 0 || arcs.some((arc) => arc.from[0] === one.number || arc.to[0] === one.number))
      .sort((a, b) => Number(isThere(b)) - Number(isThere(a)) || b.share - a.share);
    const draw = (one: (typeof files)[number], at: number) =>
      fileBlock(region, one.file, one.number, one.share, arcs, shares, at < OPEN_FILES && one.file.runs.length > 0);
    const large = files.filter((one) => one.share >= LITTLE).slice(0, FIRST_FILES);
    const rest = files.filter((one) => !large.includes(one));
    const few = rest.every((one) => one.share < LITTLE) ? ` with less than ${LITTLE} % each` : "";
    const more = h(
      "button",
      { class: "more-files", onclick: () => more.replaceWith(...rest.map((one) => draw(one, OPEN_FILES))) },
      `Show ${plural(rest.length, large.length > 0 ? "more file" : "file")}${few}`,
    );
    const unknown = 100 - files.reduce((sum, one) => sum + one.share, 0);
    place.replaceChildren(
      unknown >= LITTLE && files.length > 0 ? withoutLines(unknown) : "",
      ...large.map(draw),
      rest.length > 0 ? more : "",
      arcTable(region, arcs, place),
    );
    if (files.length === 0)
      place.prepend(
        h(
          "p",
          { class: "dim" },
          "The code of this region has no line numbers; compile with -g, or install debug symbols.",
        ),
      );
  };
  draw();
  return h(
    "section",
    { id: "source" },
    h("h2", {}, "Source and flow"),
    h(
      "p",
      { class: "dim" },
      "Left: percent of the region's operations by line. Arcs go from the line that produces a value " +
        "to the one that uses it; ",
      h("span", { class: "key blocking" }, "red"),
      " ones keep a loop's iterations in order. Point at an arc for its distance and object.",
    ),
    h("label", { class: "check" }, registers, " also flow through registers and address computations"),
    place,
  );
}

/** Text that can be read comes before files that were not found; but not if next to nothing is done there. */
const isThere = (one: { file: SourceFile; share: number }): boolean => one.file.runs.length > 0 && one.share >= LITTLE;

const withoutLines = (share: number): HTMLElement =>
  h(
    "p",
    { class: "dim" },
    `${percent(share)} % of the region's operations are in code without line numbers; ` +
      "compile with -g, or install debug symbols.",
  );

function shareOf(shares: Map<string, number>, file: number): number {
  let sum = 0;
  for (const [key, share] of shares) if (Number(key.split(":")[0]) === file) sum += share;
  return sum;
}

function rowsOf(file: SourceFile, number: number, arcs: Arc[], shares: Map<string, number>): Row[] {
  if (file.runs.length > 0) {
    return file.runs.flatMap((run, i) => [
      ...(i > 0 ? [{ line: 0, text: "⋯" }] : []),
      ...run.lines.map((text, at) => ({ line: run.first + at, text })),
    ]);
  }
  const lines = new Set<number>();
  for (const key of shares.keys()) if (Number(key.split(":")[0]) === number) lines.add(Number(key.split(":")[1]));
  for (const arc of arcs) for (const end of [arc.from, arc.to]) if (end[0] === number) lines.add(end[1]);
  return [...lines].sort((a, b) => a - b).map((line) => ({ line, text: "" }));
}

function fileBlock(
  region: RegionDocument,
  file: SourceFile,
  number: number,
  share: number,
  arcs: Arc[],
  shares: Map<string, number>,
  open: boolean,
): HTMLElement {
  const rows = rowsOf(file, number, arcs, shares);
  const place = new Map(rows.map((row, at) => [row.line, at]));
  const mine = arcs
    .filter((arc) => arc.from[0] === number && arc.to[0] === number && place.has(arc.from[1]) && place.has(arc.to[1]))
    .slice(0, MOST_ARCS);
  const most = Math.max(...rows.map((row) => shares.get(`${number}:${row.line}`) ?? 0), 1);
  const lines = rows.map((row) => {
    const percentOf = shares.get(`${number}:${row.line}`) ?? 0;
    const bar = h("span", { class: "heat" });
    bar.style.width = `${(100 * percentOf) / most}%`;
    return h(
      "div",
      { class: `line${row.line === 0 ? " gap" : ""}`, "data-line": row.line },
      h(
        "span",
        { class: "share" },
        percentOf > 0 ? [bar, h("span", { class: "share-text" }, percent(percentOf))] : null,
      ),
      h("span", { class: "lineno" }, row.line === 0 ? "" : String(row.line)),
      h("code", {}, row.text === "" ? " " : row.text),
    );
  });
  const drawing = arcDrawing(region, mine, place, rows.length);
  return h(
    "details",
    { class: "source panel", open },
    h(
      "summary",
      {},
      h("strong", { title: file.path }, file.name),
      h("span", { class: "dim" }, ` ${percent(share)} % of the region`),
      file.runs.length === 0
        ? h("span", { class: "dim" }, " · the file was not found when this page was written")
        : null,
      file.changed ? h("span", { class: "warn" }, " · changed since the recording: lines may be off") : null,
    ),
    h("div", { class: "code" }, drawing, h("div", { class: "lines" }, lines)),
  );
}

function arcDrawing(region: RegionDocument, arcs: Arc[], place: Map<number, number>, rows: number): SVGSVGElement {
  const spans = placed(
    arcs.map((arc) => {
      const ends = [place.get(arc.from[1])!, place.get(arc.to[1])!];
      return { item: arc, top: Math.min(...ends), bottom: Math.max(...ends) };
    }),
  );
  const lanes = Math.min(MOST_LANES, Math.max(0, ...spans.map((one) => one.lane + 1)));
  const width = lanes === 0 ? 8 : 26 + lanes * LANE;
  const drawing = s("svg", {
    class: "arcs",
    width,
    height: rows * ROW,
    role: "img",
    "aria-label": plural(arcs.length, "flow between lines"),
  });
  for (const { item, lane } of spans.slice().reverse()) {
    const from = place.get(item.from[1])! * ROW + ROW / 2;
    const to = place.get(item.to[1])! * ROW + ROW / 2;
    const edge = width - 4;
    const left = edge - 12 - (Math.min(lane, MOST_LANES) + 1) * LANE + 4;
    const group = s(
      "g",
      { class: `arc ${item.kind}${item.blocking ? " blocking" : ""}`, "data-arc": arcKey(item) },
      title(arcWords(region, item)),
    );
    const path = from === to ? loopPath(edge - 6, left, from) : arcPath(edge - 6, left, from, to);
    const tip = from === to ? from + 5 : to;
    group.append(
      s("path", { class: "hit", d: path }),
      s("path", { class: "stroke", d: path }),
      s("path", { class: "tip", d: `M ${edge} ${tip} l -7 -3.5 l 0 7 z` }),
    );
    drawing.append(group);
  }
  return drawing;
}

/** Round a line, back to itself. */
const loopPath = (edge: number, left: number, y: number): string =>
  `M ${edge} ${y - 5} C ${left} ${y - 12}, ${left} ${y + 12}, ${edge} ${y + 5}`;

/** To the lane, along it and back, with round corners. */
function arcPath(edge: number, left: number, from: number, to: number): string {
  const corner = Math.sign(to - from) * Math.min(10, Math.abs(to - from) / 2);
  const away = `C ${left} ${from}, ${left} ${from}, ${left} ${from + corner}`;
  const back = `L ${left} ${to - corner} C ${left} ${to}, ${left} ${to}, ${edge} ${to}`;
  return `M ${edge} ${from} ${away} ${back}`;
}

const arcKey = (arc: Arc): string => [arc.from, arc.to, arc.kind, arc.object].map(String).join("|");

function placeWords(region: RegionDocument, [file, line]: [number, number]): string {
  return `${region.files[file]?.name ?? "?"}:${line}`;
}

const objectName = (region: RegionDocument, object: number | null): string => objectNames(region)(object);

function loopNames(region: RegionDocument, nodes: number[]): string[] {
  return [
    ...new Set(
      nodes
        .map((node) => region.loops.find((loop) => loop.nodes.includes(node))?.where)
        .filter((one) => one !== undefined),
    ),
  ];
}

function arcWords(region: RegionDocument, arc: Arc): string {
  const object = objectName(region, arc.object);
  const carriers = loopNames(region, arc.carriers).join(", ");
  return [
    `${placeWords(region, arc.from)} → ${placeWords(region, arc.to)}`,
    `${arc.kind}${object === "" ? "" : `: ${object}`}`,
    carriers === ""
      ? "within an iteration"
      : `carried by ${carriers}, distance ${arc.distances.join(", ") || "not known"}`,
    `${grouped(arc.count)} times`,
    ...arc.texts,
  ].join("\n");
}

/** "1", "1, 3"; of many the least and the greatest. */
export function distanceWords(distances: string[]): string {
  const numbers = distances.flatMap((one) => one.match(/-?\d+/g) ?? []).map(Number);
  if (distances.length <= FIRST_WORDS || numbers.length === 0) return distances.join(", ");
  return `${Math.min(...numbers)} to ${Math.max(...numbers)}`;
}

const carrierCell = (loops: string[]): HTMLElement =>
  loops.length === 0
    ? h("td", {}, h("span", { class: "dim" }, "same iteration"))
    : h("td", { title: loops.length > FIRST_WORDS ? loops.join(", ") : null }, firstOf(loops, FIRST_WORDS));

function arcTable(region: RegionDocument, arcs: Arc[], place: HTMLElement): HTMLElement | string {
  if (arcs.length === 0) return h("p", { class: "dim" }, "No value goes from one line to another through memory.");
  const light = (key: string, on: boolean) => {
    for (const group of place.querySelectorAll<SVGGElement>("g.arc")) {
      const mine = group.dataset.arc === key;
      group.classList.toggle("lit", on && mine);
      group.classList.toggle("unlit", on && !mine);
    }
  };
  const row = (arc: Arc) =>
    h(
      "tr",
      {
        class: arc.blocking ? "blocking" : "",
        onmouseenter: () => light(arcKey(arc), true),
        onmouseleave: () => light(arcKey(arc), false),
      },
      h("td", {}, placeWords(region, arc.from)),
      h("td", {}, placeWords(region, arc.to)),
      h("td", {}, arc.kind),
      h("td", {}, objectName(region, arc.object)),
      carrierCell(loopNames(region, arc.carriers)),
      h(
        "td",
        { class: "distance", title: arc.distances.length > FIRST_WORDS ? arc.distances.join(", ") : null },
        distanceWords(arc.distances),
      ),
      h("td", { class: "number" }, grouped(arc.count)),
      h("td", {}, arc.blocking ? h("span", { class: "badge sequential" }, "blocks") : ""),
    );
  const heads = ["from", "to", "through", "object", "carried by", "distance", "times", ""];
  const table = h(
    "table",
    { class: "data flow" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((one) => h("th", { class: one === "times" ? "number" : "" }, one)),
      ),
    ),
    h("tbody", {}, arcs.slice(0, 12).map(row)),
  );
  const rest = arcs.slice(12);
  const more = h(
    "button",
    { onclick: () => (table.tBodies[0]!.append(...rest.slice(0, 500).map(row)), more.remove()) },
    `Show ${plural(Math.min(500, rest.length), "more flow")}`,
  );
  return h("div", { class: "table-scroll flow-list" }, table, rest.length > 0 ? more : "");
}
