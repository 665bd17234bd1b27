// Takes pictures of pages: one line of standard input each, NAME FILE FRAGMENT whole|window with tabs between; the
// argument is the directory for NAME-WIDTH-THEME.png.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage, startBrowser } from "./browser.mjs";
import { smallPng } from "./small_png.mjs";

const directory = process.argv[2];
const browser = await startBrowser();
for (const line of readFileSync(0, "utf8").split("\n")) {
  const [name, file, fragment, extent] = line.split("\t");
  for (const width of [1280, 1920]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await openPage(browser, file, fragment, { viewport: { width, height: 900 }, colorScheme });
      await page.waitForTimeout(100);
      const picture = await page.screenshot({ fullPage: extent === "whole" });
      writeFileSync(join(directory, `${name}-${width}-${colorScheme}.png`), smallPng(picture));
      await page.context().close();
    }
  }
}
await browser.close();
