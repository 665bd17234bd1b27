// Tables that can be sorted, filtered and copied: the logic, and one way to draw them.
import { h } from "./dom";

export type Value = string | number | boolean | null;

export interface Column<Row> {
  key: string;
  label: string;
  title?: string; // what it means
  value: (row: Row) => Value; // what is sorted by and copied
  cell?: (row: Row) => Node | string; // what is shown, if it is not just that
  number?: boolean;
  class?: string;
}

export interface Order {
  key: string;
  down: boolean;
}

/** "-ops" is downwards. */
export function parseOrder(text: string | undefined): Order | null {
  if (text === undefined || text === "") return null;
  return text.startsWith("-") ? { key: text.slice(1), down: true } : { key: text, down: false };
}

/** Numbers by size, text by the alphabet, what is missing last; rows that are equal stay in order. */
export function sorted<Row>(rows: Row[], columns: Column<Row>[], order: Order | null): Row[] {
  const column = columns.find((one) => one.key === order?.key);
  if (column === undefined || order === null) return rows.slice();
  const sign = order.down ? -1 : 1;
  return rows
    .map((row, at) => ({ row, at, value: column.value(row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return a.value === b.value ? a.at - b.at : a.value === null ? 1 : -1;
      const way =
        typeof a.value === "string"
          ? a.value.localeCompare(String(b.value), "en", { numeric: true })
          : Number(a.value) - Number(b.value);
      return way !== 0 ? sign * way : a.at - b.at;
    })
    .map((one) => one.row);
}

/** Rows in which every word of the text is somewhere. */
export function filtered<Row>(rows: Row[], columns: Column<Row>[], text: string): Row[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return rows.slice();
  return rows.filter((row) => {
    const all = columns
      .map((column) => String(column.value(row) ?? ""))
      .join("\n")
      .toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** As spreadsheets read it; what they would take for a formula is text. */
export function csv<Row>(rows: Row[], columns: Column<Row>[]): string {
  const field = (value: Value) => {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    let text = String(value);
    if (/^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const lines = [
    columns.map((column) => field(column.label)),
    ...rows.map((row) => columns.map((column) => field(column.value(row)))),
  ];
  return lines.map((line) => line.join(",")).join("\r\n") + "\r\n";
}

/** A table whose heads sort. `open` makes rows lead somewhere. */
export class SortedTable<Row> {
  readonly element = h("table", { class: "data" });
  private readonly body = h("tbody");
  private readonly heads: HTMLElement[];

  constructor(
    private readonly columns: Column<Row>[],
    private readonly options: {
      order: Order | null;
      onorder: (order: Order) => void;
      open?: (row: Row) => void;
      below?: (row: Row) => Node | null;
    },
  ) {
    this.heads = columns.map((column) =>
      h(
        "th",
        { scope: "col", class: column.number ? "number" : "", title: column.title },
        h("button", { class: "head", "data-key": column.key, onclick: () => this.sortBy(column) }, column.label),
      ),
    );
    this.element.append(h("thead", {}, h("tr", {}, this.heads)), this.body);
  }

  private sortBy(column: Column<Row>): void {
    const { order } = this.options;
    const down = order?.key === column.key ? !order.down : column.number === true;
    this.options.order = { key: column.key, down };
    this.options.onorder(this.options.order);
  }

  show(rows: Row[]): Row[] {
    const { order, open } = this.options;
    this.columns.forEach((column, i) => {
      const here = order?.key === column.key;
      this.heads[i]!.setAttribute("aria-sort", here ? (order!.down ? "descending" : "ascending") : "none");
    });
    const list = sorted(rows, this.columns, order);
    this.body.replaceChildren(...list.flatMap((row) => [this.row(row, open), ...this.rowBelow(row)]));
    return list;
  }

  /** What is too long for a cell, over the whole width. */
  private rowBelow(row: Row): HTMLElement[] {
    const content = this.options.below?.(row) ?? null;
    return content === null ? [] : [h("tr", { class: "below" }, h("td", { colspan: this.columns.length }, content))];
  }

  private row(row: Row, open: ((row: Row) => void) | undefined): HTMLElement {
    const cells = this.columns.map((column) => {
      const value = column.value(row);
      const shown = column.cell ? column.cell(row) : value === null ? "–" : String(value);
      return h("td", { class: `${column.number ? "number" : ""} ${column.class ?? ""}`.trim() }, shown);
    });
    if (open === undefined) return h("tr", {}, cells);
    const act = (event: Event) => {
      if (event.target instanceof Element && event.target.closest("a, button") !== null) return;
      if (getSelection()?.isCollapsed === false) return;
      open(row);
    };
    const press = (event: KeyboardEvent) => {
      if (event.key === "Enter") open(row);
      const way =
        event.key === "ArrowDown" ? "nextElementSibling" : event.key === "ArrowUp" ? "previousElementSibling" : null;
      if (way === null) return;
      ((event.currentTarget as HTMLElement)[way] as HTMLElement | null)?.focus();
      event.preventDefault();
    };
    return h("tr", { class: "opens", tabindex: "0", onclick: act, onkeydown: press }, cells);
  }
}

/** Copies text; where the browser forbids it, selects it for the reader to copy. */
export async function copy(text: string, button: HTMLElement): Promise<void> {
  const label = button.textContent;
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    const area = h("textarea", { class: "offscreen" });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  button.textContent = done ? "Copied" : "Cannot copy here";
  setTimeout(() => (button.textContent = label), 1500);
}
