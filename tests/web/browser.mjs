// What tests in a browser share: Debian's Chromium, started here; a page that is watched for errors and requests.
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(here, "..", "..", "web", "package.json"));

export function findChromium() {
  for (const directory of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
      try {
        accessSync(join(directory, name), constants.X_OK);
        return join(directory, name);
      } catch {
        // elsewhere
      }
    }
  }
  return null;
}

export async function startBrowser() {
  const { chromium } = require("playwright-core");
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("chromium: not found; run scripts/setup");
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files=false"],
  });
}

/** Opens a file at a fragment. `trouble` collects whatever must not happen: errors, messages, requests, dialogs. */
export async function openPage(browser, file, fragment = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const url = pathToFileURL(file).href;
  page.trouble = [];
  page.on("console", (message) => page.trouble.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.trouble.push(`error: ${error}`));
  page.on("dialog", (dialog) => (page.trouble.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url) page.trouble.push(`request: ${request.url()}`);
  });
  await page.goto(url + fragment);
  await page.waitForSelector("html[data-ready]");
  return page;
}

/** Goes to another place of the page, and waits until it is drawn. */
export async function go(page, fragment) {
  await page.evaluate((hash) => {
    delete document.documentElement.dataset.ready;
    if (location.hash === hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = hash;
  }, fragment);
  await page.waitForSelector("html[data-ready]");
}
