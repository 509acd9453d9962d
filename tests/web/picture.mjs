// picture.mjs - takes the screenshot in the README, of a server that learns from the demo stream.
//
//   node picture.mjs URL FILE [#/VIEW]
//
// doc/page.png is #/word/coffee, 90 seconds after wordtide serve --demo --history-step 5s.

import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../../web/", import.meta.url))("playwright-core");
const [, , url, file, view = "#/map"] = process.argv;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 700 }, colorScheme: "light" });
await page.goto(`${url}/${view}`);
await page.waitForTimeout(5000); // the map settles, and charts have something to show
await page.screenshot({ path: file });
await browser.close();
