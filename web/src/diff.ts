// Two runs side by side: what changed, loop by loop, and a flame graph of both.
import { h } from "./dom";
import { percent, plural, short, times } from "./format";
import { changeText, headline, type DiffMain, type LoopPair, type LoopSide, type SuggestionChange } from "./diff_model";
import { flameView } from "./flame";
import { filtered, SortedTable, type Column } from "./table";
import { SHARE_WORDS, verdictBadge } from "./verdict";
import type { View } from "./main";

export function diffViews(main: DiffMain) {
  return [
    { view: "overview", label: "Changes", key: "1", draw: changesView(main) },
    { view: "flame", label: "Flame graph", key: "2", draw: flameView(main) },
  ];
}

function changesView(main: DiffMain): View {
  return (_route, into) => {
    into.append(
      h(
        "div",
        { class: "hero" },
        h("p", { class: "eyebrow" }, "Before and after"),
        h("h1", {}, headline(main)),
        totals(main),
      ),
      nests(main) ?? "",
      loops(main),
      h(
        "div",
        { class: "columns" },
        suggestions("No longer suggested", main.gone),
        suggestions("Suggested now", main.fresh),
      ),
    );
  };
}

const FIRST_NESTS = 6;

/** The story of each nest that changed, before the table of its loops. */
function nests(main: DiffMain): HTMLElement | null {
  if (main.nests.length === 0) return null;
  return h(
    "section",
    { class: "stories" },
    h("h2", {}, "What happened"),
    h(
      "div",
      { class: "cards" },
      main.nests
        .slice(0, FIRST_NESTS)
        .map((nest) =>
          h(
            "div",
            { class: "panel story" },
            h("h3", {}, nest.function),
            h("p", { class: "where" }, nest.before === nest.after ? nest.before : `${nest.before} → ${nest.after}`),
            h(
              "ul",
              {},
              nest.sentences.map((text) => h("li", {}, text)),
            ),
          ),
        ),
    ),
  );
}

function totals(main: DiffMain): HTMLElement {
  const bar = (which: "a" | "b") =>
    h(
      "div",
      { class: "sharebar" },
      SHARE_WORDS.filter(([key]) => main[which].shares[key] > 0).map(([key, label]) => {
        const piece = h("span", { class: `fill ${key}`, title: `${label}: ${percent(main[which].shares[key])} %` });
        piece.style.flexGrow = String(main[which].shares[key]);
        return piece;
      }),
    );
  const row = (which: "a" | "b", name: string) =>
    h(
      "tr",
      {},
      h("th", {}, name),
      h("td", {}, h("code", {}, main[which].program.command)),
      h("td", { class: "number" }, short(main[which].program.instructions)),
      h("td", { class: "barcell" }, bar(which)),
    );
  return h(
    "div",
    {},
    h("table", { class: "runs" }, row("a", "before"), row("b", "after")),
    h(
      "div",
      { class: "flame-legend" },
      SHARE_WORDS.map(([key, label]) =>
        h("span", { class: "legend-item" }, h("span", { class: `swatch ${key}` }), label),
      ),
    ),
  );
}

const side = (pair: LoopPair): LoopSide => (pair.after ?? pair.before)!;
const most = (pair: LoopPair): number => Math.max(pair.before?.ops ?? 0, pair.after?.ops ?? 0);

function both(pair: LoopPair, cell: (one: LoopSide) => Node | string, text: (one: LoopSide) => string): Node {
  const before = pair.before === null ? null : text(pair.before);
  const after = pair.after === null ? null : text(pair.after);
  if (before === after) return h("span", { class: "dim" }, cell(pair.before!));
  return h(
    "span",
    { class: "change" },
    pair.before === null ? h("span", { class: "dim" }, "–") : cell(pair.before),
    h("span", { class: "dim to" }, " → "),
    pair.after === null ? h("span", { class: "dim" }, "–") : cell(pair.after),
  );
}

