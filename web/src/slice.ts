// A slice of the iteration domain as a grid of points with arrows, as written and as the new order runs it.
import { h, s, title } from "./dom";
import { plural } from "./format";
import type { RegionDocument, Statement } from "./model";
import { changesOrder, drawable, firstChoice, rangeOf, sliceOf, type Choice, type Slice } from "./slice_model";

const STEP = 28;
const MARGIN = 44;
const MOST_STATEMENTS = 40;

export function sliceSection(region: RegionDocument): HTMLElement {
  const section = h("section", { id: "iterations" }, h("h2", {}, "Iterations and flow"));
  const statements = drawable(region).slice(0, MOST_STATEMENTS);
  if (statements.length === 0) {
    section.append(h("p", { class: "dim" }, "No statement of this region has a domain that can be drawn."));
    return section;
  }
  let choice = firstChoice(region, preferred(region, statements));
  const drawing = h("div", { class: "slices" });
  const controls = h("div", { class: "toolbar slice-controls" });
  const draw = () => {
    const slice = sliceOf(region, choice);
    drawing.replaceChildren(...panels(region, choice, slice));
    controls.replaceChildren(...controlsFor(region, statements, choice, (next) => ((choice = next), draw())));
  };
  draw();
  section.append(
    h(
      "p",
      { class: "dim" },
      "Each point is one iteration of a statement; arrows go from the iteration that produces a value to the one that uses " +
        "it. Points run row by row, from the bottom up, each row from left to right, and arrows " +
        "lead forward in that order. Where none leads to the left, both loops may be tiled. " +
        "Counters and addresses in registers are left out.",
    ),
    controls,
    drawing,
  );
  return section;
}

const TRIED = 12;

/** The first with arrows to be seen, of those with most operations in the new order. */
function preferred(region: RegionDocument, statements: Statement[]): Statement {
  const scheduled = region.transformed?.schedule ?? "";
  const score = (one: Statement) => {
    const own = region.dependences.some((d) => d.from === one.id && d.to === one.id && d.kind === "memory");
    return (scheduled.includes(`S${one.id}[`) ? 2 : 0) + (own ? 1 : 0) + (one.loops.length > 1 ? 4 : 0);
  };
  const ranked = statements.slice().sort((a, b) => score(b) - score(a) || b.ops - a.ops);
  const flows = (one: Statement) => sliceOf(region, firstChoice(region, one)).arrows.length > 0;
  return ranked.slice(0, TRIED).find(flows) ?? ranked[0]!;
}

function loopName(region: RegionDocument, node: number | null): string {
  if (node === null) return "thread";
  return region.loops.find((loop) => loop.nodes.includes(node))?.where ?? `loop ${node}`;
}

function statementName(region: RegionDocument, statement: Statement): string {
  const byFile = new Map<number, number[]>();
  for (const [file, line] of statement.source) byFile.set(file, [...(byFile.get(file) ?? []), line]);
  const lines = [...byFile].map(
    ([file, list]) =>
      `${region.files[file]?.name ?? "?"}:${[...new Set(list)]
        .sort((a, b) => a - b)
        .slice(0, 4)
        .join(",")}`,
  );
  return `S${statement.id}  ${lines.slice(0, 2).join("; ") || "no line"}`;
}

function controlsFor(
  region: RegionDocument,
  statements: Statement[],
  choice: Choice,
  change: (choice: Choice) => void,
): HTMLElement[] {
  const { statement } = choice;
  const controls: HTMLElement[] = [];
  const pick = h(
    "select",
    { "aria-label": "Statement", onchange: () => change(firstChoice(region, statements[Number(pick.value)]!)) },
    statements.map((one, at) => h("option", { value: at, selected: one === statement }, statementName(region, one))),
  );
  controls.push(h("label", {}, "statement ", pick));
  if (statement.loops.length > 2) {
    const axis = (label: string, key: "x" | "y") => {
      const other = key === "x" ? "y" : "x";
      const list = h(
        "select",
        {
          "aria-label": label,
          onchange: () => {
            const value = Number(list.value);
            change({ ...choice, [key]: value, [other]: choice[other] === value ? choice[key] : choice[other] });
          },
        },
        statement.loops.map((node, at) =>
          h("option", { value: at, selected: at === choice[key] }, loopName(region, node)),
        ),
      );
      return h("label", {}, `${label} `, list);
    };
    controls.push(axis("across", "x"), axis("up", "y"));
    statement.loops.forEach((node, at) => {
      if (at === choice.x || at === choice.y) return;
      const [low, high] = rangeOf(statement, at);
      const input = h("input", {
        type: "number",
        min: Number.isFinite(low) ? low : null,
        max: Number.isFinite(high) ? high : null,
        value: choice.fixed[at]!,
        onchange: () =>
          change({ ...choice, fixed: choice.fixed.map((value, i) => (i === at ? Number(input.value) : value)) }),
      });
      controls.push(h("label", {}, `${loopName(region, node)} = `, input));
    });
  }
  return controls;
}

