// scenarios_hard.mjs - the page with an empty model, hostile words, a required token or a lost
// connection.

import assert from "node:assert/strict";
import { HOSTILE } from "../../web/mock/lexicon.mjs";
import { go, mapFilled, overflow, scenario, startMock } from "./stage.mjs";


scenario("every view reports an empty model", { world: "empty" }, async ({ open }) => {
  const page = await open();
  await page.getByText("Waiting for text").waitFor();
  for (const view of ["live", "word", "map", "trends", "drift"]) {
    await go(page, `#/${view}`);
    await page.locator(`main.view-${view}`).getByText("Nothing learned yet").waitFor();
  }
  await page.getByRole("link", { name: "Send some text" }).click();
  await page.getByRole("textbox", { name: "Text to learn" }).fill("the tide comes in");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText(/1 lines accepted/).waitFor();
  await go(page, "#/live");
  await page.getByText("Words per second").waitFor();
  await page.locator(".ticker-entered").getByText("tide", { exact: true }).waitFor();
});

scenario("hostile words have no effect", { world: "hostile", allowed: /404/ }, async ({ open }) => {
  const page = await open("#/word", { viewport: { width: 360, height: 700 } });
  await page.getByText("__proto__", { exact: true }).first().waitFor();
  const views = ["live", "map", "trends", "drift", "send"].map((view) => `#/${view}`);
  const shown = HOSTILE.filter((word) => word.isWellFormed?.() ?? !/\p{Surrogate}/u.test(word));
  const words = shown.map((word) => `#/word/${encodeURIComponent(word)}`);
  for (const hash of [...views, ...words]) {
    await go(page, hash);
    const place = hash.startsWith("#/word/") ? ".word-title h2 bdi" : "main h2, main canvas";
    await page.locator(place).first().waitFor();
    assert.ok((await overflow(page)) <= 0, `${hash.slice(0, 40)} is too wide`);
  }
  await go(page, "#/map");
  await mapFilled(page);
  await page.locator(".map canvas").focus();
  for (let i = 0; i < 12; i++) await page.keyboard.press("]");
  assert.deepEqual(await page.evaluate(() => [
    typeof window.pwned, document.scripts.length, document.images.length,
    document.querySelectorAll("svg[onload], [onerror]").length,
  ]), ["undefined", 1, 0, 0]);
});

scenario("control and direction characters are shown as symbols", { world: "hostile" }, async ({ open }) => {
  const page = await open(`#/word/${encodeURIComponent("\u202emoc.elgoog\u202d")}`);
  const word = page.locator(".word-title h2 bdi");
  await word.waitFor();
  assert.equal(await word.textContent(), "\u21c4moc.elgoog\u21c4");
  await go(page, `#/word/${"long".repeat(1000)}`);
  await page.locator(".word-title h2 bdi[title^=longlong]").waitFor();
  assert.equal((await word.textContent()).length, 28);
});

scenario("a token is requested and stored in the tab", { world: "token", allowed: /401/ },
  async ({ open }) => {
    const page = await open();
    const field = page.getByRole("dialog").getByLabel("Token");
    await field.fill("wrong");
    await field.press("Enter");
    await page.getByText("is not correct").waitFor();
    await field.fill("open sesame");
    await field.press("Enter");
    await page.getByText("Learning", { exact: true }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.reload();
    await page.getByText("Learning", { exact: true }).waitFor();
    assert.deepEqual(
      await page.evaluate(() => [Object.values(sessionStorage), Object.values(localStorage)]),
      [["open sesame"], []]);
  });

scenario("a lost connection comes back", { world: null, allowed: /ERR_/ }, async ({ openAt }) => {
  let server = await startMock("few");
  try {
    const page = await openAt(server.url);
    await page.getByText("Learning", { exact: true }).waitFor();
    await server.stop();
    await page.getByText("Connection lost, retrying").waitFor();
    server = await startMock("few", new URL(server.url).port);
    await page.getByText("Learning", { exact: true }).waitFor();
  } finally {
    await server.stop();
  }
});

scenario("a malformed response does not break the page", { allowed: /./ },
  async ({ open }) => {
    const page = await open();
    await page.getByText("Learning", { exact: true }).waitFor();
    await page.route("**/v1/words?*", (route) => route.fulfill({ json: { total: 1 } }));
    await go(page, "#/trends");
    await page.getByText("This view could not be displayed").waitFor();
    await page.unroute("**/v1/words?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Rising words").waitFor();
    await page.getByText("Learning", { exact: true }).waitFor();
  });

scenario("an upload waits for a full queue until it is stopped", { mockOnly: true, allowed: /429/ },
  async ({ open }) => {
    const page = await open("#/send");
    await page.getByRole("textbox", { name: "Text to learn" }).fill("please be busy");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("the server is busy, waiting").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText(/^stopped/).waitFor();
  });

scenario("the content security policy blocks everything else", { allowed: /Content Security Policy/ },
  async ({ open }) => {
    const page = await open();
    await page.getByText("Learning", { exact: true }).waitFor();
    const ran = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "window.inlineRan = true";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", "<b style='color: red' onclick='1'>b</b>");
      const outside = await fetch("https://example.org/").then(() => true, () => false);
      return [window.inlineRan === true, document.body.lastChild.style.color, outside];
    });
    assert.deepEqual(ran, [false, "", false]);
  });
