// All regions: what can be done to each, and the numbers of POLY-PROF's Table 5.
import { h } from "./dom";
import { percent, plural } from "./format";
import type { RegionRow, ReportMain } from "./model";
import { keep, routeText } from "./route";
import { copy, csv, filtered, parseOrder, SortedTable, type Column, type Order } from "./table";
import { verdictBadge } from "./verdict";
import type { View } from "./main";

type Set = "advice" | "table5";

const round = (value: number): number => Math.round(value * 100) / 100;
const yes = (is: boolean): string => (is ? "Y" : "N");

function share(key: string, label: string, title: string, value: (row: RegionRow) => number | null): Column<RegionRow> {
  return {
    key,
    label,
    title,
    number: true,
    value: (row) => {
      const one = value(row);
      return one === null ? null : round(one);
    },
    cell: (row) => {
      const one = value(row);
      return one === null ? "–" : percent(one);
    },
  };
}

function count(key: string, label: string, title: string, value: (row: RegionRow) => number | null): Column<RegionRow> {
  return { key, label, title, number: true, value };
}

const WHERE: Column<RegionRow> = {
  key: "where",
  label: "region",
  title: "Where its outermost loop is",
  class: "place",
  value: (row) => row.where,
  cell: (row) =>
    h(
      "span",
      {},
      h("a", { href: routeText("region", row.id) }, row.where),
      h("br"),
      h("span", { class: "dim" }, row.function),
    ),
};

const OPS = share("ops", "%ops", "Operations of the program in the region", (row) => row.ops_percent);

const WHY: Column<RegionRow> = {
  key: "why",
  label: "why not",
  title: "For what is not a yes: what stands in the way",
  class: "why",
  value: (row) => row.why_not.join("; "),
  cell: (row) =>
    h(
      "ul",
      { class: "why-list" },
      row.why_not.map((one) => h("li", {}, one)),
    ),
};

function answer(key: keyof RegionRow & string, label: string, title: string): Column<RegionRow> {
  return {
    key,
    label,
    title,
    value: (row) => String(row[key]),
    cell: (row) =>
      h("span", { class: `answer ${/^(yes|[2-9]|1[^D])/.test(String(row[key])) ? "is-yes" : ""}` }, String(row[key])),
  };
}

const ADVICE: Column<RegionRow>[] = [
  count("id", "#", "The region's number", (row) => row.id),
  WHERE,
  OPS,
  {
    key: "verdict",
    label: "as written",
    title: "Verdict of the outermost loop",
    value: (row) => row.verdict,
    cell: (row) => verdictBadge(row.verdict),
  },
  answer("parallel", "parallel", "In the best order found: all operations in parallel loops, or the share that is"),
  answer("simd", "SIMD", "The same for parallel innermost loops"),
  answer("interchange", "interchange", "Lines of the loops to change places"),
  answer("tile", "tile", "How many loops can be tiled together"),
  answer("skew", "skew", "Loops have to be skewed for that"),
  answer("fuse", "fuse", "Outermost loops before and after"),
  WHY,
];

const of = <Result>(
  row: RegionRow,
  value: (transformed: NonNullable<RegionRow["transformed"]>) => Result,
): Result | null => (row.transformed === null || row.transformed.status === "gave up" ? null : value(row.transformed));

/** "R: calls malloc at kernel.h:28" begins with the letter that POLY-PROF's table has. */
const obstacleLetters = (row: RegionRow): string =>
  [...new Set(row.static_obstacles.map((one) => one.charAt(0)))].join("");

