// One region: what to do to it, its loops and why, its source and flow, the order that was found, memory, iterations.
import { hasPart, part } from "./data";
import { h, phrases } from "./dom";
import { percent, plural, readable, times } from "./format";
import { layoutSection } from "./layout";
import { objectsSection, stridesSection } from "./memory";
import type { Loop, RegionDocument, RegionRow, ReportMain, Suggestion } from "./model";
import { loopsSection, orderSection } from "./nest";
import { doThis } from "./overview";
import { routeText } from "./route";
import { sliceSection } from "./slice";
import { sourceSection } from "./source";
import { verdictBadge } from "./verdict";
import type { View } from "./main";

const SECTIONS: [id: string, label: string][] = [
  ["advice", "What to do"],
  ["loops", "Loops"],
  ["source", "Source and flow"],
  ["order", "Order"],
  ["iterations", "Iterations"],
  ["strides", "Strides"],
  ["layout", "Layout"],
  ["objects", "Memory"],
];

export function regionView(main: ReportMain): View {
  return async (route, into) => {
    const given = main.regions[Number(route.item)];
    if (given === undefined) {
      into.append(
        h(
          "p",
          { class: "note" },
          `This profile has no region ${route.item}. `,
          h("a", { href: routeText("regions") }, "All regions"),
        ),
      );
      return;
    }
    into.append(head(main, given));
    if (!hasPart(`region-${given.id}`)) {
      into.append(
        h(
          "p",
          { class: "note" },
          "The details of this region were left out to keep the page small; ",
          h("code", {}, `loopfold explain ${given.id}`),
          " shows them.",
        ),
      );
      return;
    }
    const [row, region] = named(given, await part<RegionDocument>(`region-${given.id}`));
    const layout = layoutSection(
      region,
      main.suggestions.filter((one) => one.region === row.id),
    );
    into.append(
      h(
        "nav",
        { class: "sections", "aria-label": "In this region" },
        SECTIONS.filter(([id]) => id !== "layout" || layout !== null).map(([id, label]) =>
          h(
            "a",
            { href: routeText("region", row.id, { section: id }), onclick: (event: Event) => jump(event, id) },
            label,
          ),
        ),
      ),
      advice(main, row),
      loopsSection(region),
      sourceSection(region),
      orderSection(row, region),
      sliceSection(region),
      stridesSection(region),
      layout ?? "",
      objectsSection(region),
      leftOut(region),
    );
    const section = route.settings.get("section");
    if (section !== undefined) document.getElementById(section)?.scrollIntoView();
  };
}

/** Orders speak of loops without a line as "loop 17 of f": by the name that everything else here calls them by. */
export function renaming(loops: Loop[]): (text: string) => string {
  const names = loops
    .filter((loop) => loop.source === null)
    .flatMap((loop) => loop.nodes.map((node) => [`loop ${node} of ${loop.function}`, loop.where] as const));
  return (text) =>
    text.includes("loop ") ? names.reduce((left, [from, to]) => left.replaceAll(from, to), text) : text;
}

function named(row: RegionRow, region: RegionDocument): [RegionRow, RegionDocument] {
  const rename = renaming(region.loops);
  const { transformed } = region;
  const newRow = {
    ...row,
    why_not: row.why_not.map(rename),
    transformed: row.transformed === null ? null : { ...row.transformed, why: rename(row.transformed.why) },
  };
  if (transformed === null) return [newRow, region];
  const orders = { ast: rename(transformed.ast), ast_before: rename(transformed.ast_before) };
  return [newRow, { ...region, transformed: { ...transformed, ...orders, steps: transformed.steps.map(rename) } }];
}

/** Within the page, without changing the fragment that says where we are. */
function jump(event: Event, id: string): void {
  event.preventDefault();
  const target = document.getElementById(id);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  target?.scrollIntoView({ behavior: still ? "auto" : "smooth" });
  target?.setAttribute("tabindex", "-1");
  target?.focus({ preventScroll: true });
}

