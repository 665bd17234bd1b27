// Bundles the page: src/main.ts, its styles and the rules of docs/rules into one HTML template, and that, if asked for,
// into a C++ source. The result depends on nothing but the sources and the packages of the lock file.
//
//     node build.mjs --template FILE [--cc FILE]
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const rulesDirectory = join(here, "..", "docs", "rules");

/** What `import rules from "loopfold:rules"` gives: the text of each rule by its name. */
export const rules = {
  name: "rules",
  setup(bundler) {
    bundler.onResolve({ filter: /^loopfold:rules$/ }, () => ({ path: "rules", namespace: "rules" }));
    bundler.onLoad({ filter: /.*/, namespace: "rules" }, () => {
      const names = readdirSync(rulesDirectory)
        .filter((name) => /^LF-.*\.md$/.test(name))
        .sort();
      const read = (name) => readFileSync(join(rulesDirectory, name), "utf8").replace(/<!--.*?-->\n?/gs, "");
      const texts = names.map((name) => [name.replace(/\.md$/, ""), read(name)]);
      return { contents: JSON.stringify(Object.fromEntries(texts)), loader: "json" };
    });
  },
};

async function bundle() {
  const result = await build({
    entryPoints: [join(here, "src", "main.ts")],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2021",
    charset: "ascii",
    legalComments: "none",
    outdir: "out",
    write: false,
    plugins: [rules],
    logLevel: "warning",
  });
  const text = (end) => result.outputFiles.find((file) => file.path.endsWith(end)).text.trim();
  return { script: text(".js"), style: text(".css") };
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function refuse(text, what, where) {
  if (text.includes(what)) throw new Error(`${where} must not hold ${what}: it would end or hide the element`);
}

async function page() {
  const { script, style } = await bundle();
  for (const what of ["</script", "<!--"]) refuse(script, what, "the script");
  refuse(style, "</style", "the style");
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const values = { POLICY: policy, STYLE: style, SCRIPT: script };
  const template = readFileSync(join(here, "src", "template.html"), "utf8");
  return template.replace(/%(POLICY|STYLE|SCRIPT)%/g, (_, name) => values[name]);
}

/** Pieces of a string literal: compilers promise 65536 characters. */
function source(html) {
  const pieces = [];
  for (let at = 0; at < html.length; at += 16000) pieces.push(html.slice(at, at + 16000));
  refuse(html, ')lf"', "the page");
  const literals = pieces.map((piece) => `    R"lf(${piece})lf",\n`).join("");
  return `// Written by web/build.mjs.
#include "views/page_template.h"

#include <array>

namespace loopfold::views {

namespace {

constexpr std::array<std::string_view, ${pieces.length}> kPieces{
${literals}};

}  // namespace

std::span<const std::string_view> template_pieces() { return kPieces; }

}  // namespace loopfold::views
`;
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name) => {
    const at = process.argv.indexOf(name);
    return at < 0 ? undefined : process.argv[at + 1];
  };
  const html = await page();
  if (option("--template")) write(option("--template"), html);
  if (option("--cc")) write(option("--cc"), source(html));
}
