// What the keys do.
import { h } from "./dom";

export function helpDialog(views: [key: string, label: string][]): HTMLDialogElement {
  const row = (keys: string, what: string) => h("tr", {}, h("td", {}, h("kbd", {}, keys)), h("td", {}, what));
  const dialog = h(
    "dialog",
    { class: "help", "aria-label": "Keys" },
    h("h2", {}, "Keys"),
    h(
      "table",
      {},
      views.map(([key, label]) => row(key, label)),
      row("/", "Search or filter"),
      row("← → ↑ ↓", "Flame graph: neighbours, callees and inner loops, callers"),
      row("Enter", "Flame graph: zoom in; tables: open the row"),
      row("Esc", "Flame graph: zoom out; close this"),
      row("r", "Flame graph: open the region of the selected frame"),
      row("?", "This list"),
    ),
    h("button", { onclick: () => dialog.close() }, "Close"),
  );
  return dialog;
}
