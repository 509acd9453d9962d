// bench_map.mjs - what a frame of the map costs while one zooms.
//
//   node tests/web/bench_map.mjs
//
// Prints the words on the map and the processor's time for a frame: that of our script, and all
// that the page's thread does, which without a graphics card includes the painting itself.

import { createRequire } from "node:module";
import { mapFilled, startMock } from "./stage.mjs";

const FRAMES = 200;
const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

async function zoomFor(frames) {
  const canvas = document.querySelector(".map canvas");
  for (let i = 0; i < frames; i++) {
    const deltaY = i % 60 < 30 ? -20 : 20;
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY, clientX: 700, clientY: 450 }));
    await new Promise(requestAnimationFrame);
  }
}

const server = await startMock("thousands");
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${server.url}#/map`);
  await mapFilled(page);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const measure = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (name) => metrics.find((metric) => metric.name === name).value;
  };
  const before = await measure();
  await page.evaluate(zoomFor, FRAMES);
  const after = await measure();
  const cost = (name) => `${((1000 * (after(name) - before(name))) / FRAMES).toFixed(1)} ms`;
  const words = await page.locator(".map-line").textContent();
  console.log(`${words}: script ${cost("ScriptDuration")}, all ${cost("TaskDuration")} a frame`);
} finally {
  await browser.close();
  await server.stop();
}
