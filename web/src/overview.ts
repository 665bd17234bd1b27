// The first view: what to do next, how much of the run could run in parallel, suggestions, quality.
import { actionOf } from "./action";
import { h } from "./dom";
import { grouped, percent, plural, readable, short, times } from "./format";
import type { ReportMain, Suggestion } from "./model";
import { routeText } from "./route";
import { SHARE_WORDS, verdictBadge } from "./verdict";
import type { View } from "./main";

const FIRST_CARDS = 9;

export function overviewView(main: ReportMain): View {
  return (_route, into) => {
    into.append(
      h("section", { class: "lead" }, headline(main), sharesBlock(main)),
      ran(main),
      suggestions(main) ?? "",
      h("div", { class: "columns" }, hotRegions(main), quality(main)),
    );
  };
}

/** The one thing to read first. */
function headline(main: ReportMain): HTMLElement {
  const best = main.suggestions[0];
  if (best === undefined) {
    return h(
      "div",
      { class: "hero" },
      h("p", { class: "eyebrow" }, "Result"),
      h("h1", {}, nothingToDo(main)),
      h("p", { class: "dim" }, whyNothing(main)),
      hottest(main) ?? "",
    );
  }
  return h(
    "div",
    { class: "hero" },
    h("p", { class: "eyebrow" }, "Start here"),
    h("h1", {}, best.title),
    h(
      "p",
      { class: "hero-gain" },
      h("strong", {}, times(best.gain)),
      h(
        "span",
        {},
        "the speed of the whole program, estimated",
        h("br"),
        h("span", { class: "dim" }, readable(best.estimate)),
      ),
    ),
    doThis(best),
    needs(best),
    h(
      "p",
      {},
      h(
        "a",
        { class: "button", href: routeText("region", best.region) },
        "See the loops, the reasons and the new order",
      ),
    ),
  );
}

function nothingToDo(main: ReportMain): string {
  if (!main.judged) return "The loops of this run have not been judged.";
  if (main.regions.length === 0) return "No loop of this run is hot enough to look at.";
  return "No change to the loops of this run is worth suggesting.";
}

function whyNothing(main: ReportMain): string {
  if (!main.judged) return "The profile has a loop tree but no verdicts; run loopfold analyze.";
  if (main.regions.length === 0)
    return (
      `Loops with less than ${main.regions_min_percent} % of the operations are not judged; ` +
      `loopfold analyze --min-percent 0 judges all.`
    );
  return (
    "Either the hot loops do it already, or what stands in the way cannot be removed by reordering them. " +
    "The regions say why."
  );
}

/** Where the time goes, and what stands in the way there. */
function hottest(main: ReportMain): HTMLElement | null {
  const region = main.regions[0];
  if (region === undefined) return null;
  return h(
    "div",
    {},
    h(
      "p",
      {},
      `${percent(region.ops_percent)} % of the operations are in `,
      h("strong", {}, region.where),
      ` (${region.function}).`,
    ),
    region.transformed !== null && region.why_not.length > 0
      ? h(
          "ul",
          { class: "needs" },
          region.why_not.slice(0, 2).map((why) => h("li", {}, why)),
        )
      : null,
    h("p", {}, h("a", { class: "button", href: routeText("region", region.id) }, "See its loops and the reasons")),
  );
}

/** What to write, and where. */
export function doThis(suggestion: Suggestion): HTMLElement | null {
  const { code, above, text } = actionOf(suggestion);
  if (code === "") return text === "" ? null : h("p", { class: "do" }, text);
  return h(
    "p",
    { class: "do" },
    h("code", {}, code),
    above ? h("span", { class: "dim" }, ` above ${suggestion.lines}`) : null,
  );
}

function needs(suggestion: Suggestion): HTMLElement | null {
  if (suggestion.requires.length === 0) return null;
  return h(
    "ul",
    { class: "needs" },
    suggestion.requires.map((one) => h("li", { class: one.kind === "unknown" ? "open" : "" }, one.text)),
  );
}

function sharesBlock(main: ReportMain): HTMLElement {
  const values = SHARE_WORDS.map(([key, label, what]) => ({ key, label, what, value: main.shares[key] }));
  const bar = h(
    "div",
    {
      class: "sharebar",
      role: "img",
      "aria-label": values.map((one) => `${one.label} ${percent(one.value)} %`).join(", "),
    },
    values
      .filter((one) => one.value > 0)
      .map((one) => {
        const piece = h("span", { class: `fill ${one.key}`, title: `${one.label}: ${percent(one.value)} %` });
        piece.style.flexGrow = String(one.value);
        return piece;
      }),
  );
  return h(
    "div",
    { class: "shares panel" },
    h("h2", {}, "Operations by what their loops allow"),
    bar,
    h(
      "table",
      { class: "legend" },
      values.map((one) =>
        h(
          "tr",
          { title: one.what },
          h("td", {}, h("span", { class: `swatch ${one.key}` })),
          h("td", {}, one.label),
          h("td", { class: "number" }, `${percent(one.value)} %`),
        ),
      ),
    ),
  );
}

