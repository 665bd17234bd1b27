// A nest as the profile writes it, "for heat.c:17  64 trips  [parallel, tile 32]" with two spaces per level, read back.

export interface AstLine {
  level: number;
  loop: string; // "heat.c:17 + heat.c:9"; empty for statements
  trips: string;
  tags: string[];
  statements: string; // "heat.c:10,11"
}

export function parseAst(text: string): AstLine[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const level = (line.length - line.trimStart().length) / 2;
      const words = line.trim();
      if (!words.startsWith("for ")) return { level, loop: "", trips: "", tags: [], statements: words };
      const tags = /\s\[([^\]]*)\]$/.exec(words);
      const head = tags === null ? words : words.slice(0, tags.index);
      const trips = /\s{2}(~?[\d.,]+ trips?)$/.exec(head.trimEnd());
      const loop = (trips === null ? head : head.slice(0, trips.index)).slice(4).trim();
      return {
        level,
        loop,
        trips: trips?.[1] ?? "",
        tags: tags === null ? [] : tags[1]!.split(",").map((one) => one.trim()),
        statements: "",
      };
    });
}

/** Tags that the loop of that name has somewhere in a nest: of a sum, the first name counts. */
export function tagsOf(ast: AstLine[], where: string): string[] {
  const tags = new Set<string>();
  for (const line of ast) if (line.loop.split(" + ")[0] === where) for (const tag of line.tags) tags.add(tag);
  return [...tags];
}
