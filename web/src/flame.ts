// The flame graph of the loop tree: width is operations, the root at the bottom; loops and calls are told apart.
//
// d3-flame-graph draws. What it is given is what can be seen (flame_model.ts), so that a tree of any size is drawn in a
// moment; zooming gives it other frames.
import flamegraph from "d3-flame-graph";
import { select } from "d3-selection";
import { part } from "./data";
import { h } from "./dom";
import { COLOURS, colourOf, type Colouring } from "./flame_colours";
import { framesFor, neighbour, search, Tree, type FlameNode, type Found } from "./flame_model";
import { grouped, percent, short } from "./format";
import { KINDS, VERDICTS, type TreeDocument } from "./model";
import { keep, routeText, type Route } from "./route";
import type { View } from "./main";

const CELL = 22;
const LEAST_PIXELS = 1.2;

/** `main` decides which colourings there are; the tree is unpacked when it is first shown. */
export function flameView(main: { kind: string }): View {
  return async (route, into) => {
    into.append(h("p", { class: "dim loading" }, "Drawing…"));
    const tree = new Tree(await part<TreeDocument>("tree"));
    into.replaceChildren();
    const view = new Flame(tree, into, route, main.kind === "diff" ? ["difference", "verdict"] : ["verdict", "affine"]);
    return () => view.leave();
  };
}

/** On paper it is as wide as the paper. */
function scalable(drawing: SVGSVGElement | null): void {
  const [width, height] = ["width", "height"].map((name) => drawing?.getAttribute(name) ?? "0");
  drawing?.setAttribute("viewBox", `0 0 ${width} ${height}`);
}

class Flame {
  private zoomed: number;
  private selected: number;
  private colouring: Colouring;
  private frames: FlameNode | null = null;
  private found: Found;
  private readonly chart = h("div", {
    class: "flame",
    tabindex: "0",
    role: "application",
    "aria-label": "Flame graph; arrow keys move, Enter zooms, Escape zooms out",
  });
  private readonly details = h("div", { class: "flame-details", "aria-live": "polite" });
  private readonly trail = h("div", { class: "trail" });
  private readonly legend = h("div", { class: "flame-legend" });
  private readonly field = h("input", {
    type: "search",
    placeholder: "Search functions and lines",
    "aria-label": "Search",
    spellcheck: "false",
  });
  private readonly hits = h("span", { class: "dim", "aria-live": "polite" });
  private width = 0;
  private readonly redraw = () => this.draw();
  private readonly observer = new ResizeObserver(() => {
    if (Math.abs(this.chart.clientWidth - this.width) > 1) this.draw();
  });

  constructor(
    private readonly tree: Tree,
    into: HTMLElement,
    route: Route,
    private readonly colourings: Colouring[],
  ) {
    this.zoomed = tree.place(Number(route.settings.get("node") ?? tree.id[0]));
    this.selected = this.zoomed;
    const wanted = route.settings.get("colour") as Colouring | undefined;
    this.colouring = wanted !== undefined && colourings.includes(wanted) ? wanted : colourings[0]!;
    this.field.value = route.settings.get("search") ?? "";
    this.found = search(tree, this.field.value);
    into.append(
      h(
        "div",
        { class: "toolbar" },
        this.field,
        this.hits,
        h("span", { class: "spacer" }),
        this.chooser(),
        h("button", { onclick: () => this.zoom(0) }, "Whole run"),
      ),
      this.trail,
      this.chart,
      this.legend,
      this.details,
      tree.leftOut > 0
        ? h(
            "p",
            { class: "dim" },
            `${grouped(tree.leftOut)} nodes with the fewest operations were left out of this page.`,
          )
        : "",
    );
    this.field.addEventListener("input", () => {
      this.found = search(tree, this.field.value);
      this.draw();
    });
    this.chart.addEventListener("click", (event) => this.click(event), true);
    this.chart.addEventListener("mousemove", (event) => this.hover(event));
    this.chart.addEventListener("mouseleave", () => this.describe(this.selected));
    this.chart.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("themechange", this.redraw);
    this.draw();
    this.observer.observe(this.chart);
  }

  leave(): void {
    this.observer.disconnect();
    window.removeEventListener("themechange", this.redraw);
  }

  private chooser(): HTMLElement {
    const labels: Record<Colouring, string> = { verdict: "verdict", affine: "affine share", difference: "difference" };
    const choice = h(
      "select",
      { "aria-label": "Colour by", onchange: () => ((this.colouring = choice.value as Colouring), this.draw()) },
      this.colourings.map((one) =>
        h("option", { value: one, selected: one === this.colouring }, `colour by ${labels[one]}`),
      ),
    );
    return choice;
  }

  /** A loop is known by its edge. Narrow ones show the end of their name, where the line is; marks keep it in order. */
  private label(frame: FlameNode): string {
    const loop = frame.node >= 0 && KINDS[this.tree.kind(frame.node)] === "loop";
    return loop ? `\u200e${frame.name.replace(/^loop /, "")}\u200e` : frame.name;
  }