function head(main: ReportMain, row: RegionRow): HTMLElement {
  const previous = main.regions[row.id - 1];
  const next = main.regions[row.id + 1];
  return h(
    "div",
    { class: "region-head" },
    h(
      "p",
      { class: "eyebrow" },
      h("a", { href: routeText("regions") }, "Regions"),
      ` / ${row.id}`,
      h(
        "span",
        { class: "pager" },
        previous ? h("a", { href: routeText("region", previous.id) }, "← hotter") : null,
        next ? h("a", { href: routeText("region", next.id) }, "cooler →") : null,
      ),
    ),
    h("h1", {}, row.where, h("span", { class: "dim" }, ` in ${row.function} `), verdictBadge(row.verdict)),
    h(
      "dl",
      { class: "facts" },
      (
        [
          ["of all operations", `${percent(row.ops_percent)} %`],
          ["memory accesses", `${percent(row.mem_percent)} %`],
          ["floating point", `${percent(row.fp_percent)} %`],
          ["folded exactly", `${percent(row.affine_percent)} %`],
          ["loops", String(row.loops)],
          [
            "depth",
            row.depth_source === row.depth_binary
              ? String(row.depth_source)
              : `${row.depth_source} (${row.depth_binary} in the binary)`,
          ],
          ["statements", String(row.vertices)],
          ["dependences", String(row.edges)],
        ] as [string, string][]
      ).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    ),
    h("p", {}, h("a", { href: routeText("flame", "", { node: row.node }) }, "Show in the flame graph")),
  );
}

function advice(main: ReportMain, row: RegionRow): HTMLElement {
  const mine = main.suggestions.filter((one) => one.region === row.id);
  return h(
    "section",
    { class: "advice", id: "advice" },
    h("h2", {}, "What to do"),
    mine.length === 0
      ? h("p", { class: "dim" }, "Nothing that is worth it was found.")
      : h("div", { class: "cards" }, mine.map(suggestion)),
    row.why_not.length === 0
      ? null
      : h(
          "div",
          { class: "why-more" },
          h("h3", {}, mine.length === 0 ? "Why not" : "Why not more"),
          h(
            "ul",
            { class: "why-list" },
            row.why_not.map((one) => h("li", {}, phrases(one))),
          ),
        ),
    row.static_obstacles.length === 0
      ? null
      : h(
          "details",
          { class: "why-more obstacles" },
          h("summary", {}, `What would stop a static compiler (${row.static_obstacles.length})`),
          h(
            "ul",
            { class: "why-list" },
            row.static_obstacles.map((one) => h("li", {}, one)),
          ),
        ),
  );
}

function suggestion(one: Suggestion): HTMLElement {
  return h(
    "div",
    { class: "panel suggestion" },
    h(
      "div",
      { class: "card-top" },
      h("a", { class: "rule", href: routeText("rules", one.rule) }, one.rule),
      h("span", { class: "gain" }, times(one.gain)),
    ),
    h("h3", {}, one.title),
    h("p", { class: "where" }, one.lines),
    doThis(one),
    h(
      "dl",
      { class: "details" },
      h("dt", {}, "legal"),
      h("dd", {}, h("span", { class: `legal ${one.legal}` }, one.legal)),
      one.requires.length > 0
        ? [
            h("dt", {}, "needs"),
            h(
              "dd",
              {},
              one.requires.map((need) => h("div", {}, need.text)),
            ),
          ]
        : null,
      h("dt", {}, "gain"),
      h("dd", {}, readable(one.estimate)),
      one.evidence.length > 0
        ? [
            h("dt", {}, "because"),
            h(
              "dd",
              {},
              one.evidence.map((text) => h("div", {}, readable(text))),
            ),
          ]
        : null,
    ),
  );
}

function leftOut(region: RegionDocument): HTMLElement | string {
  const { statements, accesses, dependences } = region.left_out;
  if (statements + accesses + dependences === 0) return "";
  return h(
    "p",
    { class: "dim" },
    `Left out of this page, those that ran least: ${plural(statements, "statement")}, ` +
      `${accesses} loads and stores, ${plural(dependences, "dependence")}. The profile has all.`,
  );
}
