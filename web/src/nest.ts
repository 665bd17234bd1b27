// The loops of a region as nested boxes, and the nest as written beside the one that was found.
import { parseAst, tagsOf, type AstLine } from "./ast";
import { h, phrases } from "./dom";
import { percent } from "./format";
import type { Loop, RegionDocument, RegionRow } from "./model";
import { verdictBadge, verdictClass } from "./verdict";

const FIRST_REASONS = 4;
const MANY_LOOPS = 16; // with more, those with few operations are shown on demand
const FEW_PERCENT = 1;

export function loopsSection(region: RegionDocument): HTMLElement {
  const after = parseAst(region.transformed?.ast ?? "");
  const draw = (loops: Loop[]) => nested(loops, (loop) => box(region, loop, after));
  const hot =
    region.loops.length <= MANY_LOOPS
      ? region.loops
      : region.loops.filter((loop) => loop.depth === 0 || loop.ops_percent >= FEW_PERCENT);
  const section = h("section", { id: "loops" }, h("h2", {}, "Loops"), draw(hot));
  const rest = region.loops.length - hot.length;
  if (rest > 0) {
    const more = h(
      "button",
      {
        class: "more-loops",
        onclick: () => (section.querySelector(".nest")!.replaceWith(draw(region.loops)), more.remove()),
      },
      `Show ${rest} more with less than ${FEW_PERCENT} % of the operations each`,
    );
    section.append(more);
  }
  return section;
}

/** Boxes in boxes: loops come in the order of the tree, with their depth. */
function nested(loops: Loop[], draw: (loop: Loop) => HTMLElement): HTMLElement {
  const root = h("div", { class: "nest" });
  const path: HTMLElement[] = [root];
  for (const loop of loops) {
    const level = Math.min(loop.depth, path.length - 1);
    path.length = level + 1;
    const element = draw(loop);
    path[level]!.append(element);
    path.push(element);
  }
  return root;
}

function box(region: RegionDocument, loop: Loop, after: AstLine[]): HTMLElement {
  const tags = tagsOf(after, loop.where);
  const badges: HTMLElement[] = [verdictBadge(loop.verdict)];
  const member = region.transformed?.bands
    .flatMap((band) => band.members.map((one) => ({ one, size: band.members.length })))
    .find(({ one }) => one.terms[0] !== undefined && loop.nodes.includes(one.terms[0][0]));
  if (member && (member.one.parallel === "yes" || member.one.parallel === "reduction") && loop.parallel === "no")
    badges.push(h("span", { class: "badge transformed", title: "In the order that was found" }, "parallel after"));
  if (member && member.size > 1)
    badges.push(
      h(
        "span",
        { class: "badge tile", title: "May change places and be tiled with the other loops of its band" },
        `tilable, ${member.size}D`,
      ),
    );
  if (tags.includes("vector"))
    badges.push(
      h(
        "span",
        { class: "badge vector", title: "Innermost in the order that was found, and its iterations are free" },
        "vector",
      ),
    );
  const stays = Math.round(loop.stride01_percent);
  const reasons = loop.reasons.slice(0, FIRST_REASONS).map((one) => h("li", {}, one));
  const rest = loop.reasons.slice(FIRST_REASONS);
  return h(
    "div",
    { class: `loop ${verdictClass(loop.verdict)}`, "data-node": loop.node },
    h(
      "div",
      { class: "loop-head" },
      h("code", { class: "loop-name" }, h("span", { class: "dim" }, "for "), loop.where),
      h("span", { class: "loop-trips", title: "Iterations each time it is entered" }, `${loop.trips} trips`),
      h("span", { class: "loop-ops", title: "Of the program's operations" }, `${percent(loop.ops_percent)} %`),
      badges,
      h(
        "span",
        {
          class: `near ${stays >= 90 ? "good" : stays >= 60 ? "fair" : "poor"}`,
          title: "Accesses whose address stays or moves by their own size from one iteration to the next",
        },
        `${stays} % near`,
      ),
      h("span", { class: "dim loop-function" }, loop.function),
    ),
    reasons.length === 0
      ? null
      : h(
          "ul",
          { class: "reasons" },
          reasons,
          rest.length === 0
            ? null
            : h(
                "li",
                {},
                h(
                  "details",
                  {},
                  h("summary", {}, `${rest.length} more`),
                  h(
                    "ul",
                    {},
                    rest.map((one) => h("li", {}, one)),
                  ),
                ),
              ),
        ),
  );
}

export function orderSection(row: RegionRow, region: RegionDocument): HTMLElement {
  const { transformed } = region;
  const section = h("section", { id: "order" }, h("h2", {}, "Order as written and as found"));
  if (transformed === null || row.transformed === null) {
    section.append(h("p", { class: "dim" }, "No other order was looked for."));
    return section;
  }
  const { status } = row.transformed;
  if (status === "gave up") {
    const why = row.transformed.why || "the search was given up";
    section.append(h("div", { class: "why-same" }, phrases(`No order was found: ${why}`)));
    if (transformed.ast_before === "") return section;
  }
  const same = status === "original" || transformed.ast === transformed.ast_before;
  if (same && row.transformed.why !== "")
    section.append(h("div", { class: "dim why-same" }, phrases(row.transformed.why)));
  section.append(
    h(
      "div",
      { class: `before-after${same ? " same" : ""}` },
      h("div", { class: "panel ast" }, h("h3", {}, "as written"), tree(transformed.ast_before)),
      h(
        "div",
        { class: "steps" },
        h("h3", {}, same ? "nothing better found" : "steps"),
        h(
          "ol",
          {},
          transformed.steps.map((step) => h("li", {}, step)),
        ),
        h("span", { class: "arrow", "aria-hidden": "true" }, same ? "=" : "→"),
      ),
      h("div", { class: "panel ast" }, h("h3", {}, same ? "stays" : "as found"), tree(transformed.ast)),
    ),
    measures(row),
  );
  return section;
}

function tree(text: string): HTMLElement {
  return h(
    "div",
    { class: "ast-tree" },
    parseAst(text).map((line) => {
      const element =
        line.loop === ""
          ? h("div", { class: "ast-statement" }, line.statements)
          : h(
              "div",
              { class: "ast-loop" },
              h("code", {}, h("span", { class: "dim" }, "for "), line.loop),
              line.trips === "" ? null : h("span", { class: "dim" }, ` ${line.trips}`),
              line.tags.map((tag) => h("span", { class: `badge ${tagClass(tag)}` }, tag)),
            );
      element.style.paddingLeft = `${line.level * 1.5}em`;
      return element;
    }),
  );
}

function tagClass(tag: string): string {
  if (tag.startsWith("tile")) return "tile";
  return tag === "parallel" ? "parallel" : tag === "reduction" ? "reduction" : tag === "vector" ? "vector" : "unknown";
}

function measures(row: RegionRow): HTMLElement {
  const t = row.transformed!;
  const facts: [string, string][] = [
    ["in parallel loops", `${percent(t.parallel_ops_percent)} %`],
    ["in parallel innermost loops", `${percent(t.simd_ops_percent)} %`],
    ["tilable", t.tile_depth > 1 ? `${t.tile_depth}D, ${percent(t.tilable_ops_percent)} %` : "no"],
    ["near accesses", `${percent(t.reuse_percent)} % → ${percent(t.potential_reuse_percent)} %`],
    [
      "outermost loops",
      t.components_before === t.components_after
        ? String(t.components_after)
        : `${t.components_before} → ${t.components_after}`,
    ],
  ];
  return h(
    "dl",
    { class: "facts small" },
    facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}
