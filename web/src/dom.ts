// Elements. Text only ever becomes text nodes: whatever a name holds, it is shown, not interpreted.

type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as unknown as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
}

export function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

/** h("p", {class: "x", onclick: f}, "text", h("b", {}, "bold")). */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** The same for SVG. */
export function s<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
}

/** A piece of an SVG text or shape's tooltip. */
export const title = (text: string): SVGTitleElement => s("title", {}, text);

const FIRST_PHRASES = 3;

/** A text of many phrases with semicolons between: the first few, the others on demand. */
export function phrases(text: string): Node {
  const all = text.split("; ");
  if (all.length <= FIRST_PHRASES + 1) return document.createTextNode(text);
  const rest = all.slice(FIRST_PHRASES).map((one) => h("li", {}, one));
  return h(
    "div",
    {},
    all.slice(0, FIRST_PHRASES).join("; "),
    h("details", {}, h("summary", {}, `and ${rest.length} more`), h("ul", {}, rest)),
  );
}