function ran(main: ReportMain): HTMLElement {
  const { program } = main;
  const facts: [string, string][] = [
    ["instructions", short(program.instructions)],
    ["threads", grouped(program.threads)],
    ["exit status", program.exit_status === null ? "not known" : String(program.exit_status)],
    ["regions", grouped(main.regions.length)],
    ["loops and calls", grouped(Math.max(0, main.tree_nodes - 1))],
  ];
  return h(
    "dl",
    { class: "facts" },
    facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

function card(suggestion: Suggestion, main: ReportMain): HTMLElement {
  const region = main.regions[suggestion.region];
  return h(
    "a",
    { class: "card", href: routeText("region", suggestion.region), "data-rule": suggestion.rule },
    h(
      "div",
      { class: "card-top" },
      h("span", { class: "rule" }, suggestion.rule),
      h("span", { class: "gain" }, times(suggestion.gain)),
    ),
    h("h3", {}, suggestion.title),
    h("p", { class: "where" }, suggestion.lines, region ? h("span", { class: "dim" }, ` in ${region.function}`) : null),
    doThis(suggestion),
    h(
      "p",
      { class: "card-needs" },
      h(
        "span",
        { class: `legal ${suggestion.legal}` },
        suggestion.legal === "yes" ? "legal" : `legal: ${suggestion.legal}`,
      ),
      suggestion.requires.length > 0
        ? suggestion.requires.map((one) => ` · ${one.kind === "unknown" ? one.text : `needs ${one.text}`}`)
        : " · needs nothing else",
    ),
  );
}

function suggestions(main: ReportMain): HTMLElement | null {
  if (main.suggestions.length === 0) return null;
  const cards = h(
    "div",
    { class: "cards" },
    main.suggestions.slice(0, FIRST_CARDS).map((one) => card(one, main)),
  );
  const rest = main.suggestions.slice(FIRST_CARDS);
  const more =
    rest.length === 0
      ? null
      : h(
          "button",
          {
            onclick: (event: Event) => {
              cards.append(...rest.map((one) => card(one, main)));
              (event.currentTarget as HTMLElement).remove();
            },
          },
          `Show ${plural(rest.length, "more suggestion")}`,
        );
  return h(
    "section",
    {},
    h("h2", {}, "Suggestions, the greatest gain first"),
    h(
      "p",
      { class: "dim" },
      "A gain is an estimate for the whole program, for comparing suggestions; gains are not to be multiplied. " +
        "All of it holds for what this run did.",
    ),
    cards,
    more,
  );
}

function hotRegions(main: ReportMain): HTMLElement {
  const rows = main.regions.slice(0, 8).map((region) => {
    const bar = h("span", { class: "bar" });
    bar.style.width = `${Math.max(1, region.ops_percent)}%`;
    return h(
      "tr",
      {},
      h("td", { class: "number" }, `${percent(region.ops_percent)} %`),
      h("td", { class: "barcell" }, bar),
      h(
        "td",
        {},
        h("a", { href: routeText("region", region.id) }, region.where),
        h("span", { class: "dim" }, ` ${region.function}`),
      ),
      h("td", {}, verdictBadge(region.verdict)),
    );
  });
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, "Hottest regions"),
    rows.length === 0 ? h("p", { class: "dim" }, "None.") : h("table", { class: "hot" }, rows),
    h(
      "p",
      {},
      h("a", { href: routeText("regions") }, `All regions (${main.regions.length})`),
      " · ",
      h("a", { href: routeText("flame") }, "Flame graph"),
    ),
  );
}

function quality(main: ReportMain): HTMLElement {
  const notes = main.quality.map((one) =>
    h(
      "li",
      {},
      h("strong", {}, one.kind),
      one.share > 0 ? ` (${percent(100 * one.share)} % of the instructions)` : "",
      `: ${one.text}`,
    ),
  );
  if (main.program.partial) notes.unshift(h("li", {}, h("strong", {}, "partial"), ": the end of the run is missing."));
  const given = main.gave_up.map((one) =>
    h(
      "tr",
      {},
      h("td", { class: "number" }, `${percent(100 * one.share)} %`),
      h("td", {}, one.what),
      h("td", { class: "dim" }, one.why),
    ),
  );
  return h(
    "section",
    { class: "panel quality" },
    h("h2", {}, "How good is this profile?"),
    h(
      "ul",
      { class: "notes" },
      h(
        "li",
        {},
        h("strong", {}, "one run"),
        ": what is said holds for what this run did; another input may do something else.",
      ),
      notes,
      notes.length === 0 ? h("li", {}, "Nothing was cut off, and all hot code has line numbers.") : null,
    ),
    given.length === 0
      ? h("p", { class: "dim" }, "Nothing was approximated.")
      : h(
          "details",
          {},
          h("summary", {}, `${plural(main.gave_up_count, "thing")} not known exactly`),
          h("table", { class: "given-up" }, given),
        ),
  );
}
