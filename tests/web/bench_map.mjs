// bench_map.mjs - measures the cost of a frame of the map while zooming.
//
//   node tests/web/bench_map.mjs
//
// Prints the number of words on the map and the processor time per frame: that of the script, and
// that of the whole page thread, which includes painting if there is no graphics card.

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
  console.log(`${words}: script ${cost("ScriptDuration")}, total ${cost("TaskDuration")} per frame`);
} finally {
  await browser.close();
  await server.stop();
}