function panels(region: RegionDocument, choice: Choice, slice: Slice): HTMLElement[] {
  const { statement } = choice;
  if (slice.points.length === 0) return [h("p", { class: "dim" }, "No iteration lies in this slice.")];
  const x = loopName(region, statement.loops[choice.x]!);
  const y = choice.y < 0 ? "" : loopName(region, statement.loops[choice.y]!);
  const notes = [
    slice.truncated ? "the first iterations of each loop" : "",
    slice.leaving > 0 ? `${plural(slice.leaving, "arrow")} from outside not drawn` : "",
    slice.notDrawn > 0 ? `${plural(slice.notDrawn, "dependence")} not affine, not drawn` : "",
    slice.arrows.length === 0 ? "no flow between the iterations of this slice" : "",
  ].filter((one) => one !== "");
  const list = [panel("as written", grid(slice, slice.before, x, y))];
  if (slice.after !== null) {
    const same = !changesOrder(slice);
    const [rx, ry] = slice.afterRows!;
    list.push(
      panel(
        same ? "in the order found: the same" : "in the order found",
        grid(slice, slice.after, rowName(region, statement, rx), ry < 0 ? "" : rowName(region, statement, ry)),
      ),
    );
  }
  list.push(h("p", { class: "dim slice-notes" }, notes.join(" · ")));
  return list;
}

/** A row of the schedule in the words of the loops: "relaxation.c:14 + relaxation.c:12". */
function rowName(region: RegionDocument, statement: Statement, row: number): string {
  for (const band of region.transformed?.bands ?? []) {
    if (!band.statements.includes(statement.id)) continue;
    const member = band.members[row - band.first];
    if (member === undefined || member.terms.length === 0) continue;
    return member.terms
      .map(([node, factor]) => `${factor === 1 ? "" : `${factor}·`}${loopName(region, node)}`)
      .join(" + ");
  }
  return `row ${row} of the order`;
}

function panel(name: string, drawing: SVGSVGElement): HTMLElement {
  return h("div", { class: "panel slice" }, h("h3", {}, name), drawing);
}

function grid(slice: Slice, places: [number, number][], xLabel: string, yLabel: string): SVGSVGElement {
  const xs = places.map(([x]) => x);
  const ys = places.map(([, y]) => y);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const step = Math.max(14, Math.min(STEP, 520 / Math.max(1, right - left)));
  const width = (right - left) * step + 2 * MARGIN;
  const height = (high - low) * step + MARGIN + 34;
  const at = ([x, y]: [number, number]): [number, number] => [
    MARGIN + (x - left) * step,
    height - MARGIN - (y - low) * step,
  ];
  const drawing = s("svg", {
    class: "grid",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": `${slice.points.length} iterations, ${slice.arrows.length} arrows`,
  });
  drawing.append(axes(width, height, xLabel, yLabel, [left, right, low, high], at));
  for (const arrow of slice.arrows)
    drawing.append(
      arrowShape(
        at(places[arrow.from]!),
        at(places[arrow.to]!),
        `${arrow.kind}${arrow.blocking ? " blocking" : ""}`,
        `${arrow.kind}, distance ${arrow.label}`,
      ),
    );
  slice.points.forEach((point, i) => {
    const [x, y] = at(places[i]!);
    drawing.append(s("circle", { class: "point", cx: x, cy: y, r: 4 }, title(`iteration (${point.join(", ")})`)));
  });
  return drawing;
}

function axes(
  width: number,
  height: number,
  xLabel: string,
  yLabel: string,
  [left, right, low, high]: [number, number, number, number],
  at: (point: [number, number]) => [number, number],
): SVGGElement {
  const group = s("g", { class: "axes" });
  const bottom = height - MARGIN + 16;
  const number = (x: number, y: number, value: number, anchor: string) =>
    s("text", { x, y, "text-anchor": anchor, class: "tick" }, String(value));
  group.append(number(at([left, low])[0], bottom, left, "middle"));
  if (right > left) group.append(number(at([right, low])[0], bottom, right, "middle"));
  group.append(s("text", { x: width / 2, y: height - 8, "text-anchor": "middle", class: "axis" }, `${xLabel} →`));
  if (yLabel === "") return group;
  group.append(number(MARGIN - 14, at([left, low])[1] + 4, low, "end"));
  if (high > low) group.append(number(MARGIN - 14, at([left, high])[1] + 4, high, "end"));
  group.append(s("text", { x: 6, y: 14, "text-anchor": "start", class: "axis" }, `↑ ${yLabel}`));
  return group;
}

/** From point to point, not over them; bent if a straight one would lie on the points between. */
function arrowShape([x1, y1]: [number, number], [x2, y2]: [number, number], kind: string, words: string): SVGGElement {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const bend = length > 1.9 * STEP ? Math.min(16, length / 6) : 0;
  const [mx, my] = [(x1 + x2) / 2 - dy * bend, (y1 + y2) / 2 + dx * bend];
  const aim = Math.hypot(x2 - mx, y2 - my) || 1;
  const [ax, ay] = [(x2 - mx) / aim, (y2 - my) / aim];
  const [sx, sy, ex, ey] = [x1 + dx * 5, y1 + dy * 5, x2 - ax * 6, y2 - ay * 6];
  const [bx, by] = [ex - 6 * ax, ey - 6 * ay];
  const head = `M ${ex} ${ey} L ${bx + 3 * ay} ${by - 3 * ax} L ${bx - 3 * ay} ${by + 3 * ax} z`;
  return s(
    "g",
    { class: `dependence ${kind}` },
    title(words),
    s("path", { class: "stroke", d: `M ${sx} ${sy} Q ${mx} ${my} ${ex - 3 * ax} ${ey - 3 * ay}` }),
    s("path", { class: "tip", d: head }),
  );
}
