// browser.mjs - opens the page of a real server in a browser, and records what must not happen.

import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../../web/", import.meta.url))("playwright-core");

/** `wrong` collects console errors, requests to other origins and dialogs. */
export async function openBrowser(url) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(60_000);
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (message) => message.type() === "error" && wrong.push(`${message.text()} ${message.location().url}`));
  page.on("request", (request) => new URL(request.url()).origin === url || wrong.push(request.url()));
  page.on("dialog", (dialog) => wrong.push(`asks: ${dialog.message()}`) && dialog.dismiss());
  return { browser, page, wrong };
}
