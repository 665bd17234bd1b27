// The little Markdown that the rules are written in: headings, paragraphs, lists, indented code, tables, **bold**, `code`,
// links.
//
// Parsed into a tree first (tested without a browser), then drawn; links stay words, since the pages that they lead to are
// not part of this file, except those to other rules.

export type Inline = { kind: "text" | "bold" | "code" | "link"; text: string; target?: string };
export type Block =
  | { kind: "heading"; level: number; inlines: Inline[] }
  | { kind: "paragraph"; inlines: Inline[] }
  | { kind: "list"; items: Inline[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "code"; text: string };

const INLINE = /\*\*(.+?)\*\*|`([^`]+)`|\[([^\]]+)\]\(([^)]+)\)/g;

export function inlines(text: string): Inline[] {
  const list: Inline[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index! > at) list.push({ kind: "text", text: text.slice(at, match.index) });
    if (match[1] !== undefined) list.push({ kind: "bold", text: match[1] });
    else if (match[2] !== undefined) list.push({ kind: "code", text: match[2] });
    else list.push({ kind: "link", text: match[3]!, target: match[4]! });
    at = match.index! + match[0].length;
  }
  if (at < text.length) list.push({ kind: "text", text: text.slice(at) });
  return list;
}

export function blocks(text: string): Block[] {
  const list: Block[] = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length;) {
    const line = lines[i]!;
    const heading = /^(#+) (.*)$/.exec(line);
    if (line.trim() === "") {
      i++;
    } else if (heading) {
      list.push({ kind: "heading", level: heading[1]!.length, inlines: inlines(heading[2]!) });
      i++;
    } else if (line.startsWith("    ")) {
      const code: string[] = [];
      while (
        i < lines.length &&
        (lines[i]!.startsWith("    ") || (lines[i]!.trim() === "" && lines[i + 1]?.startsWith("    ")))
      )
        code.push(lines[i++]!.slice(4));
      list.push({ kind: "code", text: code.join("\n") });
    } else if (line.startsWith("|")) {
      const rows: Inline[][][] = [];
      for (; i < lines.length && lines[i]!.startsWith("|"); i++)
        if (!/^\|[-:| ]+\|$/.test(lines[i]!))
          rows.push(
            lines[i]!.slice(1, -1)
              .split("|")
              .map((cell) => inlines(cell.trim())),
          );
      list.push({ kind: "table", head: rows[0] ?? [], rows: rows.slice(1) });
    } else if (line.startsWith("- ")) {
      const items: string[] = [];
      while (i < lines.length && (lines[i]!.startsWith("- ") || (lines[i]!.startsWith("  ") && items.length > 0))) {
        if (lines[i]!.startsWith("- ")) items.push(lines[i]!.slice(2));
        else items[items.length - 1] += ` ${lines[i]!.trim()}`;
        i++;
      }
      list.push({ kind: "list", items: items.map(inlines) });
    } else {
      const words: string[] = [];
      while (i < lines.length && lines[i]!.trim() !== "" && !/^(#|- |\||    )/.test(lines[i]!))
        words.push(lines[i++]!.trim());
      list.push({ kind: "paragraph", inlines: inlines(words.join(" ")) });
    }
  }
  return list;
}
