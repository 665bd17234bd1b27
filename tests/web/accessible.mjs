// Whether everybody can use the page: contrast computed from what the browser shows, every control reached by Tab and
// seen when it has the focus, no motion for those who want none, and a page on paper.
import { go, openPage } from "./browser.mjs";

const VIEWS = [
  "#/overview",
  "#/flame",
  "#/flame?colour=affine",
  "#/regions",
  "#/regions?columns=table5",
  "#/region/0",
  "#/rules",
];

/** Texts whose contrast with what is behind them is less than WCAG's level AA asks: 4.5, or 3 where they are large. */
function faintTexts() {
  const parse = (text) => {
    const numbers = (text.match(/[\d.]+/g) ?? ["0", "0", "0", "0"]).map(Number);
    return [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = (color) => {
    const [r, g, b] = color.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let one = element; one !== null; one = one.parentElement) {
      if (one.matches("g.frame")) {
        layers.push(parse(getComputedStyle(one.querySelector("rect")).fill));
        break;
      }
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    const box = element.getBoundingClientRect();
    if (!own || box.width < 2 || box.height < 2) continue;
    if (element.closest("title, script, style, option, dialog:not([open])")) continue;
    const style = getComputedStyle(element);
    if (style.visibility === "hidden" || style.display === "none") continue;
    const background = behind(element);
    const ink = over(parse(element instanceof SVGElement ? style.fill : style.color), background);
    const [a, b] = [luminance(ink), luminance(background)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const name = `${element.tagName}.${element.getAttribute("class")} ${element.textContent.slice(0, 30)}`;
    if (contrast < (large ? 3 : 4.5)) faint.push(`${contrast.toFixed(2)} ${name}`);
  }
  return [...new Set(faint)];
}

async function contrast(browser, file, check) {
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, views] of [
      ["relaxation", VIEWS],
      ["columns", ["#/overview", "#/region/0"]],
      ["gzip", ["#/flame", "#/region/0"]],
      ["diff", ["#/overview", "#/flame"]],
    ]) {
      const page = await openPage(browser, file(name), "", { colorScheme });
      for (const view of views) {
        await go(page, view);
        const faint = await page.evaluate(faintTexts);
        check(`contrast of ${name} ${view} ${colorScheme}`, faint.length === 0, faint.slice(0, 8));
      }
      await page.context().close();
    }
  }
}

/** Every control of a view is reached by Tab, and shows that it has the focus. */
async function keyboard(browser, file, check) {
  const page = await openPage(browser, file("relaxation"));
  for (const view of VIEWS) {
    await go(page, view);
    const wanted = await page.evaluate(() => {
      document.activeElement?.blur();
      const controls = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(
        (element) => element.checkVisibility() && !element.closest("dialog") && element.tabIndex >= 0,
      );
      controls.forEach((element, i) => (element.dataset.control = i));
      return controls.length;
    });
    const reached = new Set();
    const unseen = [];
    for (let i = 0; i < wanted + 6; i++) {
      await page.keyboard.press("Tab");
      const [control, outline, what] = await page.evaluate(() => {
        const element = document.activeElement;
        const style = getComputedStyle(element);
        return [
          element.dataset.control ?? "",
          style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
          element.outerHTML.slice(0, 80),
        ];
      });
      if (control === "") continue;
      reached.add(control);
      if (!outline) unseen.push(what);
    }
    check(`Tab reaches every control of ${view}`, reached.size === wanted, [reached.size, wanted]);
    check(`the focus is seen in ${view}`, unseen.length === 0, unseen.slice(0, 3));
  }
  await go(page, "#/overview");
  await page.locator(".card").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector(".region-head");
  await page.locator(".sections a").nth(3).focus();
  await page.keyboard.press("Enter");
  check("Enter on a section goes to it", await page.evaluate(() => document.activeElement?.id === "order"));
  await page.keyboard.press("3");
  await page.waitForSelector(".view-regions");
  check("the focus follows into a new view", await page.evaluate(() => document.activeElement?.id === "view"));
  check("keyboard: nothing went wrong", page.trouble.length === 0, page.trouble);
  await page.context().close();
}

async function motion(browser, file, check) {
  const page = await openPage(browser, file("relaxation"), "#/region/0", { reducedMotion: "reduce" });
  const [before, at, later] = await page.evaluate(async () => {
    const before = scrollY;
    document.querySelectorAll(".sections a")[3].click();
    const at = scrollY;
    await new Promise((done) => setTimeout(done, 700));
    return [before, at, scrollY];
  });
  check("no motion for those who want none", at > before && at === later, [before, at, later]);
  await page.context().close();
}

const A4 = 718; // pixels between margins of 1 cm

async function paper(browser, file, check) {
  for (const [name, views] of [
    ["columns", VIEWS],
    ["diff", ["#/overview", "#/flame"]],
  ]) {
    const viewport = { width: A4, height: 1000 };
    const page = await openPage(browser, file(name), "", { viewport, colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    for (const view of views) {
      await go(page, view);
      const seen = await page.evaluate(() => ({
        controls: [...document.querySelectorAll("header nav, .tools, .toolbar, .sections, button:not(.head)")].filter(
          (one) => one.checkVisibility(),
        ).length,
        background: getComputedStyle(document.documentElement).backgroundColor,
        wide: document.documentElement.scrollWidth,
      }));
      check(`on paper ${name} ${view} has nothing to press`, seen.controls === 0, seen);
      check(`on paper ${name} ${view} is white`, seen.background === "rgb(255, 255, 255)", seen);
      check(`on paper ${name} ${view} is not cut off`, seen.wide <= A4, seen);
    }
    await page.context().close();
  }
}

export async function accessible(browser, file, check) {
  for (const group of [contrast, keyboard, motion, paper]) {
    try {
      await group(browser, file, check);
    } catch (error) {
      check(`${group.name} runs to its end`, false, String(error));
    }
  }
}