const TABLE5: Column<RegionRow>[] = [
  WHERE,
  count("vertices", "#V", "Statements after folding", (row) => row.vertices),
  count("edges", "#E", "Dependences between them after folding", (row) => row.edges),
  share("affine", "%Aff", "Operations in statements of which everything is known exactly", (row) => row.affine_percent),
  OPS,
  share("mem", "%Mops", "Of the region: memory accesses", (row) => row.mem_percent),
  share("fp", "%FPops", "Of the region: floating point", (row) => row.fp_percent),
  {
    key: "interproc",
    label: "interproc.",
    title: "The region calls functions",
    value: (row) => yes(row.interprocedural),
  },
  {
    key: "static",
    label: "static",
    title: "What would stop a static compiler: R calls, C control, B bounds, F accesses, A aliases, P base pointers",
    value: (row) => obstacleLetters(row) || null,
    cell: (row) => h("span", { title: row.static_obstacles.join("\n") }, obstacleLetters(row) || "–"),
  },
  { key: "skew", label: "skew", title: "The schedule skews loops", value: (row) => of(row, (t) => yes(t.skew)) },
  share("par", "%||ops", "Operations in parallel loops", (row) => of(row, (t) => t.parallel_ops_percent)),
  share("simd", "%simdops", "Operations in parallel innermost loops", (row) => of(row, (t) => t.simd_ops_percent)),
  share("reuse", "%reuse", "Accesses of stride 0 or 1 in the innermost loops", (row) =>
    of(row, (t) => t.reuse_percent),
  ),
  share("preuse", "%Preuse", "The same in the best order", (row) => of(row, (t) => t.potential_reuse_percent)),
  count("ldsrc", "ld-src", "Depth of the loops in the source", (row) => row.depth_source),
  count("ldbin", "ld-bin", "Depth of the loops in the binary", (row) => row.depth_binary),
  count("tiled", "TileD", "How many loops can be tiled together", (row) => of(row, (t) => t.tile_depth)),
  share("tilops", "%Tilops", "Operations in them", (row) => of(row, (t) => t.tilable_ops_percent)),
  count("c", "C", "Outermost loops before", (row) => of(row, (t) => t.components_before)),
  count("comp", "Comp.", "Outermost loops after", (row) => of(row, (t) => t.components_after)),
  {
    key: "fusion",
    label: "fusion",
    title: "M maximal, S smart, N none",
    value: (row) => of(row, (t) => ({ max: "M", smart: "S", none: "N" })[t.fusion]),
  },
];

export function regionsView(main: ReportMain): View {
  return (route, into) => {
    let set: Set = route.settings.get("columns") === "table5" ? "table5" : "advice";
    let order: Order = parseOrder(route.settings.get("sort")) ?? { key: "ops", down: true };
    let shown: RegionRow[] = [];
    const field = h("input", {
      type: "search",
      placeholder: "Filter by any text",
      "aria-label": "Filter",
      spellcheck: "false",
    });
    field.value = route.settings.get("filter") ?? "";
    const status = h("span", { class: "dim", "aria-live": "polite" });
    const place = h("div", { class: "table-scroll" });
    const columns = () => (set === "table5" ? TABLE5 : ADVICE);
    const draw = () => {
      const table = new SortedTable<RegionRow>(columns(), {
        order,
        onorder: (next) => ((order = next), draw()),
        open: (row) => (location.hash = routeText("region", row.id)),
        below: (row) =>
          set === "table5" && row.why_not.length > 0 ? h("span", {}, `why not: ${row.why_not.join("; ")}`) : null,
      });
      table.element.classList.add(set);
      const focused = (document.activeElement as HTMLElement | null)?.dataset.key;
      shown = table.show(filtered(main.regions, [...columns(), WHY], field.value));
      place.replaceChildren(table.element);
      if (focused !== undefined) table.element.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus();
      status.textContent =
        field.value === ""
          ? plural(shown.length, "region")
          : `${shown.length} of ${plural(main.regions.length, "region")}`;
      keep("regions", "", {
        columns: set === "advice" ? null : set,
        sort: `${order.down ? "-" : ""}${order.key}`,
        filter: field.value,
      });
    };
    field.addEventListener("input", draw);
    const choice = h(
      "select",
      { "aria-label": "Columns", onchange: () => ((set = choice.value as Set), draw()) },
      h("option", { value: "advice", selected: set === "advice" }, "what can be done"),
      h("option", { value: "table5", selected: set === "table5" }, "POLY-PROF's Table 5"),
    );
    const copyButton = h(
      "button",
      {
        class: "copy-csv",
        onclick: () => void copy(csv(shown, set === "table5" ? [...TABLE5, WHY] : ADVICE), copyButton),
      },
      "Copy as CSV",
    );
    into.append(
      h("h1", {}, "Regions"),
      h(
        "p",
        { class: "dim" },
        `A region is an outermost loop with all that runs inside it, called functions included; ` +
          `those with at least ${main.regions_min_percent} % of the operations are here. ` +
          `An asterisk: iterations need memory of their own, or it is not decided whether they do.`,
      ),
      h("div", { class: "toolbar" }, field, status, h("span", { class: "spacer" }), choice, copyButton),
      main.regions.length === 0 ? h("p", {}, "There are none in this profile.") : place,
    );
    draw();
  };
}
