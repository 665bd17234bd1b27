// Starts the page: header, navigation, theme and keys, and the view that the URL's fragment names.
import "./style.css";
import { part } from "./data";
import { h } from "./dom";
import type { ReportMain } from "./model";
import type { DiffMain } from "./diff_model";
import { diffViews } from "./diff";
import { helpDialog } from "./help";
import { flameView } from "./flame";
import { overviewView } from "./overview";
import { regionView } from "./region";
import { regionsView } from "./regions";
import { parseRoute, routeText, type Route } from "./route";
import { rulesView } from "./rules";
import { startTheme, themeButton } from "./theme";

/** Draws itself into an element. What it returns is called when the page goes elsewhere. */
export type View = (route: Route, into: HTMLElement) => void | (() => void) | Promise<void | (() => void)>;

interface Tab {
  view: string;
  label: string;
  key: string;
  draw: View;
  hidden?: boolean; // not in the navigation: it needs something to show
}

function reportTabs(main: ReportMain): Tab[] {
  return [
    { view: "overview", label: "Overview", key: "1", draw: overviewView(main) },
    { view: "flame", label: "Flame graph", key: "2", draw: flameView(main) },
    { view: "regions", label: "Regions", key: "3", draw: regionsView(main) },
    { view: "region", label: "Region", key: "", draw: regionView(main), hidden: true },
    { view: "rules", label: "Rules", key: "4", draw: rulesView(main) },
  ];
}

async function start(): Promise<void> {
  startTheme();
  const page = document.getElementById("page")!;
  const main = await part<ReportMain | DiffMain>("main");
  const tabs: Tab[] = main.kind === "diff" ? diffViews(main) : reportTabs(main);
  const shown = tabs.filter((tab) => !tab.hidden);
  const links = shown.map((tab) =>
    h("a", { href: routeText(tab.view), "data-view": tab.view, title: `Key ${tab.key}` }, tab.label),
  );
  const body = h("main", { id: "view", tabindex: "-1" });
  const help = helpDialog(shown.map((tab) => [tab.key, tab.label]));
  const helpButton = h("button", { class: "plain", title: "Keys (?)", onclick: () => help.showModal() }, "?");
  page.replaceChildren(
    h(
      "a",
      { class: "skip", href: "#view", onclick: (event: Event) => (event.preventDefault(), body.focus()) },
      "Skip to content",
    ),
    h(
      "header",
      {},
      h("a", { class: "mark", href: routeText("overview") }, "Loopfold"),
      h("code", { class: "command", title: commandOf(main) }, commandOf(main)),
      h("nav", { "aria-label": "Views" }, links),
      h("span", { class: "tools" }, themeButton(), helpButton),
    ),
    body,
    help,
  );

  let leave: (() => void) | undefined;
  let turn = 0;
  const show = async () => {
    const route = parseRoute(location.hash);
    const tab = tabs.find((one) => one.view === route.view) ?? tabs[0]!;
    const mine = ++turn;
    leave?.();
    leave = undefined;
    for (const link of links) {
      const here = link.dataset.view === tab.view || (tab.hidden === true && link.dataset.view === "regions");
      if (here) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const into = h("div", { class: `view view-${tab.view}` });
    body.replaceChildren(into);
    window.scrollTo(0, 0);
    try {
      const done = await tab.draw(route, into);
      if (mine === turn) leave = done ?? undefined;
      else done?.();
    } catch (error) {
      into.replaceChildren(h("p", { class: "note bad" }, `This view cannot be shown: ${String(error)}`));
      console.error(error);
    }
    document.documentElement.dataset.ready = location.hash || "#";
  };
  const follow = () => focusLost() && body.focus({ preventScroll: true });
  window.addEventListener("hashchange", () => void show().then(follow));
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const tab = shown.find((one) => one.key === event.key);
    if (tab) location.hash = routeText(tab.view);
    else if (event.key === "?") help.showModal();
    else if (event.key === "/") {
      const field = body.querySelector<HTMLInputElement>("input[type=search]");
      if (field === null) return;
      field.focus();
      field.select();
      event.preventDefault();
    }
  });
  await show();
}

const commandOf = (main: ReportMain | DiffMain): string =>
  main.kind === "diff" ? `${main.a.program.command}  →  ${main.b.program.command}` : main.program.command;

/** What had the focus is gone with the view that it was in: Tab is to go on in the new one. */
const focusLost = (): boolean => document.activeElement === null || document.activeElement === document.body;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);

start().catch((error: unknown) => {
  document
    .getElementById("page")!
    .replaceChildren(h("p", { class: "loading" }, `The page cannot be shown: ${String(error)}`));
  console.error(error);
});
