// The report page in a real browser. The argument is a directory of pages that page.py has made:
// dgemm_ijk, jacobi_1d, gauss_seidel, histogram, relaxation, heat, columns, gzip, empty, hostile, large, diff (.html each).
import { statSync } from "node:fs";
import { join } from "node:path";
import { accessible } from "./accessible.mjs";
import { go, openPage, startBrowser } from "./browser.mjs";

const directory = process.argv[2];
const file = (name) => join(directory, `${name}.html`);
let passed = 0;
let failed = 0;
function check(name, good, detail = "") {
  if (good) passed++;
  else failed++;
  if (!good)
    console.log(
      `FAILED: ${name}${detail === "" ? "" : `: ${typeof detail === "string" ? detail : JSON.stringify(detail)}`}`,
    );
}

const browser = await startBrowser();
const text = (page, selector) => page.locator(selector).first().innerText();
const count = (page, selector) => page.locator(selector).count();

/** No two of the elements overlap, and none is wider than what it is in. */
async function overlaps(page, selector) {
  return page.evaluate((wanted) => {
    const boxes = [...document.querySelectorAll(wanted)]
      .map((element) => element.getBoundingClientRect())
      .filter((box) => box.width > 0);
    let pairs = 0;
    boxes.forEach((a, i) =>
      boxes.slice(i + 1).forEach((b) => {
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) pairs++;
      }),
    );
    return pairs;
  }, selector);
}

async function everyView(name) {
  const page = await openPage(browser, file(name));
  check(`${name}: a first thing to read`, (await text(page, "h1")).length > 10);
  check(`${name}: shares`, (await count(page, ".shares .legend tr")) === 5);
  check(`${name}: quality`, (await text(page, ".quality")).includes("one run"));
  const regions = await page.evaluate(() => document.querySelectorAll(".hot tr").length);
  await go(page, "#/flame");
  check(`${name}: flame graph has frames`, (await count(page, "g.frame")) > 0);
  await go(page, "#/regions");
  check(`${name}: regions`, name === "empty" || (await count(page, "table.data tbody tr")) > 0);
  await go(page, "#/regions?columns=table5");
  check(`${name}: Table 5`, name === "empty" || (await text(page, "table.table5 thead")).includes("%Tilops"));
  await go(page, "#/rules");
  check(
    `${name}: rules`,
    (await count(page, ".rule-page")) > 0 && (await text(page, ".rule-page")).includes("How it is proved"),
  );
  for (let region = 0; region < Math.min(regions, 3); region++) {
    await go(page, `#/region/${region}`);
    check(`${name}: region ${region} has loops`, (await count(page, ".loop")) > 0);
    for (const section of ["loops", "source", "order", "iterations", "strides", "objects"])
      check(`${name}: region ${region} has ${section}`, (await count(page, `section#${section}`)) === 1);
    check(
      `${name}: region ${region} is no wider than the window`,
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    );
  }
  check(`${name}: nothing went wrong`, page.trouble.length === 0, page.trouble);
  await page.context().close();
}

