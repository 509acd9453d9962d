// driver.mjs - runs scenarios in a browser and reports the results.
//
//   node driver.mjs --list      their names
//   node driver.mjs             reads names, one per line, and answers each with a line of JSON:
//                               {"name", "error": null or text, "skipped": null or text}
//
// Each scenario gets a fresh browser profile and the world that it names: a mock server, or for the
// default one the server at $WORDTIDE_URL. It fails if the page writes an error to the console or
// sends a request to another origin.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import "./scenarios.mjs";
import "./scenarios_hard.mjs";
import { scenarios, startMock } from "./stage.mjs";

const WEB = new URL("../../web/", import.meta.url);
const DESKTOP = { width: 1280, height: 800 };
const SECONDS = 60; // for one step of a scenario, on a very busy machine

const worlds = new Map();

async function addressOf(world) {
  if (world === "many" && process.env.WORDTIDE_URL)
    return new URL("/", process.env.WORDTIDE_URL).href;
  if (!worlds.has(world)) worlds.set(world, await startMock(world));
  return worlds.get(world).url;
}

function watchPage(page, origin, allowed, wrong) {
  page.on("pageerror", (error) => wrong.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !allowed?.test(message.text()))
      wrong.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== "data:" && asked !== origin) wrong.push(`requests ${request.url()}`);
  });
}

async function play(browser, { world = "many", mockOnly, allowed, play: act }) {
  if (mockOnly && process.env.WORDTIDE_URL) return { skipped: "only with the mock" };
  const wrong = [];
  const contexts = [];
  const openAt = async (url, hash = "", options = {}) => {
    const context = await browser.newContext({ viewport: DESKTOP, ...options });
    contexts.push(context);
    context.setDefaultTimeout(SECONDS * 1000);
    const page = await context.newPage();
    watchPage(page, new URL(url).origin, allowed, wrong);
    await page.goto(`${url}${hash}`);
    return page;
  };
  try {
    const url = world ? await addressOf(world) : null;
    await act({ url, openAt, open: (hash, options) => openAt(url, hash, options) });
    if (wrong.length) throw new Error(wrong.slice(0, 5).join("\n"));
    return {};
  } finally {
    for (const context of contexts) await context.close();
  }
}

async function main() {
  if (process.argv.includes("--list")) return console.log([...scenarios.keys()].join("\n"));

  const { chromium } = createRequire(new URL("package.json", WEB))("playwright-core");
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox"], // the tests may be run by root
  });
  for await (const name of createInterface({ input: process.stdin })) {
    const result = { name, error: null, skipped: null };
    try {
      const wanted = scenarios.get(name);
      if (!wanted) throw new Error("unknown scenario");
      Object.assign(result, await play(browser, wanted));
    } catch (error) {
      result.error = String(error.stack ?? error).slice(0, 4000);
    }
    console.log(JSON.stringify(result));
  }
  await browser.close();
  for (const { stop } of worlds.values()) await stop();
}

await main();
