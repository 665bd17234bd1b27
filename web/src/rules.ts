// What each rule means: the pages of docs/rules, those that this profile uses first.
import rules from "loopfold:rules";
import { h } from "./dom";
import { plural, times } from "./format";
import { blocks, type Block, type Inline } from "./markdown";
import type { ReportMain } from "./model";
import { routeText } from "./route";
import type { View } from "./main";

export function rulesView(main: ReportMain): View {
  return (route, into) => {
    const used = new Map<string, number>();
    for (const suggestion of main.suggestions) used.set(suggestion.rule, (used.get(suggestion.rule) ?? 0) + 1);
    const names = Object.keys(rules).sort((a, b) => Number(used.has(b)) - Number(used.has(a)) || a.localeCompare(b));
    const list = h(
      "nav",
      { class: "rule-list", "aria-label": "Rules" },
      names.map((name) =>
        h(
          "a",
          {
            href: routeText("rules", name),
            class: used.has(name) ? "used" : "dim",
            "aria-current": name === route.item ? "page" : null,
          },
          h("span", { class: "rule" }, name),
          " ",
          headingOf(name),
          used.has(name)
            ? h("span", { class: "count", title: plural(used.get(name)!, "suggestion") }, String(used.get(name)))
            : null,
        ),
      ),
    );
    const shown = names.includes(route.item) ? [route.item] : names.filter((name) => used.has(name));
    into.append(
      h("h1", {}, "Rules"),
      h("p", { class: "dim" }, "What a suggestion means, when it is legal, how that is proved, and when it misleads."),
      h(
        "div",
        { class: "rules" },
        list,
        h(
          "div",
          { class: "rule-pages" },
          (shown.length > 0 ? shown : ["LF-PAR"]).map((name) => article(name, main)),
        ),
      ),
    );
  };
}

const headingOf = (name: string): string => /^# LF-\w+: (.*)$/m.exec(rules[name] ?? "")?.[1] ?? "";

function article(name: string, main: ReportMain): HTMLElement {
  const of = main.suggestions.filter((one) => one.rule === name);
  return h(
    "article",
    { class: "panel rule-page", id: `rule-${name}` },
    blocks(rules[name]!).map(draw),
    of.length === 0
      ? h("p", { class: "dim" }, "This profile has no suggestion of this kind.")
      : h(
          "div",
          {},
          h("h3", {}, "In this profile"),
          h(
            "ul",
            {},
            of.map((one) =>
              h("li", {}, h("a", { href: routeText("region", one.region) }, one.title), ` ${times(one.gain)}`),
            ),
          ),
        ),
  );
}

function draw(block: Block): HTMLElement {
  switch (block.kind) {
    case "heading":
      return h(block.level === 1 ? "h2" : "h3", {}, block.inlines.map(inline));
    case "list":
      return h(
        "ul",
        {},
        block.items.map((item) => h("li", {}, item.map(inline))),
      );
    case "table":
      return h(
        "div",
        { class: "table-scroll" },
        h(
          "table",
          { class: "data" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              block.head.map((cell) => h("th", {}, cell.map(inline))),
            ),
          ),
          h(
            "tbody",
            {},
            block.rows.map((row) =>
              h(
                "tr",
                {},
                row.map((cell) => h("td", {}, cell.map(inline))),
              ),
            ),
          ),
        ),
      );
    case "code":
      return h("pre", {}, block.text);
    case "paragraph":
      return h("p", {}, block.inlines.map(inline));
  }
}

function inline(one: Inline): HTMLElement | string {
  if (one.kind === "bold") return h("strong", {}, one.text);
  if (one.kind === "code") return h("code", {}, one.text);
  if (one.kind !== "link") return one.text;
  const rule = /(LF-[A-Z]+)\.md$/.exec(one.target!)?.[1];
  return rule !== undefined && rule in rules
    ? h("a", { href: routeText("rules", rule) }, one.text)
    : h("em", {}, one.text);
}
