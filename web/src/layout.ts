// Another layout of data: where accesses fall today, bytes fetched against bytes used, and what the new one changes.
import { h, s, title } from "./dom";
import { bytes, percent, plural, readable, short, times } from "./format";
import { objectNames, strideRows } from "./memory";
import {
  changedMaps,
  layoutAdvice,
  LINE_BYTES,
  marks,
  rewritten,
  SHOWN_ITERATIONS,
  type LayoutAdvice,
} from "./layout_model";
import type { RegionDocument, Suggestion } from "./model";

/** Nothing where no other layout is suggested. */
export function layoutSection(region: RegionDocument, suggestions: Suggestion[]): HTMLElement | null {
  const advice = suggestions.filter((one) => one.rule === "LF-LAY").map((one) => layoutAdvice(region, one));
  if (advice.length === 0) return null;
  return h(
    "section",
    { id: "layout" },
    h("h2", {}, "Data layout"),
    h(
      "p",
      { class: "dim" },
      `Memory comes in lines of ${LINE_BYTES} bytes. Each box is a line that ${SHOWN_ITERATIONS} iterations of the ` +
        "innermost loop fetch, one after the other; what they use of it is filled.",
    ),
    advice.map((one) => adviceBlock(region, one)),
  );
}

function adviceBlock(region: RegionDocument, advice: LayoutAdvice): HTMLElement {
  const { suggestion } = advice;
  return h(
    "div",
    { class: "panel layout" },
    h("h3", {}, suggestion.title, h("span", { class: "dim" }, ` · ${times(suggestion.gain)}`)),
    changedMaps(advice.maps).map((map) => {
      const [before, after] = rewritten(map);
      return h(
        "p",
        { class: "rewritten" },
        h("code", {}, before),
        h("span", { class: "arrow" }, " → "),
        h("code", {}, after),
      );
    }),
    advice.fetched > 0
      ? h(
          "div",
          { class: "layout-sides" },
          side("as it is", advice.fetched, advice, region),
          side("with the new layout", advice.fetchedAfter, advice, region),
        )
      : null,
    accesses(region, advice),
    costs(advice),
  );
}

function side(name: string, fetched: number, advice: LayoutAdvice, region: RegionDocument): HTMLElement {
  const useful = Math.min(100, (100 * advice.used) / Math.max(fetched, 1));
  const bar = h("span", { class: "used" });
  bar.style.width = `${useful}%`;
  const size = accessSize(region, advice);
  const each = (size * fetched) / Math.max(advice.used, 1);
  return h(
    "div",
    { class: "layout-side" },
    h("h3", {}, name),
    strip(marks(each, size)),
    h("div", { class: "usebar", role: "img", "aria-label": `${percent(useful)} % of what is fetched is used` }, bar),
    h(
      "p",
      {},
      h("strong", {}, `${percent(useful)} % used: `),
      `${bytes(Math.round(fetched))} fetched for ${bytes(Math.round(advice.used))}`,
    ),
  );
}

/** Of most accesses to the arrays in question. */
function accessSize(region: RegionDocument, advice: LayoutAdvice): number {
  const counts = new Map<number, number>();
  for (const access of region.accesses)
    if (advice.objects.has(access.object))
      counts.set(access.size, (counts.get(access.size) ?? 0) + access.count);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 8;
}

const BOX = 68;
const BOX_HEIGHT = 18;
const BOXES_PER_ROW = 8;

function strip(list: ReturnType<typeof marks>): SVGSVGElement {
  const lines = Math.max(...list.map((one) => one.line)) + 1;
  const rows = Math.ceil(lines / BOXES_PER_ROW);
  const corner = (line: number): [number, number] => [
    (line % BOXES_PER_ROW) * BOX,
    Math.floor(line / BOXES_PER_ROW) * (BOX_HEIGHT + 6),
  ];
  const drawing = s("svg", {
    class: "memory-lines",
    viewBox: `0 0 ${BOXES_PER_ROW * BOX} ${2 * (BOX_HEIGHT + 6)}`,
    height: 2 * (BOX_HEIGHT + 6),
    role: "img",
    "aria-label": `${plural(lines, "line")} for ${SHOWN_ITERATIONS} iterations`,
  });
  for (let line = 0; line < lines && rows <= 2; line++) {
    const [x, y] = corner(line);
    drawing.append(s("rect", { class: "memory-line", x: x + 1, y: y + 1, width: BOX - 4, height: BOX_HEIGHT }));
  }
  for (const [i, mark] of list.entries()) {
    const [x, y] = corner(mark.line);
    const scale = (BOX - 4) / LINE_BYTES;
    drawing.append(
      s(
        "rect",
        {
          class: "memory-used",
          x: x + 1 + mark.from * scale,
          y: y + 1,
          width: Math.max(2, (mark.to - mark.from) * scale - 1),
          height: BOX_HEIGHT,
        },
        title(`iteration ${i}`),
      ),
    );
  }
  return drawing;
}

/** The accesses to the arrays in question, and how they move. */
function accesses(region: RegionDocument, advice: LayoutAdvice): HTMLElement | null {
  const rows = strideRows(region).filter((row) => advice.objects.has(row.object));
  if (rows.length === 0) return null;
  const name = objectNames(region);
  return h(
    "ul",
    { class: "layout-accesses" },
    rows.slice(0, 6).map((row) => {
      const ways = region.loops
        .map((loop, at) => ({ loop, text: row.strides[at], near: row.near[at] }))
        .filter((one) => one.text !== null);
      const place = row.source === null ? "" : ` at ${region.files[row.source[0]]?.name ?? "?"}:${row.source[1]}`;
      return h(
        "li",
        {},
        `${row.kind} of ${name(row.object)}${place}: `,
        ways.map((one, i) => [
          i > 0 ? ", " : "",
          h("span", { class: `stride ${one.near}` }, one.text!),
          h("span", { class: "dim" }, ` along ${one.loop.where}`),
        ]),
      );
    }),
  );
}

/** Alone and together with the new order: which of them does it. */
function costs({ suggestion, costs }: LayoutAdvice): HTMLElement | null {
  if (costs === null) return h("p", { class: "dim" }, readable(suggestion.estimate));
  const rows: [string, number][] = [
    ["as it is", costs.written],
    ["best order of the loops alone", costs.order],
    ["best layout alone", costs.layout],
    ["both", costs.both],
  ];
  const most = Math.max(...rows.map(([, cost]) => cost), 1);
  const least = Math.min(...rows.map(([, cost]) => cost));
  return h(
    "table",
    { class: "layout-costs" },
    h("caption", {}, "Estimated cost: instructions, 8 for each line fetched, and copying the array in and out"),
    rows.map(([label, cost]) => {
      const bar = h("span", { class: "bar" });
      bar.style.width = `${(100 * cost) / most}%`;
      return h(
        "tr",
        { class: cost === least ? "least" : "" },
        h("th", {}, label),
        h("td", { class: "number" }, short(cost)),
        h("td", { class: "barcell" }, bar),
      );
    }),
  );
}