const COLUMNS: Column<LoopPair>[] = [
  {
    key: "loop",
    label: "loop",
    class: "place",
    value: (pair) => `${pair.before?.where ?? ""} ${pair.after?.where ?? ""} ${side(pair).function}`,
    cell: (pair) => {
      const same = pair.before === null || pair.after === null || pair.before.where === pair.after.where;
      return h(
        "span",
        {},
        h("code", {}, same ? side(pair).where : `${pair.before!.where} → ${pair.after!.where}`),
        h("br"),
        h("span", { class: "dim" }, side(pair).function),
      );
    },
  },
  {
    key: "ops",
    label: "operations",
    number: true,
    value: most,
    cell: (pair) =>
      both(
        pair,
        (one) => short(one.ops),
        (one) => String(one.ops),
      ),
  },
  {
    key: "change",
    label: "change",
    number: true,
    value: (pair) => (pair.after?.ops ?? 0) - (pair.before?.ops ?? 0),
    cell: (pair) => changeText(pair.before?.ops ?? 0, pair.after?.ops ?? 0),
  },
  {
    key: "verdict",
    label: "verdict",
    value: (pair) => `${pair.before?.verdict ?? ""} ${pair.after?.verdict ?? ""}`,
    cell: (pair) =>
      both(
        pair,
        (one) => verdictBadge(one.verdict),
        (one) => one.verdict,
      ),
  },
  {
    key: "trips",
    label: "trips",
    number: true,
    value: (pair) => side(pair).trips,
    cell: (pair) =>
      both(
        pair,
        (one) => one.trips,
        (one) => one.trips,
      ),
  },
  {
    key: "near",
    label: "near accesses",
    number: true,
    value: (pair) => (pair.after?.near ?? 0) - (pair.before?.near ?? 0),
    cell: (pair) =>
      both(
        pair,
        (one) => `${Math.round(one.near)} %`,
        (one) => String(Math.round(one.near)),
      ),
  },
  {
    key: "what",
    label: "what changed",
    class: "why",
    value: (pair) => pair.changes.join("; "),
    cell: (pair) =>
      h(
        "div",
        {},
        h(
          "ul",
          { class: "why-list" },
          pair.changes.filter((text) => /^(changed places|strides|only)/.test(text)).map((text) => h("li", {}, text)),
        ),
        strides(pair),
      ),
  },
];

/** The accesses behind a change of strides, on demand. */
function strides(pair: LoopPair): HTMLElement | null {
  if (pair.before === null || pair.after === null || !pair.changes.some((text) => text.startsWith("strides")))
    return null;
  const list = (name: string, texts: string[]) =>
    h(
      "div",
      {},
      h("strong", {}, name),
      h(
        "ul",
        {},
        texts.map((text) => h("li", {}, text)),
      ),
    );
  return h(
    "details",
    {},
    h("summary", {}, "accesses"),
    list("before", pair.before.strides),
    list("after", pair.after.strides),
  );
}

function loops(main: DiffMain): HTMLElement {
  const field = h("input", {
    type: "search",
    placeholder: "Filter by any text",
    "aria-label": "Filter",
    spellcheck: "false",
  });
  const all = h("input", { type: "checkbox" });
  const status = h("span", { class: "dim" });
  const place = h("div", { class: "table-scroll" });
  let order = { key: "ops", down: true };
  const changed = main.loops.filter((pair) => pair.changes.length > 0);
  all.checked = changed.length === 0;
  const draw = () => {
    const table = new SortedTable<LoopPair>(COLUMNS, { order, onorder: (next) => ((order = next), draw()) });
    const shown = table.show(filtered(all.checked ? main.loops : changed, COLUMNS, field.value));
    place.replaceChildren(table.element);
    status.textContent = plural(shown.length, "loop");
  };
  field.addEventListener("input", draw);
  all.addEventListener("change", draw);
  draw();
  return h(
    "section",
    { class: "diff-loops" },
    h("h2", {}, "Loops"),
    h(
      "p",
      { class: "dim" },
      "Paired by function, source line and the shape of their nests: where the source changed, a guess. " +
        "Near accesses stay or move by their own size from one iteration to the next.",
    ),
    h(
      "div",
      { class: "toolbar" },
      field,
      status,
      h("span", { class: "spacer" }),
      h("label", { class: "check" }, all, ` also the ${main.loops.length - changed.length} that did not change`),
    ),
    place,
  );
}

function suggestions(name: string, list: SuggestionChange[]): HTMLElement {
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, name),
    list.length === 0
      ? h("p", { class: "dim" }, "Nothing.")
      : h(
          "ul",
          { class: "plain-list" },
          list.map((one) =>
            h(
              "li",
              {},
              h("span", { class: "rule" }, one.rule),
              ` ${one.title} `,
              h("span", { class: "dim" }, `${times(one.gain)}, in ${one.function}`),
            ),
          ),
        ),
  );
}