async function relaxation() {
  const page = await openPage(browser, file("relaxation"));
  await page.locator(".card").first().click();
  await page.waitForSelector(".region-head");
  check(
    "clicking a suggestion lands on its region",
    (await page.evaluate(() => location.hash)) === "#/region/0" && (await text(page, "h1")).includes("relaxation.c:12"),
  );
  await page.waitForSelector("section#iterations svg");
  check(
    "source is there with shares",
    (await text(page, ".source .lines")).includes("a[i - 1] + a[i] + a[i + 1]") && (await count(page, ".heat")) >= 2,
  );
  check("blocking flow stands out", (await count(page, "g.arc.blocking")) === 1);
  check(
    "before and after",
    (await count(page, ".ast-tree")) === 2 && (await text(page, ".steps")).includes("skew relaxation.c:14"),
  );
  check("badges", (await text(page, ".nest")).includes("tilable, 2D"));
  check("two grids", (await count(page, "svg.grid")) === 2);
  const slant = await page.evaluate(() =>
    [...document.querySelectorAll("svg.grid")].map((grid) => Number(grid.getAttribute("width"))),
  );
  check("the skewed one is wider", slant[1] > slant[0], slant);
  check("strides", (await text(page, "table.strides")).includes("next"));
  await page.goBack();
  await page.waitForSelector(".view-overview .card");
  check("back leads back", (await count(page, ".card")) > 0);
  check("relaxation: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
}

async function flame() {
  const page = await openPage(browser, file("relaxation"), "#/flame");
  const frames = await count(page, "g.frame");
  await page.locator("input[type=search]").fill("relaxation.c");
  check("search marks frames", (await count(page, "g.frame.found")) >= 2 && (await count(page, "g.frame.missed")) > 0);
  check("search says how much", /found, [\d.]+ % of the operations/.test(await text(page, ".toolbar")));
  check("search is in the link", (await page.evaluate(() => location.hash)).includes("search=relaxation.c"));
  await page.locator("input[type=search]").fill("");
  await page.locator("g.frame.kind-loop").first().click();
  check(
    "a click zooms",
    (await page.evaluate(() => location.hash)).includes("node=") && (await count(page, "g.frame.fade")) > 0,
  );
  await page.keyboard.press("Escape");
  check("Escape zooms out", (await count(page, "g.frame.fade")) < 3);
  await page.getByText("Whole run").click();
  check("all of it again", (await count(page, "g.frame")) === frames);
  await page.locator(".flame").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  check(
    "arrow keys move",
    (await page.evaluate(() => Number(document.querySelector("g.frame.selected")?.dataset.node ?? 0))) > 0,
  );
  await page.keyboard.press("Enter");
  check("Enter zooms", (await page.evaluate(() => location.hash)).includes("node="));
  const root = await page.evaluate(() => {
    const y = (frame) => frame.getBoundingClientRect().top;
    const all = [...document.querySelectorAll("g.frame")];
    return y(all.find((frame) => frame.dataset.node === "0")) >= Math.max(...all.map(y)) - 1;
  });
  check("the root is at the bottom", root);
  await page.getByLabel("Colour by").selectOption("affine");
  check("colour by affine share", (await text(page, ".flame-legend")).includes("all folded exactly"));
  await page.keyboard.press("3");
  await page.waitForSelector(".view-flame, .view-regions");
  await page
    .locator(".flame")
    .focus()
    .catch(() => {});
  check("flame: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
  const linked = await openPage(browser, file("relaxation"), "#/flame?search=printf&colour=affine");
  check(
    "a deep link shows what its sender saw",
    (await linked.locator("input[type=search]").inputValue()) === "printf" &&
      (await count(linked, "g.frame.found")) > 0,
  );
  await linked.context().close();
}

async function tables() {
  const page = await openPage(browser, file("relaxation"), "#/regions", { permissions: [] });
  const column = async () => page.locator("table.data tbody tr td:nth-child(3)").allInnerTexts();
  const sizes = (await column()).map(Number);
  check(
    "hottest first",
    sizes.every((value, i) => i === 0 || value <= sizes[i - 1]),
    sizes,
  );
  await page.locator("button.head[data-key=ops]").click();
  check(
    "a head sorts the other way",
    JSON.stringify((await column()).map(Number)) === JSON.stringify(sizes.slice().reverse()),
  );
  check("and says so", (await page.locator("th[aria-sort=ascending]").count()) === 1);
  await page.locator("input[type=search]").fill("kernel.h");
  check(
    "filter",
    (await count(page, "table.data tbody tr")) < sizes.length && (await count(page, "table.data tbody tr")) > 0,
  );
  check(
    "filter and order are in the link",
    /sort=ops.*filter=kernel\.h/.test(await page.evaluate(() => location.hash)),
  );
  await page.locator("input[type=search]").fill("");
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", {
      value: { writeText: async (copied) => void (window.copied = copied) },
    });
  });
  await page.locator(".copy-csv").click();
  const copied = await page.evaluate(() => window.copied ?? "");
  check(
    "copied as CSV",
    copied.split("\r\n").length === sizes.length + 2 && copied.includes("why not"),
    copied.slice(0, 200),
  );
  await page.getByLabel("Columns").selectOption("table5");
  const head = await page.locator("table.table5 thead th").allInnerTexts();
  const letters = await page
    .locator(`table.table5 tr.opens td:nth-child(${head.findIndex((one) => one.trim() === "static") + 1})`)
    .allInnerTexts();
  check(
    "Table 5 has letters for what stops a compiler",
    letters.length > 0 && letters.every((one) => /^[A-Z–]+$/.test(one)),
    letters,
  );
  await page.getByLabel("Columns").selectOption("advice");
  await page.locator("tr.opens").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".region-head");
  check("rows open by keys", /#\/region\/\d/.test(await page.evaluate(() => location.hash)));
  check("tables: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
}

async function keysAndThemes() {
  const page = await openPage(browser, file("relaxation"), "", { colorScheme: "dark" });
  const dark = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light").catch(() => {});
  const light = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  check("dark where the system is", dark !== light && light === "rgb(255, 255, 255)", [dark, light]);
  await page.locator("button.theme").click();
  await page.locator("button.theme").click();
  check(
    "dark if the reader says so",
    (await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)) === dark,
  );
  for (const [key, view] of [
    ["2", "flame"],
    ["3", "regions"],
    ["4", "rules"],
    ["1", "overview"],
  ]) {
    await page.keyboard.press(key);
    await page.waitForSelector(`.view-${view}`);
    check(`key ${key}`, (await page.locator("header nav a[aria-current]").innerText()).toLowerCase().includes(view));
  }
  await page.keyboard.press("3");
  await page.waitForSelector(".view-regions input");
  await page.keyboard.press("/");
  check("key / goes to the search", await page.evaluate(() => document.activeElement?.matches("input[type=search]")));
  await page.keyboard.type("2");
  check("keys typed there are text", (await page.evaluate(() => location.hash)).startsWith("#/regions"));
  await page.locator("h1").click();
  await page.keyboard.press("?");
  check("key ? shows the keys", await page.evaluate(() => document.querySelector("dialog").open));
  await page.keyboard.press("Escape");
  await page.keyboard.press("1");
  await page.waitForSelector(".card");
  await page.keyboard.press("Tab");
  check("Tab reaches something", await page.evaluate(() => document.activeElement !== document.body));
  const pdf = await page.pdf();
  check("it prints", pdf.length > 10000);
  check("keys: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
}

async function hostile() {
  const page = await openPage(browser, file("hostile"));
  const fragments = [
    "#/overview",
    "#/flame",
    "#/flame?search=<script>",
    "#/regions",
    "#/regions?columns=table5",
    "#/region/0",
    "#/region/1",
    "#/rules",
    "#/rules/<script>",
    "#/region/<script>",
    "#/nonsense",
  ];
  for (const fragment of fragments) {
    await go(page, fragment);
    const bad = await page.evaluate(() => ({
      hacked: window.hacked ?? null,
      elements: document.querySelectorAll(
        "#page script, #page img, #page iframe, #page object, #page a[href^='javascript:']",
      ).length,
      handlers: [...document.querySelectorAll("#page *")].filter((element) =>
        [...element.attributes].some((one) => /^on/i.test(one.name)),
      ).length,
    }));
    check(
      `hostile names are inert at ${fragment}`,
      bad.hacked === null && bad.elements === 0 && bad.handlers === 0,
      bad,
    );
  }
  await go(page, "#/regions");
  check(
    "a function named <script> stays text",
    (await text(page, "table.data tbody")).includes("<script>window.hacked=1</script>"),
  );
  await go(page, "#/flame");
  check(
    "in the flame graph too",
    (await page.locator(".flame").innerText()).includes("<script>") ||
      (await page.locator(".flame").innerHTML()).includes("&lt;script&gt;"),
  );
  check("the title is text", (await page.title()).includes("<script>"));
  check("hostile: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
}

async function large() {
  check("a page of 100,000 nodes is at most 5 MB", statSync(file("large")).size <= 5e6, statSync(file("large")).size);
  const page = await openPage(browser, file("large"));
  const paint = await page.evaluate(async () => {
    for (let i = 0; i < 100; i++) {
      const entry = performance.getEntriesByName("first-contentful-paint")[0];
      if (entry) return entry.startTime;
      await new Promise((done) => setTimeout(done, 20));
    }
    return Infinity;
  });
  const ready = await page.evaluate(() => performance.now());
  check("first paint within 2 s", paint < 2000, paint);
  const start = Date.now();
  await go(page, "#/flame");
  await page.waitForSelector("g.frame");
  const drawn = Date.now() - start;
  check("its flame graph within 3 s", drawn < 3000, drawn);
  check("drawn on demand", (await count(page, "g.frame")) < 5000, await count(page, "g.frame"));
  const typing = Date.now();
  await page.locator("input[type=search]").fill("f77");
  check("search within 1.5 s", Date.now() - typing < 1500, Date.now() - typing);
  await page.locator("g.frame.kind-call").nth(5).click();
  check("zoom within it", (await page.evaluate(() => location.hash)).includes("node="));
  console.log(
    `large: ${statSync(file("large")).size} bytes, first paint ${Math.round(paint)} ms, usable ${Math.round(ready)} ms, flame graph ${drawn} ms`,
  );
  check("large: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
}

async function diff() {
  const page = await openPage(browser, file("diff"));
  const table = await text(page, ".diff-loops table");
  check(
    "diff: says that loops changed places",
    /changed places with backprop\.c:\d+: 24 × 97 trips became 97 × 24/.test(table),
    table.slice(0, 500),
  );
  const story = await page.locator(".stories").innerText();
  for (const pattern of [
    /changed places: 24 × 97 trips became 97 × 24/,
    /innermost loop 67 % .*now 100 %/,
    /innermost loop was reduction\(\+\), is parallel/,
  ])
    check(`diff: the story of each nest first: ${pattern}`, pattern.test(story), story);
  check("diff: strides", /67 %\s*→\s*100 %/.test(table));
  check("diff: verdicts", table.includes("reduction(+)") && table.includes("parallel"));
  check("diff: suggestions that went", (await page.locator(".columns").innerText()).includes("LF-ICH"));
  await go(page, "#/flame");
  check(
    "diff: flame graph coloured by difference",
    (await text(page, ".flame-legend")).includes("fewer operations") &&
      (await page.evaluate(
        () => new Set([...document.querySelectorAll("g.frame rect")].map((rect) => rect.getAttribute("fill"))).size,
      )) > 2,
  );
  check("diff: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
}

/** What a suggestion asks for is there to be copied, and another data layout is drawn. */
async function advice() {
  const page = await openPage(browser, file("heat"));
  const cards = await page.locator(".card").allInnerTexts();
  const card = (rule) => cards.find((one) => one.includes(rule)) ?? "";
  check("a card says what to write", card("LF-PAR").includes("#pragma omp parallel for"), cards);
  check("every card says what to do", (await count(page, ".card .do")) === cards.length);
  await go(page, "#/region/0");
  check("no numbers for machines", !/\d\.\d+e\+\d/.test(await page.locator("main").innerText()));
  check("layout: not where none is suggested", (await count(page, "#layout")) === 0);
  check("advice: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
}

async function dataLayout() {
  const page = await openPage(browser, file("columns"));
  const first = await text(page, ".card");
  check("layout: how elements are written then", first.includes("M[i0][i1] → M[i1][i0]"), first);
  await go(page, "#/region/0");
  check("layout: lines of memory before and after", (await count(page, "#layout svg.memory-lines")) === 2);
  const bars = await page.locator("#layout .layout-side").allInnerTexts();
  check("layout: an eighth of what is fetched is used", /12\.5 % used/.test(bars[0] ?? ""), bars);
  check("layout: then all of it", /100 % used/.test(bars[1] ?? ""), bars);
  check("layout: four costs", (await count(page, "#layout .layout-costs tr")) === 4);
  check("layout: the accesses in question", (await text(page, ".layout-accesses")).includes("load of M"));
  check("layout: a link leads to it", (await page.locator(".sections").innerText()).includes("Layout"));
  check("layout: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
}

async function layout() {
  for (const width of [1280, 1920]) {
    const page = await openPage(browser, file("dgemm_ijk"), "", { viewport: { width, height: 1000 } });
    for (const [fragment, selector] of [
      ["#/overview", "header nav a, header .command, .mark"],
      ["#/overview", ".card, .hero, .shares"],
      ["#/regions", "table.data thead th"],
      ["#/region/0", ".sections a"],
      ["#/region/0", "svg.grid text"],
    ]) {
      await go(page, fragment);
      check(`${width} px: no overlap of ${selector} at ${fragment}`, (await overlaps(page, selector)) === 0);
      check(
        `${width} px: ${fragment} fits`,
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      );
    }
    await page.context().close();
  }
}

try {
  for (const name of ["dgemm_ijk", "jacobi_1d", "gauss_seidel", "histogram", "relaxation", "gzip", "empty"])
    await everyView(name);
  for (const group of [relaxation, flame, tables, keysAndThemes, advice, dataLayout, hostile, large, diff, layout]) {
    try {
      await group();
    } catch (error) {
      check(`${group.name} runs to its end`, false, String(error));
    }
  }
  await accessible(browser, file, check);
} finally {
  await browser.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 100 ? 0 : 1;