  private draw(): void {
    this.width = Math.max(300, this.chart.clientWidth);
    this.frames = framesFor(this.tree, this.zoomed, LEAST_PIXELS / this.width);
    this.chart.replaceChildren();
    const chart = flamegraph<FlameNode>()
      .width(this.width)
      .cellHeight(CELL)
      .transitionDuration(0)
      .minFrameSize(LEAST_PIXELS / 2)
      .sort(false)
      .inverted(false)
      .selfValue(false)
      .setColorMapper((frame) => this.colour(frame.data))
      .getName((frame) => this.label(frame.data))
      .setLabelHandler((frame) =>
        frame.data.node < 0 ? "frames too narrow to be drawn" : this.tree.name(frame.data.node),
      );
    chart(select(this.chart).datum(this.frames));
    scalable(this.chart.querySelector("svg"));
    this.mark();
    this.drawTrail();
    this.drawLegend();
    this.describe(this.selected);
    const share = (100 * this.found.ops) / Math.max(1, this.tree.ops(0));
    this.hits.textContent =
      this.field.value.trim() === ""
        ? ""
        : `${grouped(this.found.nodes.size)} found, ${percent(share)} % of the operations`;
    keep("flame", "", {
      node: this.zoomed === 0 ? null : this.tree.id[this.zoomed]!,
      search: this.field.value,
      colour: this.colouring === this.colourings[0] ? null : this.colouring,
    });
  }

  private colour(frame: FlameNode): string {
    const style = getComputedStyle(document.documentElement);
    return colourOf(this.tree, frame.node, this.colouring, (name) => style.getPropertyValue(name));
  }

  /** Classes that the drawing library knows nothing about. */
  private mark(): void {
    const searching = this.field.value.trim() !== "";
    for (const group of this.chart.querySelectorAll<SVGGElement>("g.frame")) {
      const node = nodeOf(group);
      const kind = node < 0 ? "gathered" : KINDS[this.tree.kind(node)]!;
      group.classList.add(`kind-${kind}`);
      group.dataset.node = String(node);
      group.classList.toggle("selected", node === this.selected);
      group.classList.toggle("found", searching && this.found.nodes.has(node));
      group.classList.toggle("missed", searching && !this.found.nodes.has(node));
    }
  }

  private drawTrail(): void {
    const path = this.tree.path(this.zoomed);
    this.trail.replaceChildren(
      ...path.flatMap((node, i) => [
        i > 0 ? h("span", { class: "dim" }, " › ") : "",
        i + 1 === path.length
          ? h("strong", {}, this.tree.name(node))
          : h("button", { class: "link", onclick: () => this.zoom(node) }, this.tree.name(node)),
      ]),
    );
  }

  private drawLegend(): void {
    this.legend.replaceChildren(
      ...COLOURS[this.colouring].map(([variable, label]) => {
        const swatch = h("span", { class: "swatch" });
        swatch.style.background = `var(${variable})`;
        return h("span", { class: "legend-item" }, swatch, label);
      }),
      h("span", { class: "legend-item" }, h("span", { class: "swatch framed" }), "loops have a heavy left edge"),
    );
  }

  private zoom(node: number): void {
    this.zoomed = node;
    this.selected = node;
    this.draw();
  }

  private click(event: Event): void {
    event.stopPropagation();
    const node = nodeAt(event.target);
    if (node === null || node < 0) return;
    this.chart.focus();
    this.zoom(node);
  }

  private hover(event: Event): void {
    const node = nodeAt(event.target);
    this.describe(node === null || node < 0 ? this.selected : node);
  }

  private key(event: KeyboardEvent): void {
    if (event.key.startsWith("Arrow")) {
      this.selected = neighbour(this.frames!, this.selected, event.key);
      this.mark();
      this.describe(this.selected);
    } else if (event.key === "Enter") {
      this.zoom(this.selected);
    } else if (event.key === "Escape") {
      this.zoom(Math.max(0, this.tree.parent[this.zoomed]!));
    } else if (event.key === "r" && this.tree.region[this.selected]! >= 0) {
      location.hash = routeText("region", this.tree.region[this.selected]!);
    } else {
      return;
    }
    event.preventDefault();
  }

  private describe(node: number): void {
    const { tree } = this;
    const whole = Math.max(1, tree.ops(0));
    const facts: [string, string][] = [
      ["operations", `${percent((100 * tree.ops(node)) / whole)} % (${short(tree.ops(node))})`],
      ["itself", `${percent((100 * tree.selfOps(node)) / whole)} %`],
    ];
    const before = tree.before(node);
    if (before !== undefined) facts.unshift(["before", short(before)], ["after", short(tree.ops(node))]);
    if (tree.kind(node) === 2) facts.push(["trips", tripsText(tree.rounds(node), tree.entries(node))]);
    else if (tree.entries(node) > 0) facts.push(["times", grouped(tree.entries(node))]);
    facts.push(["memory", `${tree.mem(node)} %`], ["floating point", `${tree.fp(node)} %`]);
    if (before === undefined)
      facts.push(["folded exactly", tree.affine(node) < 0 ? "not modelled" : `${tree.affine(node)} %`]);
    if (tree.kind(node) === 2) facts.push(["verdict", VERDICTS[tree.verdict(node)]!.replace(/^no$/, "sequential")]);
    const region = tree.region[node]!;
    this.details.replaceChildren(
      h(
        "p",
        { class: "flame-name" },
        h("strong", {}, tree.name(node)),
        tree.where(node) !== "" ? h("span", { class: "dim" }, ` ${tree.where(node)}`) : null,
        region >= 0 ? h("a", { href: routeText("region", region) }, `open region ${region}`) : null,
      ),
      h(
        "dl",
        { class: "facts small" },
        facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
      ),
    );
  }
}

function tripsText(rounds: number, entries: number): string {
  const mean = rounds / Math.max(1, entries);
  return `${Number.isInteger(mean) ? grouped(mean) : `~${mean.toPrecision(4)}`} each of ${grouped(entries)} times`;
}

const nodeOf = (group: Element): number => (group as unknown as { __data__: { data: FlameNode } }).__data__.data.node;

function nodeAt(target: EventTarget | null): number | null {
  const group = target instanceof Element ? target.closest("g.frame") : null;
  return group === null ? null : nodeOf(group);
}
