// Where the page is: a view, sometimes something in it, and settings, all in the URL's fragment, so that a link shows
// what its sender saw: #/region/3, #/flame?node=12&search=solve, #/regions?sort=-ops.

export interface Route {
  view: string;
  item: string;
  settings: Map<string, string>;
}

export function parseRoute(fragment: string): Route {
  const text = fragment.replace(/^#?\/?/, "");
  const [path = "", query = ""] = text.split("?", 2);
  const [view = "", ...rest] = path.split("/");
  const settings = new Map<string, string>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    settings.set(decode(at < 0 ? pair : pair.slice(0, at)), at < 0 ? "" : decode(pair.slice(at + 1)));
  }
  return { view: decode(view) || "overview", item: decode(rest.join("/")), settings };
}

export function routeText(
  view: string,
  item: string | number = "",
  settings: Record<string, string | number | null> = {},
): string {
  const pairs = Object.entries(settings)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  const path = item === "" ? view : `${view}/${encodeURIComponent(String(item))}`;
  return `#/${path}${pairs.length > 0 ? `?${pairs.join("&")}` : ""}`;
}

/** Changes settings of the place without leaving it: no new entry in the history, no redrawing. */
export function keep(view: string, item: string | number, settings: Record<string, string | number | null>): void {
  history.replaceState(null, "", routeText(view, item, settings));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
